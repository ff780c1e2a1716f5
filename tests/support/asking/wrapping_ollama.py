"""Asking a simulator through the wrapped SDK of Ollama."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from support.asking.ollama import OllamaAsker, PromptAsker
from support.asking.wrapping import Watching


class WrappedOllama(Watching, OllamaAsker):
    """Asks through `tenuto.wrap`."""

    retries: ClassVar[Mapping[str, int]] = {}


class WrappedPrompts(WrappedOllama, PromptAsker):
    """The same by prompts."""
