"""Asking a simulator through the wrapped SDK of Anthropic."""

from __future__ import annotations

from support.asking.anthropic_messages import AnthropicAsker
from support.asking.wrapping import Watching


class WrappedAnthropic(Watching, AnthropicAsker):
    """Asks through `tenuto.wrap`."""
