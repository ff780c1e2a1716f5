"""Asking a simulator through the wrapped SDK of Gemini, on Interactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from support.asking.gemini_interactions import InteractionsAsker
from support.asking.wrapping import Watching


class WrappedInteractions(Watching, InteractionsAsker):
    """Asks through `tenuto.wrap`."""

    retries: ClassVar[Mapping[str, int]] = {"attempts": 3}


def assert_one_interaction(told: list[Any]) -> None:
    """A stream is one interaction: one identity, steps counted in one row, one end."""
    kinds = [event.event_type for event in told]
    assert kinds.count("interaction.created") == 1
    assert kinds.count("interaction.completed") == 1
    assert kinds[-1] == "interaction.completed"
    assert told[0].interaction.id == told[-1].interaction.id
    opened: list[int] = []
    now: int | None = None
    for event in told:
        match event.event_type:
            case "step.start":
                assert now is None, "one step is open at a time"
                assert event.index == len(opened)
                now = event.index
                opened.append(now)
            case "step.delta":
                assert event.index == now
            case "step.stop":
                assert event.index == now
                now = None
