"""A stream that is said as a body means what the stream meant: its text, its calls, its stop."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from examples.wires.tests.at_hand import every_wire as wires
from examples.wires.tests.at_hand import fixture_folders
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.builder import Builder
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.response import Response
from tenuto.core.answer.signals import Ended
from tenuto.turn.receiving.gathering import gathered
from tenuto.wires.json import JsonObject, decode_object, encode

STREAMS = [
    path
    for path in (
        path
        for at in fixture_folders()
        for path in sorted([*at.glob("*/stream.sse"), *at.glob("*/stream.ndjson")])
    )
    if not wires()[path.parts[-3]].only_read
]


NEVER_ASKED = {"generated-stream"}
"""Streams of requests that pass untouched: nobody asks for a body and is given one of them."""
STREAMED_BY_MEMBER = {"q42-streamed-arguments"}
"""Arguments that are not put together, so that nobody may be given them as a body."""


def both(wire_name: str, stream: bytes) -> tuple[Response, Response, JsonObject | None]:
    """What a stream says, and what the body says that is made of it."""
    wire = wires()[wire_name]
    of_stream, of_body = Builder(), Builder()
    body = gathered(wire, stream, of_stream)
    for signal in wire.parse_object(body, event=False):
        of_body.feed(signal)
    of_body.feed(Ended())
    return of_stream.build(), of_body.build(), body


def calls_of(calls: Iterable[ToolCall]) -> list[tuple[str, Any]]:
    """The calls that are whole, by name; white space between members is no matter."""
    whole = [call for call in calls if call.finding is Finding.WHOLE]
    return [(c.name, c.arguments if c.free else json.loads(c.arguments)) for c in whole]


@pytest.mark.behaviour("N6", "N7", "N4")
@pytest.mark.parametrize("path", STREAMS, ids=lambda p: f"{p.parts[-3]}-{p.parts[-2]}")
def test_every_stream_means_the_same_as_the_body_that_is_made_of_it(path):
    stream, body, made = both(path.parts[-3], path.read_bytes())
    if made is None and path.suffix == ".ndjson":
        assert wires()[path.parts[-3]].parse_object(decode_object(path.read_bytes()), event=False)
        return  # its only line is a body
    if path.parts[-2] in STREAMED_BY_MEMBER:
        assert made is None
        return
    if path.parts[-2] in NEVER_ASKED:
        return
    assert body.text == stream.text
    assert body.refusal == stream.refusal
    assert calls_of(body.calls) == calls_of(stream.calls)
    if stream.fault is None and stream.stop.raw:
        assert body.stop.raw == stream.stop.raw
    if stream.usage is not None:
        assert body.usage is not None
        assert body.usage.output_tokens == stream.usage.output_tokens
    assert made is None or decode_object(encode(made)) == made


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("wire", sorted(wires()))
def test_events_of_odd_shapes_make_a_body_or_none_and_never_raise(wire):
    odd = [b"{}", b'{"type":[]}', b'{"choices":[{"delta":3}]}', b'{"response":[]}', b"[1]", b"3"]
    odd += [b'{"type":"message_start","message":3}', b'{"candidates":[3]}', b'{"messageStop":"x"}']
    odd += [b'{"interaction":"x"}', b'{"choices":[{"delta":{"a":1,"content":{}}}]}', b"nothing"]
    for data in odd:
        gathered(wires()[wire], b"data: %b\n\n" % data, Builder())
    assert gathered(wires()[wire], b": nothing\n\n", Builder()) is None


def made_of(wire: str, values: list[JsonObject]) -> JsonObject:
    stream = b"".join(b"data: %b\n\n" % encode(value) for value in values)
    made = gathered(wires()[wire], stream, Builder())
    assert made is not None
    return made


@pytest.mark.behaviour("N7")
def test_what_gemini_tells_of_each_piece_is_told_of_the_whole():
    def chunk(word: str, ends: int, **more: object) -> JsonObject:
        source = {"uri": word, "startIndex": ends - len(word), "endIndex": ends}
        told: JsonObject = {
            "content": {"role": "model", "parts": [{"text": word}]},
            "logprobsResult": {"chosenCandidates": [{"token": word}], "logProbabilitySum": -ends},
            "citationMetadata": {"citationSources": [source]},
            "groundingMetadata": {"webSearchQueries": [f"about {word}"]},
            "safetyRatings": [{"category": "c"}],
        }
        return {"candidates": [told | more]}

    made = made_of("gemini-generate", [chunk("Hi", 2), chunk("you", 5, finishReason="STOP")])
    (candidate,) = made["candidates"]
    assert candidate["content"]["parts"] == [{"text": "Hiyou"}]
    assert [one["token"] for one in candidate["logprobsResult"]["chosenCandidates"]] == [
        "Hi",
        "you",
    ]
    assert candidate["logprobsResult"]["logProbabilitySum"] == -5
    uris = [one["uri"] for one in candidate["citationMetadata"]["citationSources"]]
    assert uris == ["Hi", "you"]
    assert candidate["groundingMetadata"]["webSearchQueries"] == ["about Hi", "about you"]
    assert candidate["safetyRatings"] == [{"category": "c"}]


@pytest.mark.behaviour("N7")
def test_probabilities_and_audio_of_chat_are_those_of_all_chunks():
    def chunk(word: str, finish: str | None = None, **more: object) -> JsonObject:
        logprobs = {"content": [{"token": word}], "refusal": None}
        choice = {"index": 0, "delta": {"content": word} | more, "finish_reason": finish}
        return {"id": "c", "choices": [choice | {"logprobs": logprobs}]}

    first = chunk("Hi", audio={"id": "a", "data": "AA"})
    second = chunk("you", "stop", audio={"id": "a", "data": "BB", "transcript": "Hiyou"})
    (choice,) = made_of("openai-chat", [first, second])["choices"]
    assert [one["token"] for one in choice["logprobs"]["content"]] == ["Hi", "you"]
    assert choice["message"]["audio"] == {"id": "a", "data": "AABB", "transcript": "Hiyou"}


@pytest.mark.behaviour("N7")
def test_images_and_probabilities_of_ollama_are_those_of_all_lines():
    def line(word: str, **more: object) -> JsonObject:
        message = {"role": "assistant", "content": word, "images": [word]}
        return {"model": "m", "message": message, "done": False, "logprobs": [word]} | more

    lines = [line("Hi"), line("you", done=True, done_reason="stop")]
    made = gathered(wires()["ollama"], b"\n".join(map(encode, lines)), Builder())
    assert made is not None
    assert made["message"] == {"role": "assistant", "content": "Hiyou", "images": ["Hi", "you"]}
    assert made["logprobs"] == ["Hi", "you"]
