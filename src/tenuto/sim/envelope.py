"""What stands around every answer, whatever the wire."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a renderer must know beside the reply itself."""

    id: str
    model: str
    choices: int = 1
    include_usage: bool = False
    token_chars: int = 4
    prompt: str = ""
    """What an answer says before its own text; "" where it does not repeat what was asked."""
    forms: frozenset[str] = frozenset()


def dump(value: object) -> str:
    """Return compact JSON that leaves non-ASCII characters as they are, as providers do.

    >>> dump({"a": "é"})
    '{"a":"é"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
