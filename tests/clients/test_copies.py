"""Copies of a wrapped client that have an HTTP client of their own finish their turns, too."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import groq
import httpx
import httpx2
import openai
import pytest
import together
from anthropic.lib.credentials import AccessToken
from cerebras.cloud import sdk as cerebras
from support.asking.wrapping import QUICK
from support.far_sides import BODY, FarSide, json_answer
from support.replay.anthropic_messages import MAX, R

import tenuto

POLICY = tenuto.Policy(**QUICK)
WHOLE = "The first half, and the second."
CHAT = (BODY % (b"The first half, ", b"length"), BODY % (b"and the second.", b"stop"))
MESSAGES = (R("The first half, ", MAX).body("m"), R("and the second.").body("m"))
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Tell me."}]}

COLD: dict[str, Any] = {"warm_tcp_connection": False}
"""Cerebras's SDK sends a request when it makes a client, unless it is told not to."""

SDKS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "OpenAI": (openai, httpx2, {}),
    "Anthropic": (anthropic, httpx2, {}),
    "Groq": (groq, httpx, {}),
    "Together": (together, httpx, {}),
    "Cerebras": (cerebras, httpx, COLD),
}

in_each_sdk = pytest.mark.parametrize("name", SDKS)
in_each_method = pytest.mark.parametrize("method", ["with_options", "copy"])


def halves(name: str) -> FarSide:
    return FarSide(*map(json_answer, MESSAGES if name == "Anthropic" else CHAT))


def made(name: str, way: str, far: FarSide) -> Any:
    sdk, _, more = SDKS[name]
    kind = getattr(sdk, f"Async{name}" if way == "async" else name)
    url = far.base_url if name in ("OpenAI", "Together") else far.base_url.removesuffix("/v1")
    return kind(base_url=url, api_key="key", max_retries=0, **more)


def http_of(library: Any, way: str, **options: Any) -> Any:
    return (library.AsyncClient if way == "async" else library.Client)(timeout=60, **options)


def said(client: Any, **headers: str) -> str:
    """The text of one answer; the client is closed then."""
    resource = getattr(client, "messages", None) or client.chat.completions
    asked = ASKED | {"extra_headers": headers}
    if isinstance(client, anthropic.Anthropic | anthropic.AsyncAnthropic):
        asked["max_tokens"] = 999
    if "Async" not in type(client).__name__:
        with client:
            return text_of(resource.create(**asked))

    async def ask() -> str:
        async with client:
            return text_of(await resource.create(**asked))

    return asyncio.run(ask())


def text_of(answer: Any) -> str:
    content = getattr(answer, "content", None)
    return str(content[0].text if content else answer.choices[0].message.content)


@pytest.mark.behaviour("C25", "P8c")
@in_each_method
@in_each_sdk
def test_a_copy_with_another_http_client_finishes_its_turns(name, way, method):
    seen: list[tenuto.Event] = []
    with halves(name) as far:
        wrapped = tenuto.wrap(made(name, way, far), policy=POLICY, on_event=seen.append)
        http = http_of(SDKS[name][1], way, headers={"x-own": "kept"})
        copied = getattr(wrapped, method)(http_client=http, **SDKS[name][2])
        assert isinstance(copied, type(wrapped))
        assert tenuto.wrap(copied) is copied
        assert said(copied, **{"x-tenuto": "on_incomplete=stop"}) == WHOLE
        assert copied.is_closed()
        assert not wrapped.is_closed()
    assert [head.lower().count(b"x-own: kept") for head, _ in far.requests] == [1, 1]
    assert all(b"x-tenuto" not in head.lower() for head, _ in far.requests)
    assert sum(event.name == "turn_ended" for event in seen) == 1


@pytest.mark.behaviour("C25", "P8c")
def test_a_copy_of_such_a_copy_finishes_its_turns():
    with halves("OpenAI") as far:
        copied = tenuto.wrap(made("OpenAI", "sync", far), policy=POLICY)
        for _ in range(3):
            copied = copied.with_options(http_client=httpx2.Client()).copy(timeout=9)
        assert said(copied) == WHOLE
    assert len(far.requests) == 2


@pytest.mark.behaviour("P8c")
@pytest.mark.parametrize("over", ["client", "transport"])
def test_an_http_client_that_recovers_already_keeps_its_own_policy(over):
    with halves("OpenAI") as far:
        wrapped = tenuto.wrap(made("OpenAI", "sync", far), policy=POLICY)
        none = tenuto.Policy(continuation_max_attempts=0)
        transport = tenuto.HTTPTransport(policy=none)
        http = (
            tenuto.http_client(policy=none)
            if over == "client"
            else httpx2.Client(transport=transport)
        )
        assert said(wrapped.with_options(http_client=http)).strip() == "The first half,"
    assert len(far.requests) == 1


@in_each_sdk
def test_what_is_no_http_client_is_refused_by_the_sdk_as_before(name, way):
    with halves(name) as far:
        wrapped = tenuto.wrap(made(name, way, far))
        wrong = http_of(SDKS[name][1], "sync" if way == "async" else "async")
        for given in (wrong, object()):
            with pytest.raises((TypeError, AttributeError)):
                wrapped.with_options(http_client=given, **SDKS[name][2])


@pytest.mark.behaviour("C28a")
def test_a_copy_is_made_of_the_class_that_the_sdk_knows():
    """Anthropic's SDK hands on credentials only between clients of exactly its own class."""
    found = anthropic.Anthropic(credentials=lambda **_: AccessToken(token="a"))
    wrapped = tenuto.wrap(found)
    for copied in (wrapped.copy(), wrapped.with_options(http_client=httpx2.Client())):
        assert copied.credentials is found.credentials


@pytest.mark.behaviour("C28a")
def test_the_class_stays_the_sdks_own():
    with FarSide() as far:
        wrapped = tenuto.wrap(made("OpenAI", "sync", far))
        assert type(wrapped) is openai.OpenAI
        other = type(wrapped)(base_url=far.base_url, api_key="key")
        assert type(other.with_options(timeout=9)) is openai.OpenAI


class Strict(openai.OpenAI):
    """A class that asks each subclass for a keyword."""

    def __init_subclass__(cls, *, named: str) -> None: ...


@pytest.mark.behaviour("C28a")
def test_no_subclass_is_made_of_a_callers_class():
    with FarSide(*map(json_answer, CHAT)) as far:
        wrapped = tenuto.wrap(Strict(base_url=far.base_url, api_key="key"), policy=POLICY)
        copied = wrapped.copy(http_client=httpx2.Client())
        assert type(copied) is Strict
        assert said(copied) == WHOLE
