"""What a model said on Anthropic Messages, block by block, over all attempts of a turn.

The provider wants some of it back as it came (a paused turn, signed thinking before failed calls),
and a whole body is made of it. Calls for the caller stay out: they are judged and written by
themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.actions import Content
from tenuto.core.parts import Kind, Part
from tenuto.wire.anthropic_messages_request import with_text
from tenuto.wire.base import JsonObject, Spoken
from tenuto.wire.json import decode_object

THINKING = ("thinking", "redacted_thinking")


def merged_content(spoken: Sequence[Spoken]) -> Content:
    """The blocks of all attempts in order, with the text that is kept of each.

    A continuation's text goes on in the block that was cut. What it thought before is left out: the
    reader of the answer would see one sentence in two blocks. A cut block with citations is not
    gone on in (C28a).

    >>> from tenuto.core.parts import Message, Opened
    >>> def spoken(came, kept):
    ...     message = Message()
    ...     block = {"type": "text", "text": ""}
    ...     message.take([Opened((0,), Kind.TEXT, block, "text", came)])
    ...     return Spoken(None, (), kept, message=message)
    >>> merged_content([spoken("Half of ", "Half "), spoken("half of it.", "of it.")])
    ({'type': 'text', 'text': 'Half of it.'},)
    """
    merged: list[JsonObject] = []
    for one in spoken:
        blocks = [dict(block) for block in with_text(_blocks(one), one.text)]
        if not one.apart and merged and _is_plain_text(merged[-1]):
            if one.text and not one.text.strip():  # of an attempt that only closed the seam
                merged[-1] = {**merged[-1], "text": merged[-1]["text"] + one.text}
            blocks = _after_thinking(blocks)
            if blocks and blocks[0].get("type") == "text":
                more = blocks.pop(0)
                merged[-1] = {**more, **merged[-1], "text": merged[-1]["text"] + more["text"]}
        merged.extend(blocks)
    return tuple(merged)


def _is_plain_text(block: JsonObject) -> bool:
    return block.get("type") == "text" and not block.get("citations")


def _after_thinking(blocks: list[JsonObject]) -> list[JsonObject]:
    number = next((n for n, b in enumerate(blocks) if b.get("type") not in THINKING), len(blocks))
    return blocks[number:]


def _blocks(spoken: Spoken) -> list[JsonObject]:
    """The blocks of one attempt, without calls for the caller."""
    parts = spoken.message.parts if spoken.message is not None else []
    return [_block(part) for part in parts if part.kind is not Kind.CALL]


def _block(part: Part) -> JsonObject:
    block = part.whole()
    if part.arguments:
        value = decode_object("".join(part.arguments).encode("utf-8", "replace"))
        if isinstance(value, dict):
            block["input"] = value
    return block
