"""What the presets mean for who uses an official SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

import tenuto
from tenuto_sim import Simulator

ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Why do tides come twice a day?"}]}


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as running:
        yield running


@pytest.fixture
def fine() -> Iterator[Simulator]:
    """One whose answers take many tokens."""
    with Simulator(token_chars=1) as running:
        yield running


def completed(sim: Simulator, case: str, policy: tenuto.Policy, **more: Any) -> Any:
    sim.forget()
    with openai.OpenAI(base_url=sim.base_url, api_key="none", max_retries=0) as bare:
        client = tenuto.wrap(bare, policy=policy)
        return client.chat.completions.create(model=f"sim/{case}", **ASK, **more).choices[0]


@pytest.mark.behaviour("P1a", "P3")
@pytest.mark.parametrize("case", ["length_always", "content_filter", "unknown_stop", "abort"])
def test_no_agent_takes_an_unfinished_turn_for_a_complete_one(sim, case):
    assert completed(sim, case, tenuto.Policy()).message.content, "the default passes it on"
    with pytest.raises(openai.APIStatusError) as caught:
        completed(sim, case, tenuto.Policy.for_agents())
    assert caught.value.type == "tenuto_incomplete"


@pytest.mark.behaviour("P1a", "P3", "C2")
def test_a_chat_shows_its_reader_that_an_answer_is_incomplete_after_two_continuations(sim):
    choice = completed(sim, "length_always", tenuto.Policy.for_chat())
    assert choice.message.content.endswith("[This answer is incomplete: retry limit.]")
    assert len(sim.requests) == 3


@pytest.mark.behaviour("C2", "C4", "P3")
def test_a_batch_goes_on_past_four_times_the_limit_of_its_request(fine):
    for policy, requests in (
        (tenuto.Policy(on_incomplete="error", continuation_max_attempts=6), 3),
        (tenuto.Policy.for_batch(), 7),
    ):
        before = len(fine.requests)
        with pytest.raises(openai.APIStatusError, match="Tenuto could not finish"):
            completed(fine, "length_always", policy, max_tokens=30)
        assert len(fine.requests) - before == requests


CUT = b'{"choices":[{"message":{"content":"Half of it"},"finish_reason":"length"}]}'


@pytest.mark.behaviour("P5", "P3")
@pytest.mark.parametrize(
    ("policy", "waits_s"),
    [
        (tenuto.Policy(), {10, 100}),
        (tenuto.Policy.for_chat(), {10}),
        (tenuto.Policy.for_agents(), {10, 100}),
        (tenuto.Policy.for_batch(), {10, 100, 800}),
    ],
    ids=["default", "chat", "agents", "batch"],
)
def test_a_preset_waits_as_long_as_its_user_can(policy, waits_s):
    assert {s for s in (10, 100, 800, 1_000) if waited_s(policy, s) == s} == waits_s


def waited_s(policy: tenuto.Policy, told_s: int) -> float:
    """How long a turn waits where the second attempt is answered with this Retry-After."""
    body = json.dumps({"model": "m", **ASK}).encode()
    turn = tenuto.sansio.Turn("POST", "https://host/v1/chat/completions", [], body, policy=policy)
    good = tenuto.sansio.Head(200, ((b"content-type", b"application/json"),))
    busy = tenuto.sansio.Head(429, ((b"retry-after", b"%d" % told_s),))
    replies: list[Any] = [good, CUT, b"", busy, b'{"error":{"message":"busy"}}', b""]
    command = turn.next()
    while isinstance(command, (tenuto.sansio.SendRequest, tenuto.sansio.ReadMore)) and replies:
        command = turn.next(replies.pop(0))
    while isinstance(command, (tenuto.sansio.StartResponse, tenuto.sansio.SendData)):
        return 0.0
    turn.close()
    return command.seconds if isinstance(command, tenuto.sansio.Sleep) else 0.0
