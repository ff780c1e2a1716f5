"""Google Vertex AI through the SDK's own client: each attempt carries a token that is good now, and
the caller's own authorization stays."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from google.auth.credentials import Credentials
from support.asking.anthropic_messages import CASES, broken_call, next_turn_is_refused
from support.asking.wrapping import QUICK, is_right
from support.clouds import VERTEX, Vertex, VertexAsker
from support.events import anthropic_messages as messages
from support.far_sides import FarSide, json_answer

import tenuto
from tenuto_sim import Case, Simulator

POLICY = tenuto.Policy(**QUICK)
SOME = [
    CASES[name]
    for name in (
        "normal", "length_twice", "tool", "call_cut_length", "call_malformed", "drop_mid_text",
        "reset_mid_text", "pause_turn", "http_529_once", "error_chunk_mid_text",
    )
]  # fmt: skip
World = tuple[Vertex, VertexAsker]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Simulator(token_chars=20) as sim, Vertex(sim) as cloud:
        asker = VertexAsker(cloud, POLICY)
        yield cloud, asker
        asker.close()


@pytest.mark.behaviour("C28a", "T1", "S1", "S9")
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("case", SOME, ids=[case.name for case in SOME])
def test_a_fault_is_mended(world: World, case: Case, mode: str, way: str) -> None:
    cloud, asker = world
    if mode not in case.modes:
        return
    said = asker.ask_case(case, mode, way)
    assert cloud.refused == []
    assert said.error is None
    assert not broken_call(said, asker.wanted(said, case)[1])
    assert is_right(asker, said, case)
    assert asker.ending["status"] == "complete"
    assert not next_turn_is_refused(asker, said, case)


@pytest.mark.behaviour("P8", "C25")
def test_a_normal_turn_is_the_same_bytes_in_both_directions(world: World) -> None:
    cloud, _ = world
    given: dict[str, Any] = {"model": "claude-sim.normal", "max_tokens": 900}
    given["messages"] = [{"role": "user", "content": "The same twice."}]
    own: Any = {"region": "r", "project_id": "p", "access_token": "token"}
    client = anthropic.AnthropicVertex(base_url=cloud.url + "/v1", **own)
    found = []
    before = len(cloud.seen)
    with client, tenuto.wrap(client, policy=POLICY) as wrapped:
        for asked in (client, wrapped):
            cloud.sim.forget()
            streaming = asked.messages.with_streaming_response
            with streaming.create(stream=True, **given) as response:
                found.append(b"".join(response.iter_bytes()))
    assert found[0] == found[1]
    assert cloud.seen[before] == cloud.seen[before + 1]


# --- tokens -----------------------------------------------------------------------------------


def said(text: str, stop: str = "end_turn") -> bytes:
    return json.dumps(messages.body(text, stop=stop)).encode()


HALVES = (
    json_answer(said("The first half, ", "max_tokens")),
    json_answer(said("and the second.")),
)
WHOLE = "The first half, and the second."


class Lapsing(Credentials):
    """Credentials whose token is good for one request."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    @property
    def expired(self) -> bool:
        return True

    def refresh(self, request: Any) -> None:
        self.number += 1
        self.token = f"token-{self.number}"


def asked(far: FarSide, kind: Any, own: dict[str, Any], **more: Any) -> tuple[str, list[str]]:
    """The text of a body, and the token that came with each request."""
    own = {"base_url": far.base_url, "max_retries": 0} | own
    given: dict[str, Any] = {"model": "claude-x", "max_tokens": 900, **more}
    given["messages"] = [{"role": "user", "content": "Tell me."}]
    client = tenuto.wrap(kind(**own), policy=POLICY)

    async def run() -> Any:
        async with client:
            return await client.messages.create(**given)

    if kind.__name__.startswith("Async"):
        message = asyncio.run(run())
    else:
        with client:
            message = client.messages.create(**given)
    tokens = [
        row.partition(":")[2].strip()
        for head, _ in far.requests
        for row in head.decode().split("\r\n")
        if row.lower().startswith("authorization:")
    ]
    return message.content[0].text, tokens


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize("kind", VERTEX, ids=lambda kind: kind.__name__)
def test_each_attempt_has_a_token_that_is_good_now(kind):
    own = {"region": "r", "project_id": "p", "credentials": Lapsing()}
    with FarSide(*HALVES) as far:
        assert asked(far, kind, own) == (WHOLE, ["Bearer token-1", "Bearer token-2"])


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize("kind", VERTEX, ids=lambda kind: kind.__name__)
def test_the_callers_own_authorization_stays(kind):
    own = {"region": "r", "project_id": "p", "access_token": "not this one"}
    extra = {"Authorization": "Bearer mine"}
    with FarSide(*HALVES) as far:
        found = asked(far, kind, own, extra_headers=extra)
        assert found == (WHOLE, ["Bearer mine", "Bearer mine"])


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize(
    "kind",
    [anthropic.AnthropicGoogleCloud, anthropic.AsyncAnthropicGoogleCloud],
    ids=lambda kind: kind.__name__,
)
def test_the_first_party_api_on_google_cloud_has_its_token_for_each_attempt(kind):
    count = itertools.count(1)
    own = {"workspace_id": "w", "token_provider": lambda: f"token-{next(count)}"}
    with FarSide(*HALVES) as far:
        own["base_url"] = far.base_url.removesuffix("/v1")
        text, tokens = asked(far, kind, own)
        assert text == WHOLE
        assert len(set(tokens)) == 2


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize(
    "kind",
    [anthropic.AnthropicFoundry, anthropic.AsyncAnthropicFoundry],
    ids=lambda kind: kind.__name__,
)
def test_foundry_has_its_key_in_every_attempt(kind):
    with FarSide(*HALVES) as far:
        own = {"base_url": far.base_url.removesuffix("/v1"), "api_key": "azure"}
        assert asked(far, kind, own)[0] == WHOLE
        assert all(b"x-api-key: azure" in head.lower() for head, _ in far.requests)
        assert len(far.requests) == 2
