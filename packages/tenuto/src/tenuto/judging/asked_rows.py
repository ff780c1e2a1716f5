"""The requests of a batch, found by the ids of its rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from tenuto.judging.files import ranges_of, rows_of
from tenuto.judging.messages import role_of
from tenuto.judging.requests import asked_in, asks
from tenuto.wires.json import JsonObject, decode_object

_IDS: Final = ("custom_id", "key", "recordId", "id")
_BODIES: Final = ("body", "params", "request", "modelInput")
"""Where the lines of OpenAI, Anthropic, Gemini and Bedrock have the request."""

_PROMPTS: Final = ("prompt", "system", "instructions", "inputText", "systemInstruction")
_HISTORIES: Final = ("messages", "contents", "input")
_OF_MODEL: Final = ("assistant", "model")


@dataclass(slots=True)
class Requests:
    """Requests by the ids of their rows.

    Attributes:
        by_id: each without what was asked, so that many fit into memory: as JSON, or only its limit
            (0: none) if nothing else in it matters.
        read: how many lines hold a request with an id.
        unread: how many hold none.
    """

    by_id: dict[str, bytes | int] = field(default_factory=dict)
    read: int = 0
    unread: int = 0


def requests_in(paths: Iterable[str]) -> Requests:
    """Read the requests of files.

    Raises:
        OSError: a file cannot be read.
    """
    found = Requests()
    for path in paths:
        for part in ranges_of(path):
            for line in rows_of(part):
                value = decode_object(line.data) if isinstance(line.data, bytes) else line.data
                body = _body_of(value) if isinstance(value, dict) else {}
                name = _id_of(value) if isinstance(value, dict) and asks(body) else ""
                if name:
                    found.by_id[name] = _kept(_without_prompt(body))
                    found.read += 1
                else:
                    found.unread += 1
    return found


def _kept(body: JsonObject) -> bytes | int:
    asked = asked_in(body)
    begun = any(body.get(name) for name in _HISTORIES)
    if asked.schema is None and not asked.tools and asked.choices == 1 and not begun:
        return asked.limit or 0
    return json.dumps(body).encode()


def _id_of(value: JsonObject) -> str:
    for name in _IDS:
        found = value.get(name)
        if isinstance(found, str) and found:
            return found
    return ""


def _body_of(value: JsonObject) -> JsonObject:
    found = (value.get(name) for name in _BODIES)
    return next((body for body in found if isinstance(body, dict)), value)


def _without_prompt(body: JsonObject) -> JsonObject:
    """Return a request without what was asked. The beginning of an answer that the caller wrote
    stays, since a document may begin in it.

    >>> _without_prompt({"n": 1, "prompt": "x", "messages": [{"role": "user", "content": "x"}]})
    {'n': 1, 'messages': []}
    """
    kept = {name: item for name, item in body.items() if name not in _PROMPTS}
    for name in _HISTORIES:
        last = kept[name][-1] if isinstance(kept.get(name), list) and kept[name] else None
        if name in kept:
            begun = isinstance(last, dict) and role_of(last) in _OF_MODEL
            kept[name] = [last] if begun else []
    return kept
