"""A loop of one's own: every command has a case, and a checker knows when one is forgotten."""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never, assert_type

import tenuto
from tenuto import sansio


def send(command: sansio.SendRequest) -> sansio.Head | sansio.ConnectionLost:
    assert_type(command.body, bytes)
    assert_type(command.headers, tuple[tuple[bytes, bytes], ...])
    assert_type(command.timeout_s, float | None)
    if not command.body:
        return sansio.ConnectionLost(tenuto.FaultKind.CONNECTION, OSError())
    return sansio.Head(200, ((b"content-type", b"application/json"),))


def loop(url: str, headers: dict[str, str], body: bytes) -> Iterator[bytes]:
    turn = sansio.Turn("POST", url, headers.items(), body, policy=tenuto.Policy())
    reply: sansio.Head | sansio.ConnectionLost | bytes | None = None
    while (command := turn.next(reply)) is not None:
        reply = None
        match command:
            case sansio.SendRequest():
                reply = send(command)
            case sansio.ReadMore():
                reply = b""
            case sansio.StartResponse(head):
                assert_type(head, sansio.Head)
                assert_type(head.status, int)
            case sansio.SendData(data):
                yield data
            case sansio.Sleep(seconds):
                assert_type(seconds, float)
            case sansio.RaiseError(error):
                raise error
            case _:
                assert_never(command)
    assert_type(turn.report, tenuto.Report | None)
    turn.close()


def one_is_forgotten(turn: sansio.Turn) -> None:
    while (command := turn.next(None)) is not None:
        match command:
            case sansio.SendRequest() | sansio.ReadMore() | sansio.Sleep():
                pass
            case sansio.StartResponse() | sansio.SendData():
                pass
            case _:
                assert_never(command)  # type: ignore[arg-type]


def refused() -> None:
    sansio.Turn("POST", "https://api.openai.com", [], "{}")  # type: ignore[arg-type]
    turn = sansio.Turn("POST", "https://api.openai.com", [], b"{}")
    turn.next("text")  # type: ignore[arg-type]
    sansio.Head("200", ())  # type: ignore[arg-type]
    sansio.ConnectionLost("timeout", OSError())  # type: ignore[arg-type]
