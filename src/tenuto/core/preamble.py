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
from itertools import repeat
from typing import Final

from tenuto.core.fence import fence_at, fence_so_far, open_info
from tenuto.core.passage import Grade, in_word, weight
from tenuto.core.repetition import A_FEW, NOTHING, Decision, Opening, repeated

__all__ = ["announced"]

_PREAMBLE_CHARS: Final = 320
_GOES_ON_CHARS: Final = 72
_LINES: Final = 3
_ANNOUNCED_LINE_WEIGHT: Final = 6
_LINE_WEIGHT_BEHIND_BRACKETS: Final = 3
_EACH_LINE_WEIGHT: Final = 4
_EACH_SENTENCE_WEIGHT: Final = 3
_UNLIKELY_WEIGHT: Final = 9
_LEAST_WEIGHT: Final = 4
_LONG_WEIGHT: Final = 200
_LINE_CHARS: Final = 2  # letters and digits
_LABEL_CHARS: Final = 40
_NEAR_CHARS: Final = 60
_NEAR_TEXT_CHARS: Final = 2_000
_FULL_STOPS: Final = ".!?\u2026\u3002\uff01\uff1f"
_COLONS: Final = (":", "\uff1a")
_DECORATIONS: Final = "*_ \t"  # **Continued:**
_EAST: Final = "\u3041"  # from here on no capitals, and no spaces between words
# What a line goes on with, and no preamble begins with; an ellipsis is one.
_GOES_ON: Final = ",.:!?)]}&+|'\u2019\u201d\u3002\uff0c\u3001\uff1b\uff1a\uff09\u300d\u300f"
_SELDOM_BEGINS: Final = ";/%="

_ellipsis = re.compile("[.]{2,}|\u2026").match
_opening_mark = re.compile("[*_\u00a1\u00bf]+").match
_enclosed = re.compile(
    r"(?:\[[^\[\]]+\]|\([^()]+\)|<[^<>]+>|\{[^{}]+\}|\*[^*]+\*|\*{2}[^*]+\*{2}|_[^_]+_|-{2,}[^-]+-{2,}"
    r"|={2,}[^=]+={2,}|[\u2013\u2014].+[\u2013\u2014]"
    "|\u3010.+\u3011|\uff08.+\uff09|\u300c.+\u300d|\u3008.+\u3009|\u300a.+\u300b|\uff3b.+\uff3d)"
).fullmatch
# Words without brackets begin with a letter, a mark that Markdown knows, or one outside of ASCII.
_begins_words = re.compile(r"[^\W\d_]|[#>*_~\"-]|[^\x00-\x7f]").match
_is_fence = re.compile("[ \t]*(?:```|~~~)").match
_begins_marks = re.compile(r"[^\w\s]+").match
_first_word = re.compile(r"\w+").match
_is_rule = re.compile(r"([-*_=\u2014\u2500\u2501\u2550])(?:[ \t]*\1){2,}[ \t]*\n").match
_rule_so_far = re.compile(r"([-*_=\u2014\u2500\u2501\u2550])(?:[ \t]*\1)*[ \t]*\n?").fullmatch


def announced(opening: Opening, at: int, final: bool) -> Decision | None:
    """A few short lines announce the rest, and then the unfinished line comes again."""
    held = opening.held
    begins = _may_begin(opening, at, final)
    if not begins:
        return None if begins is None else NOTHING
    lines: list[str] = []
    begin, apart, broken = at, True, True
    while len(lines) < _LINES:
        end = held.find("\n", begin)
        if not lines and len(held[at : end if end >= 0 else None]) > _most_chars(opening, at):
            return NOTHING
        if end < 0:
            return NOTHING if final or len(held) - at > _PREAMBLE_CHARS else None
        line = held[begin:end].rstrip()
        if weight(held[at:end]) > _PREAMBLE_CHARS or _is_fence(line):
            return NOTHING
        rest = held[end:].lstrip()
        if not rest:
            return NOTHING if final else None
        next_ = held.rfind("\n", 0, len(held) - len(rest)) + 1
        rule = _is_rule(line + "\n") is not None
        if not rule:
            apart = apart and broken
            lines.append(line)
        broken = rule or held.count("\n", end, next_) > 1
        if not (rule and lines):  # a rule below words was looked behind with them
            words = _Words(lines or [line], apart, broken)
            decision = _said_behind(opening, words, next_, final)
            if decision is None or decision is not NOTHING:
                return decision
        elif begin > _PREAMBLE_CHARS + at:
            return NOTHING
        begin = next_
    return NOTHING


def _may_begin(opening: Opening, at: int, final: bool) -> bool | None:
    """Whether a preamble may begin here; None: more of the text is needed.

    Who begins a new message begins with no white space, while the rest of a text may."""
    held = opening.held
    first = held[at : at + 1]
    if not first:
        return False if final else None
    if at:
        return False
    if first.isdigit() and not at and not opening.trimmed and opening.said[-1].isdigit():
        return False  # the rest of a number
    if first == "." and len(held) == at + 1 and not final:
        return None
    return first not in _GOES_ON or _ellipsis(held, at) is not None


def _most_chars(opening: Opening, at: int) -> int:
    """Return how long the first line of a preamble may be, in characters.

    What goes on with a sentence that was cut in its middle begins with a small letter or a digit,
    as few preambles do, and shall not wait for long."""
    first, last = opening.held[at], opening.said[-1]
    in_sentence = "\n" not in opening.trimmed and (last.isalnum() or last in ",-")
    goes_on = in_sentence and not at and (first.islower() or first.isdigit())
    return _GOES_ON_CHARS if goes_on else _PREAMBLE_CHARS


class _Words:
    """The words of what may be a preamble, line by line.

    `apart`: whether there are blank lines between its lines; `paragraph`: whether one follows."""

    def __init__(self, lines: list[str], apart: bool, paragraph: bool) -> None:
        self.lines = lines
        self.bare = "\n".join(lines).strip()
        opening_mark = _opening_mark(self.bare)
        sentence = self.bare[opening_mark.end() if opening_mark else 0 :].rstrip(_DECORATIONS)
        self.sentence = sentence or self.bare
        self.apart = apart
        self.paragraph = paragraph

    @property
    def least_weight(self) -> int:
        """What the repeated line must say at least: more, the less these look like a preamble."""
        unlikely = self.is_unlikely or weight(self.bare) > _LONG_WEIGHT
        if self.apart:
            return _UNLIKELY_WEIGHT if unlikely else 0
        whole = all(map(_is_sentence, self.lines))
        least = (_EACH_SENTENCE_WEIGHT if whole else _EACH_LINE_WEIGHT) * len(self.lines)
        return least + (_UNLIKELY_WEIGHT if unlikely or not self.begins else 0)

    @property
    def is_unlikely(self) -> bool:
        """Whether they begin as the rest of a line may well do: with a digit or a stroke."""
        return self.bare[0].isdigit() or (self.bare[0] in _SELDOM_BEGINS and not self.stands_out)

    @property
    def are_lines(self) -> bool:
        """Whether they are several lines that may be a message's first: none is indented, and
        something parts the last from what follows."""
        if any(line[:1].isspace() for line in self.lines[1:]):
            return False
        return self.paragraph or self.colon

    @property
    def colon(self) -> bool:
        """Whether they announce what follows."""
        return self.sentence.endswith(_COLONS)

    @property
    def stands_out(self) -> bool:
        """Whether they are in brackets of any kind, or begin with an ellipsis."""
        return _stands_out(self.bare)

    @property
    def stands_alone(self) -> bool:
        """Whether they are hardly the rest of a line."""
        if not self.apart:
            return self.are_lines
        last = self.sentence[-1:]
        begins = _is_capital(self.sentence)
        whole = begins and (self.colon or (last in _FULL_STOPS and " " in self.sentence))
        behind_paragraph = self.paragraph and (
            self.is_unlikely or _begins_words(self.bare) is not None
        )
        return behind_paragraph or whole or self.stands_out

    @property
    def begins(self) -> bool:
        """Whether they begin as a sentence does, or stand out."""
        return _is_capital(self.sentence) or _stands_out(self.lines[0].strip())


def _is_capital(text: str) -> bool:
    """Whether a text begins with a capital, or in a script that has none."""
    first = text[:1]
    return first >= _EAST or (first.isalpha() and not first.islower())


def _is_sentence(line: str) -> bool:
    """Whether a line begins and ends as a sentence does."""
    return _is_capital(line) and line[-1:] in (*_FULL_STOPS, *_COLONS)


def _stands_out(text: str) -> bool:
    return bool(_enclosed(text) or _ellipsis(text))


def _said_behind(opening: Opening, words: _Words, begin: int, final: bool) -> Decision | None:
    """Whether what was said comes again at `begin`, and the words before it are a preamble."""
    held, ending, sentence = opening.held, opening.ending, words.sentence
    if not sentence:
        return NOTHING
    at_line = begin
    ruled = _behind_rules(held, begin, final)
    if ruled is None:
        return None
    words.paragraph = words.paragraph or ruled > begin
    paragraph, begin = words.paragraph, ruled
    # Where the unfinished line opens a fence, it is this line that comes again.
    opens = ending.mid_line and fence_so_far(opening.said, opening.said.rfind("\n") + 1)
    fence = (0, "") if opens else fence_at(opening, begin, final)
    if fence is None:
        return None
    after_fence, info = fence
    if after_fence:
        behind = _behind_rules(held, after_fence, final)
        if behind is None:
            return None
        begin = behind
    breaks_in = ruled > at_line or _breaks_in(opening, sentence, paragraph)
    reopens = bool(after_fence) and words.begins and not words.are_lines
    if not (reopens or words.stands_alone):
        return NOTHING
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
    if not words.apart and any(map(_begins_alike, words.lines[1:], repeat(passage))):
        return NOTHING
    least = words.least_weight
    if _is_other_script(opening, sentence):
        least = min(least, _LEAST_WEIGHT)
    if weight(passage) < least and not shown:
        return NOTHING
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
        if alike and not words.apart:
            return NOTHING
        if alike and not _is_new_here(alike, sentence, paragraph):
            return NOTHING
    return "preamble", removed


def _behind_rules(held: str, begin: int, final: bool) -> int | None:
    """Where the text goes on behind rules that may stand at `begin`; None: more is needed."""
    while True:
        body = held[begin:].lstrip()
        begin = max(begin, held.rfind("\n", 0, len(held) - len(body)) + 1)
        if _rule_so_far(held, begin) and not final:
            return None
        rule = _is_rule(held, begin)
        if rule is None:
            return begin
        begin = rule.end()


def _goes_on_alike(opening: Opening, words: str, passage: str, behind: str) -> bool:
    """Whether `words` are what the text itself goes on with: one more of its items, or the rest of
    a word that goes on so a second time."""
    mark = _marks(words)
    if mark and mark == _marks(passage):
        return True
    last = opening.said[-1]
    glued = not opening.trimmed and not opening.held[:1].isspace()
    if glued and not last.isalnum() and not words[0].isalnum():
        return last + words[0] in opening.said[-_NEAR_TEXT_CHARS:]
    return glued and last.isalnum() and words[0] == behind[:1] and not words[0].isupper()


def _begins_alike(line: str, other: str) -> bool:
    """Whether two lines begin with the same word or mark."""
    return line.split(None, 1)[0] == other.split(None, 1)[0]


def _marks(text: str) -> str:
    """The marks at the beginning of a text: "###" of "### Part 2"."""
    found = _begins_marks(text)
    return found[0] if found else ""


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
        known = opening.ending.goes_on_as_known(opening.held, final=True)
        return not known and (paragraph or " " in sentence)
    return _is_other_script(opening, sentence)


def _is_other_script(opening: Opening, sentence: str) -> bool:
    """Whether `sentence` begins in a script that the end of the text has not."""
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
