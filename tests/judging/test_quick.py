"""The typed readings say exactly what the whole reading says, or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.recorded import corpus
from support.stored import (
    DONE,
    EXAMPLES,
    FENCE,
    NO_ANSWERS,
    OPEN,
    chat,
    conversation,
    gemini,
    inspect_output,
    message,
    responses,
)

from tenuto import Verdict
from tenuto.judging.checking import Options, check
from tenuto.judging.judgement import _Given, _whole
from tenuto.judging.opening import opened
from tenuto.judging.quick import away, quickly
from tenuto.judging.signs import runs_away
from tenuto.wires.registry import WIRES

TEXTS = (
    DONE, OPEN, FENCE, "", " ", "\n", "x", "The moon", '{"a": 1}', '{"a": [1', "[1", "<b>x</b>", "a < b",
    "<think>hm</think>", "<think>hm", "Yes <think>\nhm", "<tool_call>{}</tool_call>", "[TOOL_CALLS]",
    " \n<tool_call>", "I will now fix that bug, too. " * 40, "data: x", "event: y", "é" * 90, "😊", '"quoted"',
    "```py\nx\n```", "a\u2028b", "\x00", "The " * 40 + "。",
)  # fmt: skip


def whole(row: Any, limit: int | None = None) -> Verdict:
    return _whole(opened(row), (), _Given(None, limit, None))


def rows(text: str) -> dict[str, Any]:
    body = responses("completed")
    body["output"][0]["content"][0]["text"] = text
    output = inspect_output("stop")
    output["choices"][0]["message"]["content"] = text
    cut = {**output, "choices": [{**output["choices"][0], "stop_reason": "max_tokens"}]}

    def sent(body: Any) -> dict[str, Any]:
        return {
            "id": "b",
            "custom_id": "r",
            "response": {"status_code": 200, "request_id": "q", "body": body},
            "error": None,
        }

    return {
        "chat": chat(text, "stop"),
        "chat of a day": {**chat(text, "stop"), "created": 1_764_962_401},
        "gemini of a day": {**gemini(text, "STOP"), "createTime": "2025-01-26T18:50:04.362797Z"},
        "response of a day": {**body, "created_at": 1_764_962_401, "completed_at": 1.0},
        "inspect_sample of a day": {"id": 1, "epoch": 1, "output": output, "completed_at": "2025-06-14T11:00:30Z"},
        "chat cut": chat(text, "length"),
        "message": message(text, "end_turn"),
        "message cut": message(text, "max_tokens"),
        "gemini": gemini(text, "STOP"),
        "gemini cut": gemini(text, "MAX_TOKENS"),
        "response": body,
        "openai_batch": sent(chat(text, "stop")),
        "openai_batch of responses": sent(body),
        "anthropic_batch": {"custom_id": "r", "result": {"type": "succeeded", "message": message(text, "end_turn")}},
        "gemini_batch": {"key": "r", "response": gemini(text, "STOP")},
        "inspect_sample": {"id": 1, "epoch": 1, "input": "x", "messages": conversation(text), "output": output},
        "inspect_sample cut": {"id": "a", "epoch": 1, "output": cut, "events": []},
        "messages": {"messages": conversation(text)},
        "two turns": {"messages": [*conversation("Yes."), *conversation(text)]},
        "two turns, the first": {"messages": [*conversation(text), *conversation("Yes.")]},
        "ray": {"prompt": "x", "generated_text": text, "num_generated_tokens": 20},
        "prompt_completion": {"prompt": text, "completion": text},
        "alpaca": {"instruction": "x", "input": text, "output": text},
        "messages with a stop": {"messages": conversation(text), "finish_reason": "stop", "max_tokens": 20},
        "messages cut": {"messages": conversation(text), "finish_reason": "length"},
        "messages with tokens": {"messages": conversation(text), "completion_tokens": 20, "max_tokens": 20},
        "turns with tokens": {"messages": [*conversation(text), *conversation(text)], "completion_tokens": 20, "max_tokens": 20},
        "turns with the tokens of all": {"messages": [*conversation(text), *conversation(text)], "completion_tokens": 20},
        "turns with a stop": {"messages": [*conversation(text), *conversation(text)], "finish_reason": "length"},
        "ray with a limit": {"generated_text": text, "num_generated_tokens": 20, "max_tokens": 20},
        "prompt_completion with tokens": {"prompt": "x", "completion": text, "completion_tokens": 20, "max_tokens": 20},
        "alpaca with tokens": {"instruction": "x", "input": "", "output": text, "completion_tokens": 20, "max_tokens": 0},
    }  # fmt: skip


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("kind", rows(""))
def test_of_every_text_the_quick_reading_says_what_the_whole_one_says(kind: str) -> None:
    quick = 0
    for text in TEXTS:
        row = rows(text)[kind]
        for limit in (None, 20, 21):
            for given_row in (row, json.dumps(row), json.dumps(row, ensure_ascii=False).encode()):
                found = quickly(given_row, limit)
                quick += found is not None
                assert found is None or found == whole(row, limit), (text, limit)
    assert quick >= 9 * 3, "the shape fits plain texts"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 30) | st.floats(0, 30) | st.sampled_from(TEXTS)
    | st.sampled_from(["stop", "length", "assistant", "tool", "user", "chat.completion", "completed", "refusal"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
        st.sampled_from(["role", "content", "type", "text", "finish_reason", "index", "tool_calls", "error"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
KEYS = sorted(
    {"error", "tool_calls", "refusal", "finish_reason", "stop_reason", "request", "tools", "parts", "meta"}
    | {"choices", "output", "response", "messages", "generations", "response_metadata", "type", "object"}
    | {"promptFeedback", "reasoning", "native_finish_reason", "custom_id", "events", "usage", "model"}
    | {"max_tokens", "completion_tokens", "metadata", "sampling_params", "finish_reasons"}
    | {"max_new_tokens", "num_predict", "options"}
)  # fmt: skip


@pytest.mark.behaviour("J1", "N6")
@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(rows(DONE))), st.sampled_from(TEXTS), st.data())
def test_with_anything_in_any_place_it_says_the_same_or_nothing(
    kind: str, text: str, data: st.DataObject
) -> None:
    row = json.loads(json.dumps(rows(text)[kind]))
    for _ in range(data.draw(st.integers(1, 2))):
        place: Any = row
        while True:
            inner = [
                item
                for item in (place.values() if isinstance(place, dict) else place)
                if isinstance(item, dict | list) and item
            ]
            if not inner or not data.draw(st.booleans()):
                break
            place = data.draw(st.sampled_from(inner))
        if isinstance(place, list):
            place[data.draw(st.integers(0, len(place) - 1))] = data.draw(values)
        elif data.draw(st.booleans()) and place:
            place[data.draw(st.sampled_from(sorted(place)))] = data.draw(values)
        elif place and data.draw(st.booleans()):
            del place[data.draw(st.sampled_from(sorted(place)))]
        else:
            place[data.draw(st.sampled_from(KEYS))] = data.draw(values)
    line = json.dumps(row)
    for given_row in (row, line, line.encode()):
        found = quickly(given_row, None)
        assert found is None or found == whole(row)


@pytest.mark.behaviour("J1")
def test_of_every_example_it_says_the_same_or_nothing() -> None:
    for row in (*(example.row for example in EXAMPLES), *NO_ANSWERS):
        for limit in (None, 20):
            found = quickly(row, limit)
            assert found is None or found == whole(row, limit)


@pytest.mark.behaviour("J1")
def test_of_every_recorded_answer_it_says_the_same_or_nothing() -> None:
    quick = 0
    for records in corpus().values():
        for name, raw, _ in records:
            found = quickly(raw, None)
            quick += found is not None
            assert found is None or found == whole(raw), name
    assert quick


def test_the_order_of_rows_changes_nothing() -> None:
    made = [row for text in (DONE, OPEN) for row in rows(text).values()]
    first = [quickly(row, None) for row in made]
    assert [quickly(row, None) for row in reversed(made)] == first[::-1]


@pytest.mark.parametrize(
    "id_", ["msg_bdrk_01", "msg_01", "", "08f3" * 8, "chatcmpl-1", "e2d445fb-cad1-9447"]
)
def test_an_id_that_shows_another_wire_is_heeded(id_: str) -> None:
    for row in rows(DONE).values():
        for body in (
            row,
            row.get("response", {}).get("body"),
            row.get("result", {}).get("message"),
        ):
            if isinstance(body, dict) and "id" in body:
                body["id"] = id_
                if "model" in body:
                    body["model"] = "mistral-small-latest"
        found = quickly(row, None)
        assert found is None or found == whole(row)


def test_no_row_is_read_quickly_once_a_wire_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert quickly(chat(DONE, "stop"), None) is not None
    monkeypatch.setattr(WIRES, "changes", 1)
    assert quickly(chat(DONE, "stop"), None) is None


@pytest.mark.parametrize("limit", [None, 9, 64])
def test_rows_that_are_counted_alike_give_the_totals_of_single_verdicts(
    tmp_path: Path, limit: int | None
) -> None:
    long = " ".join(f"Tide {number} rises." for number in range(600))
    texts = (*TEXTS, *(long[:size] for size in (399, 400, 2_001, 9_000)))
    kinds = {name: [rows(text)[name] for text in texts] for name in rows("x")}
    # Without a usage, answers are counted by the length of their text.
    kinds["uncounted"] = [{**chat(text, "stop"), "usage": None} for text in texts]
    for name, made in kinds.items():
        lines = [json.dumps(row) for row in made * 6]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "all.jsonl").write_text(
        "\n".join(json.dumps(row) for made in kinds.values() for row in made), "utf-8"
    )
    for path in tmp_path.iterdir():
        # Who wants the place of each row gets a verdict for each.
        single = check([str(path)], Options(limit=limit, places=True))
        together = check([str(path)], Options(limit=limit))
        assert together.tally == single.tally, path.name
        assert together.unread == single.unread


@pytest.mark.parametrize("seed", range(3))
def test_whether_a_text_runs_away_is_told_quickly_as_it_is_slowly(seed: int) -> None:
    chance = Random(seed)
    seen = set()
    for _ in range(1_500):
        size = chance.choice((1, 2, 5, 19, 20, 30, 90, 99, 101, 400, 1_990, 2_001, 2_040))
        letters = chance.choice(("ab", "a-", "abcdefghij klmnop.", "é😊x ", "-| ", "abcdefgh\n"))
        passage = "".join(chance.choices(letters, k=size))
        inner = passage * chance.choice((1, 2))
        times = chance.choice((2, 3, 4, 5, 12, 40, 300))
        text = "".join(chance.choices("xyz. ", k=chance.choice((0, 9, 900)))) + inner * times
        if chance.random() < 0.3:  # another repetition around it, or something behind it
            text = (text + "q") * chance.choice((1, 4))
        text = text[: chance.choice((len(text), 390, 405, 1_605, 8_100))]
        text = text[chance.randrange(9) :]
        told = runs_away(text)
        assert away(text) is told, text
        seen.add(told)
    assert len(seen) == 2
