"""The openai SDK by itself over the Responses API, in a loop of our own."""

import json
from typing import Any

from drive_openai import Driver as OnChat
from framework_judge import Answer


class Driver(OnChat):
    wire = "openai-responses"
    rows = "input"

    def tools(self, schemas: list[dict[str, Any]]) -> Any:
        return [{"type": "function", **each["function"]} for each in schemas]

    def send(self) -> Any:
        if not self.given.stream:
            return self.client.responses.create(**self.request())
        with self.client.responses.stream(**self.request()) as stream:
            return stream.get_final_response()

    async def send_async(self) -> Any:
        if not self.given.stream:
            return await self.client.responses.create(**self.request())
        async with self.client.responses.stream(**self.request()) as stream:
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
