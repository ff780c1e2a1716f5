"""Gemini's continuation token through a relay: an encrypted item of the reasoning, which goes back.

OpenRouter writes the token as an item of `reasoning_details`, and takes it from the assistant message
of the next request (`wires/chat_like/beside.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from support.events import openai_chat as chat
from support.events.framing import sse
from support.replay.openai_chat import Played, R, Reply

from tenuto.core import hints

RELAY = "http://openrouter.ai/api/v1"
WORDS = ["One ", "two ", "three ", "four "]


def item(data: str) -> dict[str, Any]:
    return {"type": "reasoning.encrypted", "data": data, "format": "google-gemini-v1", "index": 0}


@dataclass(frozen=True)
class Relayed:
    """A stream that breaks behind so many chunks of text; the item stands in one of them."""

    words: int
    item_at: int
    stop: str | None = None
    wait_s: float = 0.0

    def reply(self, asked: Any) -> Reply:
        shared = {**chat.SHARED, "model": "google/gemini-4"}
        said = [{"content": word} for word in WORDS[: self.words]]
        said[self.item_at]["reasoning_details"] = [item("dG9rZW4=")]  # type: ignore[assignment]
        if not asked.get("stream"):
            text = "".join(WORDS[: self.words])
            beside = {"reasoning_details": [item("dG9rZW4=")]}
            value = chat.whole(chat.message(text, **beside), self.stop, shared=shared)
            return Reply(200, "application/json", json.dumps(value).encode(), {})
        told = chat.chunks(said, self.stop, shared=shared, beside={}, usage=None)
        if self.stop is not None:
            return Reply(200, "text/event-stream", b"".join(sse(told, done=True)), {})
        cut = b"".join(sse(told[: len(said)], done=False))
        headers = {"content-length": str(len(cut) + 99), "connection": "close"}
        return Reply(200, "text/event-stream", cut, headers)


@pytest.mark.behaviour("C30", "H5b")
@pytest.mark.parametrize(("words", "item_at"), [(w, i) for w in range(1, 5) for i in range(w)])
def test_a_relayed_stream_that_breaks_anywhere_goes_on_with_its_item(
    behind: Callable[..., Played], words: int, item_at: int, way: str
) -> None:
    asker = behind(RELAY, Relayed(words, item_at), R("".join(WORDS[words:]) + "five."))
    told = asker.tell("stream", way)
    assert told.text == "One two three four five."
    said, hint = asker.added(1)
    assert said["content"] == "".join(WORDS[:words]).rstrip()
    assert said["reasoning_details"] == [item("dG9rZW4=")]
    assert hint["role"] == "user"


@pytest.mark.behaviour("C30", "H5b")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_relayed_answer_at_the_limit_goes_on_with_its_item_and_a_higher_limit(
    behind: Callable[..., Played], mode: str, way: str
) -> None:
    asker = behind(RELAY, Relayed(2, 1, "length"), R("three."))
    told = asker.tell(mode, way, max_tokens=100)
    assert told.text == "One two three."
    said, hint = asker.added(1)
    assert said["reasoning_details"] == [item("dG9rZW4=")]
    assert hint == {"role": "user", "content": hints.CONTINUE}
    assert asker.budgets == [100, 200]
