"""Asking a `Replay` through a wrapped SDK."""

from __future__ import annotations

from typing import Any

import tenuto
from support.asking.openai_chat import TOOLS, Asker, Got
from support.asking.wrapping import QUICK, Wrapped
from support.replay.openai_chat import Answer, Replay

ASK = {"role": "user", "content": "Tell me."}
FILES: dict[str, Any] = {"tools": TOOLS}
"""Keywords of a request that attaches the tool `write_file`."""

AFTER_RESULT: list[Any] = [
    ASK,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_0",
                "type": "function",
                "function": {"name": "write_file", "arguments": '{"path":"a","content":"b"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_0", "content": "written"},
]
"""A conversation that ends in a tool result."""


class OnStage:
    """A wrapped client in front of written-down answers, whichever the SDK. The connections are
    those of `base`, an asker without anything around it."""

    client: Any
    async_client: Any

    def __init__(self, base: Any, replay: Replay, policy: tenuto.Policy) -> None:
        self.__dict__.update(vars(base))
        self.replay = replay
        self.events: list[tenuto.Event] = []
        watch = self.events.append
        self.client = tenuto.wrap(base.client, policy=policy, on_event=watch)
        self.async_client = tenuto.wrap(base.async_client, policy=policy, on_event=watch)

    @property
    def sent(self) -> int:
        """How many requests left."""
        return len(self.replay.requests)

    @property
    def bodies(self) -> list[Any]:
        """The decoded bodies of the requests that left."""
        return [asked.json for asked in self.replay.requests]

    @property
    def budgets(self) -> list[Any]:
        """The output limit of each request that left."""
        return [body.get("max_completion_tokens", body.get("max_tokens")) for body in self.bodies]

    def added(self, number: int) -> list[Any]:
        """The rows that a request holds after the caller's own; those must be unchanged."""
        own, sent = self.bodies[0]["messages"], self.bodies[number]["messages"]
        assert sent[: len(own)] == own
        return list(sent[len(own) :])


class Played(OnStage, Wrapped):
    """The SDK of OpenAI."""

    def tell(self, mode: str = "body", way: str = "sync", **more: Any) -> Got:
        """Ask `ASK`."""
        return self.ask([ASK], mode, way, **more)


def played(base: Asker, replay: Replay, *answers: Answer, **settings: Any) -> Played:
    """A wrapped client that meets these answers; keywords are settings of the policy."""
    replay.say(*answers)
    return Played(base, replay, tenuto.Policy(**(QUICK | settings)))
