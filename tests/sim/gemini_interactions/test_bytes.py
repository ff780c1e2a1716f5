"""The bytes are the provider's: its SDK's types accept them, and streams have its frames."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx
import pytest
from google.genai.interactions import Interaction, InteractionSSEStreamEvent
from pydantic import BaseModel
from support.asking.gemini_interactions import CASES, TOOLS, asks

from tenuto_sim import Case

# The SDK's literals and types are what these break on purpose.
FOREIGN = {
    "unknown_stop", "finish_null_string", "finish_empty_string", "finish_upper", "body_cut",
    "body_empty", "unknown_event", "event_not_json",
}  # fmt: skip
STATUSES = {
    "in_progress", "requires_action", "completed", "failed", "cancelled", "incomplete",
    "budget_exceeded", "queued", "requires_continuation",
}  # fmt: skip
ADDED = {"object", "errors"}
"""Keys that the types of this release do not have: the first is in documented answers, and the
second they have in a whole interaction, but not in that of a stream's last event."""
_number = itertools.count(1)


def foreign(value: Any) -> set[str]:
    """Return the keys, and the kinds of steps, events and pieces, that the SDK's models do not
    know, at every depth: it takes all of them, and keeps them as they came."""
    if isinstance(value, list):
        return {key for item in value for key in foreign(item)}
    if not isinstance(value, BaseModel):
        return set()
    if getattr(value, "is_unknown", False):
        return {repr(value)}
    inner = {key for item in vars(value).values() for key in foreign(item)}
    return (set(value.model_extra or ()) | inner) - ADDED


def request_for(case: Case, stream: bool) -> dict[str, Any]:
    history = [asks(f"bytes of {case.name}, take {next(_number)}")]
    if case.after_tool_result:
        named = {"name": "write_file"}
        history.append({"type": "function_call", "id": "c", **named, "arguments": {}})
        history.append({"type": "function_result", "call_id": "c", **named, "result": "ok"})
    given = {"model": f"sim/{case.name}", "input": history, "stream": stream, "store": False}
    return given | ({"tools": TOOLS} if case.wants_tools else {}) | dict(case.request)


def ask(sim: Any, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(f"{sim.root_url}/v1beta/interactions", json=body)


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return name and document of each event."""
    out = []
    for event in text.lstrip("\ufeff").replace("\r\n", "\n").split("\n\n"):
        lines = [line.partition(":") for line in event.splitlines()]
        said = {name: rest.removeprefix(" ") for name, _, rest in lines if name}
        if "data" in said and said["data"] != "[DONE]":
            out.append((said.get("event", ""), json.loads(said["data"])))
    return out


ORDERLY = [c for c in CASES.values() if c.name not in FOREIGN and c.bare != "raises"]


@pytest.mark.parametrize("case", ORDERLY, ids=lambda case: case.name)
def test_what_a_case_sends_is_valid_to_the_sdks_types(coarse, case):
    for mode in case.modes:
        response = ask(coarse, request_for(case, mode == "stream"))
        assert response.status_code == 200
        if mode == "body":
            made: Any = Interaction.model_validate_json(response.text)
            assert foreign(made) == set()
            assert made.status in STATUSES
            continue
        for name, document in events(response.text):
            event = InteractionSSEStreamEvent.model_validate({"data": document})
            assert event.data.event_type == name
            assert foreign(event) == set()


def test_a_stream_has_the_frames_of_the_provider(sim):
    response = ask(sim, request_for(CASES["tool_with_text"], stream=True))
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.text.endswith("event: done\ndata: [DONE]\n\n")
    told = events(response.text)
    names = [name for name, _ in told]
    assert names[:3] == ["interaction.created", "interaction.status_update", "step.start"]
    assert names[-2:] == ["step.stop", "interaction.completed"]
    assert names.count("step.start") == names.count("step.stop") == 2
    places = [document["index"] for _, document in told if "index" in document]
    assert places == sorted(places)
    assert "steps" not in told[-1][1]["interaction"], "the pieces have said them"


def test_a_call_begins_with_an_empty_object_and_its_text_follows(sim):
    told = [d for _, d in events(ask(sim, request_for(CASES["tool"], stream=True)).text)]
    (step,) = [d["step"] for d in told if d["event_type"] == "step.start"]
    assert step["arguments"] == {}
    deltas = [d["delta"] for d in told if d["event_type"] == "step.delta"]
    assert {delta["type"] for delta in deltas} == {"arguments_delta"}
    assert set(json.loads("".join(d["arguments"] for d in deltas))) == {"path", "content"}
    body = ask(sim, request_for(CASES["tool"], stream=False)).json()
    assert set(body["steps"][-1]["arguments"]) == {"path", "content"}


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("normal", "completed"), ("tool", "requires_action"), ("length_once", "incomplete"),
        ("failed", "failed"), ("blocked_mid_text", "failed"), ("abort", "cancelled"),
        ("budget_exceeded", "budget_exceeded"), ("pause", "requires_continuation"),
        ("in_progress", "in_progress"), ("unknown_stop", "weird_new_reason"),
    ],
)  # fmt: skip
def test_a_case_ends_in_the_words_of_the_wire(sim, name, status):
    body = ask(sim, request_for(CASES[name], stream=False)).json()
    last = events(ask(sim, request_for(CASES[name], stream=True)).text)[-1][1]["interaction"]
    for told in (body, last):
        assert told["status"] == status
        assert bool(told.get("errors")) == (status == "failed")
        assert ("continuation_token" in told) == (name == "pause")


def test_thoughts_are_no_part_of_the_output_that_is_counted(sim):
    usage = ask(sim, request_for(CASES["think_then_text"], stream=False)).json()["usage"]
    thoughts, output = usage["total_thought_tokens"], usage["total_output_tokens"]
    assert thoughts > 0
    assert usage["total_tokens"] == usage["total_input_tokens"] + output + thoughts


@pytest.mark.parametrize("name", ["http_429_once", "http_500_once", "http_400_unknown_key"])
def test_an_error_has_the_keys_of_the_provider(sim, name):
    response = ask(sim, request_for(CASES[name], stream=True))
    assert set(response.json()["error"]) == {"message", "code"}
    assert (response.headers.get("retry-after") == "1") == (name == "http_429_once")
