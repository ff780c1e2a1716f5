"""Repairs of the steps that an Interactions request carries (H1–H5).

Every call is answered once, behind the model's steps that it stands among, and no result is without
a call. Arguments are objects, and thoughts go back as they came. What is kept at the provider is
that of `previous_interaction_id`: a result whose call may be there is left alone. The repairs
depend on the steps alone, so the same history gives the same bytes each time (H5a).
https://ai.google.dev/gemini-api/docs/function-calling (read 2026-11-22)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tenuto.core import hints
from tenuto.core.hints import without_notice
from tenuto.core.history_rows import whole_arguments
from tenuto.wires.base import JsonObject
from tenuto.wires.gemini_interactions.steps import (
    CALL,
    MADE_BY_THE_MODEL,
    OUTPUT,
    RESULT,
    kind_of,
    parts_of,
    text_in,
)
from tenuto.wires.json import decode_object, encode
from tenuto.wires.members import with_members

Step = tuple[bytes, JsonObject]
"""As it came or was put right, and as it was read."""

Changes = dict[str, bytes | None]
"""Members to be replaced, or to be left out."""


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
    steps = [step for row in rows if (step := _mended(row, done)) is not None]
    steps = _paired(steps, elsewhere, done)
    return ([raw for raw, _ in steps], tuple(dict.fromkeys(done))) if done else (rows, ())


def _mended(row: bytes, done: list[str]) -> Step | None:
    """One step put right, None where nothing is left of it."""
    value = decode_object(row)
    if not isinstance(value, dict):
        return row, {}
    changes: Changes = {key: None for key in value if key.startswith("_")}
    if changes:
        done.append("private_keys_removed")
    try:
        if _mend(value, changes, done):
            return with_members(row, changes) if changes else row, value
    except (msgspec.DecodeError, UnicodeDecodeError):
        return row, value  # the provider will say what it thinks of it
    done.append("empty_row_removed")
    return None


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
        changes["arguments"] = whole_arguments(value.get("arguments")).encode("utf-8", "replace")
    return True


def _without_notice(part: JsonObject) -> JsonObject:
    text = text_in(part)
    return part if text is None else part | {"text": without_notice(text)}


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


def _stub(call: JsonObject) -> Step:
    stub = result_of(call["id"], _text_of(call, "name"), hints.ORPHAN_RESULT)
    return encode(stub), stub


def _text_of(value: JsonObject, key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


# --- calls and results ------------------------------------------------------------------------


def _paired(steps: Sequence[Step], elsewhere: bool, done: list[str]) -> list[Step]:
    """Every call answered once, behind the model's steps that it stands among, and no result
    without a call. `elsewhere`: there may be calls that are not seen here."""

    def missing(waiting: Mapping[str, JsonObject]) -> list[Step]:
        """For each call that waits its result from elsewhere, or one that says there is none."""
        if waiting.keys() - strays.keys():
            done.append("unanswered_call_answered")
        found = {name: strays.pop(name, None) for name in waiting}
        return [found[name] or _stub(call) for name, call in waiting.items()]

    called = {name for _, value in steps if (name := _call_id(value))}
    in_place = _in_place(steps)
    answers = [(at, step) for at, step in enumerate(steps) if kind_of(step[1]) == RESULT]
    # An id may be used again: a result that stands behind a call is that call's alone.
    strays = {
        _text_of(step[1], "call_id"): step for at, step in reversed(answers) if at not in in_place
    }
    out: list[Step] = []
    waiting: dict[str, JsonObject] = {}
    for at, step in enumerate(steps):
        value = step[1]
        if kind_of(value) == RESULT:
            call_id = _text_of(value, "call_id")
            waiting.pop(call_id, None)
            if at not in in_place and (call_id in called or not elsewhere):
                done.append("stray_result_moved_or_removed")
                continue
        elif not _is_the_models(value) or (out and kind_of(out[-1][1]) == RESULT):
            out += missing(waiting)
            waiting = {}
        out.append(step)
        if name := _call_id(value):
            waiting[name] = value
    return out + missing(waiting)


def _call_id(value: JsonObject) -> str:
    return _text_of(value, "id") if kind_of(value) == CALL else ""


def _in_place(steps: Sequence[Step]) -> set[int]:
    """Where results stand behind the model's steps that their calls stand among."""
    found: set[int] = set()
    waiting: set[str] = set()
    answering = False
    for at, (_, value) in enumerate(steps):
        kind = kind_of(value)
        if kind == RESULT:
            call_id = _text_of(value, "call_id")
            if call_id in waiting:
                waiting.discard(call_id)
                found.add(at)
                answering = True
            continue
        if not _is_the_models(value) or answering:
            waiting, answering = set(), False
        if kind == CALL:
            waiting.add(_text_of(value, "id"))
    return found
