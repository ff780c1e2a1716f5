"""What the history rules of several wires share: the text of a message's content, calls and results
by their ids, and strict JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def by_id(
    messages: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[Sequence[Any] | None, Iterable[str]]]:
    """Yield, for each message of Chat Completions, the ids of the calls it answers (None if it
    isn't a
    result), and the calls it makes. Two calls with the same id count as one.

    >>> list(by_id([{"role": "assistant"}, {"role": "tool", "tool_call_id": "a"}]))
    [(None, {}), (['a'], {})]
    """
    for message in messages:
        calls = dict.fromkeys(call["id"] for call in message.get("tool_calls") or ())
        yield [message.get("tool_call_id")] if message["role"] == "tool" else None, calls


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
