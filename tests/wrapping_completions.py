"""Asking a simulator for completions of a prompt, through the wrapped SDK."""

from __future__ import annotations

from typing import Any

from asking_completions import CompletionsAsker
from wrapping import Watching

import tenuto


class WrappedCompletions(Watching, CompletionsAsker):
    """Asks through `tenuto.wrap`."""

    def __init__(
        self, sim: Any, policy: tenuto.Policy, max_retries: int = 2, *, watched: bool = True
    ) -> None:
        super().__init__(sim, max_retries)
        self.wrap(policy, watched=watched)
