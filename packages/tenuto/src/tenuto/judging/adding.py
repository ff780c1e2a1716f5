"""Add up what the ranges of files hold, in the order of the files, whatever the order in which they
are read: the numbers of lines depend on the ranges before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from tenuto.judging.files import Range, lines_in
from tenuto.judging.tally import Tally

MOST_NAMED: Final = 1_000
"""So many lines that cannot be read are named."""


@dataclass(slots=True)
class Checked:
    """What a range, or several files, hold.

    Attributes:
        tally: the counts of its rows.
        lines: how many lines it has.
        requests: how many requests were read.
        requested: how many rows have theirs among them.
        unread: the lines that cannot be read: their file, their number and why.
        unread_lines: how many there are.
        refused: the files that could not be read, or not to their end, and why.
        empty: the files that have no rows, and why.
        asking: how many rows of a file are requests and no answers.
        repeated: how many rows repeat the answers of others, and are not counted.
        led: the pointers that led somewhere in a row, by their names.
        places: a line of JSON for each row, if they are wanted.
    """

    tally: Tally = field(default_factory=Tally)
    lines: int = 0
    requests: int = 0
    requested: int = 0
    unread: list[tuple[str, int, str]] = field(default_factory=list)
    unread_lines: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    empty: list[tuple[str, str]] = field(default_factory=list)
    asking: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    led: set[str] = field(default_factory=set)
    places: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Adding:
    """Adds up what ranges hold, in their order, whatever the order in which they are read.

    Attributes:
        whole: what is added up.
        ranges: the ranges.
        on_piece: as for `check`.
    """

    whole: Checked
    ranges: Sequence[Range]
    on_piece: Callable[[Checked, int, int], None] | None = None
    _at: int = 0
    _done: int = 0
    _lines: dict[int, int] = field(default_factory=dict)
    _rows: Counter[str] = field(default_factory=Counter)
    _waiting: dict[int, list[Checked]] = field(default_factory=dict)
    _over: set[int] = field(default_factory=set)

    @property
    def size(self) -> int:
        """How many bytes are to be read."""
        return sum(part.size for part in self.ranges)

    def take(self, number: int, found: Checked | None) -> None:
        """Take the next piece of a range; None: it was the last one."""
        if found is None:
            self._over.add(number)
        else:
            self._waiting.setdefault(number, []).append(found)
            self._lines[number] = found.lines
            if found.refused:  # not read to its end
                del self._lines[number]
        while self._at < len(self.ranges):
            self._add_all(self._at)
            if self._at not in self._over:
                return
            self._done += self.ranges[self._at].size
            self._at += 1
            self._tell(Checked())

    def take_finished(self) -> None:
        """Add what waits for ranges before it that were not finished."""
        for number in sorted(self._waiting):
            self._add_all(number)

    def without_rows(self) -> Iterator[str]:
        """Return the files that were read and have none."""
        for path in dict.fromkeys(part.path for part in self.ranges):
            if not self._rows[path]:
                yield path

    def _add_all(self, number: int) -> None:
        if number not in self._waiting:
            return
        first = self._lines_before(number)
        for found in self._waiting.pop(number):
            self._add(self.ranges[number].path, found, first)

    def _lines_before(self, number: int) -> int:
        """Return how many lines of the same file stand before a range."""
        lines, path = 0, self.ranges[number].path
        for before in range(number - 1, -1, -1):
            part = self.ranges[before]
            if part.path != path:
                break
            if before in self._over and before in self._lines:
                lines += self._lines[before]
            else:
                with suppress(OSError):
                    lines += lines_in(part)
        return lines

    def _add(self, path: str, found: Checked, first: int) -> None:
        found.unread = [(path, line + first, text) for path, line, text in found.unread]
        found.places = [_placed(place, first) for place in found.places]
        whole = self.whole
        whole.tally.merge(found.tally)
        whole.requested += found.requested
        whole.unread_lines += found.unread_lines
        whole.unread = (whole.unread + found.unread)[:MOST_NAMED]
        whole.refused += found.refused
        whole.asking.update(found.asking)
        whole.repeated += found.repeated
        whole.led |= found.led
        self._rows[path] += (
            found.repeated + found.tally.rows + found.unread_lines + len(found.refused)
        )
        self._tell(found)

    def _tell(self, found: Checked) -> None:
        if self.on_piece is not None:
            self.on_piece(found, self._done, self.size)


def _placed(place: str, first: int) -> str:
    """Return the line on a row with its number in the file, in place of that in its range."""
    if not first:
        return place
    value = json.loads(place)
    value["line"] += first
    return json.dumps(value)
