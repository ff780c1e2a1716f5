"""The bytes are the provider's: its SDK's types accept them, and streams have its frames."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter
from support.asking.openai_responses import CASES, TOOLS

from tenuto_sim import Case

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
# The SDK's literals and types are what these break on purpose.
FOREIGN = {
    "length_foreign_spelling", "unknown_stop", "unknown_stop_control", "unknown_status",
    "finish_null_string", "finish_empty_string", "finish_upper", "done_no_finish",
    "call_null_arguments", "call_object_arguments", "call_no_id", "call_no_index",
    "body_error_only", "body_cut", "body_empty", "unknown_event", "event_not_json",
    "error_chunk_mid_text",
}  # fmt: skip
ADDED = {"store"}
"""Keys of recorded answers that the types of this release do not have."""
_number = itertools.count(1)


def unknown_keys(value: Any) -> set[str]:
    """Return the keys that the SDK's models do not know, at every depth."""
    if isinstance(value, list):
        return {key for item in value for key in unknown_keys(item)}
    if not isinstance(value, BaseModel):
        return set()
    inner = {key for name in type(value).model_fields for key in unknown_keys(getattr(value, name))}
    return (set(value.model_extra or ()) | inner) - ADDED


def request_for(case: Case, stream: bool) -> dict[str, Any]:
    history: list[Any] = [
        {"role": "user", "content": f"bytes of {case.name}, take {next(_number)}"}
    ]
    if case.after_tool_result:
        call = {"type": "function_call", "call_id": "c", "name": "write_file", "arguments": "{}"}
        history += [call, {"type": "function_call_output", "call_id": "c", "output": "ok"}]
    given = {"model": f"sim/{case.name}", "input": history, "stream": stream}
    return given | ({"tools": TOOLS} if case.wants_tools else {}) | dict(case.request)


def ask(sim: Any, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(sim.base_url + "/responses", json=body)


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
            made: Any = Response.model_validate_json(response.text)
            assert unknown_keys(made) == set()
            continue
        for number, (name, document) in enumerate(events(response.text)):
            assert (name, number) == (document["type"], document["sequence_number"])
            if name != "keepalive":
                made = EVENT.validate_json(json.dumps(document))
                assert made.type == name
                assert unknown_keys(made) == set()


def test_a_stream_has_the_frames_of_the_provider(sim):
    response = ask(sim, request_for(CASES["tool_with_text"], stream=True))
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    names = [name for name, _ in events(response.text)]
    assert names[:4] == [
        "response.created", "response.in_progress", "response.output_item.added",
        "response.content_part.added",
    ]  # fmt: skip
    assert names[-3:] == [
        "response.function_call_arguments.done", "response.output_item.done", "response.completed",
    ]  # fmt: skip
    assert names.count("response.output_item.added") == names.count("response.output_item.done")


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("normal", "completed", None), ("tool", "completed", None),
        ("length_once", "incomplete", "max_output_tokens"), ("failed", "failed", None),
        ("content_filter", "incomplete", "content_filter"), ("incomplete_no_reason", "incomplete", None),
        ("abort", "cancelled", None), ("unknown_status", "weird_new_status", None),
    ],
)  # fmt: skip
def test_a_case_ends_in_the_words_of_the_wire(sim, name, status, reason):
    body = ask(sim, request_for(CASES[name], stream=False)).json()
    assert (body["status"], (body["incomplete_details"] or {}).get("reason")) == (status, reason)
    last = events(ask(sim, request_for(CASES[name], stream=True)).text)[-1][1]
    assert last["response"]["status"] == status


@pytest.mark.parametrize("name", ["http_429_once", "http_500_once"])
def test_an_error_has_the_keys_of_the_provider(sim, name):
    response = ask(sim, request_for(CASES[name], stream=True))
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}
    assert (response.headers.get("retry-after") == "1") == (name == "http_429_once")
