"""What only the provider can make: signatures of thoughts, and the tokens with which it goes on.

They follow from what they seal, so that a forged one is known without a memory.
"""

from __future__ import annotations

import base64
from typing import Final

from tenuto.sim.prose import key_of

FOREIGN: Final = "skip_thought_signature_validator"
"""Stands for the signature of a call that another model made:
https://ai.google.dev/gemini-api/docs/thought-signatures (read 2026-11-22)."""


_BEGINS: Final = "said:"


def signature(name: str) -> str:
    """Return the signature of the call of a function, as JSON carries bytes.

    >>> signature("a") == signature("a") != signature("b")
    True
    """
    return base64.b64encode(key_of("signature", name, length=48).encode()).decode()


def token(said: str) -> str:
    """Return the token with which the provider goes on behind what it has said.

    >>> said_before(token("Half a"))
    'Half a'
    """
    return base64.b64encode((_BEGINS + said).encode("utf-8", "replace")).decode()


def said_before(given: object) -> str | None:
    """Return what was said before a token was given, None where it is none of ours."""
    if not isinstance(given, str):
        return None
    try:
        read = base64.urlsafe_b64decode(given.replace("+", "-").replace("/", "_")).decode()
    except ValueError:
        return None
    return read.removeprefix(_BEGINS) if read.startswith(_BEGINS) else None
