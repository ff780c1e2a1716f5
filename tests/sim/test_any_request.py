"""Whatever is asked, the simulator answers: it never fails in a way that it was not told to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto_sim import CASES, CASES_ON
from tenuto_sim.anthropic_messages.history import SHAPES
from tenuto_sim.exchange import Exchange

TEXT = st.text(max_size=5)
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99999) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
ROLE = st.sampled_from(["user", "assistant", "tool", "system", "robot"])
CALL = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["a", "b"]),
        "type": st.just("function"),
        "function": st.fixed_dictionaries({"name": TEXT, "arguments": st.just("{}") | JSON}),
    }
)
MESSAGE = st.fixed_dictionaries(
    {"role": ROLE | JSON},
    optional={
        "content": TEXT | JSON,
        "tool_calls": st.lists(CALL | JSON, max_size=2) | JSON,
        "tool_call_id": st.sampled_from(["a", "b"]) | JSON,
    },
)
SCHEMA = st.recursive(
    st.fixed_dictionaries(
        {}, optional={"type": TEXT | st.sampled_from(["integer", "array"]) | JSON, "$ref": TEXT}
    ),
    lambda inner: st.fixed_dictionaries(
        {"properties": st.dictionaries(TEXT, inner, max_size=2) | JSON},
        optional={"items": inner | JSON, "anyOf": st.lists(inner, max_size=2) | JSON},
    ),
    max_leaves=3,
)
TOOL = st.fixed_dictionaries(
    {"function": st.fixed_dictionaries({"name": TEXT | JSON}, optional={"parameters": SCHEMA})}
)
FORMAT = st.fixed_dictionaries(
    {"type": st.sampled_from(["json_schema", "json_object", "text"])},
    optional={"json_schema": st.fixed_dictionaries({"schema": SCHEMA}) | JSON},
)
BODY = st.fixed_dictionaries(
    {
        "model": st.sampled_from(sorted(CASES)).map(lambda name: f"sim/{name}") | JSON,
        "messages": st.lists(MESSAGE | JSON, max_size=4) | JSON,
    },
    optional={
        "stream": st.booleans() | JSON,
        "tools": st.lists(TOOL | JSON, max_size=2) | JSON,
        "max_tokens": st.integers(0, 50) | JSON,
        "response_format": FORMAT | JSON,
        "stream_options": JSON,
        "n": JSON,
        "tool_choice": JSON,
    },
)


BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(sorted(SHAPES)) | JSON},
    optional={
        "text": TEXT | JSON,
        "thinking": TEXT | JSON,
        "signature": TEXT | JSON,
        "id": st.sampled_from(["a", "b"]) | JSON,
        "tool_use_id": st.sampled_from(["a", "b"]) | JSON,
        "name": TEXT | JSON,
        "input": JSON,
        "content": TEXT | JSON,
    },
)
MESSAGES_BODY = st.fixed_dictionaries(
    {
        "model": st.sampled_from(sorted(CASES_ON["anthropic-messages"])).map("sim/{}".format)
        | st.just("claude-opus-4-5")
        | JSON,
        "messages": st.lists(
            st.fixed_dictionaries(
                {"role": ROLE | JSON}, optional={"content": st.lists(BLOCK | JSON) | TEXT | JSON}
            )
            | JSON,
            max_size=4,
        )
        | JSON,
        "max_tokens": st.integers(0, 2000) | JSON,
    },
    optional={
        "stream": st.booleans() | JSON,
        "system": TEXT | JSON,
        "tools": st.lists(
            st.fixed_dictionaries({"name": TEXT | JSON, "input_schema": SCHEMA}) | JSON, max_size=2
        )
        | JSON,
        "tool_choice": st.just({"type": "any"}) | JSON,
        "thinking": st.just({"type": "enabled", "budget_tokens": 1024})
        | st.just({"type": "adaptive"})
        | JSON,
        "stop_sequences": JSON,
        "output_config": st.fixed_dictionaries(
            {"format": st.fixed_dictionaries({"type": st.just("json_schema"), "schema": SCHEMA})}
        )
        | JSON,
    },
)
ANTHROPIC_HEADERS = {"x-api-key": "key", "anthropic-version": "2023-06-01"}


def answered(body: Any, strict: bool, path: str = "/v1/chat/completions") -> int:
    raw = json.dumps(body).encode()
    made = Exchange(strict=strict).answer("POST", path, ANTHROPIC_HEADERS, raw)
    if made.events is None:
        json.loads(made.body)
    return made.status


@given(body=BODY, strict=st.booleans())
def test_any_body_is_answered(body, strict):
    assert 200 <= answered(body, strict) < 600


@given(body=MESSAGES_BODY, strict=st.booleans())
def test_any_body_of_anthropic_messages_is_answered(body, strict):
    assert 200 <= answered(body, strict, "/v1/messages") < 600


@given(
    name=st.sampled_from(sorted(CASES_ON["anthropic-messages"])),
    prompt=st.text(min_size=1, max_size=20).filter(str.strip),
    stream=st.booleans(),
    budget=st.integers(0, 60),
)
def test_any_case_of_anthropic_messages_is_answered(name, prompt, stream, budget):
    body = {
        "model": f"sim/{name}",
        "messages": [{"role": "user", "content": prompt}],
        "stream": stream,
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        "max_tokens": budget,
    }
    assert answered(body, True, "/v1/messages") in (200, 400, 429, 500, 529)


@given(
    name=st.sampled_from(sorted(CASES)),
    prompt=st.text(max_size=20),
    stream=st.booleans(),
    tools=st.lists(TOOL, min_size=1, max_size=2),
    budget=st.integers(1, 60),
)
def test_any_case_is_answered_whatever_the_prompt_and_the_tools(
    name, prompt, stream, tools, budget
):
    body = {
        "model": f"sim/{name}",
        "messages": [{"role": "user", "content": prompt}],
        "stream": stream,
        "tools": tools,
        "max_tokens": budget,
    }
    assert answered(body, strict=True) in (200, 400, 429, 500, 503)


@given(raw=st.binary(max_size=30), path=TEXT, method=st.sampled_from(["GET", "POST", "PUT"]))
def test_any_bytes_are_answered(raw, path, method):
    assert Exchange().answer(method, "/" + path, {}, raw).status in (200, 404, 422)
    assert Exchange().answer("POST", "/v1/chat/completions", {}, raw).status == 400
    assert Exchange().answer("POST", "/v1/messages", {}, raw).status == 400


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", b"[" * 5_000 + b"]" * 5_000),
        ("/v1/responses", b'{"model":"m","prompt":5}'),
        ("/api/chat", b'{"model":"m","messages":[null]}'),
        ("/model/m/invoke", b'{"messages":[{"role":["a"],"content":[]}]}'),
        ("/v2/chat", b'{"model":"m","messages":[],"stream_options":5}'),
    ],
)
def test_a_member_of_a_wrong_type_is_refused(path: str, body: bytes, strict: bool):
    status = Exchange(strict=strict).answer("POST", path, {}, body).status
    assert 200 <= status < 500
