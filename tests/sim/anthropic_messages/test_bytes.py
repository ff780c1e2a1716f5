"""The bytes are the provider's: its SDK's types accept them, and recorded answers have their keys."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from pydantic import BaseModel, TypeAdapter
from support.asking.anthropic_messages import CASES, MAX_TOKENS, TOOLS

from tenuto_sim import Case, Simulator

HEADERS = {"x-api-key": "key", "anthropic-version": "2023-06-01"}
EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
# The SDK's literals and types are what these break on purpose.
FOREIGN = {
    "length_foreign_spelling", "length_no_usage", "unknown_stop", "unknown_stop_control",
    "finish_null_string", "finish_empty_string", "finish_upper", "abort", "compaction",
    "call_null_arguments", "call_array_arguments", "call_double_encoded", "call_no_id",
    "call_no_index", "body_error_only", "body_cut", "body_empty", "body_short", "unknown_event",
    "event_not_json", "usage_missing",
}  # fmt: skip
BROKEN = {"cut_off_mid_text", "reset_mid_text"}  # their transfer never ends in order
NOT_IN_TYPES = {"ping", "error"}


@pytest.fixture
def sim() -> Iterator[Simulator]:
    """A simulator for one test: the requests here are alike, and each is to be a first one."""
    with Simulator() as running:
        yield running


def unknown_keys(value: Any) -> set[str]:
    """Return the keys that the SDK's models do not know, at every depth."""
    if isinstance(value, list):
        return {key for item in value for key in unknown_keys(item)}
    if not isinstance(value, BaseModel):
        return set()
    inner = {key for name in type(value).model_fields for key in unknown_keys(getattr(value, name))}
    return set(value.model_extra or ()) | inner


def request_for(case: Case, stream: bool, **more: Any) -> dict[str, Any]:
    history: list[Any] = [{"role": "user", "content": f"bytes of {case.name} {stream}"}]
    if case.after_tool_result:
        call = {"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": {}}
        history.append({"role": "assistant", "content": [call]})
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
        history.append({"role": "user", "content": [result]})
    given = {"model": f"sim/{case.name}", "messages": history, "max_tokens": MAX_TOKENS}
    given |= {"stream": stream} | ({"tools": TOOLS} if case.wants_tools else {})
    return given | dict(case.request) | more


def ask(sim: Simulator, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(sim.base_url + "/messages", json=body, headers=HEADERS)


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return name and document of each event; a document may stand on several lines."""
    out = []
    for event in text.lstrip("\ufeff").replace("\r\n", "\n").split("\n\n"):
        lines = [line.partition(":") for line in event.splitlines()]
        data = "\n".join(rest.removeprefix(" ") for name, _, rest in lines if name == "data")
        names = [rest.strip() for name, _, rest in lines if name == "event"]
        if data:
            out.append((names[0], json.loads(data)))
    return out


ORDERLY = [
    case for case in CASES.values() if case.name not in FOREIGN | BROKEN and case.bare != "raises"
]


@pytest.mark.parametrize("case", ORDERLY, ids=lambda case: case.name)
def test_what_a_case_sends_is_valid_to_the_sdks_types(coarse, case):
    for mode in case.modes:
        response = ask(coarse, request_for(case, mode == "stream"))
        assert response.status_code == 200
        if mode == "body":
            made = Message.model_validate_json(response.text, strict=True)
            assert unknown_keys(made) == set()
            continue
        for name, document in events(response.text):
            assert name == document["type"]
            if name not in NOT_IN_TYPES:
                # The SDK itself constructs without validating; its types are held to their word.
                made = EVENT.validate_json(json.dumps(document), strict=True)
                assert unknown_keys(made) == set()


@pytest.mark.parametrize("name", ["http_529_once", "http_429_once", "http_500_once"])
def test_an_error_has_the_keys_of_the_provider_and_the_id_of_its_request(sim, name):
    response = ask(sim, request_for(CASES[name], stream=True))
    document = response.json()
    assert (set(document), set(document["error"])) == (
        {"type", "error", "request_id"},
        {"type", "message"},
    )
    assert document["request_id"] == response.headers["request-id"]
    assert (response.headers.get("retry-after") == "1") == (name == "http_429_once")


def test_a_stream_has_the_frames_of_the_provider(sim):
    response = ask(sim, request_for(CASES["tool_with_text"], stream=True))
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["request-id"].startswith("req_")
    seen = events(response.text)
    names = [name for name, _ in seen]
    assert names[:3] == ["message_start", "content_block_start", "ping"]
    assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert names.count("content_block_start") == names.count("content_block_stop") == 2
    start, end = seen[0][1]["message"], seen[-2][1]
    assert (start["content"], start["stop_reason"]) == ([], None)
    assert end["delta"] == {"stop_reason": "tool_use", "stop_sequence": None, "stop_details": None}
    assert end["usage"]["output_tokens"] > start["usage"]["output_tokens"] == 1
    pieces = [
        document["delta"]["partial_json"]
        for _, document in seen
        if document.get("delta", {}).get("type") == "input_json_delta"
    ]
    assert pieces[0] == ""
    assert isinstance(json.loads("".join(pieces)), dict)


@pytest.mark.parametrize(
    ("name", "stop"),
    [
        ("normal", "end_turn"), ("length_once", "max_tokens"), ("tool", "tool_use"),
        ("stop_sequence", "stop_sequence"), ("pause_turn", "pause_turn"),
        ("refusal", "refusal"), ("content_filter", "refusal"), ("compaction", "compaction"),
        ("length_context", "model_context_window_exceeded"), ("done_no_finish", None),
        ("unknown_stop", "weird_new_reason"), ("call_cut_tool_calls", "tool_use"),
        ("call_stop", "end_turn"), ("call_missing", "tool_use"), ("finish_upper", "END_TURN"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_is_in_the_words_of_this_wire(sim, name, stop, stream):
    response = ask(sim, request_for(CASES[name], stream))
    ends = [document["delta"] for n, document in events(response.text) if n == "message_delta"]
    end = ends[-1] if stream else response.json()
    assert end["stop_reason"] == stop
    assert end["stop_sequence"] == ("###" if stop == "stop_sequence" else None)
    if stop == "refusal":
        assert set(end["stop_details"]) == {"type", "category", "explanation"}
    else:
        assert end["stop_details"] is None


def test_thoughts_that_the_limit_cut_have_no_signature(sim):
    seen = events(ask(sim, request_for(CASES["reasoning_only_length"], stream=True)).text)
    kinds = [document["delta"]["type"] for n, document in seen if n == "content_block_delta"]
    assert set(kinds) == {"thinking_delta"}
    seen = events(ask(sim, request_for(CASES["think_then_length"], stream=True)).text)
    kinds = [document["delta"]["type"] for n, document in seen if n == "content_block_delta"]
    assert kinds.count("signature_delta") == 1
    assert set(kinds[kinds.index("signature_delta") + 1 :]) == {"text_delta"}


def raw_stream(sim: Simulator, name: str) -> bytes:
    return ask(sim, request_for(CASES[name], stream=True)).content


def test_streams_are_odd_in_the_way_their_name_says(sim):
    assert raw_stream(sim, "crlf").count(b"\r\n\r\n") > 100
    assert raw_stream(sim, "bom").startswith(b"\xef\xbb\xbfevent: message_start")
    assert b"event:ping\ndata:{" in raw_stream(sim, "no_space_after_data")
    assert b"event: message_start\nid: 0\nretry: 1000\n" in raw_stream(sim, "event_lines")
    assert raw_stream(sim, "data_lines").startswith(
        b'event: message_start\ndata: {"type":"message_start",\ndata: "message":'
    )
    assert raw_stream(sim, "double_done").count(b"event: message_stop") == 2
    assert raw_stream(sim, "finish_no_done").count(b"event: message_stop") == 0
    assert raw_stream(sim, "finish_repeated").count(b'"stop_reason":"end_turn"') == 2
    assert raw_stream(sim, "finish_conflict").count(b'"stop_reason":"max_tokens"') == 1
    assert raw_stream(sim, "pings").count(b"event: ping") > 300
    assert b"event: sim_garbage\n" in raw_stream(sim, "unknown_event")
    late = raw_stream(sim, "content_after_finish")
    assert late.rindex(b"text_delta") > late.index(b"message_delta")
    broken = raw_stream(sim, "error_chunk_mid_text")
    assert broken.endswith(b'"error":{"type":"overloaded_error","message":"Overloaded"}}\n\n')
    assert b"content_block_stop" not in broken
    assert raw_stream(sim, "call_no_index").count(b'"index"') == 0
    assert b'"index":1' not in raw_stream(sim, "call_wrong_index")


def paths(value: Any, key: str = "") -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the key set of each object in a JSON value, by its key and its type."""
    if isinstance(value, dict):
        kind = value.get("type") if key != "error" else None
        yield f"{key}<{kind}>" if isinstance(kind, str) else key, frozenset(value)
        for name, item in value.items():
            if name not in ("input", "from", "to"):  # of the tool, not of the wire
                yield from paths(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from paths(item, key)


@pytest.fixture(scope="module")
def recorded() -> dict[str, set[frozenset[str]]]:
    """Key sets by place that services on this wire really sent."""
    for folder in Path(__file__).resolve().parents:
        corpus = folder / "shared" / "corpus" / "recorded.jsonl.gz"
        if corpus.exists():
            break
    else:
        pytest.skip("the recorded responses (shared/corpus/recorded.jsonl.gz) are not here")
    known: dict[str, set[frozenset[str]]] = defaultdict(set)
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if record["wire"] != "anthropic-messages":
                continue
            text = record["response_body"].lstrip()
            try:
                found = [json.loads(text)] if text[:1] == "{" else [d for _, d in events(text)]
            except (ValueError, IndexError):
                continue
            for document in found:
                for place, keys in paths(document):
                    known[place].add(keys)
    return known


SPOKEN = [
    "normal", "tool", "tools", "tool_with_text", "length_once", "think_signed", "think_then_call",
    "think_then_length", "reasoning_only_length", "search_cited", "pause_turn", "refusal",
    "length_context", "empty_once", "error_chunk_mid_text", "context_length_400", "stop_sequence",
]  # fmt: skip


@pytest.mark.parametrize("name", SPOKEN)
@pytest.mark.parametrize("stream", [False, True])
def test_every_object_has_the_keys_of_a_recorded_one(sim, recorded, name, stream):
    if not stream and CASES[name].modes == {"stream"}:
        return
    response = ask(sim, request_for(CASES[name], stream))
    is_stream = response.headers["content-type"].startswith("text/event-stream")
    found = [d for _, d in events(response.text)] if is_stream else [response.json()]
    for document in found:
        for place, keys in paths(document):
            assert any(keys <= known for known in recorded[place]), (place, sorted(keys))
