"""Turns of one agent share its connections."""

from __future__ import annotations

import asyncio

import pytest

from tenuto.agent import Agent, Model
from tenuto.sim import Simulator


@pytest.fixture
def opened(monkeypatch) -> list[object]:
    """The addresses of connections that are opened meanwhile."""
    found: list[object] = []
    connect = asyncio.BaseEventLoop.create_connection

    async def counted(self, factory, host=None, port=None, **options):
        found.append((host, port))
        return await connect(self, factory, host, port, **options)

    monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", counted)
    return found


async def talk(agent: Agent, times: int) -> None:
    for _ in range(times):
        result = await agent.arun("How are tides made?")
        assert result.status == "complete", result


@pytest.mark.behaviour("C23")
def test_turns_of_asyncio_share_a_connection_within_async_with_and_none_outlives_it(opened):
    async def main(model: Model) -> None:
        async with Agent(model) as agent:
            await talk(agent, 3)
        assert len(opened) == 1
        await talk(agent, 2)  # it may be used again
        assert len(opened) == 3

    with Simulator() as sim:
        asyncio.run(main(Model("openai-chat:sim-model:normal", base_url=sim.base_url)))


@pytest.mark.behaviour("C23")
def test_another_loop_meanwhile_has_connections_of_its_own(opened):
    async def main(model: Model) -> None:
        async with Agent(model) as agent:
            await talk(agent, 1)
            await asyncio.to_thread(asyncio.run, talk(agent, 1))
            await talk(agent, 1)

    with Simulator() as sim:
        asyncio.run(main(Model("openai-chat:sim-model:normal", base_url=sim.base_url)))
    assert len(opened) == 2
