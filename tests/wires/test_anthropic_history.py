"""Anthropic histories that come in: repaired where they must be, byte-identical where not."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.repairing import repair_history

from tenuto.core import hints
from tenuto.wires.anthropic_messages.history import RULES, UNSIGNED_RULES
from tenuto.wires.anthropic_messages.request import parse_request
from tenuto.wires.dialect import Dialect

NOTICE = hints.NOTICE.format(reason="retry limit")


def user(content: Any = "Hi") -> dict[str, Any]:
    return {"role": "user", "content": content}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str = "Yes") -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, made: Any = None) -> dict[str, Any]:
    given = {} if made is None else made
    return {"type": "tool_use", "id": name, "name": "f", "input": given}


def result(name: str, content: str = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


def stub(name: str) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": name,
        "is_error": True,
        "content": hints.ORPHAN_RESULT,
    }


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
UNSIGNED = {"type": "thinking", "thinking": "hm", "signature": ""}
HIDDEN = {"type": "redacted_thinking", "data": "x"}
SEARCH = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}
MCP = {"type": "mcp_tool_use", "id": "mcp", "name": "f", "server_name": "s", "input": {}}
IMAGE = {"type": "image", "source": {"type": "url", "url": "u"}}
SYSTEM = {"role": "system", "content": "Be brief."}


def raw(rows: list[Any]) -> list[bytes]:
    return [json.dumps(row).encode() for row in rows]


def repaired(rows: list[Any]) -> tuple[list[Any], tuple[str, ...]]:
    out, words = repair_history(raw(rows), RULES)
    return [json.loads(row) for row in out], words


RENAMED = ("repeated_call_id_renamed",)
ANSWERED = ("unanswered_call_answered",)
UNFINISHED = ("unfinished_server_call_removed",)
STRAY = ("stray_result_moved_or_removed",)

CASES: dict[str, tuple[list[Any], list[Any], tuple[str, ...]]] = {
    "a call without a result at the tail": (
        [user(), said(text(), call("a"))],
        [user(), said(text(), call("a")), user([stub("a")])],
        ANSWERED,
    ),
    "a call without a result before a user's text": (
        [user(), said(call("a")), user("Go")],
        [user(), said(call("a")), user([stub("a"), text("Go")])],
        ANSWERED,
    ),
    "a call without a result before a user's blocks": (
        [user(), said(call("a"), call("b")), user([result("b"), IMAGE])],
        [user(), said(call("a"), call("b")), user([stub("a"), result("b"), IMAGE])],
        ANSWERED,
    ),
    "a call without a result before a blank text": (
        [user(), said(call("a")), user(" ")],
        [user(), said(call("a")), user([stub("a")])],
        (*ANSWERED, "blank_text_removed"),
    ),
    "a call without a result before a system row": (
        [user(), said(call("a")), SYSTEM, user("Go")],
        [user(), said(call("a")), user([stub("a")]), SYSTEM, user("Go")],
        ANSWERED,
    ),
    "a call without a result before content that is none": (
        [user(), said(call("a")), user(None)],
        [user(), said(call("a")), user([stub("a")]), user(None)],
        ANSWERED,
    ),
    "a call of a toolset without a result": (
        [user(), said(call("a") | {"toolset_name": "computer"})],
        [
            user(),
            said(call("a") | {"toolset_name": "computer"}),
            user([stub("a") | {"toolset_name": "computer"}]),
        ],
        ANSWERED,
    ),
    "a result without a call": (
        [user(), said(text()), user([result("x"), text("Go")])],
        [user(), said(text()), user([text("Go")])],
        STRAY,
    ),
    "nothing but a result without a call": (
        [user(), user([result("x")]), said(text()), user()],
        [user(), said(text()), user()],
        STRAY,
    ),
    "a result that names no call": (
        [user(), said(call("a")), user([{"type": "tool_result"}, result("a")])],
        [user(), said(call("a")), user([result("a")])],
        STRAY,
    ),
    "the same result twice": (
        [user(), said(call("a")), user([result("a", "1"), result("a", "2")])],
        [user(), said(call("a")), user([result("a", "1")])],
        STRAY,
    ),
    "results in another order": (
        [user(), said(call("a"), call("b")), user([result("b"), result("a"), text("Go")])],
        [user(), said(call("a"), call("b")), user([result("a"), result("b"), text("Go")])],
        ("results_reordered",),
    ),
    "a text before the result": (
        [user(), said(call("a")), user([text("wait"), result("a")])],
        [user(), said(call("a")), user([result("a"), text("wait")])],
        ("results_reordered",),
    ),
    "a row of the user between call and result": (
        [user(), said(call("a")), user("wait"), user([result("a")])],
        [user(), said(call("a")), user([result("a"), text("wait")])],
        ("results_reordered",),
    ),
    "a result that came a turn late": (
        [user(), said(call("a")), user("wait"), said(text()), user([result("a"), text("Go")])],
        [user(), said(call("a")), user([result("a"), text("wait")]), said(text()), user([text("Go")])],
        (*ANSWERED, *STRAY),
    ),
    "results in rows of their own are one turn": (
        [user(), said(call("a"), call("b")), user([result("a")]), user([result("b")]), user("Go")],
        [user(), said(call("a"), call("b")), user([result("a")]), user([result("b")]), user("Go")],
        (),
    ),
    "calls in rows of their own are one turn": (
        [user(), said(call("a")), said(call("b")), user([result("a"), result("b")])],
        [user(), said(call("a")), said(call("b")), user([result("a"), result("b")])],
        (),
    ),
    "an id given again to a later call": (
        [user(), said(call("a")), user([result("a")]), said(call("a"))],
        [user(), said(call("a")), user([result("a")]), said(call("a_2")), user([stub("a_2")])],
        (*RENAMED, *ANSWERED),
    ),
    "an id given again to a later call, with its result": (
        [user(), said(call("a")), user([result("a")]), said(call("a")), user([result("a", "2")])],
        [user(), said(call("a")), user([result("a")]), said(call("a_2")), user([result("a_2", "2")])],
        RENAMED,
    ),
    "two calls of one id": (
        [user(), said(call("a"), call("a")), user([result("a")])],
        [user(), said(call("a"), call("a_2")), user([result("a"), stub("a_2")])],
        (*RENAMED, *ANSWERED),
    ),
    "two calls of one id with their results": (
        [user(), said(call("a"), call("a", "{")), user([result("a"), result("a", "2"), text()])],
        [user(), said(call("a"), call("a_2")), user([result("a"), result("a_2", "2"), text()])],
        ("broken_arguments_replaced", *RENAMED),
    ),
    "an empty row between call and result": (
        [user(), said(call("a")), said(), user([result("a")])],
        [user(), said(call("a")), user([result("a")])],
        ("empty_row_removed",),
    ),
    "empty rows of the assistant": (
        [user(), said(), {"role": "assistant"}, *({"role": "assistant", "content": c} for c in ("", " \n", None))],
        [user()],
        ("empty_row_removed",),
    ),
    "blank texts": (
        [user([text(""), text("Hi")]), said(text("\n"), call("a")), user([result("a"), text(" ")])],
        [user([text("Hi")]), said(call("a")), user([result("a")])],
        ("blank_text_removed",),
    ),
    "nothing but blank texts": (
        [user([text(" ")]), said(text(""))],
        [user([text(" ")])],
        ("blank_text_removed", "empty_row_removed"),
    ),
    "a user's row is the user's": ([user(""), user([]), user(None)], [user(""), user([]), user(None)], ()),
    "our notice": (
        [user(), {"role": "assistant", "content": "Half" + NOTICE}, user(), said(text("Half" + NOTICE))],
        [user(), {"role": "assistant", "content": "Half"}, user(), said(text("Half"))],
        ("notice_removed",),
    ),
    "nothing but our notice": (
        [user(), {"role": "assistant", "content": NOTICE}, said(text(NOTICE), SEARCH, FOUND)],
        [user(), said(SEARCH, FOUND)],
        ("notice_removed", "empty_row_removed", "blank_text_removed"),
    ),
    "the notice in a user's row is the user's": ([user(NOTICE)], [user(NOTICE)], ()),
    "private keys": (
        [user() | {"_id": 1}, said(text() | {"_x": 1}), user([IMAGE | {"_y": 1}])],
        [user(), said(text()), user([IMAGE])],
        ("private_keys_removed",),
    ),
    "private keys of an input are the tool's": (
        [user(), said(call("a", {"_x": 1})), user([result("a")])],
        [user(), said(call("a", {"_x": 1})), user([result("a")])],
        (),
    ),
    "thinking that was cut before its signature": (
        [user(), said(UNSIGNED, {"type": "thinking", "thinking": "x"}, text()), said(UNSIGNED)],
        [user(), said(text())],
        ("unsigned_thinking_removed", "empty_row_removed"),
    ),
    "thinking that is signed or hidden": ([user(), said(THOUGHT, HIDDEN, text())], [user(), said(THOUGHT, HIDDEN, text())], ()),
    "an input that is no object": (
        [user(), said(call("a", "{"), call("b", [1]), call("c", 5)), user([result("a"), result("b"), result("c")])],
        [user(), said(call("a"), call("b"), call("c")), user([result("a"), result("b"), result("c")])],
        ("broken_arguments_replaced",),
    ),
    "an input that is an object as a text": (
        [user(), said(call("a", '{"x": [1]}')), user([result("a")])],
        [user(), said(call("a", {"x": [1]})), user([result("a")])],
        ("broken_arguments_replaced",),
    ),
    "a paused turn at the tail": ([user(), said(text(), SEARCH)], [user(), said(text(), SEARCH)], ()),
    "tools that the provider runs": (
        [user(), said(SEARCH, FOUND, text(), call("a")), user([result("a")])],
        [user(), said(SEARCH, FOUND, text(), call("a")), user([result("a")])],
        (),
    ),
    "a search without its result": (
        [user(), said(text("Let me see."), SEARCH, text()), user("Go")],
        [user(), said(text("Let me see."), text()), user("Go")],
        UNFINISHED,
    ),
    "nothing but a search without its result": (
        [user(), said(SEARCH), user("Go")],
        [user(), user("Go")],
        (*UNFINISHED, "empty_row_removed"),
    ),
    "nothing but reasoning and a search without its result": (
        [user(), said(THOUGHT, SEARCH), user("Go")],
        [user(), user("Go")],
        (*UNFINISHED, "empty_row_removed"),
    ),
    "a call of an MCP server without its result": (
        [user(), said(MCP, text()), user("Go")],
        [user(), said(text()), user("Go")],
        UNFINISHED,
    ),
    "a search with its result, then one without": (
        [user(), said(SEARCH, FOUND, SEARCH | {"id": "other"}, text()), user("Go")],
        [user(), said(SEARCH, FOUND, text()), user("Go")],
        UNFINISHED,
    ),
    "a search whose result came in a row of its own": (
        [user(), said(SEARCH), said(FOUND, text()), user("Go")],
        [user(), said(SEARCH), said(FOUND, text()), user("Go")],
        (),
    ),
    "a search that the provider finishes after a call": (
        [user(), said(SEARCH, call("a")), user([result("a")])],
        [user(), said(SEARCH, call("a")), user([result("a")])],
        (),
    ),
    "a search that was finished after two calls": (
        [user(), said(SEARCH, call("a")), user([result("a")]), said(call("b")), user([result("b")]), said(FOUND), user()],
        [user(), said(SEARCH, call("a")), user([result("a")]), said(call("b")), user([result("b")]), said(FOUND), user()],
        (),
    ),
    "a search that was not finished after a call either": (
        [user(), said(SEARCH, call("a")), user([result("a")]), said(text()), user("Go")],
        [user(), said(call("a")), user([result("a")]), said(text()), user("Go")],
        UNFINISHED,
    ),
    "rows of other roles and odd content": (
        [SYSTEM, {"role": 5, "content": {}}, {"role": "assistant", "content": 5}, {"role": "system", "content": [text("")]}],
        [SYSTEM, {"role": 5, "content": {}}, {"role": "assistant", "content": 5}, {"role": "system", "content": [text("")]}],
        (),
    ),
}  # fmt: skip


@pytest.mark.behaviour("H1", "H2", "H3", "H4", "T8", "C20", "C21")
@pytest.mark.parametrize("name", CASES)
def test_a_history_is_put_right(name):
    rows, expected, words = CASES[name]
    assert repaired(rows) == (expected, words)
    assert repaired(expected) == (expected, ())


# --- the provider's rules, written down a second time -------------------------------------------


def blocks(row: dict[str, Any]) -> list[Any]:
    content = row.get("content")
    return [text(content)] if isinstance(content, str) else content or []


def of(kind: str, found: list[Any]) -> list[Any]:
    return [block for block in found if block["type"] == kind]


def violations(rows: list[Any]) -> list[str]:
    """What Anthropic would say of a history; of rows that only their user can mend, nothing."""
    broken = []
    for row in rows:
        held = blocks(row)
        if any(key.startswith("_") for part in (row, *held) for key in part):
            broken.append("Extra inputs are not permitted")
        blank = [block for block in of("text", held) if not block["text"].strip()]
        if row["role"] == "assistant" and (blank or not held):
            broken.append("text content blocks must contain non-whitespace text")
        if row["role"] == "user" and blank and len(blank) < len(held):
            broken.append("text content blocks must contain non-whitespace text")
        if row["role"] == "assistant":
            if not all(block.get("signature") for block in of("thinking", held)):
                broken.append("Invalid `signature` in `thinking` block")
            if not all(isinstance(block["input"], dict) for block in of("tool_use", held)):
                broken.append("Input should be a valid dictionary")
    turns = [
        (role, [block for row in rows for block in blocks(row)])
        for role, rows in groupby(rows, key=lambda row: row["role"])
    ]
    pending: list[str] = []
    seen: set[str] = set()
    running: list[str] = []
    calling = False
    for role, held in [*turns, ("end", [])]:
        answered = [block["tool_use_id"] for block in of("tool_result", held)]
        if answered != pending:
            broken.append("`tool_use` ids were found without `tool_result` blocks")
        if held[: len(answered)] != of("tool_result", held):
            broken.append("`tool_result` blocks must come first")
        ids = [block["id"] for block in of("tool_use", held)] if role == "assistant" else []
        broken += ["`tool_use` ids must be unique"] * (len({*seen, *ids}) - len(seen) < len(ids))
        pending, seen = ids, seen | set(ids)
        if role == "assistant":
            running = still_running(running, held)
        elif role == "user" and running and not calling:
            broken.append("`web_search` tool use was found without a `web_search_tool_result`")
        calling = bool(ids) if role == "assistant" else calling
    return broken


def still_running(ids: list[str], held: list[Any]) -> list[str]:
    """The searches that have no result after these blocks."""
    for block in held:
        if block["type"] == "server_tool_use":
            ids = [*ids, block["id"]]
        if block["type"] == "web_search_tool_result":
            ids = [id_ for id_ in ids if id_ != block["tool_use_id"]]
    return ids


ids = st.sampled_from(["a", "b", "c"])
words = st.sampled_from(["Yes", "", " \n", "Half" + NOTICE, NOTICE])
inputs = st.sampled_from([{}, {"x": 1}, "{", '{"x": 1}', [1], "null", '"{}"'])
any_text = st.builds(text, words)
asked = st.lists(st.one_of(any_text, st.builds(result, ids), st.just(IMAGE)), max_size=4)
answered = st.lists(
    st.one_of(
        any_text,
        st.builds(call, ids, inputs),
        st.sampled_from([THOUGHT, UNSIGNED, HIDDEN, SEARCH, FOUND, text() | {"_x": 1}]),
    ),
    max_size=4,
)
any_row = st.one_of(
    st.builds(user, st.one_of(words, asked, st.none())),
    st.builds(lambda content: said(*content), answered),
    st.builds(lambda content: {"role": "assistant", "content": content}, words),
    st.builds(lambda names: user([result(name) for name in names]), st.lists(ids, min_size=1)),
    st.builds(lambda row: row | {"_x": 1}, st.builds(user)),
    st.just(SYSTEM),
)


@pytest.mark.behaviour("H1", "H2", "H3", "H4", "H5a", "H9", "T8")
@settings(max_examples=400)
@given(st.lists(any_row, max_size=8))
def test_a_repaired_history_satisfies_the_provider_and_needs_no_second_repair(rows):
    history = raw([user(), *rows])
    once, done = repair_history(history, RULES)
    assert repair_history(history, RULES) == (once, done)
    assert repair_history(once, RULES) == (once, ())
    assert violations([json.loads(row) for row in once]) == []


@st.composite
def valid_histories(draw):
    rows = []
    for n in range(draw(st.integers(0, 3))):
        names = [f"{n}{m}" for m in range(draw(st.integers(0, 3)))]
        thoughts = draw(st.lists(st.sampled_from([THOUGHT, HIDDEN]), max_size=2))
        spoken = [text()] if not names or draw(st.booleans()) else []
        rows.append(said(*thoughts, *spoken, *(call(name) for name in names)))
        own = draw(st.lists(st.sampled_from([text("Go"), IMAGE]), min_size=not names, max_size=2))
        parts = [*(result(name) for name in names), *own]
        cut = draw(st.integers(0, len(parts)))  # rows of one role are one turn, however cut
        rows += [user(part) for part in (parts[:cut], parts[cut:]) if part]
        rows += draw(st.sampled_from([[], [SYSTEM], [user("More")]]))
    return [user(), *rows]


@pytest.mark.behaviour("C7", "H5a")
@settings(max_examples=200)
@given(valid_histories())
def test_a_valid_history_keeps_its_bytes(rows):
    assert violations(rows) == []
    history = raw(rows)
    assert repair_history(history, RULES) == (history, ())


@pytest.mark.behaviour("H3")
@settings(max_examples=200)
@given(st.lists(any_row, max_size=8))
def test_no_word_of_the_user_is_lost(rows):
    assert spoken(repaired(rows)[0]) == spoken(rows)


def spoken(rows: list[Any]) -> list[Any]:
    """What the user said and showed, in order."""
    held = [block for row in rows if row["role"] == "user" for block in blocks(row)]
    return [b for b in held if b["type"] == "image" or b.get("text", "").strip()]


ODD_BUT_VALID = [
    rb'{"role":"user","content":"\u00e9\/ \ud83d\ude00"}',
    rb'{ "role" : "user" , "content" : "x", "n": 1.0, "big": 123456789012345678901234567890 }',
    rb'{"role":"user","content":"x","huge":1e400,"tiny":-0.0,"exp":1E5}',
    rb'{"role":"user","content":"a","content":"b"}',
    rb'{"role":"assistant","content":[ {"type":"tool_use","id":"a","name":"f","input":{"x" :1e400}} ]}',
    rb'{ "role": "user", "content": [{"type":"tool_result","tool_use_id":"a","content":"\u0041"} ]}',
]


@pytest.mark.behaviour("C7", "H5a")
def test_a_valid_history_keeps_its_bytes_however_odd():
    assert repair_history(ODD_BUT_VALID, RULES) == (ODD_BUT_VALID, ())
    body = b'{ "model":"m",\n "messages" : [' + b" ,\n".join(ODD_BUT_VALID) + b'], "x": 1e400}'
    request = parse_request(body)
    assert request is not None
    assert request.apply((), Dialect()) == body


@pytest.mark.behaviour("C7", "H5a")
def test_a_repair_touches_only_what_it_repairs():
    rows = [
        (
            b'{"_p":1,"role":"assistant","content":[{"type":"text","text":"\\u00e9","n":1.0},'
            b'{"type":"text","text":" "},{"type":"tool_use","id":"a","big":1e400,"input":"{"}]}'
        ),
        b'{"role":"user","content":"\\u0041 \\/","n":1.0}',
    ]
    assert repair_history(rows, RULES)[0] == [
        (
            b'{"role":"assistant","content":[{"type":"text","text":"\\u00e9","n":1.0},'
            b'{"type":"tool_use","id":"a","big":1e400,"input":{}}]}'
        ),
        b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,'
        b'"content":"' + hints.ORPHAN_RESULT.encode() + b'"},'
        b'{"type":"text","text":"\\u0041 \\/"}],"n":1.0}',
    ]


@pytest.mark.behaviour("H2", "H5a")
def test_a_result_that_moves_keeps_its_bytes():
    rows = [
        b'{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}',
        b'{"role":"user","content":"wait"}',
        (
            b'{"role":"user","content":[{"type":"tool_result" ,"tool_use_id":"a","n":1.0,'
            b'"cache_control":{"type":"ephemeral"}}]}'
        ),
    ]
    assert repair_history(rows, RULES)[0][1:] == [
        (
            b'{"role":"user","content":[{"type":"tool_result" ,"tool_use_id":"a","n":1.0,'
            b'"cache_control":{"type":"ephemeral"}},{"type":"text","text":"wait"}]}'
        )
    ]


@pytest.mark.behaviour("C20")
def test_thinking_without_a_signature_stays_where_nobody_signs():
    row = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}
    rows = [{"role": "user", "content": "Hi"}, row | {"content": [*row["content"], text("Yes.")]}]
    assert repair_history(raw(rows), RULES)[1] == ("unsigned_thinking_removed",)
    assert repair_history(raw(rows), UNSIGNED_RULES)[1] == ()
