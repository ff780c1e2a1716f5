"""Amazon Bedrock through OpenAI's SDK: each request that leaves is signed for what it holds, whether
the keys are those of a client for Bedrock or of a provider."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest
from openai.providers import bedrock
from support.asking.wrapping import QUICK
from support.aws import ACCESS_KEY, REGION, SECRET_KEY, SESSION_TOKEN
from support.clouds import wrongs
from support.events import openai_chat as chat
from support.events import openai_responses as responses
from support.events.framing import sse
from support.far_sides import FarSide, json_answer, sse_answer

import tenuto

POLICY = tenuto.Policy(**QUICK)
KEYS: dict[str, Any] = {
    "access_key_id": ACCESS_KEY,
    "secret_access_key": SECRET_KEY,
    "session_token": SESSION_TOKEN,
}
WHOLE = "The first half, and the second."
HALVES = (("The first half, ", "length"), ("and the second.", "stop"))
BODIES = [json_answer(json.dumps(chat.body(text, stop=stop)).encode()) for text, stop in HALVES]
STREAMS = [
    sse_answer(b"".join(sse(chat.events(text, stop=stop), done=True))) for text, stop in HALVES
]
ASKED: dict[str, Any] = {
    "model": "openai.gpt-oss-120b",
    "max_tokens": 900,
    "messages": [{"role": "user", "content": "Tell me."}],
}

Maker = Callable[..., Any]


def for_bedrock(kind: Any) -> Maker:
    def made(far: FarSide) -> Any:
        own = {f"aws_{name}": value for name, value in KEYS.items()}
        return kind(**own, aws_region=REGION, base_url=far.base_url, max_retries=0)

    return made


def with_provider(kind: Any) -> Maker:
    def made(far: FarSide) -> Any:
        provider = bedrock(region=REGION, base_url=far.base_url, endpoint="mantle", **KEYS)
        return kind(provider=provider, max_retries=0)

    return made


MAKERS = [
    pytest.param(maker(kind), id=f"{kind.__name__}-{maker.__name__}")
    for maker, kinds in (
        (for_bedrock, (openai.BedrockOpenAI, openai.AsyncBedrockOpenAI)),
        (with_provider, (openai.OpenAI, openai.AsyncOpenAI)),
    )
    for kind in kinds
]


def asked(client: Any, *, stream: bool = False, **more: Any) -> str:
    """Ask a client for a body or a stream, whichever kind it is."""
    told: dict[str, Any] = {**ASKED, **more, "stream": stream}
    if not type(client).__name__.startswith("Async"):
        with client:
            answer = client.chat.completions.create(**told)
            return joined(list(answer)) if stream else str(answer.choices[0].message.content)

    async def run() -> str:
        async with client:
            answer = await client.chat.completions.create(**told)
            if stream:
                return joined([chunk async for chunk in answer])
            return str(answer.choices[0].message.content)

    return asyncio.run(run())


def joined(chunks: list[Any]) -> str:
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def each_is_signed_anew(far: FarSide, secret: str = SECRET_KEY) -> None:
    assert wrongs(far, "bedrock-mantle", secret) == ["", ""]
    first, second = (head.lower().partition(b"signature=")[2][:64] for head, _ in far.requests)
    assert first != second


@pytest.mark.behaviour("C28a", "C1")
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
@pytest.mark.parametrize("made", MAKERS)
def test_every_attempt_is_signed_for_what_it_holds(made: Maker, stream: bool) -> None:
    with FarSide(*(STREAMS if stream else BODIES)) as far:
        assert asked(tenuto.wrap(made(far), policy=POLICY), stream=stream) == WHOLE
        each_is_signed_anew(far)


@pytest.mark.behaviour("C28a", "P8c")
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
@pytest.mark.parametrize("made", MAKERS)
def test_a_copy_signs_every_attempt(made: Maker, stream: bool) -> None:
    with FarSide(*(STREAMS if stream else BODIES)) as far:
        client = tenuto.wrap(made(far), policy=POLICY)
        library = httpx2.Client if isinstance(client, openai.OpenAI) else httpx2.AsyncClient
        copied = client.with_options(timeout=9).with_options(http_client=library())
        assert asked(copied, stream=stream) == WHOLE
        each_is_signed_anew(far)


@pytest.mark.behaviour("C28a", "P8c")
@pytest.mark.parametrize("kind", [openai.BedrockOpenAI, openai.AsyncBedrockOpenAI])
def test_a_copy_with_other_keys_signs_with_its_own(kind: Any) -> None:
    with FarSide(*BODIES) as far:
        own = {f"aws_{name}": value for name, value in KEYS.items()}
        own["aws_secret_access_key"] = "another"
        client = tenuto.wrap(for_bedrock(kind)(far), policy=POLICY)
        assert asked(client.with_options(**own)) == WHOLE
        each_is_signed_anew(far, "another")


@pytest.mark.behaviour("C28a", "P8c")
@pytest.mark.parametrize("kind", [openai.OpenAI, openai.AsyncOpenAI])
def test_a_copy_that_is_given_a_provider_signs_every_attempt(kind: Any) -> None:
    with FarSide(*BODIES) as far:
        client = tenuto.wrap(kind(api_key="key", max_retries=0), policy=POLICY)
        provider = bedrock(region=REGION, base_url=far.base_url, endpoint="mantle", **KEYS)
        assert asked(client.with_options(provider=provider)) == WHOLE
        each_is_signed_anew(far)


@pytest.mark.behaviour("C28a", "C1")
@pytest.mark.parametrize("made", MAKERS[:1])
def test_responses_are_signed_too(made: Maker) -> None:
    cut = responses.body("The first half, ", stop="incomplete")
    cut["incomplete_details"] = {"reason": "max_output_tokens"}
    answers = [json.dumps(each).encode() for each in (cut, responses.body("and the second."))]
    with FarSide(*map(json_answer, answers)) as far, made(far) as client:
        wrapped = tenuto.wrap(client, policy=POLICY)
        answer = wrapped.responses.create(model="openai.gpt-oss-120b", input="Tell me.")
        assert answer.output_text == WHOLE
        each_is_signed_anew(far)


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize("made", MAKERS)
def test_a_header_for_tenuto_is_no_part_of_a_signature(made: Maker) -> None:
    with FarSide(*BODIES) as far:
        headers = {"x-tenuto": "off", "x-own": "kept"}
        client = tenuto.wrap(made(far), policy=POLICY)
        assert asked(client, extra_headers=headers) == "The first half, "
        assert wrongs(far, "bedrock-mantle") == [""]
        assert b"x-own: kept" in far.requests[0][0].lower()


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize("kind", [openai.BedrockOpenAI, openai.AsyncBedrockOpenAI])
def test_a_token_is_asked_for_with_every_attempt(kind: Any) -> None:
    tokens = iter(("one", "two"))
    with FarSide(*BODIES) as far:
        own = {"bedrock_token_provider": lambda: next(tokens), "aws_region": REGION}
        client = kind(**own, base_url=far.base_url, max_retries=0)
        assert asked(tenuto.wrap(client, policy=POLICY)) == WHOLE
        for (head, _), token in zip(far.requests, (b"one", b"two"), strict=True):
            assert head.lower().count(b"authorization: bearer " + token) == 1


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize("made", MAKERS)
def test_wrapping_twice_is_wrapping_once(made: Maker) -> None:
    with FarSide(*BODIES) as far:
        client = made(far)
        wrapped = tenuto.wrap(client, policy=POLICY)
        assert tenuto.wrap(wrapped) is wrapped
        assert isinstance(wrapped, type(client))
        assert asked(wrapped) == WHOLE
