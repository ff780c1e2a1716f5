"""Events that are alike: what nearly every event of a stream is, read without decoding it.

A stream says its text in events that differ in little but one string. An event with the same bytes
around that string as one before it says the same, with that string: what was read of the first one
holds for all. Besides the text there are holes for what tells nothing of it: numbers that count on
from event to event, as far as the wire does not look at them, and what providers pad their events
with against eavesdroppers: Anthropic adds spaces before the last brace, Bedrock and Mistral a
member `p`, OpenAI a member `obfuscation`
(https://platform.openai.com/docs/api-reference/chat/create, `include_obfuscation`).
Where text and reasoning alternate, each has a template of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tenuto.core.signals import ReasoningDelta, TextDelta
from tenuto.frames.frame import Frame

Flowing = TextDelta | ReasoningDelta

_ENDS = (b"\n\n", b"\r\n\r\n", b"\n", b"")
"""What stands behind the data of a frame: of an event, a line, an element."""


_MOST_KNOWN = 4
"""Templates that are kept of one stream."""

_PROBE, _PROBE_NUMBERS = "tenuto ∆ probe", (b"1", b"90071992")
_PROBE_LITERAL = f'"{_PROBE}"'.encode()
_numbers = re.compile(rb"(?<=[:,\[ ])\d+(?=[,}\]])").finditer
_padding = re.compile(rb'"(?:obfuscation|p)": ?"([a-zA-Z0-9]*)"').search
_decode_text = msgspec.json.Decoder(str).decode


_Hole = tuple[int, int, Callable[[bytes], bool] | None]
"""Where in an event something may differ, and what may stand there; None: the text."""


@dataclass(frozen=True, slots=True)
class FrameTemplate:
    """How events look that are alike. Streams share it, in threads of their own.

    Attributes:
        kind: what the texts are, those of the answer or reasoning.
        counts: whether the events tell the usage so far.
        counting: whether numbers differ from event to event.
        plain: whether an event says a text of the answer and nothing else.
        data_at: where in an event its data stands.
        head, tail: what stands before the text and behind it, with the quotes.
        head_at, tail_at, text_at: where these stand, and the text in its quotes.
        first, rest: the same cut at every hole: the first piece, then how a hole may be filled
            (None: with the text) and the piece behind it.
    """

    kind: type[Flowing]
    counts: bool
    counting: bool
    plain: bool
    data_at: slice
    head: bytes
    tail: bytes
    head_at: slice
    tail_at: slice
    text_at: slice
    first: bytes
    rest: Sequence[tuple[Callable[[bytes], bool] | None, bytes]]

    def __len__(self) -> int:
        return len(self.head) + len(self.tail)

    def filled(self, raw: bytes) -> bytes:
        """The text in its quotes of an event that differs in other holes as well, else b""."""
        head = self.first
        if raw[: len(head)] != head:
            return b""
        rest, literal = raw[len(head) :], b""
        for fits, piece in self.rest:
            # A text may hold the piece itself: what follows it then differs.
            filling, found, rest = rest.partition(piece)
            if not found:
                return b""
            if fits is None:
                literal = b'"%b"' % filling
            elif not fits(filling):
                return b""
        return b"" if rest else literal


NO_TEMPLATE = FrameTemplate(
    kind=TextDelta,
    counts=False,
    counting=False,
    plain=True,
    data_at=slice(0),
    head=b"\n",  # no event begins so
    tail=b"\n",
    head_at=slice(1),
    tail_at=slice(-1, None),
    text_at=slice(0),
    first=b"\n",
    rest=(),
)
"""Before anything was learned: nothing is like it."""

Templates = dict[Callable[..., Any], Sequence[FrameTemplate]]
"""By the wire's own reading: what says the same to one says something else to another."""


class TemplateMatcher:
    """Reads events that are like one that it has seen.

    Args:
        read: the wire's own reading of the data of an event that carries one text and no more.
        running_usage: what stands in events that tell the usage so far; b"" where none does.
        known: what another stream of the wire has taught: who reads it is the same.

    Attributes:
        template: what the last event that was alike was like, or what was learned since.
        known: what was learned, the last first.
        missed: how many events carried a text and were like none before them. The first teaches,
            the second, the fourth, the eighth: who writes each event in another way is learned from
            ever less often.
        unlike: the last that is not alike, so that it need not be asked about again.

    >>> def read(data):
    ...     return TextDelta(msgspec.json.decode(data)["say"])
    >>> matcher = TemplateMatcher(read)
    >>> matcher.learn(Frame(b'data: {"say":"Hi"}\\n\\n', b'{"say":"Hi"}'), TextDelta("Hi"))
    >>> matcher.text(b'data: {"say":" the river"}\\n\\n'), matcher.text(b'data: {"end":"Hi"}\\n\\n')
    (' the river', None)
    """

    def __init__(
        self,
        read: Callable[[bytes], Flowing | None],
        running_usage: bytes = b"",
        known: Sequence[FrameTemplate] = (),
    ) -> None:
        self._read = read
        self._running_usage = running_usage
        self.known: Sequence[FrameTemplate] = known
        self.template: FrameTemplate = known[0] if known else NO_TEMPLATE
        self.missed: int = 0
        self.unlike: bytes = b""
        self._counted: list[bytes] = []
        self._vary: set[int] = set()

    def learn(self, event: Frame, signal: Flowing) -> None:
        """Take an event that carried just this signal as the template for those to come."""
        text, raw, data = signal.text, event.raw, event.data or b""
        if not text:
            return
        self.missed += 1
        if self.missed & (self.missed - 1):
            return
        literal = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
        if literal not in raw:
            literal = json.dumps(text).encode()
        before, found, end = raw.rpartition(data)
        if (
            not found
            or raw.count(literal) != 1
            or end not in _ENDS
            or not event.terminated
            or (len(end) > 1 and b"\r" in before)
            or event.name == "error"
        ):
            return
        at = raw.index(literal)
        numbers = [n for n in _numbers(raw) if n.end() <= at or n.start() >= at + len(literal)]
        self._note_numbers([n[0] for n in numbers])
        varying = [numbers[n].span() for n in sorted(self._vary)]
        if varying and not self._reads(raw, data, at, len(literal), signal, varying):
            varying = []
        if not varying and not self._reads(raw, data, at, len(literal), signal, []):
            return
        counts = bool(self._running_usage) and self._running_usage in data
        self.template = FrameTemplate(
            kind=type(signal),
            counts=counts,
            plain=type(signal) is TextDelta and not counts,
            counting=bool(varying),
            data_at=slice(raw.rindex(data), -len(end) or None),
            **_cut(raw, at, at + len(literal), len(raw) - len(end), varying),
        )
        self.known = (self.template, *self.known[: _MOST_KNOWN - 1])

    def _note_numbers(self, found: list[bytes]) -> None:
        """Note which numbers have not always been the same; where there are more or fewer of them,
        it begins anew."""
        if len(found) != len(self._counted):
            self._vary = set()
        else:
            pairs = zip(found, self._counted, strict=True)
            self._vary |= {n for n, (new, old) in enumerate(pairs) if new != old}
        self._counted = found

    def _reads(
        self,
        raw: bytes,
        data: bytes,
        at: int,
        length: int,
        signal: Flowing,
        varying: list[tuple[int, int]],
    ) -> bool:
        """Whether this string is what the wire read, and may be any other, and the numbers too."""
        begins = raw.rindex(data)
        for number in _PROBE_NUMBERS if varying else _PROBE_NUMBERS[:1]:
            probed = data
            places = [(at, at + length, _PROBE_LITERAL), *((*n, number) for n in varying)]
            for start, end, probe in sorted(places, reverse=True):
                probed = probed[: start - begins] + probe + probed[end - begins :]
            if self._read(probed) != type(signal)(_PROBE):
                return False
        return True

    def text(self, raw: bytes) -> str | None:
        """The text of a piece of the stream that is one event like the one learned, else None."""
        like = self.template
        if raw[like.head_at] == like.head and raw[like.tail_at] == like.tail:
            literal = raw[like.text_at]
        else:
            literal = like.filled(raw) or self._filled_another(raw)
        if literal:
            try:
                if text := _decode_text(literal):  # refuses what is not one string
                    return text
            except (msgspec.DecodeError, UnicodeDecodeError):
                pass
        self.unlike = raw
        return None

    def _filled_another(self, raw: bytes) -> bytes:
        """The text in its quotes of an event that is like one of those before the last."""
        for like in self.known:
            if like is not self.template and (literal := like.filled(raw)):
                self.template = like
                return literal
        return b""


def _cut(
    raw: bytes, at: int, ends: int, closing: int, varying: list[tuple[int, int]]
) -> dict[str, Any]:
    """An event cut into the pieces that stay and the holes between them."""
    holes: list[_Hole] = [(at + 1, ends - 1, None), *((*n, _is_number) for n in varying)]
    if (padding := _padding(raw, ends)) is not None:
        holes.append((*padding.span(1), _is_word))
    elif not varying:
        holes.append((len(raw[: closing - 1].rstrip(b" ")), closing - 1, _is_blank))
    holes.sort(key=lambda hole: hole[0])
    nexts = [*(begins for begins, *_ in holes[1:]), len(raw)]
    pairs = zip(holes, nexts, strict=True)
    return {
        "head": raw[: at + 1],
        "tail": raw[ends - 1 :],
        "head_at": slice(at + 1),
        "tail_at": slice(ends - 1 - len(raw), None),
        "text_at": slice(at, ends - len(raw)),
        "first": raw[: holes[0][0]],
        "rest": [(fits, raw[done:begins]) for (_, done, fits), begins in pairs],
    }


def _is_number(filling: bytes) -> bool:
    """Whether JSON reads it as a whole number, and none so large that its readers differ."""
    return filling.isdigit() and (len(filling) == 1 or (filling[:1] != b"0" and len(filling) < 16))


def _is_word(padding: bytes) -> bool:
    return not padding or padding.isalnum()


def _is_blank(padding: bytes) -> bool:
    return not padding.strip(b" ")
