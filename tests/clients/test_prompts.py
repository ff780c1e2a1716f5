"""Completions of a prompt through the wrapped openai-python: what leaves on the wire, what comes back,
and what is only watched."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, json_answer, sse_answer
from support.paths import wire_for_path

import tenuto
from tenuto.core import hints
from tenuto.core.deciding.actions import AppendAssistant, AppendUser, DropConstraint
from tenuto.wires.dialect import Dialect
from tenuto.wires.openai_completions.wire import WIRE

SHARED = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}


def told(text: str, stop: str | None, index: int = 0) -> dict[str, Any]:
    choice = {"text": text, "index": index, "logprobs": None, "finish_reason": stop}
    return {**SHARED, "choices": [choice]}


def body(text: str, stop: str) -> bytes:
    return json.dumps({**told(text, stop), "usage": USAGE}).encode()


def events(text: str, stop: str) -> bytes:
    parts = [told(text[:4], None), told(text[4:], None), told("", stop)]
    last = {**SHARED, "choices": [], "usage": USAGE}
    lines = [f"data: {json.dumps(part)}\n\n" for part in (*parts, last)]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def answer(mode: str, text: str, stop: str) -> bytes:
    return sse_answer(events(text, stop)) if mode == "stream" else json_answer(body(text, stop))


class Asked:
    """One question of a wrapped client, whichever kind; what its stream or body said."""

    def __init__(self, far: FarSide, mode: str, way: str, more: Any, **settings: Any) -> None:
        self.told: list[tenuto.Event] = []
        kind: Any = openai.AsyncOpenAI if way == "async" else openai.OpenAI
        bare = kind(base_url=far.base_url, api_key="key", max_retries=0)
        policy = tenuto.Policy(**(QUICK | settings))
        client = tenuto.wrap(bare, policy=policy, on_event=self.told.append)
        given = {"model": "m", "prompt": "The tide", **more, "stream": mode == "stream"}
        if mode == "stream":
            given["stream_options"] = {"include_usage": True}
        self.parts = asyncio.run(_parts(client, given)) if way == "async" else _read(client, given)
        self.text = "".join(c.text for part in self.parts for c in part.choices)
        stops = [c.finish_reason for part in self.parts for c in part.choices]
        self.stops = [stop for stop in stops if stop is not None]
        self.sent = [json.loads(raw) for _, raw in far.requests]

    def of(self, name: str) -> list[dict[str, Any]]:
        return [event.data for event in self.told if event.name == name]


def _read(client: Any, given: Any) -> list[Any]:
    made = client.completions.create(**given)
    return list(made) if given["stream"] else [made]


async def _parts(client: Any, given: Any) -> list[Any]:
    async with client:
        made = await client.completions.create(**given)
        return [part async for part in made] if given["stream"] else [made]


in_both = pytest.mark.parametrize("mode", ["body", "stream"])


@pytest.mark.behaviour("C1", "C7", "C8", "C19", "S2")
@pytest.mark.parametrize("listed", [False, True], ids=["text", "in-a-list"])
@in_both
def test_a_cut_text_goes_on_at_the_end_of_its_prompt(mode, way, listed):
    prompt = ["The tide"] if listed else "The tide"
    parts = answer(mode, " turns at", "length"), answer(mode, " six.", "stop")
    with FarSide(*parts) as far:
        more = {"prompt": prompt, "max_tokens": 50, "seed": 7, "extra_body": {"top_k": 1.0}}
        got = Asked(far, mode, way, more)
    assert (got.text, got.stops) == (" turns at six.", ["stop"])
    usage = got.parts[-1].usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (3, 10, 13)
    assert {part.id for part in got.parts} == {"cmpl-1"}
    first, second = got.sent
    assert second["max_tokens"] > first["max_tokens"]
    said = "The tide turns at"
    assert second == first | {
        "prompt": [said] if listed else said,
        "max_tokens": second["max_tokens"],
    }


@pytest.mark.behaviour("C19", "C28")
@in_both
def test_a_prompt_grows_whatever_the_policy_says_of_prefills(mode, way):
    with FarSide(answer(mode, " turns at", "length"), answer(mode, " six.", "stop")) as far:
        got = Asked(far, mode, way, {}, prefill="never")
    assert (got.text, got.sent[1]["prompt"]) == (" turns at six.", "The tide turns at")


@pytest.mark.behaviour("E5")
@in_both
def test_an_empty_answer_is_told_and_nothing_is_asked_at_the_end_of_a_prompt(mode, way):
    with FarSide(answer(mode, "", "stop")) as far:
        with pytest.raises(openai.APIError, match="empty output"):
            Asked(far, mode, way, {})
        assert len(far.requests) == 1


SEVERAL = {"prompt": ["The tide", "A ship"]}


@pytest.mark.behaviour("C28", "P8")
@pytest.mark.parametrize("on_incomplete", ["stop", "notice", "error"])
@pytest.mark.parametrize(
    ("why", "more"),
    [
        ("several_prompts", SEVERAL),
        ("several_prompts", {"prompt": [[1, 2], [3]]}),
        ("tokens", {"prompt": [1, 2, 3]}),
        ("tokens", {"prompt": [[1, 2, 3]]}),
        ("several_choices", {"n": 2}),
        ("several_choices", {"best_of": 2}),
        ("logprobs", {"logprobs": 0}),
        ("logprobs", {"extra_body": {"prompt_logprobs": 1}}),
        ("echo", {"echo": True}),
        ("fill_in", {"suffix": " falls."}),
        ("probe", {"max_tokens": 16}),
    ],
)
@in_both
def test_what_cannot_be_continued_is_only_watched_and_an_event_says_why(
    mode, why, more, on_incomplete
):
    with FarSide(answer(mode, " turns at", "length")) as far:
        got = Asked(far, mode, "sync", more, on_incomplete=on_incomplete)
    assert (got.text, got.stops) == (" turns at", ["length"])
    assert len(got.sent) == 1
    assert got.of("left_alone") == [{"why": why, "outcome": "text_cut"}]
    assert [seen["reason"] for seen in got.of("stop_reason_observed")] == ["max_tokens"]


@pytest.mark.behaviour("C28", "N3")
@in_both
def test_of_several_prompts_each_keeps_its_own_text_and_stop(mode):
    parts = [told(" turns", None), told(" sails", "stop", 1), told(" at", "length")]
    whole = {
        **SHARED,
        "choices": [parts[1]["choices"][0], told(" turns at", "length")["choices"][0]],
    }
    lines = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
    given = (
        sse_answer(lines.encode()) if mode == "stream" else json_answer(json.dumps(whole).encode())
    )
    with FarSide(given) as far:
        got = Asked(far, mode, "sync", SEVERAL)
    texts = {0: "", 1: ""}
    for part in got.parts:
        for choice in part.choices:
            texts[choice.index] += choice.text
    assert texts == {0: " turns at", 1: " sails"}
    assert sorted(got.stops) == ["length", "stop"]
    (seen,) = got.of("stop_reason_observed")
    assert seen["reason"] == "max_tokens"
    assert "stops_differ" in seen["anomalies"]


@pytest.mark.behaviour("C21", "P1a")
@in_both
def test_a_text_that_stays_cut_says_so_in_the_way_that_was_asked_for(mode):
    with FarSide(answer(mode, " turns at", "length")) as far:
        got = Asked(far, mode, "sync", {}, on_incomplete="notice", continuation_max_attempts=0)
        assert got.text.startswith(" turns at\n\n[This answer is incomplete")
        assert got.stops == ["length"]
        with pytest.raises(openai.APIError):
            Asked(far, mode, "sync", {}, on_incomplete="error", continuation_max_attempts=0)


def parsed(raw: bytes) -> Any:
    return WIRE.request(raw, 16, "/v1/completions", Dialect())


@pytest.mark.behaviour("C7")
def test_whatever_no_edit_names_keeps_its_bytes():
    raw = b'{"prompt": "The \\u0074ide","temperature":1.0, "x":1e400,"response_format":{"type":"json_object"}}'
    request = parsed(raw)
    assert request.facts.structured
    assert request.apply((), Dialect()) == raw
    made = request.apply((AppendAssistant(" is"), AppendUser(hints.CONTINUE)), Dialect())
    assert json.loads(made)["prompt"] == "The tide is"
    assert b'"temperature":1.0' in made
    assert b'"x":1e400' in made
    made = request.apply((DropConstraint(),), Dialect())
    assert json.loads(made).keys() == {"prompt", "temperature", "x"}


@pytest.mark.behaviour("C7")
@pytest.mark.parametrize(
    "raw", [b"", b"no", b"[]", b"{}", b'{"prompt":null}', b'{"prompt":"\xff"}']
)
def test_what_is_no_request_passes_untouched(raw):
    assert parsed(raw) is None


def test_the_paths_of_this_api_are_its_own():
    for path in (
        "/v1/completions",
        "/openai/deployments/d/completions",
        "/inference/v1/completions/",
    ):
        assert wire_for_path(path) is WIRE
    for path in ("/v1/chat/completions", "/v1/fim/completions", "/v1/agents/completions"):
        assert wire_for_path(path) is not WIRE
