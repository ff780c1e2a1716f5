"""A request as the server reads it: strictly, and with each row's own bytes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

KEY = re.compile(r"\[turn (\d+\.\d+\.\d+)\]")
NOTE = "(No answer was written.)"
"""An assistant row that says so is none of the answer."""

MAY_CHANGE = frozenset(
    {
        "messages",
        "input",
        "contents",
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "tool_choice",
        "response_format",
        "text",
        "reasoning",
        "reasoning_effort",
        "thinking",
        "output_config",
        "generationConfig",
        "toolConfig",
        "inferenceConfig",
        "additionalModelRequestFields",
    }
)
"""Keys that a further attempt may change; all others stay as the first request has them."""

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


class Refused(Exception):
    """The request breaks a rule of its wire: HTTP 400."""


@dataclass(slots=True)
class Asked:
    """One request: its rows with their own bytes, and what it asks for."""

    body: dict[str, Any]
    rows: list[Any]
    raw_rows: list[str]
    stream: bool
    max_tokens: int | None
    usage: bool = True
    size: int = 0
    said: str = ""
    hint: str = ""
    prefill: bool = False
    paused: bool = False
    notes: list[str] = field(default_factory=list)


def asked_of(raw: bytes, rows: str, *limits: str) -> Asked:
    """The request, without judging it: the name of its list of rows, and what it may call its limit."""
    text = raw.decode()
    body = json.loads(text)
    limit = next((body[name] for name in limits if name in body), None)
    own = rows_of(text, rows)
    return Asked(body, body[rows], own, bool(body.get("stream")), limit, size=len(raw))


def rows_of(text: str, name: str) -> list[str]:
    """The elements of the top-level list `name`, each as it is written."""
    at = _skip(text, 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, text.index(":", at) + 1)
        if key == name and text[at] == "[":
            return _elements(text, at)
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        at = _skip(text, at + 1) if text[at] == "," else at
    return []


def _elements(text: str, at: int) -> list[str]:
    found, at = [], _skip(text, at + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        found.append(text[at:end])
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def compare(first: Asked, now: Asked) -> list[str]:
    """What a further attempt changed that is the caller's."""
    found = []
    if now.raw_rows[: len(first.raw_rows)] != first.raw_rows:
        found.append("the caller's own rows are not byte for byte those of the first request")
    found += [
        f"{name} is {now.body.get(name)!r}, was {first.body.get(name)!r}"
        for name in first.body.keys() | now.body.keys()
        if name not in MAY_CHANGE and first.body.get(name) != now.body.get(name)
    ]
    return found


def need(holds: object, why: str) -> None:
    """Refuse the request where something does not hold."""
    if not holds:
        raise Refused(why)


def need_keys(row: dict[str, Any], allowed: str, where: str) -> None:
    """Refuse keys that the wire does not know."""
    unknown = row.keys() - set(allowed.split())
    need(not unknown, f"{where}: unknown keys {sorted(unknown)}")


def need_text(value: object, where: str) -> str:
    """A text that is not blank."""
    need(isinstance(value, str) and value.strip(), f"{where}: blank text")
    return str(value)


def need_object(raw: object, where: str) -> None:
    """Arguments that strictly are a JSON object."""
    try:
        found = json.loads(str(raw))
    except ValueError:
        found = None
    need(isinstance(found, dict), f"{where}: arguments are no JSON object: {str(raw)[:60]!r}")
