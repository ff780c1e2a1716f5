"""Asking a `Replay` through the wrapped SDK of Gemini."""

from __future__ import annotations

from typing import Any

import tenuto
from support.asking.gemini_generate import TOOLS, GeminiAsker, Said, model, result, user
from support.asking.wrapping import QUICK
from support.asking.wrapping_gemini import WrappedGemini
from support.replay.openai_chat import Answer, Replay

ASK = user("Tell me.")
FILES: dict[str, Any] = {"tools": TOOLS}
"""Keywords of a request that declares the function `write_file`."""

CALLED: dict[str, Any] = {
    "functionCall": {"name": "write_file", "args": {"path": "a", "content": "b"}},
    "thoughtSignature": "c2ln",
}
AFTER_RESULT: list[Any] = [ASK, model(CALLED), user(result())]
"""A conversation that ends in a result."""


class PlayedGemini(WrappedGemini):
    """A wrapped client in front of written-down answers. The connections are those of `base`, an
    asker without anything around it."""

    def __init__(self, base: GeminiAsker, replay: Replay, policy: tenuto.Policy) -> None:
        self.__dict__.update(vars(base))
        self.replay = replay
        self.events: list[tenuto.Event] = []
        self.client = tenuto.wrap(base.client, policy=policy, on_event=self.events.append)

    @property
    def sent(self) -> int:
        """How many requests left."""
        return len(self.replay.requests)

    @property
    def bodies(self) -> list[Any]:
        """The decoded bodies of the requests that left."""
        return [asked.json for asked in self.replay.requests]

    @property
    def configs(self) -> list[Any]:
        """The generation config of each request that left."""
        return [body.get("generationConfig", {}) for body in self.bodies]

    @property
    def budgets(self) -> list[Any]:
        """The output limit of each request that left."""
        return [config.get("maxOutputTokens") for config in self.configs]

    def added(self, number: int) -> list[Any]:
        """The rows that a request holds after the caller's own; those must be unchanged."""
        own, sent = self.bodies[0]["contents"], self.bodies[number]["contents"]
        assert sent[: len(own)] == own
        return list(sent[len(own) :])

    def tell(self, mode: str = "body", way: str = "sync", **more: Any) -> Said:
        """Ask `ASK`."""
        return self.ask([ASK], mode, way, **more)


def played(base: GeminiAsker, replay: Replay, *answers: Answer, **settings: Any) -> PlayedGemini:
    """A wrapped client that meets these answers; keywords are settings of the policy."""
    replay.say(*answers)
    return PlayedGemini(base, replay, tenuto.Policy(**(QUICK | settings)))
