"""What a provider wants back of a stream is the same however its bytes came: an event at a time,
where like events are kept as one, or all at once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.replay import anthropic_messages as anthropic

from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine
from tenuto.wires.openai_responses.content import SPEECH

LONG = "A patient text in many pieces, with “quotes”,\n\nblank lines and \\ marks. "
BLOCKS = [
    anthropic.thought(LONG * 2),
    anthropic.said(LONG * 3),
    anthropic.searching(),
    anthropic.found(),
    anthropic.said("Short. "),
    anthropic.said(LONG),
]
ASKED = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 4096,
    "stream": True,
    "messages": [{"role": "user", "content": "Go."}],
}


def streamed(events: list[Any], padded: bool) -> list[bytes]:
    """The events as bytes; padded as Anthropic pads them."""
    data = (json.dumps(event).encode() for event in events)
    if padded:
        data = (each[:-1] + b" " * (len(each) % 7) + b"}" for each in data)
    return [
        b"event: %b\ndata: %b\n\n" % (event["type"].encode(), each)
        for event, each in zip(events, data, strict=True)
    ]


@pytest.mark.behaviour("C26")
@pytest.mark.parametrize("in_pieces", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_the_blocks_that_go_back_are_those_that_came(padded, in_pieces):
    pieces = streamed(anthropic.R(BLOCKS, anthropic.PAUSE).events("m"), padded)
    script = Script(
        Scripted.stream(*(pieces if in_pieces else [b"".join(pieces)])),
        Scripted.stream(*streamed(anthropic.R("Done.").events("m"), padded=False)),
    )
    body = json.dumps(ASKED).encode()
    run = Engine(Policy()).begin(Request("POST", "https://api.anthropic.com/v1/messages", (), body))
    assert run is not None
    given = [piece for piece in Drive(run, script.connect).pieces() if isinstance(piece, bytes)]
    sent = json.loads(script.transmitted[1].body)["messages"]
    assert sent[1:] == [{"role": "assistant", "content": BLOCKS}]
    assert b"Done." in b"".join(given)


def message(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }


@pytest.mark.behaviour("C26")
@pytest.mark.parametrize("text", ["One. Two. ", "One. Two."])
def test_items_keep_their_own_texts_whether_or_not_the_last_space_was_taken_away(text):
    split_among = SPEECH.with_text([message("One. "), message("Two. ")], text)
    texts = [part["text"] for item in split_among for part in item["content"]]
    assert texts == ["One. ", text.removeprefix("One. ")]
