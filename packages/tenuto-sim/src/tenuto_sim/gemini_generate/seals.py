"""Values that only the provider can make: thought signatures, and continuation tokens.

They are derived from their content, so forged ones are recognized without state.
"""

from __future__ import annotations

import base64
from typing import Final

from tenuto_sim.prose import key_of

FOREIGN: Final = "skip_thought_signature_validator"
"""The signature for a call that another model made:
https://ai.google.dev/gemini-api/docs/thought-signatures (read 2026-11-22)."""


_BEGINS: Final = "said:"


def signature(name: str) -> str:
    """Return the signature of a function call, as JSON carries bytes.

    >>> signature("a") == signature("a") != signature("b")
    True
    """
    return base64.b64encode(key_of("signature", name, length=48).encode()).decode()


def token(said: str) -> str:
    """Return the token with which the provider continues after its text so far.

    >>> said_before(token("Half a"))
    'Half a'
    """
    return base64.b64encode((_BEGINS + said).encode("utf-8", "replace")).decode()


def said_before(given: object) -> str | None:
    """Return the text before a token; None: the simulator didn't make it."""
    if not isinstance(given, str):
        return None
    try:
        read = base64.urlsafe_b64decode(given.replace("+", "-").replace("/", "_")).decode()
    except ValueError:
        return None
    return read.removeprefix(_BEGINS) if read.startswith(_BEGINS) else None
