"""Shows the demos: on a terminal, as plain lines, or not at all if a program reads the output."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from tenuto.cli.demo_faults import Faults
from tenuto.cli.demo_sdk import Answered, FaultRow, ModelRow
from tenuto.command_kit.command_error import one_line
from tenuto.command_kit.printing import pieces, print_table, wrapped
from tenuto.core.deciding.ladders import SENTENCES
from tenuto.core.events.attempt import StopReasonObserved
from tenuto_agent.events import AgentEvent, Called, Recovered, Returned, Said, StepEnded

STYLES = {
    "recovered": "green",
    "truthful": "cyan",
    "fine": "green",
    "raised": "yellow",
    "silent": "red",
    "harmful": "bold red",
    "differs": "red",
}
_PIECE_STYLES = ("", "green", "cyan", "magenta")
SEAM = "⟦{}⟧"
COLUMNS = ("fault", "as", "bare SDK", "with Tenuto", "requests")
_WIDTH = 100
_SILENT_S = 8.0


class View:
    """Shows a demo.

    Args:
        quiet: whether to show nothing.
        faults: the faults that the agent meets.
    """

    def __init__(self, *, quiet: bool, faults: Faults | None = None) -> None:
        self._console = Console(quiet=quiet, highlight=False)
        self._quiet = quiet
        self._colours = self._console.is_terminal and not quiet
        self._faults = faults
        self._step = 0
        self._said = ""

    def say(self, text: str, style: str = "") -> None:
        """Print a line."""
        lines = wrapped(text, self._console.width) if self._colours else text
        self._console.print(Text(lines, style), soft_wrap=True)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Show that something goes on: on a terminal all the time, else every few seconds."""
        if self._colours:
            with self._console.status("one moment"):
                yield
            return
        done = threading.Event()
        watch = threading.Thread(target=self._tell_time, args=(done,), daemon=True)
        watch.start()
        try:
            yield
        finally:
            done.set()
            watch.join()

    def _tell_time(self, done: threading.Event) -> None:
        begun_s = time.monotonic()
        while not done.wait(_SILENT_S):
            self.say(f"still waiting, {time.monotonic() - begun_s:.0f} s")

    # --- the SDK's ----------------------------------------------------------------------------

    def model_row(self, row: ModelRow) -> None:
        """Show one question with both answers, side by side if there is room."""
        limit = f"(output limit {row.limit_tokens} tokens)"
        answers = _answers(row)
        if not self._colours:
            self.say(f"\nQuestion: {row.prompt} {limit}")
            for who, ended, text in answers:
                self.say(f"{who}: {ended}\n    {text.plain}".replace("\n\n", "\n"))
            self.say(_comparison(row))
            return
        self._console.print()
        self._console.print(Text(f"{row.prompt} ", "bold") + Text(limit, "dim"))
        width = self._console.width // 2 - 1 if self._console.width >= 80 else self._console.width
        panels = [
            Panel(text, title=Text(who), subtitle=Text(ended), width=width, border_style=style)
            for (who, ended, text), style in zip(answers, ("red", "green"), strict=True)
        ]
        self._console.print(Columns(panels, padding=(0, 1)))
        self.say(_comparison(row), STYLES[row.verdict])

    def faults(self, rows: Iterator[FaultRow], total: int) -> Iterator[FaultRow]:
        """Show progress over the faults: a bar with the last one's name, or a line for each."""
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        bar = Progress(*columns, console=self._console, transient=True, disable=not self._colours)
        with bar:
            task = bar.add_task("", total=total)
            for number, row in enumerate(rows, start=1):
                bar.update(task, advance=1, description=f"{row.fault} ({row.mode})")
                if not self._colours:
                    self.say(f"[{number}/{total}] {row.fault} ({row.mode}): {row.summary}")
                yield row

    def closing(self, rows: Sequence[FaultRow]) -> None:
        """Show the table at the end: a line for each fault, two where body and stream differ."""
        folded: dict[tuple[str, ...], list[str]] = {}
        for row in rows:
            folded.setdefault(_cells(row), []).append(row.mode)
        lines = [(name, ", ".join(modes), *rest) for (name, *rest), modes in folded.items()]
        if self._colours:
            print_table(COLUMNS, lines, style=_style)
            return
        widths = [max(map(len, column)) for column in zip(COLUMNS, *lines, strict=True)]
        self.say("")
        for texts in (COLUMNS, *lines):
            self.say("  ".join(map(str.ljust, texts, widths)).rstrip())
        self.say("")

    # --- the agent's --------------------------------------------------------------------------

    def turn(self, prompt: str) -> None:
        """Show the user's message."""
        self._step = 0
        self.say(f"\nUser: {prompt}", "bold")

    def event(self, event: AgentEvent) -> None:
        """Show one event as it happens."""
        if event.step != self._step:
            self._step = event.step
            self.say(f"Step {event.step}", "bold")
        match event:
            case Said(text):
                self._said += text
            case Recovered(StopReasonObserved(outcome=outcome, rung=rung)) if rung:
                self._tell_faults(1)
                self.say(f"  recovery   {outcome}: {SENTENCES[rung]}", "green")
            case StepEnded(status=status, reason=reason):
                self._tell_faults()
                if self._said.strip():
                    self.say(f"  text       {one_line(self._said)}")
                self._said = ""
                if status != "complete":
                    self.say(f"  {status:<10} {reason}", "red")
            case Called(call, synthetic=synthetic):
                note = " (not run)" if synthetic else ""
                self.say(_short(f"  call       {call.name}{note} {call.arguments}"), "cyan")
            case Returned(result=result):
                self.say(_short(f"  {'failed' if result.failed else 'result':<10} {result.text}"))

    def _tell_faults(self, most: int | None = None) -> None:
        for name in self._faults.news(most) if self._faults else ():
            self.say(f"  fault      {name}", "red")

    def outcome(self, outcome: Mapping[str, Any]) -> None:
        """Show the tables at the end, from the results that a program would get."""
        if self._quiet:
            return
        rows = [tuple(map(str, row.values())) for row in outcome["faults"]]
        rows.append(("all", str(outcome["faults_met"]), str(outcome["faults_recovered"])))
        without = outcome["requests_without_faults"]
        twice = ", ".join(outcome["ran_twice"]) or "none"
        print()
        print_table(("fault", "met", "recovered"), rows)
        print_table(
            ("in all", ""),
            (
                ("requests", f"{outcome['requests']} (without faults: {without})"),
                ("tool runs", f"{outcome['tool_runs']} (twice: {twice})"),
                ("identical to the fault-free run", "yes" if outcome["identical"] else "no"),
                ("folder", outcome["folder"]),
            ),
        )


def _answers(row: ModelRow) -> list[tuple[str, str, Text]]:
    """Return who answered, how it ended and the text of both answers, with the seams marked in the
    second."""
    stitched = Text()
    for number, piece in enumerate(pieces(row.wrapped.text, row.seams)):
        if number:
            stitched.append(SEAM.format(number + 1), "reverse")
        stitched.append(piece, _PIECE_STYLES[number % len(_PIECE_STYLES)])
    bare, wrapped = _finish(row.bare), _finish(row.wrapped)
    return [
        ("bare SDK", f"finish reason {bare}", Text(row.bare.text)),
        (f"with Tenuto, {row.requests} requests", f"finish reason {wrapped}", stitched),
    ]


def _finish(answered: Answered) -> str:
    return answered.error or answered.finish or "none"


def _comparison(row: ModelRow) -> str:
    if row.verdict in ("recovered", "fine"):
        return (
            "The stitched answer equals the uncut answer of this run, character by character "
            f"({len(row.uncut.text)} characters, {row.seconds:.1f} s)."
        )
    if row.verdict == "truthful":
        return "The answer is not whole, and its finish reason says so; the budget is spent."
    return "The stitched answer differs from the uncut answer of this run."


def _cells(row: FaultRow) -> tuple[str, ...]:
    both = [f"{one.verdict}: {one.detail}" for one in (row.bare, row.wrapped)]
    return (row.fault, *both, str(row.wrapped.requests))


def _style(cell: str) -> str:
    return STYLES.get(cell.partition(":")[0], "")


def _short(text: str) -> str:
    line = text[:13] + one_line(text[13:])
    if len(line) <= _WIDTH:
        return line
    kept = line[: _WIDTH - 1]
    return (kept.rpartition(" ")[0] or kept) + " …"
