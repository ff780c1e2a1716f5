"""AutoGen: `AssistantAgent` over `OpenAIChatCompletionClient`, which takes what `AsyncOpenAI` takes."""

from autogen_agentchat.agents import AssistantAgent
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from framework_judge import MOST_REQUESTS, Answer, Given


class Driver:
    distribution = "autogen-agentchat"
    wire = "openai-chat"
    library = "httpx2"
    ways = ("async",)

    def __init__(self, given: Given) -> None:
        model = OpenAIChatCompletionClient(
            model="gpt-4o-mini",
            base_url=given.base_url,
            api_key="key",
            http_client=given.http,
            max_retries=0,
            **given.body,
        )
        tools = [FunctionTool(each, description=str(each.__doc__)) for each in given.tools]
        self.agent = AssistantAgent(
            "guide",
            model,
            tools=tools or None,
            system_message=None,
            model_client_stream=given.stream,
            max_tool_iterations=MOST_REQUESTS,
        )

    async def ask_async(self, prompt: str) -> Answer:
        made = await self.agent.run(task=prompt)
        last = made.messages[-1]
        return Answer(str(getattr(last, "content", "")))
