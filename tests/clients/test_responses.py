"""The response of a streamed turn: whatever a caller does with it, it does as the library's own."""

from __future__ import annotations

import asyncio
import importlib
import json
import pickle
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from support.far_sides import RESET, STREAM, FarSide, sse_answer

import tenuto

ASK = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]})

Act = Callable[[Any], Any]


def same(copied: Any) -> Any:
    return copied.content, copied.num_bytes_downloaded, copied.is_closed


READ: dict[str, Act] = {
    "iter_bytes": lambda r: b"".join(r.iter_bytes()),
    "iter_bytes in pieces of 7": lambda r: list(r.iter_bytes(7)),
    "iter_raw": lambda r: b"".join(r.iter_raw()),
    "iter_raw in pieces of 7": lambda r: list(r.iter_raw(7)),
    "iter_text": lambda r: "".join(r.iter_text()),
    "iter_lines": lambda r: list(r.iter_lines()),
    "read": lambda r: r.read(),
    "read twice": lambda r: (r.read(), r.read(), r.text, list(r.iter_bytes(9))),
    "read, then iter_bytes": lambda r: (r.read(), list(r.iter_bytes())),
    "iter_bytes twice": lambda r: (b"".join(r.iter_bytes()), list(r.iter_bytes())),
    "two iterators": lambda r: [next(each) for each in (r.iter_bytes(), r.iter_bytes())],
    "iter_raw behind iter_bytes": lambda r: (b"".join(r.iter_bytes()), list(r.iter_raw())),
    "closed first": lambda r: (r.close(), list(r.iter_bytes())),
    "closed behind the first piece": lambda r: (bool(next(r.iter_bytes())), r.close()),
    "begun before read": lambda r: (later := r.iter_bytes()) and (r.read(), list(later)),
    "module": lambda r: (type(r).__module__, type(r).__qualname__, r.read()),
    "pickled": lambda r: (r.read(), same(pickle.loads(pickle.dumps(r)))),
    "pickled unread": lambda r: (b"".join(r.iter_bytes()), pickle.loads(pickle.dumps(r)).read()),
}


async def all_of(pieces: Any) -> list[Any]:
    return [piece async for piece in pieces]


async def first_of(pieces: Any) -> Any:
    return await anext(pieces)


async def _twice(r: Any) -> Any:
    return b"".join(await all_of(r.aiter_bytes())), await all_of(r.aiter_bytes())


async def _closed(r: Any) -> Any:
    return await r.aclose(), await all_of(r.aiter_bytes())


async def _read(r: Any) -> Any:
    return await r.aread(), await r.aread(), r.text, await all_of(r.aiter_bytes(9))


async def _two(r: Any) -> Any:
    return [await first_of(r.aiter_bytes()), await first_of(r.aiter_bytes())]


async def _left(r: Any) -> Any:
    pieces = r.aiter_bytes()
    said = bool(await anext(pieces))
    await pieces.aclose()
    return said, await r.aclose()


async def _wrong_kind(r: Any) -> Any:
    wrong = []
    for act in (lambda: list(r.iter_bytes()), lambda: list(r.iter_bytes(7)), r.read):
        try:
            wrong.append(act())
        except Exception as error:  # noqa: BLE001
            wrong.append(raised(error))
    return wrong, r.is_stream_consumed


async def _later(r: Any) -> Any:
    later = r.aiter_bytes()
    return await r.aread(), await all_of(later)


async def _joined(pieces: Any) -> Any:
    found = await all_of(pieces)
    return b"".join(found) if isinstance(found[0], bytes) else "".join(found)


AREAD: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "aiter_bytes": lambda r: _joined(r.aiter_bytes()),
    "aiter_bytes in pieces of 7": lambda r: all_of(r.aiter_bytes(7)),
    "aiter_raw": lambda r: _joined(r.aiter_raw()),
    "aiter_raw in pieces of 7": lambda r: all_of(r.aiter_raw(7)),
    "aiter_text": lambda r: _joined(r.aiter_text()),
    "aiter_lines": lambda r: all_of(r.aiter_lines()),
    "aread": _read,
    "aiter_bytes twice": _twice,
    "two iterators": _two,
    "closed first": _closed,
    "not as async": _wrong_kind,
    "begun before aread": _later,
    "left behind the first piece": _left,
}


def told(response: Any, value: object) -> dict[str, Any]:
    """What came of it, and what the response says of itself."""
    return {
        "value": value,
        "kind": type(response).__name__,
        "closed": response.is_closed,
        "consumed": response.is_stream_consumed,
        "bytes": response.num_bytes_downloaded if response.is_stream_consumed else 0,
    }


def raised(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def broken(error: Exception) -> str:
    """Which request an error is of."""
    request: Any = getattr(error, "request", None)
    return f"{type(error).__name__}, {request.method} {request.url.path}"


def sync(client: Any, url: str, act: Act) -> dict[str, Any]:
    with client, client.stream("POST", f"{url}/chat/completions", content=ASK) as response:
        try:
            value = act(response)
        except Exception as error:  # noqa: BLE001  # which one it is shall be the same
            value = raised(error)
        return told(response, value)


async def over_asyncio(
    client: Any, url: str, act: Callable[[Any], Awaitable[Any]]
) -> dict[str, Any]:
    async with client, client.stream("POST", f"{url}/chat/completions", content=ASK) as response:
        try:
            value = await act(response)
        except Exception as error:  # noqa: BLE001
            value = raised(error)
        return told(response, value)


def unless_left(seen: dict[str, Any], name: str) -> dict[str, Any]:
    """How much had come when it was left off differs with the pieces; and httpx does not close a
    response whose iterator is dropped, as httpx2 and ours do."""
    if name == "two iterators":
        return seen | {"bytes": 0, "closed": True}
    return seen | ({"bytes": 0} if "first piece" in name else {})


@pytest.mark.behaviour("P8", "C25")
@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("library", ["httpx2", "httpx"])
def test_a_response_is_read_as_the_library_s_own(library: Any, name: str) -> None:
    with FarSide(sse_answer(STREAM)) as far:
        bare = sync(importlib.import_module(library).Client(), far.base_url, READ[name])
        ours = sync(tenuto.http_client(library), far.base_url, READ[name])
    assert unless_left(ours, name) == unless_left(bare, name)


@pytest.mark.behaviour("P8", "C25")
@pytest.mark.parametrize("name", AREAD)
@pytest.mark.parametrize("library", ["httpx2", "httpx"])
def test_an_async_response_is_read_as_the_library_s_own(library: Any, name: str) -> None:
    with FarSide(sse_answer(STREAM)) as far:
        client = importlib.import_module(library).AsyncClient()
        bare = asyncio.run(over_asyncio(client, far.base_url, AREAD[name]))
        client = tenuto.async_http_client(library)
        ours = asyncio.run(over_asyncio(client, far.base_url, AREAD[name]))
    assert unless_left(ours, name) == unless_left(bare, name)


CUT = (sse_answer(STREAM[:90]).replace(b"connection: close", b"content-length: 999"), RESET)


@pytest.mark.behaviour("P8")
@pytest.mark.parametrize("library", ["httpx2", "httpx"])
def test_an_error_in_the_middle_knows_its_request(library: Any, way: str) -> None:
    asked = json.dumps(json.loads(ASK) | {"n": 2})  # which is only watched
    url = "{}/chat/completions"

    def told_by(client: Any) -> str:
        with (
            FarSide(CUT) as far,
            pytest.raises(module.RequestError) as seen,
            client,
            client.stream("POST", url.format(far.base_url), content=asked) as response,
        ):
            response.read()
        return broken(seen.value)

    async def told_by_async(client: Any) -> str:
        with FarSide(CUT) as far, pytest.raises(module.RequestError) as seen:
            async with (
                client,
                client.stream("POST", url.format(far.base_url), content=asked) as response,
            ):
                await response.aread()
        return broken(seen.value)

    module = importlib.import_module(library)
    if way == "sync":
        assert told_by(tenuto.http_client(library)) == told_by(module.Client())
    else:
        ours = asyncio.run(told_by_async(tenuto.async_http_client(library)))
        assert ours == asyncio.run(told_by_async(module.AsyncClient()))
