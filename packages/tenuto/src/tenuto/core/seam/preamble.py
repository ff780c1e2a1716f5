"""A preamble: a few short lines before a continuation repeats the text.

A list of phrases would only find its own phrases, and a list of shapes only its own shapes.  So the
search is for places where the end of the text is repeated from the start of a line.  What comes
before is weighed there (`evidence`): how much is repeated, how different the words are from the
text, and what separates them from the repetition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tenuto.core.seam.announcements import announcement_ends, is_announcement
from tenuto.core.seam.beginnings import may_announce
from tenuto.core.seam.evidence import BEHIND_CHARS, COLONS, Preamble
from tenuto.core.seam.fence import open_info, reopened
from tenuto.core.seam.passage import Grade
from tenuto.core.seam.repetition import NOTHING, Opening, Removal, repeated
from tenuto.core.seam.restart import RESTART_CHARS, common

__all__ = ["announced", "begins_announced", "places"]

_PREAMBLE_CHARS: Final = 320
_FIRST_LINE_CHARS: Final = 150  # the longest of 587 has 143
_GOES_ON_CHARS: Final = 72
_ENDS_SENTENCE: Final = frozenset(
    ".!?:\u2026\u3002\uff01\uff1f\uff1a\"')]}\u201d\u2019\u300d\u300f\uff09"
)
_LINES: Final = 3
_TWO_TELL: Final = tuple(".!?'")  # the character after one of these shows how a text begins
_INDENTATION: Final = " \t\u3000"
# Marks with which a line continues, and no preamble begins. A preamble may begin with an ellipsis,
# or with a comment mark that is doubled or stands apart.
_goes_on_mark = re.compile(
    r"[,:)\]}&+\u2019\u201d\u3002\uff0c\u3001\uff1b\uff1a\uff09\u300d\u300f]|[.!?](?![.!])|'(?=\w)"
).match
_fence = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*").fullmatch
_is_rule = re.compile(r"[ \t]*([-*_=\u2014\u2500\u2501\u2550])(?:[ \t]*\1){2,}[ \t]*").fullmatch


def announced(opening: Opening, at: int, final: bool) -> Removal | None:
    """Return what to remove if a few short lines announce the rest, and a repetition follows.

    A new message begins without white space, while the rest of a text may begin with some."""
    if not at and opening.held in _TWO_TELL and not final:
        return None
    if at or _goes_on(opening) or not _most_chars(opening):
        return NOTHING
    on_its_line = _on_its_line(opening, final)
    if on_its_line is not NOTHING:
        return on_its_line
    for found in places(opening, final):
        if not isinstance(found, Preamble):
            return found
        if found.log_odds > 0:
            return "preamble", found.end
    return _without_echo(opening, final)


def begins_announced(opening: Opening) -> bool:
    """Return whether a continuation begins with words that only announce the rest."""
    return next(_behind_announcements(opening), None) is not None


def _behind_announcements(opening: Opening) -> Iterator[int]:
    """Yield where the text may begin behind words that announce it, on their line or behind it."""
    held, most = opening.held, _most_chars(opening)
    line = held.partition("\n")[0]
    torn = not opening.trimmed and opening.before[-1].isalpha() and held[0].isupper()
    yield from announcement_ends(line[:most], torn=torn)


def _on_its_line(opening: Opening, final: bool) -> Removal | None:
    """Return what to remove if words announce the rest, and a repetition follows on their line."""
    for begin in _behind_announcements(opening):
        if opening.held[begin : begin + 1] == "\n":
            continue
        found = repeated(opening, begin, final, Grade.LINE)
        if found is None or found[0] == "diverged":
            return found
        if found[1]:
            return "preamble", found[1]
    return NOTHING


def _without_echo(opening: Opening, final: bool) -> Removal | None:
    """Return what to remove if the text was cut within a line, and the first line of the
    continuation only announces the rest. Behind it, the text goes on, or repeats what it likes."""
    held = opening.held
    line, broken, behind = held.partition("\n")
    if not broken or len(line) > _most_chars(opening) or not _is_within_line(opening):
        return NOTHING
    body = behind.lstrip("\n")
    if not body.strip():
        return NOTHING if final else None
    if not is_announcement(line, apart=len(body) < len(behind)):
        return NOTHING
    begin = len(held) - len(body)
    again = _repeated_attempt(opening, begin, final, announced=True)
    if again is None or isinstance(again, tuple):
        return again
    if again:
        return "preamble", again
    for step in (repeated, reopened):
        found = step(opening, begin, final)
        if found is None or found[0] == "diverged":
            return found
        if found[1]:
            return "preamble", found[1]
    return "preamble", begin


def _is_within_line(opening: Opening) -> bool:
    """Return whether the text was cut within a line, and not where a sentence ends."""
    return "\n" not in opening.trimmed and opening.before[-1] not in _ENDS_SENTENCE


def places(opening: Opening, final: bool) -> Iterator[Preamble | Removal | None]:
    """Yield the places where the text is repeated after a few short lines.

    Yields a `Removal` if nothing needs to be weighed. A final None means that more text is
    needed."""
    held = opening.held
    lines: list[str] = []  # the words
    mark = ""  # a rule or a fence, if there are no words before it
    separators: set[str] = set()
    closed = False  # by a fence before any words: what follows may be text of its own
    begin = 0
    while True:
        end = held.find("\n", begin)
        if end < 0:
            if not final and len(held) <= (_PREAMBLE_CHARS if begin else _most_chars(opening)):
                opening.only_words = True
                yield None
            return
        if not begin and end > _most_chars(opening):
            return  # it was forwarded before its end came
        line = held[begin:end].rstrip()
        if not begin and _ends_fence(opening, line):
            return
        fence = _fence(line)
        if fence or _is_rule(line):
            if lines or mark:
                separators.add("fence" if fence else "rule")
            mark = mark or line
            closed = closed or bool(fence and not lines and not fence[1])
        elif line:
            lines.append(line)
            separators.clear()
        else:
            separators.add("blank")
        if end > _PREAMBLE_CHARS or len(lines) > _LINES:
            return
        begin = end + 1
        if fence and lines and not fence[1] and open_info(opening) is not None:
            return  # the text closes its code block
        again = _repeated_attempt(opening, begin, final, announced=_announces(lines))
        if again is None or isinstance(again, tuple):
            yield again
            return
        if again and len(held) < again + BEHIND_CHARS and not final:
            yield None
            return
        if again:
            yield Preamble(
                opening,
                lines=lines or [mark],
                separators=separators,
                begin=begin,
                end=again,
            )
        elif fence and lines and fence[1] and fence[1] == open_info(opening):
            if not closed or _announces(lines):
                yield "preamble", begin
            return


def _ends_fence(opening: Opening, line: str) -> bool:
    """Return whether a first line is the rest of a fence that was cut."""
    begun = opening.before.rpartition("\n")[2]
    is_begun = not opening.trimmed and begun.strip()[:1] in ("`", "~")
    return is_begun and line[:1] == begun[-1] and _fence(begun + line) is not None


def _goes_on(opening: Opening) -> bool:
    """Return whether the continuation begins as only the rest of a line or of a number does."""
    held, last = opening.held, opening.before[-1]
    number = held[0].isdigit() and last.isdigit() and not opening.trimmed
    return number or _goes_on_mark(held) is not None


def _most_chars(opening: Opening) -> int:
    """Return how long the first line of a preamble may be, in characters; 0 if the continuation
    begins with none.

    The rest of a sentence that was cut begins with a lower-case letter, a digit, or a letter of a
    script without capitals, as few preambles do (`beginnings`). It should not wait."""
    first, last = opening.held[0], opening.before[-1]
    goes_on = first.islower() or (
        first.isalnum() and not first.isupper() and last not in _ENDS_SENTENCE
    )
    if "\n" in opening.trimmed or not goes_on:
        return _FIRST_LINE_CHARS
    return _GOES_ON_CHARS if may_announce(opening.held) else 0


def _announces(lines: list[str]) -> bool:
    return bool(lines) and lines[-1].endswith(COLONS)


def _repeated_attempt(
    opening: Opening, begin: int, final: bool, *, announced: bool
) -> int | Removal | None:
    """Return where a repetition ends that begins with the line at `begin`. It may repeat the end of
    the text from the start of a line, or all of the text.

    0: there is none; None: more text is needed (never if `final`)."""
    held, before = opening.held, opening.before
    body = held[begin:].lstrip(_INDENTATION)
    begin = len(held) - len(body)
    if not body:
        return 0 if final else None
    matched = 0
    if opening.restarts:
        matched = common(before[opening.start : opening.start + len(body)], body)
        if opening.start + matched == len(before):
            return begin + matched
        if matched == len(body) and not final:
            opening.alive_at = begin
            return None
    for passage in opening.ending.passages:
        if body.startswith(passage):
            goes_on = _goes_on_behind(opening.trimmed, body[len(passage) :], final)
            if goes_on is None:
                return None
            if goes_on:
                return begin + len(passage)
        elif passage.startswith(body):
            if not final:
                return None
            if opening.broke_off and len(body) >= RESTART_CHARS:
                return len(held)  # it adds nothing (S3b)
    if announced and opening.departs(matched, at_line=True):
        return "diverged", 0
    return 0


def _goes_on_behind(blank: str, behind: str, final: bool) -> bool | None:
    """Return whether the white space that is known to follow comes after a repetition; None if the
    text is too short to tell."""
    if not blank:
        return True
    if "\n" in blank:
        behind = behind.lstrip(_INDENTATION)
        return behind[0] == "\n" if behind else (True if final else None)
    return behind[0].isspace() if behind else (True if final else None)
