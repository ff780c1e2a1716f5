"""What the start of a continuation repeats: the last words, the unfinished line, or everything.

Each step (here, in `fence` and in `preamble`) reads the held part of the continuation and returns a
`Removal`: (kind, characters to remove), `NOTHING`, or None while more of the continuation is
needed.  None must take precedence over every later step, or the result would depend on the chunks.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, TypeAlias

from tenuto.core.seam.overlap import TextEnd
from tenuto.core.seam.passage import Grade
from tenuto.core.seam.restart import RESTART_CHARS, common, departs

__all__ = ["NOTHING", "Opening", "Removal", "repeated"]

Removal: TypeAlias = tuple[str, int]
NOTHING: Final[Removal] = ("exact", 0)
_SHOWN_LINE_CHARS: Final = 3


class Opening:
    """The start of a continuation, as far as it is held, and the text before it.

    `restarts`: whether a restart would prove something; `again`: the texts of earlier attempts, if
    this is not a continuation of them; `alive_at`: where in `held` a restart may have begun if more
    of the continuation is needed, otherwise -1; `broke_off`: whether all of it is held and it did
    not end by itself; `only_words`: whether more is needed only because the words so far may turn
    out to be a preamble, while nothing was repeated.
    """

    def __init__(
        self, before: str, trimmed: str, *, start: int, restarts: bool, again: tuple[str, ...] = ()
    ) -> None:
        self.before = before
        self.trimmed = trimmed
        self.start = start
        self.restarts = restarts
        self.again = again
        self.held = ""
        self.alive_at = -1
        self.broke_off = False
        self.only_words = False

    @cached_property
    def ending(self) -> TextEnd:
        """The end of the text. It costs half a millisecond, so it is only made if it is needed."""
        return TextEnd(self.before, self.trimmed)

    @property
    def at_line(self) -> bool:
        """Whether the continuation begins at the start of a line."""
        return "\n" in self.trimmed

    def departs(self, matched: int, *, at_line: bool) -> bool:
        """Return whether this is a restart that continues in other words after `matched`
        characters."""
        return departs(self.before, self.start, matched, at_line=at_line)


def repeated(opening: Opening, at: int, final: bool, least: Grade = Grade.SHOWN) -> Removal | None:
    """Return what to remove if the text is repeated, from its end, its last line or its
    beginning."""
    text = opening.held[at:]
    body = text.lstrip()
    gap = len(text) - len(body)
    if not body:
        return NOTHING if final else None
    restart_chars = _repeated_attempt(opening, body, final) if at == 0 else 0
    if restart_chars:
        return "restart", gap + restart_chars
    matched = 0
    if opening.restarts:
        matched = common(opening.before[opening.start : opening.start + len(body)], body)
        if opening.start + matched == len(opening.before):
            short = matched < RESTART_CHARS and "\n" not in body[:matched]
            return ("line" if short else "restart"), at + gap + matched
        if matched == len(body) and not final:
            opening.alive_at = at + gap
            return None
    if restart_chars is None:
        return None
    found = opening.ending.find(text, final=final, least=least)
    if found is None:
        return None
    if not found and gap:
        bare = opening.ending.find(
            body,
            final=final,
            least=Grade.OVERLAP if at == 0 else least,
            gap=text[:gap] if at == 0 else "",
        )
        if bare is None:
            return None
        found = bare and gap + bare
    if found:
        is_line = opening.ending.is_line(found) or opening.ending.is_line(found - gap)
        return ("line" if is_line else "overlap"), at + found
    if at == 0:
        line = _shown_line(opening, text, final)
        if line is None or line:
            return None if line is None else ("line", line)
    ended = opening.ending.ended_line_again(text, final=final, apart=at > 0)
    if ended is None:
        return None
    if ended:
        return "line", at + ended
    # A model that begins again does not begin with white space; repeated boilerplate does.
    if gap or not matched:
        return NOTHING
    if matched == len(body) and matched >= RESTART_CHARS:
        return "restart", len(opening.held)  # it was cut off before anything new came
    if not opening.departs(matched, at_line=opening.at_line or at > 0):
        return NOTHING
    # The last line is repeated, and lines are alike.
    return NOTHING if opening.ending.line_again(body, final=True) else ("diverged", 0)


def _repeated_attempt(opening: Opening, body: str, final: bool) -> int | None:
    """Return how much of `body` repeats the text of an earlier attempt: all of that text, up to the
    end of a word, with the white space after it; None while more is needed. Any length counts,
    since a model that was asked for something else begins anew, and not in the middle of a word."""
    waits = False
    for piece in opening.again:
        matched = common(piece[: len(body)], body)
        if matched == len(body) and not final:
            waits = True
        elif matched == len(piece):
            rest = body[matched : matched + 1]
            in_word = piece[-1].isalnum() and rest.isalnum()
            if not rest or rest.isspace() or not (in_word or opening.trimmed):
                return matched
    return None if waits else 0


def _shown_line(opening: Opening, text: str, final: bool) -> int | None:
    """Return how much of `text` repeats the unfinished line, if lines that begin alike show it."""
    line = opening.ending.line_again(text, final=final)
    if not line:
        return line
    passage = text[:line].strip()
    if len(passage) < _SHOWN_LINE_CHARS or not any(map(str.isalnum, passage)):
        return 0
    shown = opening.ending.shown(line, text, text[line:], final=final)
    return None if shown is None else line * shown
