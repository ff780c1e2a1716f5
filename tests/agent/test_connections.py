"""Turns of one agent share its connections."""

from __future__ import annotations

import asyncio
import importlib
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agent.simulated import QUICK, model
from support.far_sides import FarSide

from tenuto_agent import Agent, Model
from tenuto_agent.function_tool import tool
from tenuto_sim import Simulator


@pytest.fixture
def opened(monkeypatch) -> list[asyncio.Transport]:
    """The connections that are opened meanwhile."""
    found: list[asyncio.Transport] = []
    connect = asyncio.BaseEventLoop.create_connection

    async def counted(self, factory, host=None, port=None, **options):
        made = await connect(self, factory, host, port, **options)
        found.append(made[0])
        return made

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


@pytest.mark.behaviour("C23")
def test_two_loops_within_async_with_of_one_agent_keep_a_connection_each_which_is_closed(opened):
    both = threading.Barrier(2, timeout=20)

    async def within(agent: Agent) -> None:
        async with agent:
            both.wait()
            await talk(agent, 3)
            both.wait()

    with Simulator() as sim:
        agent = Agent(Model("openai-chat:sim-model:normal", base_url=sim.base_url))
        with ThreadPoolExecutor() as threads:
            list(threads.map(asyncio.run, [within(agent), within(agent)]))
    assert [transport.is_closing() for transport in opened] == [True, True]


@pytest.mark.behaviour("C23")
@pytest.mark.parametrize("library", ["httpx2", "httpx"])
def test_threads_that_use_an_agent_for_the_first_time_at_once_share_its_client(
    library, monkeypatch
):
    module = importlib.import_module(library)
    made: list[Any] = []
    make = module.Client.__init__

    def noted(self: Any, *given: Any, **options: Any) -> None:
        make(self, *given, **options)
        made.append(self)

    monkeypatch.setattr(module.Client, "__init__", noted)
    begin = threading.Barrier(8, timeout=20)

    def turn(agent: Agent) -> str:
        begin.wait()
        return agent.run("How are tides made?").status

    with Simulator() as sim, ThreadPoolExecutor(8) as threads:
        asked = Model("openai-chat:sim-model:normal", base_url=sim.base_url)
        with Agent(asked, library=library) as agent:
            assert set(threads.map(turn, [agent] * 8)) == {"complete"}
    assert len(made) == 1


@pytest.mark.behaviour("P4")
@pytest.mark.parametrize("library", ["httpx2", "httpx"])
def test_where_the_environment_says_where_to_ask_each_turn_looks_anew(monkeypatch, library):
    asked: list[str] = []

    def nowhere(host: str, *_: object, **__: object) -> None:
        asked.append(host)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "k")
    with Agent("aws-converse:anthropic.claude-x", policy=QUICK, library=library) as agent:
        for region in ("us-east-1", "eu-west-1"):
            monkeypatch.setenv("AWS_REGION", region)
            assert agent.run("Hello.").status == "failed"
            assert {host.split(".")[1] for host in asked} == {region}
            asked.clear()


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("watched", [{"options": {"n": 2}}, {"headers": {"x-tenuto": "off"}}])
def test_a_turn_that_is_left_alone_fails_as_such_where_no_answer_comes(watched, stream):
    with FarSide(b"") as far:
        asked = Model("openai-chat:m", base_url=far.base_url, api_key="k", **watched)
        with Agent(asked, stream=stream) as agent:
            result = agent.run("Hello.")
            after = asyncio.run(agent.arun("Hello."))
    for each in (result, after):
        assert (each.status, each.reason) == ("failed", "left_alone")
        assert each.fault is not None
        assert each.fault.kind == "connection"
