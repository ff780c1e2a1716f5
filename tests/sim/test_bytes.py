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
from openai.types import Completion
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel
from support.asking.openai_completions import CASES as OF_PROMPTS

from tenuto_sim import CASES, Case, Simulator

# What other services add, and the simulator with them.
ADDED = {"reasoning_content", "x_groq", "native_finish_reason"}
# The SDK's literals are what these break on purpose.
FOREIGN = {
    "length_foreign_spelling", "malformed_stop", "unknown_stop", "unknown_stop_control",
    "finish_null_string", "finish_empty_string", "finish_upper", "abort", "error_openrouter",
    "call_object_arguments", "call_null_arguments", "call_no_type", "call_no_id", "call_no_index",
    "error_chunk_mid_text", "error_chunk_then_done", "error_object", "body_error_only", "body_cut",
    "body_empty", "body_short", "done_no_finish", "moderation_frame", "empty_choices_frames",
}  # fmt: skip


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
        function = {"name": "write_file", "arguments": "{}"}
        call = {"id": "call_1", "type": "function", "function": function}
        history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        history.append({"role": "tool", "tool_call_id": "call_1", "content": "ok"})
    given = {"model": f"sim/{case.name}", "messages": history, "stream": stream}
    if case.wants_tools:
        given["tools"] = [{"type": "function", "function": {"name": "write_file"}}]
    return given | dict(case.request) | more


def documents(text: str) -> list[dict[str, Any]]:
    """Return the JSON documents of a body or of a stream."""
    if text.startswith("{"):
        return [json.loads(text)]
    lines = [line.removeprefix("data:").strip() for line in text.splitlines()]
    return [json.loads(line) for line in lines if line.startswith("{")]


def ask(sim: Simulator, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(sim.base_url + "/chat/completions", json=body)


@pytest.mark.parametrize(
    "case",
    [c for c in OF_PROMPTS.values() if c.name not in FOREIGN and c.bare != "raises"],
    ids=lambda case: case.name,
)
def test_what_a_case_sends_to_a_prompt_is_valid_to_the_sdks_type(coarse, case):
    for mode in case.modes:
        prompt = f"bytes of {case.name} {mode}\n"
        given = {"model": f"sim/{case.name}", "prompt": prompt, "stream": mode == "stream"}
        response = httpx.post(f"{coarse.base_url}/completions", json=given | dict(case.request))
        for document in documents(response.text.lstrip("\ufeff")):
            for choice in document["choices"]:
                # While a text is written it is null, which the type leaves out.
                choice["finish_reason"] = choice["finish_reason"] or "stop"
            assert unknown_keys(Completion.model_validate(document)) - ADDED == set()


ORDERLY = [case for case in CASES.values() if case.name not in FOREIGN and case.bare != "raises"]


@pytest.mark.parametrize("case", ORDERLY, ids=lambda case: case.name)
def test_what_a_case_sends_is_valid_to_the_sdks_types(coarse, case):
    for mode in case.modes:
        response = ask(coarse, request_for(case, mode == "stream"))
        for document in documents(response.text.lstrip("\ufeff")):
            type_ = ChatCompletion if mode == "body" else ChatCompletionChunk
            # The SDK itself constructs without validating; here its types are held to their word.
            assert unknown_keys(type_.model_validate(document, strict=True)) <= ADDED


def test_a_stream_has_the_frames_of_the_provider(sim):
    response = ask(sim, request_for(CASES["normal"], stream=True))
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["openai-version"] == "2020-10-01"
    assert response.headers["x-request-id"].startswith("req_")
    events = response.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    first, second, *_, last = documents(response.text)
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": "", "refusal": None}
    assert list(second["choices"][0]["delta"]) == ["content"]
    assert len(second["choices"][0]["delta"]["content"]) == 4
    assert (last["choices"][0]["delta"], last["choices"][0]["finish_reason"]) == ({}, "stop")
    assert len({document["id"] for document in documents(response.text)}) == 1


def test_each_request_has_an_id_of_its_own(sim):
    got = [ask(sim, request_for(CASES["normal"], stream=False)) for _ in range(2)]
    assert len({response.headers["x-request-id"] for response in got}) == 2
    assert len({response.json()["id"] for response in got}) == 2


def paths(value: Any, path: str = "") -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the key set of each object in a JSON value, with its place."""
    if isinstance(value, dict):
        yield path, frozenset(value)
        for key, item in value.items():
            yield from paths(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from paths(item, path + "[]")


@pytest.fixture(scope="module")
def recorded() -> dict[bool, dict[str, set[frozenset[str]]]]:
    """Key sets by place, of bodies and of streams, that OpenAI-style services really sent."""
    for folder in Path(__file__).resolve().parents:
        corpus = folder / "shared" / "corpus" / "recorded.jsonl.gz"
        if corpus.exists():
            break
    else:
        pytest.skip("the recorded responses (shared/corpus/recorded.jsonl.gz) are not here")
    known: dict[bool, dict[str, set[frozenset[str]]]] = {
        True: defaultdict(set),
        False: defaultdict(set),
    }
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if record["wire"] != "openai-chat" or record["status"] != 200:
                continue
            try:
                found = documents(record["response_body"].lstrip())
            except ValueError:
                continue
            for document in found:
                for place, keys in paths(document):
                    known[record["streaming"]][place].add(keys)
    return known


@pytest.mark.parametrize("name", ["normal", "tool", "tools", "tool_with_text", "length_once"])
@pytest.mark.parametrize("stream", [False, True])
def test_every_object_has_the_keys_of_a_recorded_one(sim, recorded, name, stream):
    more = {"stream_options": {"include_usage": True}} if stream else {}
    response = ask(sim, request_for(CASES[name], stream, **more))
    for document in documents(response.text):
        for place, keys in paths(document):
            assert keys in recorded[stream][place], (place, sorted(keys))


def test_what_a_wire_reader_needs_to_mend_a_call_is_there(sim):
    """The SDK hides it; the bytes do not."""

    def call_of(name: str) -> Any:
        document = documents(ask(sim, request_for(CASES[name], stream=False)).text)[0]
        return document["choices"][0]["message"]["tool_calls"]

    assert call_of("call_null_arguments")[0]["function"]["arguments"] is None
    assert isinstance(call_of("call_object_arguments")[0]["function"]["arguments"], dict)
    twice = json.loads(call_of("call_double_encoded")[0]["function"]["arguments"])
    assert isinstance(json.loads(twice), dict)
    assert "type" not in call_of("call_no_type")[0]
    assert "id" not in call_of("call_no_id")[0]
    assert len({call["id"] for call in call_of("call_duplicate_ids")}) == 1


def raw_stream(sim: Simulator, name: str) -> bytes:
    return ask(sim, request_for(CASES[name], stream=True)).content


def test_frames_are_odd_in_the_way_their_name_says(sim):
    assert raw_stream(sim, "crlf").count(b"\r\n\r\n") > 100
    assert raw_stream(sim, "bom").startswith(b"\xef\xbb\xbfdata: ")
    commented = raw_stream(sim, "comments")
    assert commented.startswith(b": OPENROUTER PROCESSING\n\n")
    assert b": keep-alive\n\n" in commented
    assert b"data:{" in raw_stream(sim, "no_space_after_data")
    assert b"event: message\nid: 0\n" in raw_stream(sim, "event_lines")
    assert raw_stream(sim, "double_done").count(b"[DONE]") == 2
    assert raw_stream(sim, "finish_no_done").count(b"[DONE]") == 0
    assert b'"finish_reason":"stop"' not in raw_stream(sim, "done_no_finish")
    assert raw_stream(sim, "finish_repeated").count(b'"finish_reason":"stop"') == 2
    assert b'"choices":[]' in raw_stream(sim, "empty_choices_frames")
    assert b'"moderation":{' in raw_stream(sim, "moderation_frame")
    assert b"\xef\xbf\xbd" in raw_stream(sim, "length_in_multibyte")


def test_usage_tells_the_truth_also_when_the_window_is_full(sim):
    usage = ask(sim, request_for(CASES["length_context"], stream=False)).json()["usage"]
    assert usage["total_tokens"] == 8192
    hidden = ask(sim, request_for(CASES["hidden_reasoning_length"], stream=False)).json()["usage"]
    assert hidden["completion_tokens"] == hidden["completion_tokens_details"]["reasoning_tokens"]
    assert hidden["completion_tokens"] > 0
    assert "usage" not in ask(sim, request_for(CASES["length_no_usage"], stream=False)).json()
