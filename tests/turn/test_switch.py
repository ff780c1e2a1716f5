"""The switch of the whole process: `tenuto.disable()`, and `TENUTO=off` in the environment."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import boto3
import httpx
import openai
import pytest

import tenuto
from tenuto.cli import main
from tenuto.turn.settings import switch
from tenuto_agent import Agent, Model
from tenuto_sim import Simulator, Step

pytestmark = pytest.mark.behaviour("P3a")

ASK: Any = {"model": "sim/length_once", "messages": [{"role": "user", "content": "Why tides?"}]}
BODY = json.dumps(ASK).encode()
SAID = "Tenuto is switched off in this process ({}): no turn is finished"


@pytest.fixture
def sim(monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    monkeypatch.setattr(switch, "off", False)
    with Simulator() as running:
        yield running


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "tenuto"]


def test_every_client_of_the_process_leaves_all_alone_from_its_next_request_on(
    sim: Simulator, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    events: list[tenuto.Event] = []
    policy = tenuto.Policy(models={"*": {"fault_retries": 1}})
    with (
        openai.OpenAI(base_url=sim.base_url, api_key="none") as bare,
        tenuto.http_client("httpx", base_url=sim.base_url) as http,
        httpx.Client(transport=tenuto.HTTPTransport(), base_url=sim.base_url) as over,
    ):
        before = tenuto.wrap(bare, policy=policy)
        assert before.chat.completions.create(**ASK).choices[0].finish_reason == "stop"
        sim.forget()
        tenuto.disable()
        tenuto.disable()
        after = tenuto.wrap(bare, policy=policy, on_event=events.append)
        for client in (before, after):
            for header in ("on_incomplete=error", "nonsense"):
                more: Any = {"extra_headers": {"x-tenuto": header}}
                answer = client.chat.completions.create(**ASK, **more)
                assert answer.choices[0].finish_reason == "length"
                sim.forget()
            stops = [
                choice.finish_reason
                for chunk in client.chat.completions.create(**ASK, stream=True)
                for choice in chunk.choices
            ]
            assert [stop for stop in stops if stop] == ["length"]
            sim.forget()
        for sender in (http, over):
            came = sender.post("/chat/completions", json=ASK, headers={"x-tenuto": "nonsense"})
            assert came.json()["choices"][0]["finish_reason"] == "length"
            sent = sim.requests[-1]
            assert not [name for name in sent.headers if name.lower().startswith("x-tenuto")]
            assert not [name for name in came.headers if name.startswith("x-tenuto")]
            sim.forget()
    assert (events, len(sim.requests)) == ([], 2 + 2 * 3 + 2)
    assert lines(caplog) == [SAID.format("tenuto.disable()")]


def test_nothing_is_different_from_the_bare_sdk(sim: Simulator) -> None:
    tenuto.disable()
    with openai.OpenAI(base_url=sim.base_url, api_key="none") as bare:
        for ask in (ASK, ASK | {"stream": True}):
            told = []
            for client in (bare, tenuto.wrap(bare)):
                sim.forget()
                with client.chat.completions.with_streaming_response.create(**ask) as response:
                    told.append((response.status_code, b"".join(response.iter_bytes())))
            assert told[0] == told[1]
        assert len(sim.requests) == 4


async def test_async_clients_too(sim: Simulator) -> None:
    tenuto.disable()
    async with openai.AsyncOpenAI(base_url=sim.base_url, api_key="none") as bare:
        answer = await tenuto.wrap(bare).chat.completions.create(**ASK)
    assert answer.choices[0].finish_reason == "length"
    assert len(sim.requests) == 1


def test_boto3_too(sim: Simulator) -> None:
    tenuto.disable()
    keys: Any = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
    client = tenuto.wrap(
        boto3.client("bedrock-runtime", region_name="eu-west-1", endpoint_url=sim.root_url, **keys)
    )
    sim.script([Step(keep=0.5, finish="length")])
    answer = client.converse(
        modelId="sim", messages=[{"role": "user", "content": [{"text": "Why?"}]}]
    )
    assert answer["stopReason"] == "max_tokens"
    assert len(sim.requests) == 1


def test_an_agent_and_a_turn_without_io_take_the_answer_as_it_came(sim: Simulator) -> None:
    tenuto.disable()
    model = Model("openai-chat:sim/length_once", base_url=sim.base_url)
    with Agent(model) as agent:
        result = agent.run("Why?")
    assert (result.status, len(sim.requests)) == ("partial", 1)
    turn = tenuto.sansio.Turn("POST", f"{sim.base_url}/chat/completions", [], BODY)
    assert isinstance(turn.next(), tenuto.sansio.SendRequest)


@pytest.mark.parametrize("word", ["off", "OFF", "0", "false", "no"])
def test_the_variable_switches_off_from_the_first_client_on(
    word: str, sim: Simulator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TENUTO", word)
    with openai.OpenAI(base_url=sim.base_url, api_key="none") as bare:
        for policy in (None, tenuto.Policy()):
            client = tenuto.wrap(bare, policy=policy)
            answer = client.chat.completions.create(**ASK)
            assert answer.choices[0].finish_reason == "length"
            sim.forget()
    assert lines(caplog) == [SAID.format(f"TENUTO={word}")]


@pytest.mark.parametrize("word", ["", "on", "1"])
def test_any_other_process_is_left_on(
    word: str, sim: Simulator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TENUTO", word)
    with openai.OpenAI(base_url=sim.base_url, api_key="none") as bare:
        answer = tenuto.wrap(bare).chat.completions.create(**ASK)
    assert (answer.choices[0].finish_reason, lines(caplog)) == ("stop", [])


def test_another_word_is_refused(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENUTO", "of")
    with pytest.raises(tenuto.PolicyError, match=r"^TENUTO is 'of', but it must be 'on' or 'off'$"):
        tenuto.http_client()


def test_whoever_runs_a_program_reads_it_once_on_standard_error(sim: Simulator) -> None:
    code = (
        "import openai, tenuto\n"
        f"client = openai.OpenAI(base_url={sim.base_url!r}, api_key='none')\n"
        f"for _ in range(2): print(tenuto.wrap(client).chat.completions.create(**{ASK!r})"
        ".choices[0].finish_reason)"
    )
    given: Any = {"capture_output": True, "text": True, "timeout": 60}
    off = os.environ | {"TENUTO": "off"}
    run = subprocess.run([sys.executable, "-c", code], check=True, env=off, **given)
    assert (run.stdout.split()[0], run.stderr.strip()) == ("length", SAID.format("TENUTO=off"))


def test_the_command_that_lists_settings_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TENUTO", "off")
    assert main(["policy"]) == 0
    assert "tenuto: the variable TENUTO switches Tenuto off here" in capsys.readouterr().err
