"""A gateway of a few lines over `tenuto.sansio`, as a program in front of other programs has it: it
hands the commands of each turn on to an HTTP client, and their results to its own caller."""

from __future__ import annotations

import contextlib
import http.server
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import httpx

import tenuto
from tenuto.core.answer.fault import FaultKind

HOP = ("host", "content-length", "accept-encoding", "connection", "transfer-encoding")


class _Gateway(http.server.BaseHTTPRequestHandler):
    upstream: ClassVar[str]
    policy: ClassVar[tenuto.Policy]
    serves: ClassVar[bool]
    heads: ClassVar[list[dict[str, str]]]
    drops: ClassVar[list[int]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        pairs = [(k, v) for k, v in self.headers.items() if k.lower() not in HOP]
        turn = tenuto.sansio.Turn(
            "POST", self.upstream + self.path, pairs, body, policy=self.policy, serves=self.serves
        )
        reply: Any = None
        with httpx.Client() as client, contextlib.ExitStack() as answers:
            pieces: Iterator[bytes] = iter(())
            while (command := turn.next(reply)) is not None:
                reply = None
                try:
                    if isinstance(command, tenuto.sansio.SendRequest):
                        answers.close()
                        sent = client.stream(
                            "POST",
                            self.upstream + self.path,
                            headers=list(command.headers),
                            content=command.body,
                        )
                        came = answers.enter_context(sent)
                        pieces = came.iter_raw()
                        reply = tenuto.sansio.Head(came.status_code, tuple(came.headers.raw))
                    elif isinstance(command, tenuto.sansio.ReadMore):
                        reply = next(pieces, b"")
                    elif isinstance(command, tenuto.sansio.StartResponse):
                        self._start(command.head)
                    elif isinstance(command, tenuto.sansio.SendData):
                        self._send(command.data)
                    elif isinstance(command, tenuto.sansio.RaiseError):
                        return
                except httpx.HTTPError as error:
                    reply = tenuto.sansio.ConnectionLost(FaultKind.CONNECTION, error)

    def _start(self, head: tenuto.sansio.Head) -> None:
        self.heads.append({k.decode().lower(): v.decode() for k, v in head.headers})
        self.send_response_only(head.status)
        for name, value in head.headers:
            if name.decode().lower() not in HOP:
                self.send_header(name.decode(), value.decode())
        self.send_header("connection", "close")
        self.end_headers()

    def _send(self, data: bytes) -> None:
        """Hand bytes on; one of a list of numbers says after how many the connection breaks."""
        if self.drops:
            data, left = data[: self.drops[0]], self.drops[0] - len(data)
            self.drops[0] = left
            self.wfile.write(data)
            if left <= 0:
                self.drops.pop(0)
                self.connection.close()
                raise ConnectionError("as the test wants it")
            return
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def gateway(
    upstream: str, policy: tenuto.Policy | None = None, *, serves: bool = True
) -> Iterator[Any]:
    """A gateway in front of an upstream: `base_url`, `heads` it gave, and `drops`."""

    class Here(_Gateway):
        pass

    Here.upstream = upstream.removesuffix("/v1")
    Here.policy = policy or tenuto.Policy(backoff_s=0.0)
    Here.serves = serves
    Here.heads, Here.drops = [], []

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Breaks are what some tests are about."""

    with Server(("127.0.0.1", 0), Here) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        Here.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"  # type: ignore[attr-defined]
        yield Here
        server.shutdown()
        thread.join()
