"""Reading OpenAI Responses: what the installed SDK knows, the tables know; the quick readings agree."""

from __future__ import annotations

import json
import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import (
    ResponseError,
    ResponseItem,
    ResponseOutputItem,
    ResponseStatus,
    ResponseStreamEvent,
)
from openai.types.responses.response import IncompleteDetails

from tenuto import Confidence, detect
from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.signals import FaultSeen, OtherSeen, ReasoningDelta, StopSeen, TextDelta
from tenuto.core.deciding.outcome import OF_TURNS
from tenuto.wires.openai_responses import wire
from tenuto.wires.openai_responses.errors import ERRORS, read_fault
from tenuto.wires.openai_responses.items import is_client_call, kind_of
from tenuto.wires.openai_responses.short import ids_if_whole
from tenuto.wires.stream import plain_delta_in


def literals(annotation: Any) -> set[str]:
    """All texts of the Literals within an annotation."""
    if typing.get_origin(annotation) is typing.Literal:
        return set(typing.get_args(annotation))
    return {text for inner in typing.get_args(annotation) for text in literals(inner)}


def types_of(union: Any) -> set[str]:
    """The `type` of each member of one of the SDK's unions."""
    members = typing.get_args(typing.get_args(union)[0])
    return {text for model in members for text in literals(model.model_fields["type"].annotation)}


@pytest.mark.behaviour("N13")
def test_no_stop_of_the_installed_sdk_is_missing_from_the_table():
    reasons = literals(IncompleteDetails.model_fields["reason"].annotation)
    named = literals(ResponseStatus) | reasons
    assert "completed" in named, "the SDK has moved its Literal: read openai/types/responses again"
    assert named == set(wire.STOPS)


@pytest.mark.behaviour("N13")
def test_no_error_code_of_the_installed_sdk_is_missing_from_the_table():
    named = literals(ResponseError.model_fields["code"].annotation)
    assert "server_error" in named
    known = {code for row in ERRORS for code in row.codes}
    assert named - known == {"server_error"}, "which the last row is about"


NOT_SAID = {
    "response.audio.delta", "response.audio.done", "response.audio.transcript.delta",
    "response.audio.transcript.done", "response.compaction.compacting", "error",
    # What they say stands once more in the item that they belong to.
    "response.shell_call_command.added", "response.shell_call_command.delta",
    "response.shell_call_command.done", "response.shell_call_output_content.delta",
    "response.shell_call_output_content.done",
}  # fmt: skip


@pytest.mark.behaviour("N13")
def test_every_event_of_the_installed_sdk_is_read_or_is_named_here():
    unread = {
        kind
        for kind in types_of(ResponseStreamEvent)
        if kind not in wire._EVENTS and not kind.startswith(wire._SERVER_EVENTS)
    }
    assert unread <= NOT_SAID, unread - NOT_SAID


CALLS = {"function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call",
         "apply_patch_call", "mcp_approval_request"}  # fmt: skip


@pytest.mark.behaviour("N3", "N13")
def test_the_callers_calls_are_these_of_all_items_of_the_installed_sdk():
    kinds = types_of(ResponseOutputItem)
    assert "web_search_call" in kinds
    assert {kind for kind in kinds if is_client_call({"type": kind})} == CALLS
    assert ResponseItem is not None


@pytest.mark.behaviour("N3")
def test_a_shell_in_a_container_of_the_providers_is_none_of_the_callers():
    hosted = {"type": "shell_call", "environment": {"type": "container_reference"}}
    assert not is_client_call(hosted)
    assert is_client_call({"type": "shell_call", "environment": {"type": "local"}})
    assert kind_of(None) == kind_of({"type": 3}) == ""


def test_every_outcome_has_a_face_in_a_stop_of_this_wire_or_an_error():
    assert set(wire.SHOWN) == OF_TURNS
    for shown in wire.SHOWN.values():
        assert (shown.native in wire.STOPS) != bool(shown.error)


@pytest.mark.behaviour("N1", "N5", "N7")
@pytest.mark.parametrize("spelling", wire.STOPS)
def test_each_native_value_is_read_in_bodies_and_in_streams(spelling):
    reason, detail = wire.STOPS[spelling]
    is_status = spelling in ("completed", "failed", "in_progress", "cancelled", "queued")
    response: dict[str, Any] = {"object": "response", "status": spelling, "output": [TEXT]}
    if not is_status and spelling != "incomplete":
        response |= {"status": "incomplete", "incomplete_details": {"reason": spelling}}
    event = "response.completed" if spelling == "completed" else "response.incomplete"
    for source in (response, {"type": event, "response": response}):
        stop = detect(source, wire="openai-responses")
        assert (stop.reason, stop.detail) == (reason, detail)
        sure = Confidence.LOW if spelling == "incomplete" else Confidence.HIGH
        assert stop.confidence is sure


TEXT = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}


@pytest.mark.behaviour("P5", "C18", "H5")
def test_what_an_error_allows_or_names_is_read():
    budget = read_fault({"message": "Invalid 'max_output_tokens': integer above maximum value. "
                         "Expected a value <= 16384, but got 99999 instead."})  # fmt: skip
    assert (budget.kind, budget.allowed_tokens) == (FaultKind.OUTPUT_BUDGET_TOO_LARGE, 16384)
    key = read_fault({"message": "Unknown parameter: 'input[0].x'."})
    assert (key.kind, key.keys) == (FaultKind.UNKNOWN_KEY, ("input[0].x",))


@pytest.mark.behaviour("N3", "S9")
def test_events_of_the_providers_own_tools_are_noticed_and_new_ones_hide_nothing():
    def signals(kind: str) -> list[Any]:
        return wire.WIRE.parse_object({"type": kind, "output_index": 1, "delta": "x"}, event=True)

    assert signals("response.mcp_call_arguments.delta") == [OtherSeen(1)]
    assert signals("response.code_interpreter_call_code.delta") == [OtherSeen(1)]
    assert signals("response.brand_new.delta") == []
    assert [type(s) for s in signals("error")] == [FaultSeen]


ODD = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.none(), max_size=1)
EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from([*wire._EVENTS, "response.mcp_call.failed", "error", "x"]) | ODD},
    optional={
        key: ODD | st.dictionaries(st.sampled_from(["type", "status", "output", "error"]), ODD)
        for key in ("item", "part", "delta", "response", "output_index", "error", "arguments")
    },
)


@pytest.mark.behaviour("N6", "S8")
@given(EVENTS)
def test_the_quick_reading_of_an_event_is_the_slow_one(event):
    slow = wire.WIRE.parse_object(event, event=True)
    quick = plain_delta_in(wire.WIRE, json.dumps(event).encode())
    if quick is not None:
        assert slow == [quick]
        assert isinstance(quick, TextDelta | ReasoningDelta)


BODIES = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["completed", "incomplete", "failed", None]) | ODD,
        "output": ODD
        | st.lists(
            st.sampled_from([TEXT, {"type": "reasoning", "summary": []}, {"type": "function_call"}])
            | st.fixed_dictionaries({"type": st.just("message"), "content": ODD, "status": ODD}),
            max_size=3,
        ),
    },
    optional={"error": ODD, "incomplete_details": ODD, "usage": ODD},
)


@pytest.mark.behaviour("N6", "C25", "P8")
@given(BODIES)
def test_a_body_that_is_plain_is_an_answer_of_text_that_ended_by_itself(body):
    stop = detect(body, wire="openai-responses")
    if ids_if_whole(json.dumps(body).encode()):
        assert stop.reason.value == "end_turn"
        assert stop.confidence is Confidence.HIGH
        assert not stop.anomalies


@pytest.mark.behaviour("S6")
def test_of_two_stops_the_graver_one_counts():
    item = {"type": "message", "status": "incomplete", "content": []}
    value = {"status": "completed", "output": [item]}
    found = [
        s.reason.value
        for s in wire.WIRE.parse_object(value, event=False)
        if isinstance(s, StopSeen)
    ]
    assert found == ["end_turn", "max_tokens"]
