"""The openai SDK by itself over the Responses API, in a loop of our own."""

import json
from typing import Any

import openai
from judging import Answer, Given, fault_of
from loop import SdkLoop, schemas


class Driver(SdkLoop):
    distribution = "openai"
    wire = "openai-responses"
    library = "httpx2"

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        kind: Any = openai.AsyncOpenAI if given.way == "async" else openai.OpenAI
        self.client = kind(
            base_url=given.base_url, api_key="key", http_client=given.http, max_retries=0
        )
        self.options: dict[str, Any] = {"model": "sim", "extra_body": given.body or None}
        if given.tools:
            tools = [{"type": "function", **each["function"]} for each in schemas(given.tools)]
            self.options["tools"] = tools

    def _request(self) -> dict[str, Any]:
        said = {"input": self.talk.messages, "extra_headers": fault_of(self.given)}
        return self.options | said

    def send(self) -> Any:
        if not self.given.stream:
            return self.client.responses.create(**self._request())
        with self.client.responses.stream(**self._request()) as stream:
            return stream.get_final_response()

    async def send_async(self) -> Any:
        if not self.given.stream:
            return await self.client.responses.create(**self._request())
        async with self.client.responses.stream(**self._request()) as stream:
            return await stream.get_final_response()

    def keep(self, made: Any) -> bool:
        self.talk.messages += made.output
        calls = [item for item in made.output if item.type == "function_call"]
        for call in calls:
            result = self.talk.call(call.name, json.loads(call.arguments))
            row = {"type": "function_call_output", "call_id": call.call_id, "output": result}
            self.talk.messages.append(row)
        return bool(calls)

    def answer(self, made: Any) -> Answer:
        parts = [part for item in made.output if item.type == "message" for part in item.content]
        refusals = [part.refusal for part in parts if part.type == "refusal"]
        reason = made.incomplete_details and made.incomplete_details.reason
        stop = reason or (None if made.status == "completed" else made.status)
        return Answer(made.output_text + "".join(refusals), stop)
