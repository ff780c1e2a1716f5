"""A server that outlives the programs that ask it: each run meets its fault, and none fills it up."""

from __future__ import annotations

import json
from typing import Any

import httpx
import openai
import pytest

import tenuto
from tenuto_sim import Simulator
from tenuto_sim.service import MOST_BODY_BYTES

SAID: Any = [{"role": "user", "content": "Tell me of tides."}]


def ask(sim, case, **more):
    """One run of a program: a client of its own, one request."""
    with httpx.Client() as client:
        body = {"model": f"sim/{case}", "messages": SAID, **more}
        return client.post(f"{sim.base_url}/chat/completions", json=body)


def finish(response):
    return response.json()["choices"][0]["finish_reason"]


def test_a_second_run_meets_the_fault_of_the_first():
    with Simulator(begins_anew=True) as sim:
        assert [finish(ask(sim, "length_once")) for _ in range(3)] == ["length"] * 3


def test_a_run_with_other_settings_meets_the_fault_as_well():
    with Simulator(begins_anew=True) as sim:
        for _ in range(2):
            assert finish(ask(sim, "length_once")) == "length"
            assert finish(ask(sim, "length_once", max_tokens=1_000)) == "length"
            assert '"finish_reason":"length"' in ask(sim, "length_once", stream=True).text


def test_a_second_run_with_recovery_meets_it_as_well():
    with Simulator(begins_anew=True) as sim:
        for run in range(3):
            client = tenuto.wrap(openai.OpenAI(base_url=sim.base_url, api_key="none"))
            with client:
                made = client.chat.completions.create(model="sim/length_once", messages=SAID)
            assert made.choices[0].finish_reason == "stop"
            assert len(sim.requests) == 2 * (run + 1)


@pytest.mark.parametrize("case", ["http_500_once", "http_429_once"])
def test_behind_an_error_the_same_request_is_a_retry(case):
    with Simulator(begins_anew=True) as sim:
        first = ask(sim, case)
        assert first.status_code >= 429
        assert ask(sim, case).status_code == 200
        assert ask(sim, case).status_code == first.status_code, "that was answered: a new run"


def test_behind_a_drop_the_same_request_is_a_retry_unless_it_comes_after_a_while():
    with Simulator(begins_anew=True) as sim:
        for run in range(2):
            with pytest.raises(httpx.RemoteProtocolError):
                ask(sim, "cut_off_mid_text", stream=True)
            if not run:
                assert "[DONE]" in ask(sim, "cut_off_mid_text", stream=True).text
        sim._exchange.conversations.idle_s = 0.0
        for _ in range(2):
            with pytest.raises(httpx.RemoteProtocolError):
                ask(sim, "cut_off_mid_text", stream=True)


def test_a_simulator_in_a_program_goes_on_where_it_was():
    with Simulator() as sim:
        assert [finish(ask(sim, "length_once")) for _ in range(2)] == ["length", "stop"]


def test_a_reset_begins_all_conversations_anew():
    with Simulator() as sim:
        assert finish(ask(sim, "length_once")) == "length"
        reset = httpx.post(f"{sim.root_url}/sim/reset")
        assert (reset.status_code, reset.json()) == (200, {"status": "ok"})
        assert finish(ask(sim, "length_once")) == "length"
        assert finish(ask(sim, "length_once")) == "stop"


@pytest.mark.slow
def test_a_body_of_any_size_is_refused_and_not_kept():
    def pieces():
        for _ in range(MOST_BODY_BYTES // 1_000_000 + 3):
            yield b" " * 1_000_000

    with Simulator() as sim:
        got = httpx.post(f"{sim.base_url}/chat/completions", content=pieces(), timeout=60)
        assert got.status_code == 413
        assert str(MOST_BODY_BYTES) in got.json()["error"]["message"]
        assert sim.requests == []
        body = json.dumps({"model": "sim/normal", "messages": SAID}).encode()
        largest = body + b" " * (MOST_BODY_BYTES - len(body))
        got = httpx.post(f"{sim.base_url}/chat/completions", content=largest, timeout=60)
        assert got.status_code == 200
