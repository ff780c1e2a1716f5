"""What the ends of the texts of a file say, where no stop is stored.

Theory of operation
-------------------
A limit cuts anywhere. So what it would leave of the texts of a file can be tried: some are cut at
places that a checksum chooses, and how these pieces end is counted. If a limit cut answers of the
file, their ends are spread over the kinds of ends (`End`) as those of pieces of the same length
are. Whole texts that lack a mark are not: titles, signatures, lines of code and fields of a
docstring end in one or two ways, far more often than cuts would.

So each kind is compared with its expected share of all open ends, those first that are rarest
beside it. If a kind is about as frequent as the kinds before let expect, its ends are cuts. If it
is clearly more frequent, it is a habit of the file. Nor are there as many cuts in a file as texts
that end with a mark.

Pieces and ends are counts, so ranges of a file are added up in any order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Final
from zlib import crc32

from tenuto.judging.sentences import End

_PIECES: Final = 2
"""So many places are tried in each text."""

_WORD_CHARS: Final = 12
_OF_ANY_SIZE: Final = 10
"""So many pieces of any size are added to those of one size, which may be few."""

_KINDS: Final = (
    (frozenset({End.OPEN_BRACKET, End.LEADS_ON}), 3.0),
    (frozenset({End.MID_SENTENCE}), 1.5),
    (frozenset({End.IN_PROSE}), 1.0),
    (frozenset({End.IN_LIST}), 0.0),
    (frozenset({End.IN_LINES}), 0.0),
    (frozenset({End.IN_CODE}), 0.0),
)
"""Ends that are judged together, and by how many standard deviations they may be more frequent than
expected, beside the tolerance: the fewer, the more whole texts end so."""

_TOLERANCE: Final = 1.3
_LEAST_COMPARED: Final = 0.15
"""The share of all open ends that has to be expected of the kinds before, to compare one with."""

_MOST_CUT: Final = 0.6
"""There are at most so many cuts for each text that ends with a mark."""

Ends = Mapping[tuple[int, str], int]
"""How many texts of a size have an end; the size is the number of bits of their length."""


def form_of(text: str) -> str:
    """Return the form of a last line that may be the end that was asked for, such as `#### 42`:
    its first words, with any number in place of theirs; "": the text has none.

    >>> form_of("6 * 7 = 42\\n#### 42\\n\\n"), form_of("So:\\nAnswer: (B)"), form_of("One line")
    ('#### 0', 'Answer:', '')
    """
    before, _, last = text.rstrip().rpartition("\n")
    if not before.strip() or len(last) > _MOST_FORM_CHARS:
        return ""
    first, *others = _number("0", last).split()[:2]
    return first if first.endswith(":") or not others else f"{first} {others[0]}"


_MOST_FORM_CHARS: Final = 60
_number = re.compile(r"\d[\d.,]*").sub


def common_share(forms: Counter[str]) -> float:
    """Return the share of the texts of which at least half have one form; 0: none is so common.

    >>> common_share(Counter({"#### 0": 9, "": 3})), common_share(Counter({"a b": 1, "": 3}))
    (0.75, 0)
    """
    total = forms.total()
    ((_, most),) = Counter({form: n for form, n in forms.items() if form}).most_common(1) or [
        ("", 0)
    ]
    return most / total if 2 * most >= total > 0 else 0


WHOLE: Final = ""
"""The end of a piece that ends like a whole text, or is too short to say."""


def size_of(chars: int) -> int:
    """Return the size of a text, of which there are few."""
    return chars.bit_length()


def pieces_of(text: str) -> Iterator[str]:
    """Return pieces that a limit might leave of a text. Most end where a word does, as most tokens
    do.

    >>> [len(piece) for piece in pieces_of("The moon pulls the sea.")]
    [14, 22]
    """
    seed = crc32(text[-_SEED_CHARS:].encode("utf-8", "surrogatepass")) ^ len(text)
    for number in range(_PIECES):
        seed = crc32(number.to_bytes(1), seed)
        at = 1 + seed % max(len(text) - 1, 1)
        if seed & 0x3000_0000:
            end = at
            while end < len(text) and end - at < _WORD_CHARS and text[end].isalnum():
                end += 1
            at = end if end - at < _WORD_CHARS else at
        yield text[:at]


_SEED_CHARS: Final = 64


def cuts_among(ends: Ends, pieces: Ends, closed: int) -> frozenset[str]:
    """Return the ends that are cuts.

    Args:
        ends: the open ends of a file.
        pieces: how the pieces of its texts end.
        closed: how many of its texts end with a mark.
    """
    expected = _expected(ends, pieces)
    seen = Counter[str]()
    for (_, end), times in ends.items():
        seen[end] += times
    if not seen or not pieces:
        return frozenset()
    counts = [
        (sum(seen[end] for end in kind), sum(expected[end] for end in kind), kind, deviations)
        for kind, deviations in _KINDS
    ]
    before, of_before, cuts = 0, 0.0, set[str]()
    for found, wanted, kind, deviations in sorted(counts, key=_rarity):
        if of_before > _LEAST_COMPARED * seen.total():
            wanted_of_cuts = wanted * (before + 1 + sqrt(before)) / of_before
            if found > _TOLERANCE * wanted_of_cuts + deviations * sqrt(wanted_of_cuts + 1):
                continue
        cuts |= kind
        before += found
        of_before += wanted
    tried = sum(pieces.values())
    open_ones = sum(times for (_, end), times in pieces.items() if end in cuts)
    are_too_many = before * tried > _MOST_CUT * closed * open_ones
    return frozenset() if are_too_many else frozenset(cuts)


def _rarity(count: tuple[int, float, frozenset[End], float]) -> float:
    found, wanted, _, _ = count
    return (found + 0.5) / (wanted + 0.5)


def _expected(ends: Ends, pieces: Ends) -> dict[str, float]:
    """Return how many open ends of each kind there would be if all were cuts."""
    kinds, sizes, found = Counter[str](), Counter[int](), Counter[int]()
    for (size, end), times in pieces.items():
        if end != WHOLE:
            kinds[end] += times
            sizes[size] += times
    for (size, _), times in ends.items():
        found[size] += times
    total = kinds.total()
    expected: dict[str, float] = dict.fromkeys(End, 0.0)
    if not total:
        return expected
    for size, times in found.items():
        each = times / (sizes[size] + _OF_ANY_SIZE)
        for end in End:
            share = kinds[end] / total
            expected[end] += each * (pieces.get((size, end), 0) + _OF_ANY_SIZE * share)
    return expected
