"""White space that was held back at a cut, and what the model writes in its place."""

from __future__ import annotations

import pytest
from support.asking.wrapping import QUICK
from support.events.framing import sse
from support.events.openai_chat import chunks
from support.every_wire import MAKERS, At, ask, cut_text, made
from support.far_sides import FarSide, answer
from support.pairing import every_pair

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


PUT_ASIDE = {
    "code": (
        "if parse is not None:\n    kw['parse_hook'] = parse_hook\nif pairs is not None:",
        "\n    kw['pa",
        "irs_hook'] = pairs_hook\n",
    ),
    "prose": ("On day 5483 the water rose, and the gauge at the gate showed", " 54", "83 again."),
}
"""A text that was cut; what the next attempt said before it was cut at once, which may become a
repetition of the text; and the rest."""


@pytest.mark.behaviour("S4a", "C7")
@every_pair(
    wire=sorted(MAKERS), mode=["stream", "whole"], by=["limit", "break"], case=sorted(PUT_ASIDE)
)
def test_white_space_before_words_that_were_put_aside_comes_with_them(
    wire: str, mode: str, by: str, case: str
) -> None:
    """No request shows it, so a model may leave it out when it says the words again."""
    by = "limit" if mode == "whole" or wire == "bedrock-invoke" else by  # its frames hide the text
    said, begun, rest = PUT_ASIDE[case]
    answers = [
        cut_text(wire, mode, said, by),
        cut_text(wire, mode, begun, by),
        made(wire, mode, begun.lstrip() + rest),
    ]
    policy = tenuto.Policy(
        **QUICK, continuation_max_total_completion_tokens=0, fault_retries=4, prefill="never"
    )
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), policy)
        got = ask(asker, wire, mode)
        asker.close()
        assert len(far.requests) == 3
    assert (got.error, got.text) == (None, said + begun + rest)
