"""What every stream of OpenAI Responses must be, whatever it took to finish it: one response."""

from __future__ import annotations

from typing import Any

LAST = ("response.completed", "response.incomplete", "response.failed")


def assert_one_response(told: list[Any]) -> None:
    """One id, events in order, each item and part begun once and ended once, the last event alone,
    and its response the sum of all."""
    events = [event.to_dict() for event in told]
    numbers = [event["sequence_number"] for event in events if "sequence_number" in event]
    assert numbers == sorted(set(numbers))
    assert len({e["response"]["id"] for e in events if "response" in e}) == 1
    assert [e["type"] in LAST for e in events] == [False] * (len(events) - 1) + [True]
    added = [e["output_index"] for e in events if e["type"] == "response.output_item.added"]
    done = [e["output_index"] for e in events if e["type"] == "response.output_item.done"]
    assert added == list(range(len(added)))
    assert sorted(done) == added
    ids = [e["item"].get("id") for e in events if e["type"] == "response.output_item.added"]
    assert len(set(ids)) == len(ids)
    texts: dict[tuple[int, int], str] = {}
    for event in events:
        place = (event.get("output_index", -1), event.get("content_index", -1))
        if event["type"] == "response.content_part.added":
            assert place not in texts
            texts[place] = ""
        elif event["type"] in ("response.output_text.delta", "response.refusal.delta"):
            texts[place] += event["delta"]
            assert event["item_id"] == ids[place[0]]
        elif event["type"] == "response.output_text.done":
            assert event["text"] == texts[place]
        elif event["type"] == "response.content_part.done":
            part = event["part"]
            assert part.get("text", part.get("refusal")) == texts[place]
    output = events[-1]["response"]["output"]
    parts = [p for item in output if item["type"] == "message" for p in item["content"]]
    words = [part.get("text", part.get("refusal")) for part in parts]
    assert words == [texts[place] for place in sorted(texts)]
