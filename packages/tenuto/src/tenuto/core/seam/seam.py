"""Join a continuation to the text before it, on a live stream.

Theory of operation
-------------------
A model that is asked to continue rarely continues exactly where it stopped. It repeats its last
words, its line or everything, announces what it is about to do, opens its code fence a second time,
and leaves out the white space in between.  `Seam` takes the continuation delta by delta, and
returns what is new.  It goes through four phases:

* MATCHING  the start of the continuation is held until it is clear what it is (`_decide`);
* FOLLOWING everything is repeated from the beginning: an index into `before`, nothing is held;
* SPACE     the white space at the seam is merged; if the continuation has nothing else, none of
            its white space is kept;
* FLOWING   every delta is forwarded unchanged.

A decision, once possible, stays the same whatever follows, so the result does not depend on how the
continuation was cut into deltas.  `overlap` says how much a repetition must prove.  In doubt, text
is kept.

After a prefill the seam is exact by contract, and only an echo of the whole prefill is removed:
whole bodies of llama.cpp and of Mistral repeat it (https://docs.mistral.ai/capabilities/
completion/prefix/), streams do not.

An attempt that broke off and only repeats adds nothing, after a prefill as after a hint (S3b). Text
that may become such a repetition is held until it differs.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Final

from tenuto.core.seam.beginnings import sounds_announcing
from tenuto.core.seam.fence import reopened
from tenuto.core.seam.preamble import announced, begins_announced
from tenuto.core.seam.repetition import NOTHING, Opening, Removal, repeated
from tenuto.core.seam.restart import HEAD_CHARS, RESTART_CHARS, common, is_periodic, is_varied
from tenuto.core.seam.white_space import merged

__all__ = ["Seam", "ends_cut", "join", "trailing_space"]

PARAGRAPH: Final = "\n\n"
"""Separates two texts that don't continue each other."""

_ECHO_CHARS: Final = 6
_WHOLE_CHARS: Final = 14  # if all of the text is repeated, to its end
_REPEATED_CHARS: Final = 4_096
"""A passage in these last characters may be repeated and break off (S3b)."""
_PLACES: Final = 32
_PERIODIC_CHARS: Final = 8
_ANNOUNCED_CHARS: Final = 4
_GOES_ON: Final = frozenset(("", *".,;:!?)]}…。，、！？"))
# A character that the limit cut: U+FFFD stands for bytes that are not text, and JSON can hold the
# first half of a surrogate pair by its escape.
_CUT: Final = frozenset("\ufffd" + "".join(map(chr, range(0xD800, 0xDC00))))
_CUT_CHARACTERS: Final = "".join(_CUT)


class _Phase(Enum):
    MATCHING = 0
    FOLLOWING = 1
    SPACE = 2
    FLOWING = 3
    DROPPED = 4


def trailing_space(text: str) -> tuple[str, str]:
    """Split `text` into what to send and the white space at its end.

    A character that the limit cut appears at the very end as U+FFFD, or as half of a surrogate
    pair. It belongs to neither part, since the continuation brings the whole character.

    >>> trailing_space("def f():\\n    ")
    ('def f():', '\\n    ')
    >>> trailing_space("caf\ufffd")
    ('caf', '')
    """
    whole = _uncut(text)
    trimmed = whole.rstrip()
    return trimmed, whole[len(trimmed) :]


def ends_cut(text: str) -> bool:
    """Return whether a text ends in a character that was cut, or may have been.

    >>> ends_cut("caf\ufffd"), ends_cut("A \\ud83d"), ends_cut("")
    (True, True, False)
    """
    return text[-1:] in _CUT


def _uncut(text: str) -> str:
    return text.rstrip(_CUT_CHARACTERS) if ends_cut(text) else text


def _whole_characters(before: str, trimmed: str) -> str:
    """Return `before` without a cut character at its end. Before white space, none can be cut."""
    return before if trimmed else _uncut(before)


def join(
    before: str,
    continuation: str,
    *,
    trimmed: str = "",
    delivered_trimmed: str = "",
    exact: bool = False,
    hold_chars: int = 2_000,
) -> str:
    """Return the whole text of `before`, `trimmed` and a whole continuation; parameters as for
    `Seam`.

    >>> join("The result is wor", "world.")
    'The result is world.'
    >>> join("book", "keeper")
    'bookkeeper'
    """
    seam = Seam(
        before,
        trimmed=trimmed,
        delivered_trimmed=delivered_trimmed,
        exact=exact,
        hold_chars=hold_chars,
    )
    rest = seam.feed(continuation) + seam.finish()
    return _whole_characters(before, trimmed) + delivered_trimmed + rest


class Seam:
    r"""The place where a continuation meets the text before it.

    `before` is the merged text as the request carried it, without white space at its end; `trimmed`
    is the white space that was left out there and is known to come next, and `delivered_trimmed`
    the start of it that the client has already.  `exact`: the text was sent as a prefill; `echoed`:
    to a provider that repeats every prefill, so that even one repeated letter is not new text.
    `again`: where in `before` each attempt began, if the request was for a call and not for more
    text. What was said from there to the next attempt or to the end then counts as a repetition,
    however short it is. `aside`: the text of an attempt that broke off, of which nothing was taken;
    where the same words come again, so does the white space before them. At most about `hold_chars`
    characters are held at any time.

    A character that the limit cut appears at the end of `before` as U+FFFD, or as half of a
    surrogate pair.  It is not compared.  The caller leaves it out of the request and does not
    deliver it (what was delivered cannot be taken back); the continuation brings the whole
    character.

    >>> seam = Seam("if found:\n    return", trimmed=" ")
    >>> seam.feed("    ret"), seam.feed("urn found"), seam.feed("\n")
    ('', ' found', '\n')
    >>> seam.kind, seam.new_chars, seam.is_passthrough
    ('line', 6, True)
    """

    def __init__(
        self,
        before: str,
        *,
        trimmed: str = "",
        delivered_trimmed: str = "",
        exact: bool = False,
        echoed: bool = False,
        again: Collection[int] = (),
        aside: str = "",
        hold_chars: int = 2_000,
    ) -> None:
        if trimmed.strip() or not trimmed.startswith(delivered_trimmed):
            raise ValueError("trimmed is white space, and delivered_trimmed is its start")
        self._before = _whole_characters(before, trimmed)
        self._start = len(self._before) - len(self._before.lstrip())
        self._trimmed = trimmed
        self._undelivered = trimmed[len(delivered_trimmed) :]
        self._exact = exact
        self._echoed = exact and echoed
        self._anew = bool(again)
        self._words = _uncut(aside).strip()[:RESTART_CHARS]
        self._lead = aside[: len(aside) - len(aside.lstrip())] if aside.strip() else ""
        self._hold_chars = hold_chars
        self._held = ""
        self._matched = 0  # characters of a restart that were followed and are not held
        self._given = 0
        self._restored = 0
        self._kind = "exact"
        head = self._before[self._start : self._start + HEAD_CHARS]
        restarts = self._echoed or is_varied(head, _ECHO_CHARS if exact else _WHOLE_CHARS)
        begins = sorted(again)
        ends = [*begins, len(self._before)][1:]
        pieces = {self._before[begin:].lstrip() for begin in begins}
        pieces |= {self._before[begin:end].strip() for begin, end in zip(begins, ends, strict=True)}
        pieces -= {""}
        self._opening = Opening(
            self._before, trimmed, start=self._start, restarts=restarts, again=tuple(pieces)
        )
        self._phase = _Phase.MATCHING if head else _Phase.SPACE

    @property
    def new_chars(self) -> int:
        """The number of new characters forwarded; restored white space does not count."""
        return self._given - self._restored

    @property
    def kind(self) -> str:
        """What the continuation began with.

        "exact": nothing was removed; "overlap", "line", "restart", "preamble", "fence"; "echo" of a
        prefill; "diverged": a restart in other words, of which nothing is forwarded, since it
        cannot be spliced (C28a).
        """
        return self._kind

    @property
    def repeats(self) -> bool | None:
        """Whether the continuation begins with a repetition or a preamble; None while that is
        open."""
        if self._phase is _Phase.MATCHING:
            return None
        return self._phase is _Phase.FOLLOWING or self._kind != "exact"

    @property
    def is_passthrough(self) -> bool:
        """Whether every delta is forwarded unchanged from now on."""
        return self._phase is _Phase.FLOWING

    def feed(self, delta: str) -> str:
        """Take the next delta; return the text that may go to the client now, perhaps ""."""
        if self._phase is not _Phase.FLOWING:
            delta = self._advance(delta) if delta else ""
        self._given += len(delta)
        return delta

    def finish(self, *, broke_off: bool = False, at_limit: bool = False) -> str:
        """End the attempt; return the held text that is new.

        `broke_off`: the attempt did not end by itself, so a mere repetition adds nothing (S3b)."""
        rest = ""
        if self._phase is _Phase.MATCHING and broke_off and self._may_be_open(at_limit):
            rest = self._remove(("echo", len(self._held)), "")
        elif self._phase is _Phase.MATCHING:
            self._opening.broke_off = broke_off
            decision = self._decide(final=True) or NOTHING
            may_repeat = broke_off or (self._echoed and decision is NOTHING)
            if may_repeat and self._repeats(self._held[decision[1] :], broke_off):
                decision = ("echo", len(self._held))
            rest = self._remove(decision, "")
        elif self._phase is _Phase.FOLLOWING:
            held = self._held + self._before[self._start : self._start + self._matched]
            repeats = broke_off or not self._exact
            if self._matched and (self._echoed or (broke_off and not self._exact)):
                # it broke off within the repetition
                rest = self._remove(("echo", len(held)), "", held)
            elif repeats and self._matched >= RESTART_CHARS:
                rest = self._remove(("echo" if self._exact else "restart", len(held)), "", held)
            else:
                rest = self._remove(NOTHING, "", held)
        if self._phase is not _Phase.FLOWING:
            words = self._held.lstrip()
            if words or self._exact or self._kind != "exact":
                rest += self._merged(self._held.removesuffix(words), words)
            else:  # white space alone continues nothing: the text is complete as it was
                rest += self._undelivered
                self._restored = len(self._undelivered)
            self._phase = _Phase.FLOWING
        self._given += len(rest)
        return rest

    def _may_be_open(self, at_limit: bool) -> bool:
        return self._begins_again if self._exact and at_limit else self._is_open(at_limit)

    @property
    def _begins_again(self) -> bool:
        """Whether the limit may have cut an echo of the prefill. If it was none, nothing is lost: a
        further attempt says it again."""
        body = _uncut(self._held).strip()
        again = len(body) >= _PERIODIC_CHARS and self._before.lstrip().startswith(body)
        return again and not is_periodic(body[:HEAD_CHARS])

    def _is_open(self, at_limit: bool) -> bool:
        """Return whether an attempt that broke off may yet have become a repetition, or began as
        preambles do. Nothing of it is new then: a further attempt says it again, whatever it was.

        A small output limit may cut every attempt after a few characters, so these count there, if
        they do not announce."""
        body = _uncut(self._held).strip()
        if self._exact or not body or self._decide(final=False) is not None:
            return False
        only_words, short = self._opening.only_words, len(self._before) < RESTART_CHARS
        least = _ANNOUNCED_CHARS if only_words else _PERIODIC_CHARS * short
        tells = begins_announced(self._opening)
        if at_limit and len(body) < least and not tells:
            return False
        if len(body) >= _PERIODIC_CHARS and is_periodic(body[:HEAD_CHARS]):
            return False  # it proves nothing, however it would have gone on
        return not only_words or tells or sounds_announcing(body)

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
            if self._opening.alive_at >= 0:
                self._matched = len(self._held) - self._opening.alive_at
                self._held = self._held[: self._opening.alive_at]
                self._phase = _Phase.FOLLOWING
                return self._follow(delta)
            decision = self._decide(final=True) or NOTHING
        return self._remove(decision, delta)

    def _decide(self, *, final: bool) -> Removal | None:
        """Return what the start of the continuation is; None while more of it is needed."""
        opening = self._opening
        opening.held = held = _uncut(self._held)
        opening.alive_at, opening.only_words = -1, False
        lead = len(held) - len(held.lstrip())
        if lead == len(held):
            return NOTHING if final else None
        if self._exact:
            decision = self._echo(lead, final)
            if decision is None or decision is not NOTHING:
                return decision
        else:
            for step, at in ((repeated, 0), (reopened, lead), (announced, lead)):
                decision = step(opening, at, final)
                if decision is None or decision is not NOTHING:
                    return decision
        return None if not final and self._may_repeat(held[lead:]) else NOTHING

    def _echo(self, lead: int, final: bool) -> Removal | None:
        """Return the removal of a whole prefill that is repeated at the start of the
        continuation."""
        body = self._held[lead:]
        left = len(self._before) - self._start
        if not self._opening.restarts or not self._before.startswith(body[:left], self._start):
            return NOTHING
        if len(body) >= left:
            return "echo", lead + left
        if final:
            return NOTHING
        self._opening.alive_at = lead
        return None

    def _may_repeat(self, body: str) -> bool:
        """Return whether this may become a mere repetition of earlier text."""
        at = self._before.find(body, -_REPEATED_CHARS)
        for _ in range(_PLACES):
            if at < 0:
                return False
            if is_varied(self._before[at : at + RESTART_CHARS], RESTART_CHARS):
                return True
            at = self._before.find(body, at + 1)
        return False

    def _repeats(self, text: str, broke_off: bool) -> bool:
        """Return whether this, to the end of the attempt, only repeats earlier text and adds
        nothing."""
        body = _uncut(text).strip()
        begins = self._before.startswith(body, self._start)
        if self._echoed and begins and body:
            return True
        within = begins or self._before.find(body, -_REPEATED_CHARS) >= 0
        return broke_off and within and is_varied(body[:HEAD_CHARS], RESTART_CHARS)

    def _remove(self, decision: Removal, delta: str, held: str | None = None) -> str:
        """Drop what was repeated, and continue with the rest of the held text and with `delta`."""
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
        """Move the index on through `before`; `_held` is what came before the restart."""
        if not self._matched:
            body = delta.lstrip()
            self._held += delta[: len(delta) - len(body)]
            delta = body
            if len(self._held) > self._hold_chars:
                return self._remove(NOTHING, delta)
        at = self._start + self._matched
        left = len(self._before) - at
        if len(delta) < left:
            if self._before.startswith(delta, at):
                self._matched += len(delta)
                return ""
        elif delta.startswith(self._before[at:]):
            self._held = ""
            return self._remove(("echo" if self._exact else "restart", left), "", delta)
        matched = self._matched + common(self._before[at:], delta)
        if not self._exact and self._opening.departs(matched, at_line=self._opening.at_line):
            return self._remove(("diverged", 0), "")
        held = self._held + self._before[self._start : at]
        return self._remove(NOTHING, delta, held)

    # SPACE

    def _space(self, text: str) -> str:
        """Merge the white space at the seam, once it is known."""
        text = self._held + text
        blank = len(text) - len(text.lstrip())
        most = max(len(self._trimmed), self._hold_chars)
        words = text[blank:]
        again = len(words) < len(self._words) and self._lead and self._words.startswith(words)
        if blank <= most and (not words or again):
            self._held = text
            return ""
        self._held = ""
        self._phase = _Phase.FLOWING
        blank = min(blank, most + 1)  # however much of it came at once
        return self._merged(text[:blank], text[blank:])

    def _repeats_aside(self, rest: str) -> bool:
        """Return whether this may be what the text that was put aside began with. Where that was a
        character that was cut, it was none of ASCII."""
        if not self._words:
            return rest[:1] > "\x7f"
        return rest.startswith(self._words) or (bool(rest) and self._words.startswith(rest))

    def _merged(self, blank: str, rest: str) -> str:
        given = len(self._trimmed) - len(self._undelivered)
        if self._repeats_aside(rest) and self._lead.endswith(blank):
            blank = self._lead
        has = self._trimmed[:given]
        space = merged(self._trimmed, blank, has)
        if not rest and blank and has.startswith(blank) and space == has + blank != self._trimmed:
            space = has  # it is no second line, and nothing follows
        self._restored = min(len(self._undelivered), len(space) - given)
        if self._anew and not space and self._kind == "exact" and rest[:1] not in _GOES_ON:
            space = PARAGRAPH
            self._restored = len(PARAGRAPH)
        return space[given:] + rest
