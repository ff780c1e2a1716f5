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

from tenuto.core.fence import fence_at, fence_so_far, open_info
from tenuto.core.passage import Grade, in_word, weight
from tenuto.core.repetition import A_FEW, NOTHING, Decision, Opening, repeated

__all__ = ["announced"]

_PREAMBLE_CHARS: Final = 200
_LINES: Final = 3
_ANNOUNCED_LINE_WEIGHT: Final = 6
_LINE_WEIGHT_BEHIND_BRACKETS: Final = 3
_LINE_CHARS: Final = 2  # letters and digits
_LABEL_CHARS: Final = 40
_NEAR_CHARS: Final = 60
_FULL_STOPS: Final = ".!?\u2026\u3002\uff01\uff1f"
_COLONS: Final = (":", "\uff1a")
_DECORATIONS: Final = "*_ \t"  # **Continued:**
_EAST: Final = "\u3041"  # from here on no capitals, and no spaces between words
# What a line goes on with, and no preamble begins with; an ellipsis is one.
_GOES_ON: Final = ",.;:!?)]}%&+/=|'\u2019\u201d\u3002\uff0c\u3001\uff1b\uff1a\uff09\u300d\u300f"

_ellipsis = re.compile("[.]{2,}|\u2026").match
_opening_mark = re.compile("[*_\u00a1\u00bf]+").match
_enclosed = re.compile(
    r"(?:\[[^\[\]]+\]|\([^()]+\)|<[^<>]+>|\{[^{}]+\}|\*[^*]+\*|\*{2}[^*]+\*{2}|_[^_]+_|-{2,}[^-]+-{2,}"
    r"|={2,}[^=]+={2,}|[\u2013\u2014].+[\u2013\u2014]"
    "|\u3010.+\u3011|\uff08.+\uff09|\u300c.+\u300d|\u3008.+\u3009|\u300a.+\u300b|\uff3b.+\uff3d)"
).fullmatch
# Words without brackets begin with a letter, a mark that Markdown knows, or one outside of ASCII.
_begins_words = re.compile(r"[^\W\d_]|[#>*_~\"-]|[^\x00-\x7f]").match
_has_fence = re.compile("```|~~~").search
_first_word = re.compile(r"\w+").match
_rule_line = re.compile(r"(?:[-*_]{3,}[ \t]*\n\s*)?").match
_rule_so_far = re.compile(r"[-*_]+[ \t]*\n?").fullmatch


def announced(opening: Opening, at: int, final: bool) -> Decision | None:
    """A few short lines announce the rest, and then the unfinished line comes again."""
    held = opening.held
    begins = _may_begin(held, at, final)
    if not begins:
        return None if begins is None else NOTHING
    begin, apart = at, True
    for _ in range(_LINES):
        end = held.find("\n", begin)
        if end < 0:
            return NOTHING if final or len(held) - at > _PREAMBLE_CHARS else None
        if weight(held[at:end]) > _PREAMBLE_CHARS or _has_fence(held, at, end):
            return NOTHING
        rest = held[end:].lstrip()
        if not rest:
            return NOTHING if final else None
        next_ = held.rfind("\n", 0, len(held) - len(rest)) + 1
        paragraph = held.count("\n", end, next_) > 1
        words = _Words(held[at:end], apart, paragraph)
        decision = _said_behind(opening, words, next_, final)
        if decision is None or decision is not NOTHING:
            return decision
        begin, apart = next_, apart and paragraph
    return NOTHING


def _may_begin(held: str, at: int, final: bool) -> bool | None:
    """Whether a preamble may begin here; None: more of the text is needed."""
    first = held[at : at + 1]
    if not first:
        return False if final else None
    if first == "." and len(held) == at + 1 and not final:
        return None
    begins = not first.isdigit() and first not in _GOES_ON
    return begins or _ellipsis(held, at) is not None


class _Words:
    """The words of what may be a preamble.

    `apart`: whether there are blank lines between its lines; `paragraph`: whether one follows."""

    def __init__(self, text: str, apart: bool, paragraph: bool) -> None:
        self.bare = text.strip()
        opening_mark = _opening_mark(self.bare)
        self.sentence = self.bare[opening_mark.end() if opening_mark else 0 :].rstrip(_DECORATIONS)
        self.apart = apart
        self.paragraph = paragraph

    @property
    def colon(self) -> bool:
        """Whether they announce what follows."""
        return self.sentence.endswith(_COLONS)

    @property
    def stands_out(self) -> bool:
        """Whether they are in brackets of any kind, or begin with an ellipsis."""
        return bool(_enclosed(self.bare) or _ellipsis(self.bare))

    @property
    def stands_alone(self) -> bool:
        """Whether they are hardly the rest of a line."""
        if not self.apart:
            return False
        first, last = self.sentence[:1], self.sentence[-1:]
        begins = first.isupper() or first >= _EAST
        whole = begins and (self.colon or (last in _FULL_STOPS and " " in self.sentence))
        behind_paragraph = self.paragraph and _begins_words(self.bare) is not None
        return behind_paragraph or whole or self.stands_out

    @property
    def begins(self) -> bool:
        """Whether they begin as a sentence does, or stand out."""
        first = self.sentence[:1]
        return first.isupper() or first >= _EAST or self.stands_out


def _said_behind(opening: Opening, words: _Words, begin: int, final: bool) -> Decision | None:
    """Whether what was said comes again at `begin`, and the words before it are a preamble."""
    held, ending, sentence = opening.held, opening.ending, words.sentence
    if not sentence:
        return NOTHING
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
    paragraph = words.paragraph or bool(rule and rule[0])
    breaks_in = bool(rule and rule[0]) or _breaks_in(opening, sentence, paragraph)
    reopens = bool(after_fence) and words.apart and words.begins
    if not (reopens or words.stands_alone):
        return NOTHING
    begin = after_fence or begin
    said_again = repeated(opening, begin, final, Grade.LINE)
    if said_again is None or (said_again[0] == "diverged" and words.colon):
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
        tells = weight("".join(filter(str.isalnum, held[begin : begin + again]))) >= line_chars
        if not removed and tells and (shown or paragraph or breaks_in or after_fence):
            kind, removed = "line", begin + again
    if not removed:
        if info and info == open_info(opening):
            return "preamble", after_fence
        return NOTHING
    passage = held[begin:removed].lstrip()
    if not breaks_in and _goes_on_alike(opening, words.bare, passage, held[removed:]):
        return NOTHING
    if kind == "overlap":
        # One line, below another that ends in a colon, is said twice in code.
        one_line = "\n" not in passage and not paragraph and not after_fence
        alike_code = one_line and ending.follows_a_colon(len(passage))
        if alike_code or not ending.begins_line(len(passage)):
            return NOTHING
    breaks_in = breaks_in or _tears(opening, words, removed)
    if kind == "line" and not (shown or breaks_in or after_fence):
        # A sentence between two lines that are a label ("ANNA:") is what was said there.
        least = _LINE_WEIGHT_BEHIND_BRACKETS if words.stands_out else _ANNOUNCED_LINE_WEIGHT
        if not words.colon and (_is_label(passage) or weight(passage) < least):
            return NOTHING
        alike = ending.lines_alike(len(passage))
        if alike and not _is_new_here(alike, sentence, paragraph):
            return NOTHING
    return "preamble", removed


def _goes_on_alike(opening: Opening, words: str, passage: str, behind: str) -> bool:
    """Whether `words` are what the text itself goes on with: one more of its items, or the rest of
    a word that goes on so a second time."""
    if words[0] == passage[:1] and not words[0].isalnum():
        return True
    glued = not opening.trimmed and not opening.held[:1].isspace() and opening.said[-1].isalnum()
    return glued and words[0] == behind[:1] and not words[0].isupper()


def _is_label(passage: str) -> bool:
    """Whether it is a name before what is said: "ANNA:", "**Price**:"."""
    name = passage.strip("*_- \t")
    begins = name[:1].isupper() or name[:1] >= _EAST
    return begins and len(passage) < _LABEL_CHARS and passage.endswith(_COLONS)


def _tears(opening: Opening, words: _Words, removed: int) -> bool:
    """Whether `words` end a word at a mark that goes on behind the repetition: "nam" + "[more]",
    and then "nam" + "e"."""
    if opening.trimmed or opening.held[:1].isspace() or not in_word(opening.said[-1]):
        return False
    behind = opening.held[removed : removed + 1]
    return not in_word(words.bare[0]) and behind != "" and in_word(behind) and words.paragraph


def _breaks_in(opening: Opening, sentence: str, paragraph: bool) -> bool:
    """Whether `sentence` can hardly be what the unfinished line goes on with: a capital in the
    middle of a word, or another script."""
    last = opening.said[-1]
    glued = not opening.trimmed and not opening.held[:1].isspace()
    if glued and last.isalpha() and not last.isupper() and sentence[0].isupper():
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
