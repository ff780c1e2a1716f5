"""A continuation that is wrapped: with a think block before it, or a code fence around it.

Theory of operation
-------------------
A model that is asked to continue may treat that as a new question. If it reasons inside its text,
it reasons again. If its output constraint had to be lifted, it may put the rest of a document into
a code fence. Neither is part of the answer, and no seam looks for them.

*A think block* is removed if the text, apart from its own think blocks, has no such tag, so that
the block can't be part of it.

*A fence* is only removed from JSON, where it can't be part of the text: strings have no line
breaks, and there are no fences outside strings. The closing fence and everything after it are
removed if the document is complete by then. In doubt, text is kept, as at every seam.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from tenuto.core.answer.arguments import ArgumentTracker, Finding
from tenuto.core.answer.response import leading_thought
from tenuto.core.seam.stitcher import Stitcher

__all__ = ["Unwrapper"]

_TAGS: Final = ("<think>", "<thinking>")
_HOLD_CHARS: Final = 2_000

_INFO = r"(?:`{3,}|~{3,})[\w+-]{0,20}[ \t]{0,8}"
_ANNOUNCEMENT = r"[^\n\"`~{}\[\]]{0,200}"
_opening = re.compile(rf"\s*(?:{_ANNOUNCEMENT}:[ \t]{{0,8}}\n\s*)?{_INFO}\n").match
_opening_so_far = re.compile(
    rf"\s*(?:{_ANNOUNCEMENT}(?::[ \t]{{0,8}}\n\s*)?)?(?:`{{0,2}}|~{{0,2}}|{_INFO})"
).fullmatch
_closing = re.compile(r"\n[ \t]{0,40}(?:`{3}|~{3})").search
_closing_so_far = re.compile(r"\n[ \t]{0,40}(?:`{0,2}|~{0,2})\Z").search


class Unwrapper:
    r"""Stitches a continuation that may be wrapped.

    Args:
        stitcher: joins the unwrapped text to the text before it.
        before: all of the text before it.
        thinks: False if no think block can come, as after a prefill.
        document: whether `before` is the beginning of a JSON document.

    >>> from tenuto.core.seam.seam import Seam
    >>> thought = Unwrapper(Seam("The result is wor"), "The result is wor")
    >>> thought.feed("<think>Go on.</th") + thought.feed("ink>\n\nld.") + thought.finish()
    'ld.'
    >>> fenced = Unwrapper(Seam('{"a": "x'), '{"a": "x', document=True)
    >>> fenced.feed('```json\ny", "b": ') + fenced.feed("1}\n```") + fenced.finish()
    'y", "b": 1}'
    """

    def __init__(
        self, stitcher: Stitcher, before: str, *, thinks: bool = True, document: bool = False
    ) -> None:
        bare = before[leading_thought(before) :].lstrip()
        self._stitcher = stitcher
        self._held = ""
        self._closing_tag = ""
        self._document = ArgumentTracker() if document and bare[:1] in ("{", "[") else None
        if self._document is not None:
            self._document.feed(bare)
        self._bare: Callable[[str], str] = self._flow if self._document is None else self._fence
        named = any(tag in bare for tag in _TAGS)
        self._step: Callable[[str], str] = self._tag if thinks and not named else self._bare

    @property
    def new_chars(self) -> int:
        """The number of new characters forwarded so far."""
        return self._stitcher.new_chars

    def feed(self, delta: str) -> str:
        """Add text; return what may be forwarded now."""
        text, self._held = self._held + delta, ""
        return self._step(text) if text else ""

    def finish(self, *, broke_off: bool = False, at_limit: bool = False) -> str:
        """Return the rest, at the end of the attempt."""
        held, self._held = self._held, ""
        if self._step == self._closed:
            return self._behind_fence(held, broke_off, at_limit)
        if self._step == self._thought:
            held = ""
        return self._flow(held) + self._stitcher.finish(broke_off=broke_off, at_limit=at_limit)

    def _behind_fence(self, held: str, broke_off: bool, at_limit: bool) -> str:
        rest = self._stitcher.finish(broke_off=broke_off, at_limit=at_limit)
        if self._document is not None:
            self._document.feed(rest)
            if self._document.finding is Finding.WHOLE:
                return rest
        return rest + self._stitcher.feed(held)

    # Each step takes text that was not forwarded yet, and names the step that takes the rest.

    def _tag(self, text: str) -> str:
        bare = text.lstrip()
        for tag in _TAGS:
            if bare.startswith(tag):
                self._closing_tag = f"</{tag[1:]}"
                return self._go_on(self._thought, bare[len(tag) :])
        if len(text) <= _HOLD_CHARS and any(tag.startswith(bare) for tag in _TAGS):
            return self._hold(text)
        return self._go_on(self._bare, text)

    def _thought(self, text: str) -> str:
        _, tag, rest = text.partition(self._closing_tag)
        if not tag:
            return self._hold(text[1 - len(self._closing_tag) :])
        return self._go_on(self._after_thought, rest)

    def _after_thought(self, text: str) -> str:
        bare = text.lstrip()
        return self._go_on(self._bare, bare) if bare else ""

    def _fence(self, text: str) -> str:
        if found := _opening(text):
            return self._go_on(self._inside, text[found.end() :])
        if len(text) <= _HOLD_CHARS and _opening_so_far(text):
            return self._hold(text)
        return self._go_on(self._inside, text)

    def _inside(self, text: str) -> str:
        if found := _closing(text):
            given = self._flow(text[: found.start()])
            return given + self._go_on(self._closed, text[found.start() :])
        found = _closing_so_far(text)
        end = found.start() if found else len(text)
        self._hold(text[end:])
        return self._flow(text[:end])

    def _closed(self, text: str) -> str:
        return self._hold(text) if len(text) <= _HOLD_CHARS else self._go_on(self._flow, text)

    def _flow(self, text: str) -> str:
        given = self._stitcher.feed(text)
        if self._document is not None:
            self._document.feed(given)
        return given

    def _hold(self, text: str) -> str:
        self._held = text
        return ""

    def _go_on(self, step: Callable[[str], str], text: str) -> str:
        self._step = step
        return step(text) if text else ""
