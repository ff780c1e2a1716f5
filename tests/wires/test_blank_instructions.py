"""Blank texts in instructions are left out where the provider refuses them; all else stays (C7)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.one_turn import Played

from tenuto.turn.drivers.scripted import Scripted
from tenuto.wires.anthropic_messages.short import asks as anthropic_asks
from tenuto.wires.anthropic_messages.wire import WIRE as ANTHROPIC
from tenuto.wires.base import Wire
from tenuto.wires.bedrock_converse.wire import WIRE as CONVERSE
from tenuto.wires.dialect import Dialect
from tenuto.wires.gemini_generate.short import asks as gemini_asks
from tenuto.wires.gemini_generate.wire import WIRE as GEMINI

CACHED = {"cache_control": {"type": "ephemeral"}}
POINT = {"cachePoint": {"type": "default"}}

ANTHROPIC_ASKED = {"model": "m", "max_tokens": 999, "messages": [{"role": "user", "content": "Hi"}]}
CONVERSE_ASKED = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
GEMINI_ASKED = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


CASES: list[tuple[Wire, str, dict[str, Any], str, Any, Any]] = [
    (ANTHROPIC, "/v1/messages", ANTHROPIC_ASKED, "system", [said("")], None),
    (ANTHROPIC, "/v1/messages", ANTHROPIC_ASKED, "system", [said(" \n", **CACHED)], None),
    (
        ANTHROPIC, "/v1/messages", ANTHROPIC_ASKED, "system",
        [said("", **CACHED), said("Be brief.", **CACHED), said("\t")], [said("Be brief.", **CACHED)],
    ),
    (CONVERSE, "/model/m/converse", CONVERSE_ASKED, "system", [{"text": ""}, POINT], None),
    (
        CONVERSE, "/model/m/converse", CONVERSE_ASKED, "system",
        [{"text": "Be brief."}, POINT, {"text": " "}], [{"text": "Be brief."}, POINT],
    ),
    (
        GEMINI, "/v1beta/models/m:generateContent", GEMINI_ASKED, "systemInstruction",
        {"role": "user", "parts": [{"text": ""}, {"text": "Be brief."}]},
        {"role": "user", "parts": [{"text": "Be brief."}]},
    ),
    (
        GEMINI, "/v1beta/models/m:generateContent", GEMINI_ASKED, "system_instruction",
        {"parts": [{"text": ""}]}, None,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "path", "asked", "name", "given", "left"), CASES)
@pytest.mark.behaviour("H5a", "C7")
def test_blank_instructions_leave_a_request(wire, path, asked, name, given, left) -> None:
    body = json.dumps(asked | {name: given}).encode()
    request = wire.request(body, 0, path, Dialect())
    assert request is not None
    assert request.repairs == ("blank_instruction_removed",)
    made = request.apply((), Dialect())
    assert json.loads(made) == asked | ({name: left} if left is not None else {})
    again = wire.request(made, 0, path, Dialect())
    assert again is not None
    assert (again.repairs, again.apply((), Dialect())) == ((), made)


HEALTHY: list[tuple[Wire, str, dict[str, Any]]] = [
    (ANTHROPIC, "/v1/messages", ANTHROPIC_ASKED | {"system": ""}),
    (ANTHROPIC, "/v1/messages", ANTHROPIC_ASKED | {"system": []}),
    (ANTHROPIC, "/v1/messages", ANTHROPIC_ASKED | {"system": [said(" Be brief. ")]}),
    (CONVERSE, "/model/m/converse", CONVERSE_ASKED | {"system": [{"text": "Be brief."}, POINT]}),
    (
        CONVERSE,
        "/model/m/converse",
        CONVERSE_ASKED | {"system": [{"guardContent": {"text": {"text": "x"}}}]},
    ),
    (
        GEMINI,
        "/v1beta/models/m:generateContent",
        GEMINI_ASKED | {"systemInstruction": {"parts": {"text": "x"}}},
    ),
]


@pytest.mark.parametrize(("wire", "path", "asked"), HEALTHY)
@pytest.mark.behaviour("C7", "P8")
def test_other_instructions_leave_byte_for_byte(wire, path, asked) -> None:
    body = json.dumps(asked, indent=1).encode()
    request = wire.request(body, 0, path, Dialect())
    assert request is not None
    assert request.repairs == ()
    assert request.apply((), Dialect()) is body


@pytest.mark.behaviour("P8")
def test_the_short_path_leaves_blank_instructions_to_the_full_one() -> None:
    asked = json.dumps(ANTHROPIC_ASKED | {"system": [said("", **CACHED)]}).encode()
    assert anthropic_asks(asked) is None
    asked = json.dumps(GEMINI_ASKED | {"systemInstruction": {"parts": [{"text": ""}]}}).encode()
    assert gemini_asks(asked) is None
    assert anthropic_asks(json.dumps(ANTHROPIC_ASKED | {"system": [said("Be brief.")]}).encode())


@pytest.mark.behaviour("H5a", "C7")
def test_what_was_left_out_is_told() -> None:
    asked = ANTHROPIC_ASKED | {"system": [said("", **CACHED), said("Be brief.")]}
    answer = {
        "type": "message", "role": "assistant", "content": [said("Yes.")], "stop_reason": "end_turn",
    }  # fmt: skip
    body = Scripted.body(json.dumps(answer).encode())
    turn = Played("https://api.anthropic.com/v1/messages", asked, body)
    assert turn.sent == [asked | {"system": [said("Be brief.")]}]
    assert turn.of("history_repaired") == [{"repairs": ["blank_instruction_removed"]}]
