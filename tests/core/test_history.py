"""Random histories by every wire's table: what was repaired is right and needs no second repair."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from support.repairing import repair_history

from tenuto.core import hints
from tenuto.core.history.table import Call, Result, Role, Rules, by_role
from tenuto.wires.anthropic_messages.history import RULES as ANTHROPIC
from tenuto.wires.bedrock_converse.history import RULES as CONVERSE
from tenuto.wires.chat_like.history import RULES as CHAT
from tenuto.wires.gemini_generate.history import RULES as GEMINI
from tenuto.wires.openai_responses.history import RULES as RESPONSES

Row = dict[str, Any]
Event = tuple[str, str]
"""What stands in a history: ("call", id), ("result", id), or ("row", who speaks)."""

NOTICE = hints.NOTICE.format(reason="retry limit")
TEXTS = ("Hi", "", " \n", "Half" + NOTICE, NOTICE)
IDS = ("a", "b", "a", "c", "")
ODD: tuple[Any, ...] = (None, 5, [], {}, "odd", [1], {"x": 1})
OBJECTS: tuple[Any, ...] = ({}, {"x": 1}, "{", '{"x": 1}', None, [1])
ARGUMENTS: tuple[Any, ...] = ("{}", '{"x": 1}', '{"x', "", None, {"x": 1})
FEW, MANY = 600, 60_000


def _output(r: random.Random) -> str:
    return f"result {r.getrandbits(64)}"


def _anthropic(r: random.Random) -> Row:
    def block() -> Any:
        return r.choice(
            (
                {"type": "text", "text": r.choice(TEXTS)},
                {"type": "tool_use", "id": r.choice(IDS), "name": "f", "input": r.choice(OBJECTS)},
                {"type": "tool_result", "tool_use_id": r.choice(IDS), "content": _output(r)},
                {"type": "thinking", "thinking": "Hm", "signature": r.choice(("", "s"))},
                {"type": "image", "_mine": 1},
            )
        )

    blocks = [block() for _ in range(r.randint(0, 3))]
    return {"role": r.choice(("user", "assistant")), "content": blocks}


def _chat(r: random.Random) -> Row:
    calls = [
        {"id": r.choice(IDS), "function": {"name": "f", "arguments": r.choice(ARGUMENTS)}}
        for _ in range(r.randint(0, 3))
    ]
    return r.choice(
        (
            {"role": "user", "content": r.choice(TEXTS)},
            {"role": "assistant", "content": r.choice(TEXTS)},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": r.choice(IDS), "content": _output(r)},
            {"role": "tool", "content": "x", "_mine": 1},
        )
    )


def _converse(r: random.Random) -> Row:
    def block() -> Any:
        use, failed = {"toolUseId": r.choice(IDS), "name": "f"}, {"status": "error", "content": []}
        thought = {"reasoningText": r.choice(({"text": "Hm"}, {"text": "Hm", "signature": "s"}))}
        return r.choice(
            (
                {"text": r.choice(TEXTS)},
                {"toolUse": {**use, "input": r.choice(OBJECTS)}},
                {"toolResult": {"toolUseId": r.choice(IDS), "content": [{"text": _output(r)}]}},
                {"toolResult": {"toolUseId": r.choice(IDS), **failed}},
                {"reasoningContent": thought},
            )
        )

    blocks = [block() for _ in range(r.randint(0, 3))]
    return {"role": r.choice(("user", "assistant")), "content": blocks}


def _item(r: random.Random) -> Row:
    part = {"type": "output_text", "text": r.choice(TEXTS)}
    return r.choice(
        (
            {"role": "user", "content": "Hi"},
            {"type": "message", "role": "assistant", "content": [part]},
            {"type": "function_call", "call_id": r.choice(IDS), "arguments": r.choice(ARGUMENTS)},
            {"type": "function_call_output", "call_id": r.choice(IDS), "output": _output(r)},
            {"type": "reasoning", "id": "rs", "summary": []},
        )
    )


def _gemini(r: random.Random) -> Row:
    def part() -> Any:
        named = r.choice(
            ({"name": "f"}, {"name": "g"}, {"name": "f", "id": "a"}, {"name": "g", "id": ""})
        )
        return r.choice(
            (
                {"text": r.choice(TEXTS)},
                {"functionCall": {**named, "args": r.choice(OBJECTS)}},
                {"functionResponse": {**named, "response": {"output": _output(r)}}},
                {"text": "", "thoughtSignature": "s"},
            )
        )

    parts = [part() for _ in range(r.randint(0, 3))]
    return {"role": r.choice(("user", "model")), "parts": parts}


def _parts_of(row: Row, key: str) -> list[Any]:
    return [part for part in row.get(key) or () if isinstance(part, dict)]


def _read_anthropic(row: Row) -> Iterator[Event]:
    yield "row", row["role"]
    for part in _parts_of(row, "content"):
        if row["role"] == "assistant" and part["type"] == "tool_use":
            yield "call", part["id"]
        if row["role"] == "user" and part["type"] == "tool_result":
            yield "result", part["tool_use_id"]


def _read_chat(row: Row) -> Iterator[Event]:
    if row["role"] == "tool":
        yield "result", row.get("tool_call_id", "")
        return
    yield "row", f"{row['role']} by itself"
    for call in _parts_of(row, "tool_calls"):
        yield "call", call["id"]


def _read_converse(row: Row) -> Iterator[Event]:
    yield "row", row["role"]
    for part in _parts_of(row, "content"):
        if row["role"] == "assistant" and "toolUse" in part:
            yield "call", part["toolUse"]["toolUseId"]
        if row["role"] == "user" and "toolResult" in part:
            yield "result", part["toolResult"]["toolUseId"]


def _read_item(row: Row) -> Iterator[Event]:
    if row.get("type") == "function_call_output":
        yield "row", "tool"
        yield "result", row["call_id"]
    else:
        yield "row", "user" if row.get("role") == "user" else "assistant"
    if row.get("type") == "function_call" and row["call_id"]:
        yield "call", row["call_id"]


def _read_gemini(row: Row) -> Iterator[Event]:
    yield "row", row["role"]
    for part in _parts_of(row, "parts"):
        if row["role"] == "model" and "functionCall" in part:
            yield "call", part["functionCall"]["name"]
        if row["role"] == "user" and "functionResponse" in part:
            yield "result", part["functionResponse"]["name"]


WIRES: dict[str, tuple[Rules, Callable[[random.Random], Row], Callable[[Row], Iterator[Event]]]] = {
    "anthropic-messages": (ANTHROPIC, _anthropic, _read_anthropic),
    "bedrock-converse": (CONVERSE, _converse, _read_converse),
    "gemini-generate": (GEMINI, _gemini, _read_gemini),
    "openai-chat": (CHAT, _chat, _read_chat),
    "openai-responses": (RESPONSES, _item, _read_item),
}


def histories(wire: str, count: int) -> Iterator[list[bytes]]:
    seeded = random.Random(f"{wire} 2026-11-24")
    for _ in range(count):
        rows = [WIRES[wire][1](seeded) for _ in range(seeded.randint(1, 8))]
        yield [json.dumps(row).encode() for row in rows]


def unpaired(events: Iterable[Event], rules: Rules) -> list[tuple[list[str], list[str]]]:
    """Calls and results that do not belong together, by turns of the model and what follows each;
    where results may stand anywhere, of all turns together."""
    turns: list[tuple[list[str], list[str]]] = [([], [])]
    speaker = ""
    for kind, name in events:
        calls, results = turns[-1]
        if kind == "row" and (name != speaker or not rules.turns):
            speaker = name
            if name != "user":
                turns.append(([], []))
        elif kind == "call":
            calls.append(name)
        elif kind == "result":
            results.append(name)
    if rules.pair is not None:
        turns = [([i for c, _ in turns for i in c], [i for _, r in turns for i in r])]
    as_given = rules.ordered and rules.pair is None
    return [
        (calls, results)
        for calls, results in turns
        if (calls != results if as_given else Counter(calls) != Counter(results))
    ]


def is_blank(content: object) -> bool:
    """Whether a row of the user's own holds nothing: no repair removes it, and Converse refuses it."""
    return isinstance(content, list) and not any(
        set(block) != {"text"} or block["text"].strip() for block in content
    )


def leaves_nothing(wire: str, rows: list[bytes]) -> bool:
    """Whether of a history that another row begins only that row would be left."""
    row = HEALTHY[wire][0]
    key = WIRES[wire][0].content
    asks = row | {key: "Hi" if isinstance(row.get(key), str) else [{"text": "Hi"}]}
    once, _ = repair_history([json.dumps(asks).encode(), *rows], WIRES[wire][0])
    return [json.loads(row) for row in once] == [asks]


@pytest.mark.behaviour("H1", "H2", "H5a", "H9")
@pytest.mark.timeout(600)  # 60,000 of them take about 40 s where nothing else is at work
@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.heavy)])
@pytest.mark.parametrize("wire", WIRES)
def test_every_call_is_answered_once_and_a_second_repair_changes_nothing(wire, count):
    rules, _, read = WIRES[wire]
    mended = 0
    for rows in histories(wire, count):
        once, words = repair_history(rows, rules)
        mended += bool(words)
        assert repair_history(once, rules) == (once, ()), rows
        if leaves_nothing(wire, rows):
            results = [
                sum(kind == "result" for row in some for kind, _ in read(json.loads(row)))
                for some in (rows, once)
            ]
            held = [row for row in map(json.loads, once) if not is_blank(row.get(rules.content))]
            assert not held or results[0] == results[1], "the provider says what is wrong"
            continue
        events = [event for row in once for event in read(json.loads(row))]
        assert not unpaired(events, rules), (rows, once)
        given = re.findall(rb"result \d+", b"".join(once))
        assert len(given) == len(set(given)), "a result stands for two calls"
        empty = [row for row in once if json.loads(row).get(rules.content) == []]
        assert set(empty) <= set(rows), "a repair left a row empty"
        roles = [json.loads(row).get("role") for row in once]
        assert not rules.alternates or all(one != two for one, two in pairwise(roles)), rows
    assert mended > count / 2, "the histories need mending"


HEALTHY: dict[str, list[Row]] = {
    "bedrock-converse": [
        {"role": "user", "content": [{"text": " "}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "z", "input": {"n": 1.0}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "z"}}, {"text": "Go on"}]},
        {"role": "assistant", "content": [{"text": "Yes"}]},
        {"role": "system", "content": [{"text": "Not one of the roles"}]},
    ],
    "anthropic-messages": [
        {"role": "user", "content": " "},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "z", "input": {"n": 1.0}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "z"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Yes"}]},
    ],
    "gemini-generate": [
        {"parts": [{"text": ""}]},
        {"role": "model", "parts": [{"functionCall": {"name": "z", "args": {"n": 1.0}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "z", "response": {}}}]},
        {"role": "model", "parts": [{"text": "Yes"}, {"text": ""}]},
    ],
    "openai-chat": [
        {"role": "user", "content": ""},
        {"role": "assistant", "tool_calls": [{"id": "z", "function": {"arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "z", "content": ""},
        {"role": "assistant", "content": [{"type": "text", "text": "Yes"}]},
    ],
    "openai-responses": [
        {"role": "user", "content": ""},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "z", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "z", "output": ""},
        {"role": "assistant", "content": "Yes"},
    ],
}


@pytest.mark.behaviour("C7", "H5a")
@pytest.mark.parametrize("wire", WIRES)
def test_rows_that_need_nothing_keep_their_bytes_before_rows_that_need_repair(wire):
    healthy = [json.dumps(row, indent=1).encode() for row in HEALTHY[wire]]
    for rows in histories(wire, FEW):
        once, words = repair_history([*healthy, *rows], WIRES[wire][0])
        assert once[: len(healthy)] == healthy
        assert words or once == [*healthy, *rows]


@pytest.mark.behaviour("C7", "N6")
@pytest.mark.parametrize("wire", WIRES)
def test_a_member_of_an_odd_type_raises_nothing(wire):
    rules, make, _ = WIRES[wire]
    seeded = random.Random(f"{wire} odd")
    for _ in range(FEW):
        rows: list[Any] = [make(seeded) for _ in range(4)]
        odd = seeded.choice(rows)
        odd[seeded.choice(("role", "type", *odd))] = seeded.choice(ODD)
        once, _ = repair_history(
            [json.dumps(row).encode() for row in [*rows, seeded.choice(ODD)]], rules
        )
        assert all(row == b"null" or json.loads(row) is not None for row in once)


ONE_CALL = Rules(
    role_of=by_role(assistant=Role.MODEL, tool=Role.ANSWERS),
    stub=lambda row: {"role": "tool", "to": row["call"]["key"], "content": "none"},
    row_kind="role",
    rows={"assistant": Call(("call", "key"), ("call", "with")), "tool": Result(("to",))},
    beside=("call",),
    result_rows=True,
    object_arguments=True,
)
"""The rules of a wire whose rows have one call, in a member."""


@pytest.mark.behaviour("H1", "H4")
def test_one_call_in_a_member_of_a_row_is_answered_and_a_row_without_it_has_none():
    asked = {"role": "user", "content": "Go on."}
    called = {"role": "assistant", "content": "", "call": {"key": "a", "with": '{"x'}}
    said = {"role": "assistant", "content": "Done."}
    assert repaired([asked, said, asked]) == ([asked, said, asked], set())
    mended = called | {"call": {"key": "a", "with": {}}}
    stub = {"role": "tool", "to": "a", "content": "none"}
    words = {"broken_arguments_replaced", "unanswered_call_answered"}
    assert repaired([asked, called, asked]) == ([asked, mended, stub, asked], words)


def repaired(rows: list[Row]) -> tuple[list[Any], set[str]]:
    sent, words = repair_history([json.dumps(row).encode() for row in rows], ONE_CALL)
    return list(map(json.loads, sent)), set(words)
