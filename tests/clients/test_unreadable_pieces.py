"""A piece of a call that is no text: nobody can tell what it was meant to add, so that the call is
broken, whatever else came of it. Real bytes, through the official SDKs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import DECODED, MAKERS, At, arguments_of, ask, streamed
from support.far_sides import FarSide

import tenuto

WANTED = {"path": "a.txt", "content": "x"}
WHOLE = json.dumps(WANTED)
ODD: dict[str, tuple[tuple[Any, ...], ...]] = {
    "anthropic-messages": ((5,), (None,), (WHOLE[:9], True, WHOLE[9:])),
    "bedrock-converse": ((5,), (None,), ([],), (WHOLE[:9], 5, WHOLE[9:])),
    "bedrock-invoke": ((5,), (False,), ('{"path": ', 5, "}")),
    "cohere": ((5,), (False,), ('{"path": ', 5, "}")),
    "cohere-v1": ((5,), ("x",), ([],)),
    "gemini-generate": ((5,), ("x",), ([],)),
    "gemini-interactions": ((5,), (None,), ([],), (WHOLE[:9], 5, WHOLE[9:])),
    "mistral": ((5,), (False,), ([],)),
    "ollama": ((5,), ("x",), ([],)),
    "openai-chat": ((5,), (False,), ('{"path": ', 5, "}")),
    "openai-responses": ((5,), (None,), ([],)),
}
CASES = [(wire, pieces) for wire, all_of_it in ODD.items() for pieces in all_of_it]


@pytest.mark.behaviour("T1", "T12", "T16", "N6")
@pytest.mark.parametrize(("wire", "pieces"), CASES, ids=[f"{w}-{p!r}" for w, p in CASES])
def test_a_call_with_a_piece_that_cannot_be_read_is_asked_for_again(
    wire: str, pieces: tuple[Any, ...]
) -> None:
    again: Any = WANTED if wire in DECODED else WHOLE
    with FarSide(streamed(wire, *pieces), streamed(wire, again)) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        said = ask(asker, wire)
        asker.close()
        assert said.error is None
        assert arguments_of(said) == [WANTED]
        assert len(far.requests) == 2
    assert asker.ending["status"] == "complete"


@pytest.mark.behaviour("T12", "C25", "P8")
@pytest.mark.parametrize(
    ("wire", "pieces"),
    [
        ("anthropic-messages", ()),
        ("anthropic-messages", ("",)),
        ("bedrock-converse", ()),
        ("bedrock-converse", ("",)),
        ("bedrock-invoke", ("",)),
        ("bedrock-invoke", (None,)),
        ("cohere", ()),
        ("cohere", ("",)),
        ("gemini-interactions", ()),
        ("gemini-interactions", ("",)),
        ("mistral", ("",)),
        ("mistral", (None,)),
        ("ollama", ("",)),
        ("ollama", (None,)),
        ("openai-chat", ("",)),
        ("openai-chat", (None,)),
        ("openai-responses", ("{}",)),
    ],
)
def test_a_call_without_arguments_is_whole_as_each_wire_writes_it(
    wire: str, pieces: tuple[Any, ...]
) -> None:
    with FarSide(streamed(wire, *pieces)) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        said = ask(asker, wire, required=False)
        asker.close()
        assert (said.error, arguments_of(said)) == (None, [{}])
        assert len(far.requests) == 1


@pytest.mark.behaviour("N6", "P8")
def test_an_unreadable_piece_of_something_else_begins_no_call() -> None:
    """It stands in a text: the text is what it was."""
    for wire, events in {
        "bedrock-converse": [
            {"messageStart": {"role": "assistant"}},
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}},
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": None}},
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"messageStop": {"stopReason": "end_turn"}},
        ],
        "anthropic-messages": [
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": "Hi"},
            },
            {"type": "content_block_delta", "index": 0, "delta": 5},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
            {"type": "message_stop"},
        ],
    }.items():
        stop = tenuto.detect(events, wire=wire)
        assert (stop.reason.value, stop.anomalies) == ("end_turn", ())
