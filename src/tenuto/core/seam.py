"""Joining a continuation to what was said before it, on a live stream.

Theory of operation
-------------------
A model that is asked to go on seldom goes on exactly where it stopped: it says its last words
again, begins its line or everything again, announces what it is about to do, opens its code fence
a second time, and leaves out the white space in between.  `Seam` takes the continuation delta by
delta and gives out what is new.  It passes four phases:

* MATCHING  the start of the continuation is held until it is clear what it is (`_decide`);
* FOLLOWING everything comes again from the beginning: an index into `said`, nothing is held;
* SPACE     the white space at the seam is merged;
* FLOWING   every delta is handed on as it is.

A decision, once possible, stays the same whatever follows, so the result does not depend on how
the continuation was cut into deltas.  How much a repetition must prove is told in `overlap`.  In
doubt text is kept.

After a prefill the seam is exact by contract, and only an echo of the whole prefill is removed:
whole bodies of llama.cpp and of Mistral repeat it (https://docs.mistral.ai/capabilities/
completion/prefix/), streams do not.
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum
from typing import Final, Protocol

from tenuto.core.overlap import Ending, Grade, weight
from tenuto.core.runaway import suffix_borders

__all__ = ["AfterThought", "Joint", "Seam", "join", "trailing_space"]

_RESTART_CHARS: Final = 24
# From here on a restart that departs from what was said is one "in other words" (C28a). Lines of a
# log or a table may begin alike, so at the beginning of a line it takes more to tell.
_DIVERGED_CHARS: Final = 24
_DIVERGED_LINE_CHARS: Final = 80
_ECHO_CHARS: Final = 6
_DIFFERENT_CHARS: Final = 4
_PREAMBLE_CHARS: Final = 200
_ANNOUNCED_LINE_WEIGHT: Final = 6
_LINE_CHARS: Final = 2  # letters and digits
_SHOWN_LINE_CHARS: Final = 3
_A_FEW: Final = 2
_LABEL_CHARS: Final = 40
_NEAR_CHARS: Final = 60
_FULL_STOPS: Final = ".!\u2026\u3002\uff01"
_DECORATIONS: Final = "*_ \t"  # **Continued:**
_EAST: Final = "\u3041"  # from here on no capitals, and no spaces between words
# Periods are looked for in this many characters of the start.
_HEAD_CHARS: Final = 400
_CUT_CHARACTER: Final = "\ufffd"
_NOTHING: Final = ("exact", 0)

_first_word = re.compile(r"\w+").match
_decoration = re.compile("[*_\u00a1\u00bf]+").match
_fence_line = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n`]*\n").match
_fences = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([^\s`]*)([^\n`]*)$", re.MULTILINE).finditer
_fence_so_far = re.compile(r"[ \t]*(?:`{0,2}|~{0,2}|(?:`{3,}|~{3,})[^\n`]{0,60})").fullmatch
_rule_line = re.compile(r"(?:[-*_]{3,}[ \t]*\n\s*)?").match
_rule_so_far = re.compile(r"[-*_]+[ \t]*\n?").fullmatch


class _Phase(Enum):
    MATCHING = 0
    FOLLOWING = 1
    SPACE = 2
    FLOWING = 3
    DROPPED = 4


def trailing_space(text: str) -> tuple[str, str]:
    """Split `text` into what to send and the white space at its end.

    A multi-byte character that the limit cut shows as U+FFFD at the very end: it belongs to
    neither part, for the continuation brings the whole character.

    >>> trailing_space("def f():\\n    ")
    ('def f():', '\\n    ')
    >>> trailing_space("caf\ufffd")
    ('caf', '')
    """
    whole = text.rstrip(_CUT_CHARACTER)
    trimmed = whole.rstrip()
    return trimmed, whole[len(trimmed) :]


def join(
    said: str,
    continuation: str,
    *,
    trimmed: str = "",
    delivered_trimmed: str = "",
    exact: bool = False,
    hold_chars: int = 2_000,
) -> str:
    """The whole text, of `said`, `trimmed` and a whole continuation; parameters as for `Seam`.

    >>> join("The result is wor", "world.")
    'The result is world.'
    >>> join("book", "keeper")
    'bookkeeper'
    """
    seam = Seam(
        said,
        trimmed=trimmed,
        delivered_trimmed=delivered_trimmed,
        exact=exact,
        hold_chars=hold_chars,
    )
    rest = seam.feed(continuation) + seam.finish()
    return said.rstrip(_CUT_CHARACTER) + delivered_trimmed + rest


class Seam:
    r"""The place where a continuation meets what was said.

    `said` is the merged text as the request carried it, without white space at its end;
    `trimmed` the white space that was left out there, which is known to come next, and
    `delivered_trimmed` the start of it that the client has got already.  `exact`: the text was
    sent as a prefill.  At most about `hold_chars` characters are held at any time.

    A multi-byte character that the limit cut shows as U+FFFD at the end of `said`.  It is not
    compared.  The caller leaves it out of the request and does not deliver it (what was
    delivered cannot be taken back); the continuation brings the whole character.

    >>> seam = Seam("if found:\n    return", trimmed=" ")
    >>> seam.feed("    ret"), seam.feed("urn found"), seam.feed("\n")
    ('', ' found', '\n')
    >>> seam.kind, seam.new_chars, seam.settled
    ('line', 6, True)
    """

    __slots__ = (
        "_alive_at",
        "_at_line",
        "_ending",
        "_exact",
        "_given",
        "_held",
        "_hold_chars",
        "_kind",
        "_matched",
        "_owed",
        "_phase",
        "_restarts",
        "_restored",
        "_said",
        "_start",
        "_trimmed",
    )

    def __init__(
        self,
        said: str,
        *,
        trimmed: str = "",
        delivered_trimmed: str = "",
        exact: bool = False,
        hold_chars: int = 2_000,
    ) -> None:
        if trimmed.strip() or not trimmed.startswith(delivered_trimmed):
            raise ValueError("trimmed is white space, and delivered_trimmed is its start")
        self._said = said.rstrip(_CUT_CHARACTER)
        self._at_line = "\n" in trimmed
        self._start = len(self._said) - len(self._said.lstrip())
        self._trimmed = trimmed
        self._owed = trimmed[len(delivered_trimmed) :]
        self._exact = exact
        self._hold_chars = hold_chars
        self._ending: Ending | None = None  # costs half a millisecond, so not before it is needed
        self._held = ""
        self._alive_at = -1  # where in what is held a restart may have begun
        self._matched = 0  # characters of a restart that were followed and are not held
        self._given = 0
        self._restored = 0
        self._kind = "exact"
        head = self._said[self._start : self._start + _HEAD_CHARS]
        self._restarts = _is_varied(head, _ECHO_CHARS if exact else _RESTART_CHARS)
        if not head or (exact and not self._restarts):
            self._phase = _Phase.SPACE
        else:
            self._phase = _Phase.FOLLOWING if exact else _Phase.MATCHING

    @property
    def new_chars(self) -> int:
        """Characters given out that are new; white space that was restored does not count."""
        return self._given - self._restored

    @property
    def kind(self) -> str:
        """What the continuation began with.

        "exact": nothing was removed; "overlap", "line", "restart", "preamble", "fence"; "echo" of
        a prefill; "diverged": a restart in other words, of which nothing is given out, since it
        cannot be spliced (behaviour C28a).
        """
        return self._kind

    @property
    def settled(self) -> bool:
        """True once every delta is handed on as it is."""
        return self._phase is _Phase.FLOWING

    def feed(self, delta: str) -> str:
        """Take the next delta; give the text that can be handed to the client now, perhaps ""."""
        if self._phase is not _Phase.FLOWING:
            delta = self._advance(delta) if delta else ""
        self._given += len(delta)
        return delta

    def finish(self) -> str:
        """The attempt has ended: give what is still held and is new."""
        rest = ""
        if self._phase is _Phase.MATCHING:
            rest = self._settle(self._decide(final=True) or _NOTHING, "")
        elif self._phase is _Phase.FOLLOWING:
            held = self._held + self._said[self._start : self._start + self._matched]
            if not self._exact and self._matched >= _RESTART_CHARS:
                rest = self._settle(("restart", len(held)), "", held)
            else:
                rest = self._settle(_NOTHING, "", held)
        if self._phase is not _Phase.FLOWING:
            rest += self._merged(self._held, "")
            self._phase = _Phase.FLOWING
        self._given += len(rest)
        return rest

    def _advance(self, delta: str) -> str:
        if self._phase is _Phase.SPACE:
            return self._space(delta)
        if self._phase is _Phase.FOLLOWING:
            return self._follow(delta)
        if self._phase is not _Phase.MATCHING:
            return ""
        room = self._hold_chars - len(self._held)
        self._held += delta[:room]
        delta = delta[room:]
        decision = self._decide(final=False)
        if decision is None:
            if not delta:
                return ""
            if self._alive_at >= 0:
                self._matched = len(self._held) - self._alive_at
                self._held = self._held[: self._alive_at]
                self._phase = _Phase.FOLLOWING
                return self._follow(delta)
            decision = self._decide(final=True) or _NOTHING
        return self._settle(decision, delta)

    def _settle(self, decision: tuple[str, int], delta: str, held: str | None = None) -> str:
        """Drop what was repeated and go on with the rest of what is held, and with `delta`."""
        self._kind, removed = decision
        held = self._held if held is None else held
        self._held = ""
        if self._kind == "diverged":
            self._phase = _Phase.DROPPED
            return ""
        self._phase = _Phase.SPACE
        return self._space(held[removed:] + delta)

    # FOLLOWING

    def _follow(self, delta: str) -> str:
        """Move the index on through `said`; `_held` is what came before the restart."""
        if not self._matched:
            body = delta.lstrip()
            self._held += delta[: len(delta) - len(body)]
            delta = body
            if len(self._held) > self._hold_chars:
                return self._settle(_NOTHING, delta)
        at = self._start + self._matched
        left = len(self._said) - at
        if len(delta) < left:
            if self._said.startswith(delta, at):
                self._matched += len(delta)
                return ""
        elif delta.startswith(self._said[at:]):
            self._held = ""
            return self._settle(("echo" if self._exact else "restart", left), "", delta)
        matched = self._matched + _common(self._said[at:], delta)
        if not self._exact and self._departs(matched, at_line=self._at_line):
            return self._settle(("diverged", 0), "")
        held = self._held + self._said[self._start : at]
        return self._settle(_NOTHING, delta, held)

    def _departs(self, matched: int, *, at_line: bool) -> bool:
        """Whether this is a restart that goes on in other words after `matched` characters.

        All of it would be dropped, so a text whose lines begin alike (a log, a table, a list of
        files) must not be taken for one: its beginning is found in it a second time.
        """
        if matched < (_DIVERGED_LINE_CHARS if at_line else _DIVERGED_CHARS):
            return False
        begin = self._said[self._start : self._start + _DIVERGED_CHARS]
        return begin not in self._said[self._start + 1 :]

    # SPACE

    def _space(self, text: str) -> str:
        """Merge the white space at the seam, once it is known."""
        text = self._held + text
        rest = text.lstrip()
        if not rest and len(text) <= len(self._trimmed):
            self._held = text
            return ""
        self._held = ""
        self._phase = _Phase.FLOWING
        return self._merged(text[: len(text) - len(rest)], rest)

    def _merged(self, blank: str, rest: str) -> str:
        trimmed = self._trimmed
        breaks = trimmed.rfind("\n") + 1
        begun = blank[blank.rfind("\n") + 1 :]
        if blank.startswith(trimmed):
            whole = blank
        elif (
            breaks
            and blank.count("\n") < trimmed.count("\n")
            and len(begun) > len(trimmed) - breaks
            and begun.startswith(trimmed[breaks:])
        ):
            # The cut was in the indentation, which comes whole, and a line break was left out.
            whole = trimmed[:breaks] + begun
        elif trimmed.startswith(blank) or ("\n" in trimmed and trimmed.endswith(blank)):
            # The second: the model left the line break out and began with the indentation.
            whole = trimmed
        else:
            whole = trimmed + blank[_common(trimmed, blank) :]
        self._restored = len(self._owed)
        return whole[len(trimmed) - len(self._owed) :] + rest

    # MATCHING.  Each step gives (kind, characters to remove), _NOTHING, or None while more of the
    # continuation is needed.  None must win over every later step, else the result would depend
    # on the chunks.

    def _decide(self, *, final: bool) -> tuple[str, int] | None:
        held = self._held
        lead = len(held) - len(held.lstrip())
        self._alive_at = -1
        if lead == len(held):
            return _NOTHING if final else None
        if self._ending is None:
            self._ending = Ending(self._said, self._trimmed)
        for step in (self._repeated, self._reopened, self._announced):
            decision = step(self._ending, 0 if step == self._repeated else lead, final)
            if decision is None or decision is not _NOTHING:
                return decision
        return _NOTHING

    def _repeated(
        self, ending: Ending, at: int, final: bool, least: Grade = Grade.WORD
    ) -> tuple[str, int] | None:
        """What was said comes again, from the end, from its last line or from the beginning."""
        text = self._held[at:]
        body = text.lstrip()
        gap = len(text) - len(body)
        if not body:
            return _NOTHING if final else None
        matched = 0
        if self._restarts:
            matched = _common(self._said[self._start : self._start + len(body)], body)
            if self._start + matched == len(self._said):
                return "restart", at + gap + matched
            if matched == len(body) and not final:
                self._alive_at = at + gap
                return None
        found = ending.find(text, final=final, least=least)
        if found is None:
            return None
        if not found and gap:
            bare = ending.find(
                body,
                final=final,
                least=Grade.OVERLAP if at == 0 else least,
                gap=text[:gap] if at == 0 else "",
            )
            if bare is None:
                return None
            found = bare and gap + bare
        if found:
            is_line = ending.is_line(found) or ending.is_line(found - gap)
            return ("line" if is_line else "overlap"), at + found
        if at == 0:
            line = self._shown_line(ending, text, final)
            if line is None or line:
                return line and ("line", line)
        # Who begins again does not begin with white space; boilerplate that comes again does.
        if gap or not matched:
            return _NOTHING
        if matched == len(body) and matched >= _RESTART_CHARS:
            return "restart", len(self._held)  # and was cut off before anything new came
        if not self._departs(matched, at_line=self._at_line or at > 0):
            return _NOTHING
        # The last line comes again, and lines are alike.
        return _NOTHING if ending.line_again(body, final=True) else ("diverged", 0)

    def _shown_line(self, ending: Ending, text: str, final: bool) -> int | None:
        """How much of `text` is the unfinished line again, as lines that begin alike show."""
        line = ending.line_again(text, final=final)
        if not line:
            return line
        passage = text[:line].strip()
        if len(passage) < _SHOWN_LINE_CHARS or not any(map(str.isalnum, passage)):
            return 0
        shown = ending.shown(line, text, text[line:], least=_A_FEW, final=final)
        return None if shown is None else line * shown

    def _reopened(self, ending: Ending, at: int, final: bool) -> tuple[str, int] | None:
        """The code fence is opened again."""
        fence = self._fence_at(at, final)
        if fence is None:
            return None
        end, info = fence
        if not end:
            return _NOTHING
        open_info = self._open_info()
        least = Grade.STRONG if open_info is None else Grade.LINE
        repeated = self._repeated(ending, end, final, least)
        if repeated is None or repeated[0] == "diverged":
            return repeated
        if repeated[1]:
            return "fence", repeated[1]
        if open_info is not None:
            removed = ending.line_again(self._held[end:], final=final)
            if removed is None:
                return None
            if removed:
                return "fence", end + removed
        if info and (info == open_info or (open_info is not None and ending.mid_line)):
            return "fence", self._after_line(end)
        return _NOTHING

    def _announced(self, ending: Ending, at: int, final: bool) -> tuple[str, int] | None:
        """A short first paragraph announces the rest, and then the unfinished line comes again.

        The shape decides, not the words: a list of phrases knows only its own.
        """
        held = self._held
        decoration = _decoration(held, at)
        first = decoration.end() if decoration else at
        if first == len(held):
            return _NOTHING if final else None
        if not (held[first].isupper() or held[first] >= _EAST):
            return _NOTHING
        end = held.find("\n", at)
        if end < 0 and not final and len(held) - at <= _PREAMBLE_CHARS:
            return None
        sentence = held[first:end].rstrip(_DECORATIONS)
        if end < 0 or not sentence or weight(sentence) > _PREAMBLE_CHARS:
            return _NOTHING
        rest = held[end:].lstrip()
        if not rest:
            return _NOTHING if final else None
        begin = held.rfind("\n", 0, len(held) - len(rest)) + 1
        paragraph = held.count("\n", end, begin) > 1
        if _rule_so_far(held, begin) and not final:
            return None
        rule = _rule_line(held, begin)
        begin = rule.end() if rule else begin
        # Where the unfinished line opens a fence, it is this line that comes again.
        opens = ending.mid_line and _fence_so_far(self._said, self._said.rfind("\n") + 1)
        fence = (0, "") if opens else self._fence_at(begin, final)
        if fence is None:
            return None
        after_fence, info = fence
        colon = sentence[-1] in ":\uff1a"
        if not after_fence and not colon and not (paragraph and sentence[-1] in _FULL_STOPS):
            return _NOTHING
        breaks_in = bool(rule and rule[0]) or self._breaks_in(sentence, paragraph)
        begin = after_fence or begin
        repeated = self._repeated(ending, begin, final, Grade.LINE)
        if repeated is None or (repeated[0] == "diverged" and colon):
            return repeated
        kind, removed = repeated
        shown: bool | None = False
        if kind != "overlap":
            again = removed - begin if removed else ending.line_again(held[begin:], final=final)
            if again is None:
                return None
            if again:
                least = 1 if " " in sentence else _A_FEW
                shown = ending.shown(again, held, held[begin + again :], least=least, final=final)
                if shown is None:
                    return None
            line_chars = 1 if shown else _LINE_CHARS
            tells = sum(map(str.isalnum, held[begin : begin + again])) >= line_chars
            if not removed and tells and (shown or paragraph or breaks_in or after_fence):
                kind, removed = "line", begin + again
        if not removed:
            if info and info == self._open_info():
                return "preamble", self._after_line(after_fence)
            return _NOTHING
        passage = held[begin:removed].lstrip()
        if kind == "overlap":
            alike_code = not paragraph and not after_fence and ending.follows_a_colon(len(passage))
            if alike_code or not ending.begins_line(len(passage)):
                return _NOTHING
        if kind == "line" and not (shown or breaks_in or after_fence):
            # A sentence between two lines that are a label ("ANNA:") is what was said there.
            label = len(passage) < _LABEL_CHARS and passage.endswith((":", "\uff1a"))
            if not colon and (label or weight(passage) < _ANNOUNCED_LINE_WEIGHT):
                return _NOTHING
            alike = ending.lines_alike(len(passage))
            if alike and not _is_new_here(alike, sentence, paragraph):
                return _NOTHING
        return "preamble", removed

    def _breaks_in(self, sentence: str, paragraph: bool) -> bool:
        """Whether `sentence` can hardly be what the unfinished line goes on with: a capital in the
        middle of a word, or another script."""
        last = self._said[-1]
        if not self._trimmed and last.isalnum() and not last.isupper() and sentence[0].isupper():
            return paragraph or " " in sentence
        near = self._said[-_NEAR_CHARS:]
        first = _first_word(sentence)
        if first and _scripts(first[0]) - _scripts(near) - {"LATIN"}:
            return True
        return _is_east(near) and not _is_east(sentence)

    def _fence_at(self, at: int, final: bool) -> tuple[int, str] | None:
        """(End of the line that opens a code fence at `at`, its info string); (0, ""): none."""
        if found := _fence_line(self._held, at):
            return found.end(), found[2]
        if not final and _fence_so_far(self._held, at):
            return None
        return 0, ""

    def _after_line(self, end: int) -> int:
        """Keep the line break before `end` if it stands for one that was trimmed."""
        return end - 1 if self._trimmed.startswith("\n") else end

    def _open_info(self) -> str | None:
        """Info string of the code fence that is open at the end of `said`; None: none is open."""
        marker = ""
        info: str | None = None
        # A fence is open from the line behind it; the line itself may have been cut.
        lines = self._said if "\n" in self._trimmed else self._said.rpartition("\n")[0]
        for found in _fences(lines + "\n"):
            if not marker:
                marker, info = found[1], found[2]
            elif found[1].startswith(marker) and not found[3].strip() and not found[2]:
                marker, info = "", None
        return info


def _common(one: str, other: str) -> int:
    """Length of the common prefix, by halving: comparing slices is far faster than characters."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


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


def _is_varied(head: str, least_chars: int) -> bool:
    """Whether it proves anything that all of a text comes again that begins with `head`."""
    if len(head) < least_chars or len(set(head)) < _DIFFERENT_CHARS:
        return False
    period = len(head) - suffix_borders(head[::-1])[len(head)]
    return period * 2 > len(head)


class Joint(Protocol):
    """Where the text of an attempt is joined to what is kept."""

    @property
    def new_chars(self) -> int:
        """Characters that were given out and are new."""

    def feed(self, delta: str) -> str:
        """Text that may be handed on now."""

    def finish(self) -> str:
        """The rest, at the end of the attempt."""


class AfterThought:
    """The joint behind a think block that ended without an answer: the block is closed, and the
    answer follows.

    `owed` is what was said but not yet handed on, with what closes the block.

    >>> joint = AfterThought("</think>")
    >>> joint.feed("") + joint.feed("Yes."), joint.new_chars
    ('</think>Yes.', 4)
    """

    def __init__(self, owed: str) -> None:
        self._owed = owed
        self.new_chars = 0

    def feed(self, delta: str) -> str:
        """The delta, behind what was owed."""
        if not delta:
            return ""
        owed, self._owed = self._owed, ""
        self.new_chars += len(delta)
        return owed + delta

    def finish(self) -> str:
        """Nothing: without an answer the block stays as it came."""
        return ""
