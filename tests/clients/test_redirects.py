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
from support.every_wire import LIMITS, MAKERS, ROWS, At, made
from support.far_sides import FarSide, answer

import tenuto

PLAIN = {"role": "user", "content": "Write it."}
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


# --- a further request of a turn ------------------------------------------------------------------

FIRST_HALF = "The tide turned at four, and the"


def moved(target: str) -> bytes:
    return answer(b"", f"location: {target}", status="307 Temporary Redirect")


@pytest.mark.behaviour("H10")
@pytest.mark.parametrize("wire", MAKERS)
@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_no_further_request_is_redirected_to_another_host(wire, mode, way):
    stop = LIMITS[wire]
    elsewhere = FarSide(made(wire, mode, " stranger's own words."))
    with elsewhere, FarSide(made(wire, mode, FIRST_HALF, stop), b"") as far:
        path = f"{elsewhere.base_url}/elsewhere"
        far.answers = (far.answers[0], moved(path))
        asker = MAKERS[wire](At(far), tenuto.Policy(backoff_s=0.0))
        try:
            said = asker.ask([ROWS.get(wire, PLAIN)], mode, way)
        finally:
            asker.close()
        assert elsewhere.requests == []
        assert len(far.requests) == 2
    assert (said.text, said.error) == (FIRST_HALF, None), "what came is kept"
    assert asker.ending["status"] == "partial"


def opened(library: str, how: str) -> Any:
    """A client that follows redirects by itself, as its users may set it."""
    module: Any = LIBRARIES[library]
    if how == "transport":
        return module.Client(transport=tenuto.HTTPTransport(), follow_redirects=True)
    return tenuto.http_client(library)  # type: ignore[call-overload]


@pytest.mark.behaviour("H10")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("how", ["client", "transport"])
def test_no_client_of_ours_and_no_transport_takes_a_further_request_elsewhere(library, how):
    first = made("openai-chat", "whole", FIRST_HALF, "length")
    elsewhere = FarSide(made("openai-chat", "whole", " stranger's own words."))
    with elsewhere, FarSide(first, b"") as far, opened(library, how) as client:
        far.answers = (first, moved(f"{elsewhere.base_url}/chat/completions"))
        asked = {"model": "m", "messages": [PLAIN]}
        got = client.post(f"{far.base_url}/chat/completions", json=asked).json()
        assert elsewhere.requests == []
    assert got["choices"][0]["message"]["content"] == FIRST_HALF


@pytest.mark.behaviour("H10")
def test_within_its_host_and_to_where_the_first_answer_came_from_a_further_request_goes_on():
    first = made("openai-chat", "whole", FIRST_HALF, "length")
    rest = made("openai-chat", "whole", " boats came home.")
    with FarSide(first, rest) as behind:
        target = f"{behind.base_url}/chat/completions"
        with FarSide(moved(target)) as far:
            asker = MAKERS["openai-chat"](At(far), tenuto.Policy(backoff_s=0.0))
            said = asker.ask([PLAIN], "whole")
            asker.close()
    assert said.text == f"{FIRST_HALF} boats came home."
    assert (len(far.requests), len(behind.requests)) == (2, 2)
    with FarSide(first, moved("/v1/other"), rest) as far:
        asker = MAKERS["openai-chat"](At(far), tenuto.Policy(backoff_s=0.0))
        said = asker.ask([PLAIN], "whole")
        asker.close()
    assert said.text == f"{FIRST_HALF} boats came home."
    assert len(far.requests) == 3
