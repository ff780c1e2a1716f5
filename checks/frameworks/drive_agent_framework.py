"""Microsoft Agent Framework: `Agent` over `OpenAIChatCompletionClient` with an SDK client."""

from typing import Any

from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient
from framework_judge import Answer, Given
from sdk_driver import SdkDriver


class Driver(SdkDriver):
    distribution = "agent-framework-core"

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        model = OpenAIChatCompletionClient("sim", async_client=self.client)
        options: Any = dict(given.body)
        self.agent = Agent(client=model, tools=given.tools or None, default_options=options)
        self.session = self.agent.create_session()

    async def ask_async(self, prompt: str) -> Answer:
        if not self.stream:
            made: Any = await self.agent.run(prompt, session=self.session)
        else:
            streamed: Any = self.agent.run(prompt, stream=True, session=self.session)
            async for _ in streamed:
                pass
            made = await streamed.get_final_response()
        return Answer(made.messages[-1].text if made.messages else "", made.finish_reason)
