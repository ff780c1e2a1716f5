"""An error whose body breaks off is one of the transport's, as without Tenuto: an SDK knows it, and
asks again by itself."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Callable
from typing import Any

import openai
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import BODY, FarSide, json_answer

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


@pytest.mark.behaviour("P1b")
def test_the_sdk_asks_again() -> None:
    good = json_answer(BODY % (b"All said.", b"stop"))
    with FarSide(ERROR, good) as far:
        bare = openai.OpenAI(base_url=far.base_url, api_key="none", max_retries=1)
        client = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK))
        said = client.chat.completions.create(**ASK).choices[0].message.content
        assert said == "All said."
        assert [json.loads(body) for _, body in far.requests] == [ASK, ASK]
