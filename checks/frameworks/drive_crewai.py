"""CrewAI: an `Agent` that is kicked off, over an `LLM` whose two SDK clients are wrapped."""

import os
from typing import Any

os.environ |= {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
}  # read when it is imported

import httpx
from crewai import LLM, Agent
from crewai.events.utils.console_formatter import set_suppress_console_output
from crewai.tools import tool
from framework_judge import Answer, Given, fault_of

import tenuto

set_suppress_console_output(True)


class Driver:
    distribution = "crewai"
    wire = "openai-chat"
    library = "httpx"
    ways = ("sync", "async")

    def __init__(self, given: Given) -> None:
        model: Any = LLM(
            model="openai/gpt-4o-mini",
            base_url=given.base_url,
            api_key="key",
            stream=given.stream,
            max_retries=0,
            **given.body,
        )
        for name in ("_client", "_async_client"):
            client = getattr(model, name)
            client._client.event_hooks = {"request": [_counting(given, client._client)]}
            if given.policy is not None:
                setattr(model, name, tenuto.wrap(client, policy=given.policy))
        self.agent = Agent(
            role="guide",
            goal="Answer.",
            backstory="You know a lot.",
            llm=model,
            tools=[tool(each.__name__)(each) for each in given.tools],
            max_retry_limit=0,
            verbose=False,
        )
        self.messages: list[Any] = []

    def ask(self, prompt: str) -> Answer:
        self.messages.append({"role": "user", "content": prompt})
        return self._answer(self.agent.kickoff(self.messages))

    async def ask_async(self, prompt: str) -> Answer:
        self.messages.append({"role": "user", "content": prompt})
        return self._answer(await self.agent.akickoff(self.messages))

    def _answer(self, made: Any) -> Answer:
        self.messages.append({"role": "assistant", "content": made.raw})
        return Answer(made.raw)


def _counting(given: Given, client: Any) -> Any:
    """Send the fault along, and count as the client would that the others are given."""

    def hook(request: Any) -> None:
        request.headers.update(fault_of(given))
        given.count()

    async def hook_async(request: Any) -> None:
        hook(request)

    return hook_async if isinstance(client, httpx.AsyncClient) else hook
