"""Asking a simulator through a wrapped client of boto3."""

from __future__ import annotations

import re
from typing import Any

from asking_bedrock import BedrockAsker, Spoken

import tenuto
from tenuto.sim import Case, Simulator


class WrappedBedrock(BedrockAsker):
    """Asks through `tenuto.wrap`, and keeps the events."""

    def __init__(self, sim: Simulator, policy: tenuto.Policy, max_retries: int = 2) -> None:
        super().__init__(sim, max_retries)
        self.events: list[tenuto.Event] = []
        watch = self.events.append
        self.client = tenuto.wrap(self.client, policy=policy, on_event=watch)
        self.async_client = tenuto.wrap(self.async_client, policy=policy, on_event=watch)

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> Spoken:
        self.events.clear()
        return super().ask_case(case, mode, way, **more)

    def of(self, name: str) -> list[dict[str, Any]]:
        """The data of all events of one name."""
        return [event.data for event in self.events if event.name == name]

    @property
    def ending(self) -> dict[str, Any]:
        """The data of the last `turn_ended`: an SDK that retries begins a turn each time."""
        return self.of("turn_ended")[-1]


def is_right(asker: WrappedBedrock, said: Spoken, case: Case) -> bool:
    """Whether the answer is the full right one, think blocks aside."""
    text, inputs = asker.wanted(said, case)
    shown = re.sub(r"<think>.*?</think>", "", said.text, flags=re.DOTALL).strip()
    return shown == text.strip() and said.inputs == inputs
