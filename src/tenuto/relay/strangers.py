"""Answers of somebody else's server, at a path that a wire has as well.

Theory of operation
-------------------
Whoever takes `tenuto.http_client()` for all of their requests may have a service of their own at
`/api/chat`, whose answers are of no wire. Read as one they would be faults, and be asked for again.
So the first answer is looked at before it is read, where nothing says that the wire is meant: an
HTTP library asks for itself and for no loop of ours, nobody knows the host, and the policy does not
ask for certainty (`on_incomplete="error"`). What shows nothing of the wire is handed on as it came.
The turn reads all others as if nobody had looked.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Generator

from tenuto.core.policy import Policy
from tenuto.frames.compression import UndecodableBytes, decoder_for
from tenuto.frames.frame import Framing
from tenuto.frames.json_array import ArrayDecoder
from tenuto.frames.pieces import Pieces
from tenuto.frames.sniff import begins, may_become_more
from tenuto.frames.sse import SseDecoder
from tenuto.providers.table import by_server
from tenuto.relay.commands import Head, Lost, Read, Reply, Run, Transmit
from tenuto.relay.ending import hand_on
from tenuto.relay.turn import Asked, Turn
from tenuto.wire.base import JsonObject, Wire
from tenuto.wire.json import as_utf8
from tenuto.wire.stream import event_object

Looking = Generator[Read, Reply, bool]

_LIBRARY = b"python-httpx"
"""How the user agents of HTTP libraries begin, which tell nothing of who asks; SDKs have others."""

_TELLING = frozenset({"choices", "candidates"})
"""Members by which an answer is a model's even where there is nothing in them."""

_LOOK_BYTES = 262_144
"""No more of an answer is looked at: larger ones are read."""

_DOCUMENTS = (Framing.BODY, Framing.ARRAY)


def may_be_strange(asked: Asked, policy: Policy) -> bool:
    """Whether nothing but the path says that a request asks for a turn."""
    if policy.on_incomplete == "error" or not asked.provider.unknown:
        return False
    if asked.request.carried is not None:
        return False
    agents = [value for key, value in asked.request.headers if key.lower() == b"user-agent"]
    return any(agent.startswith(_LIBRARY) for agent in agents)


def unless_strange(run: Run, turn: Turn) -> Run:
    """The same turn, but for an answer that has nothing of the wire's shape."""
    reply: Reply = None
    ahead: deque[Reply] | None = None
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                return
            if isinstance(command, Read) and ahead:
                reply = ahead.popleft()
                continue
            reply = yield command
            if ahead is None and isinstance(command, Transmit):
                ahead = deque()
                assert isinstance(reply, Head | Lost)
                if (yield from _is_strange(turn, reply, ahead)):
                    assert isinstance(reply, Head)
                    came = [piece for piece in ahead if isinstance(piece, bytes)]
                    yield from hand_on(turn, reply, b"".join(came), "another_shape")
                    return
    finally:
        run.close()


def _is_strange(turn: Turn, head: Head | Lost, ahead: deque[Reply]) -> Looking:
    """Whether an answer is of no wire; as much of it is read as tells. `ahead`: what was read."""
    if isinstance(head, Lost) or not 200 <= head.status < 300:
        return False
    if not by_server(head.get(b"server"), turn.wire.name).unknown:
        return False
    decoder = decoder_for(head.coding, turn.policy.body_max_bytes)
    look, streams = Look(turn.wire), turn.facts.stream
    while decoder is not None and look.size < _LOOK_BYTES:
        reply = yield turn.reading
        ahead.append(reply)
        if not isinstance(reply, bytes):
            return False
        try:
            look.take(decoder.feed(reply))
        except UndecodableBytes:
            return False
        if not reply and not look.size:
            return head.status != 200  # "accepted", "no content": no model answers so
        if not reply or streams or not look.is_document:
            strange = look.shows_nothing(over=not reply)
            if strange is not None:
                return strange
    return False


_UNTOLD = object()


class Look:
    """What the beginning of an answer shows. Each piece is looked at once, however small.

    >>> from tenuto.wire.registry import wires
    >>> def look(answer: bytes, over: bool) -> bool | None:
    ...     seen = Look(wires()["openai-chat"])
    ...     seen.take(answer)
    ...     return seen.shows_nothing(over=over)
    >>> look(b'{"reply": "Hi"}', over=True), look(b"Hi", over=False)
    (True, True)
    >>> look(b'{"choices": []}', over=True), look(b"{", over=True), look(b"{", over=False)
    (False, False, None)
    """

    def __init__(self, wire: Wire) -> None:
        self.size = 0
        self._wire = wire
        self._first = b""  # until it tells how the answer is framed
        self._framing: Framing | None = None
        self._may_be_more = True
        self._events = SseDecoder()
        self._objects = ArrayDecoder()
        self._document = Pieces()
        self._tried = False
        self._value: object = _UNTOLD
        self._told = False

    @property
    def is_document(self) -> bool:
        """Whether it is JSON that is read as a whole."""
        return self._framing in _DOCUMENTS

    def take(self, piece: bytes) -> None:
        """Take the next piece of the answer, decoded."""
        self.size += len(piece)
        if self._framing is None:
            self._first += piece
            self._framing = begins(self._first)
            if self._framing is None:
                self._may_be_more = may_become_more(self._first)
                return
            piece, self._first = self._first, b""
        if self._told:
            return
        if self._framing is Framing.EVENTS:
            self._take_events(piece)
        elif self.is_document:
            self._take_document(piece)

    def _take_events(self, piece: bytes) -> None:
        for event in self._events.feed(piece):
            if event.data and event.data.strip():
                ends = self._wire.is_terminator(event.data)
                self._tell(_UNTOLD if ends else event_object(event))
                self._told = True
                return

    def _take_document(self, piece: bytes) -> None:
        self._document.add(piece)
        if self._objects.feed(piece) and not self._tried:
            self._tried = True  # else an answer of braces would be read again for each
            self._tell(_first_value(self._document.whole))

    def _tell(self, value: object) -> None:
        self._value, self._told = value, value is not _UNTOLD

    def shows_nothing(self, *, over: bool) -> bool | None:
        """Whether what came is of no wire; None where it takes more to tell. `over`: no more
        comes."""
        if self._framing is None:
            return None if self._may_be_more and not over else True
        if self._framing is Framing.PAGE:
            return True
        if self._framing is Framing.MESSAGES:
            return False
        if over and self.is_document and self._value is _UNTOLD:
            self._tell(_first_value(self._document.whole))
        if self._value is _UNTOLD:
            return False if over else None  # half of something is no other thing
        return not (isinstance(self._value, dict) and _is_of(self._wire, self._value))


def _first_value(document: bytes) -> object:
    """The document, or the first of its lines, or the first element of its array."""
    text = as_utf8(document).decode("utf-8", "replace").lstrip().removeprefix("[").lstrip()
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return _UNTOLD


def _is_of(wire: Wire, value: JsonObject) -> bool:
    """Whether an object may be the wire's: by its shape, or as an error."""
    odd = value.get("error") or value.get("type") == "ping"
    return bool(odd) or wire.looks_like(value) or not _TELLING.isdisjoint(value)
