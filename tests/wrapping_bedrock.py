"""Asking a simulator through a wrapped client of boto3."""

from __future__ import annotations

import re

from asking_bedrock import BedrockAsker, Spoken
from wrapping import Watching

import tenuto
from tenuto.sim import Case, Simulator


class WrappedBedrock(Watching, BedrockAsker):
    """Asks through `tenuto.wrap`."""

    def __init__(
        self, sim: Simulator, policy: tenuto.Policy, max_retries: int = 2, *, watched: bool = True
    ) -> None:
        super().__init__(sim, max_retries)
        self.wrap(policy, watched=watched)


def is_right(asker: WrappedBedrock, said: Spoken, case: Case) -> bool:
    """Whether the answer is the full right one, think blocks aside."""
    text, inputs = asker.wanted(said, case)
    shown = re.sub(r"<think>.*?</think>", "", said.text, flags=re.DOTALL).strip()
    return shown == text.strip() and said.inputs == inputs
