"""Asking a simulator through the wrapped SDK of Ollama."""

from __future__ import annotations

import re
from typing import Any

from asking_ollama import OllamaAsker, PromptAsker, Said
from wrapping import Watching

import tenuto
from tenuto.sim import Case


class WrappedOllama(Watching, OllamaAsker):
    """Asks through `tenuto.wrap`."""

    def __init__(
        self, sim: Any, policy: tenuto.Policy, max_retries: int = 0, *, watched: bool = True
    ) -> None:
        super().__init__(sim, max_retries)
        self.wrap(policy, watched=watched)


class WrappedPrompts(WrappedOllama, PromptAsker):
    """The same by prompts."""


def is_right(asker: WrappedOllama, said: Said, case: Case) -> bool:
    """Whether the answer is the full right one, think blocks aside."""
    text, inputs = asker.wanted(said, case)
    shown = re.sub(r"<think>.*?</think>", "", said.text, flags=re.DOTALL).strip()
    return shown == text.strip() and said.inputs == inputs
