"""Answers that break off, and to which the provider adds nothing when it is asked (S3a): they end
partial, on every wire, however they broke off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import MAKERS, ROWS, TOOLS
from support.pairing import every_pair

import tenuto
from tenuto_sim import Simulator, Step
from tenuto_sim.case import Arguments, Ending, Kind, Say

BREAKS = {
    "reset": Ending.RESET,
    "missing_last_chunk": Ending.CUT_OFF,
    "orderly_end": Ending.DROP,
    "close": Ending.EOF,
}
NOTHING = {"empty": Step(say=Say.NOTHING), "blank": Step(say=Say.WHITESPACE)}


@pytest.fixture(params=MAKERS)
def asker(request: pytest.FixtureRequest) -> Iterator[Any]:
    with Simulator(token_chars=20) as sim:
        made = MAKERS[request.param](sim, tenuto.Policy(**QUICK))
        made.wire = request.param
        yield made
        made.close()


def asked(asker: Any, way: str, **more: Any) -> Any:
    row = ROWS.get(asker.wire, {"role": "user", "content": "Write it."})
    return asker.ask([row], "stream", way, **more)


@pytest.mark.behaviour("S3a", "P1")
@every_pair(
    indirect=["asker"],
    asker=MAKERS,
    broken=BREAKS,
    nothing=NOTHING,
    on_incomplete=["stop", "error"],
)
def test_a_text_that_broke_off_and_is_not_gone_on_with_is_partial(
    asker: Any, broken: str, nothing: str, on_incomplete: Any
) -> None:
    way = "async" if nothing == "blank" and hasattr(asker, "async_client") else "sync"
    asker.wrap(tenuto.Policy(**QUICK, on_incomplete=on_incomplete))
    asker.sim.script([Step(), Step(keep=0.5, ending=BREAKS[broken]), *[NOTHING[nothing]] * 3])
    asked(asker, way)  # so that it has shown how it ends its answers
    said = asked(asker, way)
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "provider_error")
    assert said.error is not None
    assert len(asker.sim.requests) == 4, "it is asked once more, in other words"
    bodies = [request.body for request in asker.sim.requests[1:]]
    assert len(set(bodies)) == 3


@pytest.mark.behaviour("S3a", "S3")
@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize("broken", ["orderly_end", "close"])
def test_what_just_ends_is_shown_as_it_came_where_nobody_knows_how_answers_end(
    asker: Any, broken: str, nothing: str
) -> None:
    asker.sim.script([Step(keep=0.5, ending=BREAKS[broken]), *[NOTHING[nothing]] * 3])
    said = asked(asker, "sync")
    if asker.wire in (*MARKED, "anthropic-messages", "cohere", "cohere-v1"):
        assert asker.ending["status"] == "partial"  # the wire shows an open part, or must end
        return
    assert asker.ending["status"] == "complete"
    assert said.error is None
    assert getattr(said, "finish", None) is None
    assert getattr(said, "stop", None) is None
    assert len(asker.sim.requests) == 2


MARKED = (
    "bedrock-converse",
    "bedrock-invoke",
    "gemini-interactions",
    "openai-responses",
)
"""Wires whose last event says how the answer ended, whoever speaks them."""


@pytest.mark.behaviour("S3a")
@pytest.mark.parametrize("broken", BREAKS)
def test_a_call_that_was_begun_before_a_break_is_owed(asker: Any, broken: str) -> None:
    cut = Step(kind=Kind.PREFACE_CALL, arguments=Arguments.CUT, ending=BREAKS[broken])
    words = Step(kind=Kind.TEXT)
    asker.sim.script([cut, words, words, words])
    asked(asker, "sync", **TOOLS[asker.wire])
    assert asker.ending["status"] == "partial"
