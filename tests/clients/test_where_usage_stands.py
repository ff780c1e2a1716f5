"""The usage that Tenuto writes into a stream stands where the provider told it: nowhere else does
the vendor's SDK, or a program that expects a choice in every chunk, look for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, sse_answer

import tenuto
from tenuto.core.answer.signals import Usage
from tenuto.wires.answer import Answer
from tenuto.wires.billed_usage import merged_usage
from tenuto.wires.cohere.render import CohereLayout

USAGE = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}


def _chunk(delta: Any, stop: str | None = None, **more: Any) -> Any:
    choice = {"index": 0, "delta": delta, "finish_reason": stop}
    shared = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**shared, "choices": [choice], **more}


def _events(*events: Any) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(e).encode() for e in events) + b"data: [DONE]\n\n"


PLACES: dict[str, dict[str, Any]] = {
    "x_groq": {"x_groq": {"id": "req_1", "usage": USAGE}},
    "usage": {"usage": USAGE},
}


@pytest.mark.behaviour("P10")
@pytest.mark.parametrize("place", sorted(PLACES))
def test_usage_told_beside_the_stop_is_written_beside_the_stop(place: str) -> None:
    import groq

    halves = [
        sse_answer(
            _events(
                _chunk({"role": "assistant", "content": text}),
                _chunk({}, stop, **PLACES[place]),
            )
        )
        for text, stop in (("The moon pulls the", "length"), (" sea.", "stop"))
    ]
    with FarSide(*halves) as far:
        bare = groq.Groq(base_url=far.base_url, api_key="none", max_retries=0)
        client = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK))
        asked: Any = {"model": "m", "messages": [{"role": "user", "content": "Why tides?"}]}
        chunks = list(client.chat.completions.create(**asked, stream=True))
        client.close()
    assert all(chunk.choices for chunk in chunks)
    last = chunks[-1]
    assert last.choices[0].finish_reason == "stop"
    told = last.x_groq.usage if place == "x_groq" and last.x_groq else last.usage
    assert told is not None
    assert told.completion_tokens == 10


@pytest.mark.behaviour("P10")
def test_an_error_that_is_an_end_tells_the_usage() -> None:
    """Cohere's SDK raises on no event of a stream: its end is all that a program gets."""
    used = Usage(18, 4)
    answer = Answer(text="", usage=used, raw_usage={"tokens": {"input_tokens": 9}})
    told = merged_usage({"tokens": {"input_tokens": 9}}, used)
    end = CohereLayout("m").failed("dropped", "It broke.", answer)
    assert json.dumps(told, separators=(",", ":")).encode() in end
    assert b'"finish_reason":"ERROR"' in end
