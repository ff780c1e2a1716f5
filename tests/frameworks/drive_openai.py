"""The openai SDK by itself, wrapped, in a loop of our own: what the frameworks are compared with."""

from typing import Any

import openai
from judging import Answer, Given, fault_of
from loop import Conversation, schemas


class Driver:
    distribution = "openai"
    wire = "openai-chat"
    library = "httpx2"
    ways = ("sync", "async")

    def __init__(self, given: Given) -> None:
        self.given = given
        self.talk = Conversation(given.tools)
        kind: Any = openai.AsyncOpenAI if given.way == "async" else openai.OpenAI
        self.client = kind(
            base_url=given.base_url, api_key="key", http_client=given.http, max_retries=0
        )
        self.options: dict[str, Any] = {"model": "sim", "extra_body": given.body or None}
        if given.tools:
            self.options["tools"] = schemas(given.tools)

    def _request(self) -> dict[str, Any]:
        said = {"messages": self.talk.messages, "extra_headers": fault_of(self.given)}
        return self.options | said

    def ask(self, prompt: str) -> Answer:
        for _ in self.talk.ask(prompt):
            if self.given.stream:
                with self.client.chat.completions.stream(**self._request()) as stream:
                    made = stream.until_done().get_final_completion()
            else:
                made = self.client.chat.completions.create(**self._request())
            if not self.talk.run(made.choices[0].message, _row(made)):
                return _answer(made)
        raise self.talk.never_ends()

    async def ask_async(self, prompt: str) -> Answer:
        for _ in self.talk.ask(prompt):
            if self.given.stream:
                async with self.client.chat.completions.stream(**self._request()) as stream:
                    made = await (await stream.until_done()).get_final_completion()
            else:
                made = await self.client.chat.completions.create(**self._request())
            if not self.talk.run(made.choices[0].message, _row(made)):
                return _answer(made)
        raise self.talk.never_ends()


def _row(made: Any) -> dict[str, Any]:
    """An answer as a message of the next request; the SDK's own has keys that OpenAI refuses."""
    message = made.choices[0].message
    row: dict[str, Any] = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        row["tool_calls"] = [
            call.model_dump(
                include={"id", "type", "function"}, exclude={"function": {"parsed_arguments"}}
            )
            for call in message.tool_calls
        ]
    return row


def _answer(made: Any) -> Answer:
    message = made.choices[0].message
    return Answer((message.content or "") + (message.refusal or ""), made.choices[0].finish_reason)
