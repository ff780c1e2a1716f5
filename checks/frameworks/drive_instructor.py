"""instructor: objects from a wrapped client, by a forced call for a tool's arguments, else by a JSON schema.

It has no loop, so the call is the last answer: the driver runs the tool with the object. It asks
for one object, and sends no result back, so cases of several calls and of results are left out.
"""

import inspect
import json
from collections.abc import Callable
from typing import Any

import instructor
import openai
import pydantic
from framework_judge import Answer, Given, fault_of

from tenuto_sim import Case


class Report(pydantic.BaseModel):
    title: str
    items: list[str]


class Driver:
    distribution = "instructor"
    wire = "openai-chat"
    library = "httpx2"
    ways = ("sync", "async")
    ends_with_calls = True

    def __init__(self, given: Given) -> None:
        self.given = given
        kind: Any = openai.AsyncOpenAI if given.way == "async" else openai.OpenAI
        client = kind(base_url=given.base_url, api_key="key", http_client=given.http, max_retries=0)
        self.tool = given.tools[0] if given.tools else None
        mode = instructor.Mode.TOOLS if self.tool else instructor.Mode.JSON_SCHEMA
        self.asker: Any = instructor.from_openai(client, mode=mode).chat.completions
        self.model: Any = _model_of(self.tool) if self.tool else Report
        self.messages: list[Any] = []

    @staticmethod
    def fits(case: Case) -> bool:
        """Whether instructor can ask what this case answers."""
        return case.kind != "calls" and not case.after_tool_result

    def _request(self, prompt: str) -> dict[str, Any]:
        self.messages.append({"role": "user", "content": prompt})
        body = {key: self.given.body[key] for key in self.given.body.keys() - {"response_format"}}
        return {
            "model": "sim",
            "response_model": self.model,
            "messages": list(self.messages),
            "extra_headers": fault_of(self.given),
            "extra_body": body or None,
        }

    def ask(self, prompt: str) -> Answer:
        asked = self._request(prompt)
        if not self.given.stream:
            return self._answer(self.asker.create(**asked))
        return self._answer(list(self.asker.create_partial(**asked))[-1])

    async def ask_async(self, prompt: str) -> Answer:
        asked = self._request(prompt)
        if not self.given.stream:
            return self._answer(await self.asker.create(**asked))
        return self._answer([made async for made in self.asker.create_partial(**asked)][-1])

    def _answer(self, made: pydantic.BaseModel) -> Answer:
        values = made.model_dump()
        said = json.dumps(values, ensure_ascii=False)
        self.messages.append({"role": "assistant", "content": said})
        if self.tool is None:
            return Answer(said)
        self.tool(**values)
        return Answer("")


def _model_of(tool: Callable[..., str]) -> Any:
    """A function of strings as a model of its arguments."""
    fields: Any = dict.fromkeys(inspect.signature(tool).parameters, (str, ...))
    return pydantic.create_model(tool.__name__, __doc__=inspect.getdoc(tool), **fields)
