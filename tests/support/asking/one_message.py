"""Whether the events of a stream are one message of Anthropic's wire, as its reference describes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def events_of(stream: bytes) -> list[dict[str, Any]]:
    """The events of a stream, each named as its object is."""
    events = []
    for part in stream.decode().replace("\r\n", "\n").split("\n\n"):
        fields = [line.partition(": ") for line in part.split("\n") if not line.startswith(":")]
        found = {name: value for name, _, value in fields if name}
        if "data" in found:
            events.append(json.loads(found["data"]))
            assert found["event"] == events[-1]["type"]
    return events


def assert_one_message(events: Iterable[Mapping[str, Any]]) -> None:
    """One start; blocks in one row without gaps, each opened and closed once, with all its deltas
    between; one stop with the usage; one end."""
    told = [event for event in events if event["type"] != "ping"]
    kinds = [event["type"] for event in told]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    for once in ("message_start", "message_delta", "message_stop"):
        assert kinds.count(once) == 1, once
    assert isinstance(told[-2]["usage"]["output_tokens"], int)
    opened, is_open = -1, False
    for event in told[1:-2]:
        if event["type"] == "content_block_start":
            assert not is_open, "a block begins inside of another"
            opened, is_open = opened + 1, True
        else:
            assert is_open, f"{event['type']} outside of a block"
            assert event["type"] in ("content_block_delta", "content_block_stop")
            is_open = event["type"] == "content_block_delta"
        assert event["index"] == opened, "blocks are numbered in one row"
    assert not is_open, "a block stays open"
