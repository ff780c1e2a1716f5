"""A turn of ConverseStream, message by message: what needs nothing leaves as the bytes that came,
however they were cut, and what is written botocore reads."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from support.asking.bedrock_converse import assert_one_converse_message
from support.aws import as_botocore_reads, failure
from support.aws_messages import message

from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Head, Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, lost
from tenuto.turn.pipeline.engine import Engine

URL = "https://host/model/amazon.nova-x/converse-stream"
BODY = b'{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}'
AWS = ((b"content-type", b"application/vnd.amazon.eventstream"),)


def event(name: str, **payload: Any) -> bytes:
    kind = {"event_type": name, "content_type": "application/json", "message_type": "event"}
    return message(json.dumps(payload | {"p": "abc"}, ensure_ascii=False).encode(), **kind)


def text(piece: str, index: int = 0) -> bytes:
    return event("contentBlockDelta", contentBlockIndex=index, delta={"text": piece})


def said(*pieces: str, stop: str = "end_turn") -> list[bytes]:
    usage = {"inputTokens": 3, "outputTokens": 5, "totalTokens": 8}
    return [
        event("messageStart", role="assistant"),
        *map(text, pieces),
        event("contentBlockStop", contentBlockIndex=0),
        event("messageStop", stopReason=stop),
        event("metadata", usage=usage, metrics={"latencyMs": 9}),
    ]


def turn(*answers: Scripted, **settings: Any) -> tuple[bytes, Script]:
    script = Script(*answers)
    run = Engine(Policy(**({"backoff_s": 0.0} | settings))).begin(Request("POST", URL, (), BODY))
    assert run is not None
    out = list(Drive(run, script.connect).pieces())
    assert isinstance(out[0], Head)
    return b"".join(piece for piece in out[1:] if isinstance(piece, bytes)), script


def streamed(*pieces: Any) -> Scripted:
    return Scripted(Head(200, AWS), pieces)


def events_in(raw: bytes) -> list[dict[str, Any]]:
    return [
        {headers[":event-type"]: json.loads(payload)} for headers, payload in as_botocore_reads(raw)
    ]


@pytest.mark.behaviour("P8", "S8")
def test_a_normal_stream_comes_out_byte_for_byte_however_it_was_cut():
    raw = b"".join(said("Hel", "lo \n", " ", "wörld", "."))
    rng = random.Random("cuts")
    for _ in range(60):
        places = sorted(rng.sample(range(1, len(raw)), rng.randint(0, 20)))
        pieces = [raw[a:b] for a, b in zip([0, *places], [*places, len(raw)], strict=True)]
        out, script = turn(streamed(*pieces))
        assert out == raw
        assert len(script.transmitted) == 1


@pytest.mark.behaviour("C1", "S2", "S8")
def test_a_continuation_goes_on_in_the_same_block_wherever_the_first_stream_was_cut():
    whole = b"".join(said("One two ", "three", stop="max_tokens"))
    for at in range(1, len(whole)):
        out, _ = turn(streamed(whole[:at], lost()), streamed(*said(" four.")),
                      streamed(*said(" four.")))  # fmt: skip
        told = events_in(out)
        assert_one_converse_message(told)
        deltas = [e["contentBlockDelta"]["delta"]["text"] for e in told if "contentBlockDelta" in e]
        assert "".join(deltas).endswith("four.")


@pytest.mark.behaviour("S9", "S3")
def test_an_exception_in_the_middle_is_recovered_and_never_handed_on():
    broken = streamed(*said("One two ")[:2], failure("internalServerException"))
    out, script = turn(broken, streamed(*said("three.")))
    assert b"exception" not in out
    assert_one_converse_message(events_in(out))
    assert len(script.transmitted) == 2


@pytest.mark.behaviour("N6", "S3")
def test_a_message_that_cannot_be_read_costs_nothing_of_what_was_said():
    bad = bytearray(text("lost"))
    bad[-1] ^= 1
    out, _ = turn(streamed(*said("One two ")[:2], bytes(bad)), streamed(*said("three.")))
    deltas = [e["contentBlockDelta"]["delta"]["text"] for e in events_in(out)
              if "contentBlockDelta" in e]  # fmt: skip
    assert "".join(deltas) == "One two three."


@pytest.mark.behaviour("T16", "S4")
def test_a_cut_call_is_never_handed_on_and_the_repeated_one_is_whole():
    call = {"toolUse": {"toolUseId": "a", "name": "f"}}
    start = event("contentBlockStart", contentBlockIndex=1, start=call)

    def piece(arguments: str) -> bytes:
        delta = {"toolUse": {"input": arguments}}
        return event("contentBlockDelta", contentBlockIndex=1, delta=delta)

    head, tail = said("I write. "), said("I write. ", stop="tool_use")
    cut = [*head[:3], start, piece('{"a'), *said(stop="max_tokens")[-2:]]
    whole = [tail[0], start, piece('{"a":1}'), *tail[-2:]]
    out, _ = turn(streamed(*cut), streamed(*whole))
    told = events_in(out)
    assert_one_converse_message(told)
    inputs = [
        e["contentBlockDelta"]["delta"]["toolUse"]["input"]
        for e in told
        if "toolUse" in e.get("contentBlockDelta", {}).get("delta", {})
    ]
    assert inputs == ['{"a":1}']
    assert told[-2]["messageStop"]["stopReason"] == "tool_use"
