"""Cohere's chat of version 1: what the installed SDK knows, the tables know; what leaves for it, and
what is written in its name, is what its types allow."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from cohere.types import Message, NonStreamedChatResponse, StreamedChatResponse, ToolResult
from pydantic import TypeAdapter
from support.paths import wire_for_path
from tenuto_wires.cohere_v1 import wire
from tenuto_wires.cohere_v1.billed_usage import grown_usage
from tenuto_wires.cohere_v1.errors import read_fault
from tenuto_wires.cohere_v1.render import ChatLayout, render_body
from tenuto_wires.cohere_v1.request import ChatRequest, parse_request

from examples.wires.tests.simulated.cohere_v1.rules import impossible, violations
from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.parts import Message as Parts
from tenuto.core.answer.signals import FaultSeen, StopSeen, Usage, UsageSeen
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendUser,
    DropConstraint,
    SetOutputLimit,
)
from tenuto.wires.answer import Answer
from tenuto.wires.base import Wire
from tenuto.wires.dialect import Dialect
from tenuto.wires.members import members_of, rows_of
from tenuto.wires.registry import wire_for_shape
from tenuto_sim.reply import Settings

EVENT: TypeAdapter[Any] = TypeAdapter(StreamedChatResponse)
ROW: TypeAdapter[Any] = TypeAdapter(Message)
DIALECT = Dialect()
CUT = ToolCall("t1", "write_file", '{"path": "a', Finding.TRUNCATED)
WHOLE = ToolCall("t1", "write_file", '{"path": "a"}', Finding.WHOLE)
USER: dict[str, Any] = {"role": "USER", "message": "Hi"}
CALL: dict[str, Any] = {"name": "write_file", "parameters": {"path": "a"}}
CALLS: dict[str, Any] = {"role": "CHATBOT", "message": "I will.", "tool_calls": [CALL]}
RESULT: dict[str, Any] = {"call": CALL, "outputs": [{"text": "ok"}]}
RESULTS: dict[str, Any] = {"role": "TOOL", "tool_results": [RESULT]}
TOOLS: list[Any] = [
    {"name": "write_file", "description": "…", "parameter_definitions": {"path": {"type": "str"}}}
]


def asked(**members: Any) -> ChatRequest:
    made = parse_request(json.dumps({"model": "m", "message": "Hi", **members}).encode())
    assert made is not None
    return made


def test_a_character_that_is_escaped_as_a_pair_is_asked_about_as_any_other():
    text, go_on = "Hi \U0001f600", AppendUser("Go on.")
    alone = parse_request(json.dumps({"model": "m", "message": text}).encode())
    assert alone is not None
    body = json.loads(alone.apply([go_on], DIALECT))
    assert body["chat_history"] == [{"role": "USER", "message": text}]
    assert sent(go_on, message=text, chat_history=[CALLS])["chat_history"][-1]["message"] == text


def sent(*edits: Any, **members: Any) -> dict[str, Any]:
    """What leaves, which the simulator takes."""
    body: dict[str, Any] = json.loads(asked(tools=TOOLS, **members).apply(edits, DIALECT))
    assert list(impossible(body)) == []
    assert list(violations({}, body, Settings())) == []
    for row in body.get("chat_history") or ():
        ROW.validate_python(row)
    for result in body.get("tool_results") or ():
        ToolResult.model_validate(result)
    return body


def roles(body: dict[str, Any]) -> list[str]:
    return [row["role"] for row in body.get("chat_history") or ()]


# --- what the SDK knows, and whose a thing is


@pytest.mark.behaviour("N13")
def test_no_event_of_the_installed_sdk_is_missing_from_the_table() -> None:
    variants: Any = get_args(get_args(StreamedChatResponse)[0])
    kinds = {variant.model_fields["event_type"].default for variant in variants}
    assert kinds == wire.EVENT_TYPES


def name_of(found: Wire | None) -> str:
    return found.name if found is not None else ""


def test_its_path_and_its_events_are_its_own() -> None:
    assert name_of(wire_for_path("/v1/chat")) == "cohere-v1"
    assert wire_for_path("/v1/embed") is None
    event = {"is_finished": False, "event_type": "text-generation", "text": "Hi"}
    assert name_of(wire_for_shape(event)) == "cohere-v1"
    bedrocks = wire_for_shape(event | {"amazon-bedrock-invocationMetrics": {}})
    assert bedrocks is not None
    assert bedrocks.name == "bedrock-invoke"


@pytest.mark.parametrize(
    "body", [b'{"input": "Hi"}', b'{"message": 5}', b"no", b"[]", b'{"message']
)
def test_what_is_no_request_of_it_passes_untouched(body: bytes) -> None:
    assert parse_request(body) is None


# --- what is said when something fails


@pytest.mark.behaviour("P5", "C18")
@pytest.mark.parametrize(
    ("text", "kind", "allowed"),
    [
        (
            (
                "too many tokens: max tokens must be less than or equal to 4096, the maximum output "
                "for this model - received 8192."
            ),
            FaultKind.OUTPUT_BUDGET_TOO_LARGE,
            4096,
        ),
        (
            (
                "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received "
                "4292. Try using a shorter prompt, or enabling prompt truncating."
            ),
            FaultKind.CONTEXT_OVERFLOW,
            None,
        ),
        (
            "invalid request: all elements in history must have a message.",
            FaultKind.INVALID_REQUEST,
            None,
        ),
        (
            (
                "invalid request: cannot specify message if the last entry in chat history contains "
                "tool results"
            ),
            FaultKind.INVALID_REQUEST,
            None,
        ),
    ],
)
def test_the_words_of_a_refusal_are_understood(text: str, kind: FaultKind, allowed: Any) -> None:
    fault = read_fault({"message": text}, 400)
    assert (fault.kind, fault.allowed_tokens) == (kind, allowed)
    assert read_fault(text).kind is kind, "also in a stream, where there is no status"


@pytest.mark.behaviour("P5")
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, FaultKind.AUTHENTICATION),
        (404, FaultKind.INVALID_REQUEST),
        (429, FaultKind.RATE_LIMITED),
        (498, FaultKind.CONTENT_BLOCKED),
        (499, FaultKind.CANCELLED),
        (500, FaultKind.SERVER),
        (503, FaultKind.OVERLOADED),
        (504, FaultKind.TIMEOUT),
    ],
)
def test_a_status_alone_tells_what_failed(status: int, kind: FaultKind) -> None:
    assert wire.WIRE.parse_fault(status, {}, b'{"message":"No."}').kind is kind


# --- what leaves


@pytest.mark.behaviour("C7", "C10", "C17")
def test_a_continuation_keeps_the_callers_bytes_and_appends_what_was_said() -> None:
    body = (
        b'{"message":"Caf\\u00e9","model":"m","k":1e400,'
        b'"chat_history":[{"role": "USER","message":"1.0"}]}'
    )
    made = parse_request(body)
    assert made is not None
    edits = (AppendAssistant("Half"), AppendUser(hints.CONTINUE), SetOutputLimit(9))
    members = members_of(made.apply(edits, DIALECT))
    first, now, said = rows_of(members["chat_history"])
    assert first == b'{"role": "USER","message":"1.0"}'
    assert members_of(now)["message"] == b'"Caf\\u00e9"'
    assert json.loads(said) == {"role": "CHATBOT", "message": "Half"}
    assert json.loads(members["message"]) == hints.CONTINUE
    assert (members["k"], members["max_tokens"]) == (b"1e400", b"9")


@pytest.mark.behaviour("C25", "P8", "H5")
@pytest.mark.parametrize(
    "members",
    [
        {},
        {"chat_history": None},
        {"chat_history": [USER, {"role": "SYSTEM", "message": "Be brief."}, USER]},
        {"message": "", "chat_history": [USER, CALLS], "tool_results": [RESULT]},
        {"message": "", "chat_history": [USER, CALLS, RESULTS]},
        {"message": "On.", "chat_history": [USER, CALLS], "tool_results": [RESULT]},
        {"message": "Hi", "tool_results": [RESULT]},
    ],
)
def test_a_request_that_needs_nothing_leaves_as_it_came(members: dict[str, Any]) -> None:
    body = json.dumps({"model": "m", "message": "Hi", **members}).encode()
    made = parse_request(body)
    assert made is not None
    assert made.apply((), DIALECT) is body
    limited = json.loads(made.apply((SetOutputLimit(9),), DIALECT))
    assert limited == json.loads(body) | {"max_tokens": 9}


@pytest.mark.behaviour("C7", "C1")
@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, ["USER", "CHATBOT"]),
        (
            {"message": "", "chat_history": [USER, CALLS], "tool_results": [RESULT]},
            ["USER", "CHATBOT", "TOOL", "CHATBOT"],
        ),
        (
            {"message": "", "chat_history": [USER, CALLS, RESULTS]},
            ["USER", "CHATBOT", "TOOL", "CHATBOT"],
        ),
        # A single step: the calls stand nowhere but in their results.
        ({"message": "Hi", "tool_results": [RESULT]}, ["USER", "CHATBOT", "TOOL", "CHATBOT"]),
    ],
)
def test_what_is_asked_now_moves_into_the_history(
    members: dict[str, Any], expected: list[str]
) -> None:
    body = sent(AppendAssistant("Half"), AppendUser("Go on."), **members)
    assert roles(body) == expected
    assert (body["message"], body.get("tool_results")) == ("Go on.", None)


@pytest.mark.behaviour("E3", "E4")
def test_a_hint_behind_results_stands_behind_a_word_of_the_models() -> None:
    given = {"message": "", "chat_history": [USER, CALLS], "tool_results": [RESULT]}
    body = sent(AppendUser("Go on."), **given)
    assert roles(body) == ["USER", "CHATBOT", "TOOL", "CHATBOT"]
    assert body["chat_history"][-1]["message"] == hints.EMPTY_WITH_TOOLS_NOTE


@pytest.mark.behaviour("T5", "H4")
def test_a_broken_call_is_answered_in_valid_form() -> None:
    body = sent(AppendCalls("", (CUT,), ("Too long.",)))
    call = {"name": "write_file", "parameters": {}}
    assert body["chat_history"][-1] == {"role": "CHATBOT", "message": "", "tool_calls": [call]}
    assert body["tool_results"] == [{"call": call, "outputs": [{"text": "Too long."}]}]
    assert body["message"] == ""


@pytest.mark.behaviour("H1", "C7")
def test_a_continuation_repeats_the_rows_that_the_first_request_had() -> None:
    request = asked(message="And?", chat_history=[USER, CALLS, RESULTS])
    first = json.loads(request.apply((), DIALECT))
    further = json.loads(request.apply((AppendAssistant("Half"), AppendUser("Go on.")), DIALECT))
    rows = first["chat_history"]
    assert rows[-1] == {"role": "CHATBOT", "message": hints.EMPTY_WITH_TOOLS_NOTE}
    assert further["chat_history"] == [
        *rows,
        {"role": "USER", "message": "And?"},
        {"role": "CHATBOT", "message": "Half"},
    ]


@pytest.mark.behaviour("H1")
def test_a_row_in_the_wrong_case_counts_as_no_result() -> None:
    request = asked(message="And?", chat_history=[{"role": "user", "message": "Hi"}])
    assert request.repairs == ()
    assert json.loads(request.apply((), DIALECT))["chat_history"] == [
        {"role": "user", "message": "Hi"}
    ]


@pytest.mark.behaviour("C27")
def test_a_constraint_is_lifted() -> None:
    form = {"type": "json_object"}
    assert asked(response_format=form).facts.structured
    assert "response_format" not in sent(DropConstraint(), response_format=form)


def test_what_a_tool_requires_is_told_by_its_definitions() -> None:
    told = {"path": {"type": "str", "required": True}, "mode": {"type": "str"}}
    tools = [{"name": "f", "parameter_definitions": told}, {"name": "g"}, None]
    schemas = asked(tools=tools).tool_parameters()
    assert schemas["f"]["required"] == ["path"]
    assert schemas["g"]["required"] == []


ORDER: dict[str, tuple[dict[str, Any], list[str], tuple[str, ...]]] = {
    "an unanswered call": (
        {"chat_history": [USER, CALLS], "message": "And?"},
        ["USER", "CHATBOT", "TOOL", "CHATBOT"],
        ("unanswered_call_answered",),
    ),
    "an unanswered call, and nothing asked": (
        {"chat_history": [USER, CALLS, {"role": "CHATBOT", "message": "Well."}], "message": "On."},
        ["USER", "CHATBOT", "TOOL", "CHATBOT"],
        ("unanswered_call_answered",),
    ),
    "a stray result": (
        {"chat_history": [USER, RESULTS, USER]},
        ["USER", "USER"],
        ("stray_result_moved_or_removed",),
    ),
    "a late result": (
        {"chat_history": [CALLS, USER, RESULTS, {"role": "CHATBOT", "message": "Done."}]},
        ["CHATBOT", "TOOL", "USER", "CHATBOT"],
        ("stray_result_moved_or_removed", "unanswered_call_answered"),
    ),
    "a blank row": (
        {"chat_history": [USER, {"role": "CHATBOT", "message": "\n"}]},
        ["USER"],
        ("empty_row_removed",),
    ),
    "arguments as a cut text": (
        {"chat_history": [CALLS | {"tool_calls": [CALL | {"parameters": '{"p'}]}, RESULTS, USER]},
        ["CHATBOT", "TOOL", "USER"],
        ("broken_arguments_replaced",),
    ),
    "a message behind results": (
        {"chat_history": [USER, CALLS, RESULTS]},
        ["USER", "CHATBOT", "TOOL", "CHATBOT"],
        ("rows_arranged",),
    ),
    "a private key": (
        {"chat_history": [USER | {"_mine": 1}]},
        ["USER"],
        ("private_keys_removed",),
    ),
}


@pytest.mark.behaviour("H1", "H2", "H3", "H4", "H5a")
@pytest.mark.parametrize("name", ORDER)
def test_a_history_is_put_in_order_and_stays_so(name: str) -> None:
    members, expected, words = ORDER[name]
    made = asked(tools=TOOLS, **members)
    assert set(made.repairs) == set(words)
    body = sent(**members)
    assert roles(body) == expected
    assert body["message"] == members.get("message", "Hi")
    again = parse_request(json.dumps(body).encode())
    assert again is not None
    assert again.repairs == ()


# --- what is read


@pytest.mark.behaviour("T1", "T13")
def test_a_call_that_comes_in_pieces_and_then_whole_is_one_call() -> None:
    pieces = ({"index": 0, "name": "f"}, {"index": 0, "parameters": '{ "a"'})
    events: list[dict[str, Any]] = [
        {"event_type": "tool-calls-chunk", "tool_call_delta": piece} for piece in pieces
    ]
    events.append({"event_type": "tool-calls-generation", "tool_calls": [CALL]})
    message = Parts()
    deltas = [s for event in events for s in message.take(wire.read(event, event=True))]
    assert len(deltas) == 2
    assert len(message.parts) == 1


@pytest.mark.behaviour("S8")
def test_events_yet_to_come_say_nothing() -> None:
    assert wire.WIRE.parse_object({"event_type": "brand-new", "text": "no"}, event=True) == []


# --- what is written


def written(layout: ChatLayout, answer: Answer) -> list[Any]:
    raw = layout.end(answer, include_usage=True)
    lines = [line for line in raw.splitlines() if line.startswith(b"data: ")]
    return [json.loads(line.removeprefix(b"data: ")) for line in lines]


@pytest.mark.behaviour("S2", "S4", "C19")
def test_a_message_that_is_written_is_what_the_types_of_the_sdk_allow() -> None:
    layout = ChatLayout("m", [USER])
    layout.begin({"event_type": "stream-start", "generation_id": "g"})
    usage = {"tokens": {"input_tokens": 3, "output_tokens": 4}}
    answer = Answer(
        "I will.", calls=(WHOLE,), native_stop="COMPLETE", usage=Usage(3, 9), raw_usage=usage
    )
    events = written(layout, answer)
    for event in events:
        assert EVENT.validate_python(event).event_type == event["event_type"]
    begin, calls, end = events
    assert begin["generation_id"] == "g"
    assert calls["tool_calls"] == [CALL]
    whole = NonStreamedChatResponse.model_validate(end["response"])
    assert (whole.text, whole.generation_id) == ("I will.", "g")
    assert end["response"]["chat_history"] == [USER, CALLS]
    assert end["response"]["meta"]["tokens"] == {"input_tokens": 3, "output_tokens": 9}


@pytest.mark.behaviour("C19", "C22")
def test_a_body_that_was_joined_is_what_the_types_of_the_sdk_allow() -> None:
    first = {"text": "Al", "generation_id": "g", "response_id": "r", "documents": [{"id": "d"}]}
    meta = {"api_version": {"version": "1"}, "tokens": {"input_tokens": 3, "output_tokens": 4}}
    answer = Answer("All.", native_stop="COMPLETE", usage=Usage(3, 9), raw_usage=meta)
    made: Any = NonStreamedChatResponse.model_validate_json(render_body(first, {}, answer, [USER]))
    assert (made.text, made.response_id, made.finish_reason) == ("All.", "r", "COMPLETE")
    assert [row.message for row in made.chat_history] == ["Hi", "All."]
    assert made.documents == [{"id": "d"}]
    assert made.meta.tokens.output_tokens == 9


def test_what_is_billed_alone_is_counted_on() -> None:
    billed = {"billed_units": {"input_tokens": 3, "output_tokens": 4}}
    grown = grown_usage(billed, Usage(3, 9))
    assert grown == {"billed_units": {"input_tokens": 3, "output_tokens": 9}}
    assert grown_usage(billed, Usage()) == billed


@pytest.mark.behaviour("C19")
def test_only_the_output_is_told_anew_in_whole_numbers() -> None:
    meta = {"billed_units": {"output_tokens": 2.0}, "tokens": {"output_tokens": 3}}
    grown = {"billed_units": {"output_tokens": 8}, "tokens": {"output_tokens": 9}}
    assert json.dumps(grown_usage(meta, Usage(5, 9))) == json.dumps(grown)


@pytest.mark.behaviour("P1a", "E9")
def test_an_error_is_the_end_of_a_generation_that_failed() -> None:
    raw = ChatLayout("m").error("dropped", "It broke off.")
    (line,) = [line for line in raw.splitlines() if line.startswith(b"data: ")]
    end = json.loads(line.removeprefix(b"data: "))
    assert EVENT.validate_python(end).finish_reason == "ERROR"
    seen = wire.WIRE.parse_object(end, event=True)
    assert [type(signal) for signal in seen] == [StopSeen, FaultSeen]
    assert read_fault(end["error"]).kind is FaultKind.UPSTREAM_GAVE_UP
    body = json.loads(wire.WIRE.render_error("dropped", "It broke off.", Answer("Half")))
    assert body["partial"] == {"text": "Half"}
    assert read_fault(body, wire.WIRE.error_status).kind is FaultKind.UPSTREAM_GAVE_UP


def test_half_of_a_surrogate_pair_in_a_cut_text_leaves_as_a_question_mark() -> None:
    body = sent(AppendAssistant("Half \ud83d"), AppendUser("Go on."))
    assert body["chat_history"][-1] == {"role": "CHATBOT", "message": "Half ?"}


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("event", [False, True], ids=["body", "stream"])
def test_the_tokens_that_came_out_of_a_cache_are_counted(event):
    meta = {"tokens": {"input_tokens": 9, "output_tokens": 2}, "cached_tokens": 8.0}
    whole = {"text": "Hi", "finish_reason": "COMPLETE", "meta": meta}
    value = {"event_type": "stream-end", "response": whole} if event else whole
    (seen,) = [s for s in wire.read(value, event=event) if isinstance(s, UsageSeen)]
    assert seen.usage == Usage(9, 2, cached_tokens=8)
