"""A preamble: a short first paragraph announces the rest; then the unfinished line comes again.

Theory of operation
-------------------
The shape decides, not the words: a list of phrases knows only its own.  The paragraph begins with
a capital and ends with a colon or a full stop, and behind it the unfinished line is said again.
Since a text may well hold such a sentence itself, its own lines are asked:

* a sentence that cannot go on with the unfinished line (a capital in the middle of a word, another
  script) was not said there;
* where lines that begin like the unfinished one stand in the text, they show how such a line goes
  on (`Ending.shown`): as what comes behind the repetition does, and not as the sentence does;
* what the text itself puts between such lines, a blank line or one with a colon, is its own.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from tenuto.core.fence import after_line, fence_at, fence_so_far, open_info
from tenuto.core.passage import Grade, weight
from tenuto.core.repetition import A_FEW, NOTHING, Decision, Opening, repeated

__all__ = ["announced"]

_PREAMBLE_CHARS: Final = 200
_ANNOUNCED_LINE_WEIGHT: Final = 6
_LINE_CHARS: Final = 2  # letters and digits
_LABEL_CHARS: Final = 40
_NEAR_CHARS: Final = 60
_FULL_STOPS: Final = ".!\u2026\u3002\uff01"
_DECORATIONS: Final = "*_ \t"  # **Continued:**
_EAST: Final = "\u3041"  # from here on no capitals, and no spaces between words

_decoration = re.compile("[*_\u00a1\u00bf]+").match
_first_word = re.compile(r"\w+").match
_rule_line = re.compile(r"(?:[-*_]{3,}[ \t]*\n\s*)?").match
_rule_so_far = re.compile(r"[-*_]+[ \t]*\n?").fullmatch


def announced(opening: Opening, at: int, final: bool) -> Decision | None:
    """A short first paragraph announces the rest, and then the unfinished line comes again.

    The shape decides, not the words: a list of phrases knows only its own.
    """
    held, ending = opening.held, opening.ending
    decoration = _decoration(held, at)
    first = decoration.end() if decoration else at
    if first == len(held):
        return NOTHING if final else None
    if not (held[first].isupper() or held[first] >= _EAST):
        return NOTHING
    end = held.find("\n", at)
    if end < 0 and not final and len(held) - at <= _PREAMBLE_CHARS:
        return None
    sentence = held[first:end].rstrip(_DECORATIONS)
    if end < 0 or not sentence or weight(sentence) > _PREAMBLE_CHARS:
        return NOTHING
    rest = held[end:].lstrip()
    if not rest:
        return NOTHING if final else None
    begin = held.rfind("\n", 0, len(held) - len(rest)) + 1
    paragraph = held.count("\n", end, begin) > 1
    if _rule_so_far(held, begin) and not final:
        return None
    rule = _rule_line(held, begin)
    begin = rule.end() if rule else begin
    # Where the unfinished line opens a fence, it is this line that comes again.
    opens = ending.mid_line and fence_so_far(opening.said, opening.said.rfind("\n") + 1)
    fence = (0, "") if opens else fence_at(opening, begin, final)
    if fence is None:
        return None
    after_fence, info = fence
    colon = sentence[-1] in ":\uff1a"
    if not after_fence and not colon and not (paragraph and sentence[-1] in _FULL_STOPS):
        return NOTHING
    breaks_in = bool(rule and rule[0]) or _breaks_in(opening, sentence, paragraph)
    begin = after_fence or begin
    said_again = repeated(opening, begin, final, Grade.LINE)
    if said_again is None or (said_again[0] == "diverged" and colon):
        return said_again
    kind, removed = said_again
    shown: bool | None = False
    if kind != "overlap":
        again = removed - begin if removed else ending.line_again(held[begin:], final=final)
        if again is None:
            return None
        if again:
            least = 1 if " " in sentence else A_FEW
            shown = ending.shown(again, held, held[begin + again :], least=least, final=final)
            if shown is None:
                return None
        line_chars = 1 if shown else _LINE_CHARS
        tells = sum(map(str.isalnum, held[begin : begin + again])) >= line_chars
        if not removed and tells and (shown or paragraph or breaks_in or after_fence):
            kind, removed = "line", begin + again
    if not removed:
        if info and info == open_info(opening):
            return "preamble", after_line(opening, after_fence)
        return NOTHING
    passage = held[begin:removed].lstrip()
    if kind == "overlap":
        # One line, below another that ends in a colon, is said twice in code.
        one_line = "\n" not in passage and not paragraph and not after_fence
        alike_code = one_line and ending.follows_a_colon(len(passage))
        if alike_code or not ending.begins_line(len(passage)):
            return NOTHING
    if kind == "line" and not (shown or breaks_in or after_fence):
        # A sentence between two lines that are a label ("ANNA:") is what was said there.
        label = len(passage) < _LABEL_CHARS and passage.endswith((":", "\uff1a"))
        if not colon and (label or weight(passage) < _ANNOUNCED_LINE_WEIGHT):
            return NOTHING
        alike = ending.lines_alike(len(passage))
        if alike and not _is_new_here(alike, sentence, paragraph):
            return NOTHING
    return "preamble", removed


def _breaks_in(opening: Opening, sentence: str, paragraph: bool) -> bool:
    """Whether `sentence` can hardly be what the unfinished line goes on with: a capital in the
    middle of a word, or another script."""
    last = opening.said[-1]
    if not opening.trimmed and last.isalnum() and not last.isupper() and sentence[0].isupper():
        return paragraph or " " in sentence
    near = opening.said[-_NEAR_CHARS:]
    first = _first_word(sentence)
    if first and _scripts(first[0]) - _scripts(near) - {"LATIN"}:
        return True
    return _is_east(near) and not _is_east(sentence)


def _scripts(text: str) -> set[str]:
    """The scripts of the letters, as their Unicode names begin: "LATIN", "CYRILLIC", "CJK"."""
    return {unicodedata.name(char, "").partition(" ")[0] for char in text if char.isalpha()}


def _is_east(text: str) -> bool:
    return any(char >= _EAST for char in text)


def _is_new_here(alike: list[str], sentence: str, paragraph: bool) -> bool:
    """Whether `sentence`, before one more of the lines that are `alike`, is not the text's own.

    The text shows what it puts between such lines: whether a blank line, or one with a colon.
    """
    if paragraph:
        return not any(before.rstrip(" \t").endswith("\n\n") for before in alike)
    a_few = len(alike) > 1 and sentence.count(" ") > 1
    return a_few and not any(before.rstrip().endswith((":", "\uff1a")) for before in alike)
