"""What follows a stream in a recording: another stream, pieces of one in pairs, and an error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenuto import detect, detect_each
from tenuto.cli.app import main

Row = dict[str, Any]


def chat(number: str, text: str, stop: str | None = None) -> Row:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": stop}
    return {"id": number, "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def completion(number: str, text: str, stop: str | None = None) -> Row:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": stop}
    return {"id": number, "object": "text_completion", "model": "m", "choices": [choice]}


def gemini(number: str, text: str, stop: str | None = None) -> Row:
    said = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
    return {"responseId": number, "candidates": [said | ({"finishReason": stop} if stop else {})]}


def langchain(number: str, text: str, stop: str | None = None) -> Row:
    told = {"finish_reason": stop} if stop else {}
    return {"type": "AIMessageChunk", "id": number, "content": text, "response_metadata": told}


def claude(number: str, stop: str | None = None) -> list[Row]:
    begun: Row = {"id": number, "type": "message", "role": "assistant", "content": [], "usage": {}}
    said = {"type": "text_delta", "text": "The tide"}
    end: Row = {
        "type": "message_delta",
        "delta": {"stop_reason": stop},
        "usage": {"output_tokens": 2},
    }
    return [
        {"type": "message_start", "message": begun | {"stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": said},
        *([end, {"type": "message_stop"}] if stop else []),
    ]


def sse(rows: list[Row]) -> str:
    return "".join(
        (f"event: {row['type']}\n" if "type" in row else "") + f"data: {json.dumps(row)}\n\n"
        for row in rows
    )


def lines(rows: list[Row]) -> str:
    return "\n".join(map(json.dumps, rows))


MAKERS = (chat, completion, gemini, langchain)
makers = pytest.mark.parametrize("made", MAKERS, ids=lambda made: made.__name__)
forms = pytest.mark.parametrize("form", [list, sse, lines])
Made = Callable[..., Row]


def cut(made: Made, number: str) -> list[Row]:
    return [made(number, "The tide"), made(number, " comes")]


def whole(made: Made, number: str) -> list[Row]:
    return [made(number, "The tide"), made(number, "", "STOP" if made is gemini else "stop")]


def raws(source: object) -> list[str | None]:
    found = [stop.raw and stop.raw.lower() for stop in detect_each(source)]
    stop = detect(source)
    told = stop.metadata.get("answers") if stop.detail == "several_answers" else "1"
    assert told == str(len(found))
    return found


@pytest.mark.behaviour("N14")
@makers
@forms
def test_a_stream_behind_another_is_told_although_nothing_but_its_id_shows_it(
    made: Made, form: Any
) -> None:
    assert raws(form(cut(made, "a") + whole(made, "b"))) == [None, "stop"]
    assert raws(form(whole(made, "a") + cut(made, "b"))) == ["stop", None]
    assert raws(form(cut(made, "a") + cut(made, "b") + whole(made, "c"))) == [None, None, "stop"]


@pytest.mark.behaviour("N14")
@makers
@pytest.mark.parametrize("form", [list, lines])
def test_ids_that_differ_in_one_stream_are_no_further_answers(made: Made, form: Any) -> None:
    texts, end = [made(number, "x") for number in "abc"], whole(made, "d")[1:]
    assert raws(form(texts + end)) == ["stop"]
    assert raws(form(cut(made, "a") + whole(made, "b")[1:])) == ["stop"]


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("form", [list, sse])
@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (claude("a") + claude("b", "end_turn"), [None, "end_turn"]),
        (claude("a") + claude("a", "end_turn"), [None, "end_turn"]),  # a request that was retried
        (claude("a")[:1] + claude("a", "end_turn"), ["end_turn"]),  # some relays repeat it
        (claude("a", "max_tokens") + whole(chat, "b"), ["max_tokens", "stop"]),
        (claude("a") + whole(completion, "b"), [None, "stop"]),
        (claude("a") + whole(gemini, "b"), [None, "stop"]),
        (cut(chat, "a") + claude("b", "end_turn"), [None, "end_turn"]),
        (cut(chat, "a") + whole(gemini, "b"), [None, "stop"]),
        (whole(chat, "a") + whole(gemini, "b"), ["stop", "stop"]),
    ],
)
def test_a_stream_that_opens_or_is_of_another_wire_is_told_behind_one(
    rows: list[Row], found: list[str | None], form: Any
) -> None:
    assert raws(form(rows)) == found


@pytest.mark.behaviour("N14")
@makers
@pytest.mark.parametrize("order", ["aabba", "aabbab", "abab", "aabbaabb"])
def test_streams_that_alternate_are_several_answers_that_nobody_counts(
    made: Made, order: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [made(number, "The tide") for number in order]
    rows += [each for number in "ba" for each in whole(made, number)[1:]]
    (stop,) = detect_each(rows)
    assert (stop.detail, dict(stop.metadata)) == ("several_answers", {})
    file = tmp_path / "mixed.jsonl"
    file.write_text(lines(rows))
    main(["detect", "--json", str(file)])
    told = json.loads(capsys.readouterr().out)
    assert (told["answer"], told["answers"], told["message"]) == (None, None, stop.message)
    main(["detect", str(file)])
    assert stop.message in capsys.readouterr().out


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("pair", [tuple, list])
@pytest.mark.parametrize("as_json", [False, True])
def test_messages_that_langgraph_streams_in_pairs_are_those_of_their_ids(
    pair: Any, as_json: bool
) -> None:
    def streamed(rows: list[Row]) -> Any:
        pairs = [pair((row, {"langgraph_node": "agent", "langgraph_step": 1})) for row in rows]
        return json.dumps(pairs) if as_json else pairs

    assert raws(streamed(whole(langchain, "a"))) == ["stop"]
    assert raws(streamed(cut(langchain, "a"))) == [None]
    assert raws(streamed(whole(langchain, "a") + whole(langchain, "b"))) == ["stop", "stop"]
    message = langchain("a", "Hi", "length") | {"type": "ai"}
    assert raws(streamed([message, message | {"id": "b"}])) == ["length", "length"]


@pytest.mark.behaviour("N14")
def test_the_chunk_that_says_it_is_the_last_ends_a_stream_of_langchain() -> None:
    last = langchain("a", "") | {"chunk_position": "last"}
    stop = detect([*cut(langchain, "a"), last])
    assert (stop.reason.value, stop.anomalies) == ("end_turn", ("no_stop",))
    assert detect(cut(langchain, "a")).reason.value == "dropped"


OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
SERVER = {"message": "x", "type": "server_error", "param": None, "code": None}
DONE = "data: [DONE]\n\n"
RESPONSE = {"id": "r", "object": "response", "status": "completed", "model": "m", "output": [
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}]}  # fmt: skip

ERRORS_BEHIND: dict[str, tuple[Any, str]] = {
    "Chat": (sse(whole(chat, "a")) + DONE + sse([{"error": SERVER}]), "server"),
    "Completions": (sse(whole(completion, "a")) + DONE + sse([{"error": SERVER}]), "server"),
    "Claude": (sse([*claude("a", "end_turn"), {"type": "error", "error": OVERLOADED}]), "overloaded"),
    "Claude's events": ([*claude("a", "end_turn"), {"type": "error", "error": OVERLOADED}], "overloaded"),
    "Responses": (
        sse([{"type": "response.completed", "response": RESPONSE}, {"type": "error", "code": "server_error", "message": "x"}]),
        "server",
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14", "S1")
@pytest.mark.parametrize("name", ERRORS_BEHIND)
def test_an_error_behind_the_end_of_a_stream_is_told_and_the_answer_is_whole(name: str) -> None:
    source, kind = ERRORS_BEHIND[name]
    for stop in (detect(source), *detect_each(source)):
        assert (stop.reason.value, stop.confidence.value) == ("end_turn", "high")
        assert (stop.anomalies, stop.metadata) == (("error_after_end",), {"error_after_end": kind})
        assert stop.message == (
            "The model finished its answer. "
            f"Behind its end, the provider reported an error ({kind})."
        )


@pytest.mark.behaviour("S1")
def test_an_error_before_the_end_of_a_stream_ends_it() -> None:
    sent = sse([*whole(chat, "a"), {"error": SERVER}]) + DONE
    failed = RESPONSE | {"status": "failed", "error": {"code": "server_error", "message": "x"}}
    for source in (sent, sse([{"type": "response.failed", "response": failed}])):
        assert (detect(source).reason.value, detect(source).anomalies) == ("error", ())
