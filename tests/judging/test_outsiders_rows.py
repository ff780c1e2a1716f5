"""Rows that somebody made who had read the guide alone, and what is in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.tables import duckdb

from tenuto import judge
from tenuto.judging.checking import Options, check
from tenuto.judging.own import Pointers
from tenuto.judging.report import report_of

SAID = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Tides rise."}]
BLANK = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": ""}]
QUOTED = json.dumps(
    {
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "The moon pu"},
                "finish_reason": "length",
            }
        ]
    }
)
EVENT = 'event: message_stop\ndata: {"type":"message_stop"}\n\nThat is the last event.'
STREAM = (
    'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"length"}]}\n\ndata: [DONE]\n\nSo.'
)
STOP: dict[str, Any] = {"finish_reason": "stop"}
RAY = {"prompt": "x", "num_generated_tokens": 3, **STOP}
NULLS = dict.fromkeys(
    ("text", "output", "content", "completion", "response", "answer", "message", "result")
)


def converse(block: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": [block]}
    used = {"outputTokens": 30}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": used, **more}


def ray(tokens: object, limit: object, text: str = "The tide comes in twi") -> dict[str, Any]:
    row = {"prompt": "Why?", "generated_text": text}
    return {**row, "num_generated_tokens": tokens, "max_tokens": limit}


def claude(*blocks: dict[str, Any]) -> dict[str, Any]:
    used = {"input_tokens": 5, "output_tokens": 30}
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "usage": used,
            "content": [*blocks], "stop_reason": "tool_use", "stop_sequence": None}  # fmt: skip


NULL_CALL = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": None, "b": 1}}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm."}}}
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m"}
NO_TEXT = {"usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 6}}
FAILED = {"object": "response", "id": "resp_1", "status": "failed", "model": "m", "output": []}
ERROR = {"error": {"message": "No such model.", "type": "invalid_request_error"}}


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        # An answer that was expected, and columns of other kinds, stand beside the model's.
        ({"messages": SAID, **STOP, "answer": None}, "done"),
        ({"messages": SAID, **STOP, "answer": ""}, "done"),
        ({"messages": SAID, **STOP, **NULLS}, "done"),
        ({"messages": BLANK, **STOP, "answer": "42"}, "empty"),
        ({**RAY, "generated_text": "Fine.", "text": None}, "done"),
        ({**RAY, "generated_text": "", "text": "What was read."}, "empty"),
        ({**RAY, **NULLS, "generated_text": "Fine."}, "done"),
        ({"model": "m", "content": "", "text": "Fine.", **STOP}, "done"),
        ({"model": "m", "content": None, **STOP}, "empty"),
        (converse({"text": "Fine."}, custom_id=None, response=None), "done"),
        ({"prompt": "Why?", "completion": "Tides.", "generated_text": None, "num_generated_tokens": None}, "done"),
        ({"prompt": "Why?", "generated_text": "The tide.", "params": {"max_tokens": 512}}, "done"),
        # An answer may quote what APIs send, and so may people.
        ({"prompt": "Show one.", "completion": QUOTED, **STOP}, "done"),
        ({"prompt": "Show one.", "completion": EVENT, **STOP}, "done"),
        ({"model": "m", "text": STREAM, **STOP}, "done"),
        ({"instruction": "Show one.", "input": "", "output": '{"text":"x.","finish_reason":"length"}'}, "done"),
        ({"conversations": [{"from": "human", "value": QUOTED}, {"from": "gpt", "value": "It was cut."}]}, "done"),
        ([{"role": "user", "content": EVENT}, {"role": "assistant", "content": "That is one."}], "done"),
        # Without a stop beside it, a body is what came.
        ({"prompt": "Why?", "completion": QUOTED}, "text_cut"),
        ({"mine": 1, "generation": QUOTED}, "text_cut"),
        ({"mine": 1, "output_text": STREAM}, "text_cut"),
        # A conversation may keep what came beside what was said.
        ({"turns": [{"role": "user", "content": EVENT}, {"role": "assistant", "content": "The", "finish_reason": "length"}]}, "text_cut"),
        ({"log": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "The", "raw": json.loads(QUOTED)}]}, "text_cut"),
        ({"log": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "The", "raw": QUOTED}]}, "text_cut"),
        ({"log": [{"role": "user", "content": QUOTED}, {"role": "assistant", "content": QUOTED, "finish_reason": "stop"}]}, "done"),
        # Null may be meant as an argument.
        ({"prompt": "x", **claude(NULL_CALL)}, "done"),
        # Objects in tables have all members.
        (converse(THOUGHT | {"toolUse": None, "text": None}), "thinking_only"),
        (converse({"text": " \n", "toolUse": None}), "empty"),
        ({"request": {"contents": []}, "status": "Bad Request", "response": {"candidates": None}}, "fault"),
        ({**BLOCKED, **NO_TEXT}, "blocked"),
        ({**BLOCKED, **NO_TEXT, "x_extra": 1}, "blocked"),
        # Columns with gaps hold numbers with points.
        (ray(512.0, 512), "likely_cut"),
        (ray(512, 512.0), "likely_cut"),
        (ray(512.5, 512), "done"),
        (ray(10**19, None, "The tide comes."), "done"),
    ],
)  # fmt: skip
def test_a_row_is_read_by_what_its_own_answer_says(row: Any, outcome: str) -> None:
    assert judge(row).outcome.value == outcome
    assert judge(json.dumps(row)).outcome.value == outcome


def outcomes(path: Path) -> dict[str, int]:
    found: dict[str, int] = report_of(check([str(path)], Options()).tally)["outcomes"]
    return found


@pytest.mark.behaviour("J1")
def test_a_text_is_no_label_because_its_tokens_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    long = "The moon pulls the sea towards the land. " * 3 + "The moon pulls the sea"
    choice = {"message": {"role": "assistant", "content": long}, "finish_reason": "length"}
    uncounted = {"object": "chat.completion", "choices": [choice]}
    short = [*BLANK[:1], {"role": "assistant", "content": "The tide of"}]
    rows: list[Any] = [{**uncounted, "usage": {"prompt_tokens": 0, "completion_tokens": 0}}] * 3
    rows.append({"messages": short, "finish_reason": "length", "max_tokens": 512})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert outcomes(path) == {"text_cut": 4}


@pytest.mark.behaviour("J1")
def test_a_text_beside_the_place_of_a_stop_is_no_stream_that_it_quotes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"text": STREAM, "why": why} for why in (None, "", "stop")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    pointers = Pointers("/text", stop="/why")
    tally = check([str(path)], Options(pointers=pointers)).tally
    assert report_of(tally)["outcomes"] == {"done": 3}


@pytest.mark.behaviour("J1")
def test_numbers_with_points_count_in_sql_as_they_do_in_python(tmp_path: Path) -> None:
    path, table = tmp_path / "a.parquet", "SELECT * FROM t"
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t (finish_reason VARCHAR, completion VARCHAR, completion_tokens DOUBLE,"
            " max_tokens DOUBLE)"
        )
        for number in range(60):
            tokens = (512.0, 12.5, float("nan"), 1e30, None, 3.0)[number % 6]
            connection.execute(
                "INSERT INTO t VALUES (?, 'The tide comes in twice.', ?, ?)",
                ["length" if number % 9 == 4 else "stop", tokens, 512.0 if number % 4 else None],
            )
        connection.execute(f"COPY ({table}) TO '{path}' (FORMAT parquet)")
    together = report_of(check([str(path)], Options()).tally)
    single = report_of(check([str(path)], Options(places=True)).tally)
    assert together == single
    assert {group["limit"] for group in together["groups"]} == {512, None}
