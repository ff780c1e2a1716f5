"""Asking a simulator through the wrapped SDK of Cohere."""

from __future__ import annotations

from typing import Any

from support.asking.cohere import CohereAsker
from support.asking.wrapping import Watching


class WrappedCohere(Watching, CohereAsker):
    """Asks through `tenuto.wrap`."""


def assert_one_message(told: list[Any]) -> None:
    """A stream is one message: one beginning, parts and calls counted in a row, one end."""
    kinds = [event.type for event in told]
    assert (kinds.count("message-start"), kinds.count("message-end")) == (1, 1)
    assert (kinds[0], kinds[-1]) == ("message-start", "message-end")
    for opens, adds, closes in (
        ("content-start", "content-delta", "content-end"),
        ("tool-call-start", "tool-call-delta", "tool-call-end"),
        ("citation-start", "", "citation-end"),
    ):
        now: int | None = None
        numbers: list[int] = []
        for event in told:
            if event.type == opens:
                assert now is None, "one is open at a time"
                now = event.index
                numbers.append(now)
            elif event.type in (adds, closes):
                assert event.index == now
                now = None if event.type == closes else now
        assert now is None
        assert numbers == list(range(len(numbers)))
