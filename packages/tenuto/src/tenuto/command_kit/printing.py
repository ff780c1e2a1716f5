"""What the commands share: flags, reading files, and printing JSON and tables."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import IO, Annotated, Any

from cyclopts import Parameter
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tenuto.command_kit.command_error import CommandError, one_line
from tenuto.core.answer.stop import printable

Switch = Annotated[bool, Parameter(negative="")]
FileName = Annotated[str, Parameter(allow_leading_hyphen=True)]
JsonFlag = Annotated[bool, Parameter(name="--json", negative="")]
"""Whether a program reads the output."""


_HANGING = 3

BAD_FILE = 2
"""The exit code if a named file can't be read."""


def reason_of(error: OSError) -> str:
    """Return the system's message for an error."""
    return error.strerror or str(error)


def cannot_listen(host: str, port: int, error: OSError) -> str:
    """Return why a server can't listen, and what to do if the port is the reason.

    >>> cannot_listen("::1", 80, OSError(errno.EACCES, "Permission denied"))
    'cannot listen on ::1 port 80: Permission denied; choose another --port, or 0 for a free one'
    """
    told = f"cannot listen on {host} port {port}: "
    if error.errno in (errno.EADDRINUSE, errno.EACCES):
        # asyncio and Python repeat the address in their own message.
        return f"{told}{os.strerror(error.errno)}; choose another --port, or 0 for a free one"
    return told + reason_of(error).partition(" (while")[0]


def why_unread(name: str, error: OSError) -> str:
    """Return why a named file can't be read, in words for a person.

    >>> why_unread("a.json", FileNotFoundError(2, "No such file or directory"))
    'No such file or directory'
    >>> why_unread("--jsno", FileNotFoundError(2, "No such file or directory"))
    'No such file or directory, and no such option (see tenuto --help)'
    """
    why = reason_of(error)
    meant = name.startswith("-") and isinstance(error, FileNotFoundError)
    return f"{why}, and no such option (see tenuto --help)" if meant else why


READ_MAX_BYTES = 268_435_456
"""Larger files are not read."""

_PIPES_OF_A_SHELL = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""The folder of files that a shell has already opened, as for `<(command)`."""


def told_of(
    files: Sequence[str], tell: Callable[[str], dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Return a report on each file: its `file`, and an `error` if it wasn't read."""
    if not files:
        raise CommandError("name at least one file, or - for standard input", BAD_FILE)

    def told(name: str) -> dict[str, Any]:
        try:
            return tell(name)
        except OSError as error:
            return {"file": name, "error": why_unread(name, error)}
        except CommandError as error:
            return {"file": name, "error": str(error)}

    return map(told, files)


def print_told(told: dict[str, Any], verb: str, words: Callable[[], str], *, json: bool) -> None:
    """Print the report on a file, as JSON on one line or in words. An error in words goes to
    standard error."""
    if json:
        print_json(told, indent=None)
    elif "error" in told:
        where, why = printable(told["file"], 200) or '""', visible(told["error"])
        print(f"tenuto: {where} cannot be {verb}: {why}", file=sys.stderr)
    else:
        print_words(visible(words()))


def print_words(text: str) -> None:
    """Print lines for a person, which a terminal does not break within a word. Programs get the
    lines as they are."""
    console = Console()
    print(wrapped(text, console.width) if console.is_terminal else text, flush=True)


def wrapped(text: str, width: int) -> str:
    """Return a text whose lines are broken between words, and further indented than they began. A
    word that is wider, such as a path, is left whole.

    >>> print(wrapped("  1. The output limit cut the answer.", 26))
      1. The output limit cut
         the answer.
    """
    return "\n".join(
        textwrap.fill(
            line,
            width,
            subsequent_indent=" " * (len(line) - len(line.lstrip()) + _HANGING),
            break_long_words=False,
            break_on_hyphens=False,
        )
        if cell_len(line) > width
        else line
        for line in text.split("\n")
    )


def pieces(text: str, seams: Sequence[int]) -> list[str]:
    """Return the text in the pieces that each request added.

    >>> pieces("one two three", [4, 8])
    ['one ', 'two ', 'three']
    """
    return [text[start:end] for start, end in pairwise([0, *seams, len(text)])]


def read_file(name: str) -> bytes:
    """Return the content of a named file; "-" reads from standard input.

    Raises:
        OSError: it cannot be read, is too large, or is a pipe or a device, which may never end.
    """
    if name == "-":
        if sys.stdin is None:  # `tenuto detect - <&-`
            raise OSError(0, "standard input is closed")
        return _bounded(sys.stdin.buffer)
    # Without O_NONBLOCK, opening a pipe waits for a writer. Windows has neither.
    file = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(file, "rb") as opened:
        mode = os.fstat(file).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(21, "Is a directory")
        if not stat.S_ISREG(mode):
            if not name.startswith(_PIPES_OF_A_SHELL):
                raise OSError(
                    0, "it is a pipe or a device, not a file; use - to read standard input"
                )
            os.set_blocking(file, True)
        return _bounded(opened)


def _bounded(file: IO[bytes]) -> bytes:
    content = file.read(READ_MAX_BYTES + 1)
    if len(content) > READ_MAX_BYTES:
        raise OSError(0, f"it has more than {READ_MAX_BYTES} bytes")
    return content


def visible(text: str) -> str:
    """Return a text without characters that control a terminal: control characters become escapes,
    except for line ends and tabs.

    >>> visible("a\\x1b[2J\\n")
    'a\\\\x1b[2J\\n'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text
    )


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print one JSON value; without indent it is one line."""
    print_line(json_line(value, indent=indent))


def print_line(text: str) -> None:
    """Print a line for a program, at once."""
    print(text, flush=True)


def json_line(value: Any, *, indent: int | None = None) -> str:
    """Return a JSON value as text, with a terminal's control characters escaped as in JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
        text = text.replace("\x7f", "\\u007f")
    return text


def print_rows(
    value: Any, columns: Sequence[str], rows: Iterable[Sequence[str]], *, json: bool
) -> None:
    """Print one JSON value for a program, or a table of the same for a person."""
    if json:
        print_json(value)
    else:
        print_table(columns, rows)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    title: str = "",
    style: Callable[[str], str] = lambda _: "",
) -> None:
    """Print rows as a table on a terminal, else as lines of tab-separated fields.

    The first column is the row's name, which is never broken or cut. Other columns wrap between
    words. If the terminal is too narrow for that, each row becomes a block of lines.

    Args:
        columns: the titles.
        rows: the cells of each row, one for each column.
        title: a line above the table; "" for none.
        style: returns how a cell looks, in Rich's words; "" for as it is.
    """
    console = Console()
    if not console.is_terminal:
        print("\t".join(columns))
        for row in rows:
            print("\t".join(visible(one_line(cell)) for cell in row))
        return
    cells = [[visible(one_line(cell)) for cell in row] for row in rows]
    if title:
        console.print(Text(title, "italic"))
    widths = _widths(columns, cells, console.width - _BETWEEN * (len(columns) - 1))
    if widths is None:
        _print_blocks(console, columns, cells, style)
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, width in zip(columns, widths, strict=True):
        table.add_column(name, width=width)
    for row in cells:
        # Text: brackets in a cell aren't markup
        table.add_row(*(Text(cell, style(cell)) for cell in row))
    console.print()
    console.print(table)
    console.print()


_BETWEEN = 3
"""The columns of the terminal between two columns of a table."""


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return how wide each column of a table is, or None if there is no room for its words. Rich
    would cut a title instead.

    >>> _widths(("name", "what"), [("a", "one two three")], 14), _widths(("name",), [], 3)
    ([4, 10], None)
    """
    widths = _least_widths(columns, rows)
    if sum(widths) > room:
        return None
    needs = [
        max(map(cell_len, cells)) - least
        for least, *cells in zip(widths, columns, *rows, strict=True)
    ]
    spare = room - sum(widths)
    # Those that need least first, so that only the longest cells wrap.
    order = sorted(range(len(needs)), key=needs.__getitem__)
    for number, left in zip(order, range(len(needs), 0, -1), strict=True):
        share = min(needs[number], spare // left)
        widths[number] += share
        spare -= share
    return widths


def _least_widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return how narrow each column may become: the first keeps whole cells, the others whole
    words."""
    of_column = zip(columns, *rows, strict=True)
    return [
        max(cell_len(piece) for cell in cells for piece in (cell.split() or [""]))
        if number
        else max(map(cell_len, cells))
        for number, cells in enumerate(of_column)
    ]


def _print_blocks(
    console: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    style: Callable[[str], str],
) -> None:
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
                words = Text(f"  {label:<{indent - 2}}") + Text(line, style(cell))
                console.print(words, soft_wrap=True)
