"""A short text before a call that is broken again and again, on every wire: it is there once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import DECODED, MAKERS, At, arguments_of, ask, streamed
from support.far_sides import FarSide

import tenuto

WANTED = {"path": "a.txt", "content": "x"}


@pytest.mark.behaviour("S2", "T5")
@pytest.mark.parametrize("wire", sorted(MAKERS))
@pytest.mark.parametrize(("last", "whole"), [("ok", "ok"), ("ok, so", "ok, so"), ("", "ok")])
def test_text_that_comes_with_each_attempt_at_a_call_is_said_once(
    wire: str, last: str, whole: str
) -> None:
    decoded = wire in DECODED
    broken: Any = 5 if decoded else '{"path": "a.t'
    again = streamed(wire, WANTED if decoded else json.dumps(WANTED), text=last)
    with FarSide(*[streamed(wire, broken, text="ok")] * 3, again) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        said = ask(asker, wire)
        asker.close()
        assert len(far.requests) == 4
        assert (said.error, said.text, arguments_of(said)) == (None, whole, [WANTED])


@pytest.mark.behaviour("S2", "T5")
@pytest.mark.parametrize("wire", sorted(MAKERS))
def test_a_preface_of_any_attempt_before_counts_as_said(wire: str) -> None:
    decoded = wire in DECODED
    broken: Any = 5 if decoded else '{"path": "a.t'
    texts = ["Let me look.", "I write.", "Let me look."]
    cut = [streamed(wire, broken, text=text) for text in texts]
    again = streamed(wire, WANTED if decoded else json.dumps(WANTED), text="I write.")
    with FarSide(*cut, again) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        said = ask(asker, wire)
        asker.close()
    assert (said.error, said.text) == (None, "Let me look.\n\nI write.")
    assert arguments_of(said) == [WANTED]
