"""Asking a simulator through the wrapped SDK, on OpenAI Responses."""

from __future__ import annotations

import json
import re

from asking_responses import Given, ResponsesAsker
from wrapping import Watching

import tenuto
from tenuto.sim import Case, Simulator


class WrappedResponses(Watching, ResponsesAsker):
    """Asks through `tenuto.wrap`."""

    def __init__(
        self, sim: Simulator, policy: tenuto.Policy, max_retries: int = 2, *, watched: bool = True
    ) -> None:
        super().__init__(sim, max_retries)
        self.wrap(policy, watched=watched)


def is_right(asker: WrappedResponses, got: Given, case: Case) -> bool:
    """Whether the answer is the full right one: think blocks aside, arguments as JSON."""
    text, arguments = asker.wanted(got, case)
    said = re.sub(r"<think>.*?</think>", "", got.text, flags=re.DOTALL).strip()
    given = [json.loads(raw) for raw in got.raw_arguments]
    return said == text.strip() and given == [json.loads(raw) for raw in arguments]
