"""A server in a process of its own that answers with recorded bytes, as quickly as it can.

It reads no more of a request than its path, where it ends, and whether it asks for a stream. Run as
a program it prints its port and serves until its standard input is closed.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from parts import recorded, recorded_anthropic

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\nopenai-version: 2020-10-01\r\nrequest-id: r1\r\n"
STREAM_HEAD = _HEAD % b"text/event-stream; charset=utf-8" + b"transfer-encoding: chunked\r\n\r\n"

_PAUSE_S = 0.001
"""Longer than a client takes for an event, so that each arrives alone, as from a model. asyncio
rounds waits up to whole milliseconds."""
_SHORT = 20
"""Events of a stream of which only the first chunk matters."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What is answered on one wire."""

    whole: bytes
    stream: list[bytes]

    @property
    def burst(self) -> bytes:
        """The stream in one piece."""
        return STREAM_HEAD + b"".join(self.stream)


def _answers(body: bytes, events: list[bytes]) -> Answers:
    whole = _HEAD % b"application/json" + b"content-length: %d\r\n\r\n" % len(body) + body
    return Answers(whole, [b"%x\r\n%s\r\n" % (len(event), event) for event in events])


CHAT = _answers(recorded.BODY, recorded.EVENTS)
MESSAGES = _answers(recorded_anthropic.BODY, recorded_anthropic.EVENTS)
SAID = recorded.words(40)
TOOL = "look"
ARGUMENTS = ['{"path": "src/', "town.md", '", "line": 7}']
"""What a model says and calls in each step of an agent."""
CHAT_STEP = _answers(
    recorded.body("".join(SAID), TOOL, "".join(ARGUMENTS)),
    recorded.calls(SAID, TOOL, ARGUMENTS),
)
MESSAGES_STEP = _answers(
    recorded_anthropic.body("".join(SAID), TOOL, json.loads("".join(ARGUMENTS))),
    recorded_anthropic.calls(SAID, TOOL, ARGUMENTS),
)
_END = b"0\r\n\r\n"


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
        path = head.split(b" ", 2)[1]
        of_chat = not path.endswith(b"/messages")
        if path.startswith(b"/agent/"):
            answers = CHAT_STEP if of_chat else MESSAGES_STEP
        else:
            answers = CHAT if of_chat else MESSAGES
        if b'"stream":true' not in body:
            self._transport.write(answers.whole)
        elif path.startswith(b"/paced/"):
            self._streaming = asyncio.ensure_future(self._paced(answers.stream))
        elif path.startswith(b"/short/"):
            few = [*answers.stream[:_SHORT], *answers.stream[-4:]]
            self._streaming = asyncio.ensure_future(self._paced(few))
        else:
            self._transport.write(answers.burst + _END)

    async def _paced(self, events: list[bytes]) -> None:
        self._transport.write(STREAM_HEAD)
        for event in [*events, _END]:
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
