"""Turns of one agent share its connections."""

from __future__ import annotations

import asyncio

import pytest
from agent.simulated import model

from tenuto.agent import Agent, Model
from tenuto.agent.function_tool import tool
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


@pytest.mark.behaviour("C23")
def test_tasks_that_are_within_async_with_of_one_agent_do_not_end_each_others_turns(opened):
    async def within(agent: Agent, told: asyncio.Event, heard: asyncio.Event) -> None:
        async with agent:
            told.set()
            await heard.wait()
            await talk(agent, 1)

    async def main(model: Model) -> None:
        agent = Agent(model)
        first, second = asyncio.Event(), asyncio.Event()
        async with agent, asyncio.timeout(20):
            await talk(agent, 1)
            here = within(agent, first, second), within(agent, second, first)
            await asyncio.gather(*here)
            await talk(agent, 1)
        assert len(opened) == 2  # one, and one more while two turns ran side by side
        await talk(agent, 1)
        assert len(opened) == 3

    with Simulator() as sim:
        asyncio.run(main(Model("openai-chat:sim-model:normal", base_url=sim.base_url)))


@pytest.mark.behaviour("C23")
def test_a_turn_that_outlasts_the_async_with_around_is_finished(opened):
    left, called = asyncio.Event(), asyncio.Event()

    @tool
    async def write_file(path: str, content: str) -> str:
        """Write a file."""
        called.set()
        await left.wait()
        return path

    async def main(asked: Model) -> None:
        async with asyncio.timeout(20):
            async with Agent(asked, tools=[write_file]) as agent:
                turn = asyncio.create_task(agent.arun("Write it."))
                await called.wait()
            left.set()
            result = await turn
        assert (result.status, result.steps) == ("complete", 2)

    with Simulator() as sim:
        asyncio.run(main(model(sim, "openai-chat")))
