"""How much the repetition of a passage proves: one table of rules, from top to bottom.

The evidence is in the repeated passage: how long it is, how varied, whether it is a whole line,
whether the plain join would glue two words together. Periodic text proves nothing. If no rule
applies, a repetition proves nothing either, since a lost character is worse than a repeated one.

The numbers were chosen on 480,000 cuts of sources, documents and tables, by what these repeat on
their own; `checks/bench/seams.py` counts how often they are right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum
from functools import cached_property
from typing import Final, NamedTuple

from tenuto.core.answer.runaway import suffix_borders

__all__ = [
    "RULES",
    "Grade",
    "Passage",
    "SaidText",
    "ends_word",
    "in_word",
    "is_token",
    "is_visible",
    "last_word",
    "weight",
    "word_run",
]


class Grade(IntEnum):
    """How much a repeated passage proves.

    >>> Grade.SHOWN < Grade.WORD < Grade.LINE < Grade.OVERLAP < Grade.STRONG
    True
    """

    NONE = 0
    SHOWN = 1  # nothing by itself: how the text continues elsewhere decides
    WORD = 2  # words, or pieces of words, that the plain join would glue or leave torn
    LINE = 3  # the whole unfinished line
    OVERLAP = 4  # long and varied
    STRONG = 5


# A repetition with a separator between, as in "- item\n- item", is periodic as well.
_SEPARATOR_CHARS: Final = 2
_OVERLAP_WEIGHT: Final = 12
_STRONG_WEIGHT: Final = 24
_DIFFERENT_WEIGHT: Final = 6
_LINE_LETTERS: Final = 3
_PHRASE_CHARS: Final = 3
_VISIBLE_CHARS: Final = 3
_NUMBER_DIGITS: Final = 3
_NUMBER_DIFFERENT: Final = 3
_COUNTED: Final = "1234567890" * 3  # a placeholder number, and often repeated
_ROW_DIGITS: Final = 3
_ROW_DIFFERENT: Final = 4
_WORD_LETTERS: Final = 3
_WHOLE_WORD_LETTERS: Final = 4  # of a word at the end: every text has shorter ones
_TWO_WORDS_LETTERS: Final = 5
_TORN_CHARS: Final = 4  # "ed w" of "provided w": no text says "provided wed with"
_TORN_DIFFERENT: Final = 4
_LONG_TORN_CHARS: Final = 7  # from this length on, one torn letter is enough, and digits count
_TORN_KNOWN_CHARS: Final = 9  # and from this length on, even a piece that is a word elsewhere
# "mail, email", "direct, indirect": a text may well repeat a word with one of these before it.
_PREFIXES: Final = (
    *("a", "ab", "ad", "be", "bi", "co", "de", "e", "en", "em", "ex", "i", "il", "im", "in", "ir"),
    *("o", "on", "re", "un", "up"),
)
# Words and names double them: "singing", "cplusplus", "barbarian", "couscous", "gheghe".
_OFTEN_TWICE: Final = frozenset(
    ("ing", "plus", "bar", "ber", "bora", "cin", "cous", "ghe", "mur", "pom", "tar", "tin", "wiki")
)
_CELL_CHARS: Final = 40  # cells that occurred twice in a row have up to 35
_PIECE_DIFFERENT: Final = 4
_DIGITS_DIFFERENT: Final = 5
# Enough to grade any passage: a longer one is varied if this much of it is.
_GRADED_CHARS: Final = 64


def weight(text: str) -> int:
    """Return how much `text` says, in letters.

    >>> weight("word"), weight("\u8bcd")
    (4, 3)
    """
    return sum(map(_weight, text))


def _weight(char: str) -> int:
    """Return the weight of a character: an ideograph says about as much as three letters, a
    syllable as two."""
    if char < "\u1100":
        return 1
    if "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff":
        return 3
    if "\u3041" <= char <= "\u30ff" or "\uac00" <= char <= "\ud7a3":
        return 2
    return 1


_wide = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]").search
"""The characters that weigh more than one."""
word_run: Callable[[str], re.Match[str] | None] = re.compile(r"\w+").match
_number = re.compile(r"\d[\d.,]*\d").fullmatch
_before_number = re.compile(r"(?:\A|[^\w.,:/+-])\Z").search
_hex = re.compile("(?=.*[0-9])[0-9A-Fa-f]+").fullmatch
_sign = re.compile(r"\W{1,5}(?=\w)").match
_doubled_cell = re.compile(r"\|([^|\n]*\w[^|\n]*(?:\|[^|\n]+)?)\|\1\|")


def last_word(text: str) -> str:
    """Return the word at the end of a text; "" if there is none.

    >>> last_word("one two"), last_word("one.")
    ('two', '')
    """
    found = word_run(text[::-1])
    return found[0][::-1] if found else ""


def in_word(char: str) -> bool:
    """Return whether a break before or after `char` would show as a space, which is not so in
    Chinese.

    >>> in_word("a"), in_word("\u8bcd"), in_word("-")
    (True, False, False)
    """
    return (char.isalnum() or char == "_") and _weight(char) == 1


def all_in_word(text: str) -> bool:
    """Return whether every character is `in_word`. Passages may have thousands.

    >>> all_in_word("my_slot"), all_in_word("a b"), all_in_word("a\u8bcd")
    (True, False, False)
    """
    return text.replace("_", "a").isalnum() and not _wide(text)


def ends_word(text: str) -> bool:
    """Return whether a word could begin after a text.

    >>> ends_word("one "), ends_word("on")
    (True, False)
    """
    return not text or not in_word(text[-1])


def is_token(text: str) -> bool:
    """Return whether a text has no white space, ideographs or syllabic characters.

    >>> is_token("psql.1.gz"), is_token("two words")
    (True, False)
    """
    return not any(char.isspace() for char in text) and weight(text) == len(text)


def is_visible(text: str) -> bool:
    """Return whether a text is a few characters, and not only marks, which are parts of longer
    rows.

    >>> is_visible("1. "), is_visible("---"), is_visible("one")
    (False, False, True)
    """
    visible = "".join(text.split())
    return len(visible) >= _VISIBLE_CHARS and any(map(str.isalnum, visible))


def _is_varied(text: str) -> bool:
    different = sum(min(_weight(char), 2) for char in set(text))
    return weight(text) >= _OVERLAP_WEIGHT and different >= _DIFFERENT_WEIGHT


class SaidText:
    """A text that may be continued.

    `blank`: white space that is known to follow it; `lines`: the lengths of its whole unfinished
    line, with its indentation and without; () if it has none."""

    def __init__(self, tail: str, blank: str, lines: tuple[int, ...]) -> None:
        self.tail = tail
        self.blank = blank
        self.lines = lines
        self.borders: list[int] = suffix_borders(tail)

    @property
    def ends_in_word(self) -> bool:
        """Whether a word was begun at its end. A short piece may be a prefix: "direct, in" +
        "direct, incidental"."""
        last = last_word(self.tail)
        return len(last) >= _WORD_LETTERS or (last.isalpha() and last.lower() not in _PREFIXES)

    def is_cut_before(self, next_: str) -> bool:
        """Return whether the word at its end was cut, if `next_` comes next: such a word does not
        occur by itself elsewhere."""
        last = last_word(self.tail)
        if in_word(next_):
            return self.ends_in_word
        return len(last) >= _WHOLE_WORD_LETTERS and not self.knows(last, self.tail[: -len(last)])

    def knows(self, word: str, text: str = "") -> bool:
        """Return whether `word` occurs by itself in `text`, or anywhere if that is ""."""
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text or self.tail) is not None


class Passage:
    """The last `length` characters of a text, as a passage that may be repeated."""

    def __init__(self, whole: SaidText, length: int) -> None:
        self.whole = whole
        self.length = length
        self.text: str = whole.tail[-length:]
        self.before: str = whole.tail[:-length]
        self.sample: str = self.text[-_GRADED_CHARS:]

    @cached_property
    def grade(self) -> Grade:
        """Return how much the repetition of the passage proves, by the first rule that applies.

        >>> Passage(SaidText("The result is wor", "", (17,)), 3).grade.name
        'WORD'
        """
        return next((rule.grade for rule in RULES if rule.applies(self)), Grade.NONE)

    # --- what it is

    @property
    def is_periodic(self) -> bool:
        """Whether it consists of one repeated piece."""
        period = self.length - self.whole.borders[self.length]
        return period * 2 <= self.length + (
            _SEPARATOR_CHARS if self.length >= _OVERLAP_WEIGHT else 0
        )

    @property
    def is_line(self) -> bool:
        """Whether it is the whole unfinished line."""
        return self.length in self.whole.lines

    @property
    def is_doubled(self) -> bool:
        """Whether the text has it twice in a row."""
        bare = self.text.strip()
        return self.text * 2 in self.whole.tail or bare + self.whole.blank + bare in self.whole.tail

    @property
    def is_next_term(self) -> bool:
        """Whether it is what stands before it, with a mark in front: "1/2 + 1/2" may well have a
        third term."""
        sign = _sign(self.text)
        return sign is not None and self.before.rstrip().endswith(self.text[sign.end() :].rstrip())

    @property
    def is_cell(self) -> bool:
        """Whether it is as long as an item of a list, or as a cell or two of a table that has the
        same cells twice in a row. Such passages do occur again."""
        item = self.text.strip()
        in_list = self.before.rstrip(" ")[-1:] in (",", "(", "[")
        if item.count(",") == 1 and item[-1] == "," and in_list:
            return len(item) < _STRONG_WEIGHT
        if "\n" in self.whole.blank:
            return False  # the row has ended, and the next one begins with its own mark
        row = self.whole.tail[self.whole.tail.rfind("\n") + 1 :].lstrip()
        if not row.startswith("|") or self.text.count("|") not in (1, 2) or "\n" in self.text:
            return False
        return self.length <= _CELL_CHARS and _doubled_cell.search(self.whole.tail) is not None

    @cached_property
    def is_in_word(self) -> bool:
        """Whether it is only letters, digits and underscores, and the text does not end there."""
        return all_in_word(self.sample) and not self.whole.blank

    @cached_property
    def letters(self) -> int:
        """The weight of its letters."""
        return sum(_weight(char) for char in self.sample if char.isalpha())

    @property
    def is_varied(self) -> bool:
        """Whether it says enough, in different characters."""
        return any(map(_is_varied, (self.sample, self.text[:_GRADED_CHARS])))

    @property
    def is_visible(self) -> bool:
        """Whether it is a few characters, and not only marks, which are parts of longer rows."""
        return is_visible(self.sample)

    @property
    def is_phrase(self) -> bool:
        """Whether it is three different Chinese or Japanese characters: these languages double two
        ("看看", while "ひとつひとつ" is all kana), not three."""
        kinds = [_weight(char) for char in self.sample]
        return len(set(self.sample)) >= _PHRASE_CHARS and 3 in kinds and min(kinds) > 1

    @property
    def is_unknown_word(self) -> bool:
        """Whether it is a word, or a piece of one, that nothing shows to be doubled: "assassin" in
        the text shows that "ass" may well be followed by "ass"."""
        if self.text * 2 in self.whole.tail or _hex(self.sample):
            return False
        if self.text.lower() in _OFTEN_TWICE:
            return False
        return (ends_word(self.before) and self.letters >= _WORD_LETTERS) or self.is_piece

    @property
    def is_number(self) -> bool:
        """Whether it is all of a number that was begun, with different digits. One of 1,000 numbers
        continues with its own three digits, and a repeated number would be another number."""
        if self.whole.blank or _number(self.text) is None or self.text in _COUNTED:
            return False
        if not _before_number(self.before[-1:]):
            return False
        digits = sum(map(str.isdigit, self.text))
        return digits >= _NUMBER_DIGITS and len(set(self.text)) >= _NUMBER_DIFFERENT

    @property
    def is_telling_line(self) -> bool:
        """Whether it is the whole unfinished line, and more than a mark or a character: indented,
        in letters, or a row of digits ("2025-0", "| 212")."""
        if not self.is_line:
            return False
        if self.letters >= _LINE_LETTERS:
            return len(self.sample.strip()) > 1  # every script doubles a character
        if self.text[0].isspace() and self.length == self.whole.lines[0]:
            return True
        digits = sum(map(str.isalnum, self.sample)) >= _ROW_DIGITS
        return not self.whole.blank and digits and len(set(self.sample.strip())) >= _ROW_DIFFERENT

    @property
    def is_piece(self) -> bool:
        """Whether it is a varied end of a longer word, and no word begins where it does: "rket" of
        "market", but not "slot" of "my_slot"."""
        if self.text.lower() in _OFTEN_TWICE:
            return False
        varied = len(set(self.text)) >= (_PIECE_DIFFERENT if self.whole.blank else _WORD_LETTERS)
        return varied and all_in_word(self.text) and self.begins_torn

    @property
    def begins_torn(self) -> bool:
        """Whether it begins within a word, but not within a name that is made of words."""
        before, first = self.whole.tail[-self.length - 1 : -self.length], self.text[0]
        if before.isalpha() and first.isalpha() and in_word(first):
            return not (before.islower() and first.isupper())
        # Numbers continue alike more often than words do.
        varied = self.length >= _LONG_TORN_CHARS and len(set(self.text)) >= _DIGITS_DIFFERENT
        return varied and before.isalnum() and first.isalnum() and in_word(first)

    @property
    def is_torn(self) -> bool:
        """Whether it begins or ends with a piece of a word that the plain join would leave by
        itself. A text that repeats itself has a whole word there."""
        enough = self.length >= _TORN_CHARS and len(set(self.sample)) >= _TORN_DIFFERENT
        if not enough or all_in_word(self.text):
            return False
        first = word_run(self.text)
        if first is not None:
            return not ends_word(self.before) and self._stands_torn(first[0])
        last = last_word(self.text)
        begun = self.length >= _LONG_TORN_CHARS and len(self.text.split()) > 1
        return (
            not self.whole.blank
            and (len(last) >= _WHOLE_WORD_LETTERS or begun)
            and last.isalpha()
            and not self.whole.knows(last, self.before)
        )

    def _stands_torn(self, piece: str) -> bool:
        if in_word(self.text[-1]) and not self.whole.blank:
            # The plain join glues the pieces: what follows shows whether the text has the word.
            return True
        if self.length >= _TORN_KNOWN_CHARS and self.begins_torn:
            return True
        long = len(piece) >= _WORD_LETTERS or self.length >= _LONG_TORN_CHARS
        return long and piece.isalpha() and not self.whole.knows(piece)

    @property
    def glues_words(self) -> bool:
        """Whether it is words that the plain join would glue to their repetition."""
        if not (in_word(self.sample[0]) and in_word(self.sample[-1])) or self.whole.blank:
            return False
        begun = self.whole.ends_in_word or self.text.count(" ") > 1
        return begun and self.letters >= _TWO_WORDS_LETTERS and any(map(str.isspace, self.text))


class Proof(NamedTuple):
    """How much a repetition proves, if the condition is true of the passage."""

    applies: Callable[[Passage], bool]
    grade: Grade


RULES: Final = (
    # Passages that texts do repeat.
    Proof(lambda p: p.is_periodic, Grade.NONE),
    Proof(lambda p: p.before.rstrip().endswith(p.text.strip()), Grade.NONE),  # why not a third time
    Proof(lambda p: p.is_next_term, Grade.NONE),
    Proof(lambda p: p.is_doubled, Grade.NONE),
    Proof(lambda p: p.is_cell and not p.is_line, Grade.NONE),
    # "typedef struct Slot Slot;", "--slave man1/psql.1.gz psql.1.gz"
    Proof(lambda p: p.text[0] == " " and is_token(p.text[1:]) and not p.is_line, Grade.SHOWN),
    # Long and varied passages.
    Proof(lambda p: p.is_varied and weight(p.sample) >= _STRONG_WEIGHT, Grade.STRONG),
    Proof(lambda p: p.is_varied or p.is_phrase, Grade.OVERLAP),
    # One number, word, or a piece of one, and nothing else.
    Proof(lambda p: p.is_number, Grade.WORD),
    Proof(lambda p: p.is_in_word and p.is_unknown_word, Grade.WORD),
    Proof(lambda p: p.is_in_word, Grade.NONE),
    # A line, and words that the plain join would leave torn or glue.
    Proof(lambda p: p.is_telling_line, Grade.LINE),
    Proof(lambda p: p.is_piece and not p.whole.knows(p.text), Grade.WORD),
    Proof(lambda p: p.is_torn, Grade.WORD),
    Proof(lambda p: p.glues_words and ends_word(p.before), Grade.WORD),
    # A few characters, one of them a letter or digit.
    Proof(lambda p: p.is_visible, Grade.SHOWN),
)
"""The first rule that applies counts; if none does, a repetition proves nothing."""
