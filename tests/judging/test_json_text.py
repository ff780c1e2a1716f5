"""Rows of a Parquet column of JSON text are counted as what `judge` says of each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from judging.test_settled import LONG, MORE_TEXTS, both_ways
from support.stored import DONE, chat, gemini, message, responses
from support.tables import parquet_of_lines

from tenuto.judging.checking import Options, check
from tenuto.judging.report import report_of

Made = Callable[[int, str], Any]


def _sent(body: Any, number: int) -> Any:
    sent = {"status_code": 200, "request_id": f"req_{number}", "body": body}
    return {"id": f"b_{number}", "custom_id": f"row-{number}", "response": sent, "error": None}


def _chat(number: int, text: str) -> Any:
    body = chat(text, "stop", refusal=None, annotations=[])
    usage = {"prompt_tokens": 9, "completion_tokens": number % 31, "total_tokens": 40}
    created = 1_790_000_000 + number * 9_000
    return {**body, "id": f"chatcmpl-{number}a", "created": created, "usage": usage}


def _responses(number: int, text: str) -> Any:
    body = responses("completed")
    body["output"][0]["content"][0]["text"] = text
    return {**body, "id": f"resp_{number}", "max_output_tokens": 20 + number % 2}


def _message(number: int, text: str) -> Any:
    return {**message(text, "end_turn"), "id": f"msg_{number}x", "model": f"claude-{number % 3}"}


def _gemini(number: int, text: str) -> Any:
    return {
        **gemini(text, "STOP"),
        "createTime": f"2026-11-{10 + number % 20}T10:00:{number % 60}Z",
    }


MADE: dict[str, Made] = {
    "chat": _chat,
    "chat_batch": lambda number, text: _sent(_chat(number, text), number),
    "responses": _responses,
    "responses_batch": lambda number, text: _sent(_responses(number, text), number),
    "message": _message,
    "message_batch": lambda number, text: {
        "custom_id": f"row-{number}",
        "result": {"type": "succeeded", "message": _message(number, text)},
    },
    "gemini": _gemini,
    "gemini_batch": lambda number, text: {"key": f"k{number}", "response": _gemini(number, text)},
    "completion": lambda number, text: {
        "prompt": f"Why {number}?", "completion": text, "finish_reason": "stop",
    },
}  # fmt: skip

ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2.0, 0.5, 10**9, 10**12, 1_764_962_401_000, "", " ", "x", "length", "stop", "error", [], {},
    [None], {"a": 1}, "2026-01-02", "msg_bdrk_1", "no dash", "{", '[{"a": 1}]', "\ud83d", "\x00", "é", "data: x", [{"text": "x"}],
    [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
)  # fmt: skip
NAMES = (
    "error", "refusal", "tool_calls", "finish_reason", "stop_reason", "content", "text", "reasoning", "usage", "status",
    "native_finish_reason", "index", "role", "type", "x",
)  # fmt: skip


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every object and list in a value with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    inner = [value[key] for key in keys if isinstance(value[key], dict | list)]
    return [(value, key) for key in keys] + [one for each in inner for one in _places(each)]


def _mutated(value: Any, chance: Random) -> str:
    """Return a row that is written otherwise than most."""
    holder, key = chance.choice(_places(value))
    how = chance.randrange(9)
    if how == 0 and isinstance(holder, dict):
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[chance.choice(NAMES)] = chance.choice(ODD)
    elif how < 5:
        holder[key] = chance.choice(ODD)
    written = json.dumps(value, ensure_ascii=chance.random() < 0.5)
    if how == 5:  # a member twice, the second one of which counts
        name = chance.choice(re.findall(r'"\w+": ', written))
        other = json.dumps(chance.choice(ODD))
        at = written.index(name)
        written = f"{written[:at]}{name}{other}, {written[at:]}"
        if chance.random() < 0.5:
            written = f"{written[:-1]}, {name}{other}}}"
    elif how == 6:
        at = chance.randrange(len(written))
        written = written[:at] + chance.choice(
            ['"', "\\", "0", "}", ",", " ", "\\u0041", "\n", "é"]
        )
        written += json.dumps(value)[at + chance.randrange(2) :]
    elif how == 7:
        written = written[: chance.randrange(len(written))]
    elif how == 8:
        written = chance.choice(
            [f" {written}", f"{written}\n", f"{written} ", f"{written}{written}"]
        )
    return written.encode("utf-8", "replace").decode()


def rows(made: Made, chance: Random, count: int = 240) -> list[str]:
    texts = [*MORE_TEXTS, *[DONE, LONG.strip(), "Ein Öl, “so”.", 'She said: "No."'] * 12]
    found = []
    for number in range(count):
        value = made(number, chance.choice(texts))
        written = json.dumps(value, ensure_ascii=chance.random() < 0.5)
        if chance.random() < 0.2:
            written = _mutated(value, chance)
        found.append(_cut(written) if chance.random() < 0.2 else written)
    return [row.encode("utf-8", "replace").decode() for row in found]


def _cut(row: str) -> str:
    """Return a row whose stop says that the limit cut the answer."""
    cut = row.replace('"stop"', '"length"').replace('"STOP"', '"MAX_TOKENS"')
    return cut.replace('"end_turn"', '"max_tokens"')


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.heavy) for seed in range(2, 12))]
)
@pytest.mark.parametrize("kind", MADE)
def test_no_row_of_json_text_is_skipped_that_is_not_done(
    tmp_path: Path, kind: str, seed: int
) -> None:
    path = parquet_of_lines(tmp_path / "a.parquet", rows(MADE[kind], Random(f"{kind}{seed}")))
    both_ways(path, 20 if seed % 2 else None)


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("kind", MADE)
def test_rows_are_counted_alike_as_text_and_as_lines(tmp_path: Path, kind: str) -> None:
    lines = [row for row in rows(MADE[kind], Random(kind)) if "\n" not in row and row.strip()]
    path = parquet_of_lines(tmp_path / "a.parquet", lines)
    (tmp_path / "a.jsonl").write_text("\n".join(lines), "utf-8")
    of_text, of_lines = (
        check([str(found)], Options()).tally for found in (path, tmp_path / "a.jsonl")
    )
    assert report_of(of_text) == report_of(of_lines)


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize(
    "name",
    ["v", "text_", "{0}", "c0", "number", "done", "read", "the whole row", "the text of the row",
     'a "quoted" name'],
)  # fmt: skip
def test_no_name_of_a_column_says_what_is_done(tmp_path: Path, name: str) -> None:
    whole = [json.dumps(_chat(number, DONE)) for number in range(60)]
    cut = [row.replace('"stop"', '"length"') for row in whole[:30]]
    path = parquet_of_lines(tmp_path / "a.parquet", whole + cut, name=name)
    found = report_of(check([path], Options()).tally)["outcomes"]
    assert (found["done"], found["text_cut"] + found["label_sized"]) == (60, 30)


def test_a_time_with_a_fraction_is_one(tmp_path: Path) -> None:
    rows = [
        json.dumps({**_responses(n, f"{DONE} {n}."), "created_at": 1_764_979_199.0 + n / 8})
        for n in range(80)
    ]
    both_ways(parquet_of_lines(tmp_path / "a.parquet", rows), None)
