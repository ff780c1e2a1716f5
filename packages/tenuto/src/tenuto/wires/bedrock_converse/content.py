"""The model's content on Converse, block by block, over all attempts of a turn.

The provider wants some of it back unchanged (signed reasoning before failed calls), and a whole
body is made of it. Calls for the caller are left out: they are judged and written separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenuto.core.answer.parts import Kind, Part
from tenuto.core.deciding.actions import Content
from tenuto.wires.answer import AttemptContent
from tenuto.wires.bedrock_converse.events import SERVER_TOOL, cited_texts
from tenuto.wires.blocks_content import Block, Speech
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.members import object_in


def is_unsigned(block: Block) -> bool:
    """Return whether a block is reasoning that its provider does not accept back."""
    thought = object_in(block.get("reasoningContent")).get("reasoningText")
    return isinstance(thought, dict) and not thought.get("signature")


def _said(block: Block, text: str) -> Block:
    """Return a block with another text. Citations stay only if the text is complete."""
    cites = "citationsContent" in block and text.rstrip() == text_of(block).rstrip()
    return block if cites else {"text": text}


def _is_kept(block: Block, answered: Sequence[Any]) -> bool:
    """Return whether the provider accepts a block back: calls for the caller, calls without a
    result and unsigned reasoning are rejected."""
    call = block.get("toolUse")
    if isinstance(call, dict):
        return call.get("type") == SERVER_TOOL and call.get("toolUseId") in answered
    return not is_unsigned(block) and (bool(text_of(block).strip()) or "text" not in block)


def _is_said(block: Block) -> bool:
    return "text" in block or "citationsContent" in block


SPEECH = Speech(
    text_of=lambda block: text_of(block) if _is_said(block) else None,
    said=_said,
    is_plain=lambda block: "text" in block,
    is_thought=lambda block: "reasoningContent" in block,
    is_open=lambda block: "text" in block,
    joined=lambda last, more: {"text": last["text"] + more["text"]},
    is_kept=_is_kept,
    answers=lambda block: object_in(block.get("toolResult")).get("toolUseId"),
)


def merged_content(spoken: Sequence[AttemptContent]) -> Content:
    """Return the blocks of all attempts, with the kept text of each.

    >>> from tenuto.core.answer.parts import Message, Piece
    >>> def spoken(came, kept):
    ...     message = Message()
    ...     message.take([Piece((0,), Kind.TEXT, came, holds="text")])
    ...     return AttemptContent(None, kept, message=message)
    >>> merged_content([spoken("Half of ", "Half "), spoken("half of it.", "of it.")])
    ({'text': 'Half of it.'},)
    """
    return SPEECH.merged(spoken, _blocks)


def text_of(block: Block) -> str:
    """Return the text of a block; "": it is of another kind."""
    text = block.get("text")
    if isinstance(text, str):
        return text
    return "".join(cited_texts(block.get("citationsContent")))


def _blocks(spoken: AttemptContent) -> list[Block]:
    """Return the blocks of one attempt, without calls for the caller."""
    parts = spoken.message.parts if spoken.message is not None else []
    return [_block(part) for part in parts if _is_block(part)]


def _is_block(part: Part) -> bool:
    """Return whether a part is a block of the answer. Calls are written separately, and parts with
    names came in another maker's form, from InvokeModel."""
    return part.kind is not Kind.CALL and not isinstance(part.place[0], str)


def _block(part: Part) -> Block:
    """Return a part as in a body, even if a stream brought it piece by piece."""
    block = part.whole()
    if part.kind is Kind.TEXT and "citations" in block:
        content = [{"text": block["text"]}] if block["text"] else []
        return {"citationsContent": {"content": content, "citations": block["citations"]}}
    if part.kind is Kind.REASONING and part.holds:
        return {"reasoningContent": _thought(block, part.holds)}
    call, result = (object_in(block.get(kind)) for kind in ("toolUse", "toolResult"))
    if call and "input" not in call:
        value = decode_object("".join(part.arguments).encode("utf-8", "replace"))
        return {"toolUse": {**call, "input": value or {}}}
    if result and "content" not in result:
        return {"toolResult": {**result, "content": block.get("results", [])}}
    return block


def _thought(said: JsonObject, holds: str) -> JsonObject:
    """Return reasoning from the members that a stream sent. `holds`: that with the text, which has
    another name if the block is of another maker's form."""
    if "redactedContent" in said:
        return {"redactedContent": said["redactedContent"]}
    signed = {"signature": said["signature"]} if "signature" in said else {}
    return {"reasoningText": {"text": said.get(holds, ""), **signed}}
