"""watsonx.ai and Databricks on the paths of their own: turns are finished there, in the provider's form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from support.asking.native_paths import WrappedDatabricks, WrappedWatsonx
from support.asking.openai_chat import TOOLS
from support.asking.wrapping import QUICK, is_right
from tenuto_wires.watsonx import parse_request

import tenuto
from tenuto.core.deciding.actions import FreeToolChoice
from tenuto.providers.registry import route
from tenuto.wires.dialect import Dialect
from tenuto_sim import CASES, Simulator

POLICY = tenuto.Policy(**QUICK)
FAULTS = ("length_once", "drop_mid_text", "call_cut_length", "error_chunk_mid_text", "empty_once")


@pytest.fixture(scope="module", params=[WrappedWatsonx, WrappedDatabricks], ids=lambda k: k.dialect)
def asker(request: pytest.FixtureRequest) -> Iterator[Any]:
    with Simulator(dialect=request.param.dialect, token_chars=16) as sim:
        made = request.param(sim, POLICY)
        yield made
        made.close()


@pytest.mark.behaviour("P1a", "C7")
@pytest.mark.parametrize("name", FAULTS)
def test_a_turn_is_finished_on_the_providers_own_path(asker: Any, name: str) -> None:
    case = CASES[name]
    for mode in sorted(case.modes):
        got = asker.ask_case(case, mode, "async" if mode == "body" else "sync")
        assert got.error is None
        assert is_right(asker, got, case)
        assert asker.ending["status"] == "complete"
    first, again = asker.sim.requests[-2:]
    assert again.path == first.path
    sent = [json.loads(one.body) for one in (first, again)]
    own = {"model_id", "project_id"} if asker.dialect == "watsonx" else {"stream"}
    assert all(own == body.keys() & {"model", "model_id", "project_id", "stream"} for body in sent)


@pytest.mark.behaviour("C19")
def test_the_usage_ends_a_stream_of_watsonx_and_no_mark_does() -> None:
    with (
        Simulator(dialect="watsonx") as sim,
        tenuto.http_client(policy=POLICY) as client,
    ):
        asked = {"model_id": "sim/length_once", "messages": [{"role": "user", "content": "Go."}]}
        raw = client.post(sim.root_url + "/ml/v1/text/chat_stream?version=1", json=asked).text
        assert len(sim.requests) == 2
    *_, last = (json.loads(row[6:]) for row in raw.split("\n") if row.startswith("data: "))
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == sum(one.output_tokens for one in sim.requests)
    assert last["model_id"] == "sim/length_once"
    assert "[DONE]" not in raw


@pytest.mark.behaviour("P1a")
def test_what_stays_unfinished_is_an_error_in_the_form_of_watsonx() -> None:
    strict = tenuto.Policy(**QUICK, on_incomplete="error")
    with (
        Simulator(dialect="watsonx") as sim,
        tenuto.http_client(policy=strict) as client,
    ):
        asked = {"model_id": "sim/length_always", "messages": [{"role": "user", "content": "Go."}]}
        for way in ("chat", "chat_stream"):
            made = client.post(f"{sim.root_url}/ml/v1/text/{way}", json=asked)
            told = made.text.rpartition("event: error\ndata: ")[2] if "_" in way else made.text
            assert json.loads(told)["errors"][0]["type"] == "tenuto_incomplete"


@pytest.mark.behaviour("C16")
def test_a_choice_of_tools_is_freed_by_the_key_that_watsonx_has_for_it() -> None:
    row = {"role": "user", "content": "Go."}
    named = {"type": "function", "function": {"name": "write_file"}}
    wanted: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"tool_choice": named}, {"tool_choice_option": "auto"}),
        ({"tool_choice_option": "required"}, {"tool_choice_option": "auto"}),
        ({"tool_choice_option": "none"}, {"tool_choice_option": "none"}),
        ({}, {}),
    ]
    for given, left in wanted:
        body = json.dumps({"messages": [row], "tools": TOOLS} | given).encode()
        asked = parse_request(body, path="/ml/v1/text/chat")
        assert asked is not None
        out = json.loads(asked.apply([FreeToolChoice()], Dialect()))
        assert {key: item for key, item in out.items() if key.startswith("tool_choice")} == left


@pytest.mark.behaviour("C7")
def test_what_is_no_chat_passes_untouched_on_these_paths() -> None:
    asked = {"input": ["embed me"], "prompt": "or go on"}
    answer = {"data": [{"embedding": [0.1]}], "finish_reason": "length"}
    seen: list[bytes] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.content)
        return httpx2.Response(200, json=answer)

    with tenuto.http_client(policy=POLICY, transport=httpx2.MockTransport(respond)) as client:
        for path in ("/serving-endpoints/bge/invocations", "/ml/v1/text/chat"):
            assert client.post("https://x.example" + path, json=asked).json() == answer
    assert [json.loads(body) for body in seen] == [asked, asked]


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize(
    ("url", "wire", "provider"),
    [
        ("https://us-south.ml.cloud.ibm.com/ml/v1/text/chat?version=1", "watsonx", "watsonx"),
        ("https://cpd.example/ml/v1/deployments/d/text/chat_stream", "watsonx", "unknown"),
        ("https://eu-de.ml.cloud.ibm.com/ml/v1/text/generation", None, "unknown"),
        (
            "https://eu-de.ml.cloud.ibm.com/ml/gateway/v1/chat/completions",
            "openai-chat",
            "watsonx-chat",
        ),
        (
            "https://a.cloud.databricks.com/serving-endpoints/e/invocations",
            "openai-chat",
            "databricks",
        ),
        ("https://runtime.sagemaker.example/endpoints/e/invocations", None, "unknown"),
    ],
)
def test_a_path_says_what_is_spoken_there(url: str, wire: str | None, provider: str) -> None:
    found, row, _ = route(url)
    assert (found.name if found else None, row.dialect.name) == (wire, provider)
