"""What surrounds every answer, on any wire."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a renderer must know besides the reply itself."""

    id: str
    model: str
    choices: int = 1
    include_usage: bool = False
    token_chars: int = 4
    prompt: str = ""
    """Text that precedes the answer's own; "" if the answer doesn't repeat the prompt."""
    forms: frozenset[str] = frozenset()


def dump(value: object) -> str:
    """Return compact JSON that leaves non-ASCII characters as they are, as providers do.

    >>> dump({"a": "é"})
    '{"a":"é"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
