"""Read events that match a template, which are nearly all events of a stream, without decoding.

The text events of a stream usually differ in just one string. If an event has the same bytes around
that string as an earlier one, then it means the same, with that string as its text. Besides the
text, templates have holes for irrelevant parts: numbers that count up from event to event, if the
wire ignores them, and padding against eavesdroppers. Anthropic adds spaces before the last brace,
Bedrock and Mistral a member `p`, and OpenAI a member `obfuscation`
(https://platform.openai.com/docs/api-reference/chat/create, `include_obfuscation`). If text and
reasoning alternate, each has its own template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tenuto.core.answer.signals import ReasoningDelta, TextDelta
from tenuto.frames.frame import Frame

PlainDelta = TextDelta | ReasoningDelta

_ENDS = (b"\n\n", b"\r\n\r\n", b"\n", b"")
"""What ends a frame after its data: of an event, a line, an element."""


_MOST_KNOWN = 4
"""The number of templates kept for one stream."""

_PROBE, _PROBE_NUMBERS = "tenuto ∆ probe", (b"1", b"90071992")
_PROBE_LITERAL = f'"{_PROBE}"'.encode()
_numbers = re.compile(rb"(?<=[:,\[ ])\d+(?=[,}\]])").finditer
_padding = re.compile(rb'"(?:obfuscation|p)": ?"([a-zA-Z0-9]*)"').search
_decode_text = msgspec.json.Decoder(str).decode


_Hole = tuple[int, int, Callable[[bytes], bool] | None]
"""A place in an event that may differ, and what it may contain; None: the text."""


@dataclass(frozen=True, slots=True)
class FrameTemplate:
    """The shape of matching events. Streams in different threads share it.

    Attributes:
        kind: the kind of the texts: answer or reasoning.
        counts: whether the events report the usage so far.
        counting: whether numbers differ from event to event.
        plain: whether an event carries text of the answer and nothing else.
        data_at: where an event's data is.
        head, tail: the bytes before and after the text, with the quotes.
        head_at, tail_at, text_at: where these and the quoted text are.
        first, rest: the same cut at every hole: the first piece, then what may fill a hole (None:
            the text) and the piece after it.
    """

    kind: type[PlainDelta]
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
        """Return the quoted text of an event that also differs in other holes, else b""."""
        head = self.first
        if raw[: len(head)] != head:
            return b""
        rest, literal = raw[len(head) :], b""
        for fits, piece in self.rest:
            # A text may contain the piece itself; then what follows it differs.
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
"""The template before anything was learned; nothing matches it."""

Templates = dict[Callable[..., Any], Sequence[FrameTemplate]]
"""Templates by the wire's own reading: the same bytes can mean different things on two wires."""


class TemplateMatcher:
    """Reads events that match templates learned from earlier ones.

    Args:
        read: the wire's own reading of the data of an event that carries one text and nothing else.
        running_usage: bytes of events that report the usage so far; b"": there are none.
        known: the templates learned from another stream of the same wire.

    Attributes:
        template: the template of the last matching event, or the one learned since.
        known: the learned templates, the latest first.
        missed: how many text events matched nothing. The matcher learns from the first, second,
            fourth, eighth and so on, so it learns ever less often from a stream whose events all
            differ.
        last_mismatch: the last event without a match, so that it isn't checked again.

    >>> def read(data):
    ...     return TextDelta(msgspec.json.decode(data)["say"])
    >>> matcher = TemplateMatcher(read)
    >>> matcher.learn(Frame(b'data: {"say":"Hi"}\\n\\n', b'{"say":"Hi"}'), TextDelta("Hi"))
    >>> matcher.text(b'data: {"say":" the river"}\\n\\n'), matcher.text(b'data: {"end":"Hi"}\\n\\n')
    (' the river', None)
    """

    def __init__(
        self,
        read: Callable[[bytes], PlainDelta | None],
        running_usage: bytes = b"",
        known: Sequence[FrameTemplate] = (),
    ) -> None:
        self._read = read
        self._running_usage = running_usage
        self.known: Sequence[FrameTemplate] = known
        self.template: FrameTemplate = known[0] if known else NO_TEMPLATE
        self.missed: int = 0
        self.last_mismatch: bytes = b""
        self._counted: list[bytes] = []
        self._vary: set[int] = set()

    def learn(self, event: Frame, signal: PlainDelta) -> None:
        """Learn a template from an event that carried only this signal."""
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
        """Note which numbers have changed. If their count differs, start over."""
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
        signal: PlainDelta,
        varying: list[tuple[int, int]],
    ) -> bool:
        """Return whether this string is the text that the wire read, and it and the numbers may
        vary."""
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
        """Return the text of a piece of the stream that is one matching event, else None."""
        like = self.template
        if raw[like.head_at] == like.head and raw[like.tail_at] == like.tail:
            literal = raw[like.text_at]
        else:
            literal = like.filled(raw) or self._filled_another(raw)
        if literal:
            try:
                if text := _decode_text(literal):  # refuses anything but one string
                    return text
            except (msgspec.DecodeError, UnicodeDecodeError):
                pass
        self.last_mismatch = raw
        return None

    def _filled_another(self, raw: bytes) -> bytes:
        """Return the quoted text of an event that matches one of the earlier templates."""
        for like in self.known:
            if like is not self.template and (literal := like.filled(raw)):
                self.template = like
                return literal
        return b""


def _cut(
    raw: bytes, at: int, ends: int, closing: int, varying: list[tuple[int, int]]
) -> dict[str, Any]:
    """Cut an event into the fixed pieces and the holes between them."""
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
    """Return whether JSON reads bytes as a whole number, small enough for all readers to agree."""
    return filling.isdigit() and (len(filling) == 1 or (filling[:1] != b"0" and len(filling) < 16))


def _is_word(padding: bytes) -> bool:
    return not padding or padding.isalnum()


def _is_blank(padding: bytes) -> bool:
    return not padding.strip(b" ")
