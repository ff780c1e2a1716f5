"""Requests and edits of them: the result is JSON, whatever the caller sent stands in it byte for
byte, and repairing twice is repairing once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import compress
from typing import Any

import msgspec

from checks.fuzz.asked import asked, body_of
from checks.fuzz.drawing import seed, split
from checks.fuzz.histories import HISTORY
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendUser,
    DropConstraint,
    DropKeys,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputLimit,
)
from tenuto.wires.base import Wire
from tenuto.wires.dialect import Dialect

CALLS = (
    ToolCall("call_a", "write", '{"a": 1}', Finding.WHOLE),
    ToolCall("call_b", "", '{"a', Finding.TRUNCATED),
)
EDITS: tuple[Edit, ...] = (
    AppendAssistant("Half of it", reasoning="Hm."),
    AppendCalls("Well.", CALLS, ("no", "no")),
    AppendUser("Go on."),
    SetOutputLimit(300),
    LowerReasoning(),
    DropConstraint(),
    FreeToolChoice(),
    DropKeys(("seed", "messages[0].name")),
)
DIALECTS = (
    Dialect(),
    Dialect(
        "odd",
        prefill=True,
        output_key="max_completion_tokens",
        prefill_members=(("prefix", True),),
        reasoning_key="reasoning_content",
    ),
)

KEYS = b'"model": "m", "max_tokens": 9, "reasoning_effort": "high", "x": [1.0]'


def seeds(wire: Wire) -> Iterator[bytes]:
    row = asked(wire)
    yield seed(body_of(row, stream=True), 0xFF, 1, AS_IT_IS)
    more = {"seed": 1, "max_tokens": 90, "tool_choice": {"type": "any"}, "response_format": {}}
    yield seed(json.dumps(row.body | more).encode(), 0xFF, 0, AS_IT_IS)
    yield seed(json.dumps(row.body | {"tools": 5, "functions": {}}).encode(), 0xFF, 0, AS_IT_IS)
    known = readable(wire)
    yield seed(of_rows(wire, known), 0xFF, 1, AS_IT_IS)
    yield seed(of_rows(wire, HISTORY), 0xFF, 1, AS_IT_IS)
    for number, rows in enumerate(known, 1):
        others = (number * factor % (len(known) + 1) for factor in (2, 3, 5, 7))
        yield seed(KEYS + b"\n" + rows, number * 37 % 256, number, 0, number, *others)


AS_IT_IS = 1


@cache
def readable(wire: Wire) -> tuple[bytes, ...]:
    """The rows that a wire takes for ones: beside any other a request is none."""
    path = asked(wire).path
    return tuple(row for row in HISTORY
                 if wire.request(of_rows(wire, [row]), 16, path, DIALECTS[0]))  # fmt: skip


def of_rows(wire: Wire, rows: Iterable[bytes], keys: bytes = KEYS) -> bytes:
    """A request of these rows."""
    row = asked(wire)
    outer, _, inner = row.rows.encode().partition(b".")
    listed = b"[%s]" % b",".join(rows)
    value = b'{"%s": %s}' % (inner, listed) if inner else listed
    return b'{%s"%s": %s%s}' % (row.beside, outer, value, keys and b", " + keys)


def body(wire: Wire, data: bytes) -> bytes:
    """The request that an input stands for: its payload; or else this holds keys on its first line
    and then rows, of which those are left out that are no JSON, and the knobs name rows before."""
    knobs, payload = split(data)
    if knobs[2] & AS_IT_IS:
        return payload
    keys, *rows = payload.split(b"\n")
    known = (b"", *readable(wire))
    named = (known[knob % len(known)] for knob in knobs[3:])
    given = b"{%s}" % keys
    return of_rows(wire, filter(is_json, (*named, *rows)), keys if is_json(given) else KEYS)


def is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return False
    return True


def check(wire: Wire, data: bytes) -> None:
    (knobs, _), payload = split(data), body(wire, data)
    request = wire.request(payload, 16, asked(wire).path, DIALECTS[0])
    if request is None:
        return
    hash(request.facts)
    request.tool_parameters()
    bare = request.apply((), DIALECTS[0])
    if not request.repairs:
        assert bare == payload
    again = wire.request(bare, 16, asked(wire).path, DIALECTS[0])
    if (
        again is None
    ):  # a history of empty rows alone: what is left is no request, and passes as it is
        assert rows(rows_of(wire, members(bare))) == []
        return
    assert again.repairs == (), (request.repairs, again.repairs)
    assert again.apply((), DIALECTS[0]) == bare
    edits = (
        []
        if request.facts.left_alone
        else list(compress(EDITS, (knobs[0] >> bit & 1 for bit in range(8))))
    )
    edited = request.apply(edits, DIALECTS[knobs[1] % 2])
    if edited == payload:  # left alone; the provider may refuse it for what is no UTF-8
        return
    edited.decode()
    try:
        json.loads(edited)
    except RecursionError:
        return
    if not any(isinstance(edit, DropKeys) for edit in edits):
        before, after = members(bare), members(edited)
        if any(isinstance(edit, APPENDS) for edit in edits):
            before, after = with_question(wire, before), with_question(wire, after)
        check_rows(wire, before, after)


def with_question(wire: Wire, given: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    """A request in which the question is one of the rows, as it becomes when rows are appended.

    Cohere's version 1 has it beside them, as a message or results."""
    key = asked(wire).rows
    if key != "chat_history":
        return given
    held = rows(rows_of(wire, given))
    said, results = bytes(given["message"]), rows(given.get("tool_results", msgspec.Raw(b"[]")))
    question = [b'{"role":"USER","message":%s}' % said] if json.loads(said).strip() else []
    if results:
        answers = b'{"role":"TOOL","tool_results":%s}' % bytes(given["tool_results"])
        after_calls = held and "tool_calls" in members(held[-1])
        question = [answers, *question] if after_calls else [*question, answers]
    rest = {name: raw for name, raw in given.items() if name not in ("message", "tool_results")}
    return rest | {key: msgspec.Raw(b"[%s]" % b",".join([*held, *question]))}


APPENDS = (AppendAssistant, AppendCalls, AppendUser)


def rows_of(wire: Wire, request: dict[str, msgspec.Raw]) -> msgspec.Raw:
    """The rows of a request, where this wire keeps them."""
    outer, _, inner = asked(wire).rows.partition(".")
    held = request.get(outer, msgspec.Raw(b"[]"))  # an `input` may be left out
    return members(held)[inner] if inner else held


def check_rows(wire: Wire, sent: dict[str, msgspec.Raw], edited: dict[str, msgspec.Raw]) -> None:
    """Rows are only added behind those that were there, each the bytes that it was (C7)."""
    before, after = rows(rows_of(wire, sent)), rows(rows_of(wire, edited))
    if not before:  # Cohere's version 1 has the latest message beside its rows; or no `input`
        return
    last = len(before) - 1
    assert after[:last] == before[:last]
    assert after[last] == before[last] or gone_on(before[last], after[last])
    changed = {name for name in sent if bytes(sent[name]) != bytes(edited.get(name, b""))}
    assert changed <= MAY_CHANGE | {asked(wire).rows.partition(".")[0]}, changed


def gone_on(before: bytes, after: bytes) -> bool:
    """Whether a row is what it was, and more: a prompt, or an assistant's where roles alternate."""
    if before[:1] == b'"':
        said: str = json.loads(after)
        return said.startswith(json.loads(before))
    was, is_now = ({k: bytes(v) for k, v in members(row).items()} for row in (before, after))
    blocks, more = (rows(msgspec.Raw(row.pop("content"))) for row in (was, is_now))
    return was == is_now and was["role"] == b'"assistant"' and more[: len(blocks)] == blocks


MAY_CHANGE = {
    *("max_tokens", "max_completion_tokens", "reasoning_effort", "response_format"),
    *("tool_choice", "prefix", "thinking", "output_config", "output_format"),
    *("max_output_tokens", "reasoning", "text"),
    *("generationConfig", "generation_config", "toolConfig", "tool_config"),
    "parameters",
    *("inferenceConfig", "outputConfig", "additionalModelRequestFields"),
}


def members(body: bytes) -> dict[str, msgspec.Raw]:
    return msgspec.json.decode(body, type=dict[str, msgspec.Raw])


def rows(raw: msgspec.Raw) -> list[Any]:
    if bytes(raw)[:1] == b'"':  # one text, which an edit makes a row of
        return []
    if bytes(raw)[:1] == b"{":  # below the conversation's key
        raw = members(bytes(raw)).get("messages", msgspec.Raw(b"[]"))
    return [bytes(row) for row in msgspec.json.decode(raw, type=list[msgspec.Raw])]
