"""The events of each SDK's stream, as the SDK hands them out, say why the answer ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import cohere
import groq
import ollama
import openai
import pytest
import together
from cerebras.cloud import sdk as cerebras
from google import genai
from google.genai import types
from mistralai.client import Mistral

from tenuto import Confidence, StopReason, StreamDetector, detect
from tenuto_sim import Simulator, Step

ASKED: dict[str, Any] = {"model": "length", "messages": [{"role": "user", "content": "Hi"}]}


def _openai(sim: Simulator) -> Iterator[Any]:
    with openai.OpenAI(base_url=sim.base_url, api_key="k") as client:
        yield from client.chat.completions.create(**ASKED, stream=True)


def _openai_helper(sim: Simulator) -> Iterator[Any]:
    client = openai.OpenAI(base_url=sim.base_url, api_key="k")
    with client, client.chat.completions.stream(**ASKED) as stream:
        yield from stream


def _openai_responses(sim: Simulator) -> Iterator[Any]:
    with openai.OpenAI(base_url=sim.base_url, api_key="k") as client:
        yield from client.responses.create(model="length", input="Hi", stream=True)


def _anthropic(sim: Simulator) -> Iterator[Any]:
    with anthropic.Anthropic(base_url=sim.root_url, api_key="k") as client:
        yield from client.messages.create(**ASKED, max_tokens=9, stream=True)


def _groq(sim: Simulator) -> Iterator[Any]:
    with groq.Groq(base_url=sim.root_url, api_key="k") as client:
        yield from client.chat.completions.create(**ASKED, stream=True)


def _together(sim: Simulator) -> Iterator[Any]:
    with together.Together(base_url=sim.base_url, api_key="k") as client:
        yield from client.chat.completions.create(**ASKED, stream=True)


def _cerebras(sim: Simulator) -> Iterator[Any]:
    options: Any = {"base_url": sim.root_url, "api_key": "k", "warm_tcp_connection": False}
    with cerebras.Cerebras(**options) as client:
        yield from client.chat.completions.create(**ASKED, stream=True)


def _mistral(sim: Simulator) -> Iterator[Any]:
    with Mistral(server_url=sim.root_url, api_key="k") as client:
        yield from client.chat.stream(**ASKED)


def _cohere(sim: Simulator) -> Iterator[Any]:
    with cohere.ClientV2(base_url=sim.root_url, api_key="k") as client:
        yield from client.chat_stream(**ASKED)


def _cohere_v1(sim: Simulator) -> Iterator[Any]:
    with cohere.Client(base_url=sim.root_url, api_key="k") as client:
        yield from client.chat_stream(model="length", message="Hi")


def _ollama(sim: Simulator) -> Iterator[Any]:
    with ollama.Client(host=sim.root_url) as client:
        yield from client.chat(**ASKED, stream=True)


def _genai(sim: Simulator) -> Iterator[Any]:
    options = types.HttpOptions(base_url=sim.root_url)
    with genai.Client(api_key="k", http_options=options) as client:
        yield from client.models.generate_content_stream(model="length", contents="Hi")


FINISHES = {
    "openai-chat": "length",
    "openai-responses": "max_output_tokens",
    "anthropic-messages": "max_tokens",
    "groq": "length",
    "together": "length",
    "cerebras": "length",
    "mistral": "length",
    "cohere": "MAX_TOKENS",
    "cohere-v1": "MAX_TOKENS",
    "ollama": "length",
    "gemini-generate": "MAX_TOKENS",
}

STREAMS: dict[str, tuple[str, Callable[[Simulator], Iterator[Any]]]] = {
    "openai": ("openai-chat", _openai),
    "openai's helper": ("openai-chat", _openai_helper),
    "openai's responses": ("openai-responses", _openai_responses),
    "anthropic": ("anthropic-messages", _anthropic),
    "groq": ("groq", _groq),
    "together": ("together", _together),
    "cerebras": ("cerebras", _cerebras),
    "mistralai": ("mistral", _mistral),
    "cohere": ("cohere", _cohere),
    "cohere's v1": ("cohere-v1", _cohere_v1),
    "ollama": ("ollama", _ollama),
    "google-genai": ("gemini-generate", _genai),
}


@pytest.mark.behaviour("S5", "S8", "N4")
@pytest.mark.parametrize("named", [False, True], ids=["found", "named"])
@pytest.mark.parametrize("sdk", STREAMS)
def test_events_of_an_sdk_say_why_the_answer_ended(sdk: str, named: bool) -> None:
    wire, asked = STREAMS[sdk]
    with Simulator(dialect=wire if wire == "groq" else "") as sim:
        sim.script([Step(keep=0.5, finish=FINISHES[wire])])
        events = list(asked(sim))
    name = wire if named else None
    detector = StreamDetector(name)
    seen = [detector.feed(event) for event in events]
    stop = detect(events, wire=name)
    assert (stop.reason, stop.confidence) == (StopReason.MAX_TOKENS, Confidence.HIGH)
    assert detector.finalize() == stop
    assert not seen[0].terminal
    assert seen[-1].terminal
    assert (type(stop.raw), stop.raw) == (str, FINISHES[wire])
