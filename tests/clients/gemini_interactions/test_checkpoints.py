"""Interactions: a broken stream goes on from its last checkpoint, as without Tenuto or better."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from support.asking.gemini_interactions import InteractionsAsker
from support.asking.wrapping import QUICK
from support.events.framing import sse
from support.replay.openai_chat import Replay, Reply

import tenuto

pytestmark = [
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession"),
    pytest.mark.filterwarnings("ignore:Interactions usage is experimental"),
]
WORDS = ["One ", "two ", "three ", "four."]


@dataclass
class LongDecode:
    """Behind each piece of text comes a checkpoint. The first request breaks behind so many
    events; a request with a token gets what follows there."""

    ends: int
    clean: bool = False
    refuses: bool = False
    asked: int = 0
    wait_s: float = 0.0

    def reply(self, asked: Any) -> Reply:
        self.asked += 1
        given = asked.get("continuation_token")
        if given and self.refuses:
            error = {"error": {"code": "invalid_request", "message": "The token is not valid."}}
            return Reply(400, "application/json", json.dumps(error).encode(), {})
        events = self.events(int(given) if given else 0, f"v1_{self.asked}")
        if self.asked > 1:
            return Reply(200, "text/event-stream", b"".join(sse(events)), {})
        told = b"".join(sse(events[: self.ends]))
        if self.clean:
            return Reply(200, "text/event-stream", told, {})
        cut = {"content-length": str(len(told) + 99), "connection": "close"}
        return Reply(200, "text/event-stream", told, cut)

    def events(self, start: int, own_id: str) -> list[dict[str, Any]]:
        told: dict[str, Any] = {"id": own_id, "object": "interaction", "model": "m"}
        step = {"index": 0, "step": {"type": "model_output"}, "event_type": "step.start"}
        begun = {"interaction": told | {"status": "in_progress"}}
        made: list[dict[str, Any]] = [begun | {"event_type": "interaction.created"}, step]
        for at in range(start, len(WORDS)):
            delta = {"type": "text", "text": WORDS[at]}
            made.append({"index": 0, "delta": delta, "event_type": "step.delta"})
            status = {"status": "in_progress", "interaction_id": own_id}
            kind = {"event_type": "interaction.status_update"}
            made.append(status | kind | {"continuation_token": str(at + 1)})
        last = told | {"status": "completed", "usage": {"total_input_tokens": 3}}
        made.append({"index": 0, "event_type": "step.stop"})
        return [*made, {"interaction": last, "event_type": "interaction.completed"}]


def asked(far: LongDecode, way: str, *, wrapped: bool) -> tuple[Any, list[Any]]:
    """Ask for a stream that is not stored; what was said, and the requests that left."""
    with Replay() as replay:
        replay.say(*[far] * 9)
        asker = InteractionsAsker(replay)
        if wrapped:
            asker.client = tenuto.wrap(asker.client, policy=tenuto.Policy(**QUICK))
        try:
            said = asker.ask("Tell me.", "stream", way, store=False)
        finally:
            asker.close()
        return said, [request.json for request in replay.requests]


@pytest.mark.behaviour("C30", "P10")
@pytest.mark.parametrize("clean", [False, True], ids=["broken", "ended"])
@pytest.mark.parametrize("ends", range(1, 11))
def test_a_stream_that_breaks_at_any_event_goes_on_from_its_checkpoint(
    ends: int, clean: bool, way: str
) -> None:
    bare, sent_bare = asked(LongDecode(ends, clean), way, wrapped=False)
    said, sent = asked(LongDecode(ends, clean), way, wrapped=True)
    assert (said.error, said.text, said.stop) == (None, "".join(WORDS), "completed")
    if bare.error is None and bare.stop:
        assert sent == sent_bare
    checkpoints = max(ends - 2, 0) // 2
    tokens = [request.get("continuation_token") for request in sent]
    assert tokens == [None, str(checkpoints) if checkpoints else None]


@pytest.mark.behaviour("C30", "C5")
def test_a_refused_token_is_followed_by_asking_in_words(way: str) -> None:
    said, sent = asked(LongDecode(4, refuses=True), way, wrapped=True)
    assert said.error is None
    assert [request.get("continuation_token") for request in sent] == [None, "1", None]
    assert sent[2]["input"][-2]["content"] == [{"type": "text", "text": "One"}]
