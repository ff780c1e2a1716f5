"""What the end of a text can prove about the start of its continuation.

A continuation that begins with the text's last characters may repeat them, or may simply go on
with the same characters ("ha" + "ha").  So an overlap is believed by evidence only, and the
evidence lies in what is repeated: how long it is, how varied, whether it is a whole line, whether
the plain join would glue two words together.  Periodic text proves nothing.  In doubt there is no
overlap, since a lost character is worse than one said twice.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

from tenuto.core.runaway import suffix_borders

__all__ = ["Ending", "Grade"]


class Grade(IntEnum):
    """How much a repeated passage proves.

    >>> Grade.WORD < Grade.LINE < Grade.OVERLAP < Grade.STRONG
    True
    """

    NONE = 0
    WORD = 1  # one or two words that the plain join would glue to others
    LINE = 2  # the whole unfinished line
    OVERLAP = 3  # long and varied
    STRONG = 4


_WINDOW_CHARS: Final = 2_000
_PROBE_CHARS: Final = 16
# Said twice with a separator between, as in "- item\n- item", is a period as well.
_SEPARATOR_CHARS: Final = 2
_OVERLAP_WEIGHT: Final = 12
_STRONG_WEIGHT: Final = 24
_DIFFERENT_WEIGHT: Final = 6
_LINE_LETTERS: Final = 3
_WORD_LETTERS: Final = 3
_WHOLE_WORD_LETTERS: Final = 4  # a word said again as it is: "can" + "can" may be "cancan"
_TWO_WORDS_LETTERS: Final = 5
# Of 350,000 lines of code and documents 0.02 % equal the line before: a line of this length that
# comes again is taken for a repetition, unless the text has doubled lines before.
_LONG_LINE_CHARS: Final = 20
# Enough to grade any passage: one that is varied here is varied.
_GRADED_CHARS: Final = 64


def _weight(char: str) -> int:
    """An ideograph says about as much as three letters, a syllable as two."""
    if char < "\u1100":
        return 1
    if "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff":
        return 3
    if "\u3041" <= char <= "\u30ff" or "\uac00" <= char <= "\ud7a3":
        return 2
    return 1


_word_run = re.compile(r"\w+").match
_hex = re.compile("(?=.*[0-9])[0-9A-Fa-f]+").fullmatch


def _in_word(char: str) -> bool:
    """Whether a break before or after `char` would show as a space: not so in Chinese."""
    return (char.isalnum() or char == "_") and _weight(char) == 1


_LINE_BEGIN_CHARS: Final = 6
_doubled_line = re.compile(r"^[ \t]*(\S.*)\n\s*?\1$", re.MULTILINE)


class Ending:
    """The last 2,000 characters of `said`, which `blank` (white space) is known to follow.

    >>> Ending("The result is wor", "").find("world.", final=True)
    3
    >>> Ending("book", "").find("keeper", final=True)
    0
    """

    __slots__ = ("_blank", "_borders", "_doubles", "_grades", "_line_chars", "_tail")

    def __init__(self, said: str, blank: str) -> None:
        self._tail = said[-_WINDOW_CHARS:]
        self._blank = blank
        self._borders = suffix_borders(self._tail)
        self._grades: dict[int, Grade] = {}
        self._doubles: bool | None = None
        line = self._tail[self._tail.rfind("\n") + 1 :]
        # Both with its indentation and without it, the whole unfinished line may come again.
        self._line_chars: tuple[int, ...] = ()
        if "\n" not in blank and (len(line) < _WINDOW_CHARS or line == said):
            self._line_chars = (len(line), len(line.lstrip()))

    @property
    def mid_line(self) -> bool:
        """Whether the last line is unfinished."""
        return "\n" not in self._blank

    def is_line(self, length: int) -> bool:
        """Whether the last `length` characters are the whole unfinished line."""
        return length in self._line_chars

    def begins_line(self, length: int) -> bool:
        """Whether the last `length` characters begin at the start of a line."""
        return self._tail[:-length].rstrip(" \t")[-1:] in ("", "\n")

    def line_again(self, text: str) -> int:
        """How much of `text` is the whole unfinished line again, be it one character long."""
        for length in self._line_chars:
            if text.startswith(self._tail[-length:] + self._blank):
                return length
        return 0

    def starts_lines(self, length: int) -> bool:
        """Whether a line before the last begins like the last `length` characters (a list)."""
        passage = self._tail[-length:].lstrip()
        begins = re.compile(r"^[ \t]*" + re.escape(passage), re.MULTILINE)
        return begins.search(self._tail[:-length]) is not None

    def grade(self, length: int) -> Grade:
        """How much it proves that the last `length` characters come again."""
        grade = self._grades.get(length)
        if grade is None:
            grade = self._grades[length] = self._graded(length)
        return grade

    def _graded(self, length: int) -> Grade:
        tail = self._tail
        period = length - self._borders[length]
        if period * 2 <= length + (_SEPARATOR_CHARS if length >= _OVERLAP_WEIGHT else 0):
            return Grade.NONE
        passage = tail[-length:]
        before = tail[:-length]
        if before.rstrip().endswith(passage.strip()):
            return Grade.NONE  # it has come twice already, why not a third time
        sample = passage[-_GRADED_CHARS:]
        weight = sum(map(_weight, sample))
        if weight >= _OVERLAP_WEIGHT:
            different = sum(min(_weight(char), 2) for char in set(sample))
            if different >= _DIFFERENT_WEIGHT:
                return Grade.STRONG if weight >= _STRONG_WEIGHT else Grade.OVERLAP
        letters = sum(map(str.isalpha, sample))
        in_word = [_in_word(char) for char in sample]
        if all(in_word) and not self._blank:
            # "assassin" in the text says that "ass" may well be followed by "ass".
            unknown = _ends_word(before) and passage * 2 not in tail and not _hex(sample)
            return Grade.WORD if unknown and letters >= _WORD_LETTERS else Grade.NONE
        if self.is_line(length) and (
            letters >= _LINE_LETTERS or (passage[0].isspace() and length == self._line_chars[0])
        ):
            return Grade.LINE
        glues = in_word[0] and in_word[-1] and not self._blank
        if glues and letters >= _TWO_WORDS_LETTERS and " " in passage and _ends_word(before):
            return Grade.WORD
        return Grade.NONE

    def find(
        self, text: str, *, final: bool, least: Grade = Grade.WORD, gap: str = ""
    ) -> int | None:
        """Length of the longest believed overlap at the start of `text`.

        0: there is none.  None: more of the text is needed (never when `final`).  `gap` is white
        space of the continuation that stands before `text`.
        """
        tail = self._tail
        probe = text[:_PROBE_CHARS]
        at = tail.find(probe)
        while at >= 0:
            length = len(tail) - at
            if self.grade(length) >= least:
                if len(text) < length:
                    if not final and tail.startswith(text, at):
                        return None
                elif text.startswith(tail[at:]):
                    believed = self._follows(text, length, final=final, gap=gap)
                    if believed is not False:
                        return length if believed else None
            at = tail.find(probe, at + 1)
        for length in range(min(len(probe) - 1, len(tail)), 0, -1):
            if text.startswith(tail[-length:]) and self.grade(length) >= least:
                believed = self._follows(text, length, final=final, gap=gap)
                if believed is not False:
                    return length if believed else None
        return 0

    def _follows(self, text: str, length: int, *, final: bool, gap: str) -> bool | None:
        """Whether what follows the repeated passage bears it out; None: too short to tell."""
        blank = self._blank
        following = text[length : length + len(blank) + 1]
        if len(following) <= len(blank) and not final and blank.startswith(following):
            return None
        grade = self.grade(length)
        if following and not following.startswith(blank):
            space = following[: len(following) - len(following.lstrip())]
            if grade < Grade.STRONG or not space or ("\n" in space) != ("\n" in blank):
                return False
        if grade < Grade.STRONG and self._glues_a_known_word(text[: length + 1]):
            return False
        if grade == Grade.WORD and " " not in text[:length]:
            if following and _in_word(following[0]):
                return True
            # Said again as it is: only a word that stood alone before is known to be one.
            word = rf"(?<!\w){re.escape(text[:length])}(?!\w)"
            known = re.search(word, self._tail[:-length]) is not None
            return known or length >= _WHOLE_WORD_LETTERS
        if not self._may_follow_a_break(text[:length], gap):
            return False
        return not self._doubles_a_line(text, length, gap)

    def _glues_a_known_word(self, text: str) -> bool:
        """Whether the plain join gives a word that the text has already."""
        if self._blank:
            return False
        last, first = _word_run(self._tail[::-1]), _word_run(text)
        if not last or not first:
            return False
        glued = re.escape(last[0][::-1] + first[0])
        return re.search(rf"(?<!\w){glued}(?!\w)", self._tail) is not None

    def _may_follow_a_break(self, passage: str, gap: str) -> bool:
        """Whether the last line may come again on a new line: not where lines are alike anyhow."""
        line = passage.lstrip()
        if "\n" in line or "\n" not in gap + passage[: len(passage) - len(line)]:
            return True
        begin = re.compile("^[ \t]*" + re.escape(line[:_LINE_BEGIN_CHARS]), re.MULTILINE)
        return begin.search(self._tail[: -len(line)]) is None

    def _doubles_a_line(self, text: str, length: int, gap: str) -> bool:
        """Whether the plain join gives a line that stands there already, as in tables and logs."""
        body = text[: length + 1].lstrip()
        own_gap = text[: length + 1 - len(body)]
        between = own_gap if "\n" in own_gap else (gap or self._blank) + own_gap
        first, broken, _ = body.partition("\n")
        if not broken and len(text) > length:
            return False
        lines = self._tail.split("\n")
        if "\n" not in between:
            return lines.pop() + between + first in lines
        if lines[-1] != between.rpartition("\n")[2] + first:
            return False
        if "\n" in text[:length].strip() or len(first) < _LONG_LINE_CHARS:
            return True
        if self._doubles is None:
            self._doubles = _doubled_line.search(self._tail) is not None
        return self._doubles


def _ends_word(text: str) -> bool:
    return not text or not _in_word(text[-1])
