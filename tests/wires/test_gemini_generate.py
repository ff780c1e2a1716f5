"""Reading Gemini: each native value, each part, each error, and whatever a proxy makes of them."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from support.paths import wire_for_path

from tenuto import StreamDetector, detect
from tenuto.core.answer.signals import (
    CallDelta,
    OtherSeen,
    ReasoningDelta,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.answer.stop import CLEAN, Confidence, StopReason
from tenuto.core.deciding.outcome import OF_TURNS
from tenuto.detection import read
from tenuto.frames.sse import SseDecoder
from tenuto.wires.gemini_generate.wire import BLOCKS, NUMBERS, SHOWN, STOPS, WIRE
from tenuto.wires.registry import wires
from tenuto.wires.stream import EventReader, plain_delta_in

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "gemini-generate"


def response(*parts: dict[str, Any], stop: Any = None, **beside: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    candidate |= {} if stop is None else {"finishReason": stop}
    return {"candidates": [candidate | beside]}


def events(*responses: dict[str, Any]) -> bytes:
    return b"".join(b"data: %b\r\n\r\n" % json.dumps(r).encode() for r in responses)


# --- stops ------------------------------------------------------------------------------------


@pytest.mark.behaviour("N1", "N4", "N5", "N7")
@pytest.mark.parametrize("native", STOPS)
def test_each_native_value_is_read_alike_from_bodies_streams_and_arrays(native: str) -> None:
    reason, detail = STOPS[native]
    beside = {"continuationToken": "dG9r"} if native == "continuation" else {}
    whole = response({"text": "Hi"}, stop=native.upper(), **beside)
    first = response({"text": "H"})
    last = response({"text": "i"}, stop=native.upper(), **beside)
    for source in (whole, json.dumps(whole), events(first, last), [first, last]):
        stop = detect(source)
        assert (stop.reason, stop.raw, stop.detail) == (reason, native.upper(), detail)
        assert stop.field == "candidates[0].finishReason"
        assert stop.confidence is Confidence.HIGH
        assert stop.anomalies == ()


@pytest.mark.behaviour("N1", "N4")
@pytest.mark.parametrize("native", BLOCKS)
def test_each_reason_for_blocking_a_prompt_is_read(native: str) -> None:
    for spelled in (native, native.upper()):
        blocked = {"promptFeedback": {"blockReason": spelled}}
        for source in (blocked, events(blocked), [blocked]):
            stop = detect(source)
            assert (stop.reason, stop.detail) == BLOCKS[native]
            assert stop.confidence is Confidence.HIGH


@pytest.mark.behaviour("N13")
def test_no_stop_of_the_installed_sdk_is_missing_from_the_tables() -> None:
    assert {reason.value.lower() for reason in types.FinishReason} <= set(STOPS)
    assert {reason.value.lower() for reason in types.BlockedReason} <= set(BLOCKS)
    assert {name.lower() for name in NUMBERS.values()} <= set(STOPS)


@pytest.mark.behaviour("N13")
def test_no_kind_of_part_of_the_installed_sdk_is_read_as_text_by_mistake() -> None:
    others = set(types.Part.model_fields) - {
        "text", "thought", "thought_signature", "function_call", "part_metadata",
    }  # fmt: skip
    for name in others:
        (signal,) = WIRE.parse_object(response({name: {"any": 1}}), event=True)
        assert signal == OtherSeen()


@pytest.mark.behaviour("P1a")
def test_every_outcome_has_a_face_in_a_stop_of_this_wire_or_an_error() -> None:
    assert set(SHOWN) == OF_TURNS
    natives = {shown.native.lower() for shown in SHOWN.values() if shown.native}
    assert natives <= set(STOPS)


@pytest.mark.behaviour("N5", "S5")
def test_a_stream_is_not_over_before_its_stop_came() -> None:
    detector = StreamDetector()
    for chunk in (response({"text": "Hel"}), response({"text": "lo"})):
        assert not detector.feed(chunk).terminal
    assert detector.feed(response({"text": "."}, stop="STOP")).terminal
    assert detector.finalize().reason.value == "end_turn"
    detector.reset()
    detector.feed(response({"text": "Hel"}))
    assert detector.finalize().reason.value == "dropped"


@pytest.mark.behaviour("N4", "N6")
def test_objects_of_the_sdk_say_what_their_bytes_say() -> None:
    for folder in sorted(FIXTURES.iterdir()):
        if folder.name.startswith(
            ("n6", "error", "q07", "array", "q32", "stop-", "n1-unknown", "q35")
        ):
            continue
        if not (body := folder / "body.json").exists():
            continue
        value = json.loads(body.read_bytes())
        if "toolCall" in str(value) or "NEW_FILTER" in str(value):
            continue  # words that the type does not know
        given_ = types.GenerateContentResponse.model_validate(value)
        stop, wanted = detect(given_), read(value).stop
        assert (stop.reason, stop.detail) == (wanted.reason, wanted.detail), folder.name


# --- parts ------------------------------------------------------------------------------------


@pytest.mark.behaviour("N3", "T12", "T13", "E13")
@pytest.mark.parametrize(
    ("part", "signals"),
    [
        ({"text": "Hi"}, [TextDelta("Hi")]),
        ({"text": "Hi", "thoughtSignature": "c2ln"}, [TextDelta("Hi")]),
        ({"text": "hm", "thought": True}, [ReasoningDelta("hm")]),
        ({"text": "hm", "thought": True, "thoughtSignature": "c2ln"}, [ReasoningDelta("hm")]),
        ({"text": "Hi", "thought": None, "inlineData": None}, [TextDelta("Hi")]),
        ({"thoughtSignature": "c2ln"}, [TextDelta("")]),
        ({"inlineData": {"data": "AA"}}, [OtherSeen()]),
        ({"executableCode": {"code": "1"}}, [OtherSeen()]),
        ({"inlineData": {"data": "AA"}, "thoughtSignature": "c2ln"}, [OtherSeen()]),
    ],
)
def test_each_part_gives_its_signals(part: dict[str, Any], signals: list[Any]) -> None:
    assert WIRE.parse_object(response(part), event=True) == signals


@pytest.mark.behaviour("T13", "C20")
def test_a_call_keeps_its_signature_and_its_further_keys() -> None:
    part = {"functionCall": {"name": "f", "args": {"a": 1}, "id": "i", "x": 1}}
    (seen,) = WIRE.parse_object(response(part | {"thoughtSignature": "c2ln"}), event=True)
    assert isinstance(seen, CallDelta)
    assert (seen.id, seen.name, seen.arguments, seen.decoded) == ("i", "f", '{"a":1}', True)
    assert seen.extra == {"part": {"thoughtSignature": "c2ln"}, "call": {"id": "i", "x": 1}}


@pytest.mark.behaviour("C19")
def test_thoughts_count_towards_the_output() -> None:
    counts = {
        "promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 3,
        "cachedContentTokenCount": 2, "totalTokenCount": 16,
    }  # fmt: skip
    (seen,) = WIRE.parse_object({"usageMetadata": counts}, event=True)
    assert isinstance(seen, UsageSeen)
    used = seen.usage
    assert (used.input_tokens, used.output_tokens) == (9, 7)
    assert (used.reasoning_tokens, used.cached_tokens) == (3, 2)


@pytest.mark.behaviour("C28")
def test_candidates_beyond_the_first_give_their_stops_only() -> None:
    two = {
        "candidates": [
            response({"text": "A"}, stop="STOP")["candidates"][0],
            response({"text": "B"}, stop="MAX_TOKENS")["candidates"][0] | {"index": 1},
        ]
    }
    found = read(two)
    assert (found.text, found.stop.reason.value) == ("A", "max_tokens")
    assert found.stop.field == "candidates[1].finishReason"


# --- whatever comes ---------------------------------------------------------------------------

_ODD: list[Any] = [None, 0, 7, -1.5, "x", "", [], {}, [None], True]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    made = copy.deepcopy(value)
    at = made
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = odd
    return made


@pytest.mark.behaviour("N6")
def test_no_node_replaced_by_anything_makes_the_reader_raise_or_sure() -> None:
    for folder in sorted(FIXTURES.iterdir()):
        if not (body := folder / "body.json").exists():
            continue
        value = json.loads(body.read_bytes())
        for path, odd in itertools.product(places(value), _ODD):
            made = replaced(value, path, odd)
            for event in (True, False):
                WIRE.parse_object(made, event=event)
            stop = detect(made)
            if "finishReason" in path:
                assert stop.reason not in CLEAN or stop.confidence is not Confidence.HIGH


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(
            ["candidates", "content", "parts", "text", "thought", "functionCall", "args", "name",
             "finishReason", "index", "promptFeedback", "blockReason", "usageMetadata", "error",
             "promptTokenCount", "continuationToken", "status", "code"]
        ), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.behaviour("N6")
@given(_json)
def test_no_object_however_odd_makes_the_reader_raise(value: Any) -> None:
    if isinstance(value, dict):
        WIRE.looks_like(value)
        WIRE.is_event(value)
        WIRE.usage_object(value)
    for event in (True, False):
        WIRE.parse_object(value, event=event)
    WIRE.parse_fault(400, {}, json.dumps(value).encode())


# --- the quick reading of an event that only carries text ---------------------------------------


def flowing(**beside: Any) -> dict[str, Any]:
    return response({"text": "Hi"}) | {"usageMetadata": USED} | beside


USED = {"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}

_odd_parts: st.SearchStrategy[Any] = st.one_of(
    st.lists(st.none() | st.integers(), max_size=1),
    st.lists(
        st.dictionaries(
            st.sampled_from(["text", "thought", "functionCall", "thoughtSignature", "x"]),
            st.sampled_from(["Hi", "", True, False, None, 1, {}]),
            max_size=3,
        ),
        min_size=1,
        max_size=2,
    ),
)
_odd_candidates: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"content": st.fixed_dictionaries({"parts": _odd_parts}) | st.none()},
    optional={
        "index": st.sampled_from([0, 1, None, "0", False]),
        "finishReason": st.sampled_from(["STOP", None, 2, "x"]),
        "finish_reason": st.sampled_from(["STOP", None]),
        "groundingMetadata": st.just({"webSearchQueries": ["x"]}),
    },
)
_odd_events: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"candidates": st.lists(_odd_candidates, max_size=2) | st.none()},
    optional={
        "usageMetadata": st.sampled_from([USED, {}, None, [], 5, "x"]),
        "usage_metadata": st.sampled_from([USED, None]),
        "error": st.sampled_from([None, {}, {"code": 500}, "x", False]),
        "promptFeedback": st.sampled_from([None, {"blockReason": "SAFETY"}, {}]),
        "prompt_feedback": st.sampled_from([None, {"block_reason": "SAFETY"}]),
    },
)


@pytest.mark.behaviour("N6", "S8")
@given(_odd_events)
def test_the_quick_reading_of_an_event_is_the_slow_one_but_for_the_usage(value: Any) -> None:
    reader = EventReader(WIRE)
    (event,) = SseDecoder().feed(events(value))
    quick = reader.read_plain(event)
    slow = WIRE.parse_object(value, event=True)
    if quick is None:
        assert reader.counted() == ([], None)
        return
    used = [signal for signal in slow if isinstance(signal, UsageSeen)]
    assert [quick, *used] == slow
    assert reader.counted() == (used, WIRE.usage_object(value))
    assert reader.counted() == ([], None)
    assert value["candidates"][0].keys() <= {"content", "index"}


@pytest.mark.parametrize(("part", "signal"), [
    ({"text": "Hi"}, TextDelta("Hi")), ({"text": "Hm", "thought": True}, ReasoningDelta("Hm")),
    ({"text": "Hi", "thoughtSignature": "c2ln"}, None), ({"functionCall": {"name": "f"}}, None),
])  # fmt: skip
@pytest.mark.behaviour("S8")
def test_texts_and_thoughts_are_read_quickly_and_nothing_else_is(part: Any, signal: Any) -> None:
    value = flowing() | response(part)
    assert plain_delta_in(WIRE, json.dumps(value).encode()) == signal


@pytest.mark.behaviour("C19", "S3", "S8")
@pytest.mark.parametrize("size", [7, 1_000_000])
def test_of_a_stream_that_breaks_off_the_usage_so_far_is_known(size: int) -> None:
    said = [flowing(usageMetadata=USED | {"candidatesTokenCount": n}) for n in range(1, 5)]
    cut = events(*said)[:-30]
    found = read([cut[at : at + size] for at in range(0, len(cut), size)], wire="gemini-generate")
    assert found.stop.reason is StopReason.DROPPED
    assert found.usage == Usage(5, 3 + 2, reasoning_tokens=2)
    whole = read(events(*said, response(stop="STOP")))
    assert whole.usage == Usage(5, 4 + 2, reasoning_tokens=2)


# --- errors and paths -------------------------------------------------------------------------


@pytest.mark.behaviour("P5", "C18")
def test_an_error_says_what_it_asks_to_wait_and_what_it_allows() -> None:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"}
    error = {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED"}
    body = json.dumps([{"error": error | {"details": [None, 1, retry]}}]).encode()
    fault = WIRE.parse_fault(429, {}, body)
    assert (fault.kind.value, fault.retry_after_s) == ("rate_limited", 3.5)
    assert WIRE.parse_fault(429, {"retry-after": "2"}, body).retry_after_s == 2.0
    assert WIRE.parse_fault(502, {}, b"<html>").kind.value == "server"


PATHS = {
    "/v1beta/models/gemini-2.5-flash:generateContent": True,
    "/v1beta/models/gemini-2.5-flash:streamGenerateContent": True,
    "/v1beta/tunedModels/mine:generateContent": True,
    "/v1/projects/p/locations/l/publishers/google/models/g:generateContent": True,
    "/v1/projects/p/locations/l/endpoints/12:streamGenerateContent": True,
    "/proxy/v1beta/models/g%3AgenerateContent": True,
    "/v1beta/models/g:countTokens": False,
    "/v1beta/models/g:batchGenerateContent": False,
    "/v1beta/models/g:embedContent": False,
    "/v1beta/openai/chat/completions": False,
    "/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict": False,
}


@pytest.mark.behaviour("N8", "P8")
@pytest.mark.parametrize("path", PATHS)
def test_the_path_of_a_request_tells_whether_it_speaks_this_wire(path: str) -> None:
    assert (wire_for_path(path) is wires()["gemini-generate"]) is PATHS[path]


@pytest.mark.behaviour("N8")
def test_only_this_wire_knows_its_own_shapes() -> None:
    for folder in sorted(FIXTURES.iterdir()):
        if (body := folder / "body.json").exists():
            value = json.loads(body.read_bytes())
            if isinstance(value, dict):
                knowing = [name for name, wire in wires().items() if wire.looks_like(value)]
                assert knowing == ["gemini-generate"], folder.name
