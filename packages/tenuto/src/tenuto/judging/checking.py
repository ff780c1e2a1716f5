"""Check files of stored answers: judge each row, in ranges that processes share, and add up.

Theory of operation
-------------------
Files hold rows of one kind, so the first rows of a range tell which quick readings are worth
trying; every other row is read whole, one by one. What only all rows together show is said at the
end (`tally.py`), so that no row has to be kept.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from tenuto.core.answer.stop import printable
from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.archives import NotReadable
from tenuto.judging.asked_rows import Requests, is_request, requests_in
from tenuto.judging.files import Range, lines_of, ranges_of, rows_of
from tenuto.judging.judgement import CAN_BE_FINISHED, SAMPLE_ROWS, Way, judge_by, way_of
from tenuto.judging.opening import is_cassette
from tenuto.judging.own import Pointers, own_kind
from tenuto.judging.quick import Alike, uncounted, verdict_of
from tenuto.judging.settled import settled
from tenuto.judging.tables import Line, is_parquet
from tenuto.judging.tally import Tally, word_of
from tenuto.judging.verdict import Verdict
from tenuto.wires.json import decode_object

_SHOWN_CHARS: Final = 80
_END_CHARS: Final = 120
_LEAST_BYTES: Final = 8_388_608
"""With fewer bytes to read, processes take longer to start than they save."""

MOST_NAMED: Final = 1_000
"""So many lines that cannot be read are named."""


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


@dataclass(slots=True)
class Checked:
    """What a range, or several files, hold.

    Attributes:
        tally: the counts of its rows.
        lines: how many lines it has.
        requests: how many requests were read.
        requested: how many rows have theirs among them.
        unread: the lines that are no JSON: their file, their number and how they begin.
        unread_lines: how many there are.
        refused: the files that could not be read, or not to their end, and why.
        asking: how many rows of a file are requests and no answers.
        places: a line of JSON for each row, if they are wanted.
    """

    tally: Tally = field(default_factory=Tally)
    lines: int = 0
    requests: int = 0
    requested: int = 0
    unread: list[tuple[str, int, str]] = field(default_factory=list)
    unread_lines: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    asking: Counter[str] = field(default_factory=Counter)
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
        on_range: is called with what each range holds, in their order, and with how many bytes are
            read and are to be read, so that results can be kept as they come.

    Raises:
        OSError: a file cannot be read, or holds no requests.
    """
    known = requests_in(options.requests)
    if options.requests and not known.by_id:
        why = "it holds no request with an id (custom_id, key, recordId or id)"
        raise NotReadable(0, why, options.requests[0])
    ranges = [part for path in paths for part in ranges_of(path)]
    sizes = [part.size for part in ranges]
    whole, size, done = Checked(requests=known.read), sum(sizes), 0
    before: dict[str, int] = {}
    found_in = _each(ranges, options, known, processes if size >= _LEAST_BYTES else 1)
    for part, own_size, found in zip(ranges, sizes, found_in, strict=True):
        first = before.get(part.path, 0)
        before[part.path] = first + found.lines
        found.unread = [(path, line + first, text) for path, line, text in found.unread]
        found.places = [_placed(place, first) for place in found.places]
        whole.tally.merge(found.tally)
        whole.lines += found.lines
        whole.requested += found.requested
        whole.unread_lines += found.unread_lines
        whole.unread = (whole.unread + found.unread)[:MOST_NAMED]
        whole.refused += found.refused
        whole.asking.update(found.asking)
        done += own_size
        if on_range is not None:
            on_range(found, done, size)
    return whole


def _placed(place: str, first: int) -> str:
    """Return the line on a row with its number in the file, in place of that in its range."""
    if not first:
        return place
    value = json.loads(place)
    value["line"] += first
    return json.dumps(value)


def _each(
    ranges: Sequence[Range], options: Options, known: Requests, processes: int
) -> Iterator[Checked]:
    if processes <= 1 or len(ranges) < 2:
        yield from (_check_range(part, options, known) for part in ranges)
        return
    with _context().Pool(processes, _begin, (options, known)) as pool:
        yield from pool.imap(_work, ranges)


def _context() -> multiprocessing.context.BaseContext:
    """Return how processes are started: from one that has imported this module, where the system
    can do that. Elsewhere each imports it again."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__])
    return context


_of_process: dict[str, Any] = {}


def _begin(options: Options, known: Requests) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that adds up
    _of_process.update(options=options, known=known)


def _work(part: Range) -> Checked:
    return _check_range(part, _of_process["options"], _of_process["known"])


def _check_range(part: Range, options: Options, known: Requests) -> Checked:
    found = Checked()
    way = options.way()
    counts: dict[Alike, int] = {}
    may_count = not options.places and not known.by_id and way.schema is None
    lines = _numbered(_left(part, options, way, known, found), found)
    try:
        if way.shapes is None:
            kinds = {
                verdict.kind
                for line in islice(lines, SAMPLE_ROWS)
                if (verdict := _added(line, None, part, options, way, known, found)) is not None
            }
            way = way.for_kinds(kinds) if kinds else way
        if may_count and way.shapes:
            for line, verdict in uncounted(lines, way.limit, way.shapes, counts):
                _added(line, verdict, part, options, way, known, found)
        for line in lines:
            _added(line, None, part, options, way, known, found)
    except NotReadable as error:  # one damaged log ends no run over many
        found.unread_lines += 1
        found.unread.append((part.path, found.lines + 1, str(error.strerror)))
        found.refused.append((part.path, str(error.strerror)))
    for key, times in counts.items():
        if (alike := verdict_of(key, way.limit)) is not None:
            found.tally.add(alike, times)
    return found


def _numbered(lines: Iterable[Line], found: Checked) -> Iterator[Line]:
    """Return lines, and keep the number of the last one."""
    for line in lines:
        found.lines = line.number
        yield line


def _added(
    line: Line, verdict: Verdict | None, part: Range, options: Options, way: Way,
    known: Requests, found: Checked,
) -> Verdict | None:  # fmt: skip
    """Count a row, and return its verdict, which may be known already; None: it is no JSON."""
    if verdict is None:
        verdict = _judged(line.data, way, known, found)
    if line.data is None or (verdict.outcome in _MAY_BE_UNREAD and _is_unreadable(line.data)):
        found.unread_lines += 1
        if len(found.unread) < MOST_NAMED:
            found.unread.append((part.path, line.number, line.why or _beginning(line.data)))
        return None
    found.tally.add(verdict)
    if verdict.outcome is Outcome.NO_ANSWER and is_request(line.data):
        found.asking[part.path] += 1
    if options.places:
        found.places.append(_place(part.path, line.number, verdict, options))
    return verdict


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


def _beginning(data: object) -> str:
    begin = data[:_SHOWN_CHARS] if isinstance(data, bytes | str) else ""
    text = begin.decode("utf-8", "replace") if isinstance(begin, bytes) else begin
    return printable(text.strip())
