"""What `tenuto check` does, with nothing but the base install."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from tenuto.cli.check_words import BAD, number_of, words
from tenuto.cli.kept import Kept, NotWritten
from tenuto.command_kit.command_error import CommandError
from tenuto.core.answer.stop import printable
from tenuto.core.settings.names import not_known
from tenuto.judging.adding import Checked
from tenuto.judging.cells import MOST_TOKENS
from tenuto.judging.checking import Options, check, reason
from tenuto.judging.files import files_in
from tenuto.judging.kinds import names
from tenuto.judging.own import Pointers, steps_of
from tenuto.judging.report import report_of
from tenuto.judging.tally import seen_together

BAD_FILE: Final = 2
"""The exit code if an option is wrong, or something cannot be read, or is not known."""

TOO_MANY: Final = 1
"""The exit code if more answers are cut or broken than `--fail-over` allows."""

UNKNOWN_SHARE: Final = 0.05
"""If more rows are no answers of a known kind, a folder may only look clean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options of the command, as `tenuto check --help` says them."""

    requests: str | None = None
    limit: str | None = None
    kind: str | None = None
    answer: str | None = None
    stop: str | None = None
    tokens: str | None = None
    out: str | None = None
    show_text: bool = False
    fail_over: str | None = None
    processes: int | None = None


def run_check(
    paths: Sequence[str],
    wanted: Wanted,
    say: Callable[[str], None],
    say_json: Callable[[dict[str, Any]], None] | None = None,
) -> int:
    """Check files and return the exit code. `say` prints a line for a person; `say_json`, if there
    is one, the report instead.

    Raises:
        CommandError: an option is wrong, or a file cannot be read or written.
    """
    if not paths:
        raise CommandError("name at least one file or folder", BAD_FILE)
    for name, value in (("--out", wanted.out), ("--requests", wanted.requests)):
        if value == "":
            raise CommandError(f"{name} is empty, but it must name a path", BAD_FILE)
    most = _share_in(wanted.fail_over)
    options = _options(wanted)
    if wanted.processes is not None and wanted.processes < 1:
        raise CommandError(f"--processes is {wanted.processes}, but it must be 1 or more", BAD_FILE)
    try:
        files, refused = _files(paths, wanted)
        kept = Kept(wanted.out) if wanted.out is not None else None
        report = _checked(files, refused, options, wanted.processes or os.cpu_count() or 1, kept)
    except OSError as error:
        raise CommandError(_why(error), BAD_FILE) from None
    if say_json is not None:
        say_json(report)
    else:
        for line in words(report):
            say(line)
    code = _exit_code(report, most)
    if code == TOO_MANY and most is not None and say_json is None:
        say(f"  {100 * _bad_share(report):.1f} % are cut or broken: more than {100 * most:g} %")
    return code


_OPTIONS: Final = ("--json", *(f"--{each.name.replace('_', '-')}" for each in fields(Wanted)))


def _why(error: OSError) -> str:
    name = printable(str(error.filename), 4_096)
    if name == "-":
        return "standard input is not read; write it to a file first"
    if name.startswith("-") and isinstance(error, FileNotFoundError):
        return not_known(name, _OPTIONS, "an option, and no file")
    done = "written" if isinstance(error, NotWritten) else "read"
    return f"{name} cannot be {done}: {printable(reason(error), 400)}"


def _checked(
    files: Sequence[str],
    refused: Sequence[OSError],
    options: Options,
    processes: int,
    kept: Kept | None,
) -> dict[str, Any]:
    progress = Progress()

    def on_piece(found: Checked, done: int, size: int) -> None:
        if kept is not None:
            kept.add(found)
        progress.show(done, size)

    try:
        found = check(files, options, processes, on_piece)
    except KeyboardInterrupt:
        progress.clear()
        told = ""
        if kept is not None:
            kept.stop()
            told = f"; the verdicts of {kept.rows:,} rows are in {printable(str(kept.path), 4_096)}"
        print(f"tenuto: interrupted{told}", file=sys.stderr)
        raise
    progress.clear()
    asked = {"read": found.requests, "answers": found.requested}
    report = {
        **report_of(found.tally),
        "files": len(files),
        "requests": asked if options.requests else None,
        "unreadable_lines": found.unread_lines,
        "unreadable": [
            {"file": file, "line": line, "why": why} for file, line, why in found.unread
        ],
        "refused": [{"file": str(each.filename), "why": reason(each)} for each in refused]
        + [{"file": file, "why": why} for file, why in found.refused],
        "empty": [{"file": file, "why": why} for file, why in found.empty],
        "asking": [{"file": file, "rows": rows} for file, rows in found.asking.most_common()],
        "repeated": found.repeated,
        "unmatched": [
            {"option": f"--{name}", "pointer": pointer}
            for name, pointer in options.named().items()
            if name not in found.led
        ],
        "worst": [],
    }
    return report if kept is None else kept.close(report, seen_together(found.tally))


def _files(paths: Sequence[str], wanted: Wanted) -> tuple[list[str], list[OSError]]:
    """Return the files to check, which are not the requests and none of a report, and why other
    paths cannot be read."""
    if "" in paths:
        raise CommandError("a path is empty; name a file or a folder", BAD_FILE)
    left_out = {os.path.realpath(wanted.requests)} if wanted.requests is not None else set()
    if wanted.out is not None:
        out = Path(wanted.out).resolve()
        for path in paths:
            if Path(path).resolve() in (out, *out.parents) and Path(path).is_dir():
                told = printable(path, 4_096)
                why = f"--out is inside of {told}, which is checked; name a folder outside of it"
                raise CommandError(why, BAD_FILE)
    refused: list[OSError] = []
    found = files_in(paths, refused.append)
    for error in refused:
        if str(error.filename).startswith("-") and isinstance(error, FileNotFoundError):
            raise error
    files = [path for path in found if os.path.realpath(path) not in left_out]
    if files:
        return files, refused
    if refused:
        raise CommandError("; ".join(_none_read(refused)), BAD_FILE)
    told = ", ".join(printable(path, 4_096) for path in paths)
    raise CommandError(f"there is no file to read in {told}", BAD_FILE)


def _none_read(refused: Sequence[OSError]) -> Iterator[str]:
    """Say why nothing can be read."""
    yield _why(refused[0])
    for error in refused[1:_REASONS_TOLD]:
        yield f"{printable(str(error.filename), 4_096)}: {printable(reason(error), 400)}"
    if more := len(refused[_REASONS_TOLD:]):
        yield f"nor can {more:,} other{'s' * (more != 1)}"


_REASONS_TOLD: Final = 3


def _options(wanted: Wanted) -> Options:
    if wanted.kind is not None and wanted.kind not in names():
        known = ", ".join(names())
        why = f"--kind is {printable(wanted.kind)!r}, but it must be one of {known}"
        raise CommandError(why, BAD_FILE)
    if wanted.show_text and wanted.out is None:
        raise CommandError("--show-text needs --out, which has the ends of the rows", BAD_FILE)
    limit, limit_at = _limit(wanted.limit)
    return Options(
        limit,
        None,
        wanted.kind,
        (wanted.requests,) if wanted.requests is not None else (),
        _pointers(wanted, limit_at),
        places=wanted.out is not None,
        show_text=wanted.show_text,
    )


def _limit(given: str | None) -> tuple[int | None, str]:
    """Return the limit of all rows, or the pointer to that of each.

    >>> _limit("512"), _limit("/params/max_tokens"), _limit(None)
    ((512, ''), (None, '/params/max_tokens'), (None, ''))
    """
    if given is None or given.startswith("/"):
        return None, given or ""
    if not (given.isascii() and given.isdecimal() and 0 < int(given[:18]) <= MOST_TOKENS):
        must = "it must be a number of tokens, or a JSON pointer such as /params/max_tokens"
        raise CommandError(f"--limit is {printable(given)!r}, but {must}", BAD_FILE)
    return int(given), ""


def _pointers(wanted: Wanted, limit_at: str) -> Pointers | None:
    given = {"--answer": wanted.answer, "--stop": wanted.stop, "--tokens": wanted.tokens}
    for name, pointer in given.items():
        try:
            steps_of(pointer or "")
        except ValueError as error:
            told = f"{name} is {printable(pointer or '')!r}, but {error}"
            raise CommandError(told, BAD_FILE) from None
    others = [name for name, pointer in given.items() if pointer is not None]
    others += ["--limit"] if limit_at else []
    if wanted.answer is None:
        if others:
            why = f"{others[0]} names a place in the rows; --answer must say where the answer is"
            raise CommandError(why, BAD_FILE)
        return None
    if wanted.kind is not None:
        raise CommandError("--answer describes a kind of your own; leave out --kind", BAD_FILE)
    return Pointers(wanted.answer, wanted.stop or "", limit_at, wanted.tokens or "")


def _share_in(given: str | None) -> float | None:
    """Return a share such as 1% or 0.01. A number from 1 on needs the mark: 1 may mean all or one
    in a hundred.

    >>> _share_in("1%"), _share_in("0.5"), _share_in(None)
    (0.01, 0.5, None)
    """
    if given is None:
        return None
    bare = given.strip().removesuffix("%").strip()
    is_percent = given.strip().endswith("%")
    if bare.isascii() and bare.replace(".", "", 1).isdecimal():
        number = float(bare) / (100 if is_percent else 1)
        if number < 1 or (is_percent and number == 1):
            return number
    must = "it must be a share: 1% or 0.01, where a number from 1 on needs the %"
    raise CommandError(f"--fail-over is {printable(given)!r}, but {must}", BAD_FILE)


def _bad_share(report: Mapping[str, Any]) -> float:
    answers = report["answers"]
    return number_of(report["outcomes"], BAD) / answers if answers else 0.0


def _exit_code(report: Mapping[str, Any], most: float | None) -> int:
    rows, answers = report["rows"], report["answers"]
    unread = report["unreadable_lines"] or report["refused"] or report["unmatched"]
    if unread or not rows or rows - answers > UNKNOWN_SHARE * rows:
        return BAD_FILE
    return TOO_MANY if most is not None and _bad_share(report) > most else 0


class Progress:
    """A line on the terminal with the share that is done and the time that is left. Programs see
    none."""

    def __init__(self) -> None:
        self._shows = sys.stderr is not None and sys.stderr.isatty()
        self._start_s = time.monotonic()
        self._width = 0

    def show(self, done: int, size: int) -> None:
        """Show how many bytes of all are read."""
        if self._shows and done < size:
            text = progress_in(done, size, time.monotonic() - self._start_s)
            print(f"\r{text:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(text)

    def clear(self) -> None:
        """Remove the line."""
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)


def progress_in(done: int, size: int, spent_s: float) -> str:
    """Return how much is done, and how long the rest takes at the same speed.

    >>> progress_in(250, 1_000, 30), progress_in(10, 1_000, 120)
    ('25 %, 1:30 left', '1 %, 3:18:00 left')
    """
    percent = 100 * done // size if size else 100
    left_s = round(spent_s * (size - done) / done) if done else 0
    hours, minutes, seconds = left_s // 3_600, left_s // 60 % 60, left_s % 60
    clock = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"{percent} %, {clock} left"
