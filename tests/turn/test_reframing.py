"""A turn around which there are binary messages: what is not changed leaves as it came, garbage costs
nothing of what was said, and the pipe knows nothing of it."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from support.aws import events_of, failure
from support.aws_messages import chunk, message
from support.events import anthropic_messages as messages
from support.events.framing import chunks

from tenuto.core.events.event import Event
from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import ConnectionLost, Head, Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, lost
from tenuto.turn.pipeline.engine import Engine

URL = "https://host/model/anthropic.claude-x/invoke-with-response-stream"
BODY = (
    b'{"anthropic_version":"bedrock-2023-05-31","max_tokens":900,'
    b'"messages":[{"role":"user","content":"Hi"}]}'
)
AWS = (b"content-type", b"application/vnd.amazon.eventstream")
OFF = ((b"x-tenuto", b"off"),)
ANTHROPICS = ((b"x-stainless-lang", b"python"),)
"""Whoever sends this reads errors within events, and fails on exceptions."""


def said(*texts: str, stop: str = "end_turn") -> list[bytes]:
    head = messages.message(usage={"input_tokens": 3, "output_tokens": 1})
    told = messages.stream([messages.said(*texts)], stop, head=head)
    metrics = {"inputTokenCount": 3, "outputTokenCount": 5}
    told[-1]["amazon-bedrock-invocationMetrics"] = metrics
    return chunks(told)


def streamed(*pieces: bytes | ConnectionLost, **headers: bytes) -> Scripted:
    more = tuple((name.replace("_", "-").encode(), value) for name, value in headers.items())
    return Scripted(Head(200, (AWS, *more)), pieces)


class Played:
    """One turn; `out` is what the caller is given."""

    def __init__(self, *answers: Scripted, headers: Any = ANTHROPICS, **settings: Any) -> None:
        self.events: list[Event] = []
        self.script = Script(*answers)
        engine = Engine(Policy(**({"backoff_s": 0.0} | settings)), self.events.append)
        run = engine.begin(Request("POST", URL, headers, BODY))
        assert run is not None
        self.head: Any = None
        pieces: list[bytes] = []
        self.raised: Exception | None = None
        try:
            for piece in Drive(run, self.script.connect).pieces():
                if isinstance(piece, Head):
                    self.head = piece
                else:
                    pieces.append(piece)
        except ConnectionError as error:
            self.raised = error
        self.pieces = pieces
        self.out = b"".join(pieces)

    @property
    def text(self) -> str:
        deltas = [event.get("delta", {}) for event in events_of(self.out)]
        return "".join(delta.get("text", "") for delta in deltas)

    def of(self, name: str) -> list[Any]:
        return [event.data for event in self.events if event.name == name]


@pytest.mark.behaviour("P8", "S8")
@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
@pytest.mark.parametrize("headers", [(), OFF], ids=["on", "off"])
def test_a_normal_stream_comes_out_byte_for_byte_however_it_was_cut(size, headers):
    stream = b"".join(said("All ", "is ", "said 🌊."))
    cut = [stream[at : at + size] for at in range(0, len(stream), size)]
    played = Played(streamed(*cut), headers=headers)
    assert played.out == stream
    assert played.head.get(b"content-type") == AWS[1].decode()
    assert len(played.script.transmitted) == 1
    assert played.of("turn_ended")[0]["status"] == "complete"


@pytest.mark.behaviour("S4")
def test_each_message_of_text_leaves_when_it_comes():
    stream = said("One ", "two ", "three.")
    played = Played(streamed(*stream))
    assert played.pieces[:4] == [stream[0], stream[1] + stream[2], *stream[3:5]] or (
        played.pieces[:5] == stream[:5]
    )


@pytest.mark.behaviour("S8a")
def test_a_compressed_stream_is_read():
    stream = b"".join(said("All is said."))
    assert Played(streamed(gzip.compress(stream), content_encoding=b"gzip")).out == stream
    unknown = Played(streamed(stream, content_encoding=b"compress"))
    assert unknown.out == stream
    assert unknown.head.get(b"content-encoding") == "compress"


@pytest.mark.behaviour("S2", "C1")
def test_a_cut_answer_is_one_message_and_its_new_part_is_in_right_messages():
    played = Played(streamed(*said("Part one", stop="max_tokens")), streamed(*said(" and two.")))
    assert played.text == "Part one and two."
    kinds = [event["type"] for event in events_of(played.out)]
    assert kinds == [
        "message_start", "content_block_start", "content_block_delta", "content_block_delta",
        "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip
    assert b"x-tenuto" not in played.out


GARBAGE = [
    b"\xff" * 40,
    chunk(b"{}")[:-4] + b"oops",
    message(b"none", event_type="chunk", message_type="event"),
    failure("modelStreamErrorException"),
]


@pytest.mark.behaviour("S9", "N6")
@pytest.mark.parametrize("bad", GARBAGE, ids=["bytes", "checksum", "payload", "exception"])
@pytest.mark.parametrize("together", [True, False])
def test_what_is_no_message_costs_nothing_of_what_was_said(bad, together):
    first = [*said("The first half, ")[:3], bad]
    pieces = (b"".join(first),) if together else tuple(first)
    played = Played(streamed(*pieces), streamed(*said("and the second.")))
    assert played.text == "The first half, and the second."
    assert played.of("turn_ended")[0]["status"] == "complete"


@pytest.mark.behaviour("C28", "P8")
@pytest.mark.parametrize("bad", GARBAGE, ids=["bytes", "checksum", "payload", "exception"])
def test_a_turn_that_is_left_alone_has_every_byte_garbage_included(bad):
    pieces = [*said("The first half, ")[:3], bad, b"more", b"\x00"]
    assert Played(streamed(*pieces), headers=OFF).out == b"".join(pieces)


@pytest.mark.behaviour("C28", "P8")
def test_a_turn_that_is_left_alone_breaks_off_where_its_far_side_did():
    stream = said("The first half, ")
    played = Played(streamed(*stream[:3], stream[3][:20], lost()), headers=OFF)
    assert played.out == b"".join([*stream[:3], stream[3][:20]])
    assert isinstance(played.raised, ConnectionError)


@pytest.mark.behaviour("S1", "S3")
def test_half_a_message_at_a_break_is_never_handed_on():
    first = said("The first half, ")
    broken = (*first[:3], first[3][:20])
    for more in ((), (lost(),)):
        played = Played(streamed(*broken, *more), streamed(*said("and the second.")))
        assert played.text == "The first half, and the second."


@pytest.mark.behaviour("N6")
def test_a_message_beyond_the_limit_is_a_fault_of_its_own_and_not_read_on():
    pieces = [*said("Something.")[:3], chunk(b"x" * 5000)]
    played = Played(streamed(*pieces), streamed(*said(" More.")), event_max_bytes=2000)
    fault = played.of("stop_reason_observed")[0]
    assert "limit" in json.dumps(fault)
    assert len(played.script.transmitted) == 1
    assert played.text == "Something."


@pytest.mark.behaviour("N6", "P1a")
def test_a_body_that_answers_a_stream_request_becomes_messages():
    body: Any = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    body |= {"content": [{"type": "text", "text": "Whole."}], "stop_reason": "end_turn"}
    played = Played(Scripted.body(json.dumps(body).encode()))
    assert played.text == "Whole."
    assert played.head.get(b"content-type") == AWS[1].decode()


@pytest.mark.behaviour("P8")
def test_a_provider_that_writes_text_is_handed_on_as_text():
    stream = b'event: message_start\ndata: {"type":"message_start","message":{"id":"m",'
    stream += b'"content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
    stream += b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":'
    stream += b'"refusal"},"usage":{"output_tokens":1}}\n\nevent: message_stop\ndata: {"type":'
    stream += b'"message_stop"}\n\n'
    played = Played(Scripted.stream(stream))
    assert played.out == stream
    assert played.head.get(b"content-type") == "text/event-stream"


@pytest.mark.behaviour("S1")
def test_text_that_is_no_utf8_leaves_with_replacement_characters():
    stream = said("x")
    bad = b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\xffb"}}'
    played = Played(streamed(*stream[:2], chunk(bad), *stream[3:]))
    assert played.text == "a�b"
