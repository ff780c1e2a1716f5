"""A server in a process of its own that answers with recorded bytes, as quickly as it can.

It reads no more of a request than where it ends and whether it asks for a stream. Run as a program
it prints its port and serves until its standard input is closed.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parts.recorded import BODY, EVENTS

_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\nopenai-version: 2020-10-01\r\nx-request-id: req_b1\r\n"
)
WHOLE = _HEAD % b"application/json" + b"content-length: %d\r\n\r\n" % len(BODY) + BODY
STREAM_HEAD = _HEAD % b"text/event-stream; charset=utf-8" + b"transfer-encoding: chunked\r\n\r\n"
STREAM = [b"%x\r\n%s\r\n" % (len(event), event) for event in EVENTS] + [b"0\r\n\r\n"]
BURST = STREAM_HEAD + b"".join(STREAM)

_PAUSE_S = 0.0004
"""Longer than a client takes for an event, so that each arrives alone, as from a model."""


class Replay(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._pending = b""
        self._streaming: asyncio.Task[None] | None = None

    def data_received(self, data: bytes) -> None:
        self._pending += data
        head, blank, body = self._pending.partition(b"\r\n\r\n")
        if not blank:
            return
        length = next(
            int(line.partition(b":")[2])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        )
        if len(body) < length:
            return
        self._pending = body[length:]
        if b'"stream":true' not in body:
            self._transport.write(WHOLE)
        elif head.startswith(b"POST /paced/"):
            self._streaming = asyncio.ensure_future(self._paced())
        else:
            self._transport.write(BURST)

    async def _paced(self) -> None:
        self._transport.write(STREAM_HEAD)
        for event in STREAM:
            await asyncio.sleep(_PAUSE_S)
            self._transport.write(event)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Replay, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


@contextmanager
def replaying() -> Iterator[str]:
    """The root URL of a server that runs as long as the context."""
    command = [sys.executable, "-m", "parts.replay"]
    folder = Path(__file__).resolve().parent.parent
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(child.stdout.readline())}"
        finally:
            child.stdin.close()


if __name__ == "__main__":
    asyncio.run(_serve())
