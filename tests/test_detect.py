"""`detect()` and `StreamDetector`: what they say of a stop, and that nothing makes them raise."""

from __future__ import annotations

import copy
import json
import logging
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk, chat_completion
from openai.types.chat import chat_completion_chunk as chunk_types
from support.asking.openai_chat import Asker
from support.asking.wrapping import QUICK, Wrapped

import tenuto
from tenuto import Confidence, StopReason, StreamDetector, detect
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.builder import Builder
from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.signals import Ended
from tenuto.core.answer.stop import CLEAN
from tenuto.detection import read, recognize
from tenuto.turn.record import turn_log
from tenuto.wires.chat_like import chat as chat_like
from tenuto.wires.openai_chat import wire as openai_chat
from tenuto.wires.registry import WIRES
from tenuto.wires.stops import SHARED_STOPS
from tenuto_sim import CASES, Simulator, Step

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def body(finish: Any = "stop", **message: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Hello"} | message
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    usage = {
        "prompt_tokens": 3,
        "completion_tokens": 2,
        "total_tokens": 5,
        "completion_tokens_details": {"reasoning_tokens": 1},
        "prompt_tokens_details": {"cached_tokens": 1},
    }
    kind = "chat.completion"
    return {
        "id": "c",
        "object": kind,
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def chunk(finish: Any = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    kind = "chat.completion.chunk"
    return {"id": "c", "object": kind, "created": 1, "model": "m", "choices": [choice]}


def sse(*events: Any, done: bool = True) -> bytes:
    lines = [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events]
    return b"".join(lines) + (b"data: [DONE]\n\n" if done else b"")


FULL = [
    body("tool_calls", tool_calls=[CALL], reasoning_content="r", refusal=None),
    body(content=[{"type": "text", "text": "a"}, {"thinking": [{"text": "b"}]}], refusal="no"),
    body("function_call", function_call={"name": "f", "arguments": "{}"}),
    body() | {"error": {"message": "m", "code": "c", "innererror": {"code": "i"},
                        "metadata": {"error_type": "timeout"}}},
    body() | {"base_resp": {"status_code": 1027, "status_msg": "x"}},
    {"error": {"message": {"detail": [{"loc": ["body", "x"], "msg": "bad"}]}}},
    {"object": "error", "message": "m", "code": 400},
    chunk("tool_calls", tool_calls=[{"index": 0} | CALL], content="x", reasoning="y"),
    chunk("stop", native_finish_reason="STOP") | {"x_groq": {"error": "e", "usage": {"a": 1}}},
]  # fmt: skip

ODD: list[Any] = [
    None, True, False, 0, -1, 7, 10**30, 10**5_000, 1.5, float("inf"), float("nan"), "", "x",
    "\ud800", "\x00\x1b[31m", "stop", [], [None], ["x", 1], [[]], {}, {"a": None}, {"index": []},
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def with_odd(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    made = copy.deepcopy(value)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = odd
    return made


def without(value: Any, path: tuple[Any, ...]) -> Any:
    made = copy.deepcopy(value)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return made


def as_json(value: Any) -> bytes:
    try:
        return json.dumps(value).encode()
    except ValueError:  # an integer too long to be written
        return b'{"choices": [{"finish_reason": ' + b"9" * 5_000 + b"}]}"


# --- N1, N2: the table ------------------------------------------------------------------------

ALL_STOPS = SHARED_STOPS | chat_like.STOPS


@pytest.mark.behaviour("N1", "N2", "N4", "N5")
@pytest.mark.parametrize("native", sorted(ALL_STOPS))
def test_each_native_value_is_read_alike_from_bodies_and_streams(native):
    reason, detail = ALL_STOPS[native]
    call = {"tool_calls": [{"index": 0} | CALL]} if reason is StopReason.TOOL_CALL else {}
    for spelling in (native, native.upper(), f"  {native.title()} "):
        for source in (
            body(spelling, **call),
            sse(chunk(content="Hello", **call), chunk(spelling)),
        ):
            stop = detect(source)
            assert (stop.reason, stop.raw, stop.detail) == (reason, spelling, detail)
            assert (stop.confidence, stop.terminal) == (Confidence.HIGH, True)
            assert stop.field == "choices[0].finish_reason"


@pytest.mark.behaviour("N1", "N5")
@given(st.text(min_size=1))
def test_a_value_that_no_table_has_is_unknown_and_never_a_sure_clean_end(native):
    word = native.strip().lower()
    known = any(half.strip() in ALL_STOPS for half in (word, *word.split(":", 1)))
    if known or word in ("", "null", "none"):
        return
    stop = detect(body(native))
    assert (stop.reason, stop.raw) == (StopReason.UNKNOWN, native)
    assert stop.confidence is Confidence.MEDIUM


@pytest.mark.behaviour("N1a")
@pytest.mark.parametrize("absent", [None, "", " ", "null", "NULL", "none"])
def test_an_absent_stop_is_judged_by_how_the_response_ended(absent):
    whole = detect(body(absent))
    assert (whole.reason, whole.confidence) == (StopReason.END_TURN, Confidence.MEDIUM)
    assert whole.anomalies == ("no_stop",)
    assert detect(sse(chunk(content="x"), chunk(absent))) == whole
    dropped = detect(sse(chunk(content="x"), chunk(absent), done=False))
    assert (dropped.reason, dropped.confidence) == (StopReason.DROPPED, Confidence.LOW)


@pytest.mark.behaviour("N3")
def test_what_is_worse_outranks_what_is_better():
    error = {"error": {"message": "m"}}
    calls = {"tool_calls": [{"index": 0} | CALL]}
    assert detect(body("stop", **calls)).reason is StopReason.TOOL_CALL
    for native in ("length", "content_filter", "malformed_function_call"):
        stop = detect(body(native, **calls))
        assert stop.reason not in CLEAN
        assert detect(body(native, **calls) | error).reason is StopReason.ERROR
    missing = detect(body("tool_calls"))
    assert missing.reason is StopReason.TOOL_CALL
    assert missing.anomalies == ("tool_calls_missing",)


@pytest.mark.behaviour("N12")
def test_a_clean_stop_exactly_at_the_cap_is_suspicious():
    for cap, noted in ((2, ("suspected_truncation",)), (3, ()), (None, ())):
        builder = Builder(cap)
        for signal in (*openai_chat.WIRE.parse_object(body(), event=False), Ended()):
            builder.feed(signal)
        assert builder.build().stop.anomalies == noted


@pytest.mark.behaviour("N5")
def test_every_stop_reads_as_a_sentence_without_content():
    for native in ("stop", "length", "brand_new\n\x1b[31m", None, ["x"]):
        message = detect(body(native)).message
        assert message.endswith(".")
        assert message.isprintable()


@pytest.mark.behaviour("N13")
@pytest.mark.parametrize(
    "annotation",
    [
        chat_completion.Choice.model_fields["finish_reason"].annotation,
        chunk_types.Choice.model_fields["finish_reason"].annotation,
    ],
    ids=["chat_completion", "chat_completion_chunk"],
)
def test_no_value_of_the_installed_sdk_is_missing_from_the_table(annotation):
    named = {v for a in (annotation, *typing.get_args(annotation)) for v in literals(a)}
    assert named, "the SDK has moved its Literal: read openai/types/chat again"
    assert named == set(chat_like.STOPS)


def literals(annotation: Any) -> tuple[str, ...]:
    return typing.get_args(annotation) if typing.get_origin(annotation) is typing.Literal else ()


# --- N6: nothing raises -------------------------------------------------------------------------


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("number", range(len(FULL)))
def test_no_odd_value_at_any_place_makes_detection_raise(number):
    value = FULL[number]
    for path in places(value):
        odd_ones = [with_odd(value, path, odd) for odd in ODD]
        for made in [*odd_ones, *([without(value, path)] if path else [])]:
            stops = [detect(made), detect([made]), detect(made, wire="openai-chat")]
            data = as_json(made)
            stops += [detect(data), detect(b"data: " + data + b"\n\n")]
            for stop in stops:
                assert stop.message.isprintable()
                assert stop.reason in StopReason
                if (stop.raw or "").startswith("<"):  # a stop that is no text
                    assert stop.confidence is Confidence.LOW or stop.detail in set(FaultKind)


@pytest.mark.behaviour("N6")
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_nothing_at_all_makes_detection_raise(value):
    stop = detect(value)
    assert stop.confidence is not Confidence.HIGH
    detector = StreamDetector("no such wire")
    detector.feed(value)
    assert detector.finalize() == stop


@pytest.mark.behaviour("N6")
def test_objects_that_misbehave_do_not_make_detection_raise():
    class Hostile:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    nested: list[Any] = []
    nested.append(nested)
    for source in (Hostile(), nested, object(), Hostile, b"[" * 100_000, "\ud800", b"\xff" * 10):
        assert detect(source).reason in (StopReason.UNKNOWN, StopReason.DROPPED)


MEMBERS = ("choices", "delta", "message", "type", "error", "output", "candidates", "done", "events")
ODD_OBJECTS = st.recursive(
    st.none() | st.integers() | st.floats() | st.text() | st.binary() | st.builds(object),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.none() | st.integers() | st.binary() | st.text() | st.sampled_from(MEMBERS), inner
        )
    ),
)


@pytest.mark.behaviour("N6", "S5")
@settings(max_examples=40)
@given(first=ODD_OBJECTS, then=ODD_OBJECTS)
def test_no_odd_object_makes_a_detector_raise(first: object, then: object) -> None:
    """Each object is shown to the detector of each wire: drawing objects is what takes time."""
    for wire in (None, *sorted(WIRES.all())):
        detector = StreamDetector(wire)
        for piece in ({1: 2}, {None: None}, {b"type": []}, first, then):
            stop = detector.feed(piece)
            clean = stop.terminal and stop.reason in CLEAN
            assert not (clean and stop.confidence is Confidence.HIGH), wire
        assert detector.finalize() == detector.finalize(), wire
        assert detector.finalize().terminal, wire


# --- forms --------------------------------------------------------------------------------------


@pytest.mark.behaviour("S8")
def test_objects_of_the_sdk_say_what_their_bytes_say():
    for value in (body("length"), body("tool_calls", tool_calls=[CALL]), body(refusal="no")):
        assert detect(ChatCompletion.model_validate(value)) == detect(json.dumps(value))
    chunks = [chunk(content="Hel"), chunk(content="lo"), chunk("length")]
    objects = [ChatCompletionChunk.model_validate(value) for value in chunks]
    assert detect(objects) == detect(chunks) == detect(sse(*chunks))
    odd = ChatCompletion.construct(**body(7))
    assert detect(odd).reason is StopReason.UNKNOWN


MESSAGE: dict[str, Any] = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None,
    "content": [{"type": "text", "text": "I write."},
                {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}],
    "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 2},
}  # fmt: skip

MESSAGE_EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": MESSAGE | {"content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "write."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": MESSAGE["content"][1] | {"input": {}}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a":'}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": " 1}"}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]  # fmt: skip


def message_stream(events: list[dict[str, Any]]) -> bytes:
    lines = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events]
    return "".join(lines).encode()


@contextmanager
def anthropic_client(stream: bytes) -> Iterator[anthropic.Anthropic]:
    """A client of the official SDK whose every request is answered by this stream."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=stream)

    transport = httpx2.MockTransport(answer)
    with anthropic.Anthropic(
        api_key="k", base_url="http://x", http_client=httpx2.Client(transport=transport)
    ) as client:
        yield client


@pytest.mark.behaviour("S8", "N8")
@pytest.mark.parametrize("wire", ["anthropic-messages", None])
def test_objects_of_the_anthropic_sdk_say_what_their_bytes_say(wire):
    asked: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    with anthropic_client(message_stream(MESSAGE_EVENTS)) as client:
        raw = list(client.messages.create(**asked, stream=True))
        with client.messages.stream(**asked) as stream:
            helped = list(stream)
            final = stream.get_final_message()
    assert {event.type for event in helped} > {"text", "input_json"}, "the helper adds events"
    whole, streamed = read(json.dumps(MESSAGE), wire=wire), read(MESSAGE_EVENTS, wire=wire)
    for one in (anthropic.types.Message.model_validate(MESSAGE), MESSAGE):
        assert read(one, wire=wire) == whole
    for same in (raw, helped, message_stream(MESSAGE_EVENTS)):
        assert read(same, wire=wire) == streamed
    assert (whole.text, streamed.text) == ("I write.", "I write.")
    assert [call.arguments for call in streamed.calls] == ['{"a": 1}']
    assert detect(final, wire=wire) == whole.stop
    assert whole.stop.reason is streamed.stop.reason is StopReason.TOOL_CALL


@pytest.mark.behaviour("S5", "T1")
def test_the_sdks_parsed_input_does_not_make_a_cut_call_whole():
    cut = [*MESSAGE_EVENTS[:8], *MESSAGE_EVENTS[9:]]
    with anthropic_client(message_stream(cut)) as client:
        asked: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}  # fmt: skip
        with client.messages.stream(**asked) as stream:
            helped = list(stream)
    assert read(helped).calls[0].finding is Finding.TRUNCATED


@pytest.mark.behaviour("S5", "N5")
@pytest.mark.parametrize("wire", ["anthropic-messages", None])
def test_progress_on_the_anthropic_wire_is_terminal_from_the_stop_on(wire):
    detector = StreamDetector(wire)
    for event in MESSAGE_EVENTS[:-2]:
        assert not detector.feed(message_stream([event])).terminal
    seen = detector.feed(MESSAGE_EVENTS[-2])
    assert (seen.terminal, seen.reason) == (True, StopReason.TOOL_CALL)
    assert detector.finalize() == seen
    detector.reset()
    detector.feed(message_stream(MESSAGE_EVENTS[:-2]))
    assert detector.finalize().reason is StopReason.DROPPED


@pytest.mark.behaviour("N8")
def test_an_error_whose_wire_nothing_tells_is_read_by_the_wire_that_knows_it():
    known = {
        "context_length_exceeded": FaultKind.CONTEXT_OVERFLOW,
        "tool_use_failed": FaultKind.MALFORMED_CALL,
        "request_too_large": FaultKind.CONTEXT_OVERFLOW,
        "billing_error": FaultKind.PAYMENT,
        "brand_new": None,  # which no table knows
    }
    for code, kind in known.items():
        assert detect({"error": {"code": code, "message": "x"}}).detail == kind


# --- S5: the stream detector --------------------------------------------------------------------


@pytest.mark.behaviour("S5", "N5")
@pytest.mark.parametrize("wire", ["openai-chat", None, "no such wire", 7])
def test_progress_is_not_terminal_until_a_stop_is_seen(wire):
    detector = StreamDetector(wire)
    for piece in (sse(chunk(role="assistant"), done=False), chunk(content="x"), b": ping\n\n"):
        stop = detector.feed(piece)
        assert (stop.terminal, stop.confidence) == (False, Confidence.LOW)
        assert stop.reason is StopReason.UNKNOWN
    seen = detector.feed(ChatCompletionChunk.model_validate(chunk("length")))
    assert (seen.terminal, seen.reason) == (True, StopReason.MAX_TOKENS)
    assert detector.feed(b"data: [DONE]\n\n") == seen
    assert detector.finalize() == detector.finalize() == seen
    detector.reset()
    assert not detector.feed(chunk(content="x")).terminal
    assert detector.finalize().reason is StopReason.DROPPED


@pytest.mark.behaviour("S5", "S9")
def test_an_error_or_an_end_without_a_stop_is_terminal_at_once():
    detector = StreamDetector()
    assert detector.feed({"error": {"message": "m"}}).reason is StopReason.ERROR
    detector.reset()
    detector.feed(chunk(content="x"))
    stop = detector.feed(b"data: [DONE]\n\n")
    assert (stop.terminal, stop.reason) == (True, StopReason.END_TURN)
    assert stop.confidence is Confidence.MEDIUM


@pytest.mark.behaviour("S5")
def test_a_graver_stop_replaces_an_earlier_one_while_streaming():
    detector = StreamDetector()
    detector.feed(chunk("stop"))
    assert detector.feed(chunk("content_filter")).reason is StopReason.SAFETY_BLOCKED


@pytest.mark.behaviour("S5", "S8")
def test_a_whole_body_in_pieces_is_definitive_at_the_end_only():
    data = json.dumps(body("length"), indent=2).encode()
    detector = StreamDetector()
    for at in range(0, len(data), 7):
        assert not detector.feed(data[at : at + 7]).terminal
    assert detector.finalize() == detect(data)


# --- N9, N10: what leaves the process -----------------------------------------------------------


@pytest.mark.behaviour("N9")
def test_an_unknown_value_is_logged_once_for_each_provider_model_and_value(caplog):
    turn_log._seen_unknown.clear()
    with Simulator() as sim, caplog.at_level(logging.DEBUG, "tenuto"):
        asker = Wrapped(sim, tenuto.Policy(**QUICK))
        for model in ("one", "one", "two"):
            sim.script([Step(finish="brand\n\x1b[31mnew")])
            asker.ask([{"role": "user", "content": f"Hi {model}"}], model=model)
        asker.close()
    lines = [r.getMessage() for r in caplog.records if "unknown stop" in r.getMessage()]
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)


MARK = "sEcReT-mArKeR"


def test_no_event_or_log_record_holds_content_or_secrets(caplog):
    # The marker stands in the key, the prompt and, since the simulator's answers are made of the
    # prompt, in texts and arguments.
    events: list[tenuto.Event] = []
    with Simulator(token_chars=20) as sim, caplog.at_level(logging.DEBUG, "tenuto"):
        asker = Asker(sim)
        client = openai.OpenAI(base_url=sim.base_url, api_key=MARK, max_retries=0)
        asker.client = tenuto.wrap(client, policy=tenuto.Policy(**QUICK), on_event=events.append)
        asker.prompt_for = lambda case: f"{MARK} {case.name}"  # type: ignore[method-assign]
        for case in CASES.values():
            for mode in sorted(case.modes):
                got = asker.ask_case(case, mode)
                assert got.error is None or isinstance(got.error, openai.OpenAIError)
        client.close()
        asker.close()
    assert len(events) > len(CASES)
    assert any(MARK.encode() in request.body for request in sim.requests), "the marker was sent"
    for event in events:
        shown = json.dumps(event.as_dict(), ensure_ascii=False)
        assert MARK.lower() not in shown.lower(), event.name
        assert shown.isprintable()
        assert len(shown) < 4_000
    for record in caplog.records:
        line = record.getMessage() + str(record.exc_text or "")
        assert MARK.lower() not in line.lower()
        assert line.isprintable()


BROKEN_CALL = '{"path": "a.t'
BROKEN_BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "tool_calls": [
                        {"id": "1", "function": {"name": "write", "arguments": BROKEN_CALL}}
                    ]
                },
                "finish_reason": "tool_calls",
            }
        ],
    },
    "openai-responses": {
        "object": "response",
        "status": "completed",
        "output": [
            {"type": "function_call", "call_id": "1", "name": "write", "arguments": BROKEN_CALL}
        ],
    },
    "gemini-interactions": {
        "object": "interaction",
        "status": "requires_action",
        "steps": [{"type": "function_call", "id": "1", "name": "write", "arguments": BROKEN_CALL}],
    },
    "anthropic-messages": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "1", "name": "write", "input": BROKEN_CALL}],
        "stop_reason": "tool_use",
    },
    "bedrock-converse": {
        "output": {
            "message": {
                "content": [{"toolUse": {"toolUseId": "1", "name": "write", "input": BROKEN_CALL}}]
            }
        },
        "stopReason": "tool_use",
    },
    "gemini-generate": {
        "candidates": [
            {
                "content": {"parts": [{"functionCall": {"name": "write", "args": BROKEN_CALL}}]},
                "finishReason": "STOP",
            }
        ]
    },
    "ollama": {
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "write", "arguments": BROKEN_CALL}}],
        },
        "done": True,
        "done_reason": "stop",
    },
}


@pytest.mark.behaviour("N4", "N7", "T1", "T2")
@pytest.mark.parametrize("wire", sorted(BROKEN_BODIES))
@pytest.mark.parametrize("kind", ["truncated", "malformed", None])
def test_a_call_that_is_not_whole_is_told_on_every_wire_whatever_the_provider_says(wire, kind):
    given = {"truncated": BROKEN_CALL, "malformed": "[1]", None: '{"path": "a.txt"}'}[kind]
    old, new = (json.dumps(text) for text in (BROKEN_CALL, given))
    stop = detect(json.dumps(BROKEN_BODIES[wire]).replace(old, new))
    assert (stop.reason, stop.broken) == (StopReason.TOOL_CALL, kind)
    assert ("broken" in stop.message) == (kind is not None)


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("wire", [None, "openai-chat"])
def test_a_recording_without_blank_lines_between_its_events_is_read_line_by_line(
    wire: str | None,
) -> None:
    said = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n'
    end = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n'
    response, found = recognize(said + end, wire=wire)
    assert (response.text, response.stop.reason) == ("Hi", StopReason.MAX_TOKENS)
    assert found is not None
    assert found.name == "openai-chat"


@pytest.mark.behaviour("N6", "S8")
@pytest.mark.parametrize("wire", [None, "anthropic-messages"])
@pytest.mark.parametrize("size", [1, 7, 40, 10_000])
def test_nothing_behind_the_end_counts_however_a_recording_is_cut(
    size: int, wire: str | None
) -> None:
    # The first event holds two, its blank line is lost; the second of them is the end.
    unparted = message_stream(MESSAGE_EVENTS[:1]).rstrip() + b'\ndata: {"type":"message_stop"}\n\n'
    over = unparted + message_stream(MESSAGE_EVENTS[6:8])
    detector = StreamDetector(wire)
    for at in range(0, len(over), size):
        detector.feed(over[at : at + size])
    assert detector.finalize() == detect(over, wire=wire) == detect(unparted, wire=wire)
    assert detector.finalize().broken is None


@pytest.mark.behaviour("N6", "S8")
@pytest.mark.parametrize("wire", [None, "openai", "openai-chat"])
def test_an_event_that_cannot_be_read_counts_before_its_wire_is_known(wire: str | None) -> None:
    whole = sse(chunk(content="one "), chunk(content="two"), chunk("stop"))
    assert detect(whole, wire=wire).reason is StopReason.END_TURN
    hole = whole[: whole.index(b"one")] + b"\n\n" + whole[whole.index(b"data: ", 9) :]
    stop = detect(hole, wire=wire)
    assert (stop.reason, stop.detail) == (StopReason.ERROR, FaultKind.GARBAGE)


@pytest.mark.behaviour("N6", "T1")
@pytest.mark.parametrize("place", [b"choices", b"tool_calls", b"arguments", b"a.txt"])
def test_a_call_in_bytes_that_are_no_utf8_is_none(place: bytes) -> None:
    call = CALL | {"function": {"name": "f", "arguments": '{"path": "a.txt"}'}}
    for whole in (
        json.dumps(body("tool_calls", content=None, tool_calls=[call])).encode(),
        sse(chunk(tool_calls=[call | {"index": 0}]), chunk("tool_calls")),
    ):
        assert detect(whole, wire="openai-chat").reason is StopReason.TOOL_CALL
        garbled = whole.replace(place, place[:2] + b"\xe6\xb5" + place[2:])
        stop = detect(garbled, wire="openai-chat")
        assert stop.reason in (StopReason.ERROR, StopReason.DROPPED)


@pytest.mark.behaviour("N6")
def test_of_whole_events_that_no_wire_knows_nothing_is_said() -> None:
    strange = b'data: {"value":"Sure"}\n\n'
    assert detect(strange * 3).reason is StopReason.UNKNOWN
    assert detect(strange + b'data: {"val').reason is StopReason.DROPPED
    detector = StreamDetector()
    detector.feed(strange + b'data: {"val')
    assert [detector.finalize().reason for _ in range(2)] == [StopReason.DROPPED] * 2


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize(
    ("error", "wire"),
    [
        ({"message": "Invalid 'messages': empty array.", "param": "messages"}, "openai-chat"),
        ({"message": "x", "param": "messages.[57].role"}, "openai-chat"),
        (
            {"message": "'max_tokens' is no. Use 'max_completion_tokens' instead.", "param": None},
            "openai-chat",
        ),
        ({"message": "Your input exceeds the window.", "param": "input"}, "openai-responses"),
        # Chat, Completions and Responses send these alike.
        ({"message": "The model `m` does not exist", "param": None, "code": "model_not_found"}, ""),
        ({"message": "filtered", "param": "prompt", "code": "content_filter"}, ""),
        ({"message": "x", "param": "messages_of_another"}, ""),
    ],
)
def test_an_error_is_named_by_what_only_one_wire_is_asked_with(error, wire):
    found = recognize({"error": error | {"type": "invalid_request_error"}})[1]
    assert (found.name if found else "") == wire
