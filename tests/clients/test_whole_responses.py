"""The response of a turn that needed nothing is the library's own, whoever listens."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import inspect
import json
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from support.far_sides import BODY, STREAM, FarSide, answer, json_answer, sse_answer

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


def posted(client: Any, far: FarSide, stream: bool = False, asked: Any = ASK, **more: Any) -> Any:
    """The response of one turn, read to its end, of either kind of client."""
    more["json"] = asked | {"stream": stream}
    url = f"{far.base_url}/chat/completions"
    if not inspect.iscoroutinefunction(client.request):
        with client:
            return client.post(url, **more)

    async def run() -> Any:
        async with client:
            return await client.post(url, **more)

    return asyncio.run(run())


def clients(library: str, way: str, **options: Any) -> tuple[Any, Any]:
    """A client of the library, and one of ours to which somebody listens."""
    module = importlib.import_module(library)
    bare = module.Client if way == "sync" else module.AsyncClient
    ours: Any = tenuto.http_client if way == "sync" else tenuto.async_http_client
    listening = {"on_event": options.pop("on_event", lambda _: None)}
    return bare(**options), ours(library, **listening, **options)


@pytest.mark.behaviour("P8", "C25")
@in_each_library
@pytest.mark.parametrize(
    ("said", "header"),
    [
        (SAID, "x-own: 1"),
        (SAID, "content-encoding: identity"),
        (zlib.compress(SAID), "content-encoding: deflate"),
        (gzip.compress(SAID, mtime=0), "content-encoding: gzip"),
        (gzip.compress(SAID, mtime=0), "Content-Encoding: GZip"),
    ],
    ids=["plain", "identity", "deflate", "gzip", "in capitals"],
)
def test_a_whole_answer_that_is_listened_to_is_the_very_response_that_came(
    library, way, said, header
):
    came = json_answer(said, header)
    seen = []
    for client in clients(library, way, follow_redirects=True):
        with FarSide(MOVED, came) as far:
            seen.append(told(posted(client, far)))
    bare, ours = seen
    *rest, (name, _) = ours["headers"]
    assert name == b"x-tenuto-turn", "the one header of ours, since somebody listens"
    assert ours | {"headers": rest} == bare | {"headers": list(bare["headers"])}
    assert bare["bytes"] == len(said)
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


HALVES = (BODY % (b"The first half, ", b"length"), BODY % (b"and the second.", b"stop"))
SLOW_S = 0.1


@pytest.mark.behaviour("C28a")
@in_each_library
def test_a_response_that_is_put_together_has_what_the_first_one_had(library, way):
    _, client = clients(library, way, follow_redirects=True, default_encoding="utf-16")

    def slowly() -> Any:
        time.sleep(SLOW_S)
        yield json_answer(HALVES[1])

    with FarSide(MOVED, json_answer(HALVES[0]), slowly()) as far:
        response = posted(client, far)
    assert response.json()["choices"][0]["message"]["content"] == "The first half, and the second."
    assert [each.status_code for each in response.history] == [307]
    assert response.http_version == "HTTP/1.1"
    assert response.extensions["reason_phrase"] == b"OK"
    assert response.default_encoding == "utf-16"
    assert response.elapsed.total_seconds() >= SLOW_S


def noting(seen: list[Any], way: str) -> dict[str, Any]:
    """A hook that writes into each request: whether that was done before, and its timeouts."""

    def note(request: Any) -> None:
        seen.append(("x-seen" in request.headers, request.extensions["timeout"]))
        request.headers["x-seen"] = "1"

    async def note_async(request: Any) -> None:
        note(request)

    return {"request": [note if way == "sync" else note_async]}


@pytest.mark.behaviour("C28a", "C29a")
@in_each_library
def test_no_timeout_of_a_further_attempt_is_longer_than_what_the_caller_still_waits(library, way):
    seen: list[Any] = []
    _, client = clients(library, way, timeout=9, event_hooks=noting(seen, way))
    with FarSide(json_answer(SAID[:40]), json_answer(SAID)) as far:
        assert posted(client, far).json()["choices"][0]["message"]["content"] == "All said."
    (_, first), (_, second) = seen
    assert 7 < second["read"] < 9
    assert first == dict.fromkeys(first, 9)
    assert second.keys() == first.keys()
    assert all(second["read"] <= limit_s <= 9 for limit_s in second.values())


@pytest.mark.behaviour("C28a")
@in_each_library
def test_a_further_attempt_is_a_request_of_its_own(library, way):
    """What a hook writes into one, such as a number or a date, is not in the next."""
    seen: list[Any] = []
    _, client = clients(library, way, event_hooks=noting(seen, way))
    with FarSide(sse_answer(b""), sse_answer(STREAM)) as far:
        assert b"said." in posted(client, far, stream=True).content
    assert [before for before, _ in seen] == [False, False]


@pytest.mark.behaviour("C23")
@in_each_library
def test_a_caller_that_goes_away_from_a_body_closes_it(library, way):
    """An interrupt ends the library's reading, and not the stream of whoever's transport it is."""
    module: Any = importlib.import_module(library)
    ended = KeyboardInterrupt if way == "sync" else asyncio.CancelledError
    closed: list[bool] = []

    class Stream(module.SyncByteStream, module.AsyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            yield SAID[:9]
            raise ended

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield SAID[:9]
            raise ended

        def close(self) -> None:
            closed.append(True)

        async def aclose(self) -> None:
            closed.append(True)

    transport = module.MockTransport(lambda _: module.Response(200, stream=Stream()))
    make: Any = tenuto.http_client if way == "sync" else tenuto.async_http_client
    with FarSide(b"") as far, pytest.raises(ended):
        posted(make(library, transport=transport), far)
    assert closed


@pytest.mark.behaviour("C28", "P8c")
@in_each_library
def test_headers_for_tenuto_are_known_in_any_letters(library, way):
    events: list[tenuto.Event] = []
    with FarSide(json_answer(HALVES[0])) as far:
        _, client = clients(library, way, on_event=events.append)
        response = posted(client, far, headers={"X-Tenuto": " OFF ", "X-TENUTO-TAG": "a"})
        assert response.content == HALVES[0]
        assert [e.data["why"] for e in events if e.name == "left_alone"] == ["switched_off"]
        [(head, _)] = far.requests
        assert b"x-tenuto" not in head.lower()


@pytest.mark.behaviour("C28a")
@in_each_library
def test_only_further_attempts_have_a_key_of_their_own_in_any_letters(library, way):
    _, client = clients(library, way)
    with FarSide(json_answer(HALVES[0]), json_answer(HALVES[1])) as far:
        posted(client, far, headers={"IDEMPOTENCY-Key": "k", "x-tenuto-tag": "a"})
        keys = [head.lower().partition(b"idempotency-key: ")[2][:10] for head, _ in far.requests]
    assert keys[0][:3] == b"k\r\n"
    assert keys[1] == b"k-tenuto-1"


@pytest.mark.behaviour("C28", "H2")
@in_each_library
def test_a_history_is_mended_in_no_request_that_is_left_alone(library, way):
    events: list[tenuto.Event] = []
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked = ASK | {"messages": [*ASK["messages"], {"role": "assistant", "tool_calls": [call]}]}
    for headers, repairs in (({}, 1), ({"x-tenuto": "off"}, 0)):
        events.clear()
        _, client = clients(library, way, on_event=events.append)
        with FarSide(json_answer(SAID)) as far:
            posted(client, far, asked=asked, headers=headers)
            [(_, body)] = far.requests
        assert [event.name for event in events].count("history_repaired") == repairs
        assert (json.loads(body) == asked | {"stream": False}) == (not repairs)
