"""The body of a further request has one framing, however the caller's body was sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import httpx2
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import BODY, FarSide, json_answer

import tenuto

POLICY = tenuto.Policy(**QUICK)
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Tell me."}]}
HALVES = (BODY % (b"The first half, ", b"length"), BODY % (b"and the second.", b"stop"))
FRAMING = (b"content-length", b"transfer-encoding")

CLIENT = {"sync": tenuto.http_client, "async": tenuto.async_http_client}


def made(library: Any, way: str, over: str) -> Any:
    if over == "client":
        maker: Any = CLIENT[way]
        return maker(library.__name__, policy=POLICY)
    kind = library.AsyncClient if way == "async" else library.Client
    return kind(transport=tenuto.HTTPTransport(policy=POLICY), timeout=60)


async def pieces(body: bytes) -> AsyncIterator[bytes]:
    yield body[:9]
    yield body[9:]


def posted(client: Any, way: str, url: str) -> Any:
    raw, headers = json.dumps(ASKED).encode(), {"content-type": "application/json"}
    if way == "sync":
        with client:
            return client.post(url, content=iter([raw[:9], raw[9:]]), headers=headers)

    async def post() -> Any:
        async with client:
            return await client.post(url, content=pieces(raw), headers=headers)

    return asyncio.run(post())


def framings(head: bytes) -> list[bytes]:
    names = [line.partition(b":")[0].lower() for line in head.split(b"\r\n")]
    return [name for name in names if name in FRAMING]


@pytest.mark.behaviour("S8a", "C5")
@pytest.mark.parametrize("over", ["client", "transport"])
@pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])
def test_a_request_behind_a_streamed_body_has_one_framing_header(library, way, over):
    with FarSide(*map(json_answer, HALVES)) as far:
        answer = posted(made(library, way, over), way, f"{far.base_url}/chat/completions")
    choice = answer.json()["choices"][0]
    text = choice["message"]["content"]
    assert (text, choice["finish_reason"]) == ("The first half, and the second.", "stop")
    assert [framings(head) for head, _ in far.requests] == [
        [b"transfer-encoding"],
        [b"content-length"],
    ]
    assert json.loads(far.requests[0][1]) == ASKED
