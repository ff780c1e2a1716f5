"""Requests and edits of them: the result is JSON, whatever the caller sent stands in it byte for
byte, and repairing twice is repairing once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import compress
from typing import Any

import msgspec

from fuzz.asked import asked, body_of
from fuzz.drawing import seed, split
from tenuto.core.actions import (
    AppendAssistant,
    AppendFailedCalls,
    AppendUser,
    DropConstraint,
    DropKeys,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputBudget,
)
from tenuto.core.arguments import Finding
from tenuto.core.calls import ToolCall
from tenuto.wire.base import Dialect, Wire

CALLS = (
    ToolCall("call_a", "write", '{"a": 1}', Finding.WHOLE),
    ToolCall("call_b", "", '{"a', Finding.TRUNCATED),
)
EDITS: tuple[Edit, ...] = (
    AppendAssistant("Half of it", reasoning="Hm."),
    AppendFailedCalls("Well.", CALLS, ("no", "no")),
    AppendUser("Go on."),
    SetOutputBudget(300),
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
HISTORY = rb"""
{"role":"system","content":"Be brief.","_mine":1}
{"role":"assistant","content":"","tool_calls":[]}
{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"a"}},{"id":"b","type":"function","function":{"name":"f","arguments":{"x":1.0}}}]}
{"role":"tool","tool_call_id":"b","content":"1"}
{"role":"tool","tool_call_id":"z","content":[{"type":"text","text":"2"}]}
{"role":"assistant","content":[{"type":"text","text":" "}],"function_call":{"name":"f","arguments":"\"{}\""}}
{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t","name":"f","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"1"},{"type":"tool_result","tool_use_id":"y","content":"1"}]}
{"type":"reasoning","id":"rs_1","summary":[]}
{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a"}
{"type":"custom_tool_call","call_id":"d","name":"g","input":"x","_own":1}
{"type":"function_call_output","call_id":"e","output":"1"}
{"role":"model","parts":[{"functionCall":{"name":"f","args":"{\"a"}},{"text":" ","_x":1}]}
{"role":"user","parts":[{"functionResponse":{"name":"g","response":{}}},{"text":"x"}]}
{"role":"user","content":"A \ud83d half, 1e400","weight":1.0,"odd":1e400}
""".strip().splitlines()


def seeds(wire: Wire) -> Iterator[bytes]:
    row = asked(wire)
    yield seed(body_of(row, stream=True), 0xFF, 1)
    more = {"seed": 1, "max_tokens": 90, "tool_choice": {"type": "any"}, "response_format": {}}
    yield seed(json.dumps(row.body | more).encode(), 0xFF)
    yield seed(json.dumps(row.body | {"tools": 5, "functions": {}}).encode(), 0xFF)
    for number in range(len(HISTORY)):
        rows = b",".join(HISTORY[number:] + HISTORY[:number])
        tail = b'], "model": "m", "max_tokens": 9, "reasoning_effort": "high", "x": [1.0]}'
        yield seed(b'{"%s": [' % row.rows.encode() + rows + tail, number * 37 % 256, number)


def check(wire: Wire, data: bytes) -> None:
    knobs, payload = split(data)
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
        assert rows(members(bare)[asked(wire).rows]) == []
        return
    assert again.repairs == (), (request.repairs, again.repairs)
    assert again.apply((), DIALECTS[0]) == bare
    edits = list(compress(EDITS, (knobs[0] >> bit & 1 for bit in range(8))))
    edited = request.apply(edits, DIALECTS[knobs[1] % 2])
    edited.decode()
    try:
        json.loads(edited)
    except RecursionError:
        return
    if not any(isinstance(edit, DropKeys) for edit in edits):
        check_rows(asked(wire).rows, members(bare), members(edited))


def check_rows(key: str, sent: dict[str, msgspec.Raw], edited: dict[str, msgspec.Raw]) -> None:
    """Rows are only added behind those that were there, each the bytes that it was (C7)."""
    before, after = rows(sent[key]), rows(edited[key])
    assert after[: len(before)] == before
    changed = {name for name in sent if bytes(sent[name]) != bytes(edited.get(name, b""))}
    assert changed <= MAY_CHANGE | {key}, changed


MAY_CHANGE = {
    *("max_tokens", "max_completion_tokens", "reasoning_effort", "response_format"),
    *("tool_choice", "prefix", "thinking", "output_config", "output_format"),
    *("max_output_tokens", "reasoning", "text"),
    *("generationConfig", "generation_config", "toolConfig", "tool_config"),
    "parameters",
}


def members(body: bytes) -> dict[str, msgspec.Raw]:
    return msgspec.json.decode(body, type=dict[str, msgspec.Raw])


def rows(raw: msgspec.Raw) -> list[Any]:
    if bytes(raw)[:1] == b'"':  # one text, which an edit makes a row of
        return []
    if bytes(raw)[:1] == b"{":  # below the conversation's key
        raw = members(bytes(raw)).get("messages", msgspec.Raw(b"[]"))
    return [bytes(row) for row in msgspec.json.decode(raw, type=list[msgspec.Raw])]
