"""The agent, its tools and its events."""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import assert_type

import tenuto
from tenuto import agent
from tenuto.agent.events import Called, Said


@agent.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@agent.tool(name="less", idempotent=True)
def subtract(a: int, b: int) -> int:
    """Subtract a number."""
    return a - b


def run() -> None:
    assert_type(add, agent.Tool)
    assert_type(subtract, agent.Tool)
    limits = agent.Limits(max_steps=5, timeout_s=60)
    helper = tenuto.agent.Agent("openai:gpt-5-mini", tools=[add, subtract], limits=limits)
    result = helper.run("What is 2 and 2?")
    assert_type(result, agent.RunResult)
    assert_type(result.text, str)
    assert_type(result.status, tenuto.Status)
    assert_type(result.reports, tuple[tenuto.Report, ...])
    for event in helper.stream("And 3?"):
        match event:
            case Said():
                assert_type(event.text, str)
            case Called():
                assert_type(event.call.name, str)
            case _:
                pass
    helper.conversation(result.rows).run("Once more?")


async def arun(helper: agent.Agent) -> agent.RunResult:
    async for event in helper.astream("What is 2 and 2?"):
        print(event)
    return await helper.arun("And 3?")


def refused() -> None:
    agent.Agent()  # type: ignore[call-arg]
    agent.Agent(42)  # type: ignore[arg-type]
    agent.Agent("openai:gpt-5-mini", tools=add)  # type: ignore[arg-type]
    agent.Limits(max_steps="five")  # type: ignore[arg-type]
    agent.tool(timeout="never")  # type: ignore[call-overload]
