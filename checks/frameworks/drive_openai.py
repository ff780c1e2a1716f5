"""The openai SDK by itself, wrapped, in a loop of our own: what the frameworks are compared with."""

from typing import Any

import openai
from framework_judge import Answer, Given
from loop import SdkLoop


class Driver(SdkLoop):
    distribution = "openai"
    wire = "openai-chat"
    library = "httpx2"

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        kind: Any = openai.AsyncOpenAI if given.way == "async" else openai.OpenAI
        self.client = kind(
            base_url=given.base_url, api_key="key", http_client=given.http, max_retries=0
        )

    def send(self) -> Any:
        if not self.given.stream:
            return self.client.chat.completions.create(**self.request())
        with self.client.chat.completions.stream(**self.request()) as stream:
            return stream.until_done().get_final_completion()

    async def send_async(self) -> Any:
        if not self.given.stream:
            return await self.client.chat.completions.create(**self.request())
        async with self.client.chat.completions.stream(**self.request()) as stream:
            return await (await stream.until_done()).get_final_completion()

    def keep(self, made: Any) -> bool:
        """The SDK's own message has keys that OpenAI refuses in the next request."""
        message = made.choices[0].message
        row: dict[str, Any] = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            row["tool_calls"] = [
                call.model_dump(
                    include={"id", "type", "function"}, exclude={"function": {"parsed_arguments"}}
                )
                for call in message.tool_calls
            ]
        return self.talk.run(message, row)

    def answer(self, made: Any) -> Answer:
        message = made.choices[0].message
        said = (message.content or "") + (message.refusal or "")
        return Answer(said, made.choices[0].finish_reason)
