"""A tool loop for hosts that have none of their own, as their documentation writes it."""

import inspect
import json
from collections.abc import Callable
from typing import Any

from judging import MOST_REQUESTS, Endless


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

    def run(self, message: Any, row: Any = None) -> bool:
        """Keep an answer, as itself or as this row, and run its calls. False: it has none."""
        self.messages.append(message if row is None else row)
        calls = message.tool_calls or []
        for call in calls:
            tool = self._tools[call.function.name]
            result = tool(**json.loads(call.function.arguments))
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return bool(calls)

    def never_ends(self) -> Endless:
        """What is raised where each answer asks for another one."""
        return Endless()
