"""What the history rules of all wires share: the text of a content, and strict JSON."""

from __future__ import annotations

import json
from typing import Any


def text_of(content: Any) -> str:
    """Return the text of a message's content, whether it is a string or parts.

    >>> text_of([{"type": "text", "text": "a"}, {"type": "image_url"}])
    'a'
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(
            part["text"]
            for part in content
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return ""


def is_json_object(text: str) -> bool:
    """Return whether the text is one strict JSON object.

    >>> is_json_object('{"a": 1}'), is_json_object('{"a": NaN}'), is_json_object("[]")
    (True, False, False)
    """

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        return isinstance(json.loads(text, parse_constant=refuse), dict)
    except (ValueError, RecursionError):
        return False
