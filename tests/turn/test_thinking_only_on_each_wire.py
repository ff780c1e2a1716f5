"""Answers of reasoning alone on every wire: no request is the same twice, each is one that the
provider takes, and the end is a typed one (E4, E5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import httpx
import pytest

import tenuto
from tenuto.core import hints
from tenuto.providers.table import ROWS
from tenuto.turn.drivers.commands import Head
from tenuto_sim import Simulator, Step
from tenuto_sim.case import Say

PARTS = [{"text": "Hi"}]
USER = {"role": "user", "content": "Hi"}
CHAT = {"model": "sim", "messages": [USER]}
NOVA = "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-lite-v1:0"
CLAUDE = "https://bedrock-runtime.us-east-1.amazonaws.com/model/sim"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta"
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic-messages": ("https://api.anthropic.com/v1/messages", CHAT | {"max_tokens": 900}),
    "bedrock-converse": (f"{CLAUDE}/converse", {"messages": [{"role": "user", "content": PARTS}]}),
    "bedrock-invoke": (
        f"{NOVA}/invoke",
        {"schemaVersion": "messages-v1", "messages": [{"role": "user", "content": PARTS}]},
    ),
    "cohere": ("https://api.cohere.com/v2/chat", CHAT),
    "dashscope": (
        "https://dashscope.aliyuncs.com/api/v1/services/aigc/text-generation/generation",
        {"model": "sim", "input": {"messages": [USER]}, "parameters": {"result_format": "message"}},
    ),
    "gemini-generate": (
        f"{GOOGLE}/models/sim:generateContent",
        {"contents": [{"role": "user", "parts": PARTS}]},
    ),
    "gemini-interactions": (f"{GOOGLE}/interactions", {"model": "sim", "input": "Hi"}),
    "mistral": ("https://api.mistral.ai/v1/chat/completions", CHAT),
    "ollama": ("http://localhost:11434/api/chat", CHAT | {"stream": False}),
    "openai-chat": ("https://api.openai.com/v1/chat/completions", CHAT),
    "openai-responses": ("https://api.openai.com/v1/responses", {"model": "sim", "input": "Hi"}),
}
"""Where each wire is spoken, and what is asked."""
HEADERS = {
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
    "authorization": "Bearer k",
    "x-api-key": "k",
    "x-goog-api-key": "k",
}
SERVERS = {
    "deepseek": "https://api.deepseek.com/beta/chat/completions",
    "llama.cpp": "http://llama.cpp.lab/v1/chat/completions",
    "vllm": "http://vllm.lab/v1/chat/completions",
}
"""Those who go on from reasoning, each a dialect of the simulator."""
KNOWN = {"mistral": "/mistral"}
"""Where the simulator has a wire below another path."""


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


def turn_of(sim: Simulator, wire: str, **policy: Any) -> tuple[Any, list[bytes], list[int]]:
    """One turn whose requests go to the simulator: its report, their bodies and their statuses."""
    url, body = ASKED.get(wire) or (SERVERS[wire], CHAT | {"reasoning_effort": "high"})
    path = KNOWN.get(wire, "") + httpx.URL(url).path
    asked, settings = json.dumps(body).encode(), tenuto.Policy(backoff_s=0.0, **policy)
    turn = tenuto.sansio.Turn("POST", url, list(HEADERS.items()), asked, policy=settings)
    reply: Any = None
    sent: list[bytes] = []
    statuses: list[int] = []
    pieces: list[bytes] = []
    while (command := turn.next(reply)) is not None:
        reply = None
        if isinstance(command, tenuto.sansio.SendRequest):
            got = httpx.post(sim.root_url + path, content=command.body, headers=HEADERS)
            sent.append(command.body)
            statuses.append(got.status_code)
            pieces = [got.content, b""]
            reply = Head(got.status_code, tuple(got.headers.raw))
        elif isinstance(command, tenuto.sansio.ReadMore):
            reply = pieces.pop(0)
    return turn.report, sent, statuses


@pytest.mark.behaviour("E4", "E5")
@pytest.mark.parametrize("wire", ASKED)
def test_nudges_and_retries_follow_each_another_that_the_provider_takes(sim, wire) -> None:
    sim.forget()
    sim.script([Step(say=Say.REASONING)] * 9)
    report, sent, statuses = turn_of(sim, wire, empty_retries=2, on_incomplete="error")
    assert report.rungs == ("ask_for_answer", "ask_again", "ask_again")
    assert all(one != other for one, other in pairwise(sent))
    assert hints.ANSWER_NOW in sent[1].decode()
    assert set(statuses) == {200}, "no request breaks a rule"
    assert (report.status, report.reason) == ("failed", "empty_output")


@pytest.mark.behaviour("E4")
@pytest.mark.parametrize("wire", ASKED)
def test_an_answer_after_the_nudge_ends_the_turn(sim, wire) -> None:
    sim.forget()
    sim.script([Step(say=Say.REASONING)])
    report, sent, _ = turn_of(sim, wire)
    assert (report.status, report.rungs, len(sent)) == ("complete", ("ask_for_answer",), 2)


# --- those who go on from reasoning --------------------------------------------------------------


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[tuple[str, Simulator]]:
    before = ROWS.all()
    for name in ("llama.cpp", "vllm"):
        hosts = [f"{name}.lab"]
        tenuto.register_provider(
            tenuto.Provider(f"lab-{name}", wire="openai-chat", like=name, hosts=hosts)
        )
    with Simulator(dialect=request.param) as simulator:
        yield request.param, simulator
    ROWS._all, ROWS.changes = before, ROWS.changes + 1


@pytest.mark.behaviour("E4", "E5")
def test_a_server_takes_the_reasoning_and_all_that_follows(server) -> None:
    name, sim = server
    sim.forget()
    sim.script([Step(say=Say.REASONING)])
    report, _, statuses = turn_of(sim, name)
    assert (report.status, report.rungs) == ("complete", ("continue_from_reasoning",))
    assert statuses == [200, 200]
    sim.script([Step(say=Say.REASONING)] * 9)
    report, sent, statuses = turn_of(sim, name, empty_retries=2, on_incomplete="error")
    nudges = ("ask_for_answer", "ask_again", "ask_again")
    assert report.rungs == ("continue_from_reasoning", *nudges)
    assert all(one != other for one, other in pairwise(sent))
    assert set(statuses) == {200}
    assert (report.status, report.reason) == ("failed", "empty_output")


@pytest.mark.behaviour("E4")
@pytest.mark.parametrize(
    ("name", "row", "more", "words"),
    [
        ("llama.cpp", {"reasoning_content": "So."}, {"continue_final_message": "content"}, "both"),
        ("vllm", {}, {"continue_final_message": True}, "both"),
        ("deepseek", {"prefix": False}, {}, "prefix mode on"),
        ("deepseek", {"prefix": True}, {"reasoning_effort": "low"}, "when reasoning_effort is set"),
    ],
)
def test_the_simulator_refuses_what_the_server_refuses(name, row, more, words) -> None:
    rows = [USER, {"role": "assistant", "content": "So.", **row}]
    body = {"model": "sim", "messages": rows, "thinking": {"type": "disabled"}, **more}
    with Simulator(dialect=name) as sim:
        path = httpx.URL(SERVERS[name]).path
        got = httpx.post(sim.root_url + path, json=body, headers=HEADERS)
    assert (got.status_code, words in got.text) == (400, True)
