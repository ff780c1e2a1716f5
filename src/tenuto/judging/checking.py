"""Check files of stored answers: judge each row, in ranges that processes share, and add up."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.archives import NotReadable
from tenuto.judging.files import Range, ranges_of, rows_of
from tenuto.judging.judgement import judge
from tenuto.judging.opening import is_cassette
from tenuto.judging.tally import File, Group, Tally, doubt_of
from tenuto.judging.verdict import Verdict
from tenuto.wires.json import decode_object

_SHOWN_CHARS: Final = 80
_LEAST_BYTES: Final = 8_388_608
"""With fewer bytes to read, processes take longer to start than they save."""

MOST_NAMED: Final = 1_000
"""So many lines that cannot be read are named."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is known of all rows; as for `judge`. `requests`: the files of their requests, which are
    found by the rows' ids."""

    limit: int | None = None
    schema: Mapping[str, Any] | None = None
    kind: str | None = None
    requests: tuple[str, ...] = ()
    places: bool = False
    """Whether the verdict of each row is wanted."""


@dataclass(slots=True)
class Checked:
    """What a range, or several files, hold.

    Attributes:
        tally: the counts of its rows.
        lines: how many lines it has.
        unread: the lines that are no JSON: their file, their number and how they begin.
        places: a line of JSON for each row, if they are wanted.
    """

    tally: Tally = field(default_factory=Tally)
    lines: int = 0
    unread: list[tuple[str, int, str]] = field(default_factory=list)
    unread_lines: int = 0
    places: list[str] = field(default_factory=list)


def check(
    paths: Sequence[str],
    options: Options,
    processes: int = 1,
    on_range: Callable[[Checked, int, int], None] | None = None,
) -> Checked:
    """Judge the rows of files and add up.

    Args:
        paths: files of lines of JSON, of documents or of arrays, gzipped or not.
        options: what is known of all rows.
        processes: how many to use; 1: this one.
        on_range: is called with what each range holds, its number and how many there are, in their
            order, so that results can be kept as they come.

    Raises:
        OSError: a file cannot be read.
    """
    ranges = [part for path in paths for part in ranges_of(path)]
    whole = Checked()
    before: dict[str, int] = {}
    for number, (part, found) in enumerate(
        zip(ranges, _each(ranges, options, processes), strict=True)
    ):
        first = before.get(part.path, 0)
        before[part.path] = first + found.lines
        found.unread = [(path, line + first, text) for path, line, text in found.unread]
        found.places = [_placed(place, first) for place in found.places]
        whole.tally.merge(found.tally)
        whole.lines += found.lines
        whole.unread_lines += found.unread_lines
        whole.unread = (whole.unread + found.unread)[:MOST_NAMED]
        if on_range is not None:
            on_range(found, number, len(ranges))
    return whole


def _placed(place: str, first: int) -> str:
    """Return the line on a row with its number in the file, in place of that in its range."""
    if not first:
        return place
    value = json.loads(place)
    value["line"] += first
    return json.dumps(value)


def _each(ranges: Sequence[Range], options: Options, processes: int) -> Iterator[Checked]:
    size = sum(Path(path).stat().st_size for path in {part.path for part in ranges})
    if processes <= 1 or len(ranges) < 2 or size < _LEAST_BYTES:
        known = _requests(options)
        yield from (_check_range(part, options, known) for part in ranges)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _begin, (options,)) as pool:
        yield from pool.imap(_work, ranges)


_of_process: dict[str, Any] = {}


def _begin(options: Options) -> None:
    _of_process.update(options=options, known=_requests(options))


def _work(part: Range) -> Checked:
    return _check_range(part, _of_process["options"], _of_process["known"])


def _requests(options: Options) -> dict[str, bytes]:
    """Return the requests by the ids of their rows."""
    found: dict[str, bytes] = {}
    for path in options.requests:
        for part in ranges_of(path):
            for line in rows_of(part):
                data = line.data if isinstance(line.data, bytes) else json.dumps(line.data).encode()
                value = decode_object(data)
                if isinstance(value, dict):
                    for name in _IDS:
                        if isinstance(value.get(name), str):
                            found[value[name]] = data
                            break
    return found


_IDS: Final = ("custom_id", "key", "recordId", "id")


def _check_range(part: Range, options: Options, known: Mapping[str, bytes]) -> Checked:
    found = Checked()
    try:
        for line in rows_of(part):
            found.lines = line.number
            verdict = _judged(line.data, options, known)
            if line.data is None or (
                verdict.outcome in _MAY_BE_UNREAD and _is_unreadable(line.data)
            ):
                found.unread_lines += 1
                if len(found.unread) < MOST_NAMED:
                    found.unread.append((part.path, line.number, _beginning(line.data)))
                continue
            found.tally.add(verdict)
            if options.places:
                found.places.append(_place(part.path, line.number, verdict))
    except NotReadable as error:  # one damaged log ends no run over many
        found.unread_lines += 1
        found.unread.append((part.path, found.lines + 1, str(error.strerror)))
    return found


def _place(path: str, line: int, verdict: Verdict) -> str:
    told = {"stop": verdict.stop.raw, "chars": len(verdict.text)}
    return json.dumps({"file": path, "line": line, **verdict.as_dict(), **told})


def _judged(data: object, options: Options, known: Mapping[str, bytes]) -> Verdict:
    verdict = judge(data, limit=options.limit, schema=options.schema, kind=options.kind)
    request = known.get(verdict.id) if known else None
    if request is None:
        return verdict
    return judge(
        data, request=_body(request), limit=options.limit, schema=options.schema, kind=options.kind
    )


def _body(request: bytes) -> object:
    """Return the body of a line of requests: OpenAI's and Anthropic's, Gemini's, Bedrock's."""
    value = decode_object(request)
    if isinstance(value, dict):
        for name in ("body", "params", "request", "modelInput"):
            if isinstance(value.get(name), dict):
                return value[name]
    return value


_MAY_BE_UNREAD: Final = frozenset({Outcome.NO_ANSWER, Outcome.DROPPED, Outcome.FAULT})


def _is_unreadable(data: object) -> bool:
    """Return whether a line is no JSON."""
    if not isinstance(data, bytes):
        return False
    return decode_object(data) is None and not is_cassette(data[:4_096].decode("utf-8", "replace"))


def _beginning(data: object) -> str:
    if not isinstance(data, bytes):
        return "the line is too long"
    return data[:_SHOWN_CHARS].decode("utf-8", "replace").strip()


def _revised(file: File, line: str) -> str:
    """Return the line on a row, with what only all rows together show."""
    if '"no_stop"' not in line:
        return line
    row = json.loads(line)
    doubt = doubt_of(row["outcome"], row["evidence"], row["output_tokens"], row["chars"])
    if doubt is None:
        return line
    outcome = file.revised(Group(row["model"], row["limit"]), doubt)
    if outcome == row["outcome"]:
        return line
    word = "muted" if outcome is Outcome.OPEN_END else "piled_up"
    return json.dumps({**row, "outcome": outcome, "evidence": [*row["evidence"], word]}) + "\n"


class Kept:
    """The files of a report: `rows.jsonl`, which grows range by range, and `report.json`."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._path = self._folder / "rows.jsonl"
        self._rows = self._path.open("w", encoding="utf-8")

    def add(self, found: Checked) -> None:
        """Write the rows of a range."""
        self._rows.writelines(f"{place}\n" for place in found.places)
        self._rows.flush()
        found.places = []

    def close(self, report: Mapping[str, Any], file: File) -> None:
        """Write the report, and in each row what only all rows together show."""
        self._rows.close()
        part = self._path.with_suffix(".part")
        with self._path.open(encoding="utf-8") as rows, part.open("w", encoding="utf-8") as revised:
            revised.writelines(map(partial(_revised, file), rows))
        part.replace(self._path)
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
        (self._folder / "report.json").write_text(text, "utf-8")


def share(counts: Mapping[str, int], outcomes: Sequence[Outcome], of: int) -> float:
    """Return the share of some outcomes; 0 if there is nothing."""
    return sum(counts.get(outcome.value, 0) for outcome in outcomes) / of if of else 0.0
