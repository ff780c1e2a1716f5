"""Asking a simulator through the wrapped SDK of Gemini, on Interactions."""

from __future__ import annotations

import re
from typing import Any

from asking_interactions import InteractionsAsker, Said
from wrapping import Watching

import tenuto
from tenuto.sim import Case


class WrappedInteractions(Watching, InteractionsAsker):
    """Asks through `tenuto.wrap`."""

    def __init__(
        self,
        sim: Any,
        policy: tenuto.Policy,
        attempts: int = 3,
        *,
        watched: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(sim, attempts, **options)
        self.wrap(policy, watched=watched)


def is_right(asker: WrappedInteractions, got: Said, case: Case) -> bool:
    """Whether the answer is the full right one, think blocks aside."""
    text, inputs = asker.wanted(got, case)
    said = re.sub(r"<think>.*?</think>", "", got.text, flags=re.DOTALL).strip()
    return said == text.strip() and got.inputs == inputs


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
