"""Haystack: `Agent` over `OpenAIChatGenerator`, which builds both HTTP clients of one dictionary."""

from typing import Any

import httpx
from framework_judge import Answer, Given, fault_of
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret

import tenuto


class Driver:
    distribution = "haystack-ai"
    wire = "openai-chat"
    library = "httpx"
    ways = ("sync", "async")

    def __init__(self, given: Given) -> None:
        self.given = given
        http: dict[str, Any] = {"event_hooks": {"request": [self._hook()]}}
        if given.policy is not None:
            http["transport"] = tenuto.HTTPTransport(policy=given.policy)
        generator = OpenAIChatGenerator(
            model="sim",
            api_key=Secret.from_token("key"),
            api_base_url=given.base_url,
            max_retries=0,
            http_client_kwargs=http,
            generation_kwargs=given.body,
        )
        options: dict[str, Any] = {}
        if given.stream:
            options["streaming_callback"] = _take_async if given.way == "async" else _take
        tools = [create_tool_from_function(each) for each in given.tools]
        self.agent = Agent(chat_generator=generator, tools=tools, **options)
        self.messages: list[ChatMessage] = []

    def _hook(self) -> Any:
        """Send the fault along, and count: with a transport, hooks see a turn and not its attempts."""

        def hook(request: httpx.Request) -> None:
            request.headers.update(fault_of(self.given))
            self.given.count()

        async def hook_async(request: httpx.Request) -> None:
            hook(request)

        return hook_async if self.given.way == "async" else hook

    def ask(self, prompt: str) -> Answer:
        self.messages.append(ChatMessage.from_user(prompt))
        return self._answer(self.agent.run(messages=self.messages))

    async def ask_async(self, prompt: str) -> Answer:
        self.messages.append(ChatMessage.from_user(prompt))
        return self._answer(await self.agent.run_async(messages=self.messages))

    def _answer(self, made: dict[str, Any]) -> Answer:
        self.messages = list(made["messages"])
        last = self.messages[-1]
        return Answer(last.text or "", last.meta.get("finish_reason"))


def _take(_: Any) -> None:
    """Stream, and leave the pieces to the framework."""


async def _take_async(_: Any) -> None:
    """The same for async callers."""
