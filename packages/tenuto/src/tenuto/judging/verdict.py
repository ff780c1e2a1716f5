"""What `judge` says of one row."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from tenuto.core.answer.fast_dataclass import fast_dataclass
from tenuto.core.answer.stop import NO_ANSWER, Stop
from tenuto.core.deciding.outcome import Outcome


@fast_dataclass
class Verdict:
    """What is in a stored answer.

    Attributes:
        outcome: what it is. `likely_cut` and `open_end` are said only where no stop is stored.
        certain: whether a stored stop says so, or its structure does: it is empty, it is only
            reasoning, a call is open, or JSON that was asked for does not parse or validate.
            Otherwise the outcome is a guess. `no_answer` is never certain.
        evidence: words for what the outcome rests on, such as `stop` (a stop is stored), `no_stop`,
            `tokens_at_limit`, `fence_open`, `json_cut`, `think_open`, `empty`,
            how an open end ends (`open_bracket`, `leads_on`, `mid_sentence`, `in_prose`, `in_list`,
            `in_lines`, `in_code`), `error`, `any_error` (that any service may have written, so no
            answer).
        stop: the stored stop, with its own value and its field; for a row without one, what
            `detect` says of it.
        text: the text of the answer that decided; "" if it has none. `repr` leaves it out.
        limit: its output limit in tokens; None if neither the row nor the call tells it.
        output_tokens: its tokens, with reasoning where the provider counts it; None: not stored.
        model: the model's name as it is stored; "" if it is not.
        id: the row's own id (`custom_id`, `key`), or the answer's; "" if it has none.
        kind: which kind of row it is, such as `openai_batch`; `body` for an answer as it was
            received, `found_within` where no kind fits and an answer was found within it, "" for
            what is no answer.
        wire: the API whose format the answer has (`openai-chat`); "" if none or not known.
        choice: which of several answers in the row decided, the worst, from 0 on.
        choices: how many answers the row holds. 0: none.
        can_be_finished: whether the answer needs something that another request could bring, and
            its request is known.
        request_at: where in the row its request is (`request.body`); "" if it is not there.
        day: when the answer was made, such as 2026-11-28; "" if it is not stored.

    >>> from tenuto import judge
    >>> verdict = judge({"choices": [{"message": {"content": "Hi"}, "finish_reason": "length"}]})
    >>> verdict.outcome.value, verdict.certain, verdict.evidence, verdict.stop.raw
    ('text_cut', True, ('stop',), 'length')
    """

    outcome: Outcome
    certain: bool = False
    evidence: tuple[str, ...] = ()
    stop: Stop = NO_ANSWER
    text: str = dataclasses.field(default="", repr=False)
    limit: int | None = None
    output_tokens: int | None = None
    model: str = ""
    id: str = ""
    kind: str = ""
    wire: str = ""
    choice: int = 0
    choices: int = 0
    can_be_finished: bool = False
    request_at: str = ""
    day: str = ""

    @property
    def stop_is_stored(self) -> bool:
        """Whether the row has the provider's own stop, or an error in its place."""
        return "stop" in self.evidence or "error" in self.evidence

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values for JSON, without the text of the answer.

        >>> Verdict(Outcome.NO_ANSWER).as_dict()["outcome"]
        'no_answer'
        """
        names = [field.name for field in dataclasses.fields(self) if field.name != "text"]
        plain = {name: getattr(self, name) for name in names}
        return {
            **plain,
            "outcome": self.outcome.value,
            "evidence": list(self.evidence),
            "stop": self.stop.as_dict(),
        }


STRUCTURE: Final[dict[Outcome, tuple[str, ...]]] = {
    Outcome.EMPTY: ("empty",),
    Outcome.THINKING_ONLY: ("only_reasoning",),
    Outcome.THINKING_CUT: ("only_reasoning",),
    Outcome.ARGUMENTS_CUT: ("call_open",),
    Outcome.ARGUMENTS_MALFORMED: ("call_malformed",),
    Outcome.CALLS_MISSING: ("calls_missing",),
}
"""What an outcome shows by structure."""

NOT_AN_ANSWER = Verdict(Outcome.NO_ANSWER)

ANY_ERROR: Final = "any_error"
ERROR_OF_ANYBODY = Verdict(Outcome.NO_ANSWER, evidence=(ANY_ERROR,))
"""An error in a form that other services have, too. Among answers of models it is one of theirs."""

_BY_STRUCTURE: Final = frozenset(
    {Outcome.EMPTY, Outcome.THINKING_ONLY, Outcome.ARGUMENTS_CUT, Outcome.ARGUMENTS_MALFORMED}
    | {Outcome.DOCUMENT_INVALID, Outcome.FAULT}
)
"""Outcomes that structure makes certain, whether a stop is stored or not."""

_NEVER_CERTAIN: Final = frozenset(
    {Outcome.NO_ANSWER, Outcome.LIKELY_CUT, Outcome.OPEN_END, Outcome.UNKNOWN}
)


def is_certain(outcome: Outcome, *, stored: bool) -> bool:
    """Return whether an outcome is certain. `stored`: whether a stop is."""
    return outcome not in _NEVER_CERTAIN and (stored or outcome in _BY_STRUCTURE)


GRAVITY: Final[dict[Outcome, int]] = {
    outcome: number
    for number, outcome in enumerate(
        (
            Outcome.FAULT,
            Outcome.DROPPED,
            Outcome.TEXT_CUT,
            Outcome.ARGUMENTS_CUT,
            Outcome.THINKING_CUT,
            Outcome.RUNAWAY,
            Outcome.ARGUMENTS_MALFORMED,
            Outcome.CALLS_MISSING,
            Outcome.OVERFLOW,
            Outcome.DOCUMENT_INVALID,
            Outcome.BLOCKED,
            Outcome.REFUSED,
            Outcome.CANCELLED,
            Outcome.EMPTY,
            Outcome.THINKING_ONLY,
            Outcome.CALL_WRITTEN,
            Outcome.PAUSED,
            Outcome.LIKELY_CUT,
            Outcome.UNKNOWN,
            Outcome.OPEN_END,
            Outcome.DONE,
            Outcome.NO_ANSWER,
        )
    )
}
"""The worst first, where a row holds several answers."""
