"""How a text ends: like a finished one, within a sentence, in a list, in code.

Many whole texts end without a mark: titles, labels, lines of code, signatures. So the end alone
says little. A text breaks off if it ends unlike itself: its other sentences or paragraphs end with
a mark, and the last one does not; or if its last word leads on, or a bracket or a highlight is
still open. One text may be an exception of its own, so only `check` makes a verdict of it
(`endings.py`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from tenuto.core.answer.closing import SENTENCE_ENDS, ends_closed
from tenuto.core.answer.response import leading_thought
from tenuto.judging.brackets import is_open

LEAST_PROSE_CHARS: Final = 60
"""Shorter answers are often titles and labels, which end without a mark."""


class End(StrEnum):
    """How a text ends that does not end like a finished one."""

    OPEN_BRACKET = "open_bracket"
    """A bracket, a comment or a text of several lines is open."""
    LEADS_ON = "leads_on"
    """Its last word or mark leads on to more, or a highlight is open."""
    MID_SENTENCE = "mid_sentence"
    """Its other sentences or paragraphs end with a mark, and the last one does not."""
    IN_PROSE = "in_prose"
    IN_LIST = "in_list"
    IN_LINES = "in_lines"
    """In a short line, a heading, a table and the like."""
    IN_CODE = "in_code"


def end_of(text: str) -> End | None:
    """Return how a text ends; None: like a finished one, or it is so short that nothing is said.

    >>> end_of("The moon pulls the sea. The far side of the earth has a tide too, bec").value
    'mid_sentence'
    >>> end_of("The moon pulls the sea towards itself, and so does the sun, but less so. 😊")
    """
    bare = text[leading_thought(text) :].rstrip()
    if len(bare) < LEAST_PROSE_CHARS or bare[-1] in SENTENCE_ENDS:
        return None
    if is_open(bare):
        return End.OPEN_BRACKET
    return how_it_breaks(bare) if lacks_end(bare) else None


def lacks_end(text: str) -> bool:
    """Return whether a text, however short, does not end like a finished one.

    >>> lacks_end("The moon pulls"), lacks_end("Yes. 😊")
    (True, False)
    """
    bare = text.rstrip()
    if ends_closed(bare):
        return False
    shown = bare
    while shown and shown[-1] != "`" and unicodedata.category(shown[-1]) in _SYMBOLS:
        shown = shown[:-1].rstrip()
    return not (shown.endswith(_MAY_END) or (shown != bare and ends_closed(shown)))


_MAY_END: Final = (":", ";", "}", "|", "---", ">", "```", "~~~")
"""What ends a text too, beside the marks of `ends_closed`. A fence at the end closes one, since an
open one is a sign of its own."""

_SYMBOLS: Final = frozenset({"So", "Sk", "Mn", "Cf", "Me"})
"""Categories of emoji and of what is joined to them."""

TAIL_CHARS: Final = 2_000

_MARK = r"(?:[-*+•]|\d{1,3}[.)]|:[\w *]+:|@\w+|[\w.*`]+(?: \([^)\n]*\))?:)"
"""Of an item of a list, or of a field, as docstrings and mails have them."""
_units = re.compile(rf"\n[ \t]*\n|\n(?=[ \t]*{_MARK}(?:\s|\Z))").split
"""Splits a text into paragraphs and items of lists."""

_item = re.compile(rf"\s*{_MARK}\s").match
_code = re.compile(
    r"[={}<>|\\]|[\w)\]]\(|\)[.:]|\w_\w|::|->|&&|;\s*\Z|\w\.\w+\.\w|\A\s*(?:[#@]|//|--)|[\"']:"
).search
"""Matches what lines of code have, and seldom those of prose."""

_is_statement = re.compile(r"\s*(?:return|yield|raise|del|goto|exit)(?:\s+\S+)?").fullmatch
_mark_of_code = re.compile(r"[={}<>|\\()_:&;#@/]").search
_inner_dot = re.compile(r"\.\w").search
"""One of these matches wherever `_code` does, but for `--`. They take a tenth of its time."""

_only_begun = re.compile(rf"\s*{_MARK}\s*").fullmatch
_no_prose = re.compile(r"\s*(?:[#|>]|```|~~~|<|\[[^\]\n]*\]:|https?:)").match
_sentence_ends = re.compile(
    r"[.!?…。！？؟।۔]"
    r"(?:(?<=[。！？؟।۔])|(?<=[^\s.!?…]{2}.)[\"'’”»)*_`\]]*\s+[\"'“«(*_`\[¿¡]*([^\W\d_]))"
).finditer
"""Matches the marks that end a sentence, and the letter with which the next one begins. A pattern
that begins with a set of characters is searched for several times as fast as one that looks back
first."""

_last_word = re.compile(r"(?<![\w'’./:#@-])[^\W\d_]+\Z").search
_LEAST_CHARS: Final = 20
"""Shorter ends of a text are often signatures, totals and the like."""

_LEAST_LINE_CHARS: Final = 40
_SENTENCE_CHARS: Final = 600
"""Hardly a sentence is longer."""

_ABBREVIATIONS: Final = frozenset(
    {"mr", "mrs", "ms", "dr", "prof", "st", "mt", "vs", "vol", "no", "fig", "jr", "sr", "ltd"}
)
"""Words whose full stop ends no sentence."""

_COMPARED: Final = 4
"""So many paragraphs before the last one are looked at."""

_LEADING_MARKS: Final = frozenset(",([{“„«‘、，（「『《【")
_OPERATORS: Final = frozenset({" &", " +", " ="})

# English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish, Czech, Russian and
# Ukrainian. Words that also end sentences ("in", "up", "that", "so", "do") are left out.
_LEADING: Final = """
the a an and or but nor of to with from for by as at into onto than because although while if
whether which whose my your our their its these those every is are was were be been being has have
had will would can could should may might must does did
der die das den dem des ein eine einen einem einer eines und oder aber von zu zum zur mit für bei
als im am ist sind war waren wird werden hat haben kann können über durch dass weil wenn
le la les un une du de et ou mais à au aux dans pour par avec sur sans sous est sont était qui que
dont ce cette ces son ses leur leurs
el los las unos unas y o del al con por para sobre es era cuyo sus como
il gli i uno e ma di da della dello dei degli delle nel nella per tra fra che ha sono
os um uma dos das no na nos nas em ao aos com sem são foi seu sua
het een van maar voor door bij zijn wordt met op uit naar dat deze
och att ett som för av på till är eller om
w z nie że się lub oraz przez jest są które który która aby dla przy
v že se jsou je nebo jako při který která které aby
и в во не на с со что как по к ко из у от для о при а но или под над без через между чтобы если
і й із від або та який яка які щоб
"""
LEADING_WORDS: Final = frozenset(_LEADING.split())
"""Words that lead on to another one, so that hardly a sentence ends with them."""

_PAIRS: Final = (("(", ")"), ("[", "]"), ("“", "”"), ("„", "“"), ("«", "»"))


def how_it_breaks(text: str) -> End:
    """Return how a text ends that lacks an end."""
    bare = text[-TAIL_CHARS:].rstrip()
    *before, last = _units(bare)
    line = last.rpartition("\n")[2]
    is_prose = not (_has_code(line) or _is_statement(line))
    if _only_begun(last):
        return End.LEADS_ON
    if _no_prose(last):
        return End.IN_LINES
    found = _last_word(bare[-40:])
    word = found[0] if found else ""
    if is_prose and (_leads_on(bare[-2:], word) or _has_open(last)):
        return End.LEADS_ON
    if word and _ends_unlike(last, before):
        # Of a script without small letters, no words are known that lead on.
        has_small = word.lower() != word.upper()
        return End.MID_SENTENCE if has_small or not is_prose else End.LEADS_ON
    if not is_prose:
        return End.IN_CODE
    if _item(last):
        return End.IN_LIST
    return End.IN_LINES if "\n" in bare and len(line) < _LEAST_LINE_CHARS else End.IN_PROSE


def _leads_on(marks: str, word: str) -> bool:
    """Return whether the last two characters or the last word of a text lead on to more."""
    if marks[-1:] in _LEADING_MARKS:
        return True
    if marks in _OPERATORS:
        return True
    return word.lower() in LEADING_WORDS and not word.isupper()


def _has_code(line: str) -> bool:
    if not (_mark_of_code(line) or _inner_dot(line) or line.lstrip().startswith("--")):
        return False
    return _code(line) is not None


def _ends_unlike(last: str, before: list[str]) -> bool:
    """Return whether a last paragraph lacks an end that its other sentences have, or the paragraphs
    before."""
    if _ends_sentence(last):
        return True
    if len(last.strip()) < _LEAST_CHARS or _is_set_in_lines(last):
        return False
    others = list(_like(last, before))[-_COMPARED:]
    return bool(others) and not any(map(lacks_end, others))


def _ends_sentence(unit: str) -> bool:
    """Return whether a sentence ends within a paragraph."""
    unit = unit[-_SENTENCE_CHARS:]
    for end in _sentence_ends(unit):
        word = unit[: end.start()].rpartition(" ")[2].lower()
        if not (end[1] or "").islower() and word not in _ABBREVIATIONS:
            return True
    return False


def _is_set_in_lines(unit: str) -> bool:
    """Return whether a paragraph has lines that are short on purpose: an address, a signature."""
    *lines, _ = unit.strip().split("\n")
    return any(len(line) < _LEAST_LINE_CHARS for line in lines)


def _like(last: str, before: list[str]) -> Iterator[str]:
    """Return the paragraphs that are prose, or the items of lists if the last one is an item."""
    is_item = bool(_item(last))
    for unit in before:
        said = unit.strip()
        if len(said) < _LEAST_CHARS or said.endswith(":") or _no_prose(unit):
            continue
        if bool(_item(unit)) is is_item:
            yield unit


def _has_open(last: str) -> bool:
    """Return whether a highlight, code or a bracket has no end in the last paragraph."""
    line = last.rpartition("\n")[2]
    if (last.count("**") % 2 and _opens_bold(last)) or _old_quotes("", line).count("`") % 2:
        return True
    return any(line.count(opening) > line.count(closing) for opening, closing in _PAIRS)


_old_quotes = re.compile(r"`[^`'\n]*'").sub
"""Takes away what old manuals quote by a backtick and an apostrophe."""

_opens_bold = re.compile(r"(?<![\w*])\*\*(?=[^\s*])(?!\w*(?:args|extra)\b)[^*:]*\Z").search
