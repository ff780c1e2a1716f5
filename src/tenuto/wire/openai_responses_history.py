"""Repairs of the items that a Responses request carries (H1–H5).

What calls and results take stands in `items_history`. Besides: arguments are whole, and an item of
reasoning stands directly before the item that it led to. What is kept at the provider is that of
`previous_response_id`, of `conversation` and of item references.
"""

from __future__ import annotations

from typing import Any

from tenuto.core import hints
from tenuto.core.arguments import Finding, judge
from tenuto.core.hints import without_notice
from tenuto.wire.base import JsonObject
from tenuto.wire.items_history import Changes, Item, Pairing, mended, paired, told
from tenuto.wire.json import encode
from tenuto.wire.openai_responses_items import kind_of

_ANSWERS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}
"""Calls that can be answered here, and by what."""

_MADE_BY_THE_MODEL = ("_call", "compaction", "program", "mcp_list_tools", "mcp_approval_request")


def repair_history(rows: list[bytes], elsewhere: bool) -> tuple[list[bytes], tuple[str, ...]]:
    """Items that the provider accepts, and what was done, in words; a valid history is returned as
    it came.

    Args:
        rows: the items, as bytes.
        elsewhere: whether the history before them is kept at the provider.

    >>> row = b'{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}'
    >>> repair_history([row], False)[1]
    ('unanswered_call_answered',)
    """
    done: list[str] = []
    items = mended(rows, _mend, done)
    elsewhere = elsewhere or any(kind_of(value) == "item_reference" for _, value in items)
    items = paired(items, _PAIRING, elsewhere, done)
    return told(rows, _without_orphaned_reasoning(items, done), done)


def _mend(value: JsonObject, changes: Changes, done: list[str]) -> bool:
    """Put one item right; whether anything is left of it."""
    kind = kind_of(value)
    if kind == "message" and value.get("role") == "assistant":
        content = value.get("content")
        shown = _without_notice(content)
        if shown != content:
            done.append("notice_removed")
            changes["content"] = encode(shown)
        return _holds_something(shown)
    if kind == "function_call" and (text := _mended_arguments(value)) is not None:
        done.append("broken_arguments_replaced")
        changes["arguments"] = encode(text)
    return True


def _without_notice(content: Any) -> Any:
    """Content, a text or a list of parts, without our notice."""
    if isinstance(content, str):
        return without_notice(content)
    if not isinstance(content, list):
        return content
    return [
        part | {"text": without_notice(part["text"])}
        if isinstance(part, dict) and isinstance(part.get("text"), str)
        else part
        for part in content
    ]


def _holds_something(content: Any) -> bool:
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return any(not isinstance(text, str) or text.strip() for text in texts)
    return bool(content.strip() if isinstance(content, str) else content)


def _mended_arguments(call: JsonObject) -> str | None:
    """Whole argument text for a call of the history; None where it is whole as it stands."""
    arguments = call.get("arguments")
    if isinstance(arguments, dict):
        return encode(arguments).decode()
    if not isinstance(arguments, str):
        return "{}"
    found = judge(arguments)
    text = found.text if found.finding is Finding.WHOLE else "{}"
    return text if text != arguments else None


def _stub(call: JsonObject) -> JsonObject:
    named = {"type": _ANSWERS[kind_of(call)], "call_id": call["call_id"]}
    return {**named, "output": hints.ORPHAN_RESULT}


def _is_the_models(value: JsonObject) -> bool:
    kind = kind_of(value)
    if kind == "message":
        return value.get("role") == "assistant"
    return kind == "reasoning" or kind.endswith(_MADE_BY_THE_MODEL)


_PAIRING = Pairing(
    kind_of=kind_of,
    answers=_ANSWERS,
    id_key="call_id",
    is_the_models=_is_the_models,
    stub=_stub,
    stray="stray_result_moved_or_removed",
)


def _without_orphaned_reasoning(items: list[Item], done: list[str]) -> list[Item]:
    """Reasoning that led to nothing is refused: the item that it led to was cut, or was left
    out."""
    out: list[Item] = []
    follows = False
    for raw, value in reversed(items):
        if kind_of(value) == "reasoning":
            if not follows:
                done.append("orphaned_reasoning_removed")
                continue
        else:
            follows = _is_the_models(value) or kind_of(value) in ("item_reference", "")
        out.append((raw, value))
    return out[::-1]
