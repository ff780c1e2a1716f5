"""pydantic-ai: `Agent` over `OpenAIChatModel`; its synchronous calls stand on the same client."""

from typing import Any

from framework_judge import Answer, Given
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


class Driver:
    distribution = "pydantic-ai-slim"
    wire = "openai-chat"
    library = "httpx2"
    ways = ("async",)

    def __init__(self, given: Given) -> None:
        provider = OpenAIProvider(base_url=given.base_url, api_key="key", http_client=given.http)
        settings = {"extra_body": given.body} if given.body else {}
        model = OpenAIChatModel("sim", provider=provider, settings=settings)
        self.agent = Agent(model, tools=given.tools)
        self.stream = given.stream
        self.messages: Any = []

    async def ask_async(self, prompt: str) -> Answer:
        handler = _read if self.stream else None
        run = await self.agent.run(
            prompt, message_history=self.messages, event_stream_handler=handler
        )
        self.messages = run.all_messages()
        return Answer(run.output, self.messages[-1].finish_reason)


async def _read(_: Any, events: Any) -> None:
    """`run_stream` takes text before a call for the answer; with this the whole loop is streamed."""
    async for _event in events:
        pass
