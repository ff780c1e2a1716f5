"""Cohere's Chat: what the installed SDK knows, the tables know; what leaves for it, and what is
written in its name, is what its types allow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from cohere.types import UserChatMessageV2
from cohere.v2.types import V2ChatResponse, V2ChatStreamResponse
from pydantic import TypeAdapter
from support.paths import wire_for_path

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.parts import Message
from tenuto.core.answer.signals import Usage
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendUser,
    FreeToolChoice,
    LowerReasoning,
    SetOutputLimit,
)
from tenuto.frames.sse import SseDecoder
from tenuto.turn.stream.merger import merger
from tenuto.wires.answer import Answer, AttemptContent
from tenuto.wires.billed_usage import merged_usage
from tenuto.wires.cohere import wire
from tenuto.wires.cohere.errors import read_fault
from tenuto.wires.cohere.render import CohereLayout, render_body
from tenuto.wires.cohere.request import parse_request
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import decode_object
from tenuto.wires.members import members_of, rows_of
from tenuto.wires.stream import plain_delta_in

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "cohere"
EVENT: TypeAdapter[Any] = TypeAdapter(V2ChatStreamResponse)
VARIANTS: Any = get_args(get_args(V2ChatStreamResponse)[0])
OURS = Dialect("cohere")
CUT = ToolCall("call_1", "write_file", '{"path": "a', Finding.TRUNCATED)
WHOLE = ToolCall("call_1", "write_file", '{"path": "a"}', Finding.WHOLE)


def data_of(stream: bytes) -> list[bytes]:
    decoder = SseDecoder()
    found = [*decoder.feed(stream), *decoder.flush()]
    return [e.data for e in found if e.data and e.data != b"[DONE]"]


def events_of(stream: bytes) -> list[Any]:
    return [json.loads(data) for data in data_of(stream)]


def request(**members: Any) -> bytes:
    rows = members.pop("messages", [{"role": "user", "content": "Hi"}])
    return json.dumps({"model": "m", "messages": rows, **members}).encode()


def applied(body: bytes, *edits: Any) -> Any:
    made = parse_request(body)
    assert made is not None
    return json.loads(made.apply(edits, OURS))


# --- what the SDK knows


@pytest.mark.behaviour("N13")
def test_no_event_of_the_installed_sdk_is_missing_from_the_table():
    kinds = {variant.model_fields["type"].default for variant in VARIANTS}
    assert "message-end" in kinds
    assert kinds == set(wire._EVENTS)


def test_the_path_of_version_2_is_its_own_and_no_other():
    assert wire_for_path("/v2/chat") is wire.WIRE
    assert [wire_for_path(path) for path in ("/v2/embed", "/v2/rerank")] == [None] * 2


# --- what is said when something fails

TEXTS = {
    "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this "
    "model - received 8192.": (FaultKind.OUTPUT_BUDGET_TOO_LARGE, 4096),
    "too many tokens: max tokens must be less than or equal to 4096, the maximum output length for "
    "this model - received 1000000.": (FaultKind.OUTPUT_BUDGET_TOO_LARGE, 4096),
    "too many tokens: size limit exceeded by 168512 tokens. Try using shorter or fewer inputs. The "
    "limit for this model is 132000 tokens.": (FaultKind.CONTEXT_OVERFLOW, None),
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try "
    "using a shorter prompt, or enabling prompt truncating.": (FaultKind.CONTEXT_OVERFLOW, None),
    "invalid request: An assistant message with 'tool_calls' must be followed by tool messages "
    "responding to each 'tool_call_id'. The following tool_call_ids did not have response "
    "messages: a": (FaultKind.INVALID_REQUEST, None),
    "invalid request: all elements in history must have a message.": (
        FaultKind.INVALID_REQUEST,
        None,
    ),
    "invalid request: cannot specify message if the last entry in chat history contains tool "
    "results": (FaultKind.INVALID_REQUEST, None),
}


@pytest.mark.behaviour("P5", "C18")
@pytest.mark.parametrize("text", TEXTS)
def test_the_words_of_a_refusal_are_understood(text):
    kind, allowed = TEXTS[text]
    fault = read_fault({"id": "1", "message": text}, 400)
    assert (fault.kind, fault.allowed_tokens) == (kind, allowed)
    assert read_fault(text).kind is kind, "also in a stream, where there is no status"


@pytest.mark.behaviour("H5", "P5")
def test_a_key_that_is_not_known_is_named():
    said = "unknown field: parameter 'strict' is not a valid field. For proper usage, see …"
    assert read_fault({"message": said}, 422).keys == ("strict",)


@pytest.mark.behaviour("P5")
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, FaultKind.AUTHENTICATION),
        (402, FaultKind.PAYMENT),
        (499, FaultKind.CANCELLED),
        (404, FaultKind.INVALID_REQUEST),
        (429, FaultKind.RATE_LIMITED),
        (498, FaultKind.CONTENT_BLOCKED),
        (500, FaultKind.SERVER),
        (503, FaultKind.OVERLOADED),
        (504, FaultKind.TIMEOUT),
    ],
)
def test_a_status_alone_tells_what_failed(status, kind):
    assert wire.WIRE.parse_fault(status, {}, b'{"message":"No."}').kind is kind


# --- what leaves


@pytest.mark.behaviour("C7", "C10", "C17")
def test_a_continuation_keeps_the_callers_rows_and_appends_what_was_said():
    body = b'{"model":"m","messages":[{"role": "user","content":"Caf\\u00e9 1.0"}],"k":1e400}'
    made = parse_request(body)
    assert made is not None
    edits = (AppendAssistant("Half"), AppendUser(hints.CONTINUE), SetOutputLimit(9))
    members = members_of(made.apply(edits, OURS))
    first, *added = rows_of(members["messages"])
    assert first == b'{"role": "user","content":"Caf\\u00e9 1.0"}'
    assert [json.loads(row)["role"] for row in added] == ["assistant", "user"]
    assert (members["k"], members["max_tokens"]) == (b"1e400", b"9")
    UserChatMessageV2.model_validate_json(added[1])


@pytest.mark.behaviour("C25", "P8")
def test_a_request_that_needs_nothing_leaves_as_it_came():
    body = request(tool_choice="REQUIRED", thinking={"type": "enabled"})
    made = parse_request(body)
    assert made is not None
    assert made.apply((), OURS) is body


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize(("choice", "left"), [("REQUIRED", None), ("NONE", "NONE"), (None, None)])
def test_a_forced_choice_is_lifted_in_cohere_s_own_words(choice, left):
    given = {} if choice is None else {"tool_choice": choice}
    sent = applied(request(**given), AppendUser("On."), FreeToolChoice())
    assert sent.get("tool_choice") == left


@pytest.mark.behaviour("C11")
def test_thinking_is_switched_off_where_the_request_names_it():
    thinks = request(thinking={"type": "enabled", "token_budget": 100})
    made = parse_request(thinks)
    assert made is not None
    assert made.facts.lower_reasoning
    assert applied(thinks, LowerReasoning())["thinking"] == {"type": "disabled"}
    for other in (request(), request(thinking={"type": "disabled"})):
        asked = parse_request(other)
        assert asked is not None
        assert not asked.facts.lower_reasoning


@pytest.mark.behaviour("T5", "H2", "H4", "H5a")
def test_a_history_is_put_right_and_stays_so():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"a'}}
    rows = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_plan": "I will.", "tool_calls": [call]},
        {"role": "assistant", "content": " "},
        {"role": "user", "content": "And?"},
    ]
    made = parse_request(request(messages=rows))
    assert made is not None
    once = made.apply((), OURS)
    sent = json.loads(once)["messages"]
    assert [row["role"] for row in sent] == ["user", "assistant", "tool", "user"]
    assert sent[1]["tool_plan"] == "I will."
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == "{}"
    again = parse_request(once)
    assert again is not None
    assert again.apply((), OURS) == once


@pytest.mark.behaviour("T5", "H4")
def test_a_broken_call_is_answered_in_valid_form():
    sent = applied(request(), AppendCalls("", (CUT,), ("Too long.",)))["messages"]
    assert sent[1]["tool_calls"][0]["function"] == {"name": "write_file", "arguments": "{}"}
    assert sent[2] == {"role": "tool", "tool_call_id": "call_1", "content": "Too long."}


# --- what is written


def written(*, text: str = "", calls: tuple[ToolCall, ...] = ()) -> list[Any]:
    writer = merger(CohereLayout("m"))
    writer.begin({"type": "message-start", "id": "x"})
    writer.next_attempt(apart=False)
    out = writer.reasoning("Hm.") + (writer.text(text) if text else b"")
    answer = Answer(text, calls=calls, native_stop="COMPLETE", usage=Usage(3, 4))
    return events_of(out + writer.end(answer, include_usage=True))


@pytest.mark.behaviour("S2", "S4")
def test_a_message_that_is_written_is_what_the_types_of_the_sdk_allow():
    events = written(text="Said.", calls=(WHOLE,))
    for event in events:
        assert EVENT.validate_python(event).type == event["type"]
    assert [event["type"] for event in events] == [
        "message-start", "content-start", "content-delta", "content-end", "content-start",
        "content-delta", "content-end", "tool-call-start", "tool-call-delta", "tool-call-end",
        "message-end",
    ]  # fmt: skip
    assert events[0]["id"] == "x"
    assert [e["index"] for e in events if e["type"] == "content-start"] == [0, 1]


@pytest.mark.behaviour("P1a")
def test_an_error_is_the_end_that_the_provider_writes_itself():
    (*_, end) = events_of(merger(CohereLayout("m")).error("dropped", "It broke off."))
    assert end["delta"]["finish_reason"] == "ERROR"
    assert "It broke off." in end["delta"]["error"]
    seen = wire.WIRE.parse_object(end, event=True)
    assert [type(signal).__name__ for signal in seen] == ["StopSeen", "FaultSeen"]


@pytest.mark.behaviour("E9")
def test_an_error_of_another_tenuto_is_known_as_one():
    (*_, end) = events_of(merger(CohereLayout("m")).error("dropped", "It broke off."))
    assert read_fault(end["delta"]["error"]).kind is FaultKind.UPSTREAM_GAVE_UP
    body = json.loads(wire.WIRE.render_error("dropped", "It broke off.", Answer("Half")))
    assert body["partial"] == {"text": "Half"}
    assert read_fault(body, wire.WIRE.error_status).kind is FaultKind.UPSTREAM_GAVE_UP


@pytest.mark.behaviour("C19", "C22")
def test_a_body_that_was_joined_is_what_the_types_of_the_sdk_allow():
    usage = {
        "billed_units": {"input_tokens": 1, "output_tokens": 3},
        "tokens": {"input_tokens": 3, "output_tokens": 4},
        "cached_tokens": 0,
    }
    first = {"id": "x", "message": {"role": "assistant", "content": []}, "usage": usage}
    last = {"id": "y", "message": {"role": "assistant", "content": []}}
    answer = Answer("All.", "Hm.", (), (), "COMPLETE", usage=Usage(3, 9), raw_usage=usage)
    made: Any = V2ChatResponse.model_validate_json(render_body(first, last, answer))
    assert (made.id, made.finish_reason, made.message.content[1].text) == ("x", "COMPLETE", "All.")
    assert (made.usage.tokens.output_tokens, made.usage.billed_units.output_tokens) == (9, 8)


def test_what_is_billed_alone_is_counted_on():
    billed = {"billed_units": {"input_tokens": 3, "output_tokens": 4}}
    assert merged_usage(billed, Usage(3, 9)) == {
        "billed_units": {"input_tokens": 3, "output_tokens": 9}
    }


@pytest.mark.behaviour("C14", "C28a")
def test_citations_stand_at_the_words_that_they_are_of():
    def cited(text: str, words: str) -> dict[str, Any]:
        start = text.index(words)
        return {"start": start, "end": start + len(words), "text": words, "content_index": 0}

    texts = ("The tide comes twi", "twice a day.")
    bodies = [
        {"message": {"citations": [cited(text, words)]}}
        for text, words in zip(texts, ("tide", "day"), strict=True)
    ]
    messages = [Message(), Message()]
    for message, body in zip(messages, bodies, strict=True):
        message.take(wire.read(body, event=False))
    spoken = [
        AttemptContent(bodies[0], texts[0], own=texts[0], message=messages[0]),
        AttemptContent(bodies[1], "ce a day.", own=texts[1], message=messages[1]),
    ]
    whole = "The tide comes twice a day."
    answer = Answer(whole, native_stop="COMPLETE", spoken=spoken)
    made = json.loads(render_body(bodies[0], bodies[1], answer))["message"]
    assert [whole[c["start"] : c["end"]] for c in made["citations"]] == ["tide", "day"]


@pytest.mark.parametrize("folder", sorted(FIXTURES.iterdir()), ids=lambda folder: folder.name)
def test_the_quick_reading_of_an_event_agrees_with_the_whole_one(folder):
    stream = folder / "stream.sse"
    for data in data_of(stream.read_bytes()) if stream.exists() else []:
        quick = plain_delta_in(wire.WIRE, data)
        assert quick is None or [quick] == wire.WIRE.parse_object(decode_object(data), event=True)
