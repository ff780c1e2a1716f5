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

__all__ = ["Ending", "Grade", "weight"]


class Grade(IntEnum):
    """How much a repeated passage proves.

    >>> Grade.WORD < Grade.LINE < Grade.OVERLAP < Grade.STRONG
    True
    """

    NONE = 0
    WORD = 1  # words, or pieces of words, that the plain join would glue or leave torn
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
_PHRASE_CHARS: Final = 3
_ROW_DIGITS: Final = 3
_ROW_DIFFERENT: Final = 4
_WORD_LETTERS: Final = 3
_WHOLE_WORD_LETTERS: Final = 4  # a word said again as it is: "can" + "can" may be "cancan"
_TWO_WORDS_LETTERS: Final = 5
# A passage that begins and ends in the middle of words, with something else between them.
_TORN_CHARS: Final = 4  # "ed w" of "provided w": no text says "provided wed with"
_TORN_DIFFERENT: Final = 4
_BRACKET_CHARS: Final = 3
_LONG_TORN_CHARS: Final = 7  # from here on one torn letter is enough, and digits are
_TORN_KNOWN_CHARS: Final = 9  # and from here on one that stands by itself elsewhere
# "mail, email", "direct, indirect": a text does say a word again with one of these before it.
_PREFIXES: Final = (
    *("a", "ab", "ad", "be", "bi", "co", "de", "e", "en", "em", "ex", "i", "il", "im", "in", "ir"),
    *("o", "on", "re", "un", "up"),
)
_OFTEN_TWICE: Final = ("ing", "plus")  # "singing", "cplusplus"
_CELL_CHARS: Final = 40  # cells that were seen twice in a row have up to 35
_PIECE_DIFFERENT: Final = 4
_DIGITS_DIFFERENT: Final = 5
# Of 350,000 lines of code and documents 0.02 % equal the line before: a line of this length that
# comes again is taken for a repetition, unless the text has doubled lines before.
_LONG_LINE_CHARS: Final = 20
# From here on a line that the plain join doubles (a lone bracket, say) weighs less than the rest.
_BLOCK_CHARS: Final = 150
_BLOCK_LINES: Final = 3
# Enough to grade any passage: one that is varied here is varied.
_GRADED_CHARS: Final = 64


def weight(text: str) -> int:
    """How much `text` says, in letters.

    >>> weight("word"), weight("\u8bcd")
    (4, 3)
    """
    return sum(map(_weight, text))


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


def _last_word(text: str) -> str:
    found = _word_run(text[::-1])
    return found[0][::-1] if found else ""


def _in_word(char: str) -> bool:
    """Whether a break before or after `char` would show as a space: not so in Chinese."""
    return (char.isalnum() or char == "_") and _weight(char) == 1


_LINE_BEGIN_CHARS: Final = 6
_COLONS: Final = (":", "\uff1a")
_doubled_cell = re.compile(r"\|([^|\n]*\w[^|\n]*(?:\|[^|\n]+)?)\|\1\|")
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

    def line_again(self, text: str, *, final: bool) -> int | None:
        """How much of `text` is the whole unfinished line again, be it one character long.

        None: more of the text is needed (never when `final`)."""
        for length in self._line_chars:
            line = self._tail[-length:] + self._blank
            if not any(map(str.isalnum, line)) and (length > _BRACKET_CHARS or not self._blank):
                continue  # a row of marks may be a part of a longer one: "#" and "##", "[" and "[["
            if text.startswith(line):
                if len(text) == len(line) and not final:
                    return None
                if len(set(line.strip())) == 1 and text.startswith(line[-1], len(line)):
                    continue  # one quotation mark, and then the other two of a docstring
                return length
            if not final and line.startswith(text):
                return None
        return 0

    def follows_a_colon(self, length: int) -> bool:
        """Whether the line before the last `length` characters ends in a colon."""
        return self._tail[:-length].rstrip()[-1:] in _COLONS

    def lines_alike(self, length: int) -> list[str]:
        """What stands before each line that begins like the last `length` characters (a list)."""
        begins = re.compile(r"^[ \t]*" + re.escape(self._tail[-length:].lstrip()), re.MULTILINE)
        before = self._tail[:-length]
        return [before[: found.start()] for found in begins.finditer(before)]

    def shown(self, length: int, plain: str, again: str, *, least: int, final: bool) -> bool | None:
        """Whether the text shows that the line comes again: `least` or more lines begin with its
        last `length` characters, and go on as `again` does and not as `plain`, which would follow
        if nothing was said twice.

        None: more of `again` is needed (never when `final`).
        """
        blank = self._blank
        if len(again) <= len(blank) and not final and blank.startswith(again):
            return None
        space = plain[: len(plain) - len(plain.lstrip())]
        if not again.startswith(blank) or not (blank + " ").startswith(space[: len(blank) + 1]):
            return False
        passage = self._tail[-length:]
        in_word = not blank and _in_word(passage[-1])
        begins = re.compile(r"^[ \t]*" + re.escape(passage.lstrip() + blank), re.MULTILINE)
        end = len(self._tail) - length
        known = [
            _step(self._tail[found.end() :], in_word)
            for found in begins.finditer(self._tail, 0, end)
            if found.end() < end
        ]
        shown_step = _step(again[len(blank) :], in_word)
        plain_step = _step(plain[min(len(space), len(blank)) :], in_word)
        return len(known) >= least and shown_step in known and plain_step not in known

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
        if self._doubled(passage) or (self._is_cell(passage) and not self.is_line(length)):
            return Grade.NONE
        sample = passage[-_GRADED_CHARS:]
        if passage[0] == " " and _is_token(passage[1:]) and not self.is_line(length):
            return Grade.NONE  # "typedef struct Slot Slot;", "--slave man1/psql.1.gz psql.1.gz"
        said = weight(sample)
        if said >= _OVERLAP_WEIGHT:
            different = sum(min(_weight(char), 2) for char in set(sample))
            if different >= _DIFFERENT_WEIGHT:
                return Grade.STRONG if said >= _STRONG_WEIGHT else Grade.OVERLAP
        if _is_phrase(sample):
            return Grade.OVERLAP
        letters = sum(_weight(char) for char in sample if char.isalpha())
        in_word = [_in_word(char) for char in sample]
        if all(in_word) and not self._blank:
            # "assassin" in the text says that "ass" may well be followed by "ass".
            whole = _ends_word(before) and letters >= _WORD_LETTERS
            unknown = passage * 2 not in tail and not _hex(sample)
            return Grade.WORD if unknown and (whole or self._is_piece(length)) else Grade.NONE
        if self.is_line(length):
            indented = passage[0].isspace() and length == self._line_chars[0]
            if letters >= _LINE_LETTERS or indented or (not self._blank and _is_row(sample)):
                return Grade.LINE
        if self._is_piece(length) and not self._knows(passage, ""):
            return Grade.WORD
        if length >= _TORN_CHARS and len(set(sample)) >= _TORN_DIFFERENT and self._is_torn(length):
            return Grade.WORD
        glues = in_word[0] and in_word[-1] and not self._blank
        # A short piece at the end may be a prefix: "direct, in" + "direct, incidental".
        last = _last_word(passage)
        begun = len(last) >= _WORD_LETTERS or passage.count(" ") > 1
        begun = begun or (last.isalpha() and last.lower() not in _PREFIXES)
        if glues and begun and letters >= _TWO_WORDS_LETTERS and any(map(str.isspace, passage)):
            return Grade.WORD if _ends_word(before) else Grade.NONE
        return Grade.NONE

    def _doubled(self, passage: str) -> bool:
        """Whether the text has said `passage` twice in a row."""
        bare = passage.strip()
        return passage * 2 in self._tail or bare + self._blank + bare in self._tail

    def _is_cell(self, passage: str) -> bool:
        """Whether `passage` is as long as an item of a list, or as a cell or two of a table that
        has the same twice in a row: those do come again."""
        before, item = self._tail[: -len(passage)], passage.strip()
        if item.count(",") == 1 and item[-1] == "," and before.rstrip(" ")[-1:] in (",", "(", "["):
            return len(item) < _STRONG_WEIGHT
        row = self._tail[self._tail.rfind("\n") + 1 :].lstrip()
        if not row.startswith("|") or passage.count("|") not in (1, 2) or "\n" in passage:
            return False
        return len(passage) <= _CELL_CHARS and _doubled_cell.search(self._tail) is not None

    def _is_torn(self, length: int) -> bool:
        """Whether the last `length` characters begin or end with a piece of a word that would stand
        by itself in the plain join, where a text that repeats itself has a whole word."""
        passage, before = self._tail[-length:], self._tail[:-length]
        if all(map(_in_word, passage)):
            return False
        first, last = _word_run(passage), _last_word(passage)
        begins_torn = first is not None and not _ends_word(before)
        if begins_torn and _in_word(passage[-1]) and not self._blank:
            # The plain join glues the two pieces; `_follows` looks whether the text knows the word.
            return True
        if begins_torn:
            piece = first[0] if first else ""
            long = len(piece) >= _WORD_LETTERS or length >= _LONG_TORN_CHARS
            if length >= _TORN_KNOWN_CHARS and self._begins_torn(length):
                return True
            return long and piece.isalpha() and not self._knows(piece, "")
        return (
            first is None
            and not self._blank
            and (len(last) >= _WHOLE_WORD_LETTERS or self._is_begun(passage))
            and last.isalpha()
            and not self._knows(last, before)
        )

    def _is_piece(self, length: int) -> bool:
        """Whether the last `length` characters are a varied end of a longer word, which no word
        begins with by itself: "rket" of "market", and not "slot" of "my_slot"."""
        passage = self._tail[-length:]
        varied = len(set(passage)) >= (_PIECE_DIFFERENT if self._blank else _WORD_LETTERS)
        if passage.lower() in _OFTEN_TWICE:
            return False
        return varied and all(map(_in_word, passage)) and self._begins_torn(length)

    def _begins_torn(self, length: int) -> bool:
        """Whether the last `length` characters begin within a word, and not within a name that is
        made of words."""
        before, first = self._tail[-length - 1 : -length], self._tail[-length]
        if before.isalpha() and first.isalpha() and _in_word(first):
            return not (before.islower() and first.isupper())
        # Numbers go on alike more often than words do.
        varied = length >= _LONG_TORN_CHARS and len(set(self._tail[-length:])) >= _DIGITS_DIFFERENT
        return varied and before.isalnum() and first.isalnum() and _in_word(first)

    def _is_begun(self, passage: str) -> bool:
        """Whether it is the end of a phrase whose last word has only begun."""
        return len(passage) >= _LONG_TORN_CHARS and len(passage.split()) > 1

    def _knows(self, word: str, text: str) -> bool:
        """Whether `word` stands by itself in `text`, or if that is "" anywhere."""
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text or self._tail) is not None

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
        twice = (gap or blank) == " " and _is_token(text[:length]) and not self.is_line(length)
        if twice and not (blank and self._begins_torn(length) and length >= _PIECE_DIFFERENT):
            return False
        if following and not following.startswith(blank):
            space = following[: len(following) - len(following.lstrip())]
            if grade < Grade.STRONG or not space or ("\n" in space) != ("\n" in blank):
                return False
        if grade < Grade.STRONG and self._glues_a_known_word(text[: length + 1]):
            return False
        if grade == Grade.WORD and not _in_word(text[0]):
            return bool(following) and following[0].isalpha()  # the piece becomes a word
        if grade == Grade.WORD and " " not in text[:length]:
            if following and _in_word(following[0]):
                return True
            # Said again as it is: only a word that stood alone before is known to be one.
            word = rf"(?<!\w){re.escape(text[:length])}(?!\w)"
            known = re.search(word, self._tail[:-length]) is not None
            return known or length >= _WHOLE_WORD_LETTERS
        if not self._may_follow_a_break(text[:length], gap, following):
            return False
        return not self._doubles_a_line(text, length, gap)

    def _glues_a_known_word(self, text: str) -> bool:
        """Whether the plain join gives a word that the text has already."""
        if self._blank:
            return False
        last, first = _word_run(self._tail[::-1]), _word_run(text)
        if not last or not first:
            return False
        if last[0][0].isdigit() and first[0][0].isdigit():
            return True  # "10px 10px 2" + "0px": numbers go on in any way
        glued = re.escape(last[0][::-1] + first[0])
        return re.search(rf"(?<!\w){glued}(?!\w)", self._tail, re.IGNORECASE) is not None

    def _may_follow_a_break(self, passage: str, gap: str, next_: str) -> bool:
        """Whether the last line may come again on a new line: not where lines are alike anyhow."""
        line = passage.lstrip()
        if "\n" in line or "\n" not in gap + passage[: len(passage) - len(line)]:
            return True
        doubled = line == self._tail[self._tail.rfind("\n") + 1 :].lstrip()
        if doubled and "\n" in self._blank and len(line) >= _LONG_LINE_CHARS:
            return not self._has_doubles
        if self._blank and "\n" not in self._blank:
            return True  # else there would be a blank at the end of a line
        last = _last_word(passage)
        goes_on = len(last) >= _WORD_LETTERS and next_[:1].isalpha() and not self._blank
        if goes_on and not self._knows(last, self._tail[: -len(passage)]):
            return True  # a word was cut, so the line was
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
        if length >= _BLOCK_CHARS and text.count("\n", 0, length) >= _BLOCK_LINES:
            return False
        lines = self._tail.split("\n")
        if "\n" not in between:
            return lines.pop() + between + first in lines
        if lines[-1] != between.rpartition("\n")[2] + first:
            return False
        if "\n" in text[:length].strip() or len(first) < _LONG_LINE_CHARS:
            return True
        return self._has_doubles

    @property
    def _has_doubles(self) -> bool:
        """Whether the text has the same line twice in a row anywhere."""
        if self._doubles is None:
            self._doubles = _doubled_line.search(self._tail) is not None
        return self._doubles


def _step(text: str, in_word: bool) -> str:
    """How a line goes on: with a letter, a digit, or just this mark or blank.

    Between words a capital says little (a name), within a word it says much.
    """
    char = text[:1]
    if char.isdigit():
        return "0"
    if char.isalpha():
        return "A" if in_word and char.isupper() else "a"
    return char


def _is_token(text: str) -> bool:
    return not any(char.isspace() for char in text) and weight(text) == len(text)


def _is_phrase(passage: str) -> bool:
    """Three different Chinese or Japanese characters: they double two ("看看", "ひとつひとつ" is
    all kana), not three."""
    kinds = [_weight(char) for char in passage]
    return len(set(passage)) >= _PHRASE_CHARS and 3 in kinds and min(kinds) > 1


def _is_row(line: str) -> bool:
    """Whether a line without letters still tells: "2025-0", "| 212"."""
    alnum = sum(map(str.isalnum, line))
    return alnum >= _ROW_DIGITS and len(set(line.strip())) >= _ROW_DIFFERENT


def _ends_word(text: str) -> bool:
    return not text or not _in_word(text[-1])
