"""A provider that answers with whatever bytes a test gives it, broken ones above all."""

from __future__ import annotations

import json
import os
import socket
import socketserver
import struct
import threading
from collections.abc import Iterable
from io import BufferedIOBase
from types import TracebackType
from typing import Any

from support.events import openai_chat as chat

Answer = bytes | Iterable[bytes]
RESET = b"the connection is reset here"
"""A piece of an answer at which the connection breaks off with a reset instead of an end."""

DONE = b"data: [DONE]\n\n"


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


BODY = _compact(chat.whole(chat.message("%s"), "%s", usage=chat.usage_of(3, 5)))
CHUNK = _compact(chat.chunk({"content": "%s"})).replace(b"null", b"%s")


def event(text: bytes, finish: bytes = b"null") -> bytes:
    """One event of a stream; the text as JSON has it, broken where a test wants that."""
    return b"data: " + CHUNK % (text, finish) + b"\n\n"


STREAM = event(b"All ") + event(b"said.") + event(b"", b'"stop"') + DONE


def answer(body: bytes, *headers: str, status: str = "200 OK", length: bool = True) -> bytes:
    """A response whose end is the end of the connection."""
    lines = [f"HTTP/1.1 {status}", *headers, "connection: close"]
    if length:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def json_answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    return answer(body, "content-type: application/json", *headers, status=status)


def sse_answer(body: bytes, *headers: str) -> bytes:
    return answer(body, "content-type: text/event-stream", *headers, length=False)


def _body_of(source: BufferedIOBase, head: bytes) -> bytes | None:
    """The body of a request; None if it has both a length and chunks, which servers refuse."""
    rows = [row.lower().partition(b":") for row in head.split(b"\r\n")]
    lengths = [int(value) for name, _, value in rows if name == b"content-length"]
    chunked = any(name == b"transfer-encoding" for name, _, _ in rows)
    if not chunked:
        return source.read(lengths[0] if lengths else 0)
    body = b""
    while size := int(source.readline(), 16):
        body += source.read(size)
        source.readline()
    source.readline()
    return None if lengths else body


class FarSide:
    """Answers the n-th request with the n-th answer, and all later ones with the last.

    `requests` holds head and body of each as they came. `answers` may be set until then."""

    def __init__(self, *answers: Answer) -> None:
        self.answers: tuple[Answer, ...] = answers
        self.requests: list[tuple[bytes, bytes]] = []
        self.gone = 0
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    line = self.rfile.readline()
                    if not line:
                        return
                    head += line
                body = _body_of(self.rfile, head)
                if body is None:
                    self.wfile.write(answer(b"", status="400 Bad Request"))
                    return
                given = outer.answers[min(len(outer.requests), len(outer.answers) - 1)]
                outer.requests.append((head, body))
                try:
                    for piece in (given,) if isinstance(given, bytes) else given:
                        if piece is RESET:
                            linger = struct.pack("ii", 1, 0)
                            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                            os.close(self.request.detach())
                            return
                        self.wfile.write(piece)
                except OSError:
                    outer.gone += 1

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Clients leave; that is what some tests are about."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> FarSide:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
