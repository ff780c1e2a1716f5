"""What a server of the laboratory knows of an answer: what the model said, and how much of it came.

Theory of operation. A case is scripted on the server's side, so the server knows the model's whole
answer (`text`, `calls`) and the state of the first answer that it sends (`State`). Neither is read
from a client, and nothing here imports Tenuto's own code: it would share its mistakes. "Whole" is
what behaviour P10 says: text with an end mark that is not empty, calls whose arguments parse to an
object, and a blocked or refused answer as it came.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tenuto_sim import Step
from tenuto_sim.case import CUT_SHORT, Arguments, Ending, Framing, Odd, Say, Shape
from tenuto_sim.reply import Reply, Wanted

Call = tuple[str, Any]
"""A name, and the arguments that the model meant."""


class State(StrEnum):
    """What came of the model's answer with the first response."""

    WHOLE = "whole"
    """All of it, with an end mark."""
    BLOCKED = "blocked"
    """A refusal, or what a filter left: as it came, it is whole."""
    UNMARKED = "unmarked"
    """All of it, and nothing says that it is all, so that it is not whole as P10 has it."""
    CUT = "cut"
    """A part, and something shows that it is one: a stop, a break, a usage at the limit."""
    HIDDEN = "hidden"
    """A part under a clean end, so that nobody can know."""
    EMPTY = "empty"
    """Nothing of it, under an end that looks clean."""
    ERROR = "error"
    """An error, instead of the answer or in it."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What the model said, and what of it the first response held.

    `stops` are further values that the stop may have, where the provider's end contradicts itself.
    `refuses` says that the server refuses the caller's own history, so that the first request may
    be another one.
    """

    state: State
    text: str = ""
    calls: tuple[Call, ...] = ()
    stops: frozenset[str] = frozenset()
    refuses: bool = False
    others: tuple[str, ...] = ()
    """Other whole answers that the model gives if it is asked again."""
    odd: bool = False
    """Whether the bytes are ones that break clients: what stands there may be put right."""

    @property
    def whole(self) -> bool:
        """Whether the first response was whole, as P10 defines it.

        >>> Truth(State.BLOCKED).whole, Truth(State.CUT).whole
        (True, False)
        """
        return self.state in (State.WHOLE, State.BLOCKED)


def meant(arguments: Any) -> Any:
    """Return what a call's arguments say, however often they are encoded.

    >>> meant('"{\\\\"a\\\\": 1}"'), meant({"a": 1}), meant("{'a'"), meant(None)
    ({'a': 1}, {'a': 1}, "{'a'", None)
    """
    for _ in range(2):
        if not isinstance(arguments, str):
            break
        try:
            arguments = json.loads(arguments)
        except ValueError:
            break
    return arguments


_BLOCKS: Final = frozenset(
    {
        *(
            "content_filter",
            "SAFETY",
            "RECITATION",
            "refusal",
            "guardrail_intervened",
            "ERROR_TOXIC",
        ),
        *("content_filtered", "failed_policy"),
    }
)
"""Values of the simulator's stop that mean a block."""
_NO_ANSWER: Final = frozenset({*Say} - {Say.ANSWER, Say.REFUSAL})
_NO_OBJECT: Final = frozenset(
    {Arguments.CUT, Arguments.MALFORMED, Arguments.EMPTY, Arguments.NULL, Arguments.ARRAY}
)
_ODD: Final = frozenset({Odd.USAGE_MISSING, Odd.FINISH_REPEATED, Odd.CONTENT_AFTER_FINISH})
_CLEAN: Final = frozenset({"stop", "tool_calls", "stop_sequence", "null", "", "STOP"})
_UNMARKED: Final = CUT_SHORT | {Ending.NO_FINISH, Ending.COUNT_ALONE}


def truth_of(step: Step, said: Reply, due: Wanted, *, stream: bool, blocked: bool) -> Truth:
    """Return the truth of a simulated response: the step, what it made of the answer that was due.

    `blocked` says that the case stands in the simulator's table of refusals.
    """
    calls = tuple((call.name, meant(call.arguments)) for call in due.calls)
    odd = (
        step.shape not in (Shape.NORMAL, Shape.INTERLEAVED)
        or step.arguments in (Arguments.OBJECT, Arguments.DOUBLE)
        or step.odd in _ODD
        or step.framing is Framing.BOM
    )
    state = _state(step, said, due, stream=stream, blocked=blocked)
    return Truth(state, due.text, calls, odd=odd)


def _state(step: Step, said: Reply, due: Wanted, *, stream: bool, blocked: bool) -> State:
    limited = step.finish in ("length", "model_length")
    if step.error:
        return State.ERROR
    if step.say is Say.REFUSAL or step.finish in _BLOCKS or (blocked and not limited):
        return State.BLOCKED
    if step.ending in (Ending.CUT_BODY, Ending.EMPTY_BODY) or step.odd is Odd.NOT_JSON:
        return State.ERROR
    if step.framing is Framing.BAD_CHECKSUM or (not stream and step.ending in CUT_SHORT):
        return State.ERROR
    if step.say in _NO_ANSWER:
        return State.CUT if limited else State.EMPTY
    missing = (said.text or "") != due.text or len(said.calls) < len(due.calls)
    marked = not stream or step.ending not in _UNMARKED
    if missing or step.arguments in _NO_OBJECT or said.call_cut:
        clean = marked and said.finish in _CLEAN and step.odd is None
        return State.HIDDEN if clean and not said.call_cut else State.CUT
    if said.finish == "length" or (said.finish or "stop") not in _CLEAN:
        return State.CUT  # all of it came, and the provider says that it is not all
    return State.WHOLE if marked else State.UNMARKED
