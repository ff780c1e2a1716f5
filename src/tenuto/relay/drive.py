"""The drivers: take a command, perform it, feed the reply back. They decide nothing, and differ
only in waiting."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Protocol, assert_never

from tenuto.relay.commands import Head, Lost, Open, Read, Reply, Reraise, Transmit, Wait, Write
from tenuto.relay.pipe import Run


class Upstream(Protocol):
    """One response of the provider, read piece by piece. Failures come as `Lost`."""

    head: Head

    def read(self) -> bytes | Lost:
        """The next bytes as they came, b"" at the end."""

    def close(self) -> None:
        """Stop reading; may be called twice."""


class AsyncUpstream(Protocol):
    """The same for async callers."""

    head: Head

    async def read(self) -> bytes | Lost:
        """The next bytes as they came, b"" at the end."""

    async def finish(self) -> None:
        """Nothing more is wanted: give its connection back where that takes no time, and close."""

    async def close(self) -> None:
        """Stop reading; may be called twice."""


def drive(run: Run, connect: Callable[[Transmit], Upstream | Lost]) -> Generator[Head | bytes, None, None]:
    """Run a turn: first the head, then the bytes for the caller.

    Closing the iterator closes the upstream at once (C23)."""
    upstream: Upstream | None = None
    reply: Reply = None
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                return
            reply = None
            match command:
                case Read():
                    assert upstream is not None
                    reply = upstream.read()
                case Write(data):
                    yield data
                case Open(head):
                    yield head
                case Transmit():
                    if upstream is not None:
                        upstream.close()
                    answer = connect(command)
                    upstream = None if isinstance(answer, Lost) else answer
                    reply = answer if isinstance(answer, Lost) else answer.head
                case Wait(seconds):
                    if upstream is not None:
                        upstream.close()
                    time.sleep(seconds)
                case Reraise(error):
                    raise error
                case _:
                    assert_never(command)
    finally:
        run.close()
        if upstream is not None:
            upstream.close()


async def drive_async(
    run: Run,
    connect: Callable[[Transmit], Awaitable[AsyncUpstream | Lost]],
    sleep: Callable[[float], Awaitable[None]],
) -> AsyncGenerator[Head | bytes, None]:
    """The same for async callers; `sleep` is that of their event loop."""
    upstream: AsyncUpstream | None = None
    reply: Reply = None
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                if upstream is not None:
                    await upstream.finish()
                return
            reply = None
            match command:
                case Read():
                    assert upstream is not None
                    reply = await upstream.read()
                case Write(data):
                    yield data
                case Open(head):
                    yield head
                case Transmit():
                    if upstream is not None:
                        await upstream.finish()
                    answer = await connect(command)
                    upstream = None if isinstance(answer, Lost) else answer
                    reply = answer if isinstance(answer, Lost) else answer.head
                case Wait(seconds):
                    if upstream is not None:
                        await upstream.finish()
                    await sleep(seconds)
                case Reraise(error):
                    raise error
                case _:
                    assert_never(command)
    finally:
        run.close()
        if upstream is not None:
            await upstream.close()
