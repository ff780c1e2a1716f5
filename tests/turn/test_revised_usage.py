"""The usage of a joined answer holds what each attempt said of itself last: a provider revises it
while it streams, and some gateways send zeros first."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.events.framing import sse
from support.one_turn import Played
from support.whole_texts import CHAT, MESSAGES, block, choice, start

from tenuto.turn.drivers.scripted import Scripted

Event = dict[str, Any]
HALF, REST = "The moon pulls the se", "a, twice a day."


def message(text: str, stop: str, begun: Event, ended: Event) -> list[Event]:
    first = start()
    first["message"]["usage"] = begun
    return [
        first,
        {"type": "content_block_start", "index": 0, "content_block": block("")},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": ended},
        {"type": "message_stop"},
    ]


def last_usage(got: bytes, kind: str = "message_delta") -> Event:
    values = [json.loads(line[6:]) for line in got.splitlines() if line.startswith(b"data: {")]
    return next(
        v["usage"] for v in reversed(values) if v.get("type", kind) == kind and v.get("usage")
    )


ZERO = {"input_tokens": 0, "output_tokens": 0}
REVISED: dict[str, tuple[Event, Event, Event]] = {
    "zeros_first": (
        ZERO, {"input_tokens": 10_682, "output_tokens": 20},
        {"input_tokens": 10_682, "output_tokens": 27},
    ),
    "tools_of_the_server": (
        {"input_tokens": 25, "output_tokens": 1},
        {"input_tokens": 10_682, "output_tokens": 20, "cache_read_input_tokens": 7,
         "server_tool_use": {"web_search_requests": 1}},
        {"input_tokens": 10_682, "output_tokens": 27, "cache_read_input_tokens": 7,
         "server_tool_use": {"web_search_requests": 1}},
    ),
    "nothing_revised": (
        {"input_tokens": 25, "output_tokens": 1, "cache_creation_input_tokens": 3},
        {"output_tokens": 20},
        {"input_tokens": 25, "output_tokens": 27, "cache_creation_input_tokens": 3},
    ),
    "zeros_last": (
        {"input_tokens": 25, "output_tokens": 1}, {"input_tokens": 0, "output_tokens": 20},
        {"input_tokens": 25, "output_tokens": 27},
    ),
    "null_last": (
        {"input_tokens": 25, "output_tokens": 1, "cache_read_input_tokens": 4},
        {"input_tokens": None, "output_tokens": 20, "cache_read_input_tokens": None},
        {"input_tokens": 25, "output_tokens": 27, "cache_read_input_tokens": 4},
    ),
}  # fmt: skip


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("name", REVISED)
def test_what_the_end_of_a_message_revises_is_in_the_usage_of_the_whole(name):
    begun, ended, whole = REVISED[name]
    first = sse(message(HALF, "max_tokens", begun, ended))
    rest = sse(message(REST, "end_turn", {"input_tokens": 30, "output_tokens": 1},
                       {"input_tokens": 30, "output_tokens": 7}))  # fmt: skip
    turn = Played(*MESSAGES, Scripted.stream(*first), Scripted.stream(*rest))
    assert len(turn.sent) == 2
    assert last_usage(turn.got) == whole


def searched(count: int, stop: str, text: str) -> list[Event]:
    used = {
        "input_tokens": 30,
        "output_tokens": 5,
        "server_tool_use": {"web_search_requests": count},
    }
    return message(text, stop, {"input_tokens": 30, "output_tokens": 1}, used)


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("stream", [False, True])
def test_what_the_server_ran_is_counted_over_all_attempts(stream):
    ask = (MESSAGES[0], MESSAGES[1] | {"stream": stream})
    attempts = [searched(2, "max_tokens", HALF), searched(1, "end_turn", REST)]
    if stream:
        turn = Played(*ask, *[Scripted.stream(*sse(events)) for events in attempts])
        used = last_usage(turn.got)
    else:
        bodies = []
        for first, _, said, _, ended, _ in attempts:
            body = first["message"] | ended["delta"] | {"content": [block(said["delta"]["text"])]}
            bodies.append(Scripted.body(json.dumps(body | {"usage": ended["usage"]}).encode()))
        turn = Played(*ask, *bodies)
        used = json.loads(turn.got)["usage"]
    assert len(turn.sent) == 2
    assert used["server_tool_use"] == {"web_search_requests": 3}
    assert (used["input_tokens"], used["output_tokens"]) == (30, 10)


@pytest.mark.behaviour("C19")
def test_usage_in_each_chunk_is_that_of_the_last_one():
    def chunks(text: str, stop: str) -> list[Event]:
        def used(output: int, **more: Any) -> Event:
            told = {"prompt_tokens": 40, "completion_tokens": output, "total_tokens": 40 + output}
            return {"usage": told | more}

        return [
            choice(delta={"content": text[:9]}) | used(1),
            choice(delta={"content": text[9:]}) | used(4),
            choice(stop, delta={}) | used(9, prompt_tokens_details={"cached_tokens": 32}),
        ]

    attempts = [Scripted.stream(*sse(chunks(t, s), done=True))
                for t, s in ((HALF, "length"), (REST, "stop"))]  # fmt: skip
    turn = Played(*CHAT, *attempts)
    used = last_usage(turn.got, "")
    assert used["prompt_tokens_details"] == {"cached_tokens": 32}
    assert (used["prompt_tokens"], used["completion_tokens"], used["total_tokens"]) == (40, 18, 58)


@pytest.mark.behaviour("C19")
def test_what_only_geminis_last_event_counts_is_in_the_usage_of_the_whole():
    def events(text: str, stop: str) -> list[Event]:
        content = {"role": "model", "parts": [{"text": text}]}
        first = {"promptTokenCount": 40, "totalTokenCount": 40}
        last = {"promptTokenCount": 40, "candidatesTokenCount": 9, "totalTokenCount": 69,
                "toolUsePromptTokenCount": 20, "cachedContentTokenCount": 32}  # fmt: skip
        return [
            {"candidates": [{"content": content}], "usageMetadata": first},
            {"candidates": [{"finishReason": stop}], "usageMetadata": last},
        ]

    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    ask = {"contents": [{"role": "user", "parts": [{"text": "Why?"}]}]}
    attempts = [
        Scripted.stream(*sse(events(t, s))) for t, s in ((HALF, "MAX_TOKENS"), (REST, "STOP"))
    ]
    turn = Played(url, ask, *attempts)
    values = [json.loads(line[6:]) for line in turn.got.splitlines() if line.startswith(b"data: {")]
    used = values[-1]["usageMetadata"]
    assert used["cachedContentTokenCount"] == 32
    assert (used["promptTokenCount"], used["candidatesTokenCount"]) == (40, 18)
    assert used["totalTokenCount"] == 78
