"""How the demo looks: on a terminal, in plain lines, or not at all while a program waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from tenuto.cli.demo_faults import FaultRow
from tenuto.cli.demo_model import ModelRow, pieces

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


class View(Protocol):
    """What the demo wants shown."""

    def say(self, text: str) -> None:
        """A line of explanation."""

    def model_row(self, row: ModelRow) -> None:
        """One question with its answers."""

    def faults(self, rows: Iterator[FaultRow], total: int) -> Iterator[FaultRow]:
        """The faults as they are played, with the progress shown."""

    def closing(self, rows: Sequence[FaultRow]) -> None:
        """The table at the end."""


def view(*, quiet: bool) -> View:
    """The view that fits where the output goes."""
    console = Console()
    if quiet:
        return QuietView()
    return TerminalView(console) if console.is_terminal else PlainView()


class QuietView:
    """Shows nothing."""

    def say(self, text: str) -> None:
        """Nothing."""

    def model_row(self, row: ModelRow) -> None:
        """Nothing."""

    def faults(self, rows: Iterator[FaultRow], total: int) -> Iterator[FaultRow]:
        """The rows as they come."""
        return rows

    def closing(self, rows: Sequence[FaultRow]) -> None:
        """Nothing."""


class PlainView:
    """Lines without colours, for files and pipes."""

    def say(self, text: str) -> None:
        """A line."""
        print(text, flush=True)

    def model_row(self, row: ModelRow) -> None:
        """Both answers, one below the other."""
        print(f"\nQuestion: {row.prompt} (output limit {row.limit_tokens} tokens)")
        for title, text in _answers(row):
            print(f"{title}\n    {text.plain}".replace("\n\n", "\n"))
        print(_comparison(row), flush=True)

    def faults(self, rows: Iterator[FaultRow], total: int) -> Iterator[FaultRow]:
        """A line for each fault as it comes."""
        for number, row in enumerate(rows, start=1):
            print(f"[{number}/{total}] {row.fault} ({row.mode}): {row.summary}", flush=True)
            yield row

    def closing(self, rows: Sequence[FaultRow]) -> None:
        """Columns of equal width."""
        cells = [COLUMNS, *(_cells(row) for row in rows)]
        widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
        print()
        for line in cells:
            print("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip())
        print(flush=True)


class TerminalView:
    """Colours, panels side by side and a bar."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        """A line."""
        self._console.print(Text(text))

    def model_row(self, row: ModelRow) -> None:
        """Both answers, side by side where there is room."""
        self._console.print()
        self._console.print(
            Text(f"{row.prompt} ", "bold")
            + Text(f"(output limit {row.limit_tokens} tokens)", "dim")
        )
        width = self._console.width // 2 - 1 if self._console.width >= 80 else self._console.width
        panels = [
            Panel(text, title=Text(title), width=width, border_style=style)
            for (title, text), style in zip(_answers(row), ("red", "green"), strict=True)
        ]
        self._console.print(Columns(panels, padding=(0, 1)))
        self._console.print(Text(_comparison(row), STYLES[row.verdict]))

    def faults(self, rows: Iterator[FaultRow], total: int) -> Iterator[FaultRow]:
        """A bar that names the fault that was played last."""
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=self._console, transient=True) as progress:
            task = progress.add_task("", total=total)
            for row in rows:
                progress.update(task, advance=1, description=f"{row.fault} ({row.mode})")
                yield row

    def closing(self, rows: Sequence[FaultRow]) -> None:
        """A table with the verdicts in colour."""
        table = Table(*COLUMNS)
        for row in rows:
            fault, mode, bare, wrapped, requests = _cells(row)
            table.add_row(
                fault,
                mode,
                Text(bare, STYLES[row.bare.verdict]),
                Text(wrapped, STYLES[row.wrapped.verdict]),
                requests,
            )
        self._console.print(table)


def _answers(row: ModelRow) -> Iterable[tuple[str, Text]]:
    """Title and text of both answers, the seams of the second marked."""
    yield f"bare SDK: finish reason {_finish(row.bare.finish, row.bare.error)}", Text(row.bare.text)
    stitched = Text()
    for number, piece in enumerate(pieces(row.wrapped.text, row.seams)):
        if number:
            stitched.append(SEAM.format(number + 1), "reverse")
        stitched.append(piece, _PIECE_STYLES[number % len(_PIECE_STYLES)])
    finish = _finish(row.wrapped.finish, row.wrapped.error)
    yield f"with Tenuto: finish reason {finish}, {row.requests} requests", stitched


def _finish(finish: str | None, error: str) -> str:
    return error or finish or "none"


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
    return (
        row.fault,
        row.mode,
        f"{row.bare.verdict}: {row.bare.detail}",
        f"{row.wrapped.verdict}: {row.wrapped.detail}",
        str(row.wrapped.requests),
    )
