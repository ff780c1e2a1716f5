"""Values that only the provider can make: thought signatures, and continuation tokens.

They are derived from their content, so forged ones are recognized without state.
"""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from tenuto_sim.prose import key_of

_SEALED: Final = "thought"


def signature(name: str) -> str:
    """Return the signature of a thought.

    >>> is_signature(signature("v1_1")), is_signature("gA==")
    (True, False)
    """
    return base64.b64encode(f"{name}:{key_of(_SEALED, name, length=40)}".encode()).decode()


def is_signature(given: object) -> bool:
    """Return whether the simulator made a signature."""
    name, _, key = _decoded(given).rpartition(":")
    return bool(name) and key == key_of(_SEALED, name, length=40)


def token(said: str, interaction: str) -> str:
    """Return the token with which the provider continues after its text so far.

    >>> opened(token("Half a", "v1_1"))
    ('Half a', 'v1_1')
    """
    return base64.b64encode(json.dumps([said, interaction]).encode()).decode()


def opened(given: object) -> tuple[str, str] | None:
    """Return the text before a token, and its interaction; None: the simulator didn't make it."""
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
