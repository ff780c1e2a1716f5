"""Asking a simulator through the wrapped SDK of Gemini, on Interactions."""

from __future__ import annotations

import re
from typing import Any

from asking_interactions import InteractionsAsker, Said

import tenuto
from tenuto.sim import Case


class WrappedInteractions(InteractionsAsker):
    """Asks through `tenuto.wrap`, and keeps the events."""

    def __init__(self, sim: Any, policy: tenuto.Policy, attempts: int = 3, **options: Any) -> None:
        super().__init__(sim, attempts, **options)
        self.events: list[tenuto.Event] = []
        self.client = tenuto.wrap(self.client, policy=policy, on_event=self.events.append)

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> Said:
        self.events.clear()
        return super().ask_case(case, mode, way, **more)

    def of(self, name: str) -> list[dict[str, Any]]:
        """The data of all events of one name."""
        return [event.data for event in self.events if event.name == name]

    @property
    def ending(self) -> dict[str, Any]:
        """The data of the last `turn_ended`: an SDK that retries begins a turn each time."""
        return self.of("turn_ended")[-1]


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
