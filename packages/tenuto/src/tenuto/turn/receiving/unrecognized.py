"""Answers that are not recognized: nothing in them belongs to the API that was called.

Theory of operation
-------------------
Nearly always the base URL is wrong, or a network requires a log-in first, and a page of HTML or a
redirect to one came. That is a fault of the turn (`not_of_this_api`), with Tenuto's own message.

But a program that uses `tenuto.http_client()` for all of its requests may call a service of its own
at `/api/chat`, whose answers belong to no wire. Read as answers of a model, they would be faults
and be requested again. So Tenuto looks at the first answer before it reads it, unless something
shows that the wire is meant (`may_be_unrecognized`). It does so for requests of an HTTP library,
not of an agent's loop, to an unknown host, under a policy that does not ask for certainty
(`on_incomplete="error"`). An answer with nothing of the wire in it passes through unchanged. The
turn reads all others as usual.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Generator
from dataclasses import replace
from urllib.parse import urlsplit

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.stop import printable
from tenuto.frames.compression import UndecodableBytes, decoder_for
from tenuto.frames.frame import Framing
from tenuto.frames.json_array import ArrayDecoder
from tenuto.frames.pieces import Pieces
from tenuto.frames.sniff import begins, is_of_an_api, may_become_more
from tenuto.frames.sse import SseDecoder
from tenuto.providers.table import by_server
from tenuto.turn.drivers.commands import ConnectionLost, Head, ReadMore, Reply
from tenuto.turn.record.attempt import Attempt
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.wires.base import Wire
from tenuto.wires.json import JsonObject, as_utf8
from tenuto.wires.stream import event_object

_NAME_CHARS = 60
_MOST_CAUSES = 10

_EMPTY = {
    b"": "an empty body",
    b"[]": "the body []",
    b"null": "the body null",
    b"{}": "the body {}",
}


# --- faults with Tenuto's own message ----------------------------------------------------------


def not_of_this_api(attempt: Attempt) -> Fault | None:
    """Return the fault of an attempt that was answered with something else; None if it was not. Its
    message is Tenuto's, and names only the content type, or the host of a redirect."""
    head = attempt.head
    if head is None or attempt.http_error or attempt.lost:
        return None
    if head.is_good and not attempt.page:
        return None
    if attempt.page or not head.get(b"location"):
        return Fault(FaultKind.NOT_THIS_API, message=_page(head), status=head.status)
    return Fault(FaultKind.REDIRECTED, message=_elsewhere(head), status=head.status)


def with_default_message(fault: Fault, attempt: Attempt) -> Fault:
    """Return the same fault. If the error response has no message, it gets Tenuto's: the status,
    and what came."""
    head = attempt.head
    if fault.message or not attempt.http_error or head is None:
        return fault
    body = attempt.raw.strip()
    came = _EMPTY.get(body, "a body in which no error message was found")
    return replace(fault, message=f"HTTP {head.status} with {came}")


def unreachable(lost: ConnectionLost, url: str) -> Fault:
    """Return the fault of a request that got no answer. Its message is Tenuto's: the host and the
    port, and the system's own error if there is one. It never repeats a library's message, which
    may quote a URL with its query."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    where = printable(f"{parts.hostname}{port}", _NAME_CHARS)
    error = _of_the_system(lost.error)
    slow = lost.kind is FaultKind.TIMEOUT
    why = (
        f"{error.strerror} (errno {error.errno})"
        if error
        else "the time for it is over"
        if slow
        else ""
    )
    message = f"no answer came from {where}" + (f": {why}" if why else "")
    return Fault(lost.kind, type(lost.error).__name__, message)


def _of_the_system(error: BaseException | None) -> OSError | None:
    """Return the system's error behind a library's error, or None."""
    for _ in range(_MOST_CAUSES):
        if error is None or (isinstance(error, OSError) and error.errno and error.strerror):
            return error
        error = error.__cause__ or error.__context__
    return None


def _page(head: Head) -> str:
    """Describe an answer whose status is good or meaningless."""
    if not head.is_good:
        return f"the answer has status {head.status}, and is not in this API's format"
    kind = head.get(b"content-type").partition(";")[0].strip().lower()
    what = "a page of HTML" if is_of_an_api(kind) else printable(kind, _NAME_CHARS)
    return f"the answer is {what}, and not in this API's format"


def _elsewhere(head: Head) -> str:
    """Describe where a redirect leads."""
    try:
        host = urlsplit(head.get(b"location")).hostname
    except ValueError:
        host = None
    where = printable(host, _NAME_CHARS) if host else "another path"
    return f"the address redirects to {where} (status {head.status})"


# --- answers that pass through ---------------------------------------------------------------

Looking = Generator[ReadMore, Reply, bool]

_LIBRARY = b"python-httpx"
"""The start of the user agents of HTTP libraries, which don't tell who sends the request. SDKs have
others."""

_TELLING = frozenset({"choices", "candidates"})
"""Members that show that an answer comes from a model, even if they are empty."""

_LOOK_BYTES = 262_144
"""The most that is looked at of an answer; longer ones are read as usual."""

_DOCUMENTS = (Framing.BODY, Framing.ARRAY)


def may_be_unrecognized(turn: TurnRecord) -> bool:
    """Return whether only the path shows that a request is for a turn, and nothing came so far."""
    if turn.state.attempts or turn.left_alone or not turn.provider.unknown:
        return False
    if turn.policy.on_incomplete == "error" or turn.context is not None:
        return False
    agents = [value for key, value in turn.request.headers if key.lower() == b"user-agent"]
    return any(agent.startswith(_LIBRARY) for agent in agents)


def is_unrecognized(turn: TurnRecord, head: Head, ahead: deque[Reply]) -> Looking:
    """Read just enough of an answer to tell whether it belongs to no wire, and return that. What
    was read is added to `ahead`, and is still to be processed."""
    if not head.is_good:
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
            look.feed(decoder.feed(reply))
        except UndecodableBytes:
            return False
        if not reply and not look.size:
            return head.status != 200  # "accepted", "no content": no model answers like this
        if not reply or streams or not look.is_document:
            unrecognized = look.shows_nothing(over=not reply)
            if unrecognized is not None:
                return unrecognized
    return False


_UNTOLD = object()


class Look:
    """What the beginning of an answer shows. Each piece is read once, however small.

    >>> from tenuto.wires.registry import wires
    >>> def look(answer: bytes, over: bool) -> bool | None:
    ...     seen = Look(wires()["openai-chat"])
    ...     seen.feed(answer)
    ...     return seen.shows_nothing(over=over)
    >>> look(b'{"reply": "Hi"}', over=True), look(b"Hi", over=False)
    (True, True)
    >>> look(b'{"choices": []}', over=True), look(b"{", over=True), look(b"{", over=False)
    (False, False, None)
    """

    def __init__(self, wire: Wire) -> None:
        self.size: int = 0
        self._wire = wire
        self._first = b""  # until it shows how the answer is framed
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

    def feed(self, piece: bytes) -> None:
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
            self._feed_events(piece)
        elif self.is_document:
            self._feed_document(piece)

    def _feed_events(self, piece: bytes) -> None:
        for event in self._events.feed(piece):
            if event.data and event.data.strip():
                ends = self._wire.is_terminator(event.data)
                self._tell(_UNTOLD if ends else event_object(event))
                self._told = True
                return

    def _feed_document(self, piece: bytes) -> None:
        self._document.add(piece)
        if self._objects.feed(piece) and not self._tried:
            self._tried = True  # otherwise an answer of braces would be read again for each
            self._tell(_first_value(self._document.whole))

    def _tell(self, value: object) -> None:
        self._value, self._told = value, value is not _UNTOLD

    def shows_nothing(self, *, over: bool) -> bool | None:
        """Return whether what came belongs to no wire; None if more is needed. `over`: whether no
        more comes."""
        if self._framing is None:
            return None if self._may_be_more and not over else True
        if self._framing is Framing.PAGE:
            return True
        if self._framing is Framing.MESSAGES:
            return False
        if over and self.is_document and self._value is _UNTOLD:
            self._tell(_first_value(self._document.whole))
        if self._value is _UNTOLD:
            return False if over else None  # half an answer is not taken for something else
        return not (isinstance(self._value, dict) and _is_of(self._wire, self._value))


def _first_value(document: bytes) -> object:
    """Return the document, or the first of its lines, or the first element of its array."""
    text = as_utf8(document).decode("utf-8", "replace").lstrip().removeprefix("[").lstrip()
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return _UNTOLD


def _is_of(wire: Wire, value: JsonObject) -> bool:
    """Return whether an object may be the wire's: by its form, or as an error."""
    odd = value.get("error") or value.get("type") == "ping"
    return bool(odd) or wire.looks_like(value) or not _TELLING.isdisjoint(value)
