"""Repairs of the steps that an Interactions request carries (H1–H5).

What calls and results take stands in `items_history`. Besides: arguments are objects, and thoughts
go back as they came. What is kept at the provider is that of `previous_interaction_id`.
https://ai.google.dev/gemini-api/docs/function-calling (read 2026-11-22)
"""

from __future__ import annotations

from typing import Any

from tenuto.core import hints
from tenuto.core.arguments import Finding, judge
from tenuto.core.hints import without_notice
from tenuto.wire.base import JsonObject
from tenuto.wire.gemini_interactions_steps import (
    CALL,
    MADE_BY_THE_MODEL,
    OUTPUT,
    RESULT,
    kind_of,
    parts_of,
    text_in,
)
from tenuto.wire.items_history import Changes, Pairing, mended, paired, text_of, told
from tenuto.wire.json import encode


def repair_history(rows: list[bytes], elsewhere: bool) -> tuple[list[bytes], tuple[str, ...]]:
    """Steps that the provider accepts, and what was done, in words; a valid history is returned as
    it came.

    Args:
        rows: the steps, as bytes.
        elsewhere: whether the history before them is kept at the provider.

    >>> row = b'{"type":"function_call","id":"a","name":"f","arguments":{}}'
    >>> repair_history([row], False)[1]
    ('unanswered_call_answered',)
    """
    done: list[str] = []
    return told(rows, paired(mended(rows, _mend, done), _PAIRING, elsewhere, done), done)


def _mend(value: JsonObject, changes: Changes, done: list[str]) -> bool:
    """Put one step right; whether anything is left of it."""
    kind = kind_of(value)
    if kind == OUTPUT:
        parts = parts_of(value)
        shown = [_without_notice(part) for part in parts]
        if shown != parts:
            done.append("notice_removed")
            changes["content"] = encode(shown)
        return any((text := text_in(part)) is None or text.strip() for part in shown)
    if kind == CALL and not isinstance(value.get("arguments"), dict):
        done.append("broken_arguments_replaced")
        changes["arguments"] = _restored(value.get("arguments"))
    return True


def _without_notice(part: JsonObject) -> JsonObject:
    text = text_in(part)
    return part if text is None else part | {"text": without_notice(text)}


def _restored(found: Any) -> bytes:
    """The object that a text holds, an empty one for all else (H4)."""
    judged = judge(found) if isinstance(found, str) else None
    whole = judged is not None and judged.finding is Finding.WHOLE
    return judged.text.encode("utf-8", "replace") if judged is not None and whole else b"{}"


def _is_the_models(step: JsonObject) -> bool:
    kind = kind_of(step)
    return kind != RESULT and kind.endswith(MADE_BY_THE_MODEL)


def result_of(call_id: str, name: str, text: str, failed: bool = True) -> JsonObject:
    """A result; where its call failed, or was not run, an error. The service refuses one without a
    name, though its reference calls that optional:
    https://github.com/robocurve/inspect-robots/issues/380

    >>> result_of("a", "", "no")
    {'type': 'function_result', 'call_id': 'a', 'name': 'unknown', 'is_error': True, 'result': 'no'}
    """
    named = {"call_id": call_id, "name": name or "unknown"}
    flag = {"is_error": True} if failed else {}
    return {"type": RESULT, **named, **flag, "result": text}


def _stub(call: JsonObject) -> JsonObject:
    return result_of(call["id"], text_of(call, "name"), hints.ORPHAN_RESULT)


_PAIRING = Pairing(
    kind_of=kind_of,
    answers={CALL: RESULT},
    id_key="id",
    is_the_models=_is_the_models,
    stub=_stub,
    stray="stray_result_moved_or_removed",
    right_behind=True,
)
