"""Claude on InvokeModel: a guardrail's word stands beside what Claude wrote, and decides."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.aws import events_of
from support.aws_messages import chunk

import tenuto
from tenuto.core.events.report import Report
from tenuto.core.settings.policy import Policy
from tenuto.sansio import ReadMore, SendData, SendRequest, StartResponse, Turn
from tenuto.turn.drivers.commands import Head
from tenuto.turn.drivers.scripted import Script, Scripted

ACTION = {"amazon-bedrock-guardrailAction": "INTERVENED"}
NONE = {"amazon-bedrock-guardrailAction": "NONE"}
CLAUDE = "https://host/model/anthropic.claude-sonnet-4-5-v1%3A0/invoke"
ASKED = json.dumps(
    {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hi"}],
    }
).encode()
USAGE = {"input_tokens": 4, "output_tokens": 2}


def body(stop: str, text: str = "Sorry, no.", **more: Any) -> Scripted:
    made = {
        "id": "msg_bdrk_1", "type": "message", "role": "assistant", "model": "claude",
        "content": [{"type": "text", "text": text}], "stop_reason": stop, "usage": USAGE,
    }  # fmt: skip
    return Scripted.body(json.dumps(made | more).encode())


def stream(
    stop: str, text: str = "Sorry, no.", where: str = "message_stop", **more: Any
) -> Scripted:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {
            "id": "msg_bdrk_1", "type": "message", "role": "assistant", "model": "claude",
            "content": [], "stop_reason": None, "usage": USAGE}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": USAGE},
        {"type": "message_stop"},
    ]  # fmt: skip
    for event in events:
        if event["type"] == where:
            event.update(more)
    head = Head(200, ((b"content-type", b"application/vnd.amazon.eventstream"),))
    return Scripted(head, tuple(chunk(json.dumps(event).encode()) for event in events))


def played(*answers: Scripted, way: str = "") -> tuple[Report, bytes, int]:
    script, out, reply = Script(*answers), [], None
    turn = Turn("POST", CLAUDE + way, [], ASKED, policy=Policy(backoff_s=0.0))
    upstream: Any = None
    while (command := turn.next(reply)) is not None:
        reply = None
        match command:
            case SendRequest():
                upstream = script.connect(command)
                reply = upstream.head
            case ReadMore():
                reply = upstream.read()
            case SendData(data):
                out.append(data)
            case StartResponse():
                pass
    assert turn.report is not None
    return turn.report, b"".join(out), len(script.transmitted)


WAYS = [
    pytest.param(body, "", {}, id="body"),
    *(
        pytest.param(stream, "-with-response-stream", {"where": where}, id=f"stream-{where}")
        for where in ("message_stop", "message_delta", "content_block_delta", "message_start")
    ),
]


@pytest.mark.behaviour("C6", "E12")
@pytest.mark.parametrize("stop", ["end_turn", "max_tokens", "tool_use"])
@pytest.mark.parametrize(("answer", "way", "at"), WAYS)
def test_an_answer_that_a_guardrail_stepped_into_is_blocked(
    answer: Any, way: str, at: dict[str, str], stop: str
):
    report, _, requests = played(answer(stop, **at, **ACTION), way=way)
    assert report.status != "complete"
    assert report.stop is not None
    assert report.stop.reason is tenuto.StopReason.SAFETY_BLOCKED
    assert (report.stop.raw, requests) == ("INTERVENED", 1)


@pytest.mark.behaviour("C6", "C1")
@pytest.mark.parametrize(("answer", "way", "at"), WAYS)
def test_a_guardrail_that_steps_into_the_rest_ends_the_turn(
    answer: Any, way: str, at: dict[str, str]
):
    cut = answer("max_tokens", "The sea is", **at, **NONE)
    report, out, requests = played(cut, answer("end_turn", " not told.", **at, **ACTION), way=way)
    assert (report.status, requests) == ("partial", 2)
    assert "The sea is" in (json.dumps(events_of(out)) if way else out.decode())


@pytest.mark.behaviour("C1")
@pytest.mark.parametrize(("answer", "way", "at"), WAYS)
def test_a_guardrail_that_did_nothing_changes_nothing(answer: Any, way: str, at: dict[str, str]):
    report, _, requests = played(answer("end_turn", **at, **NONE), way=way)
    assert (report.status, requests) == ("complete", 1)
