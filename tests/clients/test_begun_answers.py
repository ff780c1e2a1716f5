"""A request that ends in the first words of the answer: a continuation that repeats them, too, is
a restart, and the answer stays the text behind them."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import MAKERS, ROWS, At, made
from support.far_sides import FarSide

import tenuto

CUTS = {
    "anthropic-messages": "max_tokens",
    "bedrock-converse": "max_tokens",
    "cohere": "MAX_TOKENS",
    "gemini-generate": "MAX_TOKENS",
    "ollama": "length",
    "openai-chat": "length",
}
BEGUN: dict[str, dict[str, Any]] = {
    "bedrock-converse": {"role": "assistant", "content": [{"text": "{"}]},
    "gemini-generate": {"role": "model", "parts": [{"text": "{"}]},
}
TEXT = '"alpha": 1, "b'
WHOLE = '"alpha": 1, "b": 2}'


@pytest.mark.behaviour("C14", "C14a")
@pytest.mark.parametrize("mode", ["whole", "stream"])
@pytest.mark.parametrize("wire", sorted(CUTS))
@pytest.mark.parametrize(
    "rest", ["{" + WHOLE, "Here is the JSON:\n\n{" + WHOLE, WHOLE, WHOLE.removeprefix(TEXT)]
)
def test_a_restart_from_the_callers_own_words_is_recognized(
    wire: str, mode: str, rest: str
) -> None:
    asked = ROWS.get(wire, {"role": "user", "content": "Write it."})
    begun = BEGUN.get(wire, {"role": "assistant", "content": "{"})
    with FarSide(made(wire, mode, TEXT, CUTS[wire]), made(wire, mode, rest)) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        said = asker.ask([asked, begun], mode, "sync")
        asker.close()
        assert len(far.requests) == 2
    assert (said.error, said.text) == (None, WHOLE)
