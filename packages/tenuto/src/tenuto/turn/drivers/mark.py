"""The mark of an answer that another Tenuto has finished, and the headers beside it (E9a).

Theory of operation
-------------------
A turn that serves other programs, such as that of a gateway, marks each answer with the header
`x-tenuto-turn`: its id, the version of the mark, and how the turn ended, or "open" if it still
runs when the head leaves. A Tenuto further out hands such an answer on as it is: two layers that
each retry would multiply their requests.

The upstream may be anybody, so a mark is never trusted further than that. It can only make Tenuto
do less, as much as without Tenuto: whether an answer is complete is read from the answer, never
from the mark. What isn't well-formed is removed, with all headers of this name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

import msgspec

from tenuto.turn.drivers.commands import Head

NAME = b"x-tenuto-turn"

OURS = b"x-tenuto"
DASH = OURS[1]
"""The second byte of `x-tenuto`, which few other headers have, so that looking for it is quick."""

_WELL_FORMED = re.compile(
    rb"[0-9a-f]{40}; v=[1-9][0-9]?; status=(complete|partial|failed|open)(; end=marked)?"
)

OPEN = "open"
"""The status of a turn that still runs."""


class Mark(msgspec.Struct, frozen=True):
    """What the mark of an answer says.

    Attributes:
        status: how the turn ended, or `OPEN`.
        marks_end: whether the stream ends in an end mark, so that one without is cut.
    """

    status: str
    marks_end: bool


class Marking(Protocol):
    """A turn that can say what the mark of its answer is."""

    def mark(self, *, events: bool) -> bytes:
        """Return the mark of an answer whose head leaves now. `events`: whether a stream
        follows."""
        ...


def written(turn: str, status: str, *, marks_end: bool) -> bytes:
    """Return a mark as the value of its header.

    >>> value = written("0" * 40, OPEN, marks_end=True)
    >>> mark_in(((NAME, value),))
    Mark(status='open', marks_end=True)
    """
    return f"{turn}; v=1; status={status}{'; end=marked' if marks_end else ''}".encode()


def mark_in(headers: Iterable[tuple[bytes, bytes]]) -> Mark | None:
    """Return the mark in the headers of an answer; None if there is none, several, or one that is
    not well-formed.

    >>> mark_in(((NAME, b"1"),)) is None
    True
    """
    values = [value for name, value in headers if name.lower() == NAME]
    found = _WELL_FORMED.fullmatch(values[0]) if len(values) == 1 else None
    return Mark(found[1].decode(), bool(found[2])) if found is not None else None


def has_ours(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether any header has a name of Tenuto's.

    >>> has_ours(((b"X-Tenuto-Usage", b"{}"),)), has_ours(((b"x-trace", b"1"),))
    (True, False)
    """
    for name, _ in headers:
        if len(name) > 7 and name[1] == DASH and name[:8].lower() == OURS:
            return True
    return False


def without_ours(head: Head) -> Head:
    """Return a head without the headers that have names of Tenuto's."""
    kept = [pair for pair in head.headers if not pair[0].lower().startswith(OURS)]
    return Head(head.status, tuple(kept))


def marked(head: Head, mark: bytes) -> Head:
    """Return a head with a mark in place of the turn's id."""
    return head.without(NAME).plus((NAME, mark))
