"""Asking a simulator through the wrapped SDK of Anthropic."""

from __future__ import annotations

from asking_anthropic import AnthropicAsker
from wrapping import Watching


class WrappedAnthropic(Watching, AnthropicAsker):
    """Asks through `tenuto.wrap`."""
