"""Requests of Anthropic Messages: what is read of them, and the bytes that edits make of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import MessageParam
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendUser,
    DropConstraint,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputLimit,
)
from tenuto.wires.anthropic_messages.request import MessagesRequest, parse_request
from tenuto.wires.dialect import Dialect
from tenuto.wires.members import members_of, rows_of
from tenuto.wires.request import RequestFacts

USER = {"role": "user", "content": "Hi"}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}
CALL = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
UNSIGNED = {"type": "thinking", "thinking": "hm", "signature": ""}
HIDDEN = {"type": "redacted_thinking", "data": "x"}
SEARCH = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [{"n": 1}]}
UPLOAD = {"type": "container_upload", "file_id": "f"}
SDK_ROWS = TypeAdapter(list[MessageParam])
SCHEMA = {"type": "json_schema", "schema": {}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def request(
    *rows: Any, path: str = "/v1/messages", probe: int = 0, **members: Any
) -> MessagesRequest:
    body = {"model": "m", "max_tokens": 100, "messages": list(rows or [USER])} | members
    made = parse_request(json.dumps(body).encode(), probe, path)
    assert made is not None
    return made


def facts(*rows: Any, probe: int = 0, **members: Any) -> RequestFacts:
    return request(*rows, probe=probe, **members).facts


def sent(made: MessagesRequest, *edits: Edit) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(made.apply(edits, Dialect()))
    return body


def added(*edits: Edit) -> list[dict[str, Any]]:
    """The rows that edits add; all of them of the SDK's own shape."""
    rows: list[dict[str, Any]] = sent(request(), *edits)["messages"][1:]
    SDK_ROWS.validate_python(rows)
    return rows


# --- facts ------------------------------------------------------------------------------------


def test_facts_are_read_from_the_body():
    assert facts(stream=True) == RequestFacts(
        model="m", stream=True, max_tokens=100, include_usage=True
    )


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ([{"name": "f", "input_schema": {}}], True),
        ([{"type": "custom", "name": "f", "input_schema": {}}], True),
        ([{"type": "bash_20250124", "name": "bash"}], True),
        ([{"type": "text_editor_20250728", "name": "edit"}], True),
        ([{"type": "computer_toolset_20260801"}], True),
        ([{"type": "memory_20250818", "name": "memory"}], True),
        ([{"type": "web_search_20250305", "name": "s"}, {"name": "f"}], True),
        ([{"type": "web_search_20250305", "name": "web_search"}], False),
        ([{"type": "web_fetch_20260318", "name": "web_fetch"}], False),
        ([{"type": "code_execution_20260521", "name": "c"}], False),
        ([{"type": "tool_search_tool_bm25", "name": "t"}], False),
        ([{"type": "mcp_toolset", "mcp_server_name": "x"}], False),
        ([], False),
        (None, False),
        ([5], False),
        ({}, False),
    ],
)
def test_only_tools_that_the_caller_runs_count(tools, expected):
    assert facts(tools=tools).tools is expected


def test_tool_parameters_are_those_of_the_callers_tools():
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    tools = [
        {"name": "f", "input_schema": schema},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "web_search_20250305", "name": "web_search"},
        {"name": 5},
        5,
    ]
    assert request(tools=tools).tool_parameters() == {"f": schema, "bash": {}}
    assert request(tools=5).tool_parameters() == {}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([USER], False),
        ([USER, {"role": "assistant", "content": [CALL]}, RESULT], True),
        ([USER, {"role": "assistant", "content": [CALL]}, RESULT, USER], True),
        ([USER, {"role": "assistant", "content": [CALL]}, RESULT, {"role": "system", "content": "x"}], True),
        ([USER, {"role": "assistant", "content": [CALL]}, RESULT, {"role": "assistant", "content": "x"}], False),
    ],
)  # fmt: skip
def test_a_result_in_the_last_turn_of_the_user_is_seen(rows, expected):
    assert facts(*rows).after_tool_result is expected


@pytest.mark.behaviour("C8", "C27")
@pytest.mark.parametrize(
    ("members", "structured", "barred", "lower"),
    [
        ({}, False, False, False),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, False, True, True),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 1024}, "tools": [{"name": "f"}]},
            False,
            True,
            False,
        ),
        ({"thinking": {"type": "adaptive"}}, False, True, True),
        (
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
            False,
            True,
            False,
        ),
        ({"thinking": {"type": "between_tools"}}, False, True, True),
        ({"thinking": {"type": "disabled"}}, False, False, False),
        ({"output_config": {"effort": "low"}}, False, False, False),
        ({"output_config": {"effort": "medium"}}, False, False, True),
        ({"output_config": {"effort": "max"}}, False, False, True),
        ({"output_config": {"format": SCHEMA}}, True, True, False),
        ({"output_format": SCHEMA}, True, True, False),
        ({"output_config": {"format": None}, "output_format": None}, False, False, False),
        ({"output_config": 5, "output_format": [], "thinking": "x"}, False, False, False),
    ],
    ids=str,
)
def test_constraints_and_thinking_are_seen_and_bar_a_prefill(members, structured, barred, lower):
    found = facts(**members)
    assert (found.structured, found.prefill_barred, found.lower_reasoning) == (
        structured,
        barred,
        lower,
    )


@pytest.mark.behaviour("C8")
def test_a_request_that_ends_in_the_assistants_own_row_bars_a_further_prefill():
    assert facts(USER, {"role": "assistant", "content": "{"}).prefill_barred


@pytest.mark.behaviour("C28")
@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"max_tokens": 0}, "prewarm"),
        ({"max_tokens": 16}, "probe"),
        ({"max_tokens": 17}, ""),
        ({"max_tokens": True}, ""),
        ({"max_tokens": None}, ""),
        ({"compaction": {"type": "summarize"}}, "compaction"),
        ({"thread": {"type": "create"}}, "thread"),
    ],
)
def test_what_cannot_be_continued_is_left_alone_and_says_why(members, why):
    assert facts(probe=16, **members).left_alone == why


@pytest.mark.behaviour("C28", "H2")
def test_results_for_calls_that_the_providers_thread_holds_are_not_removed():
    made = request(RESULT, thread={"type": "continue", "previous_message_id": "x"})
    assert made.repairs == ()
    assert sent(made)["messages"] == [RESULT]


BEDROCK: dict[str, Any] = {"anthropic_version": "bedrock-2023-05-31", "model": None}
ARN = "arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.anthropic.claude-x"


@pytest.mark.parametrize(
    ("path", "model", "stream"),
    [
        ("/model/us.anthropic.claude-x-v1:0/invoke", "us.anthropic.claude-x-v1:0", False),
        ("/model/us.anthropic.claude-x-v1%3A0/invoke-with-response-stream", "us.anthropic.claude-x-v1:0", True),
        (f"/model/{ARN}/invoke?x=1", "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-x", False),
        ("/v1/projects/p/locations/global/publishers/anthropic/models/claude-x@1:rawPredict", "claude-x@1", False),
        ("/v1/projects/p/locations/global/publishers/anthropic/models/claude-x%401:streamRawPredict", "claude-x@1", True),
    ],
)  # fmt: skip
def test_model_and_streaming_are_read_from_paths_of_vertex_and_bedrock(path, model, stream):
    made = request(path=path, **BEDROCK)
    assert (made.facts.model, made.facts.stream) == (model, stream)
    assert "stream" not in sent(made, AppendUser("x"))


def test_a_body_of_another_vendor_behind_bedrock_is_no_request():
    body = b'{"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}'
    assert parse_request(body, 0, "/model/amazon.nova-lite-v1:0/invoke") is None


# --- rows that are added ------------------------------------------------------------------------


@pytest.mark.behaviour("C7", "C8")
def test_text_is_appended_as_one_block_after_its_signed_thinking():
    assert added(AppendAssistant("So far", prefill=True)) == [
        {"role": "assistant", "content": [text("So far")]}
    ]
    content = (UNSIGNED, THOUGHT, text("So far "), CALL)
    assert added(AppendAssistant("So far", content=content), AppendUser("Go on")) == [
        {"role": "assistant", "content": [THOUGHT, text("So far")]},
        {"role": "user", "content": [text("Go on")]},
    ]


SAID: dict[str, tuple[str, list[Any], list[Any]]] = {
    "a server's tool and its result go as they came": (
        "Let me look. It is 5",
        [THOUGHT, text("Let me look. "), SEARCH, FOUND, text("It is 5\n ")],
        [THOUGHT, text("Let me look. "), SEARCH, FOUND, text("It is 5")],
    ),
    "a server's tool without its result stays out": (
        "Look",
        [text("Look "), SEARCH],
        [text("Look")],
    ),
    "only the answered one of two": (
        "Look",
        [SEARCH, FOUND, text("Look"), SEARCH | {"id": "other"}],
        [SEARCH, FOUND, text("Look")],
    ),
    "calls for the caller stay out": ("Look", [SEARCH, FOUND, text("Look"), CALL], [SEARCH, FOUND, text("Look")]),
    "unsigned thinking stays out": ("Look", [HIDDEN, UNSIGNED, UPLOAD, text("Look")], [HIDDEN, UPLOAD, text("Look")]),
    "thinking does not end a row": ("Look", [UPLOAD, text("Look"), THOUGHT], [UPLOAD, text("Look")]),
    "what a seam took away is missed at the seam": (
        "The result is world. Really.",
        [text("The result is wor"), UPLOAD, text("world. "), UPLOAD, text("Really.")],
        [text("The result is "), UPLOAD, text("world. "), UPLOAD, text("Really.")],
    ),
    "text that no block held goes first": (
        "Before. After",
        [UPLOAD, text("After")],
        [UPLOAD, text("Before. After")],
    ),
    "white space alone is no block": (
        "One\n\nTwo",
        [text("One"), UPLOAD, text("\n\n"), UPLOAD, text("Two"), text("  ")],
        [text("One"), UPLOAD, UPLOAD, text("\n\nTwo")],
    ),
    "white space at the end of several blocks": (
        "One",
        [text("One \n"), UPLOAD, text(" "), text("\n")],
        [text("One"), UPLOAD],
    ),
    "no block of text at all": ("One", [UPLOAD], [UPLOAD, text("One")]),
    "citations stay with their text": (
        "One",
        [UPLOAD, text("One") | {"citations": [{"type": "x"}]}],
        [UPLOAD, text("One") | {"citations": [{"type": "x"}]}],
    ),
}  # fmt: skip


@pytest.mark.behaviour("C7", "C10", "C20")
@pytest.mark.parametrize("name", SAID)
def test_what_the_model_said_goes_back(name):
    said, content, expected = SAID[name]
    row = {"role": "assistant", "content": expected}
    assert added(AppendAssistant(said, content=tuple(content))) == [row]
    assert "".join(block.get("text", "") for block in expected) == said


any_block = st.one_of(
    st.builds(text, st.sampled_from(["a", "b ", " ", "", "\n", "cd"])),
    st.sampled_from([THOUGHT, UNSIGNED, HIDDEN, SEARCH, FOUND, UPLOAD, CALL]),
)


@pytest.mark.behaviour("C7", "C10")
@settings(max_examples=300)
@given(st.lists(any_block, max_size=7), st.sampled_from(["x", "a b", "abcd ab", "  a\n\nb"]))
def test_the_text_that_goes_back_is_the_merged_one_however_blocks_cut_it(content, said):
    (row,) = added(AppendAssistant(said, content=tuple(content)))
    kinds = [block["type"] for block in row["content"]]
    texts = [block["text"] for block in row["content"] if block["type"] == "text"]
    assert "".join(texts) == said
    assert all(words.strip() for words in texts)
    assert not {"tool_use"} & set(kinds)
    assert kinds[-1] not in ("thinking", "redacted_thinking")
    assert ("server_tool_use" in kinds) <= ("web_search_tool_result" in kinds)


@pytest.mark.behaviour("C26")
def test_a_paused_turn_goes_back_verbatim():
    content = (text(" Let me "), THOUGHT, SEARCH)
    assert added(AppendContent(content)) == [{"role": "assistant", "content": list(content)}]
    assert added(AppendContent(())) == []


@pytest.mark.behaviour("C26", "C20")
def test_thinking_that_was_cut_before_a_pause_does_not_go_back():
    content = (text("Let me "), UNSIGNED, text("see."), SEARCH)
    (row,) = added(AppendContent(content))
    assert row["content"] == [text("Let me "), text("see."), SEARCH]
    assert added(AppendContent((UNSIGNED,))) == []


WHOLE = ToolCall(
    "toolu_1", "f", '{"x": 1e400}', Finding.WHOLE, extra={"caller": {"type": "direct"}, "z": 1}
)
CUT = ToolCall("toolu_2", "g", '{"x', Finding.TRUNCATED)
NAMELESS = ToolCall("tóolu:2", "", "", Finding.EMPTY)


@pytest.mark.behaviour("T5", "H4", "C20")
def test_failed_calls_are_answered_in_order_behind_signed_thinking():
    content = (THOUGHT, UNSIGNED, HIDDEN, text("Now"), SEARCH)
    edit = AppendCalls("Now", (WHOLE, CUT), ("skipped", "cut"), "hm", content)
    body = request().apply((edit,), Dialect())
    assert body.endswith(
        b',{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},'
        b'{"type":"redacted_thinking","data":"x"},{"type":"text","text":"Now"},'
        b'{"type":"tool_use","id":"toolu_1","name":"f","input":{"x": 1e400},"caller":{"type":"direct"}},'
        b'{"type":"tool_use","id":"toolu_2","name":"g","input":{}}]},'
        b'{"role":"user","content":['
        b'{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":"skipped"},'
        b'{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":"cut"}]}]}'
    )


@pytest.mark.behaviour("T5", "T13", "C10")
def test_ids_of_failed_calls_are_in_the_providers_alphabet_and_no_text_is_blank():
    calls = (
        NAMELESS,
        ToolCall("t_olu_2", "f", "{}", Finding.WHOLE),
        ToolCall("", "f", "", Finding.EMPTY),
    )
    said, answered = added(AppendCalls(" ", calls, ("a", "b", "c")))
    assert [block["type"] for block in said["content"]] == ["tool_use"] * 3
    names = [block["id"] for block in said["content"]]
    assert names == ["t_olu_2", "t_olu_2_1", "call"]
    assert [block["tool_use_id"] for block in answered["content"]] == names
    assert said["content"][0]["name"] == "unknown"


# --- members that change ------------------------------------------------------------------------


ENABLED = {"type": "enabled", "budget_tokens": 8000, "display": "omitted"}
LOWER, DROP = LowerReasoning(), DropConstraint()
CHANGES: list[tuple[dict[str, Any], list[Any], dict[str, Any]]] = [
    ({}, [SetOutputLimit(77)], {"max_tokens": 77}),
    ({"thinking": ENABLED}, [SetOutputLimit(8001)], {"max_tokens": 8001, "thinking": ENABLED}),
    ({"thinking": ENABLED}, [SetOutputLimit(8000)], {"max_tokens": 8000, "thinking": ENABLED | {"budget_tokens": 4000}}),
    ({"thinking": ENABLED}, [SetOutputLimit(1500)], {"max_tokens": 1500, "thinking": ENABLED | {"budget_tokens": 1024}}),
    ({"thinking": ENABLED}, [SetOutputLimit(1024)], {"max_tokens": 1024}),
    ({"thinking": ENABLED}, [LOWER], {"thinking": ENABLED | {"budget_tokens": 4000}}),
    ({"thinking": ENABLED}, [LOWER, LOWER], {"thinking": ENABLED | {"budget_tokens": 4000}}),
    ({"thinking": ENABLED}, [LOWER, SetOutputLimit(5000)], {"max_tokens": 5000, "thinking": ENABLED | {"budget_tokens": 4000}}),
    ({"thinking": ENABLED}, [SetOutputLimit(3000), LOWER], {"max_tokens": 3000, "thinking": ENABLED | {"budget_tokens": 1500}}),
    ({"thinking": ENABLED | {"budget_tokens": 1500}}, [LOWER], {"thinking": ENABLED | {"budget_tokens": 1024}}),
    ({"thinking": ENABLED | {"budget_tokens": 1024}}, [LOWER], {"thinking": {"type": "disabled"}}),
    ({"thinking": {"type": "enabled"}}, [LOWER], {"thinking": {"type": "disabled"}}),
    ({"thinking": ENABLED | {"budget_tokens": 1024}, "tools": [{"name": "f"}]}, [LOWER], {"thinking": ENABLED | {"budget_tokens": 1024}, "tools": [{"name": "f"}]}),
    ({"thinking": {"type": "adaptive"}}, [LOWER], {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
    ({"output_config": {"effort": "max", "x": 1}}, [LOWER], {"output_config": {"effort": "low", "x": 1}}),
    ({"output_config": {"effort": "high", "format": SCHEMA}}, [LOWER, DROP], {"output_config": {"effort": "low"}}),
    ({"output_config": {"effort": "high", "format": SCHEMA}}, [DROP, LOWER], {"output_config": {"effort": "low"}}),
    ({"output_config": {"format": SCHEMA}}, [DROP], {}),
    ({"output_format": SCHEMA, "output_config": {"effort": "low", "format": SCHEMA}}, [DROP], {"output_config": {"effort": "low"}}),
    ({"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}, [FreeToolChoice()], {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
    ({"tool_choice": {"type": "tool", "name": "f"}}, [FreeToolChoice()], {"tool_choice": {"type": "auto"}}),
    ({"tool_choice": {"type": "none"}}, [FreeToolChoice()], {"tool_choice": {"type": "none"}}),
    ({"tool_choice": {"type": "auto", "x": 1}}, [FreeToolChoice()], {"tool_choice": {"type": "auto", "x": 1}}),
    ({}, [LOWER, DROP, FreeToolChoice()], {}),
]  # fmt: skip


@pytest.mark.behaviour("C11", "C17", "C27", "C28a")
@pytest.mark.parametrize(("members", "edits", "expected"), CHANGES, ids=str)
def test_members_are_changed_and_no_others(members, edits, expected):
    base = {"model": "m", "max_tokens": 100, "messages": [USER]}
    assert sent(request(**members), *edits) == base | expected


# --- what no edit names -------------------------------------------------------------------------


ROWS = [
    rb'{"role":"user","content":"\u00e9\/ \ud83d\ude00"}',
    rb'{ "role" : "user" , "content" : "x", "n": 1.0, "big": 123456789012345678901234567890 }',
    rb'{"role":"user","content":"x","huge":1e400,"tiny":-0.0,"exp":1E5}',
    rb'{"role":"assistant","content":[ {"type":"tool_use","id":"a","name":"f","input":{"x" :1e400}} ]}',
    (
        rb'{ "role": "user", "content": [{"type":"tool_result","tool_use_id":"a","content":"\u0041",'
        rb'"cache_control": {"type": "ephemeral"}} ]}'
    ),
]
REQUEST = (
    b'{"model":"m", "metadata": {"n": 1.0, "huge": 1e400}, "max_tokens": 5, "unknown_key": 1,'
    b'"thinking": {"type": "adaptive"}, "output_format":{"type":"json_schema"},'
    b'"tool_choice":{"type":"any"},"system":[{"type":"text","text":"\\u0041", "cache_control": {}}],'
    b'"messages": [' + b", ".join(ROWS) + b"]}"
)
EDITS: list[Any] = [
    AppendAssistant("So far"),
    AppendAssistant("So far", prefill=True, content=(SEARCH, FOUND, text("So far"))),
    AppendContent((text("So far"), SEARCH)),
    AppendUser(hints.CONTINUE),
    AppendCalls("text", (WHOLE, CUT), ("no", "no")),
    SetOutputLimit(77),
    LowerReasoning(),
    DropConstraint(),
    FreeToolChoice(),
]


@pytest.mark.behaviour("C7", "H5")
@given(st.lists(st.sampled_from(EDITS), max_size=5))
def test_every_edit_keeps_the_clients_rows_and_members(edits):
    made = parse_request(REQUEST)
    assert made is not None
    body = made.apply(edits, Dialect())
    if edits:
        assert rows_of(members_of(body)["messages"])[: len(ROWS)] == ROWS
    else:
        assert body == REQUEST
    assert b'{"n": 1.0, "huge": 1e400}' in body
    assert b'[{"type":"text","text":"\\u0041", "cache_control": {}}]' in body
    assert body == made.apply(edits, Dialect())
    for row in json.loads(body)["messages"][len(ROWS) :]:
        assert set(row) == {"role", "content"}
        assert row["content"]


@pytest.mark.behaviour("C8")
def test_members_that_a_dialect_wants_beside_a_prefill_are_added():
    dialect = Dialect(prefill_members=(("continue_final_message", True),))
    body = json.loads(request().apply((AppendAssistant("x", prefill=True),), dialect))
    assert body["continue_final_message"] is True


BODIES = [
    b"", b"x", b"[]", b"{}", b'{"messages": []}', b'{"messages": [1]}', b'{"messages": {}}',
    b'{"messages": [{"role": "user"}', b"\xff", b'{"messages": [{"\xff": 1}]}', b"[" * 100_000,
    b'{"\xff": 1, "messages": [{"role": "user", "content": "x"}]}',
    b'{"x": "\\ud800", "messages": [{"role": "user", "content": "x"}]}',
    b'{"messages": [{"role": "user", "content": "\\ud800 x"}]}',
    b'{"messages": [{"role": [], "content": {}, "_x": 1}], "tools": [5], "thinking": []}',
    b'{"messages": [{"role": "assistant", "content": [5, null, {"type": []}, {"type": "thinking"}]}]}',
    b'{"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": {}, "input": 1e400}]}]}',
    b'{"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": []}]}]}',
    b'{"messages": [{"role": "user", "content": "x", "n": 1e400}], "tools": [{"type": 1e400}]}',
    b'{"max_tokens": 1e400, "model": [], "messages": [{"role": 5, "content": {}}]}',
    b'{"messages": [{"role": "user", "content": "x"}], "thinking": {"type": [], "budget_tokens": 1e9}}',
    REQUEST,
]  # fmt: skip


@pytest.mark.behaviour("C7", "N6")
@pytest.mark.parametrize("body", BODIES, ids=lambda b: repr(b[:65]))
def test_a_body_that_is_no_request_raises_nothing(body):
    can_be_edited(body)


@pytest.mark.behaviour("C7", "N6")
@settings(max_examples=300)
@given(
    st.sampled_from([b for b in BODIES if 40 < len(b) < 5000]),
    st.integers(0, 600),
    st.binary(max_size=2) | st.sampled_from([b"\\", b'"', b"\\ud800", b"{", b"]", b"null"]),
    st.integers(0, 3),
)
def test_a_body_that_is_changed_anywhere_raises_nothing(body, at, put, over):
    can_be_edited(body[:at] + put + body[at + over :])


def can_be_edited(body: bytes) -> None:
    made = parse_request(body)
    if made is None:
        return
    assert made.repairs or made.apply((), Dialect()) == body
    json.loads(made.apply(EDITS, Dialect()))
    made.tool_parameters()


@pytest.mark.behaviour("C7")
@pytest.mark.parametrize("row", ["null", "5", "[]"])
def test_rows_that_are_none_are_no_request_however_the_body_is_read(row: str):
    for number in ("1", "1e400"):  # the second takes the lenient reading
        body = f'{{"model":"m","max_tokens":9,"messages":[{{"role":"user","n":{number}}},{row}]}}'
        assert parse_request(body.encode()) is None
