"""Events that say nothing: left out where the caller's SDK fails on them, unchanged elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anthropic
import cohere
import groq
import ollama
import openai
import pytest
import together
from cerebras.cloud.sdk import Cerebras
from google import genai
from google.genai import types
from mistralai.client import Mistral
from support.asking.wrapping import QUICK
from support.events.framing import sse
from support.far_sides import FarSide, answer, sse_answer
from support.one_turn import Played
from support.pairing import every_pair

import tenuto
from tenuto.turn.drivers.scripted import Scripted

Event = dict[str, Any]
Q: list[Any] = [{"role": "user", "content": "Why?"}]
WORDS = ("The moon ", "pulls ", "the sea.")

MUTE = {
    "data_alone": b"data:\n\n",
    "data_and_space": b"data: \n\n",
    "data_of_spaces": b"data:    \n\n",
    "data_in_lines": b"data:\ndata:\n\n",
    "data_in_other_line_ends": b"data:\r\ndata\r\n\r\n",
    "retry": b"retry: 3000\n\n",
    "event": b"event: ping\n\n",
    "event_with_empty_data": b"event: ping\ndata:\n\n",
    "id": b"id: 7\n\n",
    "id_then_comment": b"id: 7\n\n: ping\n\n",
    "comment": b": ping\n\n",
    "comment_and_event": b": ping\nevent: x\n\n",
    "blank_line": b"\n",
}
"""What may stand between two events."""


def chunk(text: str, finish: str | None = None) -> Event:
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": finish}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return head | {"choices": [choice]}


CHAT = [*map(chunk, WORDS), chunk("", "stop")]
AT = {"item_id": "x", "output_index": 0, "content_index": 0}
ITEM = {
    "type": "message", "id": "x", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "".join(WORDS), "annotations": []}],
}  # fmt: skip
WHOLE = {"id": "r", "object": "response", "model": "m", "status": "completed", "output": [ITEM]}
RESPONSE: list[Event] = [
    {"type": "response.created", "response": WHOLE | {"output": [], "status": "in_progress"}},
    *({"type": "response.output_text.delta", **AT, "delta": word} for word in WORDS),
    {"type": "response.completed", "response": WHOLE},
]
MESSAGE: list[Event] = [
    {"type": "message_start", "message": {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
      for word in WORDS),
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
]  # fmt: skip
COHERE: list[Event] = [
    {"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant", "content": []}}},
    {"type": "content-start", "index": 0,
     "delta": {"message": {"content": {"type": "text", "text": ""}}}},
    *({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": word}}}}
      for word in WORDS),
    {"type": "content-end", "index": 0},
    {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
]  # fmt: skip
GEMINI: list[Event] = [
    *(
        {"candidates": [{"content": {"role": "model", "parts": [{"text": word}]}}]}
        for word in WORDS
    ),
    {"candidates": [{"finishReason": "STOP"}]},
]


def of_chat(client: Any) -> str:
    made = client.chat.completions.create(model="m", messages=Q, stream=True)
    deltas = [chunk.choices[0].delta for chunk in made if chunk.choices]
    said = [d.get("content") if isinstance(d, dict) else d.content for d in deltas]
    return "".join(text or "" for text in said)


def of_responses(client: Any) -> str:
    made = client.responses.create(model="m", input="Why?", stream=True)
    return "".join(e.delta for e in made if e.type == "response.output_text.delta")


def of_messages(client: Any) -> str:
    with client.messages.stream(model="m", max_tokens=99, messages=Q) as stream:
        return "".join(stream.text_stream)


def of_mistral(client: Any) -> str:
    made = client.chat.stream(model="m", messages=Q)
    return "".join(event.data.choices[0].delta.content or "" for event in made)


def of_cohere(client: Any) -> str:
    made = client.chat_stream(model="m", messages=Q)
    return "".join(e.delta.message.content.text for e in made if e.type == "content-delta")


def of_gemini(client: Any) -> str:
    made = client.models.generate_content_stream(model="m", contents="Why?")
    return "".join(chunk.text or "" for chunk in made)


def gemini(url: str) -> Any:
    return genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url))


Make = Callable[[str], Any]
SDKS: dict[str, tuple[Make, Callable[[Any], str], list[Event], bool]] = {
    "openai": (lambda url: openai.OpenAI(api_key="k", base_url=f"{url}/v1"), of_chat, CHAT, True),
    "responses": (
        lambda url: openai.OpenAI(api_key="k", base_url=f"{url}/v1"), of_responses, RESPONSE, False,
    ),
    "groq": (lambda url: groq.Groq(api_key="k", base_url=url), of_chat, CHAT, True),
    "together": (
        lambda url: together.Together(api_key="k", base_url=f"{url}/v1"), of_chat, CHAT, True,
    ),
    "cerebras": (
        lambda url: Cerebras(api_key="k", base_url=url, warm_tcp_connection=False),
        of_chat, CHAT, True,
    ),
    "mistral": (lambda url: Mistral(api_key="k", server_url=url), of_mistral, CHAT, True),
    "anthropic": (
        lambda url: anthropic.Anthropic(api_key="k", base_url=url), of_messages, MESSAGE, False,
    ),
    "cohere": (lambda url: cohere.ClientV2(api_key="k", base_url=url), of_cohere, COHERE, False),
    "gemini": (gemini, of_gemini, GEMINI, False),
}  # fmt: skip


@pytest.mark.behaviour("S2a")
@every_pair(sdk=SDKS, name=MUTE, numbered=[False, True])
def test_no_sdk_fails_on_what_says_nothing(sdk, name, numbered):
    make, read, events, done = SDKS[sdk]
    between = MUTE[name]
    pieces = [(b"id: 3\n" * numbered) + event + between for event in sse(events, done=done)]
    with FarSide(sse_answer(b"".join(pieces))) as far:
        client = make(far.base_url.removesuffix("/v1"))
        assert read(tenuto.wrap(client, policy=tenuto.Policy(**QUICK))) == "".join(WORDS)
    assert len(far.requests) == 1


@pytest.mark.behaviour("S2a")
@pytest.mark.parametrize("between", [b"\n", b"\n\n", b"  \n"])
def test_ollamas_sdk_does_not_fail_on_blank_lines(between):
    lines = [{"model": "m", "message": {"role": "assistant", "content": w}, "done": False}
             for w in WORDS]  # fmt: skip
    last = {**lines[0], "message": {"role": "assistant", "content": ""}, "done": True}
    body = b"".join(
        json.dumps(line).encode() + b"\n" + between
        for line in [*lines, last | {"done_reason": "stop"}]
    )
    made = answer(body, "content-type: application/x-ndjson", length=False)
    with FarSide(made) as far:
        client = tenuto.wrap(ollama.Client(host=far.base_url.removesuffix("/v1")))
        said = [part["message"]["content"] for part in client.chat("m", messages=Q, stream=True)]
    assert "".join(said) == "".join(WORDS)


@pytest.mark.behaviour("S2a", "P8")
@pytest.mark.parametrize("name", MUTE)
def test_a_caller_that_is_not_known_to_fail_gets_every_byte(name):
    pieces = [event + MUTE[name] for event in sse(CHAT, done=True)]
    ask = {"model": "m", "messages": Q, "stream": True}
    turn = Played("https://api.openai.com/v1/chat/completions", ask, Scripted.stream(*pieces))
    assert turn.got == b"".join(pieces)
