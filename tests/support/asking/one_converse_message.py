"""Events of ConverseStream that are one message, whatever it took to finish it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def assert_one_converse_message(events: Sequence[dict[str, Any]]) -> None:
    """One start, blocks that are numbered in one row and closed, one stop, the usage last."""
    names = [next(iter(event)) for event in events]
    assert names[0] == "messageStart"
    assert names[-2:] == ["messageStop", "metadata"]
    assert all(names.count(name) == 1 for name in ("messageStart", "messageStop", "metadata"))
    closed: list[int] = []
    current: int | None = None
    for event in events[1:-2]:
        ((name, payload),) = event.items()
        index = payload["contentBlockIndex"]
        assert index not in closed, "a block goes on behind its end"
        if name == "contentBlockStart" or current is None:
            assert current is None, "a block begins inside of another"
            current = index
        assert index == current
        if name == "contentBlockStop":
            closed.append(index)
            current = None
    assert current is None
    assert closed == sorted(closed)
