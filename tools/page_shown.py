"""Blocks of docs/guide/what-the-caller-sees.md: what each outcome is, and how it shows (outcome ×
wire × `on_incomplete`) by the tables that decide it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from page import code, table

from tenuto.core.deciding.actions import Finish, Status
from tenuto.core.deciding.endings import ENDINGS
from tenuto.core.deciding.outcome import OF_TURNS, Outcome
from tenuto.core.settings.policy import Policy
from tenuto.turn.pipeline.ending import ends_in_error
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

NAMES = {
    "openai-chat": "Chat Completions",
    "openai-responses": "Responses",
    "openai-completions": "Completions",
    "anthropic-messages": "Anthropic Messages",
    "gemini-generate": "Gemini",
    "gemini-interactions": "Gemini Interactions",
    "bedrock-converse": "Bedrock Converse",
    "bedrock-invoke": "Bedrock InvokeModel",
    "mistral": "Mistral",
    "cohere": "Cohere",
    "ollama": "Ollama",
}
"""The APIs whose turns Tenuto finishes, in the order of the page. Others follow."""


def render_outcomes() -> str:
    """What each outcome is, in words."""
    return "\n".join(table(["Outcome", "The response"], _meanings())) + "\n"


def _meanings() -> Iterator[list[str]]:
    for outcome in (one for one in Outcome if one in OF_TURNS):
        yield [code(outcome), MEANINGS[outcome]]


def render() -> str:
    """How each ending shows, as far as all APIs show it alike."""
    head = ["Outcome", "Status", "Reason", "By default", 'With `"error"`']
    return "\n".join(table(head, _general(_rows()))) + "\n"


def render_by_api() -> str:
    """What an API has of its own; those that show every ending alike share a table."""
    rows = [row for row in _rows() if not row.shared]
    alike: dict[tuple[str, ...], list[str]] = {}
    for number, title in enumerate(_known()):
        alike.setdefault(tuple(row.faces[number] for row in rows), []).append(title)
    lines: list[str] = []
    for faces, titles in alike.items():
        own = zip((row.title for row in rows), faces, strict=True)
        lines += [f"### {', '.join(titles)}", "", *table(["Outcome", "By default"], own), ""]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Row:
    """How one ending shows.

    Attributes:
        title, status, reason: the outcome, and how Tenuto names the ending.
        faces: what each API shows by default.
        error: what all of them show if errors are asked for.
    """

    title: str
    status: str
    reason: str
    faces: list[str]
    error: str

    @property
    def shared(self) -> bool:
        """Whether all of them show it alike."""
        return len(set(self.faces)) == 1


def _general(rows: Iterable[Row]) -> Iterator[list[str]]:
    for row in rows:
        default = row.faces[0] if row.shared else "[by API](#what-each-api-shows)"
        yield [row.title, row.status, row.reason, default, row.error]


def _known() -> dict[str, Wire]:
    """The wires that can be finished, by the title of their table."""
    finished = {name: wire for name, wire in sorted(wires().items()) if not wire.only_read}
    named = {title: finished.pop(name) for name, title in NAMES.items()}
    return named | finished


def _rows() -> Iterator[Row]:
    known = list(_known().values())
    for outcome, ending in ENDINGS.items():
        kept, bare = (Finish(s, ending.reason, outcome) for s in (ending.kept, ending.bare))
        reason = code(ending.reason)
        if _faces(known, kept) == _faces(known, bare):
            status = kept.status.value
            status += f", {bare.status.value} without text" if bare.status != kept.status else ""
            yield Row(code(outcome), status, reason, *_faces(known, kept))
        else:
            for finish, text in ((kept, "text kept"), (bare, "no text")):
                status = finish.status.value
                yield Row(f"{code(outcome)}, {text}", status, reason, *_faces(known, finish))


def _faces(known: list[Wire], finish: Finish) -> tuple[list[str], str]:
    shown = [wire.shown[finish.shown] for wire in known]
    codes = {_code(finish, each) for each in shown}
    return [_face(finish, each) for each in shown], _error(finish, codes)


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
