"""The first answer of an agent's turn has to call a tool, if the settings say so: in code, in a file,
and in the environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent.simulated import WIRES, model, write_file

import tenuto
from tenuto.cli import main
from tenuto.wires.registry import WIRES as KNOWN
from tenuto_agent import Agent, Model
from tenuto_sim import Simulator

pytestmark = pytest.mark.behaviour("P3")

REQUIRED = tenuto.Policy(tool_choice="required")
FORCED: dict[str, tuple[tuple[str, ...], Any]] = {
    "openai-chat": (("tool_choice",), "required"),
    "openai-responses": (("tool_choice",), "required"),
    "mistral": (("tool_choice",), "required"),
    "cohere": (("tool_choice",), "REQUIRED"),
    "anthropic-messages": (("tool_choice",), {"type": "any"}),
    "gemini-generate": (("toolConfig", "functionCallingConfig", "mode"), "ANY"),
    "gemini-interactions": (("generation_config", "tool_choice"), "any"),
    "bedrock-converse": (("toolConfig", "toolChoice"), {"any": {}}),
    "ollama": (("tool_choice",), None),  # it has no such choice
}


def chosen(body: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        body = body.get(key) or {}
    return body or None


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
def test_the_first_answer_of_each_turn_has_to_call_a_tool(wire: str, stream: bool) -> None:
    path, word = FORCED[wire]
    with Simulator() as sim:
        known = model(sim, wire)
        with Agent(known, tools=[write_file], policy=REQUIRED, stream=stream) as agent:
            chat = agent.conversation()
            for _ in range(2):
                before = len(sim.requests)
                result = chat.run("Write it.")
                assert (result.status, result.steps) == ("complete", 2), result
                first, *others = [chosen(r.json, path) for r in sim.requests[before:]]
                assert first == word
                assert others == [None]
                made = KNOWN.find(wire)
                assert made is not None
                asked = sim.requests[before]
                parsed = made.request(
                    json.dumps(asked.json).encode(), 0, asked.path, known.provider.dialect
                )
                assert parsed is not None
                assert parsed.facts.call_forced is (word is not None)


def test_without_tools_or_the_setting_nothing_is_demanded() -> None:
    with Simulator() as sim:
        for tools, policy in (([], REQUIRED), ([write_file], tenuto.Policy())):
            with Agent(model(sim, "openai-chat", "normal"), tools=tools, policy=policy) as agent:
                agent.run("Hello.")
        assert [request.json.get("tool_choice") for request in sim.requests] == [None, None]


@pytest.mark.parametrize("place", ["tenuto.toml", "pyproject.toml", "environment", "model"])
def test_it_comes_from_files_and_the_environment(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = 'tool_choice = "required"\n'
    if place == "environment":
        monkeypatch.setenv("TENUTO_TOOL_CHOICE", "required")
    elif place == "model":
        (tmp_path / "tenuto.toml").write_text(f'[models."sim*"]\n{line}')
    else:
        head = "[tool.tenuto]\n" if place == "pyproject.toml" else ""
        (tmp_path / place).write_text(head + line)
    with Simulator() as sim:
        with Agent(
            Model("openai-chat:sim/tool", base_url=sim.base_url), tools=[write_file]
        ) as agent:
            agent.run("Write it.")
        assert sim.requests[0].json["tool_choice"] == "required"


def test_tenuto_run_takes_it_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TENUTO_TOOL_CHOICE", "required")
    with Simulator() as sim:
        given = ["--model", "openai-chat:sim/tool", "--base-url", sim.base_url, "--tools", "files"]
        main(["run", "Write it.", *given])
        assert sim.requests[0].json["tool_choice"] == "required"
    capsys.readouterr()


def test_options_of_the_model_outweigh_it() -> None:
    with Simulator() as sim:
        known = model(sim, "openai-chat", options={"tool_choice": "auto"})
        with Agent(known, tools=[write_file], policy=REQUIRED, stream=False) as agent:
            agent.run("Write it.")
        assert [request.json["tool_choice"] for request in sim.requests] == ["auto", "auto"]


def test_no_request_sets_it() -> None:
    with pytest.raises(tenuto.PolicyError, match="tool_choice cannot be set here"):
        tenuto.policy(tool_choice="required")
