"""A connection whose response has said its last is used again; none is waited for."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.far_sides import event

import tenuto

ASK: dict[str, Any] = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "?"}]}
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
DONE = b"data: [DONE]\n\n"
CUT = event(b"The first half, ") + event(b"", b'"length"') + DONE
REST = event(b"and the second.") + event(b"", b'"stop"') + DONE
LAST_CHUNK = b"0\r\n\r\n"
A_MOMENT_S = 0.02
"""In which a provider says that its response is over, behind the end mark."""

Ending = Callable[[asyncio.StreamWriter], Awaitable[None]]


async def ends_in_a_moment(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(A_MOMENT_S)
    writer.write(LAST_CHUNK)


async def never_ends(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def breaks_off(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(A_MOMENT_S)
    writer.transport.abort()


@contextlib.asynccontextmanager
async def provider(ending: Ending) -> AsyncIterator[tuple[str, list[int]]]:
    """Says its answer in two halves, the first of which ends in this way: its URL, and how many
    requests came over each of its connections."""
    came: list[int] = []
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mine = len(came)
        came.append(0)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length))
                body = REST if sum(came) else CUT
                came[mine] += 1
                writer.write(HEAD + b"%x\r\n%b\r\n" % (len(body), body))
                await (ending(writer) if body is CUT else ends_in_a_moment(writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.transport.abort()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1/chat/completions", came
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await asyncio.sleep(0)  # what was aborted closes in the loop's next round


@pytest.mark.behaviour("C23", "S1")
@pytest.mark.parametrize("library", ["httpx2", "httpx"])
@pytest.mark.parametrize(
    ("ending", "over_each"),
    [(ends_in_a_moment, [2]), (never_ends, [1, 1]), (breaks_off, [1, 1])],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_a_continuation_goes_over_the_connection_that_is_free_in_time(
    library, ending, over_each
):
    client: Any = tenuto.async_http_client(library, policy=tenuto.Policy(**QUICK))
    async with provider(ending) as (url, came), client:
        began = time.monotonic()
        async with client.stream("POST", url, json=ASK) as response:
            said = await response.aread()
        assert time.monotonic() - began < 5
        assert b"The first half, " in said
        assert b"and the second." in said
        assert came == over_each
