"""Interactions in their earlier shape: outputs in the place of steps, and events named after content.
They are read as what they say, and what Tenuto writes has the shape that came."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.events.framing import sse
from support.one_turn import Played

import tenuto
from tenuto.turn.drivers.scripted import Scripted

URL = "https://generativelanguage.googleapis.com/v1beta/interactions"
HALF, REST = "The moon pulls the se", "a, twice a day."
CALL = {"type": "function_call", "id": "c1", "name": "write_file", "arguments": {"path": "a"}}
USAGE = {"total_input_tokens": 3, "total_output_tokens": 9}


def body(*outputs: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    told = {"id": "v1_1", "object": "interaction", "model": "m", "status": status}
    return {**told, "outputs": list(outputs), "usage": USAGE}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def stream(words: str, *, status: str = "completed") -> list[dict[str, Any]]:
    told = {"id": "v1_1", "object": "interaction", "model": "m"}
    thought = {"type": "thought_summary", "content": {"type": "text", "text": "Hm."}}
    return [
        {"event_type": "interaction.start", "interaction": {**told, "status": "in_progress"}},
        {"event_type": "content.start", "index": 0, "content": {"type": "thought"}},
        {"event_type": "content.delta", "index": 0, "delta": thought},
        {"event_type": "content.stop", "index": 0},
        {"event_type": "content.start", "index": 1, "content": {"type": "text"}},
        {"event_type": "content.delta", "index": 1, "delta": text(words[:9])},
        {"event_type": "content.delta", "index": 1, "delta": text(words[9:])},
        {"event_type": "content.stop", "index": 1},
        {
            "event_type": "interaction.complete",
            "interaction": {**told, "status": status, "usage": USAGE},
        },
    ]


def asked(*answers: Scripted, streams: bool = False, **policy: Any) -> Played:
    return Played(URL, {"model": "m", "input": "Why?", "stream": streams}, *answers, **policy)


def given(events: list[dict[str, Any]]) -> Scripted:
    return Scripted.stream(*sse(events, done=True))


def whole(value: dict[str, Any]) -> Scripted:
    return Scripted.body(json.dumps(value).encode())


@pytest.mark.behaviour("N1", "N2")
def test_its_stops_are_read_from_bodies_and_streams() -> None:
    reason = tenuto.StopReason
    for status, means in (("completed", reason.END_TURN), ("incomplete", reason.MAX_TOKENS)):
        assert tenuto.detect(body(text(HALF), status=status)).reason is means
        assert tenuto.detect(stream(HALF, status=status)).reason is means
    assert tenuto.detect(stream(HALF)[:-1]).reason is reason.DROPPED
    assert tenuto.detect(body(CALL, status="requires_action")).reason is reason.TOOL_CALL


@pytest.mark.behaviour("P1", "P8")
@pytest.mark.parametrize("streams", [True, False])
def test_a_whole_answer_is_unchanged_after_one_request(streams: bool) -> None:
    came = given(stream(HALF)) if streams else whole(body({"type": "thought"}, text(HALF)))
    for on_incomplete in ("stop", "error"):
        played = asked(came, streams=streams, on_incomplete=on_incomplete)
        assert (played.report.status, len(played.sent)) == ("complete", 1)
        assert played.got == b"".join(piece for piece in came.pieces if isinstance(piece, bytes))


@pytest.mark.behaviour("P1", "P8")
def test_a_call_of_a_stream_comes_at_once_and_whole() -> None:
    events = stream("I write. ", status="requires_action")
    events[-1:-1] = [
        {"event_type": "content.start", "index": 2, "content": {"type": "function_call"}},
        {"event_type": "content.delta", "index": 2, "delta": CALL},
        {"event_type": "content.stop", "index": 2},
    ]
    played = asked(given(events), streams=True)
    assert (played.report.status, len(played.sent)) == ("complete", 1)
    assert played.got == b"".join(sse(events, done=True))


@pytest.mark.behaviour("C1")
def test_a_cut_body_goes_on_in_its_own_shape() -> None:
    cut, rest = body(text(HALF), status="incomplete"), body(text(REST))
    played = asked(whole(cut), whole(rest))
    said = json.loads(played.got)
    assert (played.report.status, said["status"]) == ("complete", "completed")
    assert (said["outputs"], "steps" in said) == ([text(HALF + REST)], False)


@pytest.mark.behaviour("C1", "S2")
def test_a_cut_stream_goes_on_in_its_own_shape() -> None:
    cut, rest = stream(HALF, status="incomplete"), stream(REST)
    played = asked(given(cut), given(rest), streams=True)
    assert played.report.status == "complete"
    lines = [line[6:] for line in played.got.decode().splitlines() if line.startswith("data: {")]
    events = [json.loads(line) for line in lines]
    kinds = {event["event_type"] for event in events}
    assert kinds <= {event["event_type"] for event in cut}
    texts = [e["delta"]["text"] for e in events if e.get("delta", {}).get("type") == "text"]
    assert "".join(texts) == HALF + REST
    assert events[-1]["interaction"]["status"] == "completed"
