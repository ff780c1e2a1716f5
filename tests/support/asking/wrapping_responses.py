"""Asking a simulator through the wrapped SDK, on OpenAI Responses."""

from __future__ import annotations

from support.asking.openai_responses import ResponsesAsker
from support.asking.wrapping import Watching


class WrappedResponses(Watching, ResponsesAsker):
    """Asks through `tenuto.wrap`."""
