"""A request's own policy that is wrong, through a transport: the SDK's own error says what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import anthropic
import cerebras.cloud.sdk
import cohere
import google.genai
import groq
import httpx
import httpx2
import ollama
import openai
import pytest
import together
from google.genai import types
from mistralai.client import Mistral

import tenuto
from examples.wires.tests.at_hand import every_wire as wires
from tenuto.turn.settings.refusal import refusal
from tenuto.wires.registry import WIRES
from tenuto_sim import Simulator

pytestmark = pytest.mark.behaviour("P3", "P1b")

ASK: Any = [{"role": "user", "content": "Why do tides come twice a day?"}]
CHAT: dict[str, Any] = {"model": "sim/normal", "messages": ASK}
WRONG = {"x-tenuto": "empty_retries=99"}
SAID = "header x-tenuto: empty_retries is 99, but it must be a whole number from 0 to 10"


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


def over(library: Any, **settings: Any) -> Any:
    return library.Client(transport=tenuto.HTTPTransport(**settings), timeout=60)


def chat(cls: Any, url: str, library: Any, **options: Any) -> Any:
    with cls(base_url=url, api_key="key", http_client=over(library), **options) as client:
        return client.chat.completions.create(**CHAT, extra_headers=WRONG)


def by_responses(sim: Simulator) -> Any:
    with openai.OpenAI(base_url=sim.base_url, api_key="key", http_client=over(httpx2)) as client:
        given: Any = {"model": "sim/normal", "input": "Why?", "stream": True}
        return client.responses.create(**given, extra_headers=WRONG)


def by_anthropic(sim: Simulator) -> Any:
    url = sim.base_url.removesuffix("/v1")
    with anthropic.Anthropic(base_url=url, api_key="key", http_client=over(httpx2)) as client:
        return client.messages.create(**CHAT, max_tokens=500, extra_headers=WRONG)


def by_anthropic_stream(sim: Simulator) -> Any:
    url = sim.base_url.removesuffix("/v1")
    with (
        anthropic.Anthropic(base_url=url, api_key="key", http_client=over(httpx2)) as client,
        client.messages.stream(**CHAT, max_tokens=500, extra_headers=WRONG) as stream,
    ):
        return stream.get_final_message()


def by_cohere(sim: Simulator) -> Any:
    url = sim.base_url.removesuffix("/v1")
    client = cohere.ClientV2(base_url=url, api_key="key", httpx_client=over(httpx))
    more: Any = {"additional_headers": WRONG}
    return client.chat(**CHAT, request_options=more)


def by_mistral(sim: Simulator) -> Any:
    url = sim.base_url.removesuffix("/v1")
    client = Mistral(server_url=url, api_key="key", client=over(httpx))
    return client.chat.complete(**CHAT, http_headers=WRONG)


def by_google(sim: Simulator) -> Any:
    http: Any = over(httpx)
    options = types.HttpOptions(
        base_url=sim.base_url.removesuffix("/v1"), headers=WRONG, httpx_client=http
    )
    client = google.genai.Client(api_key="key", http_options=options)
    return client.models.generate_content(model="sim-normal", contents="Why?")


def by_ollama(sim: Simulator) -> Any:
    url = sim.base_url.removesuffix("/v1")
    client = ollama.Client(host=url, headers=WRONG, transport=tenuto.HTTPTransport())
    return client.chat(**CHAT)


@pytest.mark.parametrize(
    ("ask", "raised"),
    [
        (lambda sim: chat(openai.OpenAI, sim.base_url, httpx2), "BadRequestError"),
        (lambda sim: chat(groq.Groq, sim.base_url.removesuffix("/v1"), httpx), "BadRequestError"),
        (lambda sim: chat(together.Together, sim.base_url, httpx), "BadRequestError"),
        (
            lambda sim: chat(
                cerebras.cloud.sdk.Cerebras,
                sim.base_url.removesuffix("/v1"),
                httpx,
                warm_tcp_connection=False,
            ),
            "BadRequestError",
        ),
        (by_responses, "BadRequestError"),
        (by_anthropic, "BadRequestError"),
        (by_anthropic_stream, "BadRequestError"),
        (by_cohere, "BadRequestError"),
        (by_mistral, "SDKError"),
        (by_google, "ClientError"),
        (by_ollama, "ResponseError"),
    ],
    ids=[
        *("openai", "groq", "together", "cerebras", "responses", "anthropic"),
        *("anthropic-stream", "cohere", "mistral", "google", "ollama"),
    ],
)
def test_a_wrong_header_is_the_sdks_own_bad_request_and_nothing_is_sent(sim, ask, raised):
    with pytest.raises(Exception, match=SAID) as caught:
        ask(sim)
    assert type(caught.value).__name__ == raised
    assert sim.requests == []


@pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])
def test_the_response_says_that_it_is_of_a_policy_and_not_to_be_tried_again(sim, library, way):
    url = f"{sim.base_url}/chat/completions"
    if way == "async":

        async def post() -> Any:
            transport: Any = tenuto.AsyncHTTPTransport()
            async with library.AsyncClient(transport=transport) as client:
                return await client.post(url, json=CHAT, headers=WRONG)

        response = asyncio.run(post())
    else:
        with over(library) as client:
            response = client.post(url, json=CHAT, headers=WRONG)
    assert response.status_code == 400
    assert response.headers["x-should-retry"] == "false"
    assert response.json()["error"] == {
        "message": SAID,
        "type": "tenuto_policy",
        "param": None,
        "code": "policy_error",
    }
    assert response.request.url == url
    assert sim.requests == []


def test_what_the_owner_of_a_transport_does_not_allow_is_refused_alike(sim):
    policy = tenuto.Policy(per_request={"ending"})
    url = sim.base_url.removesuffix("/v1")
    with anthropic.Anthropic(
        base_url=url, api_key="key", http_client=over(httpx2, policy=policy)
    ) as client:
        given: Any = {**CHAT, "max_tokens": 500}
        with (
            tenuto.policy(empty_retries=0),
            pytest.raises(
                anthropic.BadRequestError, match=r"policy\(\): a request may not change empty"
            ) as caught,
        ):
            client.messages.create(**given)
        assert caught.value.body["error"]["type"] == "invalid_request_error"  # type: ignore[index]
        assert sim.requests == []
        assert client.messages.create(**given).stop_reason == "end_turn"


def test_what_is_no_turn_passes_with_such_a_header(sim):
    with over(httpx) as client:
        assert client.get(f"{sim.base_url}/models", headers=WRONG).status_code != 400


@pytest.mark.parametrize("name", [*wires()])
def test_no_wire_calls_it_an_unfinished_turn(name):
    wire = WIRES.find(name)
    assert wire is not None
    head, body = refusal(wire, tenuto.PolicyError(SAID))
    assert (head.status, head.get(b"x-should-retry")) == (400, "false")
    assert SAID in body.decode()
    assert b"incomplete" not in body.lower()
    assert b"424" not in body
    assert b"520" not in body
