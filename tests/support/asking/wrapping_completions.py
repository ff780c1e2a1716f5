"""Asking a simulator for completions of a prompt, through the wrapped SDK."""

from __future__ import annotations

from support.asking.openai_completions import CompletionsAsker
from support.asking.wrapping import Watching


class WrappedCompletions(Watching, CompletionsAsker):
    """Asks through `tenuto.wrap`."""
