"""White space that was held back at a cut, and what the model writes in its place."""

from __future__ import annotations

import pytest
from support.asking.wrapping import QUICK
from support.events.framing import sse
from support.events.openai_chat import chunks
from support.every_wire import MAKERS, At, ask, made
from support.far_sides import FarSide, answer

import tenuto

CUTS = {
    "anthropic-messages": "max_tokens",
    "cohere": "MAX_TOKENS",
    "mistral": "length",
    "ollama": "length",
    "openai-chat": "length",
}
CODE = "def f(x):\n    if x:\n        a()\n        "


def finished(wire: str, mode: str, cut: bytes) -> str:
    rest = made(wire, mode, "\n    return b()\n")
    with FarSide(cut, rest) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK, prefill="never"))
        said = ask(asker, wire, mode)
        asker.close()
        assert len(far.requests) == 2
    assert said.error is None
    text: str = said.text
    return text


@pytest.mark.behaviour("C7", "C14")
@pytest.mark.parametrize("mode", ["whole", "stream"])
@pytest.mark.parametrize("wire", sorted(CUTS))
def test_a_line_break_of_the_models_own_brings_its_own_indentation(wire: str, mode: str) -> None:
    # An event whose text does not end in letters was delivered as a whole: its line stays blank.
    blank = "\n        " if mode == "stream" else ""
    whole = f"def f(x):\n    if x:\n        a(){blank}\n    return b()\n"
    assert finished(wire, mode, made(wire, mode, CODE, CUTS[wire])) == whole


@pytest.mark.behaviour("C7", "C14")
def test_white_space_that_was_held_gives_way_to_it_in_a_stream() -> None:
    told = chunks([{"content": CODE[at : at + 5]} for at in range(0, len(CODE), 5)], "length")
    cut = answer(b"".join(sse([*told])), "content-type: text/event-stream", length=False)
    whole = "def f(x):\n    if x:\n        a()\n    return b()\n"
    assert finished("openai-chat", "stream", cut) == whole
