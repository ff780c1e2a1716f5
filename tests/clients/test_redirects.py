"""A key is for the host that it was given for: no redirect takes it along to another one."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import httpx
import httpx2
import pytest

import tenuto

LIBRARIES = {"httpx": httpx, "httpx2": httpx2}
KEYS = {"api-key": "a-key", "x-api-key": "b-key", "authorization": "Bearer c-key"}


class Far(http.server.BaseHTTPRequestHandler):
    """Redirects `/to/…` there, `/here` to itself, `/round` for ever; all else is an answer."""

    seen: ClassVar[list[tuple[str, dict[str, str]]]]

    def do_GET(self) -> None:
        self.seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        self.rfile.read(int(self.headers.get("content-length") or 0))
        to = {"/here": "/there", "/round": "/round"}.get(self.path)
        if self.path.startswith("/to/"):
            to = self.path.removeprefix("/to/")
        self.send_response(307 if to else 200)
        if to:
            self.send_header("location", to)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def far() -> Iterator[tuple[str, list[tuple[str, dict[str, str]]]]]:
    class Here(Far):
        seen: ClassVar[list[tuple[str, dict[str, str]]]] = []

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Here) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", Here.seen
        server.shutdown()
        thread.join()


def ask(library: str, mode: str, method: str, url: str, **more: Any) -> Any:
    options = {"headers": KEYS, **more.pop("options", {})}
    if mode == "sync":
        with tenuto.http_client(library, **options) as client:  # type: ignore[call-overload]
            return client.request(method, url, **more)

    async def work() -> Any:
        async with tenuto.async_http_client(library, **options) as client:  # type: ignore[call-overload]
            return await client.request(method, url, **more)

    return asyncio.run(work())


EVERY = pytest.mark.parametrize(
    ("library", "mode"), [(name, mode) for name in LIBRARIES for mode in ("sync", "async")]
)


@EVERY
@pytest.mark.parametrize("path", ["/v1/models", "/v1/chat/completions"])
def test_no_redirect_leads_to_another_host(library, mode, path):
    with far() as (there, stolen), far() as (here, seen):
        # Another port is another server, as another host is.
        target = f"{there}{path}"
        method = "POST" if "chat" in path else "GET"
        response = ask(library, mode, method, f"{here}/to/{target}")
    assert (response.status_code, response.headers["location"]) == (307, target)
    assert len(seen) == 1
    assert seen[0][1]["api-key"] == "a-key"
    assert stolen == []


@EVERY
def test_a_redirect_within_the_host_is_followed(library, mode):
    with far() as (here, seen):
        response = ask(library, mode, "GET", f"{here}/here")
        stays = ask(library, mode, "GET", f"{here}/here", follow_redirects=False)
    assert response.status_code == 200
    assert [one.status_code for one in response.history] == [307]
    assert str(response.url) == f"{here}/there"
    assert [path for path, _ in seen] == ["/here", "/there", "/here"]
    assert stays.status_code == 307


@EVERY
def test_a_redirect_that_has_no_end_is_told_as_the_library_tells_it(library, mode):
    with far() as (here, seen), pytest.raises(LIBRARIES[library].TooManyRedirects):
        ask(library, mode, "GET", f"{here}/round", options={"max_redirects": 3})
    assert len(seen) == 4
