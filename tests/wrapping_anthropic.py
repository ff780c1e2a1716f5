"""Asking a simulator through the wrapped SDK of Anthropic."""

from __future__ import annotations

import re

from asking_anthropic import AnthropicAsker, Said
from wrapping import Watching

import tenuto
from tenuto.sim import Case, Simulator


class WrappedAnthropic(Watching, AnthropicAsker):
    """Asks through `tenuto.wrap`."""

    def __init__(
        self, sim: Simulator, policy: tenuto.Policy, max_retries: int = 2, *, watched: bool = True
    ) -> None:
        super().__init__(sim, max_retries)
        self.wrap(policy, watched=watched)


def is_right(asker: WrappedAnthropic, said: Said, case: Case) -> bool:
    """Whether the answer is the full right one, think blocks aside."""
    text, inputs = asker.wanted(said, case)
    shown = re.sub(r"<think>.*?</think>", "", said.text, flags=re.DOTALL).strip()
    return shown == text.strip() and said.inputs == inputs
