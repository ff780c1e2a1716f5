"""The response of a turn that needed nothing is the library's own, whoever listens."""

from __future__ import annotations

import asyncio
import gzip
import importlib
from typing import Any

import pytest
from far_sides import BODY, FarSide, answer, json_answer

import tenuto

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
SAID = BODY % (b"All said.", b"stop")
MOVED = answer(b"", "location: /v1/other/chat/completions", status="307 Temporary Redirect")
in_each_library = pytest.mark.parametrize("library", ["httpx2", "httpx"])


def told(response: Any) -> dict[str, Any]:
    """What a caller may ask of it."""
    return {
        "content": response.content,
        "headers": response.headers.raw,
        "bytes": response.num_bytes_downloaded,
        "path": response.url.path,
        "history": [each.status_code for each in response.history],
        "encoding": response.encoding,
        "version": response.http_version,
    }


def posted(client: Any, far: FarSide, **more: Any) -> Any:
    """The response of one whole turn, of either kind of client."""
    url = f"{far.base_url}/chat/completions"
    if not asyncio.iscoroutinefunction(client.request):
        with client:
            return client.post(url, json=ASK, **more)

    async def run() -> Any:
        async with client:
            return await client.post(url, json=ASK, **more)

    return asyncio.run(run())


def clients(library: str, way: str, **options: Any) -> tuple[Any, Any]:
    """A client of the library, and one of ours to which somebody listens."""
    module = importlib.import_module(library)
    bare = module.Client if way == "sync" else module.AsyncClient
    ours: Any = tenuto.http_client if way == "sync" else tenuto.async_http_client
    return bare(**options), ours(library, on_event=lambda _: None, **options)


@pytest.mark.behaviour("P8", "C25")
@in_each_library
def test_a_whole_answer_that_is_listened_to_is_the_very_response_that_came(library, way):
    came = json_answer(gzip.compress(SAID, mtime=0), "content-encoding: gzip")
    seen = []
    for client in clients(library, way, follow_redirects=True):
        with FarSide(MOVED, came) as far:
            seen.append(told(posted(client, far)))
    bare, ours = seen
    assert ours == bare
    assert bare["bytes"] < len(SAID)
    assert bare["path"] == "/v1/other/chat/completions"


@pytest.mark.behaviour("P8", "P8c")
@in_each_library
def test_a_response_names_the_callers_request_where_another_was_sent(library, way):
    _, client = clients(library, way)
    with FarSide(json_answer(SAID)) as far:
        response = posted(client, far, headers={"X-Tenuto-Tag": "a"})
        assert response.content == SAID
        assert response.request.headers["x-tenuto-tag"] == "a"
        [(head, _)] = far.requests
        assert b"x-tenuto" not in head.lower()
