"""Requests of Gemini: facts, edits that leave every other byte alone, and histories put right."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.repairing import repair_history

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Message
from tenuto.core.deciding.actions import (
    AppendCalls,
    AppendContent,
    AppendUser,
    DropConstraint,
    FreeToolChoice,
    LowerReasoning,
    SetOutputLimit,
)
from tenuto.wires.answer import AttemptContent
from tenuto.wires.dialect import Dialect
from tenuto.wires.gemini_generate.content import merged_content, with_text
from tenuto.wires.gemini_generate.history import RULES
from tenuto.wires.gemini_generate.request import parse_request
from tenuto.wires.gemini_generate.wire import read
from tenuto_sim.gemini_generate.seals import signature
from tenuto_sim.gemini_generate.wire import WIRE as SIMULATED
from tenuto_sim.reply import Settings

DIALECT = Dialect()
ASK: Any = {"role": "user", "parts": [{"text": "Hi"}]}


def request(body: Any, path: str = "/v1beta/models/gemini-2.5-flash:generateContent") -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    made = parse_request(raw, 16, path)
    assert made is not None
    return made


def sent(body: Any, *edits: Any, path: str = "/v1beta/models/m:generateContent") -> Any:
    return json.loads(request(body, path).apply(edits, DIALECT))


# --- facts ------------------------------------------------------------------------------------


@pytest.mark.behaviour("C7", "C28")
@pytest.mark.parametrize(
    ("more", "fact", "value"),
    [
        ({"generationConfig": {"maxOutputTokens": 50}}, "max_tokens", 50),
        ({"generation_config": {"max_output_tokens": 50}}, "max_tokens", 50),
        ({"generation_config": {"maxOutputTokens": 50}}, "max_tokens", 50),
        ({"generationConfig": {"maxOutputTokens": "50"}}, "max_tokens", None),
        ({"tools": [{"functionDeclarations": [{"name": "f"}]}]}, "tools", True),
        ({"tools": [{"function_declarations": [{"name": "f"}]}]}, "tools", True),
        ({"tools": [{"googleSearch": {}}]}, "tools", False),
        ({"generationConfig": {"responseMimeType": "application/json"}}, "structured", True),
        ({"generationConfig": {"response_schema": {"type": "OBJECT"}}}, "structured", True),
        ({"generationConfig": {"responseMimeType": "text/plain"}}, "structured", False),
        ({"generationConfig": {"candidateCount": 2}}, "left_alone", "several_choices"),
        ({"generationConfig": {"responseLogprobs": True}}, "left_alone", "logprobs"),
        ({"generationConfig": {"responseModalities": ["AUDIO"]}}, "left_alone", "audio"),
        ({"generationConfig": {"maxOutputTokens": 5}}, "left_alone", "probe"),
        ({"continuationToken": "dG9r"}, "left_alone", "resumption"),
        ({"continuation_token": "dG9r"}, "left_alone", "resumption"),
        ({}, "left_alone", ""),
        ({}, "lower_reasoning", True),
        ({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}, "lower_reasoning", False),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}}, "lower_reasoning", False),
    ],
)  # fmt: skip
def test_a_fact_is_read_in_every_spelling(more: Any, fact: str, value: Any) -> None:
    assert getattr(request({"contents": [ASK], **more}).facts, fact) == value


@pytest.mark.behaviour("C7")
@pytest.mark.parametrize(
    ("path", "model", "stream"),
    [
        ("/v1beta/models/gemini-3-pro:generateContent", "gemini-3-pro", False),
        ("/v1beta/models/gemini-3-pro:streamGenerateContent", "gemini-3-pro", True),
        ("/v1/projects/p/locations/l/publishers/google/models/g%3AgenerateContent", "g", False),
        ("/v1/projects/p/locations/l/endpoints/7:streamGenerateContent", "7", True),
    ],
)
def test_the_path_names_the_model_and_the_mode(path: str, model: str, stream: bool) -> None:
    facts = request({"contents": [ASK]}, path).facts
    assert (facts.model, facts.stream) == (model, stream)


@pytest.mark.behaviour("N6", "C7")
@pytest.mark.parametrize(
    "body",
    [b"", b"not json", b"[]", b"{}", b'{"contents": []}', b'{"contents": "x"}',
     b'{"contents": [1]}', b'{"contents": [{"parts": []}], "x": "\xff"}'],
)  # fmt: skip
def test_what_is_no_request_passes_untouched(body: bytes) -> None:
    assert parse_request(body) is None


@pytest.mark.behaviour("T1")
def test_the_schemas_of_all_functions_are_known_whichever_way_they_are_given() -> None:
    declared = [
        {"name": "a", "parameters": {"type": "OBJECT", "required": ["x"]}},
        {"name": "b", "parametersJsonSchema": {"type": "object"}},
        {"name": "c"}, {"no": "name"}, 7,
    ]  # fmt: skip
    made = request({"contents": [ASK], "tools": [{"functionDeclarations": declared}, {}, 1]})
    assert made.tool_parameters() == {
        "a": {"type": "object", "required": ["x"]}, "b": {"type": "object"}, "c": {},
    }  # fmt: skip


# --- edits ------------------------------------------------------------------------------------


@pytest.mark.behaviour("C7", "H5a")
def test_what_no_edit_names_keeps_its_bytes() -> None:
    row = b'{ "parts":[{"text":"\\u0048i","n":1e400,"z":12345678901234567890}] , "role":"user"}'
    body = b'{"contents":[%b], "safetySettings" :[1.0], "x":{"y":1.50}}' % row
    made = request(body).apply([AppendUser("Go on.")], DIALECT)
    assert row in made
    assert b'"safetySettings":[1.0]' in made
    assert b'"x":{"y":1.50}' in made
    assert request(body).apply([], DIALECT) == body


@pytest.mark.behaviour("C17", "C27", "C28a")
def test_each_edit_changes_its_member_and_no_other() -> None:
    body: dict[str, Any] = {
        "contents": [ASK],
        "generationConfig": {"topK": 3, "responseMimeType": "application/json", "seed": 1},
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
    }
    config = body["generationConfig"]
    assert sent(body, SetOutputLimit(9))["generationConfig"] == {**config, "maxOutputTokens": 9}
    assert sent(body, DropConstraint())["generationConfig"] == {"topK": 3, "seed": 1}
    assert sent(body, FreeToolChoice())["toolConfig"] == {"functionCallingConfig": {"mode": "AUTO"}}
    assert sent({"contents": [ASK]}, FreeToolChoice()) == {"contents": [ASK]}
    lowered = sent(body, LowerReasoning(), path="/v1beta/models/gemini-3-pro:generateContent")
    assert lowered["generationConfig"]["thinkingConfig"] == {"thinkingLevel": "low"}
    token = AppendContent(({"text": "Half"}, {"continuationToken": "dG9r"}))
    assert sent(body, token) == {**body, "continuationToken": "dG9r"}


@pytest.mark.behaviour("T5", "H4", "C20")
def test_failed_calls_are_valid_whatever_was_wrong_with_them() -> None:
    calls = (
        ToolCall("t1", "f", '{"a": 1', Finding.TRUNCATED),
        ToolCall("i2", "", "[1]", Finding.MALFORMED, extra={"call": {"id": "i2"}, "part": {}}),
        ToolCall("t3", "g", '{"b":1.0}', Finding.WHOLE, extra={"part": {"thoughtSignature": "c"}}),
    )
    made = sent({"contents": [ASK]}, AppendCalls("So:", calls, ("no", "bad", "skip")))
    called, answered = made["contents"][1:]
    assert called["parts"] == [
        {"text": "So:"},
        {"functionCall": {"name": "f", "args": {}}},
        {"functionCall": {"id": "i2", "name": "unknown", "args": {}}},
        {"functionCall": {"name": "g", "args": {"b": 1.0}}, "thoughtSignature": "c"},
    ]
    assert [part["functionResponse"] for part in answered["parts"]] == [
        {"name": "f", "response": {"error": "no"}},
        {"id": "i2", "name": "unknown", "response": {"error": "bad"}},
        {"name": "g", "response": {"error": "skip"}},
    ]


# --- content ----------------------------------------------------------------------------------


@pytest.mark.behaviour("C20", "C28a")
def test_parts_with_signatures_are_never_merged() -> None:
    signed = {"text": "b", "thoughtSignature": "c2ln"}
    first, rest = Message(), Message()
    for message, parts in (
        (first, [{"text": "a"}, signed, {"text": "c"}]),
        (rest, [{"text": "d"}]),
    ):
        message.take(read({"candidates": [{"content": {"parts": parts}}]}, event=False))
    attempts = AttemptContent(None, "abc", message=first), AttemptContent(None, "d", message=rest)
    merged = merged_content(attempts)
    assert merged == ({"text": "a"}, signed, {"text": "cd"})


@given(st.lists(st.text(" ab", max_size=4), max_size=4), st.integers(0, 9))
def test_the_text_that_is_kept_is_dealt_out_without_loss(texts: list[str], left: int) -> None:
    whole = "".join(texts)
    kept = whole[min(left, len(whole)) :].rstrip()
    split_among = with_text([{"text": text} for text in texts], kept)
    assert "".join(part["text"] for part in split_among) == kept


# --- histories --------------------------------------------------------------------------------


def call(name: str = "f", id_: str = "", signed: bool = True, **args: Any) -> Any:
    named = {"name": name, "args": args} | ({"id": id_} if id_ else {})
    return {"functionCall": named} | ({"thoughtSignature": signature(name)} if signed else {})


def answer(name: str = "f", id_: str = "", **response: Any) -> Any:
    named = {"name": name, "response": response} | ({"id": id_} if id_ else {})
    return {"functionResponse": named}


def model(*parts: Any) -> Any:
    return {"role": "model", "parts": list(parts)}


def user(*parts: Any) -> Any:
    return {"role": "user", "parts": list(parts)}


STUB = answer("f", error=hints.ORPHAN_RESULT)


@pytest.mark.behaviour("H1", "H2", "H3", "H4", "H5a", "C21")
@pytest.mark.parametrize(
    ("rows", "wanted", "words"),
    [
        ([ASK, model(call())], [ASK, model(call()), user(STUB)], "unanswered_call_answered"),
        (
            [ASK, model(call()), user({"text": "And?"})],
            [ASK, model(call()), user(STUB), user({"text": "And?"})],
            "unanswered_call_answered",
        ),
        (
            [ASK, model(call(), call(signed=False, n=1)), user(answer(x=1))],
            [ASK, model(call(), call(signed=False, n=1)), user(answer(x=1), STUB)],
            "unanswered_call_answered",
        ),
        ([ASK, user(answer())], [ASK], "stray_result_removed"),
        (
            [ASK, model(call(id_="a")), user(answer(id_="b"), answer(id_="a"))],
            [ASK, model(call(id_="a")), user(answer(id_="a"))],
            "stray_result_removed",
        ),
        ([ASK, model(), ASK], [ASK, ASK], "empty_row_removed"),
        ([ASK, model({"text": " "}), ASK], [ASK, ASK], "empty_row_removed"),
        ([ASK | {"_id": 1}], [ASK], "private_keys_removed"),
        ([user({"text": "Hi", "_x": 1})], [user({"text": "Hi"})], "private_keys_removed"),
        (
            [ASK, model({"text": "A" + hints.NOTICE.format(reason="retry limit")}), ASK],
            [ASK, model({"text": "A"}), ASK],
            "notice_removed",
        ),
        (
            [ASK, model({"functionCall": {"name": "f", "args": '{"a": 1}'}}), user(answer())],
            [ASK, model({"functionCall": {"name": "f", "args": {"a": 1}}}), user(answer())],
            "broken_arguments_replaced",
        ),
        (
            [ASK, model({"functionCall": {"name": "f", "args": '{"a": '}}), user(answer())],
            [ASK, model({"functionCall": {"name": "f", "args": {}}}), user(answer())],
            "broken_arguments_replaced",
        ),
    ],
)  # fmt: skip
def test_a_history_is_put_right_once(rows: list[Any], wanted: list[Any], words: str) -> None:
    raws = [json.dumps(row).encode() for row in rows]
    mended, done = repair_history(raws, RULES)
    assert [json.loads(raw) for raw in mended] == wanted
    assert done == (words,)
    assert repair_history(mended, RULES) == (mended, ())


@pytest.mark.behaviour("P8", "H5a")
@pytest.mark.parametrize(
    "rows",
    [
        [ASK, model({"text": "Hi"}), ASK],
        [ASK, model({"text": "H"}), model({"text": "i"}), model({"text": ""}), ASK],
        [ASK, model(call(), call(signed=False)), user(answer(), answer())],
        [ASK, model(call(id_="a"), call(id_="b")), user(answer(id_="b"), answer(id_="a"))],
        [ASK, model(call()), model(call(signed=False)), user(answer()), user(answer())],
        [ASK, model(call()), {"role": "function", "parts": [answer()]}],
        [ASK, model({"text": "", "thoughtSignature": "c2ln"}), ASK],
    ],
)
def test_a_history_that_is_right_keeps_its_bytes(rows: list[Any]) -> None:
    raws = [json.dumps(row, indent=1).encode() for row in rows]
    assert repair_history(raws, RULES) == (raws, ())


_part = st.sampled_from(
    [{"text": "x"}, {"text": ""}, {"text": "hm", "thought": True}, call(), call(signed=False),
     call("g"), call(id_="a"), call(id_="b"), answer(), answer("g"), answer(id_="a"),
     {"inlineData": {"mimeType": "image/png", "data": "AA"}}]
)  # fmt: skip
_rows = st.lists(
    st.builds(lambda role, parts: {"role": role, "parts": parts},
              st.sampled_from(["user", "model"]), st.lists(_part, min_size=1, max_size=3)),
    max_size=5,
)  # fmt: skip


@pytest.mark.behaviour("H9")
@given(_rows)
def test_any_history_satisfies_the_rules_of_calls_and_results_once_it_is_put_right(
    rows: list[Any],
) -> None:
    said = [_by_its_speaker(row) for row in (ASK, *rows)]
    mended, _ = repair_history([json.dumps(row).encode() for row in said], RULES)
    body = {"model": "gemini-2.5-flash", "contents": [json.loads(raw) for raw in mended]}
    wrong = SIMULATED.violations({"x-goog-api-key": "k"}, body, Settings(prefill="continue"))
    found = next(wrong, None)
    words = found.document["error"]["message"] if found else ""
    assert "equal to the number of function call parts" not in words, body
    assert "function response turn comes" not in words, body


def _by_its_speaker(row: Any) -> Any:
    """The model calls, the user answers."""
    other = "functionResponse" if row["role"] == "model" else "functionCall"
    parts = [part for part in row["parts"] if other not in part]
    return row | {"parts": parts or [{"text": "x"}]}
