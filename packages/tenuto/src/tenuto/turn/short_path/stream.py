"""The short path of a stream.

Theory of operation
-------------------
A healthy stream has text in events that differ in little but one string, between events that open
the message and events that close it. The wire reads the latter one by one
(`wires.short.EventKind`). The former are matched with a template that is made from the first of
them, many in one step. What the machine would hold back is held back here too: texts of white
space, and events that close something. Anything else starts the machine with everything received.
The machine's output is skipped up to the number of bytes that the caller has, since both write the
same bytes.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tenuto.frames.frame import Framing
from tenuto.frames.sniff import named_by
from tenuto.providers.provider import Row
from tenuto.providers.table import by_server
from tenuto.turn.drivers.commands import (
    BODY_HEADERS,
    READ,
    Command,
    Head,
    ReadMore,
    Reply,
    Request,
    SendData,
    StartResponse,
)
from tenuto.turn.drivers.mark import has_ours
from tenuto.turn.record.recent import recent
from tenuto.turn.record.turn_record import new_id
from tenuto.turn.short_path.body import Short, TurnStarter, stop_iteration
from tenuto.wires.answer_id import answer_id, read_ids
from tenuto.wires.base import Wire
from tenuto.wires.json import UNREADABLE
from tenuto.wires.plain import is_readable
from tenuto.wires.request import WireRequest
from tenuto.wires.short import UNSURE, Asks, EventKind, EventSays, ShortPath, read_text

_STARTS = (b"event: ", b"data: ")
"""The only beginnings of events that are read here."""

_LESSONS = 16
"""How many templates one stream may teach. A stream that never repeats one must not teach for
ever."""

_MOST_FRAGMENTS = 32
"""How many pieces one event may have. Each is read with those before it; the machine reads it
once."""

_CUT = "\ufffd"
"""If a text ends like this, a character may have been cut."""


_read_texts = msgspec.json.Decoder(list[str]).decode

_TEXT, _NUMBER, _WORD, _BLANK = range(4)
"""What may fill a hole of a template."""

_PROBE = "tenuto ∆ probe"
_PROBES = {_TEXT: _PROBE.encode(), _NUMBER: b"90071992", _WORD: b"k3f", _BLANK: b" "}
"""With these in its holes, a template must be read as text and nothing else."""

_QUOTE = 34


def allows_stream(request: Request, provider: Row, asks: Asks, probe_max_tokens: int) -> bool:
    """Return whether the short path takes a stream. It doesn't take a stream that is only observed,
    or one from an unknown host, which may not come from a model."""
    if asks.alone or not asks.model:
        return False
    if asks.max_tokens is not None and asks.max_tokens <= probe_max_tokens:
        return False
    return bool(provider.hosts or provider.server) or not any(
        value.startswith(b"python-httpx")
        for name, value in request.headers
        if name.lower() == b"user-agent"
    )


class ShortStream(Short):
    """A stream that needs no machine as long as it is healthy; see `Short`."""

    _rest = b""  # the beginning of an event
    _held = b""  # events that wait for what follows
    _end = b""  # what ends an event: a blank line, after the end of the line before
    _first = _last = b""
    _boundary = b"\n"
    _last_mismatch = b""  # the last piece that the template was tried on and didn't match
    _lessons = _LESSONS
    _fragments = 0  # pieces of the current event so far
    _is_visible = _is_closing = _stopped = _ended = False
    _reading = READ

    def __init__(
        self,
        engine: TurnStarter,
        request: Request,
        wire: Wire,
        provider: Row,
        parsed: WireRequest | None,
        path: ShortPath,
        asks: Asks,
        *,
        reports: bool,
    ) -> None:
        limit = asks.max_tokens
        super().__init__(engine, request, wire, provider, parsed, limit, reports=reports)
        self._path = path
        self._asks = asks
        self._raw = bytearray()  # everything received
        self._holes: list[tuple[int, bytes]] = []
        self._opens = list(path.opens)  # those that are still to come
        self._most_bytes = engine.policy.event_max_bytes or 1 << 62

    # --- commands -------------------------------------------------------------------------------

    def _on_head(self, reply: Reply) -> Command:
        self._came.append(reply)
        if not isinstance(reply, Head) or not self._is_events(reply):
            return self._start(None)
        self.send = self._on_piece
        self._has_head = True
        self._reading = ReadMore(take=self.forward)
        return StartResponse(reply.without(*BODY_HEADERS), events=True)

    def _is_events(self, head: Head) -> bool:
        """Return whether an answer says that it is a stream without a coding, of the provider in
        the URL."""
        if not 200 <= head.status < 300 or has_ours(head.headers):
            return False
        unknown = not (self._provider.hosts or self._provider.server)
        kind = b""
        for name, value in head.headers:
            lowered = name.lower()
            if lowered == b"content-type":
                kind = kind or value
            elif lowered == b"content-encoding" or (
                unknown
                and lowered == b"server"
                and not by_server(value.decode("latin-1"), self._wire.name).unknown
            ):
                return False
        return named_by(kind.decode("latin-1")) is Framing.EVENTS

    def _on_piece(self, reply: Reply) -> Command:
        if reply is None:
            return self._reading
        if not isinstance(reply, bytes):
            return self._give_up(reply)
        if not reply:
            return self._end_of_transfer()
        forwarded_bytes = self._forwarded_bytes
        out = self.forward(reply) if reply is not self._last_mismatch else None
        if out is None:
            out = self._read(reply)
        if out is None:
            self._forwarded_bytes = forwarded_bytes
            return self._start(None)
        if self._ended:
            self.send = self._write_rest
            return SendData(out) if out else self._write_rest(None)
        return SendData(out) if out else self._reading

    def _end_of_transfer(self) -> Command:
        if self._rest or not self._stopped or not self._is_visible or self._path.ends_marked:
            return self._give_up(b"")
        self._finish()
        return self._write_rest(None)

    def _give_up(self, reply: Reply) -> Command:
        self._came.append(reply)
        return self._start(None)

    def _write_rest(self, _: Reply) -> Command:
        self.send = self._drain
        self._forwarded_bytes += len(self._held)
        self._note_ids()
        return SendData(self._held, last=True)

    def _drain(self, reply: Reply) -> Command:
        if reply is None:
            return READ
        if isinstance(reply, bytes) and reply:  # more, although nothing should follow
            return self._give_up(reply)
        self.send: Callable[[Reply], Command] = stop_iteration
        raise StopIteration

    def _marks_end(self) -> bool:
        if self._provider.sends_stop is not None:
            return self._provider.sends_stop
        environment, base_url = self._engine.environment, self._request.url.partition("?")[0]
        return bool(environment.learned.marks_ends(base_url, self._asks.model, environment.now()))

    def _finish(self) -> None:
        """Note that the stream is over, and that its end was marked (S3a)."""
        self._is_over = self._ended = True
        self._reading = READ
        if self._provider.sends_stop is None:
            environment = self._engine.environment
            base_url = self._request.url.partition("?")[0]
            environment.learned.ended_marked(base_url, self._asks.model, environment.now())

    def close(self) -> None:
        """Close the turn: the caller stopped reading. Without its end, it doesn't count as
        ended."""
        if self._ended and self.send == self._write_rest:
            del self._raw[len(self._raw) - len(self._held) :]
            self._ended = False
        if not self._ended and self._run is None:
            self._note_ids()
        super().close()

    def _note_ids(self) -> None:
        """Let the turn be found by the id in its first event (`turn.record.recent`). If its caller
        left, it has no report."""
        begins = self._raw.find(b"data: ") + 6
        try:
            ids = read_ids(bytes(self._raw[begins : self._raw.find(b"\n", begins)]))
        except UNREADABLE:
            return
        if self._ended:
            self._ids = ids
            recent.add_plain(ids)
        else:
            recent.add(self._turn or new_id(), [answer_id(ids)])

    def _replies(self) -> list[Reply]:
        if not self._came:
            return []
        head, *behind = self._came
        # An event that is too large is noticed at once, unless a whole one comes with it.
        pieces = [piece for piece in (bytes(self._raw), self._rest) if piece]
        over = [b""] if self._ended and not behind else []
        return [head, *pieces, *behind, *over]

    # --- events ---------------------------------------------------------------------------------

    def forward(self, piece: bytes) -> bytes | None:
        """Return the bytes for the caller if a piece holds only events like the template, whose
        texts need not wait; otherwise None."""
        first, last = self._first, self._last
        if not first or self._rest or not (piece.startswith(first) and piece.endswith(last)):
            self._last_mismatch = piece
            return None
        literals: list[bytes] = []
        parts = piece[len(first) : -len(last)].split(self._boundary)
        for part in parts:
            rest = part
            for kind, behind in self._holes:
                filling, found, rest = rest.partition(behind) if behind else (rest, b" ", b"")
                if not found:
                    return None
                if kind == _TEXT:
                    literals.append(filling)
                elif kind == _NUMBER:
                    if not filling.isdigit() or len(filling) > 15 or filling[0] == 48:
                        return None
                elif filling and not (filling.isalnum() if kind == _WORD else filling.isspace()):
                    return None
        try:
            if len(literals) == 1:
                text = read_text(b'"%b"' % literals[0])
                if not text or len(piece) > self._most_bytes:
                    return None
                if text.isspace():
                    return self._hold(piece)
            else:
                texts = _read_texts(b'["' + b'",\n"'.join(literals) + b'"]')
                text = "".join(texts)
                if len(texts) != len(literals) or "" in texts or texts[-1].isspace():
                    return None
                if len(piece) > self._most_bytes and not self._are_small(parts):
                    return None
        except UNREADABLE:
            return None
        if _CUT in text:
            return None
        if not self._is_visible:
            shown = text.lstrip()
            if shown[:1] == "<":
                return None
            self._is_visible = bool(shown)
        self._raw += piece
        if self._held:
            piece, self._held = self._held + piece, b""
        self._forwarded_bytes += len(piece)
        return piece

    def _hold(self, piece: bytes) -> bytes | None:
        """Hold an event of white space until another one follows."""
        limit = self._engine.policy.hold_max_bytes
        if limit and len(self._held) + len(piece) > limit:
            return None
        self._raw += piece
        self._held += piece
        return b""

    def _are_small(self, parts: list[bytes]) -> bool:
        return max(map(len, parts)) + len(self._first) + len(self._last) <= self._most_bytes

    def _read(self, piece: bytes) -> bytes | None:
        """Return the bytes for the caller of any piece, event by event; None if it needs the
        machine."""
        data = self._rest + piece
        self._rest = data
        if not self._raw and not data.startswith(_STARTS):
            return None  # such as an array declared as events, whose elements are sent one by one
        end = self._end or (b"\r\n\r\n" if b"\r\n\r\n" in data else b"\n\n")
        if (end != b"\n\n" or b"\r" in data) and _has_other_ends(data, end):
            return None
        *events, rest = data.split(end)
        if not events:
            self._fragments += 1
            is_small = self._fragments < _MOST_FRAGMENTS and len(data) <= self._most_bytes
            return b"" if is_small else None
        self._fragments = 0
        self._end = end
        self._rest = b""
        if len(events) > 1 and (out := self.forward(data[: len(data) - len(rest)])) is not None:
            self._rest = rest
            return out
        given: list[bytes] = []
        for number, event in enumerate(events):
            raw = event + end
            out = self.forward(raw) if raw != self._last_mismatch else None
            if out is None:
                out = self._event(raw, event)
            if out is None or (self._ended and (rest or number + 1 < len(events))):
                behind = number + (out is not None)
                self._ended = self._is_over = False
                self._rest = b"".join([each + end for each in events[behind:]]) + rest
                return None
            given.append(out)
        self._rest = rest
        return b"".join(given)

    def _event(self, raw: bytes, event: bytes) -> bytes | None:
        """Return the bytes for the caller of one event; None if it needs the machine."""
        kind, text = self._said(event)
        if kind is EventKind.UNSURE or len(raw) > self._most_bytes or _CUT in text:
            return None
        if (
            self._path.opens
            and kind is not EventKind.NOTHING
            and not self._is_in_order(kind, event)
        ):
            return None
        if not self._is_visible and (shown := text.lstrip()):
            if shown[0] == "<":
                return None
            self._is_visible = True
        may_forward = kind is EventKind.OPENS or (kind is EventKind.TEXT and not text.isspace())
        if (may_forward or kind is EventKind.TEXT) and self._is_closing:
            return None
        if may_forward or (kind is EventKind.NOTHING and not self._held and not self._is_closing):
            out, self._held = self._held + raw, b""
            if kind is EventKind.TEXT and self._lessons:
                self._learn(raw, event, text)
        elif not self._may_hold(kind, raw):
            return None
        else:
            out = b""
            self._held += raw
        self._raw += raw
        self._forwarded_bytes += len(out)
        return out

    def _is_in_order(self, kind: EventKind, event: bytes) -> bool:
        """Return whether an event comes where the SDK takes it: behind those that open the message,
        or as the next of these."""
        if kind is not EventKind.OPENS or not self._opens:
            return (kind is EventKind.OPENS) is bool(self._opens)
        return event.startswith(self._opens.pop(0))

    def _may_hold(self, kind: EventKind, raw: bytes) -> bool:
        """Return whether an event may wait and keeps the stream healthy; note that the stream
        closes."""
        limit = self._engine.policy.hold_max_bytes
        if limit and len(self._held) + len(raw) > limit:
            return False
        if kind in (EventKind.STOPS, EventKind.COMPLETES):
            if self._stopped:
                return False
            self._stopped = True
        if kind in (EventKind.ENDS, EventKind.COMPLETES):
            if not self._stopped or not self._is_visible:
                return False
            self._finish()
        if kind not in (EventKind.CLOSES, EventKind.NOTHING, EventKind.TEXT):
            self._is_closing = True
            self._first = b""  # no text may follow
        return True

    def _said(self, event: bytes) -> EventSays:
        """Return what an event carries, if it is framed as providers do, in lines of name and
        data."""
        if not is_readable(event):
            return UNSURE
        line_end = self._end[: len(self._end) // 2]
        name = b""
        if event.startswith(b"event: "):
            name, _, event = event[7:].partition(line_end)
        elif self._path.named:
            return UNSURE
        if not event.startswith(b"data: ") or line_end in event or name == b"error":
            return UNSURE
        return self._path.event(event[6:])

    def _learn(self, raw: bytes, event: bytes, text: str) -> None:
        """Make a template from an event of text. If its text can't be found again in the event, the
        next one may do."""
        literal = b'"%b"' % text.encode("ascii", "replace")
        if not text.isascii() or not text.isprintable() or raw.count(literal) != 1 or len(text) < 2:
            return
        self._lessons -= 1
        at = raw.index(literal) + 1
        behind = last = at + len(text)
        holes = [(at, behind, _TEXT)]
        for found in self._path.holes.finditer(raw):
            begins, ends = found.span(1)
            if ends <= at or begins >= behind:
                is_word = raw[begins - 1] == _QUOTE
                holes.append((begins, ends, _WORD if is_word else _NUMBER))
                last = max(last, ends)
        brace = len(event) - 1
        blanks = len(raw[:brace].rstrip(b" "))
        if blanks > last:
            holes.append((blanks, brace, _BLANK))
        holes.sort()
        constants, probed, done = [], b"", 0
        for begins, ends, kind in holes:
            constants.append(raw[done:begins])
            probed += constants[-1] + _PROBES[kind]
            done = ends
        constants.append(raw[done:])
        if self._said(probed + event[done:]) != (EventKind.TEXT, _PROBE):
            return
        self._first, *between, self._last = constants
        self._last_mismatch = b""
        self._boundary = self._last + self._first
        kinds = [kind for _, _, kind in holes]
        self._holes = [*zip(kinds, [*between, b""], strict=True)]


def _has_other_ends(data: bytes, end: bytes) -> bool:
    """Return whether lines end differently than before; the last one may still be incomplete."""
    if end == b"\n\n":
        return b"\r" in data
    rest = data.removesuffix(b"\r").replace(b"\r\n", b"")
    return b"\n" in rest or b"\r" in rest
