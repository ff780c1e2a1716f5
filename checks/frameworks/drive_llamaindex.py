"""LlamaIndex: `FunctionAgent` over `OpenAI`, which takes a client for each way; agents are async."""

from typing import Any

from framework_judge import Answer, Given
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context
from llama_index.llms.openai import OpenAI


class Driver:
    distribution = "llama-index-core"
    wire = "openai-chat"
    library = "httpx"
    ways = ("async",)

    def __init__(self, given: Given) -> None:
        model = OpenAI(
            model="gpt-4o-mini",
            api_base=given.base_url,
            api_key="key",
            async_http_client=given.http,
            max_retries=0,
            additional_kwargs=given.body,
        )
        self.agent = FunctionAgent(llm=model, tools=given.tools, streaming=given.stream)
        self.context = Context(self.agent)

    async def ask_async(self, prompt: str) -> Answer:
        made = await self.agent.run(prompt, ctx=self.context)
        return Answer(self.text(made), self.stop(made.raw))

    def text(self, made: Any) -> str:
        """The answer as its user prints it."""
        return str(made)

    def stop(self, raw: Any) -> str | None:
        """The stop of the last chunk or of the body, as the SDK has it."""
        choices = raw.get("choices") if isinstance(raw, dict) else getattr(raw, "choices", None)
        last = choices[0] if choices else None
        return (
            last.get("finish_reason")
            if isinstance(last, dict)
            else getattr(last, "finish_reason", None)
        )
