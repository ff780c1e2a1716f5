"""The commands and replies between the pipe and its drivers.

The pipe is a generator that yields commands and receives replies. It does no I/O; a driver does
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Protocol
from urllib.parse import urlsplit

import msgspec

from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.stop import printable
from tenuto.turn.drivers.call_context import CallContext

Headers = tuple[tuple[bytes, bytes], ...]
"""Names and values as they are on the wire. Names are compared without case."""


def encoded(headers: Iterable[tuple[str, str]]) -> Headers:
    """Encode headers given as text; `decoded` is the inverse.

    >>> encoded([("Accept", "*/*")])
    ((b'Accept', b'*/*'),)
    """
    return tuple((k.encode("latin-1"), v.encode("latin-1")) for k, v in headers)


def decoded(headers: Headers) -> tuple[tuple[str, str], ...]:
    """Return headers as text, byte by byte."""
    return tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in headers)


def _sizes(headers: Headers, body: bytes | None = None) -> str:
    """Return headers and body for a log: names only, because values may be keys."""
    names = ", ".join(printable(name.decode("latin-1")) for name, _ in headers)
    return f"headers: {names or 'none'}" + (f"; {len(body)} bytes" if body is not None else "")


def _address(url: str) -> str:
    """Return a URL without the parts that may hold a key: user, query and fragment."""
    parts = urlsplit(url)
    return printable(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}", 200)


BODY_HEADERS = (b"content-length", b"content-encoding", b"transfer-encoding")
"""Headers that describe exactly the bytes received."""


class Request(msgspec.Struct, frozen=True):
    """The caller's request. `timeout_s`: how long the caller waits for a read, None for ever;
    `context`: what an agent's loop passes with it (`turn.drivers.call_context`), None for all other
    callers; `fetches`: whether its driver carries out a `SendRequest` with a `url`."""

    method: str
    url: str
    headers: Headers
    body: bytes
    timeout_s: float | None = None
    context: CallContext | None = None
    fetches: bool = False

    def __repr__(self) -> str:
        return f"Request({self.method} {_address(self.url)}, {_sizes(self.headers, self.body)})"


class Head(msgspec.Struct, frozen=True):
    """Status and headers of a response."""

    status: int
    headers: Headers

    def __repr__(self) -> str:
        return f"Head({self.status}, {_sizes(self.headers)})"

    def get(self, name: bytes) -> str:
        """Return the value of a header, by lower-case name; "" if there is none."""
        for key, value in self.headers:
            if len(key) == len(name) and key.lower() == name:
                return value.decode("latin-1")
        return ""

    @property
    def is_good(self) -> bool:
        """Whether the status is that of a model's answer."""
        return 200 <= self.status < 300

    @property
    def coding(self) -> str:
        """The body's content coding. Several headers of the same name form one list
        (https://www.rfc-editor.org/rfc/rfc9110#section-5.3)."""
        name = b"content-encoding"
        lines = [v for k, v in self.headers if len(k) == len(name) and k.lower() == name]
        return b", ".join(lines).decode("latin-1")

    def without(self, *names: bytes) -> Head:
        """Return this head without some headers."""
        return Head(self.status, tuple([h for h in self.headers if h[0].lower() not in names]))

    def plus(self, *headers: tuple[bytes, bytes]) -> Head:
        """Return this head with further headers."""
        return Head(self.status, (*self.headers, *headers))

    def of(self, body: bytes) -> Head:
        """Return this head for another body."""
        return self.without(*BODY_HEADERS).plus((b"content-length", b"%d" % len(body)))


LeftS = Callable[[], float]
"""Returns the number of seconds left, 0 or less if there are none."""


class SendRequest(msgspec.Struct, frozen=True):
    """Close the previous response, then send this request to the provider. Don't follow a redirect
    of a further request to another host: reply with the redirect itself.

    Attributes:
        headers, body: as they are sent.
        edited: whether the body differs from the caller's own.
        timeout_s: the longest single wait, in seconds; None: the caller's own setting.
        within_s: returns the seconds left for the whole head, however many waits it takes. If it
            hasn't arrived by then, reply with a `ConnectionLost` of the kind `FaultKind.TIMEOUT`.
            None: no limit.
        url: fetch this URL, which is on the same host, with a GET and no body; None: the caller's
            own method and URL. Only for a request whose `fetches` is set.

    Reply: `Head`, or `ConnectionLost`."""

    headers: Headers
    body: bytes
    edited: bool
    timeout_s: float | None = None
    within_s: LeftS | None = None
    url: str | None = None

    def __repr__(self) -> str:
        whose = "edited" if self.edited else "the caller's own"
        return f"SendRequest({_sizes(self.headers, self.body)}, {whose})"


class ReadMore(msgspec.Struct, frozen=True):
    """Read more of the response. Reply: the bytes as received, b"" at the end, or `ConnectionLost`.

    `take` saves steps in a driver that passes bytes on as they arrive: called with bytes that were
    read, it returns those for the caller, which may be empty, and the driver reads on. The first
    bytes for which it returns None are the reply. A driver that ignores `take` replies at once, and
    gets a `SendData`.

    `within_s` returns the seconds left for this read. If nothing arrives by then, reply with
    a `ConnectionLost` of the kind `FaultKind.TIMEOUT`. None: no limit. Never used together with
    `take`."""

    take: Callable[[bytes], bytes | None] | None = None
    within_s: LeftS | None = None


class StartResponse(msgspec.Struct, frozen=True):
    """Pass this head to the caller. It comes once, before the first `SendData`. Reply: None.

    `events`: whether server-sent events follow, whatever the head says; otherwise a body, or bytes
    as received."""

    head: Head
    events: bool = False


class SendData(msgspec.Struct, frozen=True):
    """Pass these bytes to the caller. Reply: None, when the caller asks for more.

    `last`: nothing follows but perhaps a line after the end mark, or the end of the connection."""

    data: bytes
    last: bool = False

    def __repr__(self) -> str:
        return f"SendData({len(self.data)} bytes, last={self.last})"


class Sleep(msgspec.Struct, frozen=True):
    """Close the current response and wait, for 0 seconds if only the first is needed. Reply:
    None."""

    seconds: float


class Unfinished(ConnectionError):
    """The turn can't be finished, and the caller's SDK raises on no event of a stream (P1a). A
    driver that has a transport raises the transport's own exception instead, which the SDK knows.
    """


class RaiseError(msgspec.Struct, frozen=True):
    """Raise the exception of the caller's own transport, which the SDK knows: before the head,
    where it may retry, or in the middle of a stream that nothing could finish (P1c)."""

    error: Exception


class ConnectionLost(msgspec.Struct, frozen=True):
    """The connection failed: a reply to `SendRequest` or `ReadMore`."""

    kind: FaultKind
    error: Exception


def timed_out() -> ConnectionLost:
    """Return the reply for a wait that took longer than there was time (C29a).

    >>> timed_out().kind.value
    'timeout'
    """
    return ConnectionLost(
        FaultKind.TIMEOUT, TimeoutError("it did not come in the time that was left")
    )


Command = SendRequest | ReadMore | StartResponse | SendData | Sleep | RaiseError
"""A command from a turn to its driver."""

Reply = Head | bytes | ConnectionLost | None
"""A driver's reply: a `Head` or `ConnectionLost` to `SendRequest`, bytes or `ConnectionLost` to
`ReadMore`, None to all other commands."""

Run = Generator[Command, Reply, None]
"""A turn, or a part of one."""


class Commands(Protocol):
    """A turn as its driver sees it: a `Run`, or an object with the same interface."""

    @property
    def send(self) -> Callable[[Reply], Command]:
        """A function that takes a reply and returns the next command; raises StopIteration at the
        end."""
        ...

    def close(self) -> None:
        """End the turn at once."""


READ = ReadMore()


def reading(within_s: LeftS | None) -> ReadMore:
    """Return the command to read on, for as long as `within_s` says."""
    return READ if within_s is None else ReadMore(within_s=within_s)
