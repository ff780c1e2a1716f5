"""Streams on which Anthropic's own SDK crashes are repaired before it reads them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest
from support.asking.wrapping import QUICK
from support.events.framing import sse
from support.far_sides import FarSide, sse_answer

import tenuto

Event = dict[str, Any]
TEXT = "Two bulges. The moon pulls the sea."
TOOL = {
    "name": "write_file",
    "description": "w",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}
USAGE = {"input_tokens": 5, "output_tokens": 1}
MESSAGE: Event = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": USAGE,
}


def start(*without: str, **members: Any) -> Event:
    message = {k: v for k, v in (MESSAGE | members).items() if k not in without}
    return {"type": "message_start", "message": message}


def begin(index: int | None = 0, **block: Any) -> Event:
    number = {} if index is None else {"index": index}
    return {"type": "content_block_start", **number, "content_block": block}


def piece(index: int | None = 0, **delta: Any) -> Event:
    number = {} if index is None else {"index": index}
    return {"type": "content_block_delta", **number, "delta": delta}


def said(text: str, index: int | None = 0) -> Event:
    return piece(index, type="text_delta", text=text)


def close(index: int | None = 0) -> Event:
    return {"type": "content_block_stop"} | ({} if index is None else {"index": index})


def end(reason: str = "end_turn", **members: Any) -> list[Event]:
    usage = {"output_tokens": 9}
    delta = {"stop_reason": reason, "stop_sequence": None}
    told = {"type": "message_delta", "delta": delta, "usage": usage} | members
    return [{k: v for k, v in told.items() if v is not None}, {"type": "message_stop"}]


ONE, TWO = TEXT[:12], TEXT[12:]
OPEN: Event = {"type": "text", "text": ""}
CALL: Event = {"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": {}}
GIVEN = [piece(3, type="input_json_delta", partial_json=part) for part in ('{"path":', '"a"}')]
PIECES = [said(ONE), said(TWO)]
PLAIN = [begin(**OPEN), *PIECES, close()]

TEXTS: dict[str, list[Event]] = {
    "gap": [start(), begin(1, **OPEN), said(ONE, 1), said(TWO, 1), close(1), *end()],
    "numbers_from_one_by_two": [
        start(), begin(1, **OPEN), said(ONE, 1), close(1),
        begin(3, **OPEN), said(TWO, 3), close(3), *end(),
    ],
    "one_number_for_all": [
        start(), begin(0, **OPEN), said(ONE), close(), begin(0, **OPEN), said(TWO), close(), *end(),
    ],
    "no_numbers": [
        start(), begin(None, **OPEN), said(ONE, None), said(TWO, None), close(None), *end(),
    ],
    "stray_end": [start(), *PLAIN, close(4), *end()],
    "stray_end_first": [start(), close(2), *PLAIN, *end()],
    "no_block_start": [start(), *PIECES, close(), *end()],
    "no_block_start_and_no_end": [start(), *PIECES, *end()],
    "pieces_before_their_start": [start(), said(ONE), begin(**OPEN), said(TWO), close(), *end()],
    "no_content": [start("content"), *PLAIN, *end()],
    "null_content": [start(content=None), *PLAIN, *end()],
    "no_usage": [start("usage"), *PLAIN, *end()],
    "null_usage": [start(usage=None), *PLAIN, *end()],
    "neither": [start("content", "usage"), *PLAIN, *end()],
    "no_message": [{"type": "message_start"}, *PLAIN, *end()],
    "no_message_start": [*PLAIN, *end()],
    "nothing_but_pieces": [*PIECES, *end()],
    "late_message_start": [begin(**OPEN), start(), *PIECES, close(), *end()],
    "block_without_text": [start(), begin(type="text"), *PIECES, close(), *end()],
    "block_with_null": [start(), begin(type="text", text=None), *PIECES, close(), *end()],
    "block_without_type": [start(), begin(text=""), *PIECES, close(), *end()],
    "empty_block": [start(), begin(), *PIECES, close(), *end()],
    "no_block": [start(), {"type": "content_block_start", "index": 0}, *PIECES, close(), *end()],
    "null_piece": [start(), begin(**OPEN), said(ONE), piece(type="text_delta", text=None),
                   said(TWO), close(), *end()],
    "empty_delta": [start(), begin(**OPEN), said(ONE), piece(), said(TWO), close(), *end()],
    "delta_without_type": [start(), begin(**OPEN), piece(text=ONE), said(TWO), close(), *end()],
    "content_as_text": [start(content=TEXT), *end()],
    "end_without_usage": [start(), *PLAIN, *end(usage=None)],
    "end_with_empty_usage": [start(), *PLAIN, *end(usage={})],
    "end_in_two": [
        start(), *PLAIN, {**end()[0], "usage": {}}, {**end()[0], "delta": {}}, end()[1],
    ],
    "end_in_two_halves": [
        start(), *PLAIN,
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_delta", "usage": {"output_tokens": 9}}, end()[1],
    ],
    "text_behind_thinking_under_its_number": [
        start(), begin(type="thinking", thinking="", signature=""),
        piece(type="thinking_delta", thinking="Hm."), *PIECES, close(), *end(),
    ],
    "thinking_without_members": [
        start(), begin(type="thinking"), piece(type="thinking_delta", thinking="Hm."), close(),
        begin(2, **OPEN), said(TEXT, 2), close(2), *end(),
    ],
}  # fmt: skip
CALLS: dict[str, list[Event]] = {
    "gap": [start(), begin(3, **CALL), *GIVEN, close(3), *end("tool_use")],
    "gap_behind_text": [start(), *PLAIN, begin(3, **CALL), *GIVEN, close(3), *end("tool_use")],
    "no_input": [
        start(), begin(3, type="tool_use", id="toolu_1", name="write_file"), *GIVEN, close(3),
        *end("tool_use"),
    ],
    "pieces_before_their_start": [start(), *GIVEN, begin(3, **CALL), close(3), *end("tool_use")],
    "stray_end": [start(), close(7), begin(3, **CALL), *GIVEN, close(3), *end("tool_use")],
    "whole_at_its_end": [
        start(),
        {**close(), "content_block": CALL | {"input": {"path": "a"}}}, *end("tool_use"),
    ],
    "no_content": [start("content"), begin(3, **CALL), *GIVEN, close(3), *end("tool_use")],
}  # fmt: skip


def answered(events: list[Event]) -> bytes:
    return sse_answer(b"".join(sse(events)))


def asked(far: FarSide, way: str, read: str) -> tuple[str, Any, list[Any]]:
    """What a program sees: the text of its events, the message, and the events."""
    given: dict[str, Any] = {
        "model": "m",
        "max_tokens": 900,
        "messages": [{"role": "user", "content": "Why?"}],
        "tools": [TOOL],
    }
    made = anthropic.Anthropic if way == "sync" else anthropic.AsyncAnthropic
    bare = made(base_url=far.base_url.removesuffix("/v1"), api_key="key", max_retries=0)
    client: Any = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK))

    async def of(events: Any) -> list[Any]:
        if isinstance(events, AsyncIterator) or way == "async":
            return [event async for event in events]
        return list(events)

    async def run() -> tuple[str, Any, list[Any]]:
        if read == "create":
            stream = client.messages.create(**given, stream=True)
            got = await of(await stream if way == "async" else stream)
            texts = [e.delta.text for e in got if e.type == "content_block_delta"
                     and e.delta.type == "text_delta"]  # fmt: skip
            return "".join(texts), None, got
        if way == "async":
            async with client.messages.stream(**given) as stream:
                got = await of(stream)
                message = await stream.get_final_message()
        else:
            with client.messages.stream(**given) as stream:
                got = list(stream)
                message = stream.get_final_message()
        return "".join(e.text for e in got if e.type == "text"), message, got

    return asyncio.run(run())


@pytest.mark.behaviour("S2a")
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_in_an_odd_stream_arrives_after_one_request(name, way):
    with FarSide(answered(TEXTS[name])) as far:
        shown, message, _ = asked(far, way, "stream")
    assert len(far.requests) == 1
    assert shown == TEXT
    assert "".join(block.text for block in message.content if block.type == "text") == TEXT
    assert message.stop_reason == "end_turn"
    assert message.usage.output_tokens == 9 or "usage" in name


@pytest.mark.behaviour("S2a")
@pytest.mark.parametrize("name", CALLS)
def test_a_call_in_an_odd_stream_arrives_after_one_request(name, way):
    with FarSide(answered(CALLS[name])) as far:
        _, message, _ = asked(far, way, "stream")
    assert len(far.requests) == 1
    calls = [(b.id, b.name, b.input) for b in message.content if b.type == "tool_use"]
    assert calls == [("toolu_1", "write_file", {"path": "a"})]
    assert message.stop_reason == "tool_use"


def cut(events: list[Event]) -> list[Event]:
    """The same stream, cut by the limit in the middle of its text."""
    told = (
        json.dumps(events).replace(json.dumps(TWO)[1:-1], TWO[:9]).replace("end_turn", "max_tokens")
    )
    return list(json.loads(told.replace(TEXT, ONE + TWO[:9])))


@pytest.mark.behaviour("S2a")
@pytest.mark.parametrize("name", TEXTS)
def test_one_that_is_cut_is_continued_in_the_same_message(name, way):
    rest = [start(), begin(**OPEN), said(TWO[9:]), close(), *end()]
    with FarSide(answered(cut(TEXTS[name])), answered(rest)) as far:
        shown, message, _ = asked(far, way, "stream")
    assert len(far.requests) == 2
    assert shown == TEXT
    assert "".join(block.text for block in message.content if block.type == "text") == TEXT
    assert message.stop_reason == "end_turn"


@pytest.mark.behaviour("S2a")
@pytest.mark.parametrize("name", TEXTS)
def test_events_that_a_program_reads_itself_have_what_they_need(name, way):
    with FarSide(answered(TEXTS[name])) as far:
        shown, _, events = asked(far, way, "create")
    assert shown == TEXT
    assert events[0].type == "message_start"
    assert events[0].message.content == []
    begun = [event.index for event in events if event.type == "content_block_start"]
    assert begun == list(range(len(begun)))
    assert {e.index for e in events if e.type.startswith("content_block_")} == set(begun)
    assert all(event.usage and event.delta for event in events if event.type == "message_delta")
