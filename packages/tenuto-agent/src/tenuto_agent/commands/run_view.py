"""The output of `tenuto run`: the answer on standard output, the rest as dim lines beside it."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from tenuto.command_kit.printing import print_json
from tenuto.core.answer.stop import printable
from tenuto.core.events.event import Event
from tenuto_agent.events import (
    AgentEvent,
    Called,
    Compacted,
    Recovered,
    Returned,
    Said,
    StepEnded,
    Switched,
    as_dict,
)
from tenuto_agent.result import RunResult

RECOVERIES = {
    "continuation_attempt": "the answer was cut: continuing it",
    "tool_payload_repair": "a tool call was broken ({issue}): it is not run, and asked for again",
    "empty_recovery": "the answer was empty ({outcome})",
    "fault": "the provider failed: {kind}",
    "history_repaired": "the conversation was put into a form that the provider takes",
    "left_alone": "this cannot be recovered: {why}",
}
"""The events to show to a person, and how."""

_SHOWN_CHARS = 200
_FAULT_CHARS = 500
_KEPT = {ord("\n"), ord("\t")}
_CONTROL = dict.fromkeys(c for c in (*range(32), *range(127, 160)) if c not in _KEPT)


class JsonView:
    """Prints one JSON object per line."""

    def note(self, text: str) -> None:
        """Print a note as an event of its own."""
        print_json({"event": "note", "text": text}, indent=None)

    def event(self, event: AgentEvent) -> None:
        """Print an event with all its fields."""
        print_json(as_dict(event), indent=None)

    def result(self, result: RunResult) -> None:
        """Print the result as the last event, with the provider's own words if the turn failed."""
        words = result.fault.message if result.fault is not None else ""
        print_json({"event": "result", **result.as_dict(), "fault_message": words}, indent=None)


class PersonView:
    """Prints the answer to standard output as it arrives, and dim lines to standard error."""

    def __init__(self) -> None:
        self._beside = Console(stderr=True, soft_wrap=True)
        self._in_line = False

    def note(self, text: str) -> None:
        """Print a line that is not dim."""
        self._line(text, "")

    def event(self, event: AgentEvent) -> None:
        """Print text as it is, and a line for an event that a person wants to see."""
        if isinstance(event, Said):
            self._say(event.text)
        elif isinstance(event, StepEnded):
            self._end_line()
        elif line := _told(event):
            self._line(line)

    def result(self, result: RunResult) -> None:
        """Print the status, the reason and the usage, and after a failure its cause and advice."""
        self._end_line()
        self._line(_summary(result), "dim" if result.ok else "bold")
        fault = result.fault
        if not result.ok and fault is not None:
            status = f" {fault.status}" if fault.status else ""
            words = f": {printable(fault.message, _FAULT_CHARS)}" if fault.message else ""
            self._line(f"What failed: {fault.kind}{status}{words}", "")
        if result.advice:
            self._line(result.advice, "")

    def _say(self, text: str) -> None:
        out = sys.stdout
        if out.isatty():  # a model's text must not control the terminal
            text = text.translate(_CONTROL)
        coding = out.encoding or "utf-8"
        out.write(text.encode(coding, "replace").decode(coding))
        out.flush()
        if text:
            self._in_line = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._in_line:
            print(flush=True)
        self._in_line = False

    def _line(self, text: str, style: str = "dim") -> None:
        if self._in_line and sys.stdout.isatty():
            print(file=sys.stderr)  # ends the line on the terminal without changing the answer
        self._beside.print(Text(text, style))


View = JsonView | PersonView
"""Shows a run: its `event`s as they happen, each turn's `result`, and `note`s beside them."""


def _told(event: AgentEvent) -> str:
    match event:
        case Called(call, synthetic=synthetic):
            broken = " (broken, not run)" if synthetic else ""
            return f"→ {printable(call.name)} {printable(call.arguments, _SHOWN_CHARS)}{broken}"
        case Returned(_, result):
            sign = "✗" if result.failed else "←"
            size = f"{len(result.text):,} characters: " if len(result.text) > _SHOWN_CHARS else ""
            return f"{sign} {size}{printable(result.text, _SHOWN_CHARS)}"
        case Recovered(told):
            return _recovery(told)
        case Switched(model, why):
            return f"↻ {printable(model)} is asked from here on ({why})"
        case Compacted(left_out, _, summarized):
            stands = "a summary stands" if summarized else "nothing stands"
            return f"↻ the conversation was shortened: {stands} for {left_out} rows"
        case _:
            return ""


def _recovery(event: Event) -> str:
    form = RECOVERIES.get(event.name)
    if form is None or event.data.get("outcome") in ("repaired", "given_up"):  # already shown
        return ""
    return f"↻ {form.format_map(event.data)}"


def _summary(result: RunResult) -> str:
    used = result.usage
    attempts = sum(report.attempts for report in result.reports)
    tokens = "tokens unknown"
    if used.output_tokens is not None:
        asked = "unknown" if used.input_tokens is None else f"{used.input_tokens:,}"
        tokens = f"{asked} tokens in, {used.output_tokens:,} out"
    steps = f"{result.steps} step{'s' * (result.steps != 1)}"
    requests = f"{attempts} request{'s' * (attempts != 1)}"
    return f"{result.status} ({result.reason}): {steps}, {requests}, {tokens}"
