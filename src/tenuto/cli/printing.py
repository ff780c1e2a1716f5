"""What the commands share: the flag `--json`, JSON on stdout, and tables for people."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from cyclopts import Parameter
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

JsonFlag = Annotated[bool, Parameter(name="--json", negative="")]
"""Whether a program reads the output."""


def why_unread(name: str, error: OSError) -> str:
    """Why a file that was named cannot be read, in a person's words.

    >>> why_unread("a.json", FileNotFoundError(2, "No such file or directory"))
    'No such file or directory'
    >>> why_unread("--jsno", FileNotFoundError(2, "No such file or directory"))
    'No such file or directory, and no such option (see tenuto --help)'
    """
    why = error.strerror or str(error)
    meant = name.startswith("-") and isinstance(error, FileNotFoundError)
    return f"{why}, and no such option (see tenuto --help)" if meant else why


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print one JSON value; without indent it is one line."""
    print(json.dumps(value, ensure_ascii=False, indent=indent), flush=True)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print rows as a table on a terminal, else as lines of tab-separated fields.

    The first column is what a row is called: it is never broken or cut. Other columns wrap between
    words. Where the terminal is too narrow for that, each row becomes a block of lines.

    Args:
        columns: the titles.
        rows: as many cells for each row.
        title: stands above the table; "" for none.
    """
    console = Console()
    if not console.is_terminal:
        print("\t".join(columns))
        for row in rows:
            print("\t".join(" ".join(cell.split()) for cell in row))
        return
    cells = [[" ".join(cell.split()) for cell in row] for row in rows]
    if title:
        console.print(Text(title, "italic"))
    if sum(_least_widths(columns, cells)) + 2 * len(columns) > console.width:
        _print_blocks(console, columns, cells)
        return
    table = Table(box=box.SIMPLE_HEAD)
    for name, least in zip(columns, _least_widths(columns, cells), strict=True):
        table.add_column(name, min_width=least)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))  # Text: brackets in a cell are no markup
    console.print(table)


def _least_widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """How narrow each column may become: the first keeps its cells whole, others their words."""
    of_column = zip(columns, *rows, strict=True)
    return [
        max(cell_len(piece) for cell in cells for piece in (cell.split() or [""]))
        if number
        else max(map(cell_len, cells))
        for number, cells in enumerate(of_column)
    ]


def _print_blocks(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print each row as its name and a line for each further cell, wrapped between words. A word
    that is wider than the terminal, such as a URL, is left to the terminal to wrap."""
    indent = max(map(cell_len, columns[1:]), default=0) + 4
    for name, *cells in rows:
        console.print(Text(name, "bold"), soft_wrap=True)
        for title, cell in zip(columns[1:], cells, strict=True):
            width = max(console.width - indent, 20)
            lines = textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False)
            for number, line in enumerate(lines or [""]):
                label = "" if number else title
                console.print(Text(f"  {label:<{indent - 2}}{line}"), soft_wrap=True)
