"""Take down what passes a turn, for a file of it (`telemetry.capture`)."""

from __future__ import annotations

from collections.abc import Callable

from tenuto.telemetry.capture import CapturedHead, CapturedRequest, CapturedTurn
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
    decoded,
    reading,
)


def request_of(request: Request) -> CapturedRequest:
    """Return what a file tells of the caller's request."""
    return CapturedRequest(request.method, request.url, decoded(request.headers))


def captured(run: Run, turn: CapturedTurn) -> Run:
    """Return the same turn; its file is written when it is over. Whatever fails here is logged, and
    doesn't cost an answer."""

    def quietly(do: Callable[..., None], *arguments: object) -> None:
        try:
            do(turn, *arguments)
        except Exception as error:  # noqa: BLE001 - see the docstring
            turn.failed(error)

    reply: Reply = None
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                return
            quietly(_note_command, command)
            # Without `take`: bytes that it passes on would be missing here.
            reply = yield reading(command.within_s) if isinstance(command, ReadMore) else command
            if reply is not None:
                quietly(_note_reply, reply)
    finally:
        run.close()
        quietly(CapturedTurn.write)


def _note_command(turn: CapturedTurn, command: Command) -> None:
    match command:
        case SendRequest():
            headers = decoded(command.headers)
            turn.sent(headers, command.body, url=command.url, edited=command.edited)
        case SendData(data):
            turn.gave(data)
        case StartResponse(head):
            turn.opened(_head(head))
        case RaiseError(error):
            turn.raised(error)


def _note_reply(turn: CapturedTurn, reply: Head | bytes | ConnectionLost) -> None:
    if isinstance(reply, bytes):
        turn.came(reply)
    elif isinstance(reply, Head):
        turn.began(_head(reply))
    else:
        turn.lost(reply.kind.value, reply.error)


def _head(head: Head) -> CapturedHead:
    return CapturedHead(head.status, decoded(head.headers), head.coding)
