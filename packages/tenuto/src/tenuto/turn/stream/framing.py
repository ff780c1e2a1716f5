"""How the stream of a turn is framed, in both directions: the request shows how its caller reads
it, and the received bytes show how they are framed.

`StreamFraming` belongs to one turn. Only `began` and `opened` change it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import unquote, urlsplit

from tenuto.frames.aws_messages import CONTENT_TYPE, MessageCodec, render_event, render_named
from tenuto.frames.codec import Codec, Translated
from tenuto.frames.compression import UndecodableBytes, decoder_for
from tenuto.frames.frame import Framing
from tenuto.frames.json_array import ArrayCodec, begun
from tenuto.frames.json_lines import LineCodec
from tenuto.frames.sniff import framing_of
from tenuto.frames.sse_codec import DataLineCodec, SseCodec
from tenuto.turn.drivers.commands import (
    BODY_HEADERS,
    Head,
    LeftS,
    ReadMore,
    Reply,
    Request,
    Run,
    SendData,
    StartResponse,
    decoded,
    reading,
    timed_out,
)
from tenuto.turn.stream.readers import fails_on

EVENTS = b"text/event-stream"

MakeCodec = Callable[..., Codec]
"""Makes a codec from the largest frame in bytes, and `as_came`."""


@dataclass(frozen=True, slots=True)
class FramingRule:
    """Which framing a caller reads, and which framings may come instead.

    Attributes:
        asked: the framing that the caller reads.
        writes: makes the codec of that framing.
        reads: makes the codec of a received framing; a framing that is missing here is read as a
            body.
        content_type: the content type in the head for the caller; None for the received head.
        or_json: whether a received content type of JSON is kept.
        or_events: whether the caller receives events if the provider writes these.
    """

    asked: Framing
    writes: MakeCodec
    reads: Mapping[Framing, MakeCodec]
    content_type: bytes | None = None
    or_json: bool = False
    or_events: bool = False


def rule_for_events(events: MakeCodec) -> FramingRule:
    """Return the rule for a caller that reads events, as nearly all do."""
    return FramingRule(Framing.EVENTS, events, {Framing.EVENTS: events})


def _aws(
    render: Callable[[bytes], bytes], request: Request, events: MakeCodec, left_alone: bool
) -> FramingRule:
    # Anthropic's SDK fails on exceptions, and raises on an error within an event.
    anthropics = any(key[:12].lower() == b"x-stainless-" for key, _ in request.headers)
    make = partial(MessageCodec, render=render, exceptions=not anthropics)
    reads: Mapping[Framing, MakeCodec] = {Framing.MESSAGES: make, Framing.EVENTS: events}
    return FramingRule(Framing.MESSAGES, make, reads, CONTENT_TYPE.encode(), or_events=True)


_ELEMENTS: Mapping[Framing, MakeCodec] = {
    Framing.ARRAY: ArrayCodec,
    Framing.BODY: partial(ArrayCodec, bare=True),
}
"""A whole answer of Google's wire may be an element of its array."""


def _googles(request: Request, events: MakeCodec, left_alone: bool) -> FramingRule:
    if "alt=sse" not in urlsplit(request.url).query:
        reads, kind = {**_ELEMENTS, Framing.EVENTS: events}, b"application/json"
        return FramingRule(Framing.ARRAY, ArrayCodec, reads, kind, or_json=True, or_events=True)
    if left_alone:
        return rule_for_events(events)
    return FramingRule(Framing.EVENTS, DataLineCodec, {**_ELEMENTS, Framing.EVENTS: DataLineCodec})


def _lines(_: Request, events: MakeCodec, left_alone: bool) -> FramingRule:
    reads = {Framing.LINES: LineCodec, Framing.EVENTS: events}
    return FramingRule(Framing.LINES, LineCodec, reads, b"application/x-ndjson", or_json=True)


RULES: dict[str, Callable[[Request, MakeCodec, bool], FramingRule]] = {
    "/invoke-with-response-stream": partial(_aws, render_event),
    "/converse-stream": partial(_aws, render_named),
    ":streamGenerateContent": _googles,
    "/api/chat": _lines,
    "/api/generate": _lines,
}
"""The rules by the end of a request's path. Other callers read events, unless their wire says
otherwise (`Wire.streams_lines`)."""


def rule_of(
    request: Request,
    path: str,
    *,
    named: bool,
    left_alone: bool,
    streams_lines: Callable[[Mapping[str, str]], bool] | None = None,
) -> FramingRule:
    """Return the rule for a request.

    Args:
        path: the path of its URL.
        named: whether the caller's SDK ignores events without a name.
        left_alone: whether the turn is only observed.
        streams_lines: whether the headers ask for lines (`Wire.streams_lines`).
    """
    path = unquote(path).rstrip("/")
    events = partial(SseCodec, named=named, fails_on=fails_on(request.headers, path))
    for end, made in RULES.items():
        if path.endswith(end):
            return made(request, events, left_alone)
    if streams_lines is not None:
        told = {key.lower(): value for key, value in decoded(request.headers)}
        if streams_lines(told):
            return _lines(request, events, left_alone)
    return rule_for_events(events)


class StreamFraming:
    """How the stream of one turn is framed, in both directions.

    Args:
        limit_bytes: the largest frame; 0 for no limit.
        left_alone: whether the turn is only observed: every byte then leaves unchanged.

    Attributes:
        asked: the framing that the caller reads.
        writes: the codec of what the caller reads.
        codec: the codec of the attempt that is read.
    """

    def __init__(
        self, rule: FramingRule, limit_bytes: int = 0, *, left_alone: bool = False
    ) -> None:
        self._rule = rule
        self.asked: Framing = rule.asked
        self._limit_bytes = limit_bytes
        self._left_alone = left_alone
        self._content_type = b""
        self._framed, self._opened = True, False
        self.writes: Codec = self._made(self._rule.writes)
        self.codec: Codec = self.writes

    def _made(self, make: MakeCodec) -> Codec:
        return make(self._limit_bytes, as_came=self._left_alone)

    def began(self, head: Head, came: Framing) -> Head | None:
        """Begin an attempt with this framing. Return its head without what was true only of the
        received bytes, or None if they are to be read as a body."""
        kind = head.get(b"content-type").encode("latin-1")
        self._content_type = self._content_type or kind
        make = self._rule.reads.get(came)
        if make is None:
            return None
        self.codec = self._made(make)
        own = came is not Framing.EVENTS
        if not own and not self._opened and (self._rule.or_events or self._left_alone):
            self.writes, self._framed = self.codec, False
        if self.codec.framing is not self.writes.framing:
            self.codec = Translated(self.codec, self.writes)
        return named(head, EVENTS) if own else head

    def read_anew(self) -> None:
        """Forget the event that a broken connection left incomplete: its stream is fetched again
        from the last whole one on."""
        self.codec = self._made(self._rule.writes)
        if self.writes.framing is self.codec.framing:
            self.writes = self.codec

    def opened(self, head: Head) -> Head:
        """Return the head for the caller."""
        self._opened = True
        kind = self._rule.content_type
        if kind is None or not self._framed:
            return head
        if self._left_alone or (self._rule.or_json and b"json" in self._content_type):
            kind = self._content_type
        return named(head, kind)


def named(head: Head, content_type: bytes) -> Head:
    """Return the head of a translated stream with this content type; b"" for none. Headers about
    the received bytes are removed, since they don't describe the translated ones."""
    plain = head.without(*BODY_HEADERS, b"content-type")
    return plain.plus((b"content-type", content_type)) if content_type else plain


def look_ahead(
    asked: Framing,
    head: Head,
    limit_bytes: int,
    within_s: LeftS | None = None,
    before: deque[Reply] | None = None,
) -> Generator[ReadMore, Reply, tuple[Framing, deque[Reply]]]:
    """Read just enough of an answer to know how it is framed. Return the framing, and what was
    read, which is still to be processed.

    Args:
        asked: the framing that was requested; it counts if the bytes don't show one.
        head: the head of the answer.
        limit_bytes: the most that one piece may unpack to; 0 for no limit.
        within_s: returns the seconds left for further reads; None for no limit.
        before: what was read already; it is used before anything else is read.
    """
    kind, seen, left = head.get(b"content-type"), deque[Reply](), before or deque[Reply]()
    first = b""
    decoder = decoder_for(head.coding, limit_bytes)
    while (framing := framing_of(asked, kind, first)) is None:
        reply = left.popleft() if left else (yield reading(within_s))
        seen.append(reply)
        if not isinstance(reply, bytes) or not reply or decoder is None:
            break
        try:
            first += decoder.feed(reply)
        except UndecodableBytes:
            break
        if within_s is not None and within_s() <= 0:
            seen.append(timed_out())
            break
    seen += left
    return framing or asked, seen


def in_one_array(run: Run, framing: StreamFraming) -> Run:
    """Return the same turn for a caller that reads its stream as one JSON array: with its brackets,
    and the separators between its elements. A codec keeps no state about what leaves, so this is a
    generator around the turn."""
    reply: Reply = None
    framed, first = False, True
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                break
            match command:
                case SendData(data) if framed:
                    reply = None
                    if data:
                        made, first = begun(data, first=first), False
                        reply = yield SendData(made)  # the bracket is still to come
                case StartResponse(_, events):
                    framed = events and framing.writes.framing is Framing.ARRAY
                    reply = yield command
                case _:
                    reply = yield command
        codec = framing.codec
        end = codec.closing if isinstance(codec, ArrayCodec) else b""  # if it came
        if framed and (end := end or (b"" if first else b"\r\n]")):
            yield SendData(end, last=True)
    finally:
        run.close()
