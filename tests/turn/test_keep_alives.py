"""While something is held or waited for, the provider's keep-alives pass (S4a)."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from support.events import anthropic_messages as claude
from support.events import openai_chat as chat
from support.events.framing import Call, sse

import tenuto

pytestmark = pytest.mark.behaviour("S4a")

COMMENT = b": still here\n\n"
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
CHAT = "https://api.openai.com/v1/chat/completions"
CLAUDE = "https://api.anthropic.com/v1/messages"
FORM = {"type": "json_object"}
ASK: dict[str, Any] = {"stream": True, "messages": [{"role": "user", "content": "Write."}]}


def given(
    url: str, asked: dict[str, Any], answers: list[list[bytes]], **policy: Any
) -> list[bytes]:
    """What the caller has received when each piece of the answers was read; the last: at the end."""
    turn = tenuto.sansio.Turn(
        "POST",
        url,
        [(b"content-type", b"application/json")],
        json.dumps(asked).encode(),
        policy=tenuto.Policy(backoff_s=0.0, **policy),
    )
    left = [list(pieces) for pieces in answers]
    seen: list[bytes] = []
    got = b""
    pieces: list[bytes] = []
    reply: Any = None
    while (command := turn.next(reply)) is not None:
        reply = None
        match command:
            case tenuto.sansio.SendRequest():
                pieces = left.pop(0)
                reply = tenuto.sansio.Head(200, ((b"content-type", b"text/event-stream"),))
            case tenuto.sansio.ReadMore():
                seen.append(got)
                reply = pieces.pop(0) if pieces else b""
            case tenuto.sansio.SendData(data):
                got += data
    return [*seen, got]


def named(*events: dict[str, Any]) -> list[bytes]:
    return [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events]


def test_a_comment_passes_while_a_call_is_held() -> None:
    head, *more = chat.call_deltas(chat.function("write", "", "call_1"), ['{"a": ', "1}"])
    told = list(
        sse(
            chat.chunks([{"role": "assistant", "content": None}, head, *more], "tool_calls"),
            done=True,
        )
    )
    told.insert(3, COMMENT)
    asked = {"model": "gpt-5", "tools": [{"type": "function", "function": {"name": "write"}}]}
    seen = given(CHAT, ASK | asked, [told])
    at = next(number for number, got in enumerate(seen) if COMMENT in got)
    assert b"call_1" not in seen[at], "the call is still held"
    assert at == 4, "at once"
    assert b"call_1" in seen[-1]
    assert seen[-1].count(COMMENT) == 1


def test_a_ping_passes_while_a_call_is_held() -> None:
    told = named(*claude.stream([claude.called(Call(('{"a": 1}',), id="toolu_1"))], "tool_use"))
    told.insert(3, PING)
    asked = {
        "model": "claude-sonnet-5",
        "max_tokens": 100,
        "tools": [{"name": "write", "input_schema": {"type": "object"}}],
    }
    seen = given(CLAUDE, ASK | asked, [told])
    at = next(number for number, got in enumerate(seen) if PING in got)
    assert (at, b"toolu_1" in seen[at], b"toolu_1" in seen[-1]) == (4, False, True)
    assert seen[-1].replace(PING, b"") == b"".join(told).replace(PING, b"")


@pytest.mark.parametrize("structured_streams", ["flow", "hold"])
def test_a_comment_passes_while_a_document_is_held_or_proven(structured_streams: Any) -> None:
    first = list(
        sse(chat.chunks([{"role": "assistant", "content": '{"a": '}, {"content": '"b'}], "length"))
    )
    again = list(
        sse(chat.chunks([{"role": "assistant", "content": '{"c": 1}'}], "stop"), done=True)
    )
    rest = list(sse(chat.chunks([{"role": "assistant", "content": '"}'}], "stop"), done=True))
    answers = [[first[0], COMMENT, *first[1:]], [again[0], COMMENT, *again[1:]]]
    if structured_streams == "flow":
        answers.append([rest[0], COMMENT, *rest[1:]])
    seen = given(
        CHAT,
        ASK | {"model": "gpt-5", "response_format": FORM},
        answers,
        structured_streams=structured_streams,
    )
    assert seen[-1].count(COMMENT) == len(answers)
    counts = [got.count(COMMENT) for got in seen]
    assert all(after - before <= 1 for before, after in pairwise(counts))
    said = b"".join(seen[-1:])
    assert (b'{\\"c\\": 1}' in said) is (structured_streams == "hold")
