"""A limit that cuts after a few tokens, in a request that sets none (C4a): the wire with the largest
least limit is Responses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.events.by_wire import WIRES
from support.one_turn import Played

from tenuto.turn.drivers.scripted import Scripted

MADE = WIRES["openai-responses"]
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


@pytest.mark.behaviour("C4a")
@pytest.mark.parametrize("tokens", range(1, 7))
def test_a_cut_after_a_few_tokens_goes_on(tokens: int) -> None:
    def body(text: str, tokens: int, **ends: Any) -> Scripted:
        usage = {"input_tokens": 1, "output_tokens": tokens, "total_tokens": 1 + tokens}
        return Scripted.body(
            json.dumps(MADE.body(text, [], None) | {"usage": usage} | ends).encode()
        )

    asked = {"model": "m", "input": "Why?"}
    answers = body("The moon", tokens, **CUT), body(" pulls.", 9)
    played = Played("https://host.example/v1/responses", asked, *answers)
    assert (played.report.status, len(played.sent)) == ("complete", 2)
