"""Asking a simulator through the wrapped SDK of Gemini."""

from __future__ import annotations

import re
from typing import Any

from asking_gemini import GeminiAsker, Said
from wrapping import Watching

import tenuto
from tenuto.sim import Case, Simulator


class WrappedGemini(Watching, GeminiAsker):
    """Asks through `tenuto.wrap`."""

    def __init__(
        self, sim: Simulator, policy: tenuto.Policy, *, watched: bool = True, **options: Any
    ) -> None:
        super().__init__(sim, **options)
        self.wrap(policy, watched=watched)


def is_right(asker: WrappedGemini, said: Said, case: Case) -> bool:
    """Whether the answer is the full right one, think blocks aside."""
    text, inputs = asker.wanted(said, case)
    shown = re.sub(r"<think>.*?</think>", "", said.text, flags=re.DOTALL).strip()
    return shown == text.strip() and said.inputs == inputs
