"""Repairs of the items that a Responses request carries (H1–H5).

The provider's rules: every call is answered, once; no result without a call; arguments are whole;
an item of reasoning stands directly before the item that it led to. The repairs depend on the items
alone, so the same history gives the same bytes each time (H5a). What is kept at the provider
(`previous_response_id`, `conversation`, item references) is not seen here, so that a result whose
call may be there is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tenuto.core import hints
from tenuto.core.arguments import Finding, judge
from tenuto.wire.base import JsonObject
from tenuto.wire.json import decode_object, encode
from tenuto.wire.members import with_members, without_notice
from tenuto.wire.openai_responses_items import ARGUMENTS, kind_of

_Item = tuple[bytes, JsonObject]

_ANSWERS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}
"""Calls that can be answered here, and by what."""

_MADE_BY_THE_MODEL = ("_call", "compaction", "program", "mcp_list_tools", "mcp_approval_request")


def repair_history(rows: list[bytes], elsewhere: bool) -> tuple[list[bytes], tuple[str, ...]]:
    """Items that the provider accepts, and what was done, in words; a valid history is returned as
    it came. Repairing twice is repairing once.

    Args:
        rows: the items, as bytes.
        elsewhere: whether the history before them is kept at the provider.

    >>> row = b'{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}'
    >>> repair_history([row], False)[1]
    ('unanswered_call_answered',)
    """
    done: list[str] = []
    items: list[_Item] = []
    for row in rows:
        value = decode_object(row)
        if not isinstance(value, dict):
            items.append((row, {}))
            continue
        try:
            mended = _mend_item(row, value, done)
        except (msgspec.DecodeError, UnicodeDecodeError):
            mended = row  # the provider will say what it thinks of it
        if mended is not None:
            items.append((mended, value))
    items = _paired(items, elsewhere, done)
    items = _without_orphaned_reasoning(items, done)
    return ([raw for raw, _ in items], tuple(dict.fromkeys(done))) if done else (rows, ())


def _mend_item(raw: bytes, value: JsonObject, done: list[str]) -> bytes | None:
    """One item put right, the same bytes where nothing was wrong, None where it must go."""
    changes: dict[str, bytes | None] = {key: None for key in value if key.startswith("_")}
    if changes:
        done.append("private_keys_removed")
    kind = kind_of(value)
    if kind == "message" and value.get("role") == "assistant":
        content = value.get("content")
        shown = _without_notice(content)
        if shown != content:
            done.append("notice_removed")
            changes["content"] = encode(shown)
        if not _holds_something(shown):
            done.append("empty_row_removed")
            return None
    elif kind == "function_call" and (text := _mended_arguments(value)) is not None:
        done.append("broken_arguments_replaced")
        changes["arguments"] = encode(text)
    return with_members(raw, changes) if changes else raw


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


def _paired(items: Sequence[_Item], elsewhere: bool, done: list[str]) -> list[_Item]:
    """Every call answered once, and no result without a call."""
    answered = {_call_id(value) for _, value in items if kind_of(value) in _ANSWERS.values()}
    called = {_call_id(value) for _, value in items if kind_of(value) in ARGUMENTS}
    referred = elsewhere or any(kind_of(value) == "item_reference" for _, value in items)
    out: list[_Item] = []
    stubs: list[_Item] = []
    open_calls = set(called)
    for raw, value in items:
        kind, call_id = kind_of(value), _call_id(value)
        if stubs and not _is_made_by_the_model(value):
            out, stubs = out + stubs, []
        if kind in _ANSWERS.values():
            if call_id in open_calls:
                open_calls.discard(call_id)
            elif not referred or call_id in called:
                done.append("stray_result_moved_or_removed")
                continue
        out.append((raw, value))
        if kind in _ANSWERS and call_id and call_id not in answered:
            done.append("unanswered_call_answered")
            answered.add(call_id)
            output = {"type": _ANSWERS[kind], "call_id": call_id, "output": hints.ORPHAN_RESULT}
            stubs.append((encode(output), output))
    return out + stubs


def _call_id(value: JsonObject) -> str:
    call_id = value.get("call_id")
    return call_id if isinstance(call_id, str) else ""


def _is_made_by_the_model(value: JsonObject) -> bool:
    kind = kind_of(value)
    if kind == "message":
        return value.get("role") == "assistant"
    return kind == "reasoning" or kind.endswith(_MADE_BY_THE_MODEL)


def _without_orphaned_reasoning(items: list[_Item], done: list[str]) -> list[_Item]:
    """Reasoning that led to nothing is refused: the item that it led to was cut, or was left
    out."""
    out: list[_Item] = []
    follows = False
    for raw, value in reversed(items):
        if kind_of(value) == "reasoning":
            if not follows:
                done.append("orphaned_reasoning_removed")
                continue
        else:
            follows = _is_made_by_the_model(value) or kind_of(value) in ("item_reference", "")
        out.append((raw, value))
    return out[::-1]
