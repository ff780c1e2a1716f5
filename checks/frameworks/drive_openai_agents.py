"""openai-agents: `Runner` over `OpenAIChatCompletionsModel` with an SDK client of one's own."""

from typing import Any

import openai
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from framework_judge import Answer, Given

set_tracing_disabled(True)


class Driver:
    distribution = "openai-agents"
    wire = "openai-chat"
    library = "httpx2"
    ways = ("async",)
    model: Any = OpenAIChatCompletionsModel

    def __init__(self, given: Given) -> None:
        client = openai.AsyncOpenAI(base_url=given.base_url, api_key="key", http_client=given.http)
        self.agent = Agent(
            "assistant",
            model=self.model("sim", client),
            model_settings=ModelSettings(extra_body=given.body or None),
            tools=[function_tool(tool) for tool in given.tools],
        )
        self.stream = given.stream
        self.items: Any = []

    async def ask_async(self, prompt: str) -> Answer:
        asked = [*self.items, {"role": "user", "content": prompt}]
        if self.stream:
            run = Runner.run_streamed(self.agent, asked)
            async for _ in run.stream_events():
                pass
        else:
            run = await Runner.run(self.agent, asked)
        self.items = run.to_input_list()
        return Answer(str(run.final_output))
