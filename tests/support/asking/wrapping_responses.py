"""Asking a simulator through the wrapped SDK, on OpenAI Responses."""

from __future__ import annotations

from asking_responses import ResponsesAsker
from wrapping import Watching


class WrappedResponses(Watching, ResponsesAsker):
    """Asks through `tenuto.wrap`."""
