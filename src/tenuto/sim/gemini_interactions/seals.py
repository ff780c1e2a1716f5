"""What only the provider can make: signatures of thoughts, and the tokens with which it goes on.

They follow from what they seal, so that a forged one is known without a memory.
"""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from tenuto.sim.prose import key_of

_SEALED: Final = "thought"


def signature(name: str) -> str:
    """Return the signature of a thought.

    >>> is_signature(signature("v1_1")), is_signature("gA==")
    (True, False)
    """
    return base64.b64encode(f"{name}:{key_of(_SEALED, name, length=40)}".encode()).decode()


def is_signature(given: object) -> bool:
    """Return whether a signature is one of ours."""
    name, _, key = _decoded(given).rpartition(":")
    return bool(name) and key == key_of(_SEALED, name, length=40)


def token(said: str, interaction: str) -> str:
    """Return the token with which the provider goes on behind what it has said.

    >>> opened(token("Half a", "v1_1"))
    ('Half a', 'v1_1')
    """
    return base64.b64encode(json.dumps([said, interaction]).encode()).decode()


def opened(given: object) -> tuple[str, str] | None:
    """Return what was said before a token was given, and where; None: it is none of ours."""
    try:
        read: Any = json.loads(_decoded(given))
    except ValueError:
        return None
    fits = isinstance(read, list) and len(read) == 2 and all(isinstance(x, str) for x in read)
    return (read[0], read[1]) if fits else None


def _decoded(given: object) -> str:
    try:
        return base64.b64decode(given, validate=True).decode() if isinstance(given, str) else ""
    except ValueError:
        return ""
