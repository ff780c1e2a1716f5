"""What a model said on Converse, block by block, over all attempts of a turn.

The provider wants some of it back as it came (signed reasoning before failed calls), and a whole
body is made of it. Calls for the caller stay out: they are judged and written by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenuto.core.actions import Content
from tenuto.core.parts import Kind, Part
from tenuto.wires.answer import AttemptContent
from tenuto.wires.bedrock_converse.events import SERVER_TOOL, cited_texts
from tenuto.wires.blocks_content import Block, Speech
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.members import object_in


def is_unsigned(block: Block) -> bool:
    """Whether a block is reasoning that its provider does not take back."""
    thought = object_in(block.get("reasoningContent")).get("reasoningText")
    return isinstance(thought, dict) and not thought.get("signature")


def _said(block: Block, text: str) -> Block:
    """A block with another text. One that cites keeps what it holds as long as that is whole."""
    cites = "citationsContent" in block and text.rstrip() == text_of(block).rstrip()
    return block if cites else {"text": text}


def _is_kept(block: Block, answered: Sequence[Any]) -> bool:
    """Calls for the caller, calls without a result and unsigned reasoning are not."""
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
    """Return the blocks of all attempts, with the text that is kept of each.

    >>> from tenuto.core.parts import Message, Piece
    >>> def spoken(came, kept):
    ...     message = Message()
    ...     message.take([Piece((0,), Kind.TEXT, came, holds="text")])
    ...     return AttemptContent(None, kept, message=message)
    >>> merged_content([spoken("Half of ", "Half "), spoken("half of it.", "of it.")])
    ({'text': 'Half of it.'},)
    """
    return SPEECH.merged(spoken, _blocks)


def text_of(block: Block) -> str:
    """The text of a block, "" where it is of another kind."""
    text = block.get("text")
    if isinstance(text, str):
        return text
    return "".join(cited_texts(block.get("citationsContent")))


def _blocks(spoken: AttemptContent) -> list[Block]:
    """The blocks of one attempt, without calls for the caller."""
    parts = spoken.message.parts if spoken.message is not None else []
    return [_block(part) for part in parts if _is_block(part)]


def _is_block(part: Part) -> bool:
    """Whether a part is a block of the answer. Those that have names came in another maker's form,
    from InvokeModel, and calls are written by themselves."""
    return part.kind is not Kind.CALL and not isinstance(part.place[0], str)


def _block(part: Part) -> Block:
    """A part as a body holds it, also where a stream brought it piece by piece."""
    block = part.whole()
    if part.kind is Kind.TEXT and "citations" in block:
        content = [{"text": block["text"]}] if block["text"] else []
        return {"citationsContent": {"content": content, "citations": block["citations"]}}
    if part.kind is Kind.REASONING and part.holds:
        return {"reasoningContent": _thought(block)}
    call, result = (object_in(block.get(kind)) for kind in ("toolUse", "toolResult"))
    if call and "input" not in call:
        value = decode_object("".join(part.arguments).encode("utf-8", "replace"))
        return {"toolUse": {**call, "input": value or {}}}
    if result and "content" not in result:
        return {"toolResult": {**result, "content": block.get("results", [])}}
    return block


def _thought(said: JsonObject) -> JsonObject:
    """Reasoning of which a stream said this."""
    if "redactedContent" in said:
        return {"redactedContent": said["redactedContent"]}
    signed = {"signature": said["signature"]} if "signature" in said else {}
    return {"reasoningText": {"text": said["text"], **signed}}
