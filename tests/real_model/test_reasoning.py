"""A request that goes on from reasoning, as llama.cpp itself takes it. The small model has none, so
that only what the server makes of the request is seen here."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tenuto.cli.model_server import ModelServer
from tenuto.core.deciding.actions import AppendReasoning
from tenuto.providers.table import by_server
from tenuto.wires.chat_like.request import parse_request

pytestmark = [pytest.mark.real_model, pytest.mark.slow, pytest.mark.timeout(300)]

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Say hi."}], "max_tokens": 8}


@pytest.mark.behaviour("E4")
@pytest.mark.parametrize("fixture", ["with_prefill", "without_prefill"])
def test_the_server_goes_on_from_reasoning_however_it_was_started(
    fixture: str, request: pytest.FixtureRequest
) -> None:
    server: ModelServer = request.getfixturevalue(fixture)
    parsed = parse_request(json.dumps(ASKED).encode())
    assert parsed is not None
    edits = [AppendReasoning("A greeting is wanted.")]
    got = post(server, parsed.apply(edits, by_server("llama.cpp").dialect))
    assert got.status_code == 200
    message: dict[str, Any] = got.json()["choices"][0]["message"]
    assert message["content"].strip()
    both = json.loads(parsed.apply(edits, by_server("llama.cpp").dialect))
    refused = post(server, json.dumps(both | {"add_generation_prompt": True}).encode())
    assert refused.status_code == 400, "the server knows the member that says so"


def post(server: ModelServer, body: bytes) -> httpx.Response:
    url = f"{server.base_url}/chat/completions"
    return httpx.post(url, content=body, headers={"content-type": "application/json"}, timeout=120)
