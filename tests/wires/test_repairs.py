"""Repairs of random histories, on every wire that has any: once is enough (H5a)."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from examples.wires.tests.at_hand import every_wire as wires
from tenuto.core import hints
from tenuto.wires.dialect import Dialect

Row = dict[str, Any]
IDS, TEXTS = (
    ("a", "b", "a", "c", "f:0", "f.0"),
    ("Hi", "", " ", "\n", "Yes" + hints.NOTICE.format(reason="x")),
)
SERVED = ("s", "t")
RESULTS: tuple[Any, ...] = ("x", "", None, [], [{"type": "text", "text": " "}],
                            [{"type": "text", "text": ""}, {"type": "text", "text": "x"}])  # fmt: skip
ARGUMENTS: tuple[Any, ...] = ({}, {"x": 1}, "{}", '{"x', None, "[1]")
FEW, MANY = 600, 3_000
"""Histories of a wire; many are heavy."""


def _chat(r: random.Random) -> Row:
    text = r.choice(TEXTS)
    calls = [
        {"id": r.choice(IDS), "type": "function", "function": {"name": "f", "arguments": given}}
        for given in r.choices(('{"x": 1}', "{}", '{"x', "", None, {"x": 1}), k=r.randint(0, 2))
    ]
    return r.choice(
        [
            {"role": "user", "content": text or "Hi"},
            {"role": "assistant", "content": text},
            {"role": "assistant", "content": r.choice([text, None]), "tool_calls": calls},
            {"role": "assistant", "content": [{"type": "text", "text": text}]},
            {"role": "tool", "tool_call_id": r.choice(IDS), "content": r.choice(RESULTS)},
            {"role": "assistant", "content": r.choice([[], "So: "]), "tool_calls": calls},
            {"role": "assistant", "content": text, "_private": 1},
            {"role": "assistant", "content": "Be", "prefix": True},
        ]
    )


def _messages(r: random.Random) -> Row:
    blocks: list[Any] = [
        {"type": "text", "text": r.choice(TEXTS)},
        {"type": "tool_use", "id": r.choice(IDS), "name": "f", "input": r.choice(ARGUMENTS)},
        {"type": "tool_result", "tool_use_id": r.choice(IDS), "content": "x"},
        {"type": "tool_result", "tool_use_id": r.choice(IDS), "content": r.choice(RESULTS)}
        | r.choice([{}, {"is_error": True}]),
        {"type": "thinking", "thinking": "Hm", "signature": r.choice(["", "s"])},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "server_tool_use", "id": r.choice(SERVED), "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": r.choice(SERVED), "content": []},
    ]
    content: Any = r.choices(blocks, k=r.randint(0, 3))
    return {"role": r.choice(["user", "assistant"]), "content": r.choice([content, content, "Hi"])}


def _converse(r: random.Random) -> Row:
    thought = {"reasoningText": {"text": "Hm"} | r.choice([{}, {"signature": "s"}])}
    call = {"toolUseId": r.choice(IDS), "name": "f", "input": r.choice(ARGUMENTS)}
    given = r.choice([[], [{"text": "x"}], [{"text": ""}], [{"text": ""}, {"json": {}}]])
    result = {"toolUseId": r.choice(IDS), "content": given}
    served = {"toolUseId": r.choice(SERVED), "name": "x", "type": "server_tool_use", "input": {}}
    blocks: list[Any] = [
        {"text": r.choice(TEXTS)},
        {"toolUse": call},
        {"toolUse": served},
        {"toolResult": {"toolUseId": r.choice(SERVED), "content": [{"text": "x"}]}},
        {"toolResult": result | r.choice([{}, {"status": "error"}])},
        {"reasoningContent": thought},
    ]
    row = {"role": r.choice(["user", "assistant"]), "content": r.choices(blocks, k=r.randint(0, 3))}
    return row | r.choice([{}, {}, {"_private": 1}])


def _cohere_v1(r: random.Random) -> Row:
    calls = [{"name": r.choice("fg"), "parameters": r.choice(ARGUMENTS)} for _ in range(2)]
    results = [{"call": {"name": r.choice("fg"), "parameters": {}}, "outputs": []}]
    return r.choice(
        [
            {"role": "USER", "message": "Hi"},
            {"role": "CHATBOT", "message": r.choice(TEXTS)},
            {"role": "CHATBOT", "message": r.choice(TEXTS), "tool_calls": calls[: r.randint(0, 2)]},
            {"role": "TOOL", "tool_results": results * r.randint(0, 2)},
            {"role": "TOOL", "tool_results": results},
            {"role": "SYSTEM", "message": "Be brief.", "_private": 1},
        ]
    )


def _gemini(r: random.Random) -> Row:
    name, number = r.choice("fg"), r.choice([{}, {"id": r.choice(IDS)}])
    parts: list[Any] = [
        {"text": r.choice(TEXTS)},
        {"functionCall": {"name": name, "args": r.choice(ARGUMENTS)} | number},
        {"functionResponse": {"name": name, "response": {"x": 1}} | number},
        {"text": "Hm", "thought": True},
    ]
    return {"role": r.choice(["user", "model"]), "parts": r.choices(parts, k=r.randint(0, 3))}


def _steps(r: random.Random) -> Row:
    said = [{"type": "text", "text": r.choice(TEXTS)}]
    return r.choice(
        [
            {"type": "user_input", "content": said},
            {"type": "model_output", "content": said},
            {"type": "function_call", "id": r.choice(IDS), "name": "f", "arguments": {}},
            {"type": "function_call", "id": "a", "name": "f", "arguments": r.choice(ARGUMENTS)},
            {"type": "function_result", "call_id": r.choice(IDS), "name": "f", "result": "x"},
            {"type": "thought", "signature": "gA=="},
        ]
    )


def _items(r: random.Random) -> Row:
    said = {"type": "output_text", "text": r.choice(TEXTS), "annotations": []}
    call = {"type": "function_call", "call_id": r.choice(IDS), "name": "f"}
    return r.choice(
        [
            {"role": "user", "content": r.choice(TEXTS) or "Hi"},
            {"type": "message", "role": "assistant", "content": [said]},
            {"role": "assistant", "content": r.choice(TEXTS)},
            call | {"arguments": r.choice(["{}", '{"x', "", None])},
            call | {"arguments": "{}", "id": "fc_1"},
            {"type": "function_call_output", "call_id": r.choice(IDS), "output": r.choice(RESULTS)},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA=="},
        ]
    )


def _ollama(r: random.Random) -> Row:
    calls = [
        {"function": {"name": r.choice("fg"), "arguments": r.choice(ARGUMENTS)}}
        | r.choice([{}, {"id": r.choice(IDS)}])
        for _ in range(r.randint(0, 2))
    ]
    return r.choice(
        [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": r.choice(TEXTS)},
            {"role": "assistant", "content": r.choice(TEXTS), "tool_calls": calls},
            {"role": "tool", "tool_name": r.choice("fg"), "content": "x"},
            {"role": "tool", "tool_call_id": r.choice(IDS), "content": "x"},
        ]
    )


HISTORY: dict[str, tuple[str, str, Any, dict[str, Any]]] = {
    "anthropic-messages": ("messages", "/v1/messages", _messages, {"model": "m", "max_tokens": 99}),
    "bedrock-converse": ("messages", "/model/anthropic.claude-x/converse", _converse, {}),
    "bedrock-invoke": ("messages", "/model/qwen.qwen3/invoke", _chat, {}),
    "cohere": ("messages", "/v2/chat", _chat, {"model": "m"}),
    "cohere-v1": ("chat_history", "/v1/chat", _cohere_v1, {"message": "", "model": "m"}),
    "dashscope": ("messages", "/services/aigc/text-generation/generation", _chat, {"model": "m"}),
    "gemini-generate": ("contents", "/v1beta/models/m:generateContent", _gemini, {}),
    "gemini-interactions": ("input", "/v1beta/interactions", _steps, {"model": "m"}),
    "mistral": ("messages", "/v1/chat/completions", _chat, {"model": "m"}),
    "ollama": ("messages", "/api/chat", _ollama, {"model": "m"}),
    "openai-chat": ("messages", "/v1/chat/completions", _chat, {"model": "m"}),
    "openai-responses": ("input", "/v1/responses", _items, {"model": "m"}),
    "watsonx": ("messages", "/ml/v1/text/chat", _chat, {"model_id": "m"}),
}
"""By wire: where its history stands, a path, what makes a row, and the other members."""


def histories(wire: str, count: int) -> Iterator[list[Row]]:
    seeded = random.Random(f"{wire} 2026-11-23")
    for _ in range(count):
        yield [HISTORY[wire][2](seeded) for _ in range(seeded.randint(1, 6))]


def body_of(wire: str, rows: list[Row]) -> bytes:
    key, _, _, members = HISTORY[wire]
    if wire == "dashscope":
        return json.dumps(members | {"input": {key: rows}}).encode()
    return json.dumps(members | {key: rows}).encode()


def repaired(wire: str, body: bytes) -> tuple[bytes, tuple[str, ...]] | None:
    parsed = wires()[wire].request(body, 16, HISTORY[wire][1], Dialect())
    return None if parsed is None else (parsed.apply((), Dialect()), parsed.repairs)


@pytest.mark.behaviour("H5a")
@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.heavy)])
@pytest.mark.parametrize("wire", HISTORY)
def test_what_was_repaired_needs_no_repair_and_repairs_are_always_the_same(
    wire: str, count: int
) -> None:
    wrong: list[Any] = []
    mended = 0
    for rows in histories(wire, count):
        body = body_of(wire, rows)
        once = repaired(wire, body)
        if once is None:
            continue
        assert repaired(wire, body) == once
        mended += bool(once[1])
        twice = repaired(wire, once[0])
        if twice is not None and twice != (once[0], ()):
            wrong.append((rows, once, twice))
    assert mended > count / 10, "the histories need mending"
    assert not wrong, (
        f"{len(wrong)} of {count}, the smallest: {min(wrong, key=lambda w: len(str(w)))}"
    )


def rows_of(wire: str, body: bytes) -> list[Any]:
    members = json.loads(body)
    rows: list[Any] = (members["input"] if wire == "dashscope" else members)[HISTORY[wire][0]]
    return rows


CALLED_TWICE: dict[str, tuple[Row, Row]] = {
    "anthropic-messages": (
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]},
    ),
    "bedrock-converse": (
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "x"}]}}]},
    ),
    "cohere-v1": (
        {"role": "CHATBOT", "message": "", "tool_calls": [{"name": "f", "parameters": {}}]},
        {"role": "TOOL", "tool_results": [{"call": {"name": "f", "parameters": {}}, "outputs": []}]},
    ),
    "gemini-generate": (
        {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "a", "name": "f", "response": {}}}]},
    ),
    "gemini-interactions": (
        {"type": "function_call", "id": "a", "name": "f", "arguments": {}},
        {"type": "function_result", "call_id": "a", "name": "f", "result": "x"},
    ),
    "ollama": (
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
        {"role": "tool", "tool_name": "f", "content": "x"},
    ),
    "openai-responses": (
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
    ),
}  # fmt: skip
CHAT_TWICE: tuple[Row, Row] = (
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "aaaaaaaaa", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "aaaaaaaaa", "content": "x"},
)


@pytest.mark.behaviour("H2", "H5a")
@pytest.mark.parametrize("wire", HISTORY)
def test_a_call_with_an_id_that_was_used_before_is_answered_as_well(wire: str) -> None:
    call, result = CALLED_TWICE.get(wire, CHAT_TWICE)
    again = call
    renamed: tuple[str, ...] = ()
    if wire == "anthropic-messages":  # `tool_use` ids must be unique
        again = json.loads(json.dumps(call).replace('"a"', '"a_2"'))
        renamed = ("repeated_call_id_renamed",)
    made = repaired(wire, body_of(wire, [call, result, call]))
    assert made is not None
    rows = rows_of(wire, made[0])
    assert rows[:3] == [call, result, again]
    assert len(rows) == 4
    assert rows[3] != result
    assert made[1] == (*renamed, "unanswered_call_answered")
    answered = repaired(wire, body_of(wire, [call, result, call, result]))
    assert answered is not None
    assert answered[1] == renamed
    assert repaired(wire, answered[0]) == (answered[0], ())


@pytest.mark.behaviour("H1", "H2", "H5a")
@pytest.mark.parametrize("wire", [wire for wire in HISTORY if wire != "cohere-v1"])
def test_a_result_without_a_call_stays_where_nothing_else_would_be_left(wire: str) -> None:
    _, result = CALLED_TWICE.get(wire, CHAT_TWICE)
    assert repaired(wire, body := body_of(wire, [result])) == (body, ())
    made = repaired(wire, body_of(wire, [result | {"_mine": 1}]))
    assert made is not None
    assert rows_of(wire, made[0]) == [result]
    assert made[1] == ("private_keys_removed",)


INSTRUCTED = [wire for wire in HISTORY if CALLED_TWICE.get(wire) is None]


@pytest.mark.behaviour("H2", "H5a")
@pytest.mark.parametrize("wire", INSTRUCTED)
def test_a_result_without_a_call_stays_where_only_instructions_would_be_left(wire: str) -> None:
    system: Row = {"role": "system", "content": "Be brief."}
    body = body_of(wire, [system, CHAT_TWICE[1]])
    assert repaired(wire, body) == (body, ())
    asked = body_of(wire, [system, CHAT_TWICE[1], {"role": "user", "content": "Hi"}])
    made = repaired(wire, asked)
    assert made is not None
    assert [row["role"] for row in rows_of(wire, made[0])] == ["system", "user"]


WITH_IDS = [wire for wire in HISTORY if wire not in ("cohere-v1", "gemini-generate", "ollama")]
"""Wires that pair a call with its result by an id alone."""


@pytest.mark.behaviour("H2", "H5a", "H9")
@pytest.mark.parametrize("wire", WITH_IDS)
def test_two_calls_of_one_id_get_an_id_each_and_keep_both_results(wire: str) -> None:
    call, result = CALLED_TWICE.get(wire, CHAT_TWICE)
    results = [json.loads(json.dumps(result).replace('"x"', f'"{n}"')) for n in (1, 2)]
    calls = [json.loads(json.dumps(call).replace('"f"', f'"f{n}"')) for n in (1, 2)]
    key = next((name for name in ("content", "tool_calls") if isinstance(call.get(name), list)), "")
    if key:  # the calls of an answer are parts of one row
        calls = [calls[0] | {key: [part for row in calls for part in row[key]]}]
    if isinstance(result.get("content"), list):
        results = [results[0] | {"content": [part for row in results for part in row["content"]]}]
    made = repaired(wire, body_of(wire, [*calls, *results]))
    assert made is not None
    further = ("call_ids_renamed",) if wire == "mistral" else ()  # nine letters and digits
    assert made[1] == ("repeated_call_id_renamed", *further)
    assert repaired(wire, made[0]) == (made[0], ())
    sent = json.dumps(rows_of(wire, made[0]))
    key = '"call_id"|"id"|"tool_call_id"|"tool_use_id"|"toolUseId"'
    named = re.findall(rf'(?:{key}): "(\w+)"', sent)
    assert len(named) == 4
    assert named[:2] == named[2:], "the first result is the first call's"
    assert len(set(named)) == 2
    assert re.findall(r'"(f?[12])"', sent) == ["f1", "f2", "1", "2"]
