"""The Anthropic Messages wire: its tables, its two ways of reading, its errors and its paths.

The texts of errors stand in reference/wires.md §1.5, §2 (Q35) and §4.
"""

from __future__ import annotations

import json
import typing
from typing import Any

import pytest
from anthropic.types.beta.beta_stop_reason import BetaStopReason
from anthropic.types.shared.error_type import ErrorType
from anthropic.types.stop_reason import StopReason as NativeStop
from hypothesis import given
from hypothesis import strategies as st

from tenuto import Confidence, StopReason, detect
from tenuto.core.answer.builder import Builder
from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.response import Response
from tenuto.core.answer.signals import (
    Began,
    CallDelta,
    Closed,
    Ended,
    OtherSeen,
    ReasoningDelta,
    Signal,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.deciding.outcome import OF_TURNS, Outcome, classify
from tenuto.wires.anthropic_messages import wire
from tenuto.wires.anthropic_messages.errors import ERRORS
from tenuto.wires.anthropic_messages.wire import REDACTED_THINKING, WIRE
from tenuto.wires.registry import wires
from tenuto.wires.stops import SHARED_STOPS
from tenuto.wires.stream import EventReader, plain_delta_in

K = FaultKind
STOPS = SHARED_STOPS | wire.STOPS
TOOL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1.0}}
SERVER_TOOL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
USAGE = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 100,
    "output_tokens": 7,
    "output_tokens_details": {"thinking_tokens": 5},
}


def body(stop: Any = "end_turn", *content: Any, **more: Any) -> dict[str, Any]:
    blocks = list(content) or [{"type": "text", "text": "Hello"}]
    return {"type": "message", "content": blocks, "stop_reason": stop, "usage": USAGE} | more


def start(index: Any, block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: Any, kind: Any, **more: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def events(stop: Any, *blocks: Any) -> list[dict[str, Any]]:
    started = {"type": "message_start", "message": {"type": "message", "content": []}}
    ended = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": USAGE}
    text = delta(0, "text_delta", text="Hello")
    return [started, *(blocks or (text,)), ended, {"type": "message_stop"}]


def read(*objects: Any) -> Response:
    builder, reader = Builder(), EventReader(WIRE)
    for value in objects:
        for signal in reader.signals(value):
            builder.feed(signal)
    return builder.build()


# --- the tables ---------------------------------------------------------------------------------


@pytest.mark.behaviour("N1", "N2", "N4", "N5")
@pytest.mark.parametrize("native", sorted(STOPS))
def test_each_native_value_is_read_alike_from_bodies_and_streams(native):
    reason, detail = STOPS[native]
    calls = [TOOL] if reason is StopReason.TOOL_CALL else []
    starts = [start(1, TOOL)] if calls else []
    hello = {"type": "text", "text": "Hello"}
    for spelling in (native, native.upper(), f"  {native.title()} "):
        whole = detect(body(spelling, hello, *calls))
        streamed = detect(events(spelling, delta(0, "text_delta", text="Hello"), *starts))
        for stop, field in ((whole, "stop_reason"), (streamed, "delta.stop_reason")):
            assert (stop.reason, stop.raw, stop.detail) == (reason, spelling, detail)
            assert (stop.confidence, stop.terminal) == (Confidence.HIGH, True)
            assert stop.field == field


@pytest.mark.behaviour("N13")
def test_no_stop_of_the_installed_sdk_is_missing_from_the_table():
    named = {*typing.get_args(NativeStop), *typing.get_args(BetaStopReason)}
    assert "end_turn" in named, "the SDK has moved its Literal: read anthropic/types again"
    assert named == set(wire.STOPS)


@pytest.mark.behaviour("N13")
def test_no_error_type_of_the_installed_sdk_is_missing_from_the_table():
    named = set(typing.get_args(ErrorType))
    assert "api_error" in named, "the SDK has moved its Literal: read anthropic/types/shared again"
    assert named <= {code for row in ERRORS for code in row.codes}


def test_every_outcome_has_a_face_in_a_stop_of_this_wire_or_an_error():
    assert set(wire.SHOWN) == OF_TURNS
    for shown in wire.SHOWN.values():
        assert (shown.native in wire.STOPS) != bool(shown.error)


@pytest.mark.behaviour("N4", "N10")
@pytest.mark.parametrize(
    ("category", "detail"),
    [("bio", "bio"), ("brand_new", "brand_new"), (None, None), ("Two words", None), (["x"], None), ("x" * 50, None)],
    ids=repr,
)  # fmt: skip
def test_the_category_of_a_refusal_is_kept_where_it_is_a_plain_word(category, detail):
    details = {"type": "refusal", "category": category, "explanation": "Some explanation."}
    assert detect(body("refusal", stop_details=details)).detail == detail
    assert detect(body("end_turn", stop_details=details)).detail is None


# --- reading ------------------------------------------------------------------------------------

OTHERS: tuple[str, ...] = ("mcp_tool_use", "web_search_tool_result", "container_upload", "compaction", "fallback", "brand_new")  # fmt: skip

SAID: list[tuple[dict[str, Any], list[Signal]]] = [
    ({"type": "message_start", "message": {"usage": {"input_tokens": 4}}}, [Began(), UsageSeen(Usage(4))]),
    ({"type": "message_start"}, [Began()]),
    (start(0, {"type": "text", "text": ""}), [TextDelta("")]),
    (start(0, {"type": "text", "text": "Hi"}), [TextDelta("Hi")]),
    (start(0, {"type": "thinking", "thinking": ""}), [ReasoningDelta("")]),
    (start(0, {"type": "redacted_thinking", "data": "x"}), [ReasoningDelta(REDACTED_THINKING)]),
    (start(1, TOOL | {"input": {}}), [CallDelta(1, "toolu_1", "f", None, may_be_empty=True)]),
    (start(1, TOOL), [CallDelta(1, "toolu_1", "f", '{"a":1.0}', decoded=True)]),
    (start(1, TOOL | {"caller": "x"}), [CallDelta(1, "toolu_1", "f", '{"a":1.0}', decoded=True, extra={"caller": "x"})]),
    (start("1", TOOL), [CallDelta(None, "toolu_1", "f", '{"a":1.0}', ("call_index_missing",), decoded=True)]),
    (start(2, SERVER_TOOL), [OtherSeen()]),
    (delta(0, "text_delta", text="Hi"), [TextDelta("Hi")]),
    (delta(0, "thinking_delta", thinking="Hm"), [ReasoningDelta("Hm")]),
    (delta(0, "signature_delta", signature="x"), [ReasoningDelta("")]),
    (delta(0, "citations_delta", citation={}), [TextDelta("")]),
    (delta(1, "input_json_delta", partial_json='{"a'), [CallDelta(1, None, None, '{"a')]),
    (delta(None, "input_json_delta", partial_json="1"), [CallDelta(None, None, None, "1", ("call_index_missing",))]),
    (delta(3, "compaction_delta", content="x"), [OtherSeen()]),
    (delta(3, "brand_new_delta"), [OtherSeen()]),
    ({"type": "content_block_stop", "index": 0}, [Closed()]),
    ({"type": "message_stop"}, [Ended()]),
    ({"type": "ping"}, []),
    ({"type": "brand_new"}, []),
]  # fmt: skip


SAID += [(start(3, {"type": kind}), [OtherSeen()]) for kind in OTHERS]


@pytest.mark.parametrize(("event", "signals"), SAID, ids=lambda v: json.dumps(v) if isinstance(v, dict) else "")  # fmt: skip
def test_each_event_gives_its_signals(event, signals):
    assert WIRE.parse_object(event, event=True) == signals


@pytest.mark.behaviour("C19")
def test_input_tokens_count_what_was_read_from_and_written_to_the_cache():
    usage = Usage(input_tokens=123, output_tokens=7, reasoning_tokens=5, cached_tokens=100)
    assert UsageSeen(usage) in WIRE.parse_object(body(), event=False)
    # The end of a stream often counts the output only; what the start said stays.
    ended = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}}
    began = {"type": "message_start", "message": {"usage": USAGE | {"output_tokens": 1}}}
    assert read(began, ended).usage == Usage(123, 9, 5, 100)


@pytest.mark.behaviour("N3", "T1")
def test_the_input_of_a_server_tool_is_never_a_call_of_the_callers():
    piece = delta(0, "input_json_delta", partial_json='{"query": "x')
    closed = {"type": "content_block_stop", "index": 0}
    for stop in ("end_turn", "max_tokens", "pause_turn"):
        response = read(start(0, SERVER_TOOL), piece, closed, piece, *events(stop)[-2:])
        assert response.calls == ()
        assert response.stop.anomalies == ()
        assert not response.repaired
    again = read(start(0, SERVER_TOOL), piece, start(0, TOOL), *events("tool_use")[-2:])
    assert [call.arguments for call in again.calls] == ['{"a":1.0}'], "a number that is used again"


@pytest.mark.behaviour("T12", "P8")
def test_a_call_without_arguments_is_nothing_odd_on_this_wire():
    head = start(0, TOOL | {"input": {}})
    response = read(*events("tool_use", head, delta(0, "input_json_delta", partial_json="")))
    assert [call.arguments for call in response.calls] == ["{}"]
    assert (response.stop.anomalies, response.repaired) == ((), False)
    assert classify(read(*events("max_tokens", head))) is Outcome.ARGUMENTS_CUT


@pytest.mark.behaviour("T1")
@pytest.mark.parametrize("stop", ["tool_use", "end_turn", "stop_sequence", "max_tokens"])
def test_cut_arguments_outweigh_whatever_the_stop_says(stop):
    piece = delta(0, "input_json_delta", partial_json='{"path": "a.t')
    response = read(*events(stop, start(0, TOOL | {"input": {}}), piece))
    assert classify(response) is Outcome.ARGUMENTS_CUT


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
odd_or = lambda *usual: st.sampled_from(usual) | json_values  # noqa: E731
blocks = st.fixed_dictionaries(
    {"type": odd_or("text", "thinking", "tool_use", "server_tool_use", "compaction")},
    optional=dict.fromkeys(("text", "thinking", "id", "name", "input", "content"), json_values),
)
deltas = st.fixed_dictionaries(
    {"type": odd_or("text_delta", "thinking_delta", "input_json_delta", "signature_delta")},
    optional={
        "text": odd_or("Hi", ""),
        "thinking": odd_or("Hm", ""),
        "partial_json": json_values,
        "stop_reason": odd_or(*wire.STOPS),
        "stop_details": json_values,
    },
)
objects = st.fixed_dictionaries(
    {"type": odd_or("message", "error", "content_block_delta", "text", *wire._EVENTS)},
    optional={
        "index": odd_or(0, 1),
        "delta": deltas | json_values,
        "content_block": blocks | json_values,
        "content": st.lists(blocks, max_size=3) | json_values,
        "stop_reason": odd_or(*wire.STOPS),
        "usage": st.fixed_dictionaries({"input_tokens": json_values, "output_tokens": json_values}) | json_values,
        "message": json_values,
        "error": st.none() | json_values,
    },
)  # fmt: skip


@pytest.mark.behaviour("N6")
@given(st.lists(objects | json_values, max_size=4))
def test_no_object_however_odd_makes_the_reader_raise(values):
    for value in values:
        for event in (True, False):
            WIRE.parse_object(value, event=event)
        assert detect(value).message.isprintable()
    assert detect(values, wire="anthropic-messages").reason in StopReason


@pytest.mark.behaviour("S8")
@given(objects)
def test_the_quick_reading_of_an_event_is_the_slow_one(value):
    quick = plain_delta_in(WIRE, json.dumps(value).encode())
    if quick is not None:
        assert WIRE.parse_object(value, event=True) == [quick]


@pytest.mark.behaviour("S8")
@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_every_event_of_plain_text_is_read_quickly(text, escaped):
    for kind, key, signal in (("text_delta", "text", TextDelta), ("thinking_delta", "thinking", ReasoningDelta)):  # fmt: skip
        data = json.dumps(delta(0, kind, **{key: text}), ensure_ascii=escaped).encode()
        assert plain_delta_in(WIRE, data) == signal(text)
    assert plain_delta_in(WIRE, b"\xff") is None


# --- errors -------------------------------------------------------------------------------------

TEXTS = {
    "This model does not support assistant message prefill. The conversation must end with a user message.": K.PREFILL_REJECTED,
    "Prefilling assistant messages is not supported for this model.": K.PREFILL_REJECTED,
    "Requests ending with a model turn are not supported.": K.PREFILL_REJECTED,
    "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant": K.PREFILL_REJECTED,
    "The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on": K.PREFILL_REJECTED,
    "Assistant response prefill is incompatible with enable_thinking.": K.PREFILL_REJECTED,
    "Cannot have 2 or more assistant messages at the end of the list.": K.PREFILL_REJECTED,
    "prompt is too long: 210000 tokens > 200000 maximum": K.CONTEXT_OVERFLOW,
    "Input is too long for requested model.": K.CONTEXT_OVERFLOW,
    "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it": K.CONTEXT_OVERFLOW,
    "input length and `max_tokens` exceed context limit: 199900 + 21333 > 200000, decrease input length or `max_tokens` and try again": K.CONTEXT_OVERFLOW,
    "input length and `max_tokens` exceed context limit: 210000 + 21333 > 200000, decrease input length or `max_tokens` and try again": K.CONTEXT_OVERFLOW,
    "Output blocked by content filtering policy": K.CONTENT_BLOCKED,
    "Your credit balance is too low to access the Anthropic API.": K.PAYMENT,
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.": K.INVALID_REQUEST,
    "messages: final assistant content cannot end with trailing whitespace": K.INVALID_REQUEST,
    "messages: text content blocks must be non-empty": K.INVALID_REQUEST,
}

LIMITS = {
    "max_tokens: 70000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5": 64_000,
    "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens` and try again": 10_000,
}

KEYS = {
    "context_management: Extra inputs are not permitted": ("context_management",),
    "messages.1.content.0.text.x-y: Extra inputs are not permitted": ("messages.1.content.0.text.x-y",),
    "tools.0.custom.input_examples: Extra inputs are not permitted": ("tools.0.custom.input_examples",),
}  # fmt: skip


def refused(message: str) -> Any:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    return WIRE.parse_fault(400, {}, json.dumps(error).encode())


@pytest.mark.parametrize("message", TEXTS)
def test_the_words_of_an_error_are_understood(message):
    assert refused(message).kind is TEXTS[message]


@pytest.mark.behaviour("C18")
@pytest.mark.parametrize("message", LIMITS)
def test_the_output_tokens_that_are_allowed_are_read_out_of_the_words(message):
    fault = refused(message)
    assert (fault.kind, fault.allowed_tokens) == (K.OUTPUT_BUDGET_TOO_LARGE, LIMITS[message])


@pytest.mark.parametrize("message", KEYS)
def test_unknown_keys_are_read_out_of_the_words(message):
    assert (refused(message).kind, refused(message).keys) == (K.UNKNOWN_KEY, KEYS[message])


AWS = "x-amzn-errortype"

ANSWERS: list[tuple[int, dict[str, str], Any, FaultKind]] = [
    (413, {}, b"<html>Payload Too Large</html>", K.CONTEXT_OVERFLOW),
    (429, {}, b"", K.RATE_LIMITED),
    (529, {}, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, K.OVERLOADED),
    (503, {}, b"<html>", K.OVERLOADED),
    (500, {}, b"\xff", K.SERVER),
    (500, {}, [], K.SERVER),
    (429, {}, {"error": {"type": "rate_limit_error", "message": "x", "details": {"error_code": "contract_spend_limit_reached"}}}, K.PAYMENT),
    (400, {AWS: "ValidationException:http://internal.amazon.com/"}, {"message": "Input is too long for requested model."}, K.CONTEXT_OVERFLOW),
    (400, {AWS: "ValidationException"}, {"message": "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for x"}, K.OUTPUT_BUDGET_TOO_LARGE),
    (400, {AWS: "ThrottlingException"}, {"message": "Too many requests"}, K.RATE_LIMITED),
    (424, {AWS: "ModelErrorException"}, {"message": "x", "originalStatusCode": 500}, K.SERVER),
    (408, {AWS: "ModelTimeoutException"}, {"message": "x"}, K.TIMEOUT),
    (403, {AWS: "AccessDeniedException"}, {"Message": "User is not authorized"}, K.AUTHENTICATION),
    (429, {}, {"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED"}}, K.RATE_LIMITED),
    (400, {}, [{"error": {"code": 400, "message": "Prompt is too long", "status": "INVALID_ARGUMENT"}}], K.CONTEXT_OVERFLOW),
    (503, {}, {"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}}, K.OVERLOADED),
]  # fmt: skip


@pytest.mark.parametrize(("status", "headers", "answer", "kind"), ANSWERS, ids=lambda v: str(v)[:60])  # fmt: skip
def test_an_error_response_is_understood(status, headers, answer, kind):
    raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    fault = WIRE.parse_fault(status, {"retry-after": "7", **headers}, raw)
    assert (fault.kind, fault.status, fault.retry_after_s) == (kind, status, 7.0)


# --- whose request, whose body ------------------------------------------------------------------

PATHS = {
    "/v1/messages": True,
    "/v1/messages/": True,
    "/anthropic/v1/messages": True,
    "/messages": True,
    "/v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-4-5@20251101:rawPredict": True,
    "/v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-4-5%4020251101%3AstreamRawPredict": True,
    "/model/anthropic.claude-sonnet-4-5-20250929-v1:0/invoke": True,
    "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream": True,
    "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.anthropic.claude-x/invoke": True,
    "/v1/messages/count_tokens": False,
    "/v1/messages/batches": False,
    "/v1/messages/batches/msgbatch_1/results": False,
    "/v1/projects/p/locations/global/publishers/anthropic/models/count-tokens:rawPredict": False,
    "/v1/projects/p/locations/global/publishers/google/models/gemini:rawPredict": False,
    "/model/amazon.nova-pro-v1:0/invoke": False,
    "/model/anthropic.claude-x/converse": False,
    "/v1/threads/thread_1/messages": False,
    "/v1/chat/completions": False,
    "/v1/models": False,
    "": False,
}


@pytest.mark.parametrize("path", PATHS)
def test_the_path_of_a_request_tells_whether_it_speaks_this_wire(path):
    assert WIRE.is_request(path) == PATHS[path]


@pytest.mark.behaviour("N8")
def test_the_wire_is_found_by_name_and_only_it_knows_its_own_shapes():
    assert wires()["anthropic-messages"] is WIRE
    chat = wires()["openai-chat"]
    for value in (body(), *events("end_turn"), {"type": "error", "error": {"type": "api_error"}}):
        assert WIRE.looks_like(value)
        assert not chat.looks_like(value)
    choice = {"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}
    for value in ({"choices": [choice]}, {"object": "chat.completion.chunk", "choices": []}, {}):
        assert not WIRE.looks_like(value)
    assert not WIRE.is_terminator(b'{"type":"message_stop"}')
