"""A conversation of several turns between an agent and a real model whose output limit is small."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from support.pairing import some_or_every

import tenuto
from tenuto.cli.model_server import ModelServer
from tenuto_agent import Agent, Model
from tenuto_agent.events import AgentEvent, Recovered
from tenuto_agent.transcript import Assistant, User

pytestmark = [pytest.mark.real_model, pytest.mark.slow, pytest.mark.timeout(300)]

LIMIT_TOKENS = 24
UNCUT_TOKENS = 400
PROMPTS = (
    "What is the moon?",
    "What is photosynthesis?",
    "Thank you. What does a plumber do?",
    "Count from 1 to 12 in words.",
)
ENDS = {"completed", "retry_limit", "budget_exhausted", "runaway"}
"""A model of this size may fall into a loop, and ours is to notice."""


def agent_at(server: ModelServer, events: list[AgentEvent], *, stream: bool) -> Agent:
    model = Model(
        "openai-chat:small",
        base_url=server.base_url,
        max_output_tokens=LIMIT_TOKENS,
        options={"temperature": 0},
    )
    return Agent(model, stream=stream, on_event=events.append, policy=tenuto.Policy())


def bare(client: openai.OpenAI, chat: Any, prompt: str, limit_tokens: int) -> str:
    """What the bare SDK hands out for the same history."""
    roles = {User: "user", Assistant: "assistant"}
    rows: list[Any] = [{"role": roles[type(row)], "content": row.text} for row in chat.rows]
    rows.append({"role": "user", "content": prompt})
    asked: dict[str, Any] = {"model": "small", "temperature": 0, "max_tokens": limit_tokens}
    said = client.chat.completions.create(messages=rows, **asked)
    return said.choices[0].message.content or ""


@pytest.mark.behaviour("C1", "C7", "H9")
@some_or_every
async def test_turns_that_the_limit_cuts_are_whole_and_the_conversation_goes_on(
    with_prefill: ModelServer, client: openai.OpenAI, every: bool
) -> None:
    """Each turn is asked for in another way: as a body and as a stream, sync and async. Two turns, and
    four in `make heavy`."""
    prompts = PROMPTS if every else PROMPTS[:2]
    events: list[AgentEvent] = []
    with (
        agent_at(with_prefill, events, stream=False) as bodies,
        agent_at(with_prefill, events, stream=True) as streams,
    ):
        chat = bodies.conversation()
        for number, prompt in enumerate(prompts):
            cut = bare(client, chat, prompt, LIMIT_TOKENS)
            uncut = "" if number else bare(client, chat, prompt, UNCUT_TOKENS)
            chat = (streams if number % 2 else bodies).conversation(chat.rows)
            result = chat.run(prompt) if number % 4 in (0, 3) else await chat.arun(prompt)
            assert result.reason in ENDS
            assert result.fault is None
            assert result.text.startswith(cut.strip())
            assert result.ok or len(result.text) > len(cut)
            assert not uncut or (result.ok and result.text == uncut)
    told = [event.event for event in events if isinstance(event, Recovered)]
    refused = [event for event in told if event.name == "fault" and event.data["status"]]
    assert not refused, "every request was accepted"
    cut_turns = {event.turn for event in told if event.name == "continuation_attempt"}
    assert len(cut_turns) >= len(prompts) - 1
    kept = [row for row in chat.rows if isinstance(row, User | Assistant)]
    assert [row.text for row in kept[::2]] == list(prompts)
    assert len(kept) == 2 * len(prompts)
