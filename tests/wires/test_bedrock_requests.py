"""Requests of Converse: what is known of them, what edits make of their bytes, and which histories
are put right."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.repairing import repair_history

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Kind, Message, Opened
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendUser,
    DropConstraint,
    FreeToolChoice,
    LowerReasoning,
    SetOutputLimit,
)
from tenuto.providers.registry import route
from tenuto.wires.answer import AttemptContent
from tenuto.wires.bedrock_converse.content import merged_content
from tenuto.wires.bedrock_converse.history import RULES
from tenuto.wires.bedrock_converse.request import BRIDGE, parse_request
from tenuto.wires.dialect import Dialect

PATH = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
HI = b'{"role": "user", "content": [ {"text": "Caf\\u00e9 1e400"} ] }'
FIELDS = "additionalModelRequestFields"


def request(*rows: bytes, path: Any = PATH, **members: Any) -> Any:
    others = b"".join(
        b', "%b": %b' % (k.encode(), json.dumps(v).encode()) for k, v in members.items()
    )
    body = b'{"messages" :[%b]%b}' % (b" , ".join(rows or (HI,)), others)
    parsed = parse_request(body, 16, path)
    assert parsed is not None
    return parsed


def applied(parsed: Any, *edits: Any) -> Any:
    made = parsed.apply(edits, Dialect())
    assert HI in made, "the caller's rows keep their bytes"
    return json.loads(made)


def call(name: str = "a", **more: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": name, "name": "f", "input": {}} | more}


def result(name: str = "a", **more: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": name, "content": [{"text": "ok"}]} | more}


def row(role: str, *blocks: Any) -> bytes:
    return json.dumps({"role": role, "content": list(blocks)}).encode()


@pytest.mark.behaviour("C7")
def test_without_edits_a_request_is_the_callers_bytes():
    parsed = request(HI, inferenceConfig={"maxTokens": 90})
    assert parsed.apply((), Dialect()) is parsed._body
    assert parsed.repairs == ()


@pytest.mark.behaviour("C7", "C8", "C10")
def test_what_was_said_and_a_hint_are_rows_in_turn():
    rows = applied(request(), AppendAssistant("Half"), AppendUser("Go on."))["messages"]
    assert rows[1:] == [
        {"role": "assistant", "content": [{"text": "Half"}]},
        {"role": "user", "content": [{"text": "Go on."}]},
    ]
    assert len(applied(request(), AppendAssistant("Half", prefill=True))["messages"]) == 2


@pytest.mark.behaviour("H3", "E3")
def test_a_hint_behind_a_row_of_the_users_has_the_assistant_between():
    rows = applied(request(), AppendUser("Please."))["messages"]
    assert [r["role"] for r in rows] == ["user", "assistant", "user"]
    assert rows[1]["content"] == [{"text": BRIDGE}]
    assert BRIDGE.strip()


@pytest.mark.behaviour("H3", "C7")
def test_what_was_said_goes_on_in_the_callers_own_prefill():
    own = b'{"role":"assistant","content":[ {"text" : "The"} ]}'
    parsed = request(HI, own)
    assert parsed.facts.prefill_barred
    made = parsed.apply((AppendAssistant("answer"), AppendUser("Go on.")), Dialect())
    assert b'{"text" : "The"}' in made
    rows = json.loads(made)["messages"]
    assert rows[1]["content"] == [{"text": "The"}, {"text": "answer"}]
    assert [r["role"] for r in rows] == ["user", "assistant", "user"]


@pytest.mark.behaviour("T5", "H4", "C20")
def test_failed_calls_are_valid_rows_and_signed_reasoning_goes_before_them():
    calls = (
        ToolCall("a", "f", '{"x":1.0}', Finding.WHOLE),
        ToolCall("b c", "f", '{"x', Finding.TRUNCATED),
    )
    signed = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}
    unsigned = {"reasoningContent": {"reasoningText": {"text": "Hm."}}}
    edit = AppendCalls("Well.", calls, ("no", "cut"), content=(signed, unsigned))
    _, spoken, answered = applied(request(), edit)["messages"]
    assert spoken["content"] == [
        signed,
        {"text": "Well."},
        {"toolUse": {"toolUseId": "a", "name": "f", "input": {"x": 1.0}}},
        {"toolUse": {"toolUseId": "b_c", "name": "f", "input": {}}},
    ]
    assert [block["toolResult"]["toolUseId"] for block in answered["content"]] == ["a", "b_c"]
    assert {block["toolResult"]["status"] for block in answered["content"]} == {"error"}


@pytest.mark.behaviour("C26")
def test_a_paused_turn_goes_back_as_it_came():
    server = {"toolUse": {"toolUseId": "s", "name": "web", "input": {}, "type": "server_tool_use"}}
    assert applied(request(), AppendContent((server,)))["messages"][1]["content"] == [server]


@pytest.mark.behaviour("C17")
def test_the_budget_stands_in_the_inference_config():
    assert applied(request(), SetOutputLimit(300))["inferenceConfig"] == {"maxTokens": 300}
    given = request(inferenceConfig={"temperature": 1.0, "maxTokens": 90})
    assert given.facts.max_tokens == 90
    config = applied(given, SetOutputLimit(300))["inferenceConfig"]
    assert config == {"temperature": 1.0, "maxTokens": 300}


@pytest.mark.behaviour("C11", "C17")
@pytest.mark.parametrize(
    ("fields", "lowered"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 4000}},
         {"thinking": {"type": "enabled", "budget_tokens": 2000}}),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}},
         {"thinking": {"type": "disabled"}}),
        ({"reasoning_config": {"type": "enabled", "budget_tokens": 4000}},
         {"reasoning_config": {"type": "enabled", "budget_tokens": 2000}}),
        ({"reasoning_effort": "high", "top_k": 4}, {"reasoning_effort": "low", "top_k": 4}),
        ({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}},
         {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}}),
    ],
)  # fmt: skip
def test_reasoning_is_lowered_by_each_makers_own_knob(fields, lowered):
    parsed = request(**{FIELDS: fields})
    assert parsed.facts.lower_reasoning
    assert applied(parsed, LowerReasoning())[FIELDS] == lowered


@pytest.mark.behaviour("H9")
def test_the_smallest_budget_stays_where_a_call_may_come():
    """The caller thinks in the request with its result, and needs thinking before the call."""
    fields = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    tools = {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]}
    own = {**fields, "tools": [{"type": "computer_20250124", "name": "computer"}]}
    for more in ({FIELDS: fields, "toolConfig": tools}, {FIELDS: own}):
        parsed = request(**more)
        assert not parsed.facts.lower_reasoning
        assert parsed.facts.least_tokens == 1025
        assert applied(parsed, LowerReasoning())[FIELDS] == more[FIELDS]


@pytest.mark.behaviour("C11")
def test_a_budget_for_reasoning_fits_below_the_limit():
    parsed = request(**{FIELDS: {"thinking": {"type": "enabled", "budget_tokens": 4000}}})
    assert parsed.facts.prefill_barred
    fitted = applied(parsed, SetOutputLimit(3000))[FIELDS]["thinking"]
    assert fitted["budget_tokens"] == 1500
    assert "thinking" not in applied(parsed, SetOutputLimit(900))[FIELDS]
    effort = request(outputConfig={"effort": "high"})
    assert effort.facts.lower_reasoning
    assert applied(effort, LowerReasoning())["outputConfig"] == {"effort": "low"}
    assert not request().facts.lower_reasoning


@pytest.mark.behaviour("C27", "C28a")
def test_constraints_and_forced_choices_go():
    form = {"textFormat": {"type": "json_schema", "structure": {}}}
    parsed = request(outputConfig=form)
    assert parsed.facts.structured
    assert "outputConfig" not in applied(parsed, DropConstraint())
    tools = {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]}
    forced = request(toolConfig=tools | {"toolChoice": {"tool": {"name": "f"}}})
    assert forced.facts.tools
    assert forced.tool_parameters() == {"f": {"type": "object"}}
    assert applied(forced, FreeToolChoice())["toolConfig"] == tools | {"toolChoice": {"auto": {}}}


@pytest.mark.behaviour("C28")
def test_what_cannot_be_continued_is_left_alone_and_says_why():
    assert request(inferenceConfig={"maxTokens": 16}).facts.left_alone == "probe"
    assert request(promptVariables={"a": {"text": "b"}}).facts.left_alone == "prompt"
    path = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aprompt%2FX%3A1/converse"
    assert request(path=path.replace("%2F", "/")).facts.left_alone == "prompt"
    assert request().facts.left_alone == ""


@pytest.mark.behaviour("C7", "N6")
@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"messages":[]}', b'{"messages":5}', b'{"messages":[5]}', b"\xff",
     b'{"messages":[{"role":"user"}]',
     b'{"messages":[%b,{"role":"assistant","content":"Half"}]}' % HI,
     b'{"messages":[%b,{"role":"assistant"}]}' % HI],
)  # fmt: skip
def test_what_is_no_request_passes(body):
    assert parse_request(body, 16, PATH) is None


@pytest.mark.behaviour("N8")
def test_each_address_of_bedrock_has_its_wire():
    host = "https://bedrock-runtime.us-east-1.amazonaws.com/model"
    found = {
        path: (wire.name, provider.dialect.name)
        for path in (
            "anthropic.claude-x%3A0/invoke", "amazon.nova-x%3A0/invoke-with-response-stream",
            "anthropic.claude-x/converse", "arn%3Aaws%3Abedrock%3A%3A%3Aprofile%2Fx/converse-stream",
        )
        for wire, provider, _ in [route(f"{host}/{path}")]
        if wire is not None
    }  # fmt: skip
    assert list(found.values()) == [
        ("anthropic-messages", "aws-bedrock"),
        ("bedrock-invoke", "aws-invoke"),
        ("bedrock-converse", "aws-converse"),
        ("bedrock-converse", "aws-converse"),
    ]
    assert route(f"{host}/x/count-tokens")[0] is None


@pytest.mark.behaviour("H5a")
def test_a_valid_history_is_not_touched():
    rows = [HI, row("assistant", {"text": "x"}, call()), row("user", result(), {"text": "y"})]
    assert repair_history(rows, RULES) == (rows, ())
    assert repair_history(rows, RULES)[0] is rows


SIGNED = {"reasoningContent": {"reasoningText": {"text": "a", "signature": "s"}}}
UNSIGNED = {"reasoningContent": {"reasoningText": {"text": "a"}}}
X, Y = {"text": "x"}, {"text": "y"}
NOTICE = {"text": "x" + hints.NOTICE.format(reason="retry limit")}


@pytest.mark.behaviour("H1", "H2", "H3", "H4", "H5a", "C10", "C20", "C21")
@pytest.mark.parametrize(
    ("rows", "word", "left"),
    [
        ([row("assistant", X, call())], "unanswered_call_answered", ["assistant", "user"]),
        ([row("assistant", call()), row("user", X)], "unanswered_call_answered",
         ["assistant", "user"]),
        ([row("assistant", call()), row("user", X, result())], "results_reordered",
         ["assistant", "user"]),
        ([row("assistant", X), row("user", result(), Y)], "stray_result_removed",
         ["assistant", "user"]),
        ([row("assistant", X), row("user", result())], "stray_result_removed", ["assistant"]),
        ([row("assistant", call(input="{")), row("user", result())], "broken_arguments_replaced",
         ["assistant", "user"]),
        ([row("assistant", call()), row("user", result(status="error", content=[]))],
         "empty_result_filled", ["assistant", "user"]),
        ([row("assistant", {"text": " "}, X)], "blank_text_removed", ["assistant"]),
        ([row("assistant", {"text": " "})], "empty_row_removed", []),
        ([row("assistant")], "empty_row_removed", []),
        ([row("assistant", UNSIGNED, X)], "unsigned_reasoning_removed", ["assistant"]),
        ([row("assistant", NOTICE)], "notice_removed", ["assistant"]),
        ([row("user", Y), row("assistant", X)], "rows_joined", ["assistant"]),
        ([row("assistant", X), row("assistant", Y)], "rows_joined", ["assistant"]),
        ([b'{"role":"assistant","_mine":1,"content":[{"text":"x"}]}'], "private_keys_removed",
         ["assistant"]),
    ],
)  # fmt: skip
def test_a_history_that_would_be_refused_is_put_right_once(rows, word, left):
    mended, words = repair_history([HI, *rows], RULES)
    assert word in words
    assert [json.loads(raw)["role"] for raw in mended] == ["user", *left]
    assert repair_history(mended, RULES) == (mended, ())
    assert repair_history([HI, *rows], RULES) == (mended, words)
    if word != "rows_joined":
        assert mended[0] == HI


@pytest.mark.behaviour("H4")
def test_input_that_a_text_holds_keeps_numbers_that_no_double_holds():
    rows = [HI, row("assistant", call(input='{"x": 1e400}')), row("user", result())]
    mended, words = repair_history(rows, RULES)
    assert words == ("broken_arguments_replaced",)
    assert b'"input":{"x": 1e400}' in mended[1]


@pytest.mark.behaviour("C20")
def test_reasoning_without_a_signature_stays_where_nobody_signs():
    rows = [HI, row("assistant", UNSIGNED, X)]
    nova = "/model/us.amazon.nova-2-lite-v1%3A0/converse"
    assert request(*rows, path=nova).repairs == ()
    profile = "/model/arn%3Aaws%3Abedrock%3Ax/converse"
    assert request(*rows, path=profile).repairs == ("unsigned_reasoning_removed",)
    assert request(HI, row("assistant", SIGNED, X)).repairs == ()


@pytest.mark.behaviour("N6", "C20")
def test_thinking_in_another_makers_form_is_kept() -> None:
    """InvokeModel's blocks of Anthropic may come where Converse was asked."""
    message = Message()
    block = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    message.take([Opened((0,), Kind.REASONING, block, "thinking", "Hm.")])
    thought = {"text": "Hm.", "signature": "c2ln"}
    assert merged_content([AttemptContent(None, "", message=message)]) == (
        {"reasoningContent": {"reasoningText": thought}},
    )
