"""Ends in the words of another wire or version: stops of other wires in a response, OpenAI's end mark
behind other streams, and values that end nothing."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from support.events.by_wire import WIRES
from support.events.framing import sse
from support.one_turn import Played

import tenuto
from tenuto.turn.drivers.scripted import Scripted

RESPONSES = WIRES["openai-responses"]
URL = "https://host.example/v1/responses"
ASKED = {"model": "m", "input": "Why?"}
HALF, REST = "The moon pulls the se", "a."


def body(text: str, **ends: Any) -> dict[str, Any]:
    made = RESPONSES.body(text, [], None)
    return {key: value for key, value in made.items() if key != "status"} | ends


def stream(text: str, **ends: Any) -> list[dict[str, Any]]:
    events = copy.deepcopy(RESPONSES.events(text, [], None))
    last = events[-1]["response"]
    last.pop("status")
    last |= ends
    return events


def as_given(values: dict[str, Any] | list[dict[str, Any]]) -> Scripted:
    if isinstance(values, dict):
        return Scripted.body(json.dumps(values).encode())
    return Scripted.stream(*sse(values))


CUTS: tuple[dict[str, Any], ...] = (
    {"stop_reason": "length"},
    {"stop_reason": "max_tokens"},
    {"finish_reason": "length"},
    {"stop_reason": "length", "status": "completed"},
)


@pytest.mark.behaviour("N1", "C1")
@pytest.mark.parametrize("ends", CUTS, ids=str)
@pytest.mark.parametrize("made", [body, stream])
def test_a_response_that_another_wire_s_stop_cut_goes_on(made: Any, ends: dict[str, Any]) -> None:
    first, second = made(HALF, **ends), made(REST, status="completed")
    asked = {**ASKED, "stream": made is stream}
    played = Played(URL, asked, as_given(first), as_given(second))
    assert (played.report.status, len(played.sent)) == ("complete", 2)
    assert tenuto.detect(first, wire="openai-responses").reason is tenuto.StopReason.MAX_TOKENS


@pytest.mark.behaviour("N1", "P1")
@pytest.mark.parametrize("made", [body, stream])
@pytest.mark.parametrize(
    "ends", [{"status": "completed", "stop_reason": "stop"}, {"stop_reason": "end_turn"}], ids=str
)
def test_a_clean_one_changes_nothing(made: Any, ends: dict[str, Any]) -> None:
    first = as_given(made(HALF, **ends))
    played = Played(URL, {**ASKED, "stream": made is stream}, first)
    assert (played.report.status, len(played.sent)) == ("complete", 1)
    assert played.got == b"".join(piece for piece in first.pieces if isinstance(piece, bytes))


@pytest.mark.behaviour("S2a", "S6")
def test_a_completed_event_of_an_incomplete_response_is_written_as_incomplete() -> None:
    events = stream(HALF, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    asked = {**ASKED, "stream": True}
    played = Played(URL, asked, as_given(events), continuation_max_attempts=0)
    assert played.report.status == "partial"
    assert b'"type":"response.incomplete"' in played.got.replace(b": ", b":")
    assert b"event: response.completed" not in played.got


@pytest.mark.behaviour("N1")
@pytest.mark.parametrize("why", ["load", "unload"])
def test_a_model_that_was_only_loaded_has_not_ended_its_turn(why: str) -> None:
    message = {"role": "assistant", "content": ""}
    loaded = {"model": "m", "message": message, "done_reason": why, "done": True}
    stop = tenuto.detect(loaded, wire="ollama")
    assert (stop.reason, stop.detail) == (tenuto.StopReason.UNKNOWN, why)
    asked = {"model": "m", "stream": False, "messages": [{"role": "user", "content": "Why?"}]}
    said = {**loaded, "message": {**message, "content": "Two bulges."}, "done_reason": "stop"}
    answers = [Scripted.body(json.dumps(value).encode()) for value in (loaded, said)]
    played = Played("http://localhost:11434/api/chat", asked, *answers)
    assert (played.report.status, len(played.sent)) == ("complete", 2)
    assert not played.of("unknown_stop_seen"), "the value is known"


@pytest.mark.behaviour("N1")
def test_an_idle_interaction_is_over_and_its_call_is_handed_out() -> None:
    idle = {"id": "v1_1", "object": "interaction", "model": "m", "status": "idle"}
    said = {"type": "model_output", "content": [{"type": "text", "text": "Two bulges."}]}
    call = {"type": "function_call", "id": "c1", "name": "write_file", "arguments": {"path": "a"}}
    assert tenuto.detect({**idle, "steps": [said]}).reason is tenuto.StopReason.END_TURN
    assert tenuto.detect({**idle, "steps": [call]}).reason is tenuto.StopReason.TOOL_CALL


WATSONX = "https://us-south.ml.cloud.ibm.com/ml/v1/text/chat_stream"
ANTHROPIC = "https://host.example/v1/messages"
CHUNK = {"id": "c1", "model_id": "m", "model": "m", "created": 1}


@pytest.mark.behaviour("S1", "P1")
@pytest.mark.parametrize("wire", ["watsonx", "anthropic-messages"])
def test_openai_s_end_mark_behind_another_stream_says_nothing(wire: str) -> None:
    messages: dict[str, Any] = {"messages": [{"role": "user", "content": "Why?"}]}
    if wire == "watsonx":
        choice = {"index": 0, "delta": {"role": "assistant", "content": "Two bulges."}}
        events: list[dict[str, Any]] = [
            {**CHUNK, "choices": [{**choice, "finish_reason": None}]},
            {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ]
        url, asked = WATSONX, {"model_id": "m", **messages}
    elif wire == "anthropic-messages":
        events = WIRES[wire].events("Two bulges.", [], None)[:-1]
        url, asked = ANTHROPIC, {"model": "m", "max_tokens": 99, "stream": True, **messages}
    given = sse(events, done=True)
    for policy in ("stop", "error"):
        played = Played(url, asked, Scripted.stream(*given), on_incomplete=policy)
        assert (played.report.status, len(played.sent)) == ("complete", 1)
        assert played.got == b"".join(given)
