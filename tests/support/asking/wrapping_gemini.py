"""Asking a simulator through the wrapped SDK of Gemini."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from support.asking.gemini_generate import GeminiAsker
from support.asking.wrapping import Watching


class WrappedGemini(Watching, GeminiAsker):
    """Asks through `tenuto.wrap`."""

    retries: ClassVar[Mapping[str, int]] = {}
