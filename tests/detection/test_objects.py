"""What `StreamDetector.text` tells, and what is said of objects whose own code raises."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from tenuto import Confidence, StopReason, StreamDetector, detect
from tenuto.core.answer.stop import NO_ANSWER

SECRET = "sEcReT"


def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "c",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}],
    }


@pytest.mark.behaviour("S5")
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_text_of_a_stream_is_what_was_read_of_it(size: int) -> None:
    events = [chunk("The "), chunk("tide"), chunk(" turns."), chunk("", "stop")]
    data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    detector, seen = StreamDetector(), []
    assert detector.text == ""
    for at in range(0, len(data), size):
        detector.feed(data[at : at + size])
        seen.append(detector.text)
    assert seen[-1] == detector.text == "The tide turns."
    assert all(seen[-1].startswith(text) for text in seen)
    if size == 1:
        assert {"The ", "The tide"} < set(seen)
    detector.finalize()
    assert detector.text == "The tide turns."
    detector.reset()
    assert detector.text == ""


@pytest.mark.behaviour("S5")
def test_the_text_of_events_leaves_out_reasoning_and_calls() -> None:
    detector = StreamDetector("openai-chat")
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    for delta in ({"reasoning_content": "Hm"}, {"content": "Hi"}, {"tool_calls": [call]}):
        detector.feed({"choices": [{"index": 0, "delta": delta}]})
    assert detector.text == "Hi"


@pytest.mark.behaviour("S5")
def test_the_text_of_a_body_is_there_at_its_end() -> None:
    detector = StreamDetector()
    detector.feed(
        json.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]})
    )
    assert detector.text == ""
    assert detector.finalize().raw == "stop"
    assert detector.text == "Hi"


class Attributes:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(SECRET)


class Dump:
    def model_dump(self, **options: Any) -> Any:
        raise ValueError(SECRET)


class Property:
    def __init__(self) -> None:
        self.choices = [Dumped()]

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise OSError(SECRET)


class Dumped:
    def dict(self) -> dict[str, Any]:
        return chunk("Hi", "length")

    def model_dump(self, **options: Any) -> Any:
        raise ValueError(SECRET)


class Members(dict[str, Any]):
    def get(self, key: str, default: Any = None) -> Any:
        raise RuntimeError(SECRET)


@pytest.mark.behaviour("N6", "N10")
@pytest.mark.parametrize("make", [Attributes, Dump, Property, Members])
def test_an_object_whose_own_code_raises_leaves_one_line_in_the_log(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for tells in (detect, StreamDetector().feed):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "tenuto"):
            tells(make())
        (record,) = caplog.records
        line = record.getMessage()
        assert line.startswith("detect could not read an object of the class")
        assert make.__name__ in line
        assert SECRET not in line + str(record.exc_text)
    assert detect(make()) == NO_ANSWER


@pytest.mark.behaviour("N6")
def test_an_object_that_can_be_read_in_another_way_leaves_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "tenuto"):
        assert detect(Dumped()).raw == "length"
        detect(object())
        detect("prose")
    assert caplog.records == []


REFUSED: dict[str, dict[str, Any]] = {
    "beside the content": {
        "content": "", "additional_kwargs": {"refusal": "No"}, "response_metadata": {"finish_reason": "stop"},
    },
    "within the content": {
        "content": [{"type": "refusal", "refusal": "No"}], "response_metadata": {"status": "completed", "model": "m"},
    },
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_in_a_message_of_langchain_is_one(name: str) -> None:
    message = {"type": "ai", **REFUSED[name]}
    told = {"finish_reason": "stop"}
    generation = {"text": "", "generation_info": told, "message": message}
    for source in (message, {"type": "ai", "data": message}, {"generations": [[generation]]}):
        stop = detect(source)
        assert (stop.reason, stop.confidence) == (StopReason.REFUSAL, Confidence.HIGH)
    whole = {**message, "content": "Hi", "additional_kwargs": {"refusal": None}}
    assert detect(whole).reason is StopReason.END_TURN
