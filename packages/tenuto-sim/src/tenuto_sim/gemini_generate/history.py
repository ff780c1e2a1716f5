"""The rules for histories, and the provider's error messages.

Theory of operation: consecutive contents of one role are merged first, as on the service, since the
official SDK keeps a streamed answer as several of them. Then each rule checks the turns, and the
first violation is the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, Final

from tenuto_sim.gemini_generate.errors import failure
from tenuto_sim.gemini_generate.request import held, member, parts_of, takes_prefill
from tenuto_sim.gemini_generate.seals import FOREIGN, signature
from tenuto_sim.shapes import Violations

ENDS_IN_MODEL: Final = "Requests ending with a model turn are not supported."
COUNTS: Final = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)
CALL_PLACE: Final = (
    "Please ensure that function call turn comes immediately after a user turn or after a function "
    "response turn."
)
RESULT_PLACE: Final = (
    "Please ensure that function response turn comes immediately after a function call turn."
)
CORRUPTED: Final = "Corrupted thought signature."


@dataclass(frozen=True, slots=True)
class Turn:
    """Merged contents of one role."""

    role: str
    parts: tuple[Mapping[str, Any], ...]

    @property
    def calls(self) -> list[Any]:
        """The calls of the turn."""
        return held(self.parts, "functionCall")

    @property
    def results(self) -> list[Any]:
        """The results of the turn."""
        return held(self.parts, "functionResponse")


def history_violations(body: Mapping[str, Any], prefill: str) -> Violations:
    """Yield the violations in a body's contents; `prefill` is the server's setting.

    >>> ask = {"model": "sim", "contents": [{"role": "model", "parts": [{"text": "x"}]}]}
    >>> next(history_violations(ask, "restart")).document["error"]["message"]
    'Requests ending with a model turn are not supported.'
    """
    contents = body["contents"]
    turns = _merged(contents)
    yield from _calls(turns)
    yield from _results(turns)
    yield from _signatures(turns)
    last = turns[-1]
    if last.role == "model" and not takes_prefill(str(body.get("model")), prefill):
        yield failure(ENDS_IN_MODEL)
    # Text after results in one content is taken for the beginning of an answer.
    behind = [member(p, "functionResponse") for p in parts_of(contents[-1])]
    if any(behind) and behind[-1] is None:
        yield failure(ENDS_IN_MODEL)


def _merged(contents: Sequence[Mapping[str, Any]]) -> list[Turn]:
    roles = groupby(contents, lambda one: "model" if one.get("role") == "model" else "user")
    return [Turn(role, tuple(chain(*map(parts_of, group)))) for role, group in roles]


def _calls(turns: Sequence[Turn]) -> Violations:
    for at, turn in enumerate(turns):
        if not turn.calls:
            continue
        if at == 0 or turn.role != "model":
            yield failure(CALL_PLACE)
        answered = turns[at + 1].results if at + 1 < len(turns) else []
        if len(answered) != len(turn.calls):
            yield failure(COUNTS)
        names = held(turn.calls, "name")
        if any(member(result, "name") not in names for result in answered):
            yield failure(COUNTS)


def _results(turns: Sequence[Turn]) -> Violations:
    for at, turn in enumerate(turns):
        if turn.results and (at == 0 or turn.role != "user" or not turns[at - 1].calls):
            yield failure(RESULT_PLACE)


def _signatures(turns: Sequence[Turn]) -> Violations:
    """Require the signature of the thinking on the first call of each turn."""
    for at, turn in enumerate(turns):
        calls = [p for p in turn.parts if member(p, "functionCall") is not None]
        for position, part in enumerate(calls):
            name = member(part, "functionCall", "name")
            given = member(part, "thoughtSignature")
            if given is None and position == 0:
                yield failure(
                    "Function call is missing a thought_signature in functionCall parts. This is "
                    "required for tools to work correctly, and missing thought_signature may lead "
                    "to degraded model performance. Additional data, function call "
                    f"`default_api:{name}` , position {at + 1}. Please refer to "
                    "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
                )
            # The SDK writes bytes in the base64 alphabet for URLs.
            read = str(given).replace("-", "+").replace("_", "/")
            if given is not None and read != signature(str(name)) and given != FOREIGN:
                yield failure(CORRUPTED)
