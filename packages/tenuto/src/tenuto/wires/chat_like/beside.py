"""What a chat answer holds beside its text and calls, and goes back with them (H5b).

Theory of operation
-------------------
Reasoning models and gateways put further members into a message and its calls: their reasoning, in
clear or encrypted, and signatures. A row that lacks them is worth less to the model, and many
providers refuse it. Each vendor has its own names, so members are recognized by words in the name.
Everything else (annotations, images, a refusal) is told to the caller only.

A stream sends such members in pieces. Pieces of a text are joined; a signature or a token comes
whole, and the last one counts. In a list of details (OpenRouter's `reasoning_details`, LiteLLM's
`thinking_blocks`), a piece continues the detail of its type and index:
https://openrouter.ai/docs/use-cases/reasoning-tokens (read 2026-11-28).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tenuto.core.answer.parts import Part, Place
from tenuto.core.deciding.actions import Content
from tenuto.wires.answer import AttemptContent
from tenuto.wires.dialect import Dialect
from tenuto.wires.given_back import is_beside
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in, value_at

_TEXTS = frozenset({"text", "summary", "thinking", "reasoning", "reasoning_content"})
"""Members whose pieces are one text."""

_PER_PIECE = frozenset({"data"})
"""Members of a detail that are joined too. They are encrypted, and many come whole."""

CHUNKS = "content"
"""The key for reasoning that is part of the content, as chunks."""

THINKING: Place = ("thinking", "content")
SUMMARY: Place = ("summary", "content")
"""The places of reasoning in the content: Mistral's, and Databricks'."""


def merged_content(spoken: Sequence[AttemptContent]) -> Content:
    """Return what the attempts hold beside text and calls, as the members of one row.

    >>> from tenuto.core.answer.parts import Kind, Message, Piece
    >>> message = Message()
    >>> for name, item in ("reasoning", "I "), ("reasoning", "see."):
    ...     _ = message.take([Piece((name,), Kind.REASONING, item, holds=name)])
    >>> merged_content([AttemptContent(None, "", message=message)])
    ({'reasoning': 'I see.'},)
    """
    members: JsonObject = {}
    for name, pieces in _pieces_by_name(spoken).items():
        members[name] = _joined(name, pieces)
    return (members,) if members else ()


def given_back(content: Content, reasoning: str, dialect: Dialect) -> JsonObject:
    """Return the members of a row of ours beside its text and calls: what the provider gave,
    without what it refuses, and its reasoning under the key that it requires."""
    key = dialect.key_for_reasoning
    members = {
        name: value
        for held in content
        for name, value in held.items()
        if not dialect.refuses_back(name) and not (key and name in _TEXTS)
    }
    if key and (reasoning or dialect.wants_back(key)):
        members[key] = reasoning or _NO_REASONING
    return members


_NO_REASONING = " "
"""Stands for reasoning that never came, where a row must have some. Providers refuse an empty
text."""


def of_call(extra: Mapping[str, object] | None, dialect: Dialect) -> JsonObject | None:
    """Return the further members of a call that go back; None: there are none.

    >>> of_call({"extra_content": {"a": 1}, "status": "done"}, Dialect())
    {'extra_content': {'a': 1}}
    """
    given = dict(extra or {})
    inside = _meant(object_in(given.pop("function", None)), dialect)
    kept = _meant(given, dialect) | ({"function": inside} if inside else {})
    return kept or None


def _meant(members: Mapping[str, object], dialect: Dialect) -> JsonObject:
    return {
        name: value
        for name, value in members.items()
        if is_beside(name) and not dialect.refuses_back(name)
    }


def _pieces_by_name(spoken: Iterable[AttemptContent]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for one in spoken:
        if chunks := _chunks_in(one.value):
            found.setdefault(CHUNKS, []).extend(chunks)
        for part in one.message.parts if one.message is not None else ():
            name, *rest = part.place or ("",)
            if one.value is None and part.place == THINKING:
                found.setdefault(CHUNKS, []).append(_chunk(part.text))
            elif isinstance(name, str) and not rest and is_beside(name):
                found.setdefault(name, []).extend(_pieces(part, name))
    return found


def _pieces(part: Part, name: str) -> list[Any]:
    grown = part.grown.get(name, [])
    return [part.text] if part.text else [item for item in grown if item is not None]


def _chunks_in(body: JsonObject | None) -> list[JsonObject]:
    """Return the reasoning in the content of a body as it came: chunks of Mistral's, or of
    Databricks', which are signed."""
    content = value_at(body, ("choices", 0, "message", "content"))
    kinds = ("thinking", "reasoning")
    return [part for part in list_in(content) if object_in(part).get("type") in kinds]


def _chunk(text: str) -> JsonObject:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}], "closed": True}


# --- pieces of a stream -------------------------------------------------------------------------


def _joined(name: str, pieces: Sequence[Any]) -> Any:
    """Return one value for all pieces of a member."""
    if name == CHUNKS:
        return list(pieces)
    if all(isinstance(piece, list) for piece in pieces):
        return _details(pieces)
    if all(isinstance(piece, dict) for piece in pieces):
        inside: dict[str, list[Any]] = {}
        for piece in pieces:
            for key, item in piece.items():
                if item is not None:
                    inside.setdefault(key, []).append(item)
        return {key: _joined(key, items) for key, items in inside.items()}
    if name in _TEXTS and all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    return pieces[-1]


def _details(pieces: Sequence[list[Any]]) -> list[Any]:
    """Return the details of all pieces. Details of one piece are never joined with each other."""
    whole: list[Any] = []
    for piece in pieces:
        before = list(whole)
        for detail in piece:
            begun = _begun(before, detail)
            if begun is None:
                whole.append(dict(detail) if isinstance(detail, dict) else detail)
            else:
                _add(begun, detail)
    return whole


def _begun(details: Sequence[Any], more: Any) -> JsonObject | None:
    """Return the detail that a piece continues; None: it begins one."""
    for detail in reversed(details):
        if not isinstance(detail, dict) or not isinstance(more, dict):
            return None
        if any(detail.get(key) != more.get(key) for key in ("type", "index")):
            if "index" in more:
                continue
            return None
        ids = detail.get("id"), more.get("id")
        if all(ids) and ids[0] != ids[1]:
            return None
        # What is signed is complete.
        is_over = bool(detail.get("signature")) and any(more.get(name) for name in _TEXTS)
        return None if is_over or (_is_whole(detail) and "index" not in more) else detail
    return None


def _is_whole(detail: JsonObject) -> bool:
    """Return whether a detail came whole, as encrypted ones without a number do."""
    return any(detail.get(name) for name in _PER_PIECE)


def _add(detail: JsonObject, more: JsonObject) -> None:
    for key, item in more.items():
        before = detail.get(key)
        if key in _TEXTS | _PER_PIECE and isinstance(before, str) and isinstance(item, str):
            repeats = key in _PER_PIECE and item == before
            detail[key] = before if repeats else before + item
        elif item is not None:
            detail[key] = item


def chunks_of(members: JsonObject) -> list[Any]:
    """Take the chunks out of a row's members, and return them.

    >>> chunks_of({"content": [{"type": "thinking"}]})
    [{'type': 'thinking'}]
    """
    return list_in(members.pop(CHUNKS, None))
