"""edit_file: one passage for another, and nothing else.

The passage must stand in the file once, else the model does not know which one it changes. Line
endings are compared as \\n, since a model sees and writes only those, and written as the file has
them. What old and new text have in common at both ends is not written at all, so it keeps its bytes
also where the endings of a file are mixed.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import Final

from tenuto_agent.files.nearest import nearest
from tenuto_agent.files.problem import FileProblem
from tenuto_agent.files.root import Root
from tenuto_agent.files.text import FileText, counted, ending_near, lf, refuse_unless_text
from tenuto_agent.files.writing import rewrite

MAX_COUNTED: Final = 100
"""So many places are looked for; it is as wrong with more."""

_PLACES_SHOWN: Final = 10


def edit_file(root: Root, path: str, old_text: str, new_text: str) -> str:
    """Replace the one place where `old_text` stands."""
    refuse_unless_text(old_text=old_text, new_text=new_text)
    line = 0

    def edited(body: str, path: str) -> str:
        nonlocal line
        body, line = replaced(body, old_text, new_text, path)
        return body

    path, _ = rewrite(root, path, edited, "make it with create_file")
    return (
        f"Changed {path} at line {line}: {counted(_lines(old_text), 'line')} replaced by "
        f"{counted(_lines(new_text), 'line')}."
    )


def replaced(body: str, old: str, new: str, path: str) -> tuple[str, int]:
    """The body with the one `old` in it replaced, and the line where that stands.

    >>> replaced("a\\r\\nb\\r\\nc", "b\\n", "b\\nx\\n", "it")
    ('a\\r\\nb\\r\\nx\\r\\nc', 2)
    """
    seen, old, new = lf(body), lf(old), lf(new)
    if not old:
        raise FileProblem("old_text is empty; give the text that is to be replaced")
    if old == new:
        raise FileProblem("old_text and new_text are the same, so nothing was changed")
    places = _places(seen, old)
    if not places:
        raise FileProblem(f"old_text does not stand in {path}. {nearest(seen, old)}")
    if len(places) > 1:
        raise FileProblem(_of_many(seen, places, path))
    head = _shared(old, new)
    shortest = min(len(old), len(new)) - head
    tail = min(shortest, _shared(old[::-1], new[::-1]))
    start, end = _in_body(body, places[0] + head, places[0] + len(old) - tail)
    put_in = new[head : len(new) - tail].replace("\n", ending_near(body, start))
    return body[:start] + put_in + body[end:], _line(seen, places[0])


def _places(text: str, part: str) -> list[int]:
    """Where `part` stands, also where it overlaps itself."""
    places: list[int] = []
    at = text.find(part)
    while at >= 0 and len(places) <= MAX_COUNTED:
        places.append(at)
        at = text.find(part, at + 1)
    return places


def _in_body(body: str, start: int, end: int) -> tuple[int, int]:
    """Places in the text with \\n, as places in the text as it is."""
    pieces = body.split("\r\n")
    # The place of each \n that is two characters in the body.
    joints = [at - 1 for at in accumulate(len(piece) + 1 for piece in pieces)][:-1]
    return start + bisect_left(joints, start), end + bisect_left(joints, end)


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _lines(text: str) -> int:
    return len(FileText("", text).lines)


def _of_many(text: str, places: list[int], path: str) -> str:
    times = f"{len(places)} times" if len(places) <= MAX_COUNTED else "very often"
    lines = ", ".join(str(_line(text, at)) for at in places[:_PLACES_SHOWN])
    more = ", …" if len(places) > _PLACES_SHOWN else ""
    return (
        f"old_text stands in {path} {times}, at lines {lines}{more}. Nothing was changed: take "
        "more of the lines around the place into old_text, so that it stands there once"
    )
