"""Requests of Gemini's Interactions: what is read of them, repairs of their steps, and the bytes
that edits make of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
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
from tenuto.wires.gemini_interactions.request import InteractionRequest, parse_request
from tenuto.wires.request import RequestFacts
from tenuto_sim.gemini_interactions.history import history_violations


def said(text: str, kind: str = "model_output") -> dict[str, Any]:
    return {"type": kind, "content": [{"type": "text", "text": text}]}


USER = said("Hi", "user_input")
GO_ON = said("Go on.", "user_input")
CALL: dict[str, Any] = {"type": "function_call", "id": "a", "name": "f", "arguments": {}}
RESULT: dict[str, Any] = {"type": "function_result", "call_id": "a", "result": "x"}
STUB = RESULT | {"name": "f", "is_error": True, "result": hints.ORPHAN_RESULT}
NAMED = {"name": "f"}
B, TO_B = {"id": "b"}, {"call_id": "b"}
THOUGHT = {"type": "thought", "signature": "gA=="}
UNSIGNED = {"type": "thought", "summary": [{"type": "text", "text": "Hm."}]}
SEARCH = {"type": "google_search_call", "id": "s", "arguments": {"queries": ["x"]}}
FOUND = {"type": "google_search_result", "call_id": "s", "result": []}


def request(*steps: Any, probe: int = 0, **members: Any) -> InteractionRequest:
    body = {"model": "m", "input": list(steps or [USER])} | members
    made = parse_request(json.dumps(body).encode(), probe)
    assert made is not None
    return made


def facts(*steps: Any, probe: int = 0, **members: Any) -> RequestFacts:
    return request(*steps, probe=probe, **members).facts


def edited(made: InteractionRequest, *edits: Edit) -> Any:
    return json.loads(made.apply(edits, Dialect()))


@pytest.mark.behaviour("C7", "P8")
@pytest.mark.parametrize(
    "body",
    [b"not json", b"[]", b'{"model": "m", "input": 5}', b'{"model": "m", "input": [1]}', b"{",
     b'{"model": "m", "input": {}}', b'{"model": "m", "input": "\xff"}', b'{"input": "Hi"}',
     b'{"model": "m", "input": [{"type": "model_output"}, {"type": "text"}]}',
     b'{"model": "m", "input": {"type": "user_input", "content": "Hi"}}'],
)  # fmt: skip
def test_bytes_that_are_no_request_are_none(body):
    assert parse_request(body) is None


@pytest.mark.behaviour("C28", "C27", "C11", "E2", "E3")
def test_what_a_request_asks_for_is_read():
    made = facts(
        USER,
        CALL,
        RESULT,
        stream=True,
        tools=[{"type": "google_search"}, {"type": "function", "name": "f"}],
        generation_config={"max_output_tokens": 300, "thinking_level": "high"},
        response_format={"type": "text", "mime_type": "application/json"},
        previous_interaction_id="v1_0",
    )
    assert made == RequestFacts(
        model="m",
        stream=True,
        max_tokens=300,
        tools=True,
        after_tool_result=True,
        structured=True,
        lower_reasoning=True,
        prefill_barred=True,
        include_usage=True,
        follows="v1_0",
        keeps=True,
    )


@pytest.mark.behaviour("C28")
@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"background": True}, "background"),
        ({"continuation_token": "WyJh"}, "resumption"),
        ({"agent": "deep-research"}, "agent"),
        ({"response_modalities": ["audio"]}, "audio"),
        ({"generation_config": {"max_output_tokens": 16}}, "probe"),
        ({"generation_config": {"max_output_tokens": "16"}}, ""),
        ({"generation_config": [], "background": False, "response_modalities": "audio"}, ""),
        ({}, ""),
    ],
)
def test_what_cannot_be_continued_says_why(members, why):
    assert facts(probe=16, **members).left_alone == why


@pytest.mark.behaviour("E2")
@pytest.mark.parametrize(
    ("kind", "client"),
    [("function", True), ("computer_use", True), ("google_search", False), ("mcp_server", False),
     ("code_execution", False), (None, False)],
)  # fmt: skip
def test_tools_that_the_provider_runs_are_not_the_callers(kind, client):
    assert facts(tools=[{"type": kind}]).tools == client


@pytest.mark.behaviour("C27")
@pytest.mark.parametrize(
    ("given", "structured"),
    [
        ({"response_mime_type": "application/json"}, True),
        ({"response_format": {"type": "object", "properties": {}}}, True),
        ({"response_format": {"type": "array", "items": {"type": "string"}}}, True),
        ({"response_format": [{"type": "image"}, {"type": "text", "schema": {}}]}, True),
        ({"response_format": {"type": "text", "mime_type": "text/plain"}}, False),
        ({"response_format": {"type": "image"}}, False),
        ({"response_format": None}, False),
    ],
)
def test_a_form_that_the_text_must_have_is_seen(given, structured):
    assert facts(**given).structured == structured


@pytest.mark.behaviour("C11")
@pytest.mark.parametrize(
    ("model", "level", "lower"),
    [("gemini-3-pro", None, True), ("gemini-2.5-flash", None, False), ("m", "medium", True),
     ("m", "minimal", False), ("m", ["high"], False)],
)  # fmt: skip
def test_thinking_can_be_lowered_where_it_is_more_than_the_least(model, level, lower):
    config = {} if level is None else {"thinking_level": level}
    assert facts(model=model, generation_config=config).lower_reasoning == lower


@pytest.mark.behaviour("C25", "P8")
def test_without_edits_the_bytes_are_the_callers_own():
    body = b'{"model": "m",\n "input": "Hi", "x": 1e400}'
    made = parse_request(body)
    assert made is not None
    assert made.apply((), Dialect()) is body


TEXT = rb'"Caf\u00e9 \/ 1"'
PART = b'{"type":"text", "text":' + TEXT + b', "odd": 1.0}'


@pytest.mark.behaviour("C7")
@pytest.mark.parametrize(
    ("given", "kept"),
    [(TEXT, b'{"type":"text","text":' + TEXT + b"}"), (PART, PART), (b"[ " + PART + b" ]", PART)],
)
def test_a_text_and_a_list_of_parts_become_a_step_that_holds_their_bytes(given, kept):
    made = parse_request(b'{"input": ' + given + b', "model": "m"}')
    assert made is not None
    body = made.apply([AppendAssistant("Half"), AppendUser("Go on.")], Dialect())
    assert b'[{"type":"user_input","content":[' + kept + b"]}," in body
    assert json.loads(body)["input"][1:] == [said("Half"), GO_ON]


@pytest.mark.behaviour("C7")
def test_steps_of_the_caller_keep_their_bytes():
    row = b'{ "type":"user_input", "content":[{"type":"text","text":"x"}], "odd": 1e400 }'
    made = parse_request(b'{"input": [' + row + b'], "model": "m"}')
    assert made is not None
    body = made.apply([AppendUser("Go on."), SetOutputLimit(9), DropConstraint()], Dialect())
    assert row in body


@pytest.mark.behaviour("C7", "C17")
def test_settings_that_are_not_edited_keep_their_bytes():
    config = b'"generation_config": {"top_p": 1.0, "seed": 1e400, "max_output_tokens": 5}'
    made = parse_request(b'{"input": "Hi", "model": "m", ' + config + b"}")
    assert made is not None
    body = made.apply([SetOutputLimit(9)], Dialect())
    assert b"1.0" in body
    assert b"1e400" in body
    assert b'"max_output_tokens":9' in body.replace(b" ", b"")


@pytest.mark.behaviour("C20", "C10")
def test_what_the_provider_ran_and_signed_goes_back_as_it_came():
    content = (THOUGHT, SEARCH, FOUND, UNSIGNED, said("Half of  "))
    body = edited(request(), AppendAssistant("Half of", content=content), AppendUser("Go on."))
    assert body["input"] == [USER, THOUGHT, SEARCH, FOUND, said("Half of"), GO_ON]


@pytest.mark.behaviour("C20")
def test_a_search_without_its_result_and_a_thought_without_its_signature_do_not_go_back():
    content = (UNSIGNED, SEARCH, said("Half"))
    assert edited(request(), AppendAssistant("Half", content=content))["input"] == [
        USER,
        said("Half"),
    ]


@pytest.mark.behaviour("T5", "H4")
def test_calls_are_answered_as_failed_in_a_valid_form():
    calls = (
        ToolCall("a", "f", '{"x": 1}', Finding.WHOLE, extra={"signature": "gA=="}),
        ToolCall("b", "", '{"x', Finding.TRUNCATED),
    )
    edit = AppendCalls("Well.", calls, ("1", "2"))
    assert edited(request(), edit)["input"] == [
        USER,
        said("Well."),
        CALL | {"arguments": {"x": 1}, "signature": "gA=="},
        CALL | {"id": "b", "name": "unknown"},
        RESULT | {"name": "f", "is_error": True, "result": "1"},
        RESULT | TO_B | {"name": "unknown", "is_error": True, "result": "2"},
    ]


def config(**members: Any) -> dict[str, Any]:
    return {"generation_config": members}


ONE_OF: dict[str, Any] = {"allowed_tools": {"mode": "any", "tools": ["f"]}}


@pytest.mark.behaviour("C17", "C11", "C27", "C28a")
@pytest.mark.parametrize(
    ("members", "edit", "then"),
    [
        ({}, SetOutputLimit(9), config(max_output_tokens=9)),
        ({"generation_config": None}, SetOutputLimit(9), config(max_output_tokens=9)),
        (config(thinking_level="high", seed=1), LowerReasoning(),
         config(thinking_level="low", seed=1)),
        (config(thinking_level="low"), LowerReasoning(), config(thinking_level="minimal")),
        ({"response_format": {"type": "text"}, "response_mime_type": "application/json",
          "store": False}, DropConstraint(), {"store": False}),
        (config(tool_choice="any"), FreeToolChoice(), config(tool_choice="auto")),
        (config(tool_choice=ONE_OF), FreeToolChoice(),
         config(tool_choice={"allowed_tools": {"mode": "auto", "tools": ["f"]}})),
        (config(tool_choice="none"), FreeToolChoice(), config(tool_choice="none")),
        ({}, FreeToolChoice(), {}),
    ],
)  # fmt: skip
def test_an_edit_changes_its_member_and_no_other(members, edit, then):
    assert edited(request(**members), edit) == {"model": "m", "input": [USER]} | then


@pytest.mark.behaviour("C26")
@pytest.mark.parametrize(
    ("members", "then"),
    [
        ({}, {"model": "m", "previous_interaction_id": "v1_9"}),
        ({"store": False}, {"model": "m", "input": [USER], "store": False}),
        ({"previous_interaction_id": "v1_0"}, {"model": "m", "previous_interaction_id": "v1_9"}),
    ],
)
def test_a_pause_is_gone_on_from_by_its_id_where_it_is_stored_else_by_the_same_request(
    members, then
):
    pause = {"continuation_token": "WyJh", "id": "v1_9"}
    made = edited(request(**members), AppendContent((said("Half"), pause)))
    assert made == then | {"continuation_token": "WyJh"}


@pytest.mark.behaviour("C26")
def test_without_a_token_nothing_is_gone_on_from():
    made = request()
    assert edited(made, AppendContent((said("Half"),))) == {"model": "m", "input": [USER]}


REPAIRS: dict[str, tuple[list[Any], list[Any], dict[str, Any]]] = {
    "private_keys_removed": ([USER | {"_x": 1}], [USER], {}),
    "unanswered_call_answered": ([USER, CALL, USER], [USER, CALL, STUB, USER], {}),
    "stray_result_moved_or_removed": ([USER, RESULT], [USER], {}),
    "broken_arguments_replaced": ([CALL | {"arguments": '{"a'}, RESULT], [CALL, RESULT], {}),
    "empty_row_removed": ([USER, said(" "), GO_ON], [USER, GO_ON], {}),
    "notice_removed": (
        [USER, said("Half" + hints.NOTICE.format(reason="x"))],
        [USER, said("Half")],
        {},
    ),
}


@pytest.mark.behaviour("H1", "H2", "H3", "H4", "H5a", "C21")
@pytest.mark.parametrize("name", REPAIRS)
def test_a_history_is_repaired_once(name):
    steps, wanted, members = REPAIRS[name]
    made = request(*steps, **members)
    assert made.repairs == (name,)
    body = made.apply((), Dialect())
    assert json.loads(body)["input"] == wanted
    again = parse_request(body)
    assert again is not None
    assert again.repairs == ()


@pytest.mark.behaviour("H1", "H2", "H3", "H4")
@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        # The text of a call's arguments is taken apart where it is whole.
        ([CALL | {"arguments": '{"x": 1}'}, RESULT], [CALL | {"arguments": {"x": 1}}, RESULT]),
        # Results stand behind all that the model said in one turn.
        ([USER, CALL, THOUGHT, CALL | B, USER],
         [USER, CALL, THOUGHT, CALL | B, STUB, STUB | TO_B, USER]),
        ([USER, CALL, CALL | B, RESULT | TO_B], [USER, CALL, CALL | B, RESULT | TO_B, STUB]),
        ([USER, CALL, RESULT, RESULT], [USER, CALL, RESULT]),
        ([USER, CALL], [USER, CALL, STUB]),
        # Results that stand elsewhere are moved to where they belong.
        ([USER, RESULT, CALL, USER], [USER, CALL, RESULT, USER]),
        ([USER, CALL, USER, RESULT], [USER, CALL, RESULT, USER]),
        ([USER, CALL, CALL | B, RESULT, said("x"), RESULT | TO_B],
         [USER, CALL, CALL | B, RESULT, RESULT | TO_B, said("x")]),
    ],
)  # fmt: skip
def test_calls_and_results_are_paired(steps, wanted):
    made = request(*steps)
    assert made.repairs
    assert edited(made)["input"] == wanted


@pytest.mark.behaviour("H2", "P8")
@pytest.mark.parametrize(
    ("steps", "members"),
    [
        ([RESULT], {"previous_interaction_id": "v1_0"}),
        ([USER, THOUGHT, CALL, RESULT], {}),
        ([USER, UNSIGNED, said("x"), USER], {}),
        ([USER, SEARCH, FOUND, THOUGHT, said("x")], {}),
        ([USER, CALL, CALL | B, RESULT | TO_B, RESULT], {}),
        ([USER, {"type": "model_output", "content": [{"type": "image", "data": ""}]}, USER], {}),
    ],
)
def test_what_is_valid_or_what_the_provider_may_know_is_left_alone(steps, members):
    assert request(*steps, **members).repairs == ()


ODD_IDS: list[Any] = [None, 3, [1], {"x": []}, ""]
STEPS = st.lists(
    st.sampled_from(
        [USER, said("x"), CALL, RESULT, THOUGHT, SEARCH, CALL | {"arguments": None}]
        + [USER | {"_y": 1}, said(""), said(hints.NOTICE.format(reason="x"))]
        + [CALL | {"id": odd} for odd in ODD_IDS]
        + [RESULT | {"call_id": odd} for odd in ODD_IDS]
    )
    | st.dictionaries(
        st.sampled_from(["content", "id", "call_id", "result", "arguments", "_z"]),
        st.none() | st.integers() | st.text(max_size=3) | st.lists(st.none(), max_size=2),
        max_size=4,
    ).map(lambda step: {"type": "function_call", **step}),
    min_size=1,
    max_size=8,
)


@pytest.mark.behaviour("H5a", "H9", "N6")
@example(
    [CALL, RESULT | {"call_id": "elsewhere"}, said("x"), RESULT],
    True,
)
@given(STEPS, st.booleans())
def test_repairing_twice_is_repairing_once(steps, elsewhere):
    more = {"previous_interaction_id": "v1_0"} if elsewhere else {}
    made = parse_request(json.dumps({"model": "m", "input": steps} | more).encode())
    assert made is not None
    again = parse_request(made.apply((), Dialect()))
    assert again is not None
    assert again.repairs == ()


HISTORIES = st.lists(
    st.sampled_from([USER, said("x"), said(" "), SEARCH, FOUND, UNSIGNED, USER | {"_z": 1}, CALL,
                     CALL | B, CALL | {"arguments": "x"}, RESULT | NAMED, RESULT | NAMED | TO_B]),
    max_size=7,
)  # fmt: skip


@pytest.mark.behaviour("H1", "H2", "H3", "H4", "H9")
@given(HISTORIES)
def test_any_history_satisfies_the_rules_of_the_service_once_it_is_put_right(steps):
    history = json.loads(request(USER, *steps).apply((), Dialect()))["input"]
    found = next(history_violations(history), None)
    names = [step["id"] for step in history if step["type"] == "function_call"]
    assert found is None or len(set(names)) < len(names), found
