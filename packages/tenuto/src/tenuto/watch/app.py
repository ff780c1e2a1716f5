"""The page as an ASGI app: the page's files, JSON for the page and for programs, and a stream of
changes. It only reads: no request changes anything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from tenuto.core.deciding.ladders import LADDERS
from tenuto.watch.access import LOOPBACK, SECURITY, Access, Header, Scope
from tenuto.watch.board import Board
from tenuto.watch.stream import PACE, Pace, Receive, Send, stream

MOST_STREAMS = 32
"""How many readers may follow the changes at once."""

FILES: Mapping[str, tuple[str, str]] = {
    "": ("index.html", "text/html; charset=utf-8"),
    "static/watch.js": ("watch.js", "text/javascript; charset=utf-8"),
    "static/dom.js": ("dom.js", "text/javascript; charset=utf-8"),
    "static/chart.js": ("chart.js", "text/javascript; charset=utf-8"),
    "static/detail.js": ("detail.js", "text/javascript; charset=utf-8"),
    "static/watch.css": ("watch.css", "text/css; charset=utf-8"),
    "static/uplot.js": ("uplot.js", "text/javascript; charset=utf-8"),
    "static/uplot.css": ("uplot.css", "text/css; charset=utf-8"),
    "static/uplot-LICENSE.txt": ("uplot-LICENSE.txt", "text/plain; charset=utf-8"),
    "static/icon.svg": ("icon.svg", "image/svg+xml"),
}
"""The files that are served, by path, each with its type. No other file can be requested."""

TextOf = Callable[[str, float], list[str] | None]
"""Returns the text of a turn, in one piece for each attempt that added to it, from the turn's id
and the time when it began; None if there is none."""


class Watch:
    """An ASGI app that shows a board. It runs on asyncio, by itself or mounted under a path.

    Without a token, it answers only requests from the same machine whose `Host` names that machine.

    Args:
        board: the board to show.
        token: the token that readers need, in the header `Authorization: Bearer …`, or once as
            `?token=…` in the page's address, which then sets a cookie.
        hosts: the values of `Host` to accept without a token.
        text_of: returns the text of a turn. Without it, the page shows no content.
        pace: the timing of its event stream.

    Raises:
        ValueError: the token has fewer than 16 characters.

    >>> from tenuto.telemetry import add_listener, remove_listener
    >>> board = Board()
    >>> add_listener(board)
    >>> app = Watch(board, token="kept-in-a-safe-place")
    >>> remove_listener(board)
    """

    def __init__(
        self,
        board: Board,
        *,
        token: str | None = None,
        hosts: Iterable[str] = LOOPBACK,
        text_of: TextOf | None = None,
        pace: Pace = PACE,
    ) -> None:
        self.board = board
        self._access = Access(token, hosts)
        self._text_of = text_of
        self._pace = pace
        self._streams = 0
        self._closed = False

    def close(self) -> None:
        """End all streams, now and later, so that they don't delay a server's shutdown."""
        self._closed = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI 3 asks for it."""
        match scope["type"]:
            case "http":
                await self._answer(scope, receive, send)
            case "websocket":
                await send({"type": "websocket.close"})
            case "lifespan":
                while (message := await receive())["type"] != "lifespan.shutdown":
                    await send({"type": f"{message['type']}.complete"})
                await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = _Reply(scope, send)
        if refusal := self._access.refusal(scope):
            more = [(b"www-authenticate", b"Bearer")] if refusal.status == 401 else []
            return await reply.text(refusal.status, refusal.why, *more)
        if scope["method"] not in ("GET", "HEAD"):
            return await reply.text(405, "This page can only be read.", (b"allow", b"GET, HEAD"))
        path = _path(scope)
        if path is None:
            where = scope.get("root_path", "") + "/"
            return await reply.text(307, "The page is there.", (b"location", where.encode()))
        if path in FILES:
            name, kind = FILES[path]
            cookie = self._access.cookie(scope) if path == "" else None
            return await reply.bytes(200, _file(name), kind, *([cookie] if cookie else []))
        if path == "api/stream" and scope["method"] == "GET":
            if self._streams >= MOST_STREAMS:
                more_s = (b"retry-after", b"5")
                return await reply.text(503, "Too many readers follow this already.", more_s)
            self._streams += 1
            try:
                return await stream(
                    scope, receive, send, self.board, self._pace, lambda: self._closed
                )
            finally:
                self._streams -= 1
        return await self._json(path, reply)

    async def _json(self, path: str, reply: _Reply) -> None:
        match path.split("/"):
            case ["api", "turns"]:
                await reply.json(200, {"turns": self.board.turns()})
            case ["api", "turns", *turn, "text"]:
                await reply.found(await self._text("/".join(turn)))
            case ["api", "turns", *turn]:
                await reply.found(self.board.turn("/".join(turn)))
            case ["api", "totals"]:
                await reply.json(
                    200, {"totals": self.board.totals(), "metrics": self.board.metrics()}
                )
            case ["api", "stops"]:
                await reply.json(200, {"stops": self.board.stops()})
            case ["api", "about"]:
                content = self._text_of is not None
                most = self.board.most_turns
                await reply.json(
                    200, {"content": content, "most_turns": most, "ladders": _ladders()}
                )
            case _:
                await reply.found(None)

    async def _text(self, turn: str) -> dict[str, Any] | None:
        known = self.board.turn(turn)
        if self._text_of is None or known is None:
            return None
        pieces = await asyncio.to_thread(self._text_of, turn, known["summary"]["started"])
        return None if pieces is None else {"pieces": pieces}


class _Reply:
    """Sends one response."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send

    async def bytes(self, status: int, body: bytes, kind: str, *more: Header) -> None:
        headers = [
            (b"content-type", kind.encode()),
            (b"content-length", str(len(body)).encode()),
            *SECURITY,
            *more,
        ]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        sent = b"" if self._scope["method"] == "HEAD" else body
        await self._send({"type": "http.response.body", "body": sent})

    async def text(self, status: int, text: str, *more: Header) -> None:
        await self.bytes(status, f"{text}\n".encode(), "text/plain; charset=utf-8", *more)

    async def json(self, status: int, value: object) -> None:
        await self.bytes(status, json.dumps(value).encode(), "application/json")

    async def found(self, value: object) -> None:
        """Send a value as JSON, or 404 if it is None."""
        if value is None:
            await self.json(404, {"error": "there is no such thing here"})
        else:
            await self.json(200, value)


def _path(scope: Scope) -> str | None:
    """Return the path below the mount point, without its first slash; None: it has none."""
    path, root = scope["path"], scope.get("root_path", "").rstrip("/")
    if root and (path == root or path.startswith(f"{root}/")):
        path = path[len(root) :]
    return path[1:] if path.startswith("/") else None


@cache
def _file(name: str) -> bytes:
    return resources.files("tenuto.watch").joinpath("static", name).read_bytes()


@cache
def _ladders() -> dict[str, list[dict[str, Any]]]:
    """Return the rungs for each outcome, as in docs/ladders.md."""
    return {
        outcome.value: [
            {
                "rung": rung.id,
                "sentence": rung.sentence,
                "guards": [guard.name for guard in rung.guards],
                "budget": rung.budget.value if rung.budget is not None else None,
            }
            for rung in ladder
        ]
        for outcome, ladder in LADDERS.items()
    }
