"""Answers in files as people and programs leave them: what stands around a whole answer does not
make it garbage, and what broke off is an answer only if it shows that it is one."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tenuto import StreamDetector, detect, detect_each
from tenuto.cli.detect import described
from tenuto.detection.loose_json import begun, tidied


def chat(finish: str = "length", **more: Any) -> str:
    message = {"role": "assistant", "content": 'He said "a, b] // c",'}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"id": "c", "object": "chat.completion", "choices": [choice], **more})


ONE = {
    "a semicolon": chat() + ";",
    "a comma": chat() + ",\n",
    "prose": chat() + "\nHTTP 200 in 1.2s\n",
    "a status": chat() + "200",
    "a status on a line": chat() + "\n200\n",
    "a comment": chat()[:-1] + "\n// end\n}",
    "a comment in the middle": chat().replace('"choices"', '/* ["\n */ "choices"'),
    "a comma before the end": chat()[:-1] + ",}",
    "an array with a comma": "[" + chat() + ",]",
    "an end that a person left out": chat()[:-1] + ",...}",
    "the same with one character": chat()[:-1] + ", \u2026 }",
    "a beginning that was left out": "{..., " + chat()[1:],
    "a value that was left out": chat()[:-1] + ', "usage": ...}',
    "members and rows that were left out": chat()[:-1]
    + ', "usage": {...}, "a": [...], "b": [..., 1, ..., 2]}',
    "a text with dots": chat(a="...", b="wait, ...]"),
    "a dict of Python": repr(
        json.loads(chat(a=None, b=[True, False], c="it's \xa0 \U0001f600 \x7f"))
    ),
    "a dict of Python with literals alone": chat()[:-1] + ', "a": None}',
}
"""One whole answer with something that no provider sends."""

SEVERAL = {
    "commas": f"{chat('stop')},\n{chat()},\n",
    "a comma behind the last": f"{chat('stop')}\n{chat()},\n",
    "arrays": f"[{chat('stop')}]\n[{chat()}]\n",
    "an array with a comma": f"[{chat('stop')},{chat()},]",
    "a sequence": f"\x1e{chat('stop')}\n\x1e{chat()}\n",
}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("form", [str, str.encode])
def test_an_answer_with_something_around_it_is_read(name: str, form: Any) -> None:
    assert [stop.raw for stop in detect_each(form(ONE[name]))] == ["length"]


@pytest.mark.behaviour("N14", "S8")
@pytest.mark.parametrize("name", ONE)
def test_it_is_read_in_pieces_too(name: str) -> None:
    detector = StreamDetector()
    for character in ONE[name]:
        detector.feed(character)
    assert detector.finalize().raw == "length"


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("form", [str, str.encode])
def test_several_answers_with_something_between_them_are_told(name: str, form: Any) -> None:
    assert [stop.raw for stop in detect_each(form(SEVERAL[name]))] == ["stop", "length"]


@pytest.mark.behaviour("N14")
def test_the_command_reads_every_member_of_a_packed_file() -> None:
    packed = b"".join(gzip.compress(chat(stop).encode() + b"\n") for stop in ("stop", "length"))
    assert [found["raw"] for found in described("x", packed)] == ["stop", "length"]


CHUNK = json.dumps({"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]})


@pytest.mark.behaviour("N14", "S2")
def test_an_end_mark_may_be_written_as_json() -> None:
    stop = detect(f'data: {CHUNK}\n\ndata: "[DONE]"\n\n')
    assert (stop.raw, stop.reason.value) == ("stop", "end_turn")


FOREIGN_STREAMS = {
    "prices": ['{"symbol": "EUR", "price": 1.07}', "[DONE]"],
    "words": ["Hello", "world", "[DONE]"],
    "speech": ['{"type": "speech.audio.delta", "audio": "AAAA"}', "[DONE]"],
    "a page": ['{"type": "start", "messageId": "m"}', '{"type": "finish", "finishReason": "length"}', "[DONE]"],
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", FOREIGN_STREAMS)
def test_an_end_mark_alone_makes_a_stream_no_answer(name: str) -> None:
    sent = "".join(f"data: {data}\n\n" for data in FOREIGN_STREAMS[name])
    assert detect(sent).detail == "no_answer"
    detector = StreamDetector()
    assert not any(detector.feed(character).terminal for character in sent)
    assert detector.finalize().detail == "no_answer"


CUT_OTHERS = (
    '{"candidates": [{"address": "Main St 1", "location": {"x": 1, "y": ',
    '{"candidates": [{"first_name": "Ann", "stage": "interview"}, {"first_na',
    '{"candidates": [{"formatted_address": "140 George St", "name": "Mus',
    '{"ok": true, "message": {"type": "message", "text": "hi", "us',
    '{"type": "message", "from": "a@b", "to": ["c@d"], "subj',
    '{"object": "response", "survey_id": "s", "ans',
    '{"choices": [{"message": {"title": "x", "bod',
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("source", CUT_OTHERS)
def test_what_broke_off_and_shows_no_answer_is_not_said_to_be_one(source: str) -> None:
    assert detect(source).detail == "broke_off_unread"


CUT_ANSWERS: tuple[dict[str, Any], ...] = (
    {"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"message": {"content": "Hi"}}]},
    {"choices": [{"message": {"role": "assistant", "content": "Hi"}}]},
    {"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}]},
    {"candidates": [{"content": {"parts": [{"text": "Hi"}], "role": "model"}}]},
    {"id": "resp_1", "object": "response", "model": "m", "output": []},
    {"object": "interaction", "model": "m", "outputs": []},
    {"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}},
    {"id": "c", "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}},
    {"model": "m", "message": {"role": "assistant", "content": "Hi"}},
    {"custom_id": "r", "response": {"status_code": 200, "body": {"id": "chatcmpl-1", "choices": [1]}}},
)  # fmt: skip


@pytest.mark.behaviour("N14", "S1")
@pytest.mark.parametrize("value", CUT_ANSWERS)
def test_an_answer_that_broke_off_is_said_to_have_done_so(value: dict[str, Any]) -> None:
    stop = detect(json.dumps(value)[:-3])
    assert (stop.reason.value, stop.detail) == ("dropped", None)


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize(
    "text", ['"', "'", "'\\\\", "...", ":...", "/*", ",", '{"a":', "[", "\\", '{"a": "\\', "//"]
)
def test_odd_documents_are_looked_at_once(text: str) -> None:
    """Otherwise this would not end."""
    long = (text * (400_000 // len(text))).encode()
    assert isinstance(tidied(long), bytes)
    begun(long)


NO_JSON = (
    '{"id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": max_tokens}',
    '{"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"index": 0 "finish_reason": "length"}]}',
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("source", NO_JSON)
def test_what_is_no_json_is_not_the_providers_fault_for_sure(source: str) -> None:
    stop = detect(source)
    assert (stop.detail, stop.confidence.value) == ("garbage", "low")
    assert "provider" not in stop.message
    assert detect(source, wire="openai-chat").confidence.value == "high"


@pytest.mark.behaviour("N6")
def test_each_beginning_of_a_document_shows_something_or_nothing() -> None:
    whole = chat(b={"c": [None, True, -1.5e3, 'ü\\"'], "d": {}}).encode()
    for end in range(len(whole)):
        found = begun(whole[:end])
        assert isinstance(found, dict) == (end > 0), whole[:end]
    assert begun(whole + b"}}} what else") == json.loads(whole)
