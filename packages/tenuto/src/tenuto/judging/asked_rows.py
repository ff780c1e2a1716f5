"""The requests of a batch, found by the ids of its rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from tenuto.detection.roles import role_of
from tenuto.judging.documents import BLANK
from tenuto.judging.files import ranges_of, rows_of
from tenuto.judging.requests import asked_in, asks
from tenuto.wires.json import JsonObject, decode_object

_IDS: Final = ("custom_id", "key", "recordId", "id")
_BODIES: Final = ("body", "params", "request", "modelInput")
"""Where the lines of OpenAI, Anthropic, Gemini and Bedrock have the request."""

_PROMPTS: Final = ("prompt", "system", "instructions", "inputText", "systemInstruction")
_HISTORIES: Final = ("messages", "contents", "input")
_TALKS: Final = ("messages", "contents")


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
                if line.data is BLANK:
                    continue
                name, body = _asked(line.data)
                if name:
                    found.by_id[name] = _kept(_without_prompt(body))
                    found.read += 1
                else:
                    found.unread += 1
    return found


def is_request(data: object) -> bool:
    """Return whether a row is a request to a model, with an id, which `--requests` could read.

    >>> is_request(b'{"custom_id": "a", "body": {"messages": [], "max_tokens": 9}}')
    True
    >>> is_request('{"custom_id": "a", "body": {"messages": []}}'), is_request(b"no JSON")
    (True, False)
    >>> is_request({"custom_id": "a", "messages": "none"})
    False
    """
    name, body = _asked(data)
    return name != "" and ("model" in body or any(isinstance(body.get(n), list) for n in _TALKS))


def _asked(data: object) -> tuple[str, JsonObject]:
    """Return the id of a row and the request that it holds; "": it holds none, or has no id."""
    if isinstance(data, str):  # as a table has it
        data = data.encode("utf-8", "surrogatepass")
    value = decode_object(data) if isinstance(data, bytes) else data
    if not isinstance(value, dict):
        return "", {}
    body = _body_of(value)
    return (_id_of(value), body) if asks(body) else ("", {})


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
            begun = isinstance(last, dict) and role_of(last) == "assistant"
            kept[name] = [last] if begun else []
    return kept
