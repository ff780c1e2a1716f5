"""Tells from a URL, as far as a source shows it, whether a request asks a model for a turn."""

from __future__ import annotations

from functools import cache

from tenuto.providers.registry import route

_PATHS = ("/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages", "/api/chat",
    "/api/generate", ":generateContent", ":streamGenerateContent")  # fmt: skip
"""The ends of paths that say so at any host."""


@cache
def is_turn(url: str) -> bool:
    """Return whether a URL is one of a model's API; a part that is not known is a null character.

    >>> is_turn("https://openrouter.ai/api/v1/chat/completions"), is_turn("\\0/v1/chat/completions")
    (True, True)
    >>> is_turn("https://api.openai.com/v1/embeddings"), is_turn("https://weather.example/points")
    (False, False)
    """
    path = url.partition("?")[0].rstrip("/")
    if path.endswith(_PATHS):
        return True
    try:
        wire, provider, _ = route(path.replace("\0", "x"))
    except ValueError:  # no URL
        return False
    return wire is not None and not provider.unknown
