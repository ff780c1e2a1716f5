"""A call that comes as text under a clean stop is an anomaly on every wire (Q28)."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import MAKERS, At, ask, made
from support.far_sides import FarSide

import tenuto

TEXTS = {
    "hermes": '<tool_call>\n{"name": "write_file", "arguments": {"path": "a"}}\n</tool_call>',
    "json": '{"name": "write_file", "parameters": {"path": "a"}}',
    "words": "The file is there.",
}


@pytest.mark.behaviour("N12")
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("mode", ["whole", "stream"])
@pytest.mark.parametrize("wire", MAKERS)
def test_a_call_as_text_is_an_anomaly_and_the_answer_stays(
    wire: str, mode: str, kind: str, way: str
) -> None:
    text = TEXTS[kind]
    with FarSide(made(wire, mode, text)) as far:
        asker: Any = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        said = ask(asker, wire, "body" if mode == "whole" else mode, way)
        (seen,) = asker.of("stop_reason_observed")
        asker.close()
    assert (said.error, said.text, len(far.requests)) == (None, text, 1)
    assert ("call_written_as_text" in seen["anomalies"]) is (kind != "words")
