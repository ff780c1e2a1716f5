"""The model's content on Anthropic Messages, block by block, over all attempts of a turn.

The provider wants some of it back unchanged (a paused turn, signed thinking before failed calls),
and a whole body is made of it. Calls for the caller are left out: they are judged and written
separately. After the blocks stands the container in which the provider runs code, so that a
further request can name it: the files that the model wrote are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from tenuto.core.answer.parts import Kind, Part
from tenuto.core.deciding.actions import Content
from tenuto.wires.answer import AttemptContent
from tenuto.wires.blocks_content import Block, Speech
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.members import object_in
from tenuto.wires.request_reading import text_in

CONTAINER = "container"


def text_block(text: str) -> JsonObject:
    """Return a text block."""
    return {"type": "text", "text": text}


def is_thought(block: Block) -> bool:
    """Return whether a block is thinking."""
    return block.get("type") in ("thinking", "redacted_thinking")


def is_kept(block: Block, answered: Sequence[Any] = ()) -> bool:
    """Return whether the provider accepts a block back: calls for the caller, calls without a
    result and unsigned thinking are rejected."""
    kind = str(block.get("type"))
    if kind == "thinking":
        return bool(block.get("signature"))
    if kind.endswith("_tool_use"):
        return block.get("id") in answered
    return kind != "tool_use"


def _is_text(block: Block) -> bool:
    return block.get("type") == "text"


SPEECH = Speech(
    text_of=lambda block: str(block.get("text", "")) if _is_text(block) else None,
    said=lambda block, text: {**(block or text_block("")), "text": text},
    is_plain=_is_text,
    is_thought=is_thought,
    is_open=lambda block: _is_text(block) and not block.get("citations"),
    joined=lambda last, more: {**more, **last, "text": last["text"] + more["text"]},
    is_kept=is_kept,
    answers=lambda block: block.get("tool_use_id"),
)


UNSIGNED_SPEECH = replace(
    SPEECH,
    is_kept=lambda block, answered: is_thought(block) or is_kept(block, answered),
)
"""The same for providers that sign nothing, and want thinking back (C20)."""


def merged_content(spoken: Sequence[AttemptContent]) -> Content:
    """Return the blocks of all attempts, with the kept text of each.

    >>> from tenuto.core.answer.parts import Message, Opened
    >>> def spoken(came, kept):
    ...     message = Message()
    ...     block = {"type": "text", "text": ""}
    ...     message.take([Opened((0,), Kind.TEXT, block, "text", came)])
    ...     return AttemptContent(None, kept, message=message)
    >>> merged_content([spoken("Half of ", "Half "), spoken("half of it.", "of it.")])
    ({'type': 'text', 'text': 'Half of it.'},)
    """
    merged = SPEECH.merged(spoken, _blocks)
    ran_in = next(filter(None, map(_container_of, reversed(spoken))), "")
    return (*merged, {CONTAINER: ran_in}) if merged and ran_in else merged


def _container_of(spoken: AttemptContent) -> str:
    """Return the id of the container of one attempt; "" if it has none."""
    told = spoken.message.said if spoken.message is not None else {}
    return text_in(object_in((spoken.value or told).get(CONTAINER)).get("id"))


def container_in(content: Iterable[Block]) -> str:
    """Return the id of the container; "" if there is none.

    >>> container_in([{"type": "text", "text": "Hi"}, {CONTAINER: "container_1"}])
    'container_1'
    """
    return next((str(block[CONTAINER]) for block in content if CONTAINER in block), "")


def blocks_in(content: Iterable[Block]) -> tuple[Block, ...]:
    """Return only the blocks."""
    return tuple(block for block in content if CONTAINER not in block)


def _blocks(spoken: AttemptContent) -> list[JsonObject]:
    """Return the blocks of one attempt, without calls for the caller."""
    parts = spoken.message.parts if spoken.message is not None else []
    return [_block(part) for part in parts if part.kind is not Kind.CALL]


def _block(part: Part) -> JsonObject:
    block = part.whole()
    if part.arguments:
        value = decode_object("".join(part.arguments).encode("utf-8", "replace"))
        if isinstance(value, dict):
            block["input"] = value
    return block
