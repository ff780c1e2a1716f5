"""Find out whether the start of a continuation repeats the end of the text.

A continuation that begins with the text's last characters may repeat them, or may continue with the
same characters ("ha" + "ha").  So an overlap needs evidence, and the evidence is in the repeated
characters: how many they are, how varied, whether they are a whole line, whether joining the texts
unchanged would glue two words together.  Periodic text proves nothing.  In doubt, there is no
overlap, since a lost character is worse than a repeated one.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import Final

from tenuto.core.seam.passage import (
    Grade,
    Passage,
    SaidText,
    in_word,
    is_token,
    is_visible,
    last_word,
    word_run,
)
from tenuto.core.seam.restart import HEAD_CHARS, RESTART_CHARS, is_varied

__all__ = ["TextEnd"]

_WINDOW_CHARS: Final = 2_000
_PROBE_CHARS: Final = 16
_WORD_LETTERS: Final = 3
_WHOLE_WORD_LETTERS: Final = 5  # a word repeated unchanged: "can" + "can" may be "cancan"
_BRACKET_CHARS: Final = 3
_PIECE_CHARS: Final = 4
# Of 350,000 lines of code and documents, 0.02 % equal the line before. So a repeated line of this
# length counts as a repetition, unless the text already has doubled lines.
_LONG_LINE_CHARS: Final = 20
# From this length on, a line that the plain join doubles (such as a lone bracket) counts less than
# the rest.
_BLOCK_CHARS: Final = 60
_BLOCK_LINES: Final = 3
_LINE_BEGIN_CHARS: Final = 6
_NEAR_LINES: Final = 3
_SENTENCES: Final = 8
_LINES_ALIKE: Final = 2
_SHOWN_CHARS: Final = 3
# In a text that is shorter than this, a few characters that occur twice show no pattern.
_SHOWING_CHARS: Final = 16
_MARKS: Final = 8
"""So many marks in a row may be repeated; fewer are often a part of a longer row."""
_GRID_LINES: Final = 3
"""So many lines behind the first border of a table show the second one."""
_BORDERED_CELLS: Final = 2
"""A row with so many vertical bars is the header of a table, if a border follows."""
_digit = re.compile(r"\d")
_letter = re.compile(r"[^\W\d_]")
_heading = re.compile(r"#{1,6} \S").match
_CLOSES: Final = ("</", "}", ")", "]", "end")
_item = re.compile(r"[^\s:=(]+,|<(\w+)[^>]*>.*</\1>").fullmatch
_line_begin = re.compile(r"^[ \t\u3000]*(?=\S)", re.MULTILINE).finditer
_sentence_begin = re.compile(r"[.!?…][\"'”’)\]*_]* +(?=\S)|[。！？…][”’」』）]*(?=\S)").finditer
_doubled_line = re.compile(r"^[ \t]*(\S.*)\n\s*?\1$", re.MULTILINE)


class TextEnd:
    """The last 2,000 characters of `before`, after which `blank` (white space) is known to follow.

    >>> TextEnd("The result is wor", "").find("world.", final=True)
    3
    >>> TextEnd("book", "").find("keeper", final=True)
    0
    """

    def __init__(self, before: str, blank: str) -> None:
        self._tail = before[-_WINDOW_CHARS:]
        self._blank = blank
        self._passages: dict[int, Passage] = {}
        line = self._tail[self._tail.rfind("\n") + 1 :]
        # The whole unfinished line may be repeated with its indentation, or without it.
        self._line_chars: tuple[int, ...] = ()
        if "\n" not in blank and (len(line) < _WINDOW_CHARS or line == before):
            self._line_chars = (len(line), len(line.lstrip()))
        self._text = SaidText(self._tail, blank, self._line_chars)

    @cached_property
    def passages(self) -> tuple[str, ...]:
        """The end of the text from the start of each line, without indentation, the longest first.
        Only those with a few visible characters, other than a row of marks. Then those from the
        start of a sentence."""
        begins = [found.end() for found in _line_begin(self._tail)]
        if len(self._tail) == _WINDOW_CHARS:
            begins = begins[1:]  # the first line may have begun earlier
        lines = tuple(filter(is_visible, (self._tail[begin:] for begin in begins)))
        return (*lines, *self._sentences)

    @property
    def _sentences(self) -> list[str]:
        """The end of the text from the start of each of the last sentences within the last line, if
        it is long and varied: a paragraph is one line."""
        line = self._tail[self._tail.rfind("\n") + 1 :]
        begins = [found.end() for found in _sentence_begin(line)][-_SENTENCES:]
        ends = [line[begin:] for begin in begins]
        return [end for end in ends if is_varied(end[:HEAD_CHARS], RESTART_CHARS)]

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
        """Return how much of `text` repeats the whole unfinished line, even if that is one
        character.

        None: more of the text is needed (never if `final`)."""
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

    def ended_line_again(self, text: str, *, final: bool, apart: bool) -> int | None:
        """Return how much of `text` repeats the last line, if the text ended with its line.

        `apart`: something that the text does not have comes before `text`.

        None: more of `text` is needed (never if `final`)."""
        if self.mid_line:
            return 0
        line = self._tail[self._tail.rfind("\n") + 1 :]
        bare, body = line.lstrip(), text.lstrip()
        if not final and len(body) <= len(bare) and bare.startswith(body):
            return None
        if not body.startswith(bare):
            return 0
        behind = body[len(bare) :].lstrip(" \t")
        if not behind and not final:
            return None
        begin = len(text) - len(body)
        indent, own = len(line) - len(bare), text[text.rfind("\n", 0, begin) + 1 : begin]
        undelivered = len(self._blank) - self._blank.rfind("\n") - 1
        again = own == line[:indent] or (not own and (apart or undelivered < indent))
        again = again and behind[:1] in ("", "\n") and self._occurs_once(bare, bool(own), apart)
        return begin + len(bare) if again else 0

    def _occurs_once(self, bare: str, whole: bool, apart: bool) -> bool:
        """Return whether a text is unlikely to have this line twice in a row. `whole`: with its
        indentation."""
        if len(bare) < _SHOWN_CHARS or not any(map(str.isalnum, bare)):
            return False
        lines = [line.strip() for line in self._tail.split("\n")]
        lines = [line for line in lines if line]
        pairs = {one for one, next_ in pairwise(lines) if one == next_}
        if bare in pairs:
            return False
        if apart:
            return True
        if any(len(one) >= _SHOWN_CHARS for one in pairs):
            return False
        if len(bare) >= _LONG_LINE_CHARS:
            return True
        if _item(bare) or (bare[0] == "#" and not _heading(bare)):
            return False
        if not whole and bare.startswith(_CLOSES):
            return False
        near = lines[-1 - _NEAR_LINES : -1]
        return bare in lines[:-1] or _shape(bare) not in map(_shape, near)

    def goes_on_as_known(self, text: str, *, final: bool) -> bool | None:
        """Return whether the plain join gives a word that the text already has.

        None: more of `text` is needed (never if `final`)."""
        word = word_run(text)
        if not final and (not text or (word and len(word[0]) == len(text))):
            return None
        return self._glues_a_known_word(text)

    def shown(self, length: int, plain: str, again: str, *, final: bool) -> bool | None:
        """Return whether the text shows that the line is repeated. It does if a few lines begin
        with its last `length` characters, and continue like `again` and not like `plain`, which
        would follow if nothing was repeated.

        None: more of `again` is needed (never if `final`).
        """
        blank = self._blank
        if len(again) <= len(blank) and not final and blank.startswith(again):
            return None
        space = plain[: len(plain) - len(plain.lstrip())]
        if not again.startswith(blank) or not (blank + " ").startswith(space[: len(blank) + 1]):
            return False
        passage = self._tail[-length:]
        within = not blank and in_word(passage[-1])
        alike = _digit.sub(r"\\d", re.escape(passage.lstrip() + blank))
        begins = re.compile(r"^[ \t]*" + alike, re.MULTILINE)
        end = len(self._tail) - length
        known = [
            _step(self._tail[found.end() :], within)
            for found in begins.finditer(self._tail, 0, end)
            if found.end() < end
        ]
        again, plain = again[len(blank) :], plain[min(len(space), len(blank)) :]
        if not final and (again.isdigit() or plain.isdigit()):
            return None
        shown_step, plain_step = _step(again, within), _step(plain, within)
        return len(known) >= _LINES_ALIKE and shown_step in known and plain_step not in known

    def passage(self, length: int) -> Passage:
        """Return the last `length` characters, and how much their repetition proves."""
        passage = self._passages.get(length)
        if passage is None:
            passage = self._passages[length] = Passage(self._text, length)
        return passage

    def find(
        self, text: str, *, final: bool, least: Grade = Grade.SHOWN, gap: str = ""
    ) -> int | None:
        """Return the length of the longest overlap at the start of `text` that has enough evidence.

        0: there is none.  None: more of the text is needed (never if `final`).  `gap` is the white
        space of the continuation before `text`.
        """
        tail = self._tail
        probe = text[:_PROBE_CHARS]
        at = tail.find(probe)
        while at >= 0:
            length = len(tail) - at
            if self.passage(length).grade >= least:
                if len(text) < length:
                    if not final and tail.startswith(text, at):
                        return None
                elif text.startswith(tail[at:]):
                    believed = self._follows(text, length, final=final, gap=gap)
                    if believed is not False:
                        return length if believed else None
            at = tail.find(probe, at + 1)
        for length in range(min(len(probe) - 1, len(tail)), 0, -1):
            if text.startswith(tail[-length:]) and self.passage(length).grade >= least:
                believed = self._follows(text, length, final=final, gap=gap)
                if believed is not False:
                    return length if believed else None
        if gap:
            return 0
        for again in (self._border_again, self._marks_again, self._grid_again):
            if (found := again(text, final=final)) != 0:
                return found
        return 0

    def _border_again(self, text: str, *, final: bool) -> int | None:
        """Return how much of `text` repeats the beginning of the border below a table's header. It
        does if the border then has as many cells as the header, and otherwise would have more.

        None: more of `text` is needed (never if `final`)."""
        above, _, line = self._tail.rpartition("\n")
        cells = above.rpartition("\n")[2].count("|")
        if cells < _BORDERED_CELLS or not _is_border(line):
            return 0
        line += self._blank
        first, ended, _ = text.partition("\n")
        if not (ended or final):
            return None if line.startswith(first) or _is_border(first) else 0
        again = first.startswith(line) and _is_border(first)
        return len(line) if again and first.count("|") == cells != (line + first).count("|") else 0

    def _marks_again(self, text: str, *, final: bool) -> int | None:
        """Return how much of `text` repeats a row of marks, such as the border of a table. It does
        if the unfinished line becomes one that the text has behind it, and otherwise does not; or
        if all of a long and varied line is repeated behind the end of the line before it.

        None: more of `text` is needed (never if `final`)."""
        known = self._borders
        line = self._tail[self._tail.rfind("\n") + 1 :]
        bare = line.strip()
        alone = len(bare) >= _LONG_LINE_CHARS and len(set(bare)) > 1 and not _says(bare)
        if self._blank or not (alone or any(one.startswith(line) for one in known)):
            return 0
        first, ended, _ = text.partition("\n")
        if line + first in known and (ended or final):
            return 0
        waits = not (ended or final) and any(one.startswith(line + first) for one in known)
        for begin in range(max(0, len(self._tail) - 2 * _BLOCK_CHARS), len(self._tail)):
            row = self._tail[begin:]
            if len("".join(row.split())) < _MARKS:
                break
            if _says(row):
                continue
            if not final and row.startswith(text):
                return None
            if not text.startswith(row):
                continue
            if alone and len(row.lstrip()) > len(bare) and "\n" in row.strip():
                return len(row)
            rest, ended, _ = text[len(row) :].partition("\n")
            if line + rest in known and (ended or final):
                return len(row)
            if not final and not ended and any(one.startswith(line + rest) for one in known):
                return None
        return None if waits else 0

    def _grid_again(self, text: str, *, final: bool) -> int | None:
        """Return how much of `text` repeats the beginning of a line of marks that has none before
        it to compare with, such as the first border of a table. It does if `text` has the same line
        as it begins with once more, and does not have what the plain join makes of it.

        None: more of `text` is needed (never if `final`)."""
        line = self._tail[self._tail.rfind("\n") + 1 :].lstrip()
        if self._blank or len(line) < _MARKS or _says(line):
            return 0
        if not text.startswith(line):
            return None if line.startswith(text) and not final else 0
        first, *lines = text.split("\n")
        if _says(first):
            return 0
        ended = lines if final else lines[:-1]
        if len(ended) < _GRID_LINES and not final:
            return None
        known = {one.strip() for one in ended[:_GRID_LINES]}
        return len(line) if first.strip() in known and line + first.strip() not in known else 0

    @cached_property
    def _borders(self) -> frozenset[str]:
        """The lines of marks alone that the text has, such as the borders of a table."""
        lines = self._tail.split("\n")[1:-1]
        return frozenset(one for one in lines if len(one) >= _LONG_LINE_CHARS and not _says(one))

    def _follows(self, text: str, length: int, *, final: bool, gap: str) -> bool | None:
        """Return whether the text after the repeated passage confirms it; None if it is too
        short."""
        blank = self._blank
        following = text[length : length + len(blank) + 1]
        if len(following) <= len(blank) and not final and blank.startswith(following):
            return None
        grade = self.passage(length).grade
        twice = (gap or blank) == " " and is_token(text[:length]) and not self.is_line(length)
        if twice and not (blank and length >= _PIECE_CHARS and self.passage(length).begins_torn):
            return False
        if following and not following.startswith(blank):
            space = following[: len(following) - len(following.lstrip())]
            if grade < Grade.STRONG or not space or ("\n" in space) != ("\n" in blank):
                return False
        if grade == Grade.SHOWN:
            if gap or ("\n" in blank and self.begins_line(length)):
                return False  # lines and items of a list may begin alike
            return self._is_shown(text, following[len(blank) :])
        # Numbers go on in any way, but not with themselves, nor with the whole line before them.
        number = self.passage(length).is_number
        itself = number or (self.is_line(length) and self.passage(length).is_varied)
        if grade < Grade.STRONG and not itself and self._glues_a_known_word(text[: length + 1]):
            return False
        if grade == Grade.WORD:
            doubled = self._doubles_the_glued_word(text, final=final)
            if doubled is not False:
                return None if doubled is None else False
        if grade == Grade.WORD and not in_word(text[0]):
            return bool(following) and following[0].isalpha()  # the piece becomes a word
        if grade == Grade.WORD and " " not in text[:length]:
            if number or (following and in_word(following[0])):
                return True
            # Said again as it is: only a word that stood alone before is known to be one.
            word = rf"(?<!\w){re.escape(text[:length])}(?!\w)"
            known = re.search(word, self._tail[:-length]) is not None
            return known or length >= _WHOLE_WORD_LETTERS
        if not self._may_follow_a_break(text[:length], gap, following):
            return False
        return not self._doubles_a_line(text, length, gap)

    def _is_shown(self, plain: str, again: str) -> bool:
        """Return whether the text continued from its last characters like `again` elsewhere, and
        never like `plain`, which would follow if nothing was repeated. Digits count as equal. If no
        word is cut, letters do too, since a whole word is often repeated for the first time."""
        tail, blank = self._tail, self._blank
        if not again or len(tail) < _SHOWING_CHARS:
            return False
        next_ = plain[len(blank) if plain.startswith(blank) else 0 :][:1]
        unlike = _shape
        if not blank and in_word(tail[-1]) and in_word(again[0]):
            if not self._text.is_cut_before(next_):
                return False
            unlike = _alike if in_word(next_) or next_.isspace() else _shape
        return _alike(tail[-_SHOWN_CHARS:] + blank + again[0]) in _alike(tail) and unlike(
            tail[1 - _SHOWN_CHARS :] + blank + next_
        ) not in unlike(tail)

    def _doubles_the_glued_word(self, text: str, *, final: bool) -> bool | None:
        """Return whether the plain join gives a word and then the same word: "more th" and "e the
        engineers". A text that says a word twice is likelier than a model that begins within one.

        None: more of `text` is needed (never if `final`)."""
        last, first = last_word(self._tail), word_run(text)
        if self._blank or not last or not first:
            return False
        behind = text[first.end() :]
        again = behind[:1] + last + first[0]
        if not behind[:1].isspace() or not again.startswith(behind[: len(again)]):
            return False
        if len(behind) <= len(again):
            return None if not final else behind == again
        return not in_word(behind[len(again)])

    def _glues_a_known_word(self, text: str) -> bool:
        """Return whether the plain join gives a word that the text already has."""
        if self._blank:
            return False
        last, first = word_run(self._tail[::-1]), word_run(text)
        if not last or not first:
            return False
        if last[0][0].isdigit() and first[0][0].isdigit():
            return True  # "10px 10px 2" + "0px": numbers continue in any way
        glued = re.escape(last[0][::-1] + first[0])
        return re.search(rf"(?<!\w){glued}(?!\w)", self._tail, re.IGNORECASE) is not None

    def _may_follow_a_break(self, passage: str, gap: str, next_: str) -> bool:
        """Return whether the last line may be repeated on a new line, which is unlikely if lines
        are alike anyway."""
        line = passage.lstrip()
        if "\n" in line or "\n" not in gap + passage[: len(passage) - len(line)]:
            return True
        doubled = line == self._tail[self._tail.rfind("\n") + 1 :].lstrip()
        if doubled and "\n" in self._blank and len(line) >= _LONG_LINE_CHARS:
            return not self._has_doubles
        if self._blank and "\n" not in self._blank:
            return True  # otherwise the line would end in a space
        last = last_word(passage)
        goes_on = len(last) >= _WORD_LETTERS and next_[:1].isalpha() and not self._blank
        if goes_on and not self._text.knows(last, self._tail[: -len(passage)]):
            return True  # a word was cut, so the line was
        begin = re.compile("^[ \t]*" + re.escape(line[:_LINE_BEGIN_CHARS]), re.MULTILINE)
        return begin.search(self._tail[: -len(line)]) is None

    def _doubles_a_line(self, text: str, length: int, gap: str) -> bool:
        """Return whether the plain join gives a line that the text already has, as in tables and
        logs."""
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

    @cached_property
    def _has_doubles(self) -> bool:
        """Return whether the text has the same line twice in a row anywhere."""
        return _doubled_line.search(self._tail) is not None


def _says(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def _is_border(text: str) -> bool:
    """Return whether a text may be the border below a table's header, or its beginning."""
    return text.startswith("|") and not text.strip("|-: \t")


def _step(text: str, within: bool) -> str:
    """Return how a line continues: with a letter, a number and what ends it, or just this mark or
    space.

    Between words a capital says little (a name), within a word it says much.
    """
    char = text[:1]
    if char.isdigit():
        return "0" + text.lstrip("0123456789")[:1]
    if char.isalpha():
        return "A" if within and char.isupper() else "a"
    return char


def _alike(text: str) -> str:
    """Return `text` with all its digits alike."""
    return _digit.sub("0", text)


def _shape(text: str) -> str:
    """Return `text` with all its letters alike, and all its digits."""
    return _letter.sub("a", _alike(text))
