"""What a turn leaves behind: nothing that waits for the collector, which comes when it likes and
would keep each request's bytes until then."""

from __future__ import annotations

import asyncio
import gc

import pytest
from agent.simulated import agent, model

from tenuto_agent import Agent, Conversation
from tenuto_sim import Simulator

TURNS = 10


async def turns(chat: Conversation, way: str) -> int:
    """Turns, and how many objects they leave to the collector."""

    async def turn() -> None:
        assert (await chat.arun("Go on.") if way == "async" else chat.run("Go on.")).ok

    await turn()
    gc.collect()
    gc.disable()
    try:
        for _ in range(TURNS):
            await turn()
        return gc.collect()
    finally:
        gc.enable()


@pytest.mark.behaviour("C25")
@pytest.mark.parametrize("stream", [True, False], ids=["streams", "bodies"])
@pytest.mark.parametrize("case", ["normal", "tool", "length_mid_word"])
def test_a_turn_leaves_nothing_to_the_collector(case: str, way: str, stream: bool) -> None:
    async def within(asking: Agent) -> int:
        async with asking:  # each turn's own client leaves some
            return await turns(asking.conversation(), way)

    with Simulator() as sim, agent(model(sim, "openai-chat", case), stream=stream) as asking:
        assert asyncio.run(within(asking)) < TURNS
