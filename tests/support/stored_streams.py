"""A provider that keeps its answers: the rest of a stream can be fetched from any event on.

The N-th request gets as many events as `breaks` says, after which the connection breaks; a status
in its place is an error. What comes after the list is whole.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.events.framing import sse

Event = dict[str, Any]


@dataclass
class Refusal:
    """An answer that is an error."""

    status: int
    message: str = "No."


@dataclass
class StoredStreams:
    """The server. `place`: the member of an event with its place; `after`: that of the query.

    `again`: how many events before the place come once more."""

    events: Sequence[Event] = ()
    place: str = "sequence_number"
    after: str = "starting_after"
    breaks: Sequence[int | Refusal] = ()
    clean: bool = False
    """Whether a break looks like the end of the transfer."""
    again: int = 0
    requests: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    others: Sequence[Sequence[Event]] = ()
    """What further POST requests get, instead of the events."""

    def __enter__(self) -> StoredStreams:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def root_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def base_url(self) -> str:
        return self.root_url + "/v1"

    @property
    def asked(self) -> list[str]:
        """The method and the URL of each request."""
        return [f"{method} {path}" for method, path, _, _ in self.requests]

    def answer(self, method: str, path: str) -> tuple[list[Event], int | Refusal | None]:
        """The events for a request, and where they break."""
        number = len(self.requests) - 1
        breaks = self.breaks[number] if number < len(self.breaks) else None
        posts = sum(request[0] == "POST" for request in self.requests)
        if method == "POST":
            events = self.events if posts == 1 else self.others[posts - 2]
            return list(events), breaks
        place = parse_qs(urlsplit(path).query)[self.after][0]
        at = next(n for n, event in enumerate(self.events) if str(event[self.place]) == place)
        return list(self.events[max(at + 1 - self.again, 0) :]), breaks


def _handler(far: StoredStreams) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            self._answer("POST", json.loads(body))

        def do_GET(self) -> None:
            assert not self.headers["content-length"]
            self._answer("GET", None)

        def _answer(self, method: str, body: Any) -> None:
            headers = {key.lower(): value for key, value in self.headers.items()}
            far.requests.append((method, self.path, headers, body))
            events, breaks = far.answer(method, self.path)
            if isinstance(breaks, Refusal):
                error = {"message": breaks.message, "code": str(breaks.status), "type": "error"}
                made = json.dumps({"error": error}).encode()
                self._send(breaks.status, "application/json", made, len(made))
                return
            made = b"".join(sse(events[:breaks]))
            more = 0 if breaks is None or far.clean else 99
            self._send(200, "text/event-stream", made, len(made) + more)

        def _send(self, status: int, kind: str, body: bytes, size: int) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(size))
            if size > len(body):
                self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
