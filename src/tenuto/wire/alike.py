"""Events that are alike: what nearly every event of a stream is, read without decoding it.

A stream says its text in events that differ in nothing but one string. An event with the same bytes
around that string as one before it says the same, with that string: what was read of the first one
holds for all. Providers that pad their events against eavesdroppers vary the padding as well:
Anthropic adds spaces before the last brace, OpenAI a member `obfuscation`
(https://platform.openai.com/docs/api-reference/chat/create, `include_obfuscation`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from tenuto.core.signals import ReasoningDelta, TextDelta
from tenuto.wire.sse import SseEvent

Flowing = TextDelta | ReasoningDelta

LESSONS = 64
"""Events that are learned from in one stream. Who writes none like the one before is not learned
from for ever."""

_PROBE = "tenuto ∆ probe"
_PROBE_LITERAL = f'"{_PROBE}"'.encode()
_padding = re.compile(rb'"obfuscation": ?"').search
_decode_text = msgspec.json.Decoder(str).decode


class Alike:
    """Reads events that are like one that it has seen.

    Args:
        read: the wire's own reading of the data of an event that carries one text and no more.

    Attributes:
        kind: what the texts are, those of the answer or reasoning.
        learning: how many events more may teach anything.
        unlike: the last that does not even begin alike, so that it need not be asked about again.

    >>> def read(data):
    ...     return TextDelta(msgspec.json.decode(data)["say"])
    >>> alike = Alike(read)
    >>> alike.learn(SseEvent(b'data: {"say":"Hi"}\\n\\n', b'{"say":"Hi"}'), TextDelta("Hi"))
    >>> alike.text(b'data: {"say":" the river"}\\n\\n'), alike.text(b'data: {"end":"Hi"}\\n\\n')
    (' the river', None)
    """

    def __init__(self, read: Callable[[bytes], Flowing | None]) -> None:
        self._read = read
        self.learning = LESSONS
        self.unlike = b""
        self._head = self._tail = b"\n"  # no event begins so
        # Where in an event these stand, and the text in its quotes: slices that are made once.
        self._head_at, self._tail_at, self._text_at = slice(1), slice(-1, None), slice(0)
        self._before, self._after = b"", b""
        self._is_padding: Callable[[bytes], bool] = bytes.isspace
        self.kind: type[Flowing] = TextDelta

    def learn(self, event: SseEvent, signal: Flowing) -> None:
        """Take an event that carried just this signal as the pattern for those to come."""
        text, raw = signal.text, event.raw
        if not self.learning or not text.isascii() or not text.isprintable() or len(text) < 2:
            return
        literal = b'"%b"' % text.encode()
        data = event.data or b""
        if (
            raw.count(literal) != 1
            or raw[-2:] != b"\n\n"
            or b"\r" in raw
            or event.name == "error"
            or not raw.endswith(data + b"\n\n")
        ):
            return
        self.learning -= 1
        # Whether this string is what the wire read, and may be any other.
        if self._read(data.replace(literal, _PROBE_LITERAL)) != type(signal)(_PROBE):
            return
        head, _, tail = raw.partition(literal)
        self._head, self._tail = head + b'"', b'"' + tail
        begins, ends = len(self._head), -len(self._tail)
        self._head_at, self._tail_at = slice(begins), slice(ends, None)
        self._text_at = slice(begins - 1, ends + 1)
        if (padding := _padding(self._tail)) is not None:
            begins = padding.end()
            ends = self._tail.find(b'"', begins)
            self._before, self._after = self._tail[:begins], self._tail[ends:]
            self._is_padding = bytes.isalnum
        else:
            self._before, self._after = self._tail[:-3].rstrip(b" "), self._tail[-3:]
            self._is_padding = _is_blank
        self.kind = type(signal)

    def text(self, raw: bytes) -> str | None:
        """The text of a piece of the stream that is one event like the one learned, else None."""
        if raw[self._head_at] != self._head:
            self.unlike = raw
            return None
        literal = raw[self._text_at] if raw[self._tail_at] == self._tail else self._padded(raw)
        try:
            return _decode_text(literal) or None  # refuses what is not one string
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def _padded(self, raw: bytes) -> bytes:
        """The text in its quotes of an event that differs in its padding as well, else b""."""
        begins = self._head_at.stop
        # Where the text holds a quote of its own, this finds that one, and the rest differs.
        rest = raw[raw.find(b'"', begins) :]
        before, after = len(self._before), len(rest) - len(self._after)
        if (
            before <= after
            and rest.startswith(self._before)
            and rest.endswith(self._after)
            and (before == after or self._is_padding(rest[before:after]))
        ):
            return raw[begins - 1 : len(raw) - len(rest) + 1]
        return b""


def _is_blank(padding: bytes) -> bool:
    return not padding.strip(b" ")
