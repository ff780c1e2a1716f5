"""Turns on DashScope's own API, through a client that recovers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from support.asking.wrapping import QUICK

import tenuto
from examples.wires.tests.asking.dashscope import CASES, DashScopeAsker, WrappedDashScope
from tenuto.providers.table import ROWS
from tenuto.turn.drivers.commands import Request, encoded
from tenuto.turn.pipeline.engine import Engine
from tenuto_sim import Simulator

PATH = "/api/v1/services/aigc/text-generation/generation"
ID = re.compile(rb'"request_id": ?"[0-9a-f-]+"')
TIDES = "Tell me of tides."
STREAMS = {"x-dashscope-sse": "enable"}
FORMS: list[dict[str, Any]] = [
    {"form": form, "service": service, "increments": increments}
    for form, service in (("message", "text"), ("text", "text"), ("message", "multimodal"))
    for increments in (True, False)
]


@pytest.fixture(scope="module")
def far() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as sim:
        yield sim


@pytest.fixture
def asker(far: Simulator, request: pytest.FixtureRequest) -> Iterator[WrappedDashScope]:
    made = WrappedDashScope(far, tenuto.Policy(**QUICK), **getattr(request, "param", {}))
    yield made
    made.close()


@pytest.mark.behaviour("C1", "S1", "S3", "T5")
@pytest.mark.parametrize("asker", FORMS, indirect=True, ids=str)
@pytest.mark.parametrize("name", ["length_twice", "drop_mid_text", "call_cut_length"])
def test_a_turn_is_finished_in_the_form_that_was_asked_for(
    asker: WrappedDashScope, name: str
) -> None:
    case = CASES[name]
    for mode in sorted(case.modes):
        got = asker.ask_case(case, mode)
        assert (got.text, got.raw_arguments) == asker.wanted(got, case)
        assert got.finish == ("tool_calls" if got.calls else "stop")
        in_parts = asker.service == "multimodal"
        assert isinstance(got.message["content"], list) == in_parts
        if mode == "stream":
            assert len({told["request_id"] for told in asker.told}) == 1


@pytest.mark.behaviour("P8", "C25")
@pytest.mark.parametrize("asker", FORMS, indirect=True, ids=str)
def test_a_normal_turn_is_the_same_bytes_in_both_directions(asker: WrappedDashScope) -> None:
    given = {"model": "sim", "messages": [{"role": "user", "content": "Hello."}]}
    for stream in (False, True):
        request = asker._request({**given, "stream": stream, "seed": 1.0})
        with httpx.Client() as bare:
            plain = bare.post(**request)
        ours = asker.client.post(**request)
        sent = [recorded.body for recorded in asker.sim.requests[-2:]]
        assert sent[0] == sent[1]
        assert ID.sub(b"", ours.content) == ID.sub(b"", plain.content)


@pytest.mark.behaviour("C7", "C8")
def test_what_nobody_edits_keeps_its_bytes_in_a_continuation(asker: WrappedDashScope) -> None:
    body = (
        b'{"model":"sim/length_once","input":{"x": 1e400,"messages":[ {"content": "caf\\u00e9",'
        b' "role":"user"}]}, "parameters":{"result_format":"message","seed": 1.0}, "more": [ 1 ]}'
    )
    loose = tenuto.http_client("httpx", policy=tenuto.Policy(**QUICK))
    with Simulator(strict=False) as sim, loose as client:
        assert client.post(f"{sim.root_url}{PATH}", content=body).json()["output"]
        first, second = (recorded.body for recorded in sim.requests)
    assert first == body
    for kept in (b'"x":1e400', b'{"content": "caf\\u00e9", "role":"user"}', b'"more":[ 1 ]'):
        assert kept in second
    assert b'"seed":1.0' in second


@pytest.mark.behaviour("C1", "C7")
def test_a_prompt_is_gone_on_with_as_messages(asker: WrappedDashScope) -> None:
    turns = [{"user": "Hi", "bot": "Hello."}]
    body = {"model": "sim/length_once", "input": {"prompt": TIDES, "history": turns}}
    told = asker.client.post(f"{asker.sim.root_url}{PATH}", json=body).json()
    assert told["output"]["finish_reason"] == "stop"
    asked = json.loads(asker.sim.requests[-1].body)["input"]
    assert asked.keys() == {"messages"}
    assert [row["content"] for row in asked["messages"][:3]] == ["Hi", "Hello.", TIDES]


@pytest.mark.behaviour("C7", "C8")
def test_a_model_that_takes_a_beginning_is_given_one(asker: WrappedDashScope) -> None:
    before = ROWS.all()
    host = asker.sim.root_url.removeprefix("http://")
    tenuto.register_provider(
        tenuto.Provider("dashscope-here", wire="dashscope", like="dashscope", hosts=[host])
    )
    try:
        given = {"model": "qwen-plus/length_once", "messages": [{"role": "user", "content": "So?"}]}
        request = asker._request({**given, "stream": False})
        request["headers"]["x-sim-fault"] = "length_once"
        told = asker.client.post(**request).json()
    finally:
        ROWS._all = before
        ROWS.changes += 1
    said = told["output"]["choices"][0]
    assert (said["finish_reason"], said["message"]["content"]) == ("stop", asker.sim.answer("So?"))
    sent = json.loads(asker.sim.requests[-1].body)
    assert sent["input"]["messages"][-1]["partial"] is True
    assert sent["parameters"]["enable_thinking"] is False


@pytest.mark.behaviour("C7")
def test_a_beginning_of_the_callers_own_is_gone_on_with(asker: WrappedDashScope) -> None:
    bare = DashScopeAsker(asker.sim)
    whole = bare.ask([{"role": "user", "content": "Once?"}]).text
    bare.close()
    begun = {"role": "assistant", "content": whole[:40], "partial": True}
    policy = tenuto.Policy(**QUICK, prefill="always")
    rows = [{"role": "user", "content": "Once?"}, begun]
    with tenuto.http_client("httpx", policy=policy) as client:
        request = asker._request({"model": "sim/length_once", "messages": rows, "stream": False})
        told = client.post(**request).json()
    said = told["output"]["choices"][0]["message"]["content"]
    assert whole[:40] + said == whole
    last = json.loads(asker.sim.requests[-1].body)["input"]["messages"]
    assert [row["role"] for row in last] == ["user", "assistant"]


@pytest.mark.behaviour("P8")
@pytest.mark.parametrize(
    ("headers", "streams"),
    [
        (STREAMS, True),
        ({"accept": "text/event-stream"}, True),
        ({"accept": "text/event-stream", "x-dashscope-sse": "disable"}, False),
        ({}, False),
    ],
)
def test_a_header_says_whether_a_stream_is_wanted(headers: dict[str, str], streams: bool) -> None:
    body = b'{"model": "m", "input": {"prompt": "Hi"}}'
    url = f"https://dashscope.aliyuncs.com{PATH}"
    asked = Engine(tenuto.Policy()).read(Request("POST", url, encoded(headers.items()), body))
    assert asked is not None
    assert asked.parsed.facts.stream is streams
    assert asked.provider.dialect.name == "dashscope"
