"""An error whose body breaks off is one of the transport's, as without Tenuto: an SDK knows it, and
asks again by itself. So is a stream that breaks off while the library reads it at once."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Callable
from typing import Any

import openai
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import BODY, STREAM, FarSide, answer, json_answer, sse_answer

import tenuto

ERROR = json_answer(b'{"error":{"message":"No.","type":"x"}}', status="404 Not Found")[:-5]
SLOW = json_answer(b'{"error":{"message":"Wait.","type":"x"}}', status="503 Slow Down")[:-5]
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def body(client: Any, url: str) -> None:
    client.post(url, json=ASK)


def stream(client: Any, url: str) -> None:
    with client.stream("POST", url, json=ASK | {"stream": True}) as response:
        response.read()


def async_body(client: Any, url: str) -> None:
    async def turn() -> None:
        async with client as entered:
            await entered.post(url, json=ASK)

    asyncio.run(turn())


def async_stream(client: Any, url: str) -> None:
    async def turn() -> None:
        async with client as c, c.stream("POST", url, json=ASK | {"stream": True}) as response:
            await response.aread()

    asyncio.run(turn())


@pytest.mark.behaviour("P1b", "C5")
@pytest.mark.parametrize("answer", [ERROR, SLOW], ids=["404", "503"])
@pytest.mark.parametrize("ask", [body, stream, async_body, async_stream])
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_the_library_raises_its_own_exception(
    library: Any, ask: Callable[[Any, str], None], answer: bytes
) -> None:
    raises = importlib.import_module(library)
    waits = ask.__name__.startswith("async")
    bare = raises.AsyncClient() if waits else raises.Client()
    make = tenuto.async_http_client if waits else tenuto.http_client
    with FarSide(answer) as far:
        for client in (bare, make(library, policy=tenuto.Policy(**QUICK))):
            with pytest.raises(raises.RemoteProtocolError):
                ask(client, f"{far.base_url}/chat/completions")


CUT_STREAM = answer(STREAM, "content-type: text/event-stream")[:-20]
CUT_GZIP = answer(b"not gzip", "content-type: text/event-stream", "content-encoding: gzip")


def posted(client: Any, url: str, **asked: Any) -> Any:
    """The response to a request for events whose whole answer the library reads at once."""
    given = ASK | {"stream": True} | asked
    if not hasattr(client, "aclose"):
        with client as entered:
            return entered.post(url, json=given)

    async def turn() -> Any:
        async with client as entered:
            return await entered.post(url, json=given)

    return asyncio.run(turn())


@pytest.mark.behaviour("P1b", "C5")
@pytest.mark.parametrize(
    ("sent", "name"),
    [(CUT_STREAM, "RemoteProtocolError"), (CUT_GZIP, "DecodingError")],
    ids=["drop", "encoding"],
)
@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"continuation_max_attempts": 0},
        {"on_incomplete": "error"},
        {"on_incomplete": "notice"},
        {"turn_timeout_s": 30},
    ],
    ids=str,
)
@pytest.mark.parametrize("asked", [{}, {"n": 2}], ids=["turn", "left-alone"])
@pytest.mark.parametrize("waits", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_events_read_at_once_from_the_only_attempt(
    library: Any, waits: bool, asked: Any, policy: Any, sent: bytes, name: str
) -> None:
    raises = importlib.import_module(library)
    make = tenuto.async_http_client if waits else tenuto.http_client
    bare = raises.AsyncClient() if waits else raises.Client()
    ours = make(library, policy=tenuto.Policy(**QUICK, fault_retries=0, **policy))
    with FarSide(sent) as far:
        for client in (bare, ours):
            with pytest.raises(getattr(raises, name)):
                posted(client, f"{far.base_url}/chat/completions", **asked)
        assert len(far.requests) == 2


@pytest.mark.behaviour("S1", "P1b", "P1c")
@pytest.mark.parametrize("waits", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_events_read_at_once_after_further_attempts(library: Any, waits: bool) -> None:
    make = tenuto.async_http_client if waits else tenuto.http_client
    policy = tenuto.Policy(**QUICK, fault_retries=1)
    with FarSide(CUT_STREAM, sse_answer(STREAM)) as far:
        told = posted(make(library, policy=policy), f"{far.base_url}/chat/completions")
        assert (told.status_code, len(far.requests)) == (200, 2)
        assert "said." in told.text
    raises = importlib.import_module(library)
    with FarSide(CUT_STREAM) as far:
        with pytest.raises(raises.RemoteProtocolError) as caught:  # as without Tenuto
            posted(make(library, policy=policy), f"{far.base_url}/chat/completions")
        assert len(far.requests) == 2
        (note,) = caught.value.__notes__
        assert note.startswith("Tenuto could not finish this turn")


@pytest.mark.behaviour("P1b")
def test_the_sdk_asks_again() -> None:
    good = json_answer(BODY % (b"All said.", b"stop"))
    with FarSide(ERROR, good) as far:
        bare = openai.OpenAI(base_url=far.base_url, api_key="none", max_retries=1)
        client = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK))
        said = client.chat.completions.create(**ASK).choices[0].message.content
        assert said == "All said."
        assert [json.loads(body) for _, body in far.requests] == [ASK, ASK]
