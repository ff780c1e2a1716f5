"""Check files of stored answers: judge each row, in ranges that processes share, and add up.

Theory of operation
-------------------
Files hold rows of one kind, so the first rows of a range tell which quick readings are worth
trying; every other row is read whole, one by one. What only all rows together show is said at the
end (`tally.py`), so that no row has to be kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.adding import MOST_NAMED, Adding, Checked
from tenuto.judging.archives import NotReadable
from tenuto.judging.asked_rows import Requests, is_request, requests_in
from tenuto.judging.documents import BLANK, Line
from tenuto.judging.files import Range, lines_of, ranges_of, rows_of, why_no_rows
from tenuto.judging.forms import why_unreadable
from tenuto.judging.judgement import CAN_BE_FINISHED, SAMPLE_ROWS, Way, judge_by, way_of
from tenuto.judging.opening import is_cassette, opened
from tenuto.judging.own import Pointers, leads_somewhere, own_kind
from tenuto.judging.quick import Alike, uncounted, verdict_of
from tenuto.judging.repeats import Repeats
from tenuto.judging.settled import settled
from tenuto.judging.sharing import Lost, shared
from tenuto.judging.tables import is_parquet
from tenuto.judging.tally import LEARNT_ROWS, word_of
from tenuto.judging.verdict import Verdict
from tenuto.wires.json import decode_object

_END_CHARS: Final = 120
_LEAST_BYTES: Final = 8_388_608
"""With fewer bytes to read, processes take longer to start than they save."""

PIECE_ROWS: Final = 500
"""After so many rows, their places are handed on."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is known of all rows; as for `judge`.

    Attributes:
        requests: the files of their requests, which are found by the rows' ids.
        pointers: where rows of the user's own keep their answers.
        places: whether the verdict of each row is wanted.
        show_text: whether it has the end of the row's text.
    """

    limit: int | None = None
    schema: Mapping[str, Any] | None = None
    kind: str | None = None
    requests: tuple[str, ...] = ()
    pointers: Pointers | None = None
    places: bool = False
    show_text: bool = False

    def way(self) -> Way:
        """Return how rows are judged."""
        way = way_of(self.limit, self.schema, self.kind)
        if self.pointers is None:
            return way
        return replace(way, kinds=(own_kind(self.pointers),), shapes=[])

    def named(self) -> dict[str, str]:
        """Return the pointers that are named, by their names."""
        return self.pointers.named() if self.pointers is not None else {}


def check(
    paths: Sequence[str],
    options: Options,
    processes: int = 1,
    on_piece: Callable[[Checked, int, int], None] | None = None,
) -> Checked:
    """Judge the rows of files and add up.

    Args:
        paths: files of lines of JSON, of documents or of arrays, gzipped or not.
        options: what is known of all rows.
        processes: how many to use; 1: this one.
        on_piece: is called with what some rows hold, in the order of the files, and with how many
            bytes are read and are to be read, so that results can be kept as they come. Before a
            KeyboardInterrupt leaves, it is called with all that is finished.

    Raises:
        OSError: a file of requests cannot be read, or holds none.
    """
    known = requests_in(options.requests)
    if options.requests and not known.by_id:
        why = "it holds no request with an id (custom_id, key, recordId or id)"
        raise NotReadable(0, why, options.requests[0])
    whole = Checked(requests=known.read)
    adding = Adding(whole, list(_ranges(paths, whole)), on_piece)
    work = _Work(options, known)
    with closing(
        _each(adding.ranges, work, processes if adding.size >= _LEAST_BYTES else 1)
    ) as all_:
        try:
            for number, found in all_:
                adding.take(number, found)
        except KeyboardInterrupt:
            adding.take_finished()
            raise
    whole.empty = [(path, _why_no_rows(path)) for path in adding.without_rows()]
    return whole


def _ranges(paths: Sequence[str], whole: Checked) -> Iterator[Range]:
    for path in paths:
        try:
            yield from ranges_of(path)
        except OSError as error:
            whole.refused.append((path, reason(error)))


def reason(error: OSError) -> str:
    """Return why a file cannot be read."""
    return str(error.strerror or error)


def _why_no_rows(path: str) -> str:
    try:
        return why_no_rows(path)
    except OSError as error:
        return reason(error)


@dataclass(frozen=True, slots=True)
class _Work:
    """What a process does with a range."""

    options: Options
    known: Requests

    def __call__(self, part: Range) -> Iterator[Checked]:
        return _check_range(part, self.options, self.known)


def _each(
    ranges: Sequence[Range], work: _Work, processes: int
) -> Generator[tuple[int, Checked | None]]:
    """Return the pieces of ranges as they come, each with the number of its range; None: a range is
    read."""
    if processes <= 1 or len(ranges) < 2:
        for number, part in enumerate(ranges):
            yield from ((number, found) for found in work(part))
            yield number, None
        return
    for number, found in shared(ranges, processes, work, __name__):
        lost = isinstance(found, Lost)
        yield number, Checked(refused=[(ranges[number].path, _LOST)]) if lost else found


_LOST: Final = (
    "the process that read it has ended, as when memory runs out; --processes 1 needs less"
)


def _check_range(part: Range, options: Options, known: Requests) -> Iterator[Checked]:
    """Return what a range holds, in pieces if places are wanted, so that they can be kept."""
    rows = _Rows(part, options, known)
    way = options.way()
    counts: dict[Alike, int] = {}
    may_count = not options.places and not known.by_id and way.schema is None
    try:
        lines = rows.numbered(_left(part, options, way, known, rows.found))
        if way.shapes is None:
            sample = [rows.add(line, None, way) for line in islice(lines, SAMPLE_ROWS)]
            kinds = {verdict.kind for verdict in sample if verdict is not None}
            way = way.for_kinds(kinds) if kinds else way
        if may_count and way.shapes:
            for line, verdict in uncounted(lines, way.limit, way.shapes, counts):
                rows.add(line, verdict, way)
        for line in lines:
            rows.add(line, None, way)
            if len(rows.found.places) >= PIECE_ROWS:
                yield rows.found
                rows.found = Checked(lines=rows.found.lines)
    except OSError as error:  # one damaged log ends no run over many
        rows.refuse(error)
    for key, times in counts.items():
        if (alike := verdict_of(key, way.limit)) is not None:
            rows.found.tally.add(alike, times)
    yield rows.found


class _Rows:
    """Adds up the rows of a range that are read one by one. `found`: what they hold."""

    def __init__(self, part: Range, options: Options, known: Requests) -> None:
        self.found = Checked()
        self._path = part.path
        self._options = options
        self._known = known
        self._named = options.named()
        self._repeats = Repeats(part.path)

    def numbered(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Return lines that are not blank, and keep the number of the last one."""
        for line in lines:
            self.found.lines = line.number
            if line.data is not BLANK:
                yield line

    def add(self, line: Line, verdict: Verdict | None, way: Way) -> Verdict | None:
        """Count a row, and return its verdict, which may be known already; None: it cannot be
        read, or is counted already."""
        found, data = self.found, line.data
        if verdict is None:
            verdict = _judged(data, way, self._known, found)
        if len(found.led) < len(self._named):
            row = opened(data)
            found.led |= {name for name, to in self._named.items() if leads_somewhere(row, to)}
        if data is None or (verdict.outcome in _MAY_BE_UNREAD and _is_unreadable(data)):
            found.unread_lines += 1
            if len(found.unread) < MOST_NAMED:
                found.unread.append((self._path, line.number, line.why or _why_unread(data)))
            return None
        if self._repeats.has(verdict, data):
            found.repeated += 1
            return None
        found.tally.add(verdict)
        if line.number <= LEARNT_ROWS:
            found.tally.learn(verdict)
        if verdict.outcome is Outcome.NO_ANSWER and is_request(data):
            found.asking[self._path] += 1
        if self._options.places:
            found.places.append(_place(self._path, line.number, verdict, self._options))
        return verdict

    def refuse(self, error: OSError) -> None:
        """Keep that the range cannot be read any further, and why."""
        if isinstance(error, NotReadable):
            self.found.unread_lines += 1
            self.found.unread.append((self._path, self.found.lines + 1, reason(error)))
        self.found.refused.append((self._path, reason(error)))


def _left(
    part: Range, options: Options, way: Way, known: Requests, found: Checked
) -> Iterator[Line]:
    """Return the rows that have to be judged one by one; the others are counted."""
    if part.end is None or not is_parquet(part.path):
        yield from rows_of(part)
        return
    told = None
    if not options.places and not known.by_id:
        told = settled(part.path, part.begin, part.end, way)
    if told is None:
        yield from rows_of(part)
    else:
        counts, others = told
        for count in counts:
            found.tally.add(count.verdict, count.rows)
        yield from lines_of(part, others)
    found.lines = part.end - part.begin


def _place(path: str, line: int, verdict: Verdict, options: Options) -> str:
    told: dict[str, Any] = {"stop": verdict.stop.raw, "chars": len(verdict.text)}
    if options.show_text:
        told["end"] = verdict.text[-_END_CHARS:]
    word = {"outcome": word_of(verdict)}
    row = {"file": path, "line": line, **verdict.as_dict(), **word, **told}
    written = json.dumps(row)
    # Half a surrogate pair is no character, and readers in other languages refuse the line.
    return json.dumps(_whole(row)) if "\\ud" in written else written


def _whole(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: item.encode("utf-8", "replace").decode() if isinstance(item, str) else item
        for name, item in row.items()
    }


def _judged(data: object, way: Way, known: Requests, found: Checked) -> Verdict:
    verdict = judge_by(data, way)
    request = known.by_id.get(verdict.id) if known.by_id else None
    if request is None:
        return verdict
    found.requested += 1
    if isinstance(request, bytes):
        return judge_by(data, way, decode_object(request))
    if request and verdict.limit is None:
        verdict = judge_by(data, replace(way, limit=request))
    return replace(verdict, can_be_finished=verdict.outcome in CAN_BE_FINISHED)


_MAY_BE_UNREAD: Final = frozenset({Outcome.NO_ANSWER, Outcome.DROPPED, Outcome.FAULT})


def _is_unreadable(data: object) -> bool:
    """Return whether a line is no JSON."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    if not isinstance(data, bytes):
        return False
    return decode_object(data) is None and not is_cassette(data[:4_096].decode("utf-8", "replace"))


def _why_unread(data: object) -> str:
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return why_unreadable(data) if isinstance(data, bytes) else "it holds nothing"
