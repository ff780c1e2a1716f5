"""Asking a simulator through the wrapped SDK of Gemini."""

from __future__ import annotations

import re
from typing import Any

from asking_gemini import GeminiAsker, Said

import tenuto
from tenuto.sim import Case, Simulator


class WrappedGemini(GeminiAsker):
    """Asks through `tenuto.wrap`, and keeps the events."""

    def __init__(self, sim: Simulator, policy: tenuto.Policy, **options: Any) -> None:
        super().__init__(sim, **options)
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
        """The data of the last `turn_ended`: an SDK that goes on by itself begins a turn each
        time."""
        return self.of("turn_ended")[-1]


def is_right(asker: WrappedGemini, said: Said, case: Case) -> bool:
    """Whether the answer is the full right one, think blocks aside."""
    text, inputs = asker.wanted(said, case)
    shown = re.sub(r"<think>.*?</think>", "", said.text, flags=re.DOTALL).strip()
    return shown == text.strip() and said.inputs == inputs
