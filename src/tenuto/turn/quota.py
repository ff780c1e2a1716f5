"""What a provider tells of its quota, in the headers of an answer."""

from __future__ import annotations

from collections.abc import Iterable

from tenuto.core.stop import printable

_BEGINNINGS = ("x-ratelimit-", "anthropic-ratelimit-", "ratelimit-")
_NAMES = frozenset({"ratelimit"})
_MOST = 32
"""As many headers are kept; Anthropic sends twelve."""


def quota_of(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers of the family `ratelimit`, by their names in lower case; {} where none came.

    >>> quota_of([(b"X-RateLimit-Remaining-Tokens", b"149984"), (b"Date", b"today")])
    {'x-ratelimit-remaining-tokens': '149984'}
    """
    found: dict[str, str] = {}
    for name, value in headers:
        known = name.decode("latin-1").lower()
        if len(found) < _MOST and (known in _NAMES or known.startswith(_BEGINNINGS)):
            found[printable(known)] = printable(value.decode("latin-1"))
    return found
