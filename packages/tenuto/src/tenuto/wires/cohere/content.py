"""What Cohere's answers hold beside text and calls: a plan before the calls, and thinking.

Both go back: a plan with its calls, thinking as parts of the content.
https://docs.cohere.com/docs/tool-use-usage-patterns, https://docs.cohere.com/docs/reasoning
(read through cohere-python 7.3, 2026-11-28: `assistant_message_v2content_one_item.py`)
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.answer.parts import Kind, Part
from tenuto.core.deciding.actions import Content
from tenuto.wires.answer import AttemptContent
from tenuto.wires.chat_like.beside import CHUNKS
from tenuto.wires.cohere.render import PLAN
from tenuto.wires.json import JsonObject

TOOL_PLAN = "tool_plan"


def merged_content(spoken: Sequence[AttemptContent]) -> Content:
    """Return the members of a row: all thinking, and the plan of the last attempt, whose calls go
    back with it.

    >>> from tenuto.core.answer.parts import Message, Piece
    >>> message = Message()
    >>> _ = message.take([Piece(PLAN, Kind.REASONING, "I look.", holds="tool_plan")])
    >>> merged_content([AttemptContent(None, "", message=message)])
    ({'tool_plan': 'I look.'},)
    """
    members: JsonObject = {}
    thoughts: list[JsonObject] = []
    for one in spoken:
        parts = one.message.parts if one.message is not None else []
        thoughts += [_thinking(part) for part in parts if _is_thinking(part)]
        if plan := "".join(part.text for part in parts if part.place == PLAN):
            members[TOOL_PLAN] = plan
    if thoughts:
        members[CHUNKS] = thoughts
    return (members,) if members else ()


def _is_thinking(part: Part) -> bool:
    return part.kind is Kind.REASONING and part.place != PLAN and bool(part.text.strip())


def _thinking(part: Part) -> JsonObject:
    return {"type": "thinking", "thinking": part.text}
