"""Each kind of rows: it is told, its stop is read as it is stored, and what is no answer is none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.stored import ASK, EXAMPLES, NAMES, NO_ANSWERS, Example, chat, conversation, message

from tenuto import Outcome, judge
from tenuto.judging import own
from tenuto.judging.kind import Source
from tenuto.judging.kinds import WITH_STOP, WITHOUT_STOP, names
from tenuto.judging.names import LIMITS, SETTINGS
from tenuto.judging.titles import KINDS

HISTORY = {"messages": ASK["messages"]}
BESIDE_THE_TABLE = {"body", "cassette", "found_within"}
"""Kinds that no row of the table tells."""


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)
def test_a_row_is_told_and_read_as_it_is_stored(example: Example) -> None:
    verdict = judge(example.row)
    assert (verdict.kind, verdict.outcome) == (example.kind, example.outcome)
    if example.stop is not None:
        assert verdict.stop.raw == example.stop
        assert verdict.stop_is_stored
        assert verdict.certain or verdict.outcome is Outcome.UNKNOWN
    if example.text is not None:
        assert verdict.text == example.text


@pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)
def test_a_row_is_the_same_as_bytes_as_text_and_as_an_object(example: Example) -> None:
    if isinstance(example.row, str):
        assert judge(example.row.encode()) == judge(example.row)
        return
    line = json.dumps(example.row)
    assert judge(line) == judge(line.encode()) == judge(example.row)
    assert judge(memoryview(line.encode())) == judge(json.dumps(line))


@pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)
def test_a_kind_can_be_named(example: Example) -> None:
    if example.kind in names():
        named = judge(example.row, kind=example.kind)
        assert named == judge(example.row)


def test_every_kind_has_an_example_and_a_source() -> None:
    assert {example.kind for example in EXAMPLES} == set(names()) | BESIDE_THE_TABLE
    assert all(kind.source for kind in (*WITH_STOP, *WITHOUT_STOP))
    assert set(KINDS) == set(names()) | BESIDE_THE_TABLE | {own.NAME}
    for kind in (*WITH_STOP, *WITHOUT_STOP):
        assert kind.source is not Source.DOCUMENTED or KINDS[kind.name].pages, kind.name


@pytest.mark.behaviour("J1", "N14")
@pytest.mark.parametrize("row", NO_ANSWERS, ids=range(len(NO_ANSWERS)))
def test_what_is_no_answer_is_not_judged(row: Any) -> None:
    verdict = judge(row)
    assert verdict.outcome is Outcome.NO_ANSWER
    assert not verdict.certain
    assert (verdict.kind, verdict.choices) == ("", 0)


def test_a_kind_that_does_not_fit_is_read_as_if_none_was_named() -> None:
    assert judge(message(), kind="openai_batch").kind == "body"


def test_a_kind_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="opnai"):
        judge({}, kind="opnai_batch")


@pytest.mark.parametrize(
    ("row", "id_", "model", "limit", "request_at"),
    [
        ({"custom_id": "r1", "error": None, "response": {"status_code": 200, "body": chat()}}, "r1", "gpt-x", None, ""),
        ({"recordId": "r1", "modelInput": {"max_tokens": 20, "messages": []}, "modelOutput": message()}, "r1", "claude-x", 20, "modelInput"),
        ({"request": {"url": "/v1/chat/completions", "body": ASK}, "response": {"body": chat()}}, "chatcmpl-1", "gpt-x", 20, "request.body"),
    ],
)  # fmt: skip
def test_a_row_says_its_id_its_model_its_limit_and_where_its_request_is(
    row: Any, id_: str, model: str, limit: int | None, request_at: str
) -> None:
    verdict = judge(row)
    assert (verdict.model, verdict.limit, verdict.request_at) == (model, limit, request_at)
    assert verdict.id in (id_, "")
    assert verdict.can_be_finished is bool(request_at)


@pytest.mark.parametrize("name", [*LIMITS, "max_length"])
def test_a_request_may_have_its_limit_under_any_name(name: str) -> None:
    body = chat("Yes.", "stop")
    for request in ({**HISTORY, name: 20}, *({**HISTORY, at: {name: 20}} for at in SETTINGS)):
        assert judge(body, request=request).limit == 20


@pytest.mark.parametrize("name", LIMITS)
def test_the_settings_that_tools_keep_may_have_their_limit_under_any_name(name: str) -> None:
    attributes = {"gen_ai.response.model": "m", "gen_ai.response.finish_reasons": ["length"]}
    for row in (
        {"id": "o", "type": "GENERATION", "traceId": "t", "output": "Yes.", "modelParameters": {name: "20"}},
        {"attributes": {**attributes, "llm.invocation_parameters": json.dumps({name: 20})}},
        {"doc_id": 0, "doc": {}, "target": "x", "arguments": [["Why?", {name: 20}]], "resps": [["Yes."]], "filtered_resps": ["Yes."]},
    ):  # fmt: skip
        assert judge(row).limit == 20, row


def test_a_prompt_that_was_blocked_in_a_batch_has_the_id_of_its_row() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "gemini-x"}
    verdict = judge({"key": "r1", "response": blocked})
    assert (verdict.outcome, verdict.id, verdict.kind) == (Outcome.BLOCKED, "r1", "gemini_batch")


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        ({"type": "succeeded", "amount": 3}, Outcome.NO_ANSWER),
        ({"type": "succeeded", "message": "Thanks!"}, Outcome.NO_ANSWER),
        ({"type": "shipped"}, Outcome.NO_ANSWER),
        ({"type": "succeeded", "message": message()}, Outcome.TEXT_CUT),
        ({"type": "expired"}, Outcome.FAULT),
        (
            {"type": "errored", "error": {"type": "error", "error": {"type": "api_error"}}},
            Outcome.FAULT,
        ),
        (
            {"type": "errored", "error": {"type": "invalid_request_error", "message": "x"}},
            Outcome.FAULT,
        ),
    ],
)
def test_a_result_is_one_of_a_batch_only_if_it_has_what_its_type_promises(
    result: dict[str, Any], outcome: Outcome
) -> None:
    assert judge({"custom_id": "order-1", "result": result}).outcome is outcome


def test_an_answer_of_the_past_in_a_request_is_none_of_the_row() -> None:
    past = {**ASK, "messages": conversation("```python\nprint(")}
    verdict = judge({"request": past, "response": {"body": chat("Yes.", "stop")}})
    assert verdict.outcome is Outcome.DONE


def test_the_guide_names_every_kind() -> None:
    page = Path(__file__).parents[2] / "docs/guide/check-stored-answers.md"
    named = set(re.findall(r"`(\w+)`", page.read_text("utf-8").partition("## Which rows")[2]))
    assert named >= set(names()) | BESIDE_THE_TABLE
