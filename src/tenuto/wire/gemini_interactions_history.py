"""Repairs of the steps that an Interactions request carries (H1–H5).

The provider's rules: every `function_call` is answered by a `function_result` of its id, once; no
result without a call; arguments are objects; thoughts go back as they came. The repairs depend on
the steps alone, so the same history gives the same bytes each time (H5a). What is kept at the
provider (`previous_interaction_id`) is not seen here, so that a result whose call may be there is
left alone. https://ai.google.dev/gemini-api/docs/function-calling (read 2026-11-22)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tenuto.core import hints
from tenuto.core.arguments import Finding, judge
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
from tenuto.wire.json import decode_object, encode
from tenuto.wire.members import with_members, without_notice

_Step = tuple[bytes, JsonObject]


def repair_history(rows: list[bytes], elsewhere: bool) -> tuple[list[bytes], tuple[str, ...]]:
    """Steps that the provider accepts, and what was done, in words; a valid history is returned as
    it came. Repairing twice is repairing once.

    Args:
        rows: the steps, as bytes.
        elsewhere: whether the history before them is kept at the provider.

    >>> row = b'{"type":"function_call","id":"a","name":"f","arguments":{}}'
    >>> repair_history([row], False)[1]
    ('unanswered_call_answered',)
    """
    done: list[str] = []
    steps: list[_Step] = []
    for row in rows:
        value = decode_object(row)
        if not isinstance(value, dict):
            steps.append((row, {}))
            continue
        try:
            mended = _mended(row, value, done)
        except (msgspec.DecodeError, UnicodeDecodeError):
            mended = row  # the provider will say what it thinks of it
        if mended is not None:
            steps.append((mended, value))
    steps = _paired(steps, elsewhere, done)
    return ([raw for raw, _ in steps], tuple(dict.fromkeys(done))) if done else (rows, ())


def _mended(raw: bytes, value: JsonObject, done: list[str]) -> bytes | None:
    """One step put right, the same bytes where nothing was wrong, None where it must go."""
    changes: dict[str, bytes | None] = {key: None for key in value if key.startswith("_")}
    if changes:
        done.append("private_keys_removed")
    kind = kind_of(value)
    if kind == OUTPUT:
        parts = parts_of(value)
        shown = [_without_notice(part) for part in parts]
        if shown != parts:
            done.append("notice_removed")
            changes["content"] = encode(shown)
        if not any((text := text_in(part)) is None or text.strip() for part in shown):
            done.append("empty_row_removed")
            return None
    elif kind == CALL and not isinstance(value.get("arguments"), dict):
        done.append("broken_arguments_replaced")
        changes["arguments"] = _restored(value.get("arguments"))
    return with_members(raw, changes) if changes else raw


def _without_notice(part: JsonObject) -> JsonObject:
    text = text_in(part)
    return part if text is None else part | {"text": without_notice(text)}


def _restored(found: Any) -> bytes:
    """The object that a text holds, an empty one for all else (H4)."""
    judged = judge(found) if isinstance(found, str) else None
    whole = judged is not None and judged.finding is Finding.WHOLE
    return judged.text.encode("utf-8", "replace") if judged is not None and whole else b"{}"


def _paired(steps: Sequence[_Step], elsewhere: bool, done: list[str]) -> list[_Step]:
    """Every call answered once, right behind the steps of the model's that it stands among, and no
    result without a call."""
    called = {name for _, value in steps if (name := _call_id(value))}
    results = {_name(value, "call_id"): (raw, value) for raw, value in reversed(steps)
               if kind_of(value) == RESULT}  # fmt: skip
    out: list[_Step] = []
    waiting: dict[str, str] = {}
    for raw, value in steps:
        call_id = _name(value, "call_id")
        if kind_of(value) == RESULT:
            if waiting.pop(call_id, None) is None and (call_id in called or not elsewhere):
                done.append("stray_result_moved_or_removed")
                continue
        elif not _is_the_models(kind_of(value)) or _answered(out):
            out += _missing(waiting, results, done)
            waiting = {}
        out.append((raw, value))
        if call_id := _call_id(value):
            waiting[call_id] = _name(value, "name")
    return out + _missing(waiting, results, done)


def _answered(out: Sequence[_Step]) -> bool:
    return bool(out) and kind_of(out[-1][1]) == RESULT


def _missing(
    waiting: Mapping[str, str], results: Mapping[str, _Step], done: list[str]
) -> list[_Step]:
    """For each call that waits its result from elsewhere in the history, or one that says that
    there is none."""
    if waiting.keys() - results.keys():
        done.append("unanswered_call_answered")
    return [
        results.get(call_id) or _stub(failed_result(call_id, name, hints.ORPHAN_RESULT))
        for call_id, name in waiting.items()
    ]


def _stub(value: JsonObject) -> _Step:
    return encode(value), value


def _call_id(value: JsonObject) -> str:
    return _name(value, "id") if kind_of(value) == CALL else ""


def _name(value: JsonObject, key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _is_the_models(kind: str) -> bool:
    return kind != RESULT and kind.endswith(MADE_BY_THE_MODEL)


def failed_result(call_id: str, name: str, text: str) -> JsonObject:
    """A result that says that a call was not run. The service refuses one without a name, though
    its reference calls that optional: https://github.com/robocurve/inspect-robots/issues/380

    >>> failed_result("a", "", "no")
    {'type': 'function_result', 'call_id': 'a', 'name': 'unknown', 'is_error': True, 'result': 'no'}
    """
    named = {"call_id": call_id, "name": name or "unknown"}
    return {"type": RESULT, **named, "is_error": True, "result": text}
