"""Turns on wires that are not built in, whose code may raise.

A turn must not be worse for its caller than without Tenuto. So if such a wire raises, the caller
gets the rest of the first answer as it came. Text of further requests that was passed on before
stays in front of the end of that answer.
"""

from __future__ import annotations

from tenuto.core.errors import TenutoError
from tenuto.turn.drivers.commands import (
    Command,
    ConnectionLost,
    Head,
    RaiseError,
    ReadMore,
    Reply,
    Request,
    Run,
    SendData,
    SendRequest,
    StartResponse,
    reading,
)
from tenuto.turn.receiving.unread import rest_of_response
from tenuto.wires.outside import tell_once


def spared(run: Run, request: Request, wire: str) -> Run:
    """Return the same turn. If its wire raises, the first answer is passed on instead.

    Args:
        request: the caller's own.
        wire: the wire's name, for the log.
    """
    first, reply = _FirstAnswer(), None
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                return
            except TenutoError:  # a mistake of the caller's
                raise
            except Exception as error:
                if first.is_rewritten:
                    raise
                tell_once(
                    f"{wire} in a turn",
                    "the wire %s raised %s in a turn, whose first answer is passed on as it came "
                    "(this is said once)",
                    *(wire, error),
                )
                yield from first.rest(request)
                return
            first.note_command(command)
            # Without `take`: bytes that it passes on would be missing here.
            reply = yield reading(command.within_s) if isinstance(command, ReadMore) else command
            first.note_reply(reply)
    finally:
        run.close()


class _FirstAnswer:
    """The first answer of a turn, as far as the caller doesn't have it.

    Attributes:
        is_rewritten: whether the caller has it in other bytes, such as unpacked ones, so that
            its rest can't be told.
    """

    def __init__(self) -> None:
        self.is_rewritten = False
        self._requests = 0
        self._head: Head | None = None
        self._is_opened = False
        self._left = bytearray()
        self._end: Reply = None  # b"" or what broke it off

    def note_command(self, command: Command) -> None:
        """Note what the turn does."""
        match command:
            case SendRequest():
                self._requests += 1
            case StartResponse():
                self._is_opened = True
            case SendData(data) if self._left.startswith(data):
                del self._left[: len(data)]
            case SendData() | RaiseError() if self._requests == 1:
                self.is_rewritten = True

    def note_reply(self, reply: Reply) -> None:
        """Note what came, as long as it is of the first answer."""
        if self._requests > 1:
            return
        if isinstance(reply, Head):
            self._head = reply
        elif isinstance(reply, bytes) and reply:
            self._left += reply
        elif reply is not None:
            self._end = reply

    def rest(self, request: Request) -> Run:
        """Pass on what the caller doesn't have of it. Without a request so far, send the caller's
        own."""
        if not self._requests:
            own = [(k, v) for k, v in request.headers if not k.lower().startswith(b"x-tenuto")]
            reply = yield SendRequest(tuple(own), request.body, edited=False)
            self._requests = 1
            self.note_reply(reply)
        if self._head is not None and not self._is_opened:
            yield StartResponse(self._head)
        if self._left:
            yield SendData(bytes(self._left))
        if isinstance(self._end, ConnectionLost):
            yield RaiseError(self._end.error)
        elif self._end is None and self._requests == 1:
            yield from rest_of_response()
