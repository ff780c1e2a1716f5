"""Asking a simulator for completions of a prompt, through the wrapped SDK."""

from __future__ import annotations

from asking_completions import CompletionsAsker
from wrapping import Watching


class WrappedCompletions(Watching, CompletionsAsker):
    """Asks through `tenuto.wrap`."""
