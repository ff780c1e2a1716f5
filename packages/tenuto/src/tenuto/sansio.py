"""`Turn`: the machine without I/O, for a loop of one's own.

Theory of operation
-------------------
A turn is told what came and says what to do: send this request, read on, hand these bytes to the
caller, wait. Whoever drives it has the sockets and the clock; the turn decides. It is the very pipe
that `wrap()` drives (`turn.pipeline.pipe`), so that both finish a turn alike.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from msgspec import structs

from tenuto.config import policy_in_force
from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.stop import printable
from tenuto.core.errors import PolicyError, TurnError
from tenuto.core.events.event import OnEvent
from tenuto.core.events.report import Report
from tenuto.core.settings.names import refuses_unknown
from tenuto.core.settings.policy import RULES, Policy
from tenuto.core.settings.rule import shown
from tenuto.providers.learned import Learned
from tenuto.providers.registry import route
from tenuto.telemetry.redaction import Redactor
from tenuto.turn.drivers.commands import (
    Command,
    Commands,
    ConnectionLost,
    Head,
    RaiseError,
    ReadMore,
    Reply,
    Request,
    SendData,
    SendRequest,
    Sleep,
    StartResponse,
)
from tenuto.turn.drivers.mark import Marking, marked
from tenuto.turn.pipeline.engine import Engine
from tenuto.turn.record.turn_log import TurnLog, ignore_event
from tenuto.turn.record.turn_record import TurnRecord, TurnRequest
from tenuto.turn.settings import switch
from tenuto.turn.short_path.body import Short
from tenuto.wires.registry import wires

__all__ = [
    "Command",
    "ConnectionLost",
    "Head",
    "RaiseError",
    "ReadMore",
    "Reply",
    "SendData",
    "SendRequest",
    "Sleep",
    "StartResponse",
    "Turn",
]

_learned = Learned()


class _Engines(NamedTuple):
    """What turns of one policy share: the engine of those that nobody watches, and that of those
    with a report; and both again of those that serve other programs."""

    policy: Policy
    learned: Learned
    quiet: Engine
    reporting: Engine
    serving: tuple[Engine, Engine]


_engines: dict[int, _Engines] = {}
"""By the identity of their policy, which is kept with them. They belong to the process: what one
turn teaches of a provider holds for the next, and the environment is read once for a policy."""

_MOST_ENGINES = 64


def _engines_of(policy: Policy | None) -> _Engines:
    """The engines of a policy that is seen for the first time. Of None the files and variables may
    be others with each turn."""
    switch.obey(os.environ)
    in_force = policy_in_force(policy)
    quiet = Engine(in_force, None, _learned)
    served = quiet.serving()
    serving = served, served.with_listener(ignore_event)
    reporting = quiet.with_listener(ignore_event)
    made = _Engines(in_force if policy is None else policy, _learned, quiet, reporting, serving)
    if policy is not None:
        while len(_engines) >= _MOST_ENGINES:
            _engines.pop(next(iter(_engines), 0), None)
        _engines[id(policy)] = made
    return made


REPLIES: dict[type, tuple[type, ...]] = {
    SendRequest: (Head, ConnectionLost),
    ReadMore: (bytes, ConnectionLost),
    StartResponse: (type(None),),
    SendData: (type(None),),
    Sleep: (type(None),),
    RaiseError: (type(None),),
}
"""What each command is answered with."""

_PLAIN_REPLIES: dict[type, frozenset[type]] = {
    type(None): frozenset({type(None)}),
    **{command: frozenset(replies) - {ConnectionLost} for command, replies in REPLIES.items()},
}
"""The same without what comes seldom, and is looked at more closely."""


@refuses_unknown(PolicyError, settings=RULES)
class Turn:
    """A turn of a model that Tenuto finishes, without any I/O.

    `next()` returns a command. Carry it out, and pass the reply to the next call of `next()`, until
    it returns None:

    - `SendRequest(headers, body, edited, timeout_s, within_s, url)`: close the previous response,
      and send this request to the turn's URL; reply with `Head(status, headers)` or
      `ConnectionLost(kind, error)`. If `url` is not None (only with `fetches`), send a GET without
      a body to it instead, which is on the same host.
    - `ReadMore()`: read more of the response; reply with the bytes as received, b"" at the end, or
      `ConnectionLost`. You can ignore its `take`, which saves a step per event.
    - Both may limit the wait: `within_s()` returns the seconds left. If nothing arrives by then,
      reply with a `ConnectionLost` of the kind `FaultKind.TIMEOUT`.
    - `StartResponse(head)`, then `SendData(data, last)`: pass these to the caller; no reply. After
      `last`, the answer is complete.
    - `Sleep(seconds)`: wait; no reply.
    - `RaiseError(error)`: the connection failed, or nothing else makes your caller's SDK raise;
      raise the error, or break your caller's own connection. If you have passed on nothing so far,
      you can also begin a new turn.

    Args:
        method: the request's method.
        url: its URL, which determines the wire and the provider.
        headers: its headers, as pairs of text or of bytes.
        body: its body.
        policy: the limits; None: those of `[tool.tenuto]`, tenuto.toml and `TENUTO_*`, or else the
            defaults.
        on_event: called with each `Event`.
        serves: whether the answer goes to another program, as from a gateway. It is then marked in
            its header `x-tenuto-turn`, so that a Tenuto in that program leaves it alone instead of
            finishing it once more; and headers `x-tenuto-…` of the upstream are removed.
        fetches: whether you carry out a `SendRequest` with a `url`. Some providers keep an answer,
            and the rest of its stream is then fetched when the connection broke.
        timeout_s: how long the caller waits for a read, in seconds, more than 0; None: no limit. If
            the answer is not streamed, waits and further attempts end no later than this too. The
            first attempt as a whole is not limited: it may take longer if it arrives slowly.

    Raises:
        TurnError: an argument has the wrong type or a value that is not allowed; or the request is
            not a turn on a known wire, or its body holds half a surrogate pair. In the last two
            cases, send the request yourself, unchanged.
        PolicyError: a setting is not allowed, or `policy` or `on_event` has the wrong type.

    >>> from tenuto.turn.drivers.scripted import Script, Scripted  # a provider by script
    >>> half = b'{"choices":[{"message":{"content":"Half of it"},"finish_reason":"length"}]}'
    >>> rest = b'{"choices":[{"message":{"content":" and the rest."},"finish_reason":"stop"}]}'
    >>> provider = Script(Scripted.body(half), Scripted.body(rest))
    >>> body = b'{"model":"m","messages":[{"role":"user","content":"Say it."}]}'
    >>> turn = Turn("POST", "https://host/v1/chat/completions", [], body, policy=Policy())
    >>> reply, seen = None, []
    >>> while (command := turn.next(reply)) is not None:
    ...     reply = None
    ...     match command:
    ...         case SendRequest():
    ...             upstream = provider.connect(command)
    ...             reply = upstream.head
    ...         case ReadMore():
    ...             reply = upstream.read()
    ...         case SendData(data):
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
        headers: Iterable[tuple[str, str] | tuple[bytes, bytes]],
        body: bytes,
        *,
        policy: Policy | None = None,
        on_event: OnEvent | None = None,
        timeout_s: float | None = None,
        serves: bool = False,
        fetches: bool = False,
    ) -> None:
        request = _request(method, url, headers, body, timeout_s)
        if fetches:
            request = structs.replace(request, fetches=True)
        engines = _engines.get(id(policy))
        if engines is None or engines.policy is not policy or engines.learned is not _learned:
            engines = _engines_of(policy)
        quiet, reporting = engines.quiet, engines.reporting
        if serves:
            quiet, reporting = engines.serving
        if on_event is None:
            taken = quiet.begin_quick(request, reporting)
        else:
            reporting = reporting.with_listener(on_event)
            taken = reporting.read(request)
        if taken is None:
            asked = f"{printable(method)} {_shown(url).partition('?')[0]}"
            raise TurnError(
                f"Tenuto cannot read {asked} as a turn: {_why_unread(request)}; send the request "
                "unchanged"
            )
        self._run: Commands
        self._told: Short | TurnLog
        marking: Short | TurnRecord
        if isinstance(taken, TurnRequest):
            marking, self._run = reporting.run(taken)
            self._told = marking.log
        else:
            self._run = self._told = marking = taken
        self._marking: Marking | None = marking if serves else None
        self._asked: Command | None = None
        self._reading: ReadMore | None = None  # takes what comes without the run
        self._over = False

    def next(self, reply: Reply = None) -> Command | None:
        """Return the next command, or None when the turn is over.

        Args:
            reply: the reply to the previous command; None for the first call, and for commands
                without a reply.

        Raises:
            TurnError: the previous command doesn't allow this reply.
        """
        if self._over:
            return None
        kind, reading = type(reply), self._reading
        if reading is not None:
            if reply is None and self._asked is not reading:
                self._asked = reading  # behind what it took
                return reading
            if kind is bytes and reply and self._asked is reading:
                out = reading.take(reply)  # type: ignore[misc, arg-type]
                if out:
                    written = self._asked = SendData(out)
                    return written
                if out is not None:
                    return reading
        if kind not in _PLAIN_REPLIES[type(self._asked)] or (
            kind is Head and not _is_sound(reply)  # type: ignore[arg-type]
        ):
            reply = self._checked(reply)
        try:
            asked = self._asked = self._run.send(reply)
        except StopIteration:
            self._asked, self._over = None, True
            return None
        if self._over:  # closed by who was told of an event, while the turn was inside
            self._asked = None
            self._run.close()
            return None
        if self._marking is not None and isinstance(asked, StartResponse):
            mark = self._marking.mark(events=asked.events)
            asked = self._asked = StartResponse(marked(asked.head, mark), asked.events)
        self._reading = asked if type(asked) is ReadMore and asked.take is not None else None
        return asked

    def close(self) -> None:
        """End the turn at once, because the caller went away (C23). You can call it twice."""
        self._over = True
        # Where another thread is just inside, the run ends with what that one is doing.
        with contextlib.suppress(ValueError):
            self._run.close()

    @property
    def report(self) -> Report | None:
        """How the turn ended, what each attempt used, and which rungs were taken. None before the
        end, if no connection was made, and if Tenuto passed the answer on unread."""
        return self._told.report

    def _checked(self, reply: Any) -> Reply:
        """A reply that the command before is answered with; `TurnError` for all others."""
        if isinstance(reply, bytearray | memoryview):
            reply = bytes(reply)
        checked: Reply = reply
        allowed = (type(None),) if self._asked is None else REPLIES[type(self._asked)]
        if not isinstance(reply, allowed):
            asked = type(self._asked).__name__ if self._asked is not None else "the first command"
            words = " or ".join("None" if t is type(None) else t.__name__ for t in allowed)
            raise TurnError(f"the reply to {asked} must be {words}, not {type(reply).__name__}")
        if isinstance(reply, Head) and not _is_sound(reply):
            raise TurnError("a Head needs a status number and a tuple of pairs of bytes")
        if isinstance(reply, ConnectionLost) and not (
            isinstance(reply.kind, FaultKind) and isinstance(reply.error, Exception)
        ):
            raise TurnError("a ConnectionLost needs a FaultKind and the exception that was raised")
        return checked


def _is_sound(head: Head) -> bool:
    """Whether a head is what its type says, looked at in one go: every turn has one."""
    if not isinstance(head.status, int) or not isinstance(head.headers, tuple):
        return False
    try:
        for pair in head.headers:
            name, value = pair
            if type(name) is not bytes or type(value) is not bytes or not isinstance(pair, tuple):
                return False
    except (TypeError, ValueError):  # no pair
        return False
    return True


def _shown(url: str) -> str:
    """The URL as an error may say it."""
    return Redactor(url, ()).url(url)


@lru_cache(maxsize=256)
def _check_url(url: str) -> None:
    """Raise a `TurnError` for what is no URL. A caller has the same few again and again."""
    try:
        parts = urlsplit(url)
        url.encode()
    except ValueError as error:
        raise TurnError(f"url is {_shown(url)!r}, which is not a URL: {error}") from None
    try:
        _ = parts.port
    except ValueError:
        raise TurnError(f"the port of url must be a number up to 65535: {_shown(url)!r}") from None
    if not parts.hostname:
        raise TurnError(f"url is {_shown(url)!r}, which names no host")


def _request(method: Any, url: Any, headers: Any, body: Any, timeout_s: Any) -> Request:
    """The request; `TurnError` where it cannot be one, in the caller's words."""
    if not (isinstance(method, str) and isinstance(url, str) and isinstance(body, bytes)):
        kinds = (("method", method, str), ("url", url, str), ("body", body, bytes))
        for what, given, kind in kinds:
            if not isinstance(given, kind):
                found = type(given).__name__
                raise TurnError(f"{what} is of type {found}, but it must be {kind.__name__}")
    if timeout_s is not None and not _is_time(timeout_s):
        raise TurnError(
            f"timeout_s is {shown(timeout_s)}, but it must be a finite number of seconds, more "
            "than 0, or None"
        )
    _check_url(url)
    pairs: list[tuple[bytes, bytes]] = []
    pair: Any = None
    try:
        for pair in headers:
            name, value = pair
            if type(name) is not bytes or type(value) is not bytes:
                if isinstance(pair, str):  # a header's name of two letters, of a dictionary
                    raise TypeError
                name, value = name.encode("latin-1"), value.encode("latin-1")  # pyright: ignore[reportAttributeAccessIssue]
            pairs.append((name, value))
    except (AttributeError, TypeError, ValueError):
        raise TurnError(
            "headers must be pairs of Latin-1 text or of bytes, as dict.items() returns"
            f"{_of_header(pair)}"
        ) from None
    return Request(method, url, tuple(pairs), body, timeout_s)


def _of_header(pair: object) -> str:
    """Return which header is wrong, without its value, which may be a secret."""
    match pair:
        case [str() | bytes() as name, _]:
            return f"; that is not so for {shown(name)}"
    return ""


def _is_time(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return 0 < float(value) < math.inf
    except OverflowError:
        return False


def _why_unread(request: Request) -> str:
    """Why a request is no turn: what the caller can see and mend."""
    if request.method != "POST":
        return "its method is not POST"
    wire = route(request.url)[0]
    if wire is None:
        return f"its path is that of no known wire ({', '.join(wires())})"
    try:
        value = json.loads(request.body)
    except UnicodeDecodeError as error:
        return f"the body is not UTF-8 at byte {error.start}"
    except (ValueError, RecursionError):
        return "the body is not JSON"
    if not isinstance(value, dict):
        return "the body is not a JSON object"
    if place := _half_pair(value):
        return f"{place} in the body holds half a surrogate pair, which is no text"
    return f"the body is no request of {wire.name}: a member is missing or of the wrong type"


def _half_pair(value: Any) -> str:
    """Where in a JSON value a text is that holds half a surrogate pair; "": nowhere.

    >>> _half_pair({"messages": [{"content": "\\ud83d"}]})
    'messages[0].content'
    """
    left: list[tuple[str, Any]] = [("", value)]
    while left:
        place, one = left.pop()
        if isinstance(one, dict):
            left += [(f"{place}.{printable(key)}".strip("."), below) for key, below in one.items()]
            left += [(f"the name of a member of {place or 'it'}", key) for key in one]
        elif isinstance(one, list):
            left += [(f"{place}[{at}]", below) for at, below in enumerate(one)]
        elif isinstance(one, str) and _LONE.search(one):
            return place
    return ""


_LONE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: a whole one is a character by the time that its JSON is decoded."""
