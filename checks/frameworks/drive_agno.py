"""agno: `Agent` over `OpenAIChat`, which takes clients of httpx alone, one for each way."""

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai import OpenAIChat
from agno.run.agent import RunOutput
from agno.run.base import RunStatus
from framework_judge import Answer, Given


class Driver:
    distribution = "agno"
    wire = "openai-chat"
    library = "httpx"
    ways = ("sync", "async")

    def __init__(self, given: Given) -> None:
        model = OpenAIChat(
            id="sim",
            base_url=given.base_url,
            api_key="key",
            http_client=given.http,
            extra_body=given.body or None,
        )
        self.agent = Agent(
            model=model,
            tools=given.tools,
            db=InMemoryDb(),
            session_id="one",
            add_history_to_context=True,
            telemetry=False,
        )
        self.stream = given.stream

    def ask(self, prompt: str) -> Answer:
        if not self.stream:
            return _answer(self.agent.run(prompt))
        seen = list(self.agent.run(prompt, stream=True, yield_run_output=True))
        return _answer(seen[-1])

    async def ask_async(self, prompt: str) -> Answer:
        if not self.stream:
            return _answer(await self.agent.arun(prompt))
        streamed = self.agent.arun(prompt, stream=True, yield_run_output=True)
        seen = [event async for event in streamed]
        return _answer(seen[-1])


def _answer(run: RunOutput) -> Answer:
    if run.status is RunStatus.error:  # it raises nothing of its own: this is how it tells
        raise RuntimeError(run.content)
    # `run.content` is the text before a call and that after it in one; the last message stands alone.
    return Answer(str(run.messages[-1].content or ""))
