"""LlamaIndex: `FunctionAgent` over `Anthropic`, which makes both its clients itself."""

from typing import Any

from drive_llamaindex import Driver as OnChat
from framework_judge import Given, fault_of
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context
from llama_index.llms.anthropic import Anthropic

import tenuto


class Driver(OnChat):
    wire = "anthropic-messages"

    def __init__(self, given: Given) -> None:
        model: Any = Anthropic(
            model="claude-haiku-4-5",
            base_url=given.base_url.removesuffix("/v1"),
            api_key="key",
            max_tokens=4_096,
            max_retries=0,
            additional_kwargs=given.body,
        )

        async def hook(request: Any) -> None:
            request.headers.update(fault_of(given))
            given.count()

        model._aclient._client.event_hooks = {"request": [hook]}
        if given.policy is not None:
            model._aclient = tenuto.wrap(model._aclient, policy=given.policy)
        self.agent = FunctionAgent(llm=model, tools=given.tools, streaming=given.stream)
        self.context = Context(self.agent)

    def text(self, made: Any) -> str:
        """The text blocks as they came: `str(made)` has a line break between two of them, so also in the
        word that a pause cut, however whole the answer is."""
        return "".join(block.text for block in made.response.blocks if block.block_type == "text")

    def stop(self, raw: Any) -> str | None:
        """The stop of a body, or of the last event, which a stream's answer holds as `raw`."""
        held = dict(raw)
        return held.get("stop_reason") or getattr(held.get("delta"), "stop_reason", None)
