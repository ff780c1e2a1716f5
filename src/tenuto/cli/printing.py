"""What the commands share: the flag `--json`, JSON on stdout, and tables for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from cyclopts import Parameter
from rich import box
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
    """Print rows as a table on a terminal, else as lines of tab-separated fields."""
    console = Console()
    if not console.is_terminal:
        print("\t".join(columns))
        for row in rows:
            print("\t".join(" ".join(cell.split()) for cell in row))
        return
    table = Table(*columns, title=title or None, title_justify="left", box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # Text: brackets in a cell are no markup
    console.print(table)
