"""What the headers of an answer say about the provider's quota."""

from __future__ import annotations

from collections.abc import Iterable

from tenuto.core.answer.stop import printable

BEGINNINGS = (
    # OpenAI and most who speak like it: Azure, Groq, Cerebras, Mistral, Together, Fireworks, xAI,
    # OpenRouter.
    "x-ratelimit-",
    # Anthropic, and its tier of committed capacity.
    "anthropic-ratelimit-",
    "anthropic-priority-",
    # The drafts of a standard: `RateLimit-Remaining`, later `RateLimit-Policy` beside `RateLimit`.
    "ratelimit-",
    # Mistral's tokens by the minute and the month.
    "ratelimitbysize-",
    "x-ratelimitbysize-",
    # Together's tokens.
    "x-tokenlimit-",
    # watsonx.
    "x-requests-limit-",
    # Cohere's trial keys.
    "x-trial-endpoint-call-",
    "x-endpoint-monthly-call-",
)
"""How the names of such headers begin."""

_NAMES = frozenset({"ratelimit"})
_MOST = 32
"""The most headers to keep; Anthropic sends twelve."""


def quota_of(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers about a quota, by their names in lower case; {} if there are none.

    >>> quota_of([(b"X-RateLimit-Remaining-Tokens", b"149984"), (b"Date", b"today")])
    {'x-ratelimit-remaining-tokens': '149984'}
    """
    found: dict[str, str] = {}
    for name, value in headers:
        known = name.decode("latin-1").lower()
        if len(found) < _MOST and (known in _NAMES or known.startswith(BEGINNINGS)):
            found[printable(known)] = printable(value.decode("latin-1"))
    return found
