"""A refusal is whole as it came: under `on_incomplete="notice"` nothing is added, and nothing repeated."""

from __future__ import annotations

import pytest
from support.one_turn import Played
from support.whole_texts import WIRES, as_sent

from tenuto.turn.drivers.scripted import Scripted

NO = "I can't help with that."
PART = {"type": "refusal", "refusal": NO}
ITEM = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
AT = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
ENDED = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "tools": []}
DELTA = {"type": "response.refusal.delta", **AT, "delta": NO}


@pytest.mark.behaviour("P10", "S2", "C21")
@pytest.mark.parametrize("deltas", [[], [DELTA]], ids=["whole", "deltas"])
def test_a_refusal_leaves_as_it_came_under_notice(deltas):
    item = {**ITEM, "content": [PART]}
    begun = {**ENDED, "status": "in_progress", "output": []}
    events = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {**ITEM, "content": []}},
        {"type": "response.content_part.added", **AT, "part": {**PART, "refusal": ""}},
        *deltas,
        {"type": "response.refusal.done", **AT, "refusal": NO},
        {"type": "response.content_part.done", **AT, "part": PART},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {**ENDED, "status": "completed", "output": [item]},
        },
    ]
    pieces = as_sent("responses", events)
    (url, body), _ = WIRES["responses"]
    turn = Played(url, body, Scripted.stream(*pieces), on_incomplete="notice")
    assert len(turn.sent) == 1
    assert turn.got == b"".join(pieces)
