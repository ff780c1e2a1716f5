"""Settings for one provider or some models, through the official SDKs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

import tenuto
from tenuto_sim import Simulator

pytestmark = pytest.mark.behaviour("P3")

MESSAGES: Any = [{"role": "user", "content": "Why do tides come twice a day?"}]


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as running:
        yield running


def chat(sim: Simulator, policy: tenuto.Policy, case: str, *, stream: bool = False) -> Any:
    """The stop that the openai SDK shows."""
    sim.forget()
    with openai.OpenAI(base_url=sim.base_url, api_key="none", max_retries=0) as bare:
        client = tenuto.wrap(bare, policy=policy)
        asked: dict[str, Any] = {"model": f"sim/{case}", "messages": MESSAGES}
        if not stream:
            return client.chat.completions.create(**asked).choices[0].finish_reason
        chunks = client.chat.completions.create(**asked, stream=True)
        stops = [choice.finish_reason for chunk in chunks for choice in chunk.choices]
        return next(filter(None, stops), None)


@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
@pytest.mark.parametrize("watched", [False, True], ids=["quiet", "watched"])
def test_a_model_has_its_own_policy_and_others_have_the_common_one(sim, stream, watched):
    decide = (lambda _: None) if watched else None  # who decides sees every answer
    none = {"continuation_max_attempts": 0}
    policy = tenuto.Policy(models={"sim/length_o*": none}, decide=decide)
    assert chat(sim, policy, "length_once", stream=stream) == "length"
    assert chat(sim, policy, "length_twice", stream=stream) == "stop"
    assert chat(sim, policy, "normal", stream=stream) == "stop"
    assert len(sim.requests) == 1 + 3 + 1


def test_a_provider_that_no_url_tells_is_unknown_and_has_a_policy_as_well(sim):
    policy = tenuto.Policy(providers={"unknown": {"continuation_max_attempts": 0}})
    assert chat(sim, policy, "length_once") == "length"


def test_a_registered_provider_has_its_own_policy(sim):
    host = sim.base_url.split("/")[2]
    tenuto.register_provider(tenuto.Provider("lab-of-policies", "openai-chat", hosts=[host]))
    policy = tenuto.Policy(providers={"lab-of-policies": {"on_incomplete": "error"}})
    with pytest.raises(openai.APIStatusError, match="Tenuto could not finish"):
        chat(sim, policy, "length_always")


def test_the_anthropic_sdk_meets_the_policy_of_its_model(sim):
    policy = tenuto.Policy(models={"SIM/length_once": {"continuation_max_attempts": 0}})
    base = sim.base_url.removesuffix("/v1")
    with anthropic.Anthropic(base_url=base, api_key="none", max_retries=0) as bare:
        client = tenuto.wrap(bare, policy=policy)
        for case, stop in (("length_once", "max_tokens"), ("length_twice", "end_turn")):
            sim.forget()
            made = client.messages.create(model=f"sim/{case}", max_tokens=500, messages=MESSAGES)
            assert made.stop_reason == stop


def test_a_limit_of_probes_holds_for_its_model_alone(sim):
    # The simulator writes more than the limit, which would be all that a turn of 16 tokens may use.
    policy = tenuto.Policy(
        models={"sim/length_once": {"probe_max_tokens": 0}},
        continuation_max_total_completion_tokens=1_000,
    )
    for case, stop in (("length_once", "stop"), ("length_twice", "length")):
        sim.forget()
        with openai.OpenAI(base_url=sim.base_url, api_key="none", max_retries=0) as bare:
            made = tenuto.wrap(bare, policy=policy).chat.completions.create(
                model=f"sim/{case}", messages=MESSAGES, max_tokens=16
            )
        assert made.choices[0].finish_reason == stop


def test_a_capture_holds_the_policy_of_its_turn(sim, tmp_path):
    special = {"sim/length_once": {"continuation_max_attempts": 0}}
    policy = tenuto.Policy(models=special, capture=str(tmp_path))
    chat(sim, policy, "length_once")
    [file] = Path(tmp_path).glob("*.json")
    assert json.loads(file.read_bytes())["policy"] == {"continuation_max_attempts": 0}


@pytest.mark.parametrize("name", ["antropic", "vllm", "gpt-4o"])
def test_a_provider_that_no_url_can_tell_is_refused_with_those_that_are_known(name):
    with (
        openai.OpenAI(api_key="none") as bare,
        pytest.raises(tenuto.PolicyError) as caught,
    ):
        tenuto.wrap(bare, policy=tenuto.Policy(providers={name: {"fault_retries": 1}}))
    said = str(caught.value)
    assert said.startswith(f"providers.{name} is not a provider with a known base URL; those are ")
    assert "anthropic, " in said
    assert "groq, " in said


def test_a_healthy_turn_of_a_special_model_stays_on_the_short_path():
    policy = tenuto.Policy(models={"m": {"fault_retries": 1}})
    body = json.dumps({"model": "m", "messages": MESSAGES}).encode()
    url = "https://api.openai.com/v1/chat/completions"
    for _ in range(2):
        turn = tenuto.sansio.Turn("POST", url, [], body, policy=policy)
        assert type(turn._told).__name__ == "Short"
