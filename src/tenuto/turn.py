"""`Turn`: the machine without I/O, for a loop of one's own.

Theory of operation
-------------------
A turn is told what came and says what to do: send this request, read on, hand these bytes to the
caller, wait. Whoever drives it has the sockets and the clock; the turn decides. It is the very pipe
that `wrap()` drives (`relay.pipe`), so that both finish a turn alike.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from tenuto.config import policy_in_force
from tenuto.core.errors import PolicyError, TurnError
from tenuto.core.event import OnEvent
from tenuto.core.fault import FaultKind
from tenuto.core.policy import Policy
from tenuto.core.report import Report
from tenuto.providers.learned import Learned
from tenuto.relay.commands import (
    Command,
    Head,
    Lost,
    Open,
    Read,
    Reply,
    Request,
    Reraise,
    Transmit,
    Wait,
    Write,
    encoded,
)
from tenuto.relay.engine import Engine
from tenuto.relay.watch import nobody
from tenuto.wire.registry import wires

_learned = Learned()

REPLIES: dict[type, tuple[type, ...]] = {
    Transmit: (Head, Lost),
    Read: (bytes, Lost),
    Open: (type(None),),
    Write: (type(None),),
    Wait: (type(None),),
    Reraise: (type(None),),
}
"""What each command is answered with."""


class Turn:
    """One turn of a model, finished, with no I/O of its own.

    `next()` gives a command; carry it out and give the reply to the following `next()`, until it
    gives None:

    - `Transmit(headers, body, edited, timeout_s, within_s)`: send this request to the turn's URL,
      closing the response before it; reply with its `Head(status, headers)`, or with
      `Lost(kind, error)`.
    - `Read()`: read on; reply with the bytes as they came, b"" at the end, or `Lost`. Its `take`
      may be left aside: it saves a driver of many streams a step for each event.
    - Both may bound the wait: `within_s()` tells how many seconds are left. Where nothing came by
      then, reply with a `Lost` whose kind is `FaultKind.TIMEOUT`.
    - `Open(head)`, then `Write(data, last)`: what the caller is to see; no reply. With `last` all
      is said, whatever still follows.
    - `Wait(seconds)`: wait; no reply.
    - `Reraise(error)`: the connection failed before anything came; raise the error, or try again.

    Args:
        method: the request's method.
        url: its URL, by which the wire and the provider are found.
        headers: its headers, as pairs of text.
        body: its body.
        policy: the limits; None: those of `[tool.tenuto]`, tenuto.toml and `TENUTO_*`, else the
            defaults.
        on_event: called with each `Event`.
        timeout_s: how long the caller waits for a read, and for a whole body, in seconds; None: for
            ever.

    Raises:
        TurnError: the request asks no model for a turn on a wire that is known; send it as it is.
        PolicyError: a setting is not allowed.

    >>> from tenuto.relay.scripted import Script, Scripted  # a provider by script
    >>> half = b'{"choices":[{"message":{"content":"Half of it"},"finish_reason":"length"}]}'
    >>> rest = b'{"choices":[{"message":{"content":" and the rest."},"finish_reason":"stop"}]}'
    >>> provider = Script(Scripted.body(half), Scripted.body(rest))
    >>> body = b'{"model":"m","messages":[{"role":"user","content":"Say it."}]}'
    >>> turn = Turn("POST", "https://host/v1/chat/completions", [], body, policy=Policy())
    >>> reply, seen = None, []
    >>> while (command := turn.next(reply)) is not None:
    ...     reply = None
    ...     match command:
    ...         case Transmit():
    ...             upstream = provider.connect(command)
    ...             reply = upstream.head
    ...         case Read():
    ...             reply = upstream.read()
    ...         case Write(data):
    ...             seen.append(data)
    >>> b"Half of it and the rest." in b"".join(seen)
    True
    >>> turn.report.status, turn.report.attempts
    ('complete', 2)
    """

    def __init__(
        self,
        method: str,
        url: str,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        *,
        policy: Policy | None = None,
        on_event: OnEvent | None = None,
        timeout_s: float | None = None,
    ) -> None:
        if policy is not None and not isinstance(policy, Policy):
            raise PolicyError(f"policy is {policy!r}, allowed is a tenuto.Policy, or none")
        if on_event is not None and not callable(on_event):
            raise PolicyError(f"on_event is {on_event!r}, allowed is a callable, or none")
        request = _request(method, url, headers, body, timeout_s)
        engine = Engine(policy_in_force(policy), on_event or nobody, _learned)
        asked = engine.read(request)
        if asked is None:
            raise TurnError(
                f"{method} {url.partition('?')[0]} with this body is no request for a turn that "
                f"can be read, on none of the wires that are known ({', '.join(wires())}): send it "
                "as it is"
            )
        self._record, self._run = engine.run(asked)
        self._asked: Command | None = None
        self._over = False

    def next(self, reply: Reply = None) -> Command | None:
        """The next command, None once the turn is over.

        Args:
            reply: the answer to the command before; None for the first, and for commands that
                have none.

        Raises:
            TurnError: the reply is none that the command before is answered with.
        """
        if self._over:
            return None
        if isinstance(reply, bytearray | memoryview):
            reply = bytes(reply)
        self._check(reply)
        try:
            self._asked = self._run.send(reply)
        except StopIteration:
            self._asked, self._over = None, True
        if self._over:  # closed by who was told of an event, while the turn was inside
            self._asked = None
            self._run.close()
        return self._asked

    def close(self) -> None:
        """End the turn at once: the caller went away (C23). May be called twice."""
        self._over = True
        # Where another thread is just inside, the run ends with what that one is doing.
        with contextlib.suppress(ValueError):
            self._run.close()

    @property
    def report(self) -> Report | None:
        """How the turn ended, what each attempt used, and by which rungs. None before its end, and
        where there is nothing to tell: no connection was made, or what came could not be read and
        was handed on."""
        return self._record.watch.report

    def _check(self, reply: Any) -> None:
        allowed = (type(None),) if self._asked is None else REPLIES[type(self._asked)]
        if not isinstance(reply, allowed):
            asked = type(self._asked).__name__ if self._asked is not None else "the first command"
            words = " or ".join("None" if t is type(None) else t.__name__ for t in allowed)
            raise TurnError(f"{asked} is answered with {words}, not {type(reply).__name__}")
        if isinstance(reply, Head) and not (
            isinstance(reply.status, int)
            and isinstance(reply.headers, tuple)
            and all(_is_pair_of_bytes(pair) for pair in reply.headers)
        ):
            raise TurnError("a Head is a status number, and a tuple of pairs of bytes")
        if isinstance(reply, Lost) and not (
            isinstance(reply.kind, FaultKind) and isinstance(reply.error, Exception)
        ):
            raise TurnError("a Lost is a FaultKind and the exception that was raised")


def _is_pair_of_bytes(pair: object) -> bool:
    return isinstance(pair, tuple) and [type(part) for part in pair] == [bytes, bytes]


def _request(method: Any, url: Any, headers: Any, body: Any, timeout_s: float | None) -> Request:
    """The request; `TurnError` where it cannot be one, in the caller's words."""
    for name, value, kind in (("method", method, str), ("url", url, str), ("body", body, bytes)):
        if not isinstance(value, kind):
            raise TurnError(f"{name} is {type(value).__name__}, allowed is {kind.__name__}")
    try:
        urlsplit(url)
    except ValueError as error:
        raise TurnError(f"url is {url!r}, which is none: {error}") from None
    try:
        pairs = encoded(headers)
    except (AttributeError, TypeError, ValueError):
        raise TurnError("headers are no pairs of Latin-1 text, as dict.items() gives") from None
    return Request(method, url, pairs, body, timeout_s)
