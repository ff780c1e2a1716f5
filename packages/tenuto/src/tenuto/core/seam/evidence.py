"""How likely it is that words before a repetition are a preamble, and not part of the text.

`EVIDENCE` is one table of measures with their weights, in natural log odds.  The weights come from
a logistic regression (docs/decisions/2026-11-23-preambles-are-weighed.md), and
`checks/bench/seams.py` counts how often they are right.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from functools import cached_property
from typing import Final, NamedTuple

from tenuto.core.seam.passage import weight
from tenuto.core.seam.repetition import Opening

__all__ = ["BEHIND_CHARS", "COLONS", "EVIDENCE", "Preamble"]

BEHIND_CHARS: Final = 80
"""How many characters after the repetition are read."""

_TAIL_CHARS: Final = 2_000
_NEAR_CHARS: Final = 300
_MOST_LOG: Final = 8.0
_MOST_SAME_CHARS: Final = 8
_MOST_LINES: Final = 4
_GROUP_CHARS: Final = 3
COLONS: Final = (":", "\uff1a")
"""An announcement ends in one of these."""
_EAST: Final = "\u3041"  # from this character on, scripts have no spaces between words
_SYMBOLS: Final = frozenset('=(){};[]<>|\\/_$#@"')
_white_space = re.compile(r"\s+")
_digits = re.compile(r"\d")
_words = re.compile(r"\w{3,}").findall
_enclosed = re.compile(
    r"\[.+\]|\(.+\)|<.+>|\{.+\}|\*.+\*|_.+_|~.+~|=.+=|-.+-|(?:\.\.|\u2026).*"
    "|[\u2013\u2014].+[\u2013\u2014]|\u3010.+\u3011|\uff08.+\uff09|\u300c.+\u300d|\u3008.+\u3009"
    "|\u300a.+\u300b|\uff3b.+\uff3d",
    re.DOTALL,
).fullmatch


class Preamble:
    """Words at the start of a continuation, before a repetition of the text so far.

    `lines` are the words; `separators` names what separates them from the repetition ("blank",
    "rule", "fence"), which runs from `begin` to `end` in the held text."""

    def __init__(
        self, opening: Opening, *, lines: list[str], separators: set[str], begin: int, end: int
    ) -> None:
        self.opening = opening
        self.lines: list[str] = list(lines)
        self.words: str = "\n".join(lines).strip()
        self.separators: set[str] = set(separators)
        self.end = end
        self.again: str = opening.held[begin:end]
        self.behind: str = opening.held[end : end + BEHIND_CHARS]
        self.next: str = self.behind.lstrip() if opening.trimmed else self.behind
        self.tail: str = opening.before[-_TAIL_CHARS:]

    @property
    def log_odds(self) -> float:
        """The log odds for a preamble; above 0, the words are taken for one."""
        return sum(one.weight * one.measure(self) for one in EVIDENCE)

    @property
    def further_lines(self) -> int:
        """The number of lines of the text that are repeated before the last."""
        return min(_MOST_LINES, self.again.count("\n"))

    @property
    def last_line(self) -> str:
        """The last line of the text, or the sentences of it that are repeated."""
        line, again = (text[text.rfind("\n") + 1 :].strip() for text in (self.tail, self.again))
        return again if line.endswith(again) else line

    @cached_property
    def groups(self) -> set[str]:
        """The groups of three characters in the words."""
        return _groups(self.words)

    @property
    def said_groups(self) -> float:
        """The share of these groups that the text has."""
        return len(self.groups & _groups(self.tail)) / max(1, len(self.groups))

    @property
    def next_groups(self) -> float:
        """The share of these groups that the words after the repetition have."""
        return len(self.groups & _groups(self.behind)) / max(1, len(self.groups))

    @property
    def known_words(self) -> float:
        """The share of longer words that also occur in the text, or after the repetition."""
        words = set(_words(_alike(self.words)))
        known = set(_words(_alike(f"{self.tail} {self.behind}")))
        return len(words & known) / max(1, len(words))

    @property
    def same_start(self) -> float:
        """The number of characters with which both the words and what follows begin, all digits
        being alike: in a list or a log, lines that begin alike may continue alike."""
        same = 0
        words, following = (_digits.sub("0", one) for one in (self.words, self.next))
        for one, other in zip(words[:_MOST_SAME_CHARS], following, strict=False):
            if one != other:
                break
            same += 1
        return same

    @property
    def joint_known(self) -> bool:
        """Whether the characters that meet where the words begin occur together in the text."""
        joint = _alike(self.tail[-2:] + self.opening.trimmed + self.words[:2])
        return joint in _alike(self.tail[:-1])

    @property
    def letter_behind_mark(self) -> bool:
        """Whether the words would join a letter or digit to a mark: "list[" and "Margin"."""
        glued = not self.opening.trimmed and not self.tail[-1:].isalnum()
        return glued and self.words[0].isalnum()

    @property
    def new_script(self) -> bool:
        """Whether the words have letters of a script that the end of the text doesn't have."""
        return bool(_scripts(self.words) - _scripts(self.tail[-_NEAR_CHARS:]) - {"LATIN"})

    @property
    def capital(self) -> bool:
        """Whether the words begin with a capital, or with a letter of a script without capitals."""
        return self.words[0].isalpha() and not self.words[0].islower()

    @property
    def enclosed(self) -> bool:
        """Whether the words are in brackets or between marks, or begin with an ellipsis."""
        return _enclosed(self.words) is not None

    @property
    def symbols(self) -> float:
        """The share of characters that are common in code."""
        return sum(map(_SYMBOLS.__contains__, self.words)) / len(self.words)

    @property
    def indented(self) -> bool:
        """Whether a line is indented."""
        return any(line[:1].isspace() for line in self.lines)


def _alike(text: str) -> str:
    """Return `text` in lower case, with all digits alike, and each run of white space as one
    space."""
    return _white_space.sub(" ", _digits.sub("0", text.lower()))


def _groups(text: str) -> set[str]:
    text = _alike(text)
    return {text[at : at + _GROUP_CHARS] for at in range(len(text) - _GROUP_CHARS + 1)}


def _scripts(text: str) -> set[str]:
    """Return the scripts of the letters, as their Unicode names begin: "LATIN", "CYRILLIC",
    "CJK"."""
    return {unicodedata.name(char, "").partition(" ")[0] for char in text if char.isalpha()}


def _log(number: int) -> float:
    return min(_MOST_LOG, math.log2(1 + number))


class Evidence(NamedTuple):
    """One measure, and the log odds for each unit of it."""

    name: str
    weight: float
    measure: Callable[[Preamble], float]


EVIDENCE: Final = (
    # 1.5 below the fitted value: a lost line is worse than a repeated one.
    Evidence("always", -4.0, lambda place: 1),
    # The more is repeated, the less likely it is chance.
    Evidence("weight of the last line", 0.9, lambda place: _log(weight(place.last_line))),
    Evidence("further lines that come again", 0.7, lambda place: place.further_lines),
    # Words that occur in the text are likely part of it.
    Evidence("share of the text's groups", -4.3, lambda place: place.said_groups),
    Evidence("share of groups of what follows", -3.3, lambda place: place.next_groups),
    Evidence("share of known words", -2.7, lambda place: place.known_words),
    Evidence("characters as in what follows", -2.3, lambda place: place.same_start),
    Evidence("joint known", -2.6, lambda place: place.joint_known),
    Evidence("letter behind a mark", -1.9, lambda place: place.letter_behind_mark),
    Evidence("new script", 1.3, lambda place: place.new_script),
    # The form of the words.
    Evidence("enclosed", 1.8, lambda place: place.enclosed),
    Evidence("colon", 4.9, lambda place: place.words.endswith(COLONS)),
    Evidence("capital", 1.7, lambda place: place.capital),
    Evidence("digit", -0.9, lambda place: place.words[0].isdigit()),
    Evidence("mark", 1.7, lambda place: not place.words[0].isalnum()),
    Evidence("share of symbols", -1.6, lambda place: place.symbols),
    Evidence("number of words", 0.6, lambda place: _log(len(place.words.split()))),
    Evidence("one word", -0.5, lambda place: " " not in place.words and place.words[0] < _EAST),
    Evidence("lines", -2.7, lambda place: len(place.lines)),
    Evidence("indented line", -1.4, lambda place: place.indented),
    # What separates the words from the repetition.
    Evidence("blank line", 5.6, lambda place: "blank" in place.separators),
    Evidence("rule", 1.6, lambda place: "rule" in place.separators),
)
