"""A stream begins as the streams of its wire begin, whichever attempt it begins with."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from support.events.framing import sse
from support.one_turn import Played
from support.whole_texts import (
    CHAT,
    COHERE,
    INTERACTIONS,
    MESSAGES,
    RESPONSES,
    REST_OF,
    as_sent,
)

from tenuto.turn.drivers.scripted import Scripted, lost

Event = dict[str, Any]
ASKED: Event = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Why?"}]}
MISTRAL = ("https://api.mistral.ai/v1/chat/completions", ASKED)
COHERE_1 = ("https://api.cohere.com/v1/chat", {"model": "m", "stream": True, "message": "Why?"})
V1 = [
    {"event_type": "stream-start", "is_finished": False, "generation_id": "g"},
    {"event_type": "text-generation", "is_finished": False, "text": "The sea."},
    {"event_type": "stream-end", "is_finished": True, "finish_reason": "COMPLETE",
     "response": {"text": "The sea.", "generation_id": "g", "finish_reason": "COMPLETE"}},
]  # fmt: skip


def chat_events() -> list[Event]:
    said = [{"role": "assistant", "content": "The "}, {"content": "sea."}]
    choices: list[Event] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in said]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return [{**head, "choices": [choice]} for choice in choices]


GARBAGE: dict[str, list[Any]] = {
    "no_json": [b'data: {"id": "c0", "choi\n\n'],
    "no_utf8": [b"data: \xff\xfe\n\n"],
    "an_error": [b'data: {"error": {"message": "overloaded", "code": 503}}\n\n'],
    "a_break": [b": hello\n\n", lost()],
    "half_an_event": [b'data: {"id": "c0"', lost()],
    "no_choice_then_a_break": [
        b'data: {"id":"c0","object":"chat.completion.chunk","created":1,"model":"m","choices":[]}\n\n',
        lost(),
    ],
}


def values(got: bytes) -> list[Event]:
    found = [line.partition(b":")[2] for line in got.splitlines() if line.startswith(b"data:")]
    return [json.loads(data) for data in found if data.strip().startswith(b"{")]


@pytest.mark.behaviour("S2a")
@pytest.mark.parametrize("wire", [CHAT, MISTRAL], ids=["chat", "mistral"])
@pytest.mark.parametrize("name", GARBAGE)
def test_the_first_delta_has_the_role_and_no_other_one_does(wire, name):
    good = Scripted.stream(*sse(chat_events(), done=True))
    turn = Played(*wire, Scripted.stream(*GARBAGE[name]), good)
    chunks = [event for event in values(turn.got) if event.get("choices")]
    roles = [chunk["choices"][0]["delta"].get("role") for chunk in chunks]
    assert roles == ["assistant", *[None] * (len(roles) - 1)]
    state: Any = ChatCompletionStreamState()
    for event in chunks:
        state.handle_chunk(openai.types.chat.ChatCompletionChunk.model_validate(event))
    message = state.get_final_completion().choices[0].message
    assert (message.role, message.content) == ("assistant", "The sea.")


@pytest.mark.behaviour("S2a")
@pytest.mark.parametrize("length", ["stop", "length"])
def test_a_body_that_is_written_as_events_begins_with_the_role(length):
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "The "},
        "finish_reason": length,
    }
    body = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    rest = Scripted.stream(*sse(chat_events()[1:], done=True))
    turn = Played(*CHAT, Scripted.body(json.dumps(body).encode()), rest)
    chunks = [event for event in values(turn.got) if event.get("choices")]
    roles = [chunk["choices"][0]["delta"].get("role") for chunk in chunks]
    assert roles == ["assistant", *[None] * (len(roles) - 1)]


OTHERS: dict[str, tuple[tuple[str, Event], list[bytes], list[str]]] = {
    "messages": (MESSAGES, as_sent("messages", REST_OF["messages"]), ["message_start"]),
    "responses": (
        RESPONSES, as_sent("responses", REST_OF["responses"]),
        ["response.created", "response.in_progress"],
    ),
    "cohere": (COHERE, as_sent("cohere", REST_OF["cohere"]), ["message-start"]),
    "cohere-v1": (COHERE_1, [json.dumps(event).encode() + b"\n" for event in V1], ["stream-start"]),
    "interactions": (
        INTERACTIONS, as_sent("interactions", REST_OF["interactions"]), ["interaction.created"],
    ),
}  # fmt: skip


@pytest.mark.behaviour("S2a")
@pytest.mark.parametrize("name", ["no_json", "a_break"])
@pytest.mark.parametrize("wire", OTHERS)
def test_the_events_that_open_a_message_come_first(wire, name):
    asked, pieces, first = OTHERS[wire]
    broken = [b'{"event_ty\n'] if wire == "cohere-v1" else GARBAGE[name]
    turn = Played(*asked, Scripted.stream(*broken), Scripted.stream(*pieces))
    got = turn.got.replace(b"\n{", b"\ndata: {") if wire == "cohere-v1" else turn.got
    got = b"data: " + got if got.startswith(b"{") else got
    kinds = [event.get("type") or event.get("event_type") for event in values(got)]
    assert kinds[: len(first)] == first
    assert kinds.count(first[0]) == 1
