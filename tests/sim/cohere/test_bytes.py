"""The bytes are the provider's: its SDK's types accept them, and streams have its frames."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx
import pytest
from cohere.v2.types import V2ChatResponse, V2ChatStreamResponse
from pydantic import BaseModel, TypeAdapter
from support.asking.cohere import CASES, TOOLS

from tenuto_sim import Case

EVENT: TypeAdapter[Any] = TypeAdapter(V2ChatStreamResponse)
# The SDK's types are what these break on purpose.
FOREIGN = {
    "done_no_finish", "call_null_arguments", "call_object_arguments", "call_no_id",
    "body_error_only", "body_cut", "body_empty", "unknown_event", "event_not_json",
    "body_short", "cut_off_mid_text", "reset_mid_text",
}  # fmt: skip
ADDED = {"reasoning_tokens", "content", "tool_plan", "tool_calls", "citations"}
"""Keys of recorded answers that the types of this release do not have; most of a `message-start`."""
_number = itertools.count(1)


def unknown_keys(value: Any) -> set[str]:
    """The keys that the SDK's models do not know, at every depth."""
    if isinstance(value, list):
        return {key for item in value for key in unknown_keys(item)}
    if not isinstance(value, BaseModel):
        return set()
    inner = {key for name in type(value).model_fields for key in unknown_keys(getattr(value, name))}
    return (set(value.model_extra or ()) | inner) - ADDED


def ask(sim: Any, case: Case, mode: str) -> httpx.Response:
    rows = [{"role": "user", "content": f"bytes of {case.name}, take {next(_number)}"}]
    given = {"model": f"sim/{case.name}", "messages": rows, "stream": mode == "stream"}
    more = {"tools": TOOLS} if case.wants_tools else {}
    return httpx.post(f"{sim.root_url}/v2/chat", json=given | more | dict(case.request))


def events(text: str) -> list[tuple[str, Any]]:
    """Name and document of each event."""
    out = []
    for event in text.lstrip("\ufeff").replace("\r\n", "\n").split("\n\n"):
        lines = [line.partition(":") for line in event.splitlines()]
        name = next((rest.strip() for field, _, rest in lines if field == "event"), "")
        data = "\n".join(rest.strip() for field, _, rest in lines if field == "data")
        if data and data != "[DONE]":
            out.append((name, json.loads(data)))
    return out


ORDERLY = [c for c in CASES.values() if c.name not in FOREIGN and c.bare != "raises"]


@pytest.mark.parametrize("case", ORDERLY, ids=lambda case: case.name)
def test_what_a_case_sends_is_valid_to_the_sdks_types(coarse, case):
    for mode in case.modes:
        response = ask(coarse, case, mode)
        assert response.status_code == 200
        if mode == "body":
            assert unknown_keys(V2ChatResponse.model_validate_json(response.text)) == set()
            continue
        for name, document in events(response.text):
            assert name == document["type"]
            made = EVENT.validate_python(document)
            assert made.type == name
            assert unknown_keys(made) == set()


def test_a_stream_has_the_frames_of_the_provider(sim):
    response = ask(sim, CASES["tool_with_text"], "stream")
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.text.endswith("data: [DONE]\n\n")
    kinds = [name for name, _ in itertools.groupby(name for name, _ in events(response.text))]
    assert kinds == [
        "message-start", "content-start", "content-delta", "content-end",
        "tool-call-start", "tool-call-delta", "tool-call-end", "message-end",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "finish"),
    [
        ("normal", "COMPLETE"), ("tool", "TOOL_CALL"), ("length_once", "MAX_TOKENS"),
        ("timeout", "TIMEOUT"), ("stop_sequence", "STOP_SEQUENCE"), ("unknown_stop", "weird_new_reason"),
    ],
)  # fmt: skip
def test_a_case_ends_in_the_words_of_the_wire(sim, name, finish):
    assert ask(sim, CASES[name], "body").json()["finish_reason"] == finish
    assert events(ask(sim, CASES[name], "stream").text)[-1][1]["delta"]["finish_reason"] == finish


@pytest.mark.parametrize("name", ["http_429_once", "http_500_once", "context_length_400"])
def test_an_error_has_the_keys_of_the_provider(sim, name):
    response = ask(sim, CASES[name], "stream")
    assert set(response.json()) - {"error_type"} == {"id", "message"}
    assert (response.headers.get("retry-after") == "1") == (name == "http_429_once")
