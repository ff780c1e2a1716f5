"""Strands: `Agent` over `OpenAIModel` with an SDK client; its synchronous calls stand on the same."""

import openai
from framework_judge import Answer, Given
from strands import Agent, tool
from strands.models.openai import OpenAIModel


def clock() -> str:
    """Tell the time."""
    return "noon"


class Driver:
    distribution = "strands-agents"
    wire = "openai-chat"
    library = "httpx"
    ways = ("async",)
    describes_hosts = True

    def __init__(self, given: Given) -> None:
        client = openai.AsyncOpenAI(base_url=given.base_url, api_key="key", http_client=given.http)
        params = {"extra_body": given.body} if given.body else {}
        model = OpenAIModel(client=client, model_id="sim", stream=given.stream, params=params)
        # Without tools it sends an empty list, which the strict simulator refuses as OpenAI did.
        tools = [tool(each) for each in given.tools or [clock]]
        # Its own retries of an overloaded provider wait for seconds.
        self.agent = Agent(model, tools=tools, callback_handler=None, retry_strategy=None)

    async def ask_async(self, prompt: str) -> Answer:
        made = await self.agent.invoke_async(prompt)
        texts = [part["text"] for part in made.message["content"] if "text" in part]
        return Answer("".join(texts), made.stop_reason)
