"""Proxies drop the names of events, and Anthropic's SDK passes over events without one: an answer
would be empty without a word. Each gets the name that its object says."""

from __future__ import annotations

import re
from typing import Any

import anthropic
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, sse_answer
from support.framing_matrix import TEXT, told

import tenuto

ASKED: Any = {
    "model": "claude-x",
    "max_tokens": 99,
    "messages": [{"role": "user", "content": "Hi"}],
}
WHOLE = told("anthropic-messages")[1]


def nameless(stream: bytes) -> bytes:
    return re.sub(rb"event: [^\n]*\n", b"", stream)


def client_of(far: FarSide) -> anthropic.Anthropic:
    made = anthropic.Anthropic(
        base_url=far.base_url.removesuffix("/v1"), api_key="key", max_retries=0
    )
    return tenuto.wrap(made, policy=tenuto.Policy(**QUICK))


@pytest.mark.behaviour("S2", "S8")
@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_a_stream_whose_events_lost_their_names_is_the_same_answer(size, line_end):
    sent = nameless(WHOLE).replace(b"\n", line_end)
    pieces = [sse_answer(b""), *(sent[at : at + size] for at in range(0, len(sent), size))]
    with FarSide(pieces, sse_answer(WHOLE)) as far, client_of(far) as client:
        nameless_ones = [event.to_dict() for event in client.messages.create(**ASKED, stream=True)]
        named_ones = [event.to_dict() for event in client.messages.create(**ASKED, stream=True)]
        assert len(far.requests) == 2
    assert nameless_ones == named_ones
    assert nameless_ones[-1]["type"] == "message_stop"


@pytest.mark.behaviour("C1", "S2")
def test_one_that_was_cut_goes_on():
    cut = nameless(WHOLE).replace(b'"end_turn"', b'"max_tokens"')
    rest = nameless(WHOLE).replace(b"Hello", b" and").replace(b" world", b" more")
    with (
        FarSide(sse_answer(cut), sse_answer(rest)) as far,
        client_of(far) as client,
        client.messages.stream(**ASKED) as stream,
    ):
        made = stream.get_final_message()
        assert len(far.requests) == 2
    assert made.content[0].text.startswith(TEXT + " and")  # type: ignore[union-attr]
    assert made.stop_reason == "end_turn"


@pytest.mark.behaviour("S9", "P1a")
def test_an_error_without_its_name_is_raised():
    broken = b'data: {"type":"error","error":{"type":"invalid_request_error","message":"No."}}\n\n'
    with (
        FarSide(sse_answer(broken)) as far,
        client_of(far) as client,
        pytest.raises(anthropic.APIStatusError),
    ):
        list(client.messages.create(**ASKED, stream=True))


@pytest.mark.behaviour("P8", "C28")
def test_a_turn_that_is_left_alone_stays_as_it_came():
    with FarSide(sse_answer(nameless(WHOLE))) as far, client_of(far) as client:
        raw = client.messages.with_streaming_response.create(
            **ASKED, stream=True, extra_headers={"x-tenuto": "off"}
        )
        with raw as response:
            assert b"".join(response.iter_bytes()) == nameless(WHOLE)


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("odd", [b'{"type":"a\\nb"}', b'{"type":[]}', b"[1]", b"x", b'{"type":""}'])
def test_what_can_be_no_name_is_none(odd):
    event = b"data: " + odd + b"\n\n"
    with (
        FarSide(sse_answer(event + WHOLE)) as far,
        client_of(far) as client,
        client.messages.with_streaming_response.create(**ASKED, stream=True) as response,
    ):
        out = b"".join(response.iter_bytes())
    assert b"a\nb" not in out
