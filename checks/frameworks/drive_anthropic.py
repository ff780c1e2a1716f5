"""The anthropic SDK by itself, in a loop of our own."""

from typing import Any

import anthropic
from framework_judge import Answer, Given
from loop import SdkLoop


class Driver(SdkLoop):
    distribution = "anthropic"
    wire = "anthropic-messages"
    library = "httpx2"

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        kind: Any = anthropic.AsyncAnthropic if given.way == "async" else anthropic.Anthropic
        self.client = kind(
            base_url=given.base_url.removesuffix("/v1"),
            api_key="key",
            http_client=given.http,
            max_retries=0,
        )
        self.options["max_tokens"] = 4_096

    def tools(self, schemas: list[dict[str, Any]]) -> Any:
        return [
            {
                "name": function["name"],
                "description": function["description"],
                "input_schema": function["parameters"],
            }
            for function in (each["function"] for each in schemas)
        ]

    def send(self) -> Any:
        if not self.given.stream:
            return self.client.messages.create(**self.request())
        with self.client.messages.stream(**self.request()) as stream:
            return stream.get_final_message()

    async def send_async(self) -> Any:
        if not self.given.stream:
            return await self.client.messages.create(**self.request())
        async with self.client.messages.stream(**self.request()) as stream:
            return await stream.get_final_message()

    def keep(self, made: Any) -> bool:
        self.talk.messages.append({"role": "assistant", "content": made.content})
        results = [
            {
                "type": "tool_result",
                "tool_use_id": block.id,
                "content": self.talk.call(block.name, block.input),
            }
            for block in made.content
            if block.type == "tool_use"
        ]
        if results:
            self.talk.messages.append({"role": "user", "content": results})
        return bool(results)

    def answer(self, made: Any) -> Answer:
        text = "".join(block.text for block in made.content if block.type == "text")
        return Answer(text, made.stop_reason)
