"""Blocks of docs/guide/what-the-caller-sees.md: what each outcome is, and how it shows (outcome ×
wire × `on_incomplete`) by the tables that decide it."""

from collections.abc import Iterator

from page import code, table

from tenuto.core.actions import Finish, Status
from tenuto.core.ladders import ENDINGS
from tenuto.core.outcome import Outcome
from tenuto.core.policy import Policy
from tenuto.turn.ending import ends_in_error
from tenuto.wires.answer import Shown
from tenuto.wires.base import Wire
from tenuto.wires.registry import wires

MEANINGS = {
    Outcome.DONE: "It ended by itself, with text or complete tool calls.",
    Outcome.TEXT_CUT: "The output limit cut off its text.",
    Outcome.ARGUMENTS_CUT: "The output limit cut off a tool call, or its arguments end early.",
    Outcome.ARGUMENTS_MALFORMED: "The arguments of a tool call aren't a JSON object.",
    Outcome.CALLS_MISSING: "Its stop reason announces tool calls, but there are none.",
    Outcome.THINKING_CUT: "The output limit cut it off before any text.",
    Outcome.THINKING_ONLY: "It ended by itself, but with reasoning only.",
    Outcome.EMPTY: "It has no content.",
    Outcome.PAUSED: "The provider paused the turn.",
    Outcome.OVERFLOW: "The context window is full.",
    Outcome.BLOCKED: "A filter of the provider stopped it.",
    Outcome.REFUSED: "The model declined.",
    Outcome.DROPPED: "The connection broke, or the stream ended without an end mark.",
    Outcome.FAULT: "The provider sent an error, instead of the response or in the middle of it.",
    Outcome.CANCELLED: "The provider cancelled it.",
    Outcome.UNKNOWN: "Tenuto doesn't know its stop value.",
}


def render_outcomes() -> str:
    """What each outcome is, in words."""
    return "\n".join(table(["Outcome", "The response"], _meanings())) + "\n"


def _meanings() -> Iterator[list[str]]:
    for outcome in Outcome:
        yield [code(outcome), MEANINGS[outcome]]


def render() -> str:
    """How each ending shows."""
    known = [wire for _, wire in sorted(wires().items()) if not wire.only_read]
    head = ["Outcome", "Status", "Reason", *(code(wire.name) for wire in known), '`"error"`']
    return "\n".join(table(head, _rows(known))) + "\n"


def _rows(known: list[Wire]) -> Iterator[list[str]]:
    for outcome, ending in ENDINGS.items():
        kept, bare = (Finish(s, ending.reason, outcome) for s in (ending.kept, ending.bare))
        if _faces(known, kept) == _faces(known, bare):
            status = kept.status.value
            status += f", {bare.status.value} without text" if bare.status != kept.status else ""
            yield [code(outcome), status, code(ending.reason), *_faces(known, kept)]
        else:
            for finish, text in ((kept, "text kept"), (bare, "no text")):
                status = finish.status.value
                name = f"{code(outcome)}, {text}"
                yield [name, status, code(ending.reason), *_faces(known, finish)]


def _faces(known: list[Wire], finish: Finish) -> list[str]:
    shown = [wire.shown[finish.shown] for wire in known]
    codes = {_code(finish, each) for each in shown}
    return [*(_face(finish, each) for each in shown), _error(finish, codes)]


def _face(finish: Finish, shown: Shown) -> str:
    """How it shows by default."""
    if ends_in_error(finish, shown, Policy()):
        return f"error {code(_code(finish, shown))}"
    if finish.shown is Outcome.DONE:
        return "the provider's stop"
    return (
        f"the provider's stop, else {code(shown.native)}" if shown.received else code(shown.native)
    )


def _error(finish: Finish, codes: set[str]) -> str:
    """How it shows where errors are asked for: alike on every wire."""
    if finish.status is Status.COMPLETE:
        return "the provider's stop"
    return " or ".join(f"error {code(name)}" for name in sorted(codes))


def _code(finish: Finish, shown: Shown) -> str:
    return shown.error or finish.reason
