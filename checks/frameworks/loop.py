"""A tool loop for hosts that have none of their own, as their documentation writes it."""

import inspect
import json
from collections.abc import Callable
from typing import Any

from framework_judge import MOST_REQUESTS, Answer, Endless, Given, fault_of


def schemas(tools: list[Callable[..., str]]) -> list[dict[str, Any]]:
    """Functions of strings as tools of Chat Completions."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.__name__,
                "description": inspect.getdoc(tool),
                "parameters": {
                    "type": "object",
                    "properties": {name: {"type": "string"} for name in _parameters(tool)},
                    "required": _parameters(tool),
                },
            },
        }
        for tool in tools
    ]


def _parameters(tool: Callable[..., str]) -> list[str]:
    return list(inspect.signature(tool).parameters)


class Conversation:
    """Messages, and the tools whose calls are run."""

    def __init__(self, tools: list[Callable[..., str]]) -> None:
        self._tools = {tool.__name__: tool for tool in tools}
        self.messages: list[Any] = []

    def ask(self, prompt: str) -> range:
        """Begin a turn. Each step of it is one request."""
        self.messages.append({"role": "user", "content": prompt})
        return range(MOST_REQUESTS)

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Run a tool."""
        return self._tools[name](**arguments)

    def run(self, message: Any, row: Any = None) -> bool:
        """Keep an answer, as itself or as this row, and run its calls. False: it has none."""
        self.messages.append(message if row is None else row)
        calls = message.tool_calls or []
        for call in calls:
            result = self.call(call.function.name, json.loads(call.function.arguments))
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return bool(calls)

    def never_ends(self) -> Endless:
        """What is raised where each answer asks for another one."""
        return Endless()


class SdkLoop:
    """The loop over a provider's SDK. A driver sends what `talk` holds, whole or streamed, and keeps
    what comes: False says that it has no calls, so that it is the answer."""

    ways: tuple[str, ...] = ("sync", "async")
    rows = "messages"
    """The argument with the conversation."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.talk = Conversation(given.tools)
        self.options: dict[str, Any] = {"model": "sim", "extra_body": given.body or None}
        if given.tools:
            self.options["tools"] = self.tools(schemas(given.tools))

    def request(self) -> dict[str, Any]:
        """The arguments of the SDK's call."""
        said = {self.rows: self.talk.messages, "extra_headers": fault_of(self.given)}
        return self.options | said

    def tools(self, schemas: list[dict[str, Any]]) -> Any:
        """The tools as the SDK takes them."""
        return schemas

    def ask(self, prompt: str) -> Answer:
        for _ in self.talk.ask(prompt):
            made = self.send()
            if not self.keep(made):
                return self.answer(made)
        raise self.talk.never_ends()

    async def ask_async(self, prompt: str) -> Answer:
        for _ in self.talk.ask(prompt):
            made = await self.send_async()
            if not self.keep(made):
                return self.answer(made)
        raise self.talk.never_ends()

    def send(self) -> Any:
        raise NotImplementedError

    async def send_async(self) -> Any:
        raise NotImplementedError

    def keep(self, made: Any) -> bool:
        raise NotImplementedError

    def answer(self, made: Any) -> Answer:
        raise NotImplementedError
