"""Asking a `Replay` through the wrapped SDK of Anthropic."""

from __future__ import annotations

from typing import Any

import tenuto
from support.asking.anthropic_messages import TOOLS, AnthropicAsker, Said, of_the_wire
from support.asking.one_message import assert_one_message
from support.asking.wrapping import QUICK
from support.asking.wrapping_anthropic import WrappedAnthropic
from support.replay.openai_chat import Answer, Replay
from support.replay.playing import OnStage

ASK: dict[str, Any] = {"role": "user", "content": "Tell me."}
FILES: dict[str, Any] = {"tools": TOOLS}
"""Keywords of a request that attaches the tool `write_file`."""

_CALL = {"type": "tool_use", "id": "toolu_0", "name": "write_file"}
AFTER_RESULT: list[Any] = [
    ASK,
    {"role": "assistant", "content": [_CALL | {"input": {"path": "a", "content": "b"}}]},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_0", "content": "written"}],
    },
]
"""A conversation that ends in a tool result."""


def user(text: str) -> dict[str, Any]:
    """A row of ours that holds a hint."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def assistant(*blocks: str | dict[str, Any]) -> dict[str, Any]:
    """A row of ours that holds what the model has said."""
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {"role": "assistant", "content": content}


class PlayedAnthropic(OnStage, WrappedAnthropic):
    """The SDK of Anthropic. Every stream that ends well must be one message."""

    def ask(self, messages: list[Any], mode: str = "body", way: str = "sync", **more: Any) -> Said:
        got = super().ask(messages, mode, way, **more)
        if mode == "stream" and got.error is None:
            assert_one_message(of_the_wire(self.told))
        return got

    def tell(self, mode: str = "body", way: str = "sync", **more: Any) -> Said:
        """Ask `ASK`."""
        return self.ask([ASK], mode, way, **more)


def played(
    base: AnthropicAsker, replay: Replay, *answers: Answer, **settings: Any
) -> PlayedAnthropic:
    """A wrapped client that meets these answers; keywords are settings of the policy."""
    replay.say(*answers)
    return PlayedAnthropic(base, replay, tenuto.Policy(**(QUICK | settings)))
