"""Find out how rows of JSON text are written, so that SQL can tell those that are written alike.

Theory of operation
-------------------
A file's rows come from one program, which writes them alike: the same members in the same order,
with other words and numbers. A `Layout` is such a form, made from one row: what says how the row is
judged stays as it is, what may differ becomes a hole. What a member says is found out by trying: it
is replaced by other values, and the row is read again by the shape that knows the row to its last
member (`shapes.py`). If the shape refuses the other values, or finds anything else in the row, the
member stays as it is. Only those that end up in the text, the tokens, the model, the limit, the day
or the id may differ, and members that are not read. A stop may be any that the shape knows.

A row that matches is JSON, has no member twice, and is read by the same shape as the first one. SQL
tells it in two ways. `written_again` takes the members out of the row, writes them into the holes
again, and compares: a row that is the same to its last byte has this form. A writer that escapes
more than DuckDB makes another row of the same members. The regular expression `Layout.pattern`
knows it too, and takes twice the time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice, zip_longest
from typing import Any, Final, NamedTuple

import msgspec

from tenuto.judging.quick import STOPS
from tenuto.judging.shapes import Found
from tenuto.judging.tables import quoted

_MOST_LEAVES: Final = 128
_MOST_CHARS: Final = 65_536
"""Larger rows are read dozens of times for each of many members: longer than it would spare."""

Read = Callable[[str], Found | None]
"""Reads a row by the shape that the layout is of; None: it is not of it, or not plain."""


class Hole(NamedTuple):
    """What differs from row to row. `pattern`: a regular expression of it, as JSON writes it.
    `place`: where it stands, as a JSON pointer; None: where SQL could not find it."""

    pattern: str
    place: str | None


class Layout(NamedTuple):
    """How rows are written.

    Attributes:
        texts: what stands before, between and behind the holes.
        holes: what differs from row to row.
        places: where the members of `Found` stand that differ from row to row, by name, as JSON
            pointers.
        fixed: the other members of `Found`, which are the same in all rows.
    """

    texts: tuple[str, ...]
    holes: tuple[Hole, ...]
    places: dict[str, str]
    fixed: dict[str, object]

    @property
    def pattern(self) -> str:
        """A regular expression that whole rows match, as both `re` and RE2 read it."""
        holes = (hole.pattern for hole in self.holes)
        return "".join(_between(map(_literal, self.texts), holes))


def layout_of(row: str, read: Read) -> Layout | None:
    """Return how a row is written; None: it is not read by the shape, or has no text of its own.

    >>> layout = layout_of('{"a": "Yes.", "n": 5}', lambda row: Found(json.loads(row)["a"], "stop"))
    >>> layout.places
    {'text': '/a'}
    >>> [re.fullmatch(layout.pattern, '{"a": "No.", "n": %s}' % n) is not None for n in ("7", "x")]
    [True, False]
    """
    leaves = list(islice(_leaves(row), _MOST_LEAVES + 1)) if len(row) <= _MOST_CHARS else []
    if not 0 < len(leaves) <= _MOST_LEAVES:
        return None
    first = read(row)
    if first is None or not first.text or not _is_plainly_written(row):
        return None
    said = msgspec.structs.asdict(first)
    texts: list[str] = []
    holes: list[Hole] = []
    places: dict[str, str] = {}
    done = 0
    for begin, end, place in leaves:
        pattern, names = _hole(row, begin, end, read, said)
        if pattern is None:
            continue
        if len(names) > 1 or (names and (names[0] in places or place is None)):
            return None  # two members say one thing
        for name in names:
            places[name] = place or ""
        texts.append(row[done:begin])
        holes.append(Hole(pattern, place))
        done = end
    if "text" not in places:
        return None
    fixed = {name: value for name, value in said.items() if name not in places}
    return Layout((*texts, row[done:]), tuple(holes), places, fixed)


def _between(texts: Iterable[str], holes: Iterable[str]) -> Iterator[str]:
    """Return texts and what stands between them, in their order."""
    return chain.from_iterable(zip_longest(texts, holes, fillvalue=""))


def written_again(layout: Layout, row: str, members: Mapping[str, str]) -> str | None:
    """Return what is true, in SQL, of a row that is its members written into the layout, and
    nothing else; None: they are not all found. `row`: the row in SQL. `members`: those of the row,
    by their places, as DuckDB writes them as JSON."""
    cells = [members[hole.place] for hole in layout.holes if hole.place is not None]
    if len(cells) < len(layout.holes):
        return None
    texts = map(quoted, layout.texts)
    found = list(zip(cells, (hole.pattern for hole in layout.holes), strict=True))
    others = [(cell, pattern) for cell, pattern in found if pattern != _ANY_TEXT]
    # A line break separates them, which no JSON on one line has.
    together = f"concat_ws(chr(10), {', '.join(cell for cell, _ in others)})"
    patterns = r"\n".join(pattern for _, pattern in others)
    return " AND ".join(
        [
            f"{row} = concat({', '.join(part for part in _between(texts, cells) if part)})",
            *([f"regexp_full_match({together}, {quoted(patterns)})"] if others else []),
            *(f"starts_with({cell}, '\"')" for cell, pattern in found if pattern == _ANY_TEXT),
            # Half a surrogate pair is refused by DuckDB itself.
            f"{row} NOT LIKE '%\\u0000%'",
        ]
    )


# --- the members of a row

_token = re.compile(r'"(?:[^"\\]|\\.)*"|[-+0-9.eE]+|true|false|null|[{}\[\]:,]|\s+')


def _is_plainly_written(row: str) -> bool:
    """Return whether no object in a row has a member twice."""

    def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(members)
        if len(made) < len(members):
            raise ValueError
        return made

    try:
        json.loads(row, object_pairs_hook=once)
    except (ValueError, RecursionError):
        return False
    return True


def _leaves(row: str) -> Iterator[tuple[int, int, str | None]]:
    """Return where each string and each number of a row begins and ends, and its place as a JSON
    pointer; None: it is none that SQL could find."""
    steps: list[str | int | None] = []
    name = ""
    is_name = False
    for token in _token.finditer(row):
        text = token[0]
        if text in ("{", "["):
            steps.append("" if text == "{" else 0)
            is_name = text == "{"
        elif text in ("}", "]"):
            steps.pop()
            is_name = False
        elif text == ",":
            if isinstance(steps[-1], int):
                steps[-1] += 1
            else:
                is_name = True
        elif text[0] == '"' and is_name:
            name = text[1:-1]
            steps[-1] = name if _is_step(name) else None
            is_name = False
        elif text[0] == '"' or text[0] in "-0123456789":
            place = None if None in steps else "".join(f"/{step}" for step in steps)
            yield token.start(), token.end(), place


_is_step = re.compile(r"\w+\Z", re.ASCII).match


# --- what may stand in a hole

_CHAR: Final = (
    r'[^"\\\x00-\x1f]|\\["\\/bfnrt]'
    r"|\\u(?:000[1-9a-fA-F]|00[1-9a-fA-F][0-9a-fA-F]|0[1-9a-fA-F][0-9a-fA-F]{2}"
    r"|[1-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    r"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
"""A character of a JSON string that is none of NUL and no half of a surrogate pair."""

_ANY_TEXT: Final = f'"(?:{_CHAR})*"'
_ANY_WORD: Final = r'"[^"\\\x00-\x1f]*"'
_WHOLE: Final = "(?:0|[1-9][0-9]{0,8})"
_SECONDS: Final = "1[5-9][0-9]{8}"
_BROKEN: Final = r"(?:0|[1-9][0-9]{0,8})\.[0-9]{1,17}"
_BROKEN_SECONDS: Final = rf"{_SECONDS}\.[0-9]{{1,17}}"
_RUN: Final = "[0-9A-Za-z]+"

_run = re.compile(_RUN)
_is_digits = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z").match
_is_seconds = re.compile(f"{_SECONDS}\\Z").match
_is_broken = re.compile(f"{_BROKEN}\\Z").match
_is_broken_seconds = re.compile(f"{_BROKEN_SECONDS}\\Z").match

_WORDS: Final = tuple(
    f'"{word}"'
    for word in (
        *("", "x", "A b.c:d-e_f", "msg_x", "resp_x", "msg_bdrk_x", "9", "stop", "length", " "),
        *("{x", "[x", " {x", "<x", "<think>x", "event: x", "data: x", "id: x", ": x"),
        "2026-11-29T01:02:03Z",
    )
)
_TEXTS: Final = (*_WORDS, r'"\u00e9\n\" x"', r'"{\"a\": 1}"', r'"\ud83d\ude00"')
"""What strings are tried as: some kinds of rows ask how a text begins."""


def _hole(
    row: str, begin: int, end: int, read: Read, said: dict[str, Any]
) -> tuple[str | None, list[str]]:
    """Return the regular expression of what may stand in place of a string or a number, and which
    members of `Found` it is; None: it has to be as it is."""
    leaf = row[begin:end]

    def differ(other: str) -> set[str] | None:
        found = read(row[:begin] + other + row[end:])
        if found is None:
            return None
        told = msgspec.structs.asdict(found)
        return {name for name in told if told[name] != said[name]}

    for pattern, others in _others(leaf):
        names: set[str] = set()
        for other in others:
            found = differ(other)
            if found is None:
                break
            names |= found
        else:
            if names <= _MAY_DIFFER:
                return pattern, sorted(names)
    words = [
        word for word in STOPS if word and leaf != f'"{word}"' and differ(f'"{word}"') == _STOP
    ]
    return (f'"(?:{"|".join([leaf[1:-1], *words])})"', ["stop"]) if words else (None, [])


_MAY_DIFFER: Final = frozenset({"text", "tokens", "id", "model", "limit", "day"})
_STOP: Final = {"stop"}


def _others(leaf: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return what might stand in place of a string or a number, from the widest to the narrowest,
    each with values to try."""
    if leaf[0] == '"':
        yield _ANY_TEXT, _TEXTS
        yield _ANY_WORD, _WORDS
        if "\\" not in leaf and (runs := list(_run.finditer(leaf))):
            yield _like(leaf, runs)
    elif _is_digits(leaf):
        yield _WHOLE, ("0", "1", "17", "999999999")
    elif _is_seconds(leaf):
        yield _SECONDS, ("1500000000", "1600000000", "1999999999")
    elif _is_broken(leaf):
        yield _BROKEN, ("0.5", "999999999.25")
    elif _is_broken_seconds(leaf):
        yield _BROKEN_SECONDS, ("1500000000.0", "1600000000.75", "1999999999.125")


def _like(leaf: str, runs: list[re.Match[str]]) -> tuple[str, tuple[str, ...]]:
    """Return a pattern for texts like this id, and some of them. The first run of letters and
    digits stays, and so do all other marks. The later runs may differ."""
    first, *others = runs
    head = leaf[: first.end()] if others else leaf[: first.start()]
    rest = leaf[len(head) :]
    pattern = _literal(head) + _RUN.join(map(_literal, _run.split(rest)))
    return pattern, tuple(head + _run.sub(other, rest) for other in ("x", "9", "Z9x"))


def _literal(text: str) -> str:
    return _special.sub(r"\\\g<0>", text)


_special = re.compile(r"[\\.^$|?*+()\[\]{}]")
