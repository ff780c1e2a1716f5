"""Histories that come in: repaired where they must be, byte-identical where they need not be."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.repairing import repair_history

import tenuto
from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendUser,
    DropConstraint,
    FreeToolChoice,
    LowerReasoning,
    SetOutputLimit,
)
from tenuto.wires.chat_like.history import RULES
from tenuto.wires.chat_like.request import parse_request
from tenuto.wires.dialect import Dialect
from tenuto.wires.members import members_of, rows_of
from tenuto_sim import Simulator
from tenuto_sim.openai_chat.history import body_violations
from tenuto_sim.reply import Settings

NOTICE = hints.NOTICE.format(reason="retry limit")
STUB = hints.ORPHAN_RESULT


def user(text: str = "Hi") -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: Any = "Yes", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text} | more


def called(*ids: str | int | None, arguments: Any = "{}") -> dict[str, Any]:
    """A row of calls. An id of None stands for a call without the member."""
    call = {"type": "function", "function": {"name": "f", "arguments": arguments}}
    calls = [call if i is None else {"id": i} | call for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str | int | None, text: str = "ok") -> dict[str, Any]:
    """A row with a result. An id of None stands for a row without the member."""
    row = {"role": "tool", "content": text}
    return row if call_id is None else row | {"tool_call_id": call_id}


def of_tools(**ids: str | None) -> dict[str, Any]:
    """A row with a call of each tool."""
    calls = [call for i in ids.values() for call in called(i)["tool_calls"]]
    named = [
        call | {"function": call["function"] | {"name": n}}
        for call, n in zip(calls, ids, strict=True)
    ]
    return {"role": "assistant", "content": None, "tool_calls": named}


def raw(rows: list[Any]) -> list[bytes]:
    return [json.dumps(row).encode() for row in rows]


def repaired(rows: list[Any]) -> tuple[list[Any], tuple[str, ...]]:
    out, words = repair_history(raw(rows), RULES)
    return [json.loads(row) for row in out], words


CASES: dict[str, tuple[list[Any], list[Any], tuple[str, ...]]] = {
    "call without a result at the tail": (
        [user(), called("a")],
        [user(), called("a"), result("a", STUB)],
        ("unanswered_call_answered",),
    ),
    "call without a result in the middle": (
        [user(), called("a", "b"), result("a"), user("Go")],
        [user(), called("a", "b"), result("a"), result("b", STUB), user("Go")],
        ("unanswered_call_answered",),
    ),
    "result without a call": (
        [user(), result("x"), said(), user()],
        [user(), said(), user()],
        ("stray_result_moved_or_removed",),
    ),
    "result without a call at the tail": (
        [user(), said(), result("x")],
        [user(), said()],
        ("stray_result_moved_or_removed",),
    ),
    "results in another order": (
        [user(), called("a", "b"), result("b"), result("a")],
        [user(), called("a", "b"), result("a"), result("b")],
        ("results_reordered",),
    ),
    "the same result twice": (
        [user(), called("a"), result("a"), result("a")],
        [user(), called("a"), result("a")],
        ("stray_result_moved_or_removed",),
    ),
    "a user row between call and result": (
        [user(), called("a"), user("wait"), result("a")],
        [user(), called("a"), result("a"), user("wait")],
        ("unanswered_call_answered", "stray_result_moved_or_removed"),
    ),
    "an id given again to a later call": (
        [user(), called("a"), result("a", "1"), called("a")],
        [user(), called("a"), result("a", "1"), called("a"), result("a", STUB)],
        ("unanswered_call_answered",),
    ),
    "two calls of one id": (
        [user(), called("a", "a")],
        [user(), called("a", "a_2"), result("a", STUB), result("a_2", STUB)],
        ("repeated_call_id_renamed", "unanswered_call_answered"),
    ),
    "two calls of one id with their results": (
        [user(), called("a", "b", "a", "a"), *(result(i, n) for i, n in zip("abaa", "1234", strict=True))],
        [user(), called("a", "b", "a_2", "a_3"), result("a", "1"), result("b", "2"), result("a_2", "3"), result("a_3", "4")],
        ("repeated_call_id_renamed",),
    ),
    "two calls of one id, whose results come a turn late": (
        [user(), called("a", "a"), user("wait"), said("Yes"), result("a", "1"), result("a", "2")],
        [user(), called("a", "a_2"), result("a", "1"), result("a_2", "2"), user("wait"), said("Yes")],
        ("repeated_call_id_renamed", "unanswered_call_answered", "stray_result_moved_or_removed"),
    ),
    "two calls of one id beside the id that would be next": (
        [user(), called("a", "a_2", "a"), result("a", "1"), result("a_2", "2"), result("a", "3")],
        [user(), called("a", "a_2", "a_3"), result("a", "1"), result("a_2", "2"), result("a_3", "3")],
        ("repeated_call_id_renamed",),
    ),
    "two calls of one id as long as an id may be": (
        [user(), called("a" * 40, "a" * 40), result("a" * 40, "1"), result("a" * 40, "2")],
        [user(), called("a" * 40, "a" * 38 + "_2"), result("a" * 40, "1"), result("a" * 38 + "_2", "2")],
        ("repeated_call_id_renamed",),
    ),
    "two rows with calls of one id, and their results behind them": (
        [user(), called("a"), called("a"), result("a", "1"), result("a", "2")],
        [user(), called("a"), result("a", "1"), called("a_2"), result("a_2", "2")],
        ("repeated_call_id_renamed", "unanswered_call_answered", "stray_result_moved_or_removed"),
    ),
    "two rows with calls of one id, and a result behind the second": (
        [user(), called("a"), called("a"), result("a", "1")],
        [user(), called("a"), result("a", STUB), called("a"), result("a", "1")],
        ("unanswered_call_answered",),
    ),
    "empty rows": (
        [user(), said(""), said("  \n"), said(None), said([]), said([{"type": "text", "text": " "}])],
        [user()],
        ("empty_row_removed",),
    ),
    "a row of calls without text stays": (
        [user(), called("a"), result("a")],
        [user(), called("a"), result("a")],
        (),
    ),
    "private keys": (
        [user() | {"_id": 1}, said("Yes", _thinking="x")],
        [user(), said("Yes")],
        ("private_keys_removed",),
    ),
    "an empty list of calls": (
        [user(), said("Yes", tool_calls=[])],
        [user(), said("Yes")],
        ("empty_call_list_removed",),
    ),
    "an empty row with an empty list of calls": (
        [user(), said("", tool_calls=[])],
        [user()],
        ("empty_call_list_removed", "empty_row_removed"),
    ),
    "broken arguments": (
        [user(), called("a", arguments='{"x": '), result("a")],
        [user(), called("a"), result("a")],
        ("broken_arguments_replaced",),
    ),
    "no arguments": (
        [user(), called("a", arguments=""), result("a")],
        [user(), called("a"), result("a")],
        ("broken_arguments_replaced",),
    ),
    "arguments as an object": (
        [user(), called("a", arguments={"x": [1]}), result("a")],
        [user(), called("a", arguments='{"x":[1]}'), result("a")],
        ("broken_arguments_replaced",),
    ),
    "arguments encoded twice": (
        [user(), called("a", arguments=json.dumps('{"x": 1}')), result("a")],
        [user(), called("a", arguments='{"x": 1}'), result("a")],
        ("broken_arguments_replaced",),
    ),
    "broken arguments of a deprecated call": (
        [user(), said(None, function_call={"name": "f", "arguments": "{"}),
         {"role": "function", "name": "f", "content": "ok"}],
        [user(), said(None, function_call={"name": "f", "arguments": "{}"}),
         {"role": "function", "name": "f", "content": "ok"}],
        ("broken_arguments_replaced",),
    ),
    "our notice": ([user(), said("Half" + NOTICE)], [user(), said("Half")], ("notice_removed",)),
    "our notice and what the client wrote behind it": (
        [user(), said(f"Half{NOTICE} Rest")],
        [user(), said("Half Rest")],
        ("notice_removed",),
    ),
    "our notice in a list of parts": (
        [user(), said([{"type": "text", "text": "Half" + NOTICE}, {"type": "x"}])],
        [user(), said([{"type": "text", "text": "Half"}, {"type": "x"}])],
        ("notice_removed",),
    ),
    "nothing but our notice": (
        [user(), said(NOTICE)],
        [user()],
        ("notice_removed", "empty_row_removed"),
    ),
    "calls and results without ids": (
        [user(), called(None, None), result(None, "1"), result(None, "2"), user()],
        [user(), called("call00001", "call00002"), result("call00001", "1"), result("call00002", "2"), user()],
        ("missing_call_id_added",),
    ),
    "a call without an id beside one that has no result": (
        [user(), called("a", None), result(None, "2")],
        [user(), called("a", "call00001"), result("a", STUB), result("call00001", "2")],
        ("missing_call_id_added", "unanswered_call_answered"),
    ),
    "more results without ids than calls": (
        [user(), called(None), result(None, "1"), result(None, "2")],
        [user(), called("call00001"), result("call00001", "1")],
        ("missing_call_id_added", "stray_result_moved_or_removed"),
    ),
    "results without ids behind calls with ids": (
        [user(), called("a", "b"), result(None, "1"), result(None, "2")],
        [user(), called("a", "b"), result("a", "1"), result("b", "2")],
        ("missing_call_id_added",),
    ),
    "a result without an id behind the second of two rows": (
        [user(), called(None), called(None), result(None, "2")],
        [user(), called("call00001"), result("call00001", STUB), called("call00002"), result("call00002", "2")],
        ("missing_call_id_added", "unanswered_call_answered"),
    ),
    "a result without an id in a later turn": (
        [user(), called(None), user("wait"), called(None), result(None, "2")],
        [user(), called("call00001"), result("call00001", STUB), user("wait"), called("call00002"), result("call00002", "2")],
        ("missing_call_id_added", "unanswered_call_answered"),
    ),
    "results without ids that name their tools": (
        [user(), of_tools(f=None, g=None), result(None, "1") | {"name": "g"}, result(None, "2") | {"name": "f"}],
        [user(), of_tools(f="call00001", g="call00002"), result("call00001", "2") | {"name": "f"}, result("call00002", "1") | {"name": "g"}],
        ("missing_call_id_added", "results_reordered"),
    ),
    "ids that Mistral's SDK wrote for missing ones": (
        [user(), called("null", "null"), result(None, "1"), result(None, "2")],
        [user(), called("call00001", "call00002"), result("call00001", "1"), result("call00002", "2")],
        ("missing_call_id_added",),
    ),
    "a call without an id or a result": (
        [user(), called("call00001"), result("call00001"), called(None)],
        [user(), called("call00001"), result("call00001"), called("call00002"), result("call00002", STUB)],
        ("missing_call_id_added", "unanswered_call_answered"),
    ),
    "the notice in a user's row is the user's": (
        [user("Half" + NOTICE)],
        [user("Half" + NOTICE)],
        (),
    ),
}  # fmt: skip


@pytest.mark.behaviour("H1", "H2", "H3", "H4", "T8", "C21")
@pytest.mark.parametrize("name", CASES)
def test_a_history_is_put_right(name):
    rows, expected, words = CASES[name]
    assert repaired(rows) == (expected, words)


@pytest.mark.behaviour("H2")
def test_results_of_calls_whose_ids_are_numbers_are_kept():
    rows = [user(), called(7, 8), result(8, "2"), result(7, "1")]
    assert repaired(rows) == ([*rows[:2], rows[3], rows[2]], ("results_reordered",))


contents = (
    st.none()
    | st.text(max_size=5)
    | st.sampled_from(["", " ", "x" + NOTICE, [], [{"type": "text", "text": "a"}]])
)
ids = st.sampled_from(["a", "b", "c"])
texts = st.sampled_from(["{}", '{"a": 1}', '{"a', "", "null", '"{}"', "[1]"])
any_row = st.one_of(
    st.builds(user, st.text(max_size=3)),
    st.builds(said, contents),
    st.builds(
        lambda c, i, a: called(*i, arguments=a) | {"content": c},
        st.none() | st.text(max_size=3),
        st.lists(ids, max_size=3),
        texts,
    ),
    st.builds(result, ids, st.text(max_size=3)),
    st.builds(lambda row: row | {"_x": 1}, st.builds(user)),
)


@pytest.mark.behaviour("H1", "H2", "H3", "H4", "H5a", "T8")
@settings(max_examples=400)
@given(st.lists(any_row, max_size=8))
def test_repairing_twice_is_repairing_once_and_strict_providers_accept_it(rows):
    history = raw([user(), *rows])
    once, words = repair_history(history, RULES)
    assert repair_history(history, RULES) == (once, words)
    assert repair_history(once, RULES) == (once, ())
    kept = [row for row in map(json.loads, once) if row["role"] == "user"]
    assert kept == [
        user(),
        *[{k: v for k, v in r.items() if k != "_x"} for r in rows if r["role"] == "user"],
    ]
    values = [json.loads(row) for row in once]
    for row in values:
        names = [call["id"] for call in row.get("tool_calls") or ()]
        assert len(names) == len(set(names))
    assert list(body_violations({"model": "m", "messages": values}, Settings())) == []


ODD_BUT_VALID = [
    rb'{"role":"user","content":"\u00e9\/ \ud83d\ude00"}',
    rb'{ "role" : "user" , "content" : "x", "n": 1.0, "big": 123456789012345678901234567890 }',
    rb'{"role":"user","content":"x","huge":1e400,"tiny":-0.0,"exp":1E5}',
    rb'{"role":"user","content":"a","content":"b"}',
    (
    b'{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",'
    b'"function":{"name":"f","arguments":"{\\"x\\" :1e400}"}}]}'
    ),
    b'{ "role": "tool", "tool_call_id": "a", "content": "ok" }',
]  # fmt: skip


ASKED = [row for row in ODD_BUT_VALID if b'"huge"' not in row]
"""Those that a request is read with: one whose rows hold 1e400 passes untouched, as no request."""


@pytest.mark.behaviour("C7", "H5a")
def test_a_valid_history_keeps_its_bytes_however_odd():
    assert repair_history(ODD_BUT_VALID, RULES) == (ODD_BUT_VALID, ())
    body = b'{ "model":"m",\n "messages" : [' + b" ,\n".join(ASKED) + b'], "x": 1e400}'
    request = parse_request(body)
    assert request is not None
    assert request.apply((), Dialect()) == body


@pytest.mark.behaviour("C7", "H5a")
def test_a_repair_touches_only_what_it_repairs():
    row = b'{"_p":1,"role":"assistant","content":"\\u00e9","n":1.0,"huge":1e400,"tool_calls":[{"id":"a","type":"function","x":1e400,"function":{"name":"f","arguments":"{","y":1.0}}]}'
    (mended, _), _ = repair_history([row], RULES)
    assert mended == row.replace(b'"_p":1,', b"").replace(b'"{"', b'"{}"')


CALL = ToolCall("a", "f", '{"x":1}', Finding.WHOLE)
CUT = ToolCall("b", "f", '{"x', Finding.TRUNCATED)
EDITS: list[Any] = [
    AppendAssistant("So far"),
    AppendAssistant("So far", prefill=True),
    AppendUser(hints.CONTINUE),
    AppendCalls("text", (CALL, CUT), ("no", "no")),
    SetOutputLimit(77),
    LowerReasoning(),
    DropConstraint(),
    FreeToolChoice(),
]
REQUEST = (
    b'{"model":"m", "metadata": {"n": 1.0, "huge": 1e400}, "max_tokens": 5, "unknown_key": 1,'
    b'"reasoning_effort":"high","response_format":{"type":"json_object"},"tool_choice":"required",'
    b'"messages": [' + b", ".join(ASKED) + b"]}"
)


@pytest.mark.behaviour("C7", "H5")
@given(st.lists(st.sampled_from(EDITS), max_size=5))
def test_every_edit_keeps_the_clients_rows_and_members(edits):
    request = parse_request(REQUEST)
    assert request is not None
    body = request.apply(edits, Dialect())
    json.loads(body)
    if edits:
        assert rows_of(members_of(body)["messages"])[: len(ASKED)] == ASKED
    assert b'{"n": 1.0, "huge": 1e400}' in body
    added = json.loads(body)["messages"][len(ASKED) :]
    for row in added:
        assert set(row) <= {"role", "content", "tool_calls", "tool_call_id"}
        assert row.get("content") or row.get("tool_calls")
    for call in (c for row in added for c in row.get("tool_calls") or ()):
        assert isinstance(json.loads(call["function"]["arguments"]), dict)


@pytest.mark.behaviour("C7", "N6")
@pytest.mark.parametrize(
    "body",
    [b"", b"x", b"[]", b"{}", b'{"messages": []}', b'{"messages": [1]}', b'{"messages": {}}',
     b'{"messages": [{"role": "user"}', b"\xff", b'{"messages": [{"\xff": 1}]}', b"[" * 100_000,
     b'{"\xff": 1, "messages": [{"role": "assistant", "content": "x"}]}',
     b'{"\xff": 1, "messages": [{"role": "user", "content": "x"}]}',
     b'{"x": "\\ud800", "messages": [{"role": "user", "content": "x"}]}',
     b'{"messages": [{"role": [], "content": {}, "tool_calls": [5, {"function": {}}]}]}',
     b'{"messages": [{"role": {}, "tool_call_id": 5}, {"role": "tool"}, {"_x": 1}]}',
     b'{"messages": [{"role": "user", "content": "x", "n": 1e400}]}',
     b'{"model": "\xff", "n": [], "messages": [{"role": 5, "content": {}, "tool_calls": 7}]}'],
    ids=lambda b: repr(b[:65]),
)  # fmt: skip
def test_a_body_that_is_no_request_raises_nothing(body):
    request = parse_request(body)
    if request is None:
        return
    assert request.repairs or request.apply((), Dialect()) == body
    json.loads(request.apply((AppendUser("x"),), Dialect()))
    request.tool_parameters()


@pytest.mark.behaviour("H1", "H2", "H4", "T8")
def test_a_broken_history_is_accepted_by_a_strict_provider_through_the_wrapped_sdk():
    events: list[tenuto.Event] = []
    with Simulator() as sim:
        bare = openai.OpenAI(base_url=sim.base_url, api_key="k", max_retries=0)
        client = tenuto.wrap(bare, on_event=events.append)
        for name, (rows, _, words) in CASES.items():
            history: list[Any] = [*rows, user("Go on.")]
            events.clear()
            made = client.chat.completions.create(model="sim", messages=history)
            assert made.choices[0].finish_reason == "stop", name
            repairs = [e.data["repairs"] for e in events if e.name == "history_repaired"]
            assert repairs == ([list(words)] if words else []), name
        client.close()
