"""A scripted provider, for tests of a driver, a policy or a listener without a socket.

>>> from tenuto.core.settings.policy import Policy
>>> from tenuto.turn.drivers.commands import Request
>>> from tenuto.turn.drivers.drive import Drive
>>> from tenuto.turn.pipeline.engine import Engine
>>> half = b'{"choices":[{"message":{"content":"Half of it"},"finish_reason":"length"}]}'
>>> rest = b'{"choices":[{"message":{"content":" and the rest."},"finish_reason":"stop"}]}'
>>> script = Script(Scripted.body(half), Scripted.body(rest))
>>> body = b'{"model":"m","messages":[{"role":"user","content":"Say it."}]}'
>>> run = Engine(Policy()).begin(Request("POST", "https://host/v1/chat/completions", (), body))
>>> head, answer = Drive(run, script.connect).pieces()
>>> b"Half of it and the rest." in answer, len(script.transmitted)
(True, 2)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from tenuto.core.answer.fault import FaultKind
from tenuto.turn.drivers.commands import ConnectionLost, Head, Headers, SendRequest


@dataclass(frozen=True, slots=True)
class Scripted:
    """One response: its head, and its bytes piece by piece. A `ConnectionLost` breaks it off."""

    head: Head
    pieces: tuple[bytes | ConnectionLost, ...]

    @classmethod
    def body(
        cls, *pieces: bytes | ConnectionLost, status: int = 200, headers: Headers = ()
    ) -> Self:
        """Return a response with a whole JSON body."""
        return cls(Head(status, ((b"content-type", b"application/json"), *headers)), pieces)

    @classmethod
    def stream(cls, *pieces: bytes | ConnectionLost, headers: Headers = ()) -> Self:
        """Return a response with a stream of server-sent events."""
        return cls(Head(200, ((b"content-type", b"text/event-stream"), *headers)), pieces)


def lost(kind: FaultKind = FaultKind.CONNECTION) -> ConnectionLost:
    """Return a broken connection, as the answer to a request or as a piece of one.

    >>> lost().kind.value
    'connection'
    """
    return ConnectionLost(kind, ConnectionError(f"scripted: {kind.value}"))


class Script:
    """Answers requests one after the other, and keeps them. It repeats the last answer for ever.

    Args:
        answers: a response, or a `ConnectionLost` for a connection that is never made.
    """

    def __init__(self, *answers: Scripted | ConnectionLost) -> None:
        self.answers = answers
        self.transmitted: list[SendRequest] = []
        self.opened: list[ScriptedUpstream] = []

    def connect(self, command: SendRequest) -> ScriptedUpstream | ConnectionLost:
        """Answer a request; pass this to `turn.drivers.drive.Drive`."""
        answer = self.answers[min(len(self.transmitted), len(self.answers) - 1)]
        self.transmitted.append(command)
        if isinstance(answer, ConnectionLost):
            return answer
        self.opened.append(ScriptedUpstream(answer))
        return self.opened[-1]


class ScriptedUpstream:
    """`turn.drivers.drive.Upstream` over a scripted response. After a break, every read gives the
    break again."""

    def __init__(self, answer: Scripted) -> None:
        self.head: Head = answer.head
        self.closed: bool = False
        self.pieces: Iterator[bytes] = self
        self._pieces = list(answer.pieces)

    def read(self) -> bytes | ConnectionLost:
        """Return the next piece, for a loop of your own; b"" at the end."""
        if not self._pieces:
            return b""
        if isinstance(self._pieces[0], ConnectionLost):
            return self._pieces[0]
        return self._pieces.pop(0)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if not self._pieces:
            raise StopIteration
        if isinstance(piece := self.read(), ConnectionLost):
            raise piece.error
        return piece

    def lost(self, error: Exception) -> ConnectionLost | None:
        """Return the break of the script."""
        return next(
            (p for p in self._pieces if isinstance(p, ConnectionLost) and p.error is error), None
        )

    def close(self) -> None:
        """Note that nothing more is wanted."""
        self.closed = True
