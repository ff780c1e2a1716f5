"""What `tenuto check` does and says, with nothing but the base install."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tenuto.cli.command_error import CommandError
from tenuto.core.answer.stop import printable
from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.checking import Checked, Kept, Options, check, share
from tenuto.judging.files import files_in
from tenuto.judging.kinds import names
from tenuto.judging.tally import as_plain, seen_together

BAD_FILE: Final = 2
"""The exit code if something cannot be read, or is not known."""

TOO_MANY = 1
"""The exit code if more answers are cut or broken than `--fail-over` allows."""

_PATH_CHARS: Final = 4_096  # of the longest path that Linux opens
_UNKNOWN_SHARE: Final = 0.05
"""If more rows are no answers of a known kind, a folder may only look clean."""

_CUT: Final = (Outcome.TEXT_CUT, Outcome.ARGUMENTS_CUT, Outcome.THINKING_CUT)

_BAD: Final = (
    *_CUT, Outcome.LIKELY_CUT, Outcome.EMPTY, Outcome.THINKING_ONLY, Outcome.ARGUMENTS_MALFORMED,
    Outcome.CALLS_MISSING, Outcome.CALL_WRITTEN, Outcome.DOCUMENT_INVALID, Outcome.RUNAWAY,
    Outcome.FAULT, Outcome.DROPPED, Outcome.OVERFLOW,
)  # fmt: skip
"""What `--fail-over` counts."""

_OTHERS: Final[tuple[tuple[str, tuple[Outcome, ...]], ...]] = (
    ("only reasoning", (Outcome.THINKING_ONLY,)),
    ("broken call", (Outcome.ARGUMENTS_MALFORMED, Outcome.CALLS_MISSING)),
    ("call in the text", (Outcome.CALL_WRITTEN,)),
    ("invalid JSON", (Outcome.DOCUMENT_INVALID,)),
    ("runaway", (Outcome.RUNAWAY,)),
    ("blocked", (Outcome.BLOCKED, Outcome.REFUSED)),
    ("failed", (Outcome.FAULT, Outcome.DROPPED)),
    ("context full", (Outcome.OVERFLOW,)),
    ("paused or cancelled", (Outcome.PAUSED, Outcome.CANCELLED)),
    ("unknown stop", (Outcome.UNKNOWN,)),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of the command, as `tenuto check --help` says them."""

    requests: str | None = None
    limit: int | None = None
    kind: str | None = None
    out: str | None = None
    fail_over: str | None = None
    processes: int | None = None


def run_check(
    paths: Sequence[str],
    wanted: Wanted,
    say: Callable[[str], None],
    say_json: Callable[[dict[str, Any]], None] | None = None,
) -> int:
    """Check files and return the exit code. `say` prints a line for a person; `say_json`, if there
    is one, the counts instead.

    Raises:
        CommandError: an option is wrong, or a file cannot be read.
    """
    if not paths:
        raise CommandError("name at least one file or folder", BAD_FILE)
    most = _share_in(wanted.fail_over)
    kind, out = wanted.kind, wanted.out
    if kind is not None and kind not in names():
        known = ", ".join(names())
        raise CommandError(f"--kind is {printable(kind)!r}, but it must be one of {known}", 2)
    asked = (wanted.requests,) if wanted.requests is not None else ()
    options = Options(wanted.limit, None, kind, asked, out is not None)
    kept = Kept(out) if out is not None else None
    on_terminal = sys.stderr is not None and sys.stderr.isatty()

    def on_range(found: Checked, number: int, of: int) -> None:
        if kept is not None:
            kept.add(found)
        if on_terminal and of > 1:
            print(f"\r{100 * (number + 1) // of} %", end="", file=sys.stderr, flush=True)

    try:
        left_out = {os.path.realpath(path) for path in asked}
        files = [path for path in files_in(paths) if os.path.realpath(path) not in left_out]
        found = check(files, options, wanted.processes or os.cpu_count() or 1, on_range)
    except OSError as error:
        name = str(error.filename)
        why = f"{printable(name, 200)} cannot be read: {error.strerror}"
        raise CommandError(why, BAD_FILE) from None
    if on_terminal:
        print("\r     \r", end="", file=sys.stderr)
    report = {
        "files": len(files),
        **as_plain(found.tally),
        "unreadable_lines": found.unread_lines,
        "unreadable": [{"file": file, "line": line} for file, line, _ in found.unread],
    }
    if kept is not None:
        kept.close(report, seen_together(found.tally))
    if say_json is not None:
        say_json(report)
    else:
        for line in _words(report):
            say(line)
    return _exit_code(report, most)


def _share_in(given: str | None) -> float | None:
    """Return a share such as 1% or 0.01.

    >>> _share_in("1%"), _share_in("0.5"), _share_in(None)
    (0.01, 0.5, None)
    """
    if given is None:
        return None
    try:
        number = float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
    except ValueError:
        number = -1
    if not 0 <= number <= 1:
        raise CommandError(
            f"--fail-over is {printable(given)!r}, but it must be a share such as 1%", 2
        )
    return number


def _exit_code(report: Mapping[str, Any], most: float | None) -> int:
    counts, rows = report["outcomes"], report["rows"]
    if report["unreadable_lines"] or not rows:
        return BAD_FILE
    if share(counts, (Outcome.NO_ANSWER,), rows) > _UNKNOWN_SHARE:
        return BAD_FILE
    answers = rows - counts.get(Outcome.NO_ANSWER.value, 0)
    return TOO_MANY if most is not None and share(counts, _BAD, answers) > most else 0


def _words(report: Mapping[str, Any]) -> Iterator[str]:
    counts, rows = report["outcomes"], report["rows"]
    unknown = counts.get(Outcome.NO_ANSWER.value, 0)
    answers = rows - unknown
    kinds = ", ".join(kind for kind in list(report["kinds"])[:3] if kind)
    files = f"{report['files']:,} file{'s' * (report['files'] != 1)}"
    head = f"{answers:,} answers in {files}" + (f" ({kinds})" if kinds else "")
    if bad := report["unreadable_lines"]:
        first = report["unreadable"][:3]
        named = ", ".join(f"{printable(one['file'], _PATH_CHARS)}:{one['line']}" for one in first)
        head += f", {bad:,} line{'s' * (bad != 1)} unreadable: {named}" + (", …" if bad > 3 else "")
    yield head
    for name, outcomes, note in (
        ("complete", (Outcome.DONE, Outcome.OPEN_END), _of_open_ends(counts)),
        ("cut by the limit", _CUT, _worst(report)),
        ("likely cut", (Outcome.LIKELY_CUT,), _piles(report)),
        ("empty", (Outcome.EMPTY,), _others(counts)),
    ):
        number = sum(counts.get(outcome.value, 0) for outcome in outcomes)
        percent = f"{100 * number / answers:5.1f} %" if answers else "    – %"
        yield f"  {name:<17}{number:>9,}  {percent}{'   ' + note if note else ''}"
    if report["label_sized"]:
        yield f"  {report['label_sized']:,} of the cut answers are labels, of 16 tokens or fewer"
    if unknown:
        yield f"  {unknown:,} rows ({100 * unknown / rows:.1f} %) are no answers of a known kind"


def _of_open_ends(counts: Mapping[str, int]) -> str:
    number = counts.get(Outcome.OPEN_END.value, 0)
    return f"{number:,} of them without a stop and without an end mark" if number else ""


def _worst(report: Mapping[str, Any]) -> str:
    """Return the model and limit of which the largest share is cut."""
    shares = []
    for group in report["groups"]:
        answers = sum(group["outcomes"].values())
        part = share(group["outcomes"], _CUT, answers)
        if part and answers >= _LEAST_OF_GROUP:
            shares.append((part, group))
    if not shares or len(report["groups"]) < 2:
        return ""
    part, group = max(shares, key=lambda each: each[0])
    under = f" at limit {group['limit']:,}" if group["limit"] else ""
    return f"worst: {printable(group['model']) or 'no model stored'}{under}: {100 * part:.0f} %"


_LEAST_OF_GROUP: Final = 10


def _piles(report: Mapping[str, Any]) -> str:
    return "; ".join(
        f"no stop stored; {pile['answers']:,} answers pile up at {pile['tokens']:,} tokens"
        for pile in report["piled"][:2]
    )


def _others(counts: Mapping[str, int]) -> str:
    found = [(name, sum(counts.get(o.value, 0) for o in outcomes)) for name, outcomes in _OTHERS]
    return " · ".join(f"{name} {number:,}" for name, number in found if number)
