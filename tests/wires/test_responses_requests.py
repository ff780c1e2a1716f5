"""Requests of OpenAI Responses: what is read of them, repairs of their items, and the bytes that
edits make of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from tenuto.wires.dialect import Dialect
from tenuto.wires.openai_responses.request import ResponsesRequest, parse_request
from tenuto.wires.request import RequestFacts

USER: dict[str, Any] = {"role": "user", "content": "Hi"}
CALL: dict[str, Any] = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
RESULT: dict[str, Any] = {"type": "function_call_output", "call_id": "a", "output": "x"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
SAID = {"role": "assistant", "content": "Well."}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}
STUB = {"type": "function_call_output", "call_id": "a", "output": hints.ORPHAN_RESULT}


def request(*items: Any, probe: int = 0, **members: Any) -> ResponsesRequest:
    made = parse_request(
        json.dumps({"model": "m", "input": list(items or [USER])} | members).encode(), probe
    )
    assert made is not None
    return made


def facts(*items: Any, probe: int = 0, **members: Any) -> RequestFacts:
    return request(*items, probe=probe, **members).facts


def edited(made: ResponsesRequest, *edits: Edit) -> Any:
    return json.loads(made.apply(edits, Dialect()))


def message(text: str, **more: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [part], **more}


@pytest.mark.behaviour("C7", "P8")
@pytest.mark.parametrize(
    "body",
    [b"not json", b"[]", b'{"input": 5}', b'{"input": [1]}', b'{"input": {}}', b'"\xff"', b"{"],
)
def test_bytes_that_are_no_request_are_none(body):
    assert parse_request(body) is None


@pytest.mark.behaviour("C28", "C27", "C11", "E2", "E3")
def test_what_a_request_asks_for_is_read():
    made = facts(
        USER,
        CALL,
        RESULT,
        stream=True,
        max_output_tokens=300,
        tools=[{"type": "function", "name": "f"}],
        reasoning={"effort": "high"},
        text={"format": {"type": "json_schema"}},
        previous_response_id="resp_0",
    )
    assert made == RequestFacts(
        model="m",
        stream=True,
        max_tokens=300,
        least_tokens=16,
        tools=True,
        after_tool_result=True,
        structured=True,
        lower_reasoning=True,
        prefill_barred=True,
        include_usage=True,
        follows="resp_0",
    )


@pytest.mark.behaviour("C28")
@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"background": True}, "background"),
        ({"top_logprobs": 2}, "logprobs"),
        ({"include": ["message.output_text.logprobs"]}, "logprobs"),
        ({"max_output_tokens": 16}, "probe"),
        ({}, ""),
    ],
)
def test_what_cannot_be_continued_says_why(members, why):
    assert facts(USER, probe=16, **members).left_alone == why


@pytest.mark.behaviour("C7")
@pytest.mark.parametrize("conversation", ["conv_1", {"id": "conv_1"}])
def test_a_conversation_is_written_to_once(conversation):
    assert facts(USER, conversation=conversation).sent_once == "conversation"


@pytest.mark.behaviour("E2")
@pytest.mark.parametrize(
    ("kind", "client"),
    [("function", True), ("custom", True), ("computer_use_preview", True), ("web_search", False),
     ("web_search_preview_2026", False), ("mcp", False), ("code_interpreter", False)],
)  # fmt: skip
def test_tools_that_the_provider_runs_are_not_the_callers(kind, client):
    assert facts(USER, tools=[{"type": kind}]).tools == client


@pytest.mark.behaviour("C25", "P8")
def test_without_edits_the_bytes_are_the_callers_own():
    body = b'{"model": "m",\n "input": "Hi", "x": 1e400}'
    made = parse_request(body)
    assert made is not None
    assert made.apply((), Dialect()) is body


@pytest.mark.behaviour("C7")
def test_a_text_becomes_a_row_that_holds_its_bytes():
    made = parse_request(b'{"input": "Caf\\u00e9 \\/ 1", "model": "m"}')
    assert made is not None
    body = made.apply([AppendAssistant("Half"), AppendUser("Go on.")], Dialect())
    assert rb'[{"role":"user","content":"Caf\u00e9 \/ 1"},' in body
    assert json.loads(body)["input"][1:] == [
        {"role": "assistant", "content": "Half"},
        {"role": "user", "content": "Go on."},
    ]


@pytest.mark.behaviour("C7")
def test_items_of_the_caller_keep_their_bytes():
    row = b'{ "role":"user", "content":"x", "n": 1.0, "odd": 1e400 }'
    made = parse_request(b'{"input": [' + row + b'], "model": "m"}')
    assert made is not None
    assert row in made.apply([AppendUser("Go on.")], Dialect())


@pytest.mark.behaviour("C20", "C10")
def test_what_was_said_goes_back_without_ids_and_what_the_provider_ran_as_it_came():
    content = (THOUGHT, SEARCH, THOUGHT | {"id": "rs_2"}, message("Half of  ", phase="commentary"))
    body = edited(request(), AppendAssistant("Half of", content=content), AppendUser("Go on."))
    assert body["input"][1:-1] == [
        THOUGHT,
        SEARCH,
        {"role": "assistant", "content": "Half of", "phase": "commentary"},
    ]


@pytest.mark.behaviour("C20")
def test_a_search_that_broke_off_and_reasoning_alone_do_not_go_back():
    content = (THOUGHT, SEARCH | {"status": "searching"}, message("Half"))
    body = edited(request(), AppendAssistant("Half", content=content))
    assert body["input"][1:] == [{"role": "assistant", "content": "Half"}]


@pytest.mark.behaviour("T5", "H4")
def test_calls_are_answered_as_failed_in_a_valid_form():
    calls = (
        ToolCall("a", "f", '{"x": 1}', Finding.WHOLE, extra={"id": "fc_1", "namespace": "n"}),
        ToolCall("b", "", '{"x', Finding.TRUNCATED),
        ToolCall("c", "run", "print(", Finding.WHOLE, free=True),
        ToolCall("d", "computer_call", "{}", Finding.WHOLE, free=True, extra={"item": {}}),
    )
    edit = AppendCalls("Well.", calls, ("1", "2", "3", "4"))
    assert edited(request(), edit)["input"][1:] == [
        SAID,
        {"type": "function_call", "call_id": "a", "name": "f", "namespace": "n",
         "arguments": '{"x": 1}'},
        {"type": "function_call", "call_id": "b", "name": "unknown", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c", "name": "run", "input": "print("},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "3"},
        {"role": "user", "content": "[computer_call: 4]"},
    ]  # fmt: skip


@pytest.mark.behaviour("C17", "C11", "C27", "C28a")
@pytest.mark.parametrize(
    ("members", "edit", "then"),
    [
        ({}, SetOutputLimit(9), {"max_output_tokens": 9}),
        ({"reasoning": {"effort": "high", "summary": "auto"}}, LowerReasoning(),
         {"reasoning": {"effort": "low", "summary": "auto"}}),
        ({"text": {"format": {"type": "json_object"}, "verbosity": "low"}}, DropConstraint(),
         {"text": {"verbosity": "low"}}),
        ({"tool_choice": "required"}, FreeToolChoice(), {"tool_choice": "auto"}),
        ({"tool_choice": {"type": "function", "name": "f"}}, FreeToolChoice(),
         {"tool_choice": "auto"}),
        ({"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": []}},
         FreeToolChoice(),
         {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}}),
        ({"tool_choice": "none"}, FreeToolChoice(), {"tool_choice": "none"}),
    ],
)  # fmt: skip
def test_an_edit_changes_its_member_and_no_other(members, edit, then):
    assert edited(request(**members), edit) == {"model": "m", "input": [USER]} | then


@pytest.mark.behaviour("C26")
def test_content_goes_back_as_it_came():
    assert edited(request(), AppendContent((SEARCH,)))["input"] == [USER, SEARCH]


REPAIRS: dict[str, tuple[list[Any], list[Any], dict[str, Any]]] = {
    "private_keys_removed": ([USER | {"_x": 1}], [USER], {}),
    "unanswered_call_answered": ([USER, CALL, USER], [USER, CALL, STUB, USER], {}),
    "stray_result_moved_or_removed": ([USER, RESULT], [USER], {}),
    "broken_arguments_replaced": ([CALL | {"arguments": '{"a'}, RESULT], [CALL, RESULT], {}),
    "empty_row_removed": ([USER, {"role": "assistant", "content": " "}], [USER], {}),
    "orphaned_reasoning_removed": ([USER, THOUGHT, USER], [USER, USER], {}),
    "notice_removed": (
        [USER, {"role": "assistant", "content": "Half" + hints.NOTICE.format(reason="x")}],
        [USER, {"role": "assistant", "content": "Half"}],
        {},
    ),
}


@pytest.mark.behaviour("H1", "H2", "H3", "H4", "H5a", "C21")
@pytest.mark.parametrize("name", REPAIRS)
def test_a_history_is_repaired_once(
    name,
):
    items, wanted, members = REPAIRS[name]
    made = request(*items, **members)
    assert made.repairs == (name,)
    body = made.apply((), Dialect())
    assert json.loads(body)["input"] == wanted
    again = parse_request(body)
    assert again is not None
    assert again.repairs == ()


@pytest.mark.behaviour("H2", "P8")
@pytest.mark.parametrize(
    ("items", "members"),
    [
        ([RESULT], {"previous_response_id": "resp_0"}),
        ([RESULT], {"conversation": "conv_1"}),
        ([{"type": "item_reference", "id": "fc_1"}, RESULT], {}),
        ([USER, THOUGHT, CALL, RESULT], {}),
        ([USER, THOUGHT, SEARCH, THOUGHT, message("x")], {}),
        ([USER, CALL, CALL | {"call_id": "b"}, RESULT | {"call_id": "b"}, RESULT], {}),
    ],
)
def test_what_the_provider_may_know_is_left_alone(items, members):
    assert request(*items, **members).repairs == ()


ODD_IDS: list[Any] = [None, 3, [1], {"x": []}, ""]
ITEMS = st.lists(
    st.sampled_from(
        [USER, SAID, CALL, RESULT, THOUGHT, SEARCH, CALL | {"arguments": None}, USER | {"_y": 1}]
        + [CALL | {"call_id": odd} for odd in ODD_IDS]
        + [RESULT | {"call_id": odd} for odd in ODD_IDS]
    )
    | st.dictionaries(
        st.sampled_from(["type", "role", "content", "call_id", "output", "arguments", "_z"]),
        st.none() | st.integers() | st.text(max_size=3) | st.lists(st.none(), max_size=2),
        max_size=4,
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.behaviour("H5a", "H9", "N6")
@given(ITEMS)
def test_repairing_twice_is_repairing_once(items):
    made = parse_request(json.dumps({"model": "m", "input": items}).encode())
    assert made is not None
    again = parse_request(made.apply((), Dialect()))
    assert again is not None
    assert again.repairs == ()
