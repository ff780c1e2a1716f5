"""Streams that end in `response.done`, whatever their status, as OpenRouter documents them."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import LIMITS, MAKERS, At, ask, made
from support.far_sides import FarSide

import tenuto

WIRE = "openai-responses"


def documented(text: str, stop: str | None = None) -> bytes:
    stream = made(WIRE, "stream", text, stop)
    for name in (b"response.completed", b"response.incomplete"):
        stream = stream.replace(name, b"response.done")
    return stream.replace(b"response.output_text.delta", b"response.content_part.delta")


def asked(*answers: bytes, way: str) -> Any:
    with FarSide(*answers) as far:
        asker = MAKERS[WIRE](At(far), tenuto.Policy(**QUICK))
        said = ask(asker, WIRE, "stream", way)
        ending = asker.ending
        asker.close()
    return said, len(far.requests), ending["status"]


@pytest.mark.behaviour("P10")
def test_a_whole_answer_is_handed_on_as_it_came(way: str) -> None:
    said, requests, status = asked(documented("The tide rises twice a day."), way=way)
    assert (said.error, requests, status) == (None, 1, "complete")


@pytest.mark.behaviour("C1")
def test_a_cut_answer_is_continued(way: str) -> None:
    begun = documented("The tide rises", LIMITS[WIRE])
    rest = made(WIRE, "stream", " twice a day.")
    said, requests, status = asked(begun, rest, way=way)
    assert (said.error, requests, status) == (None, 2, "complete")
    assert said.text.endswith("twice a day.")
