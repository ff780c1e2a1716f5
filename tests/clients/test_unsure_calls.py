"""Calls that nobody can vouch for, on every wire, through the official SDKs: they parse, but the
stop beside them is a value that no table knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import MAKERS
from support.pairing import every_pair

import tenuto
from tenuto_sim import Bare, Case, Simulator
from tenuto_sim.case import Kind, Step

NEW = "brand_new"
both = pytest.mark.parametrize("mode", ["body", "stream"])
ASKED = Case("normal", (), "Asks with tools.", bare=Bare.FINE, wants_tools=True)


@pytest.fixture(params=["stop", "error"])
def policy(request: pytest.FixtureRequest) -> tenuto.Policy:
    return tenuto.Policy(on_incomplete=request.param, **QUICK)


@pytest.fixture
def asker(sim: Simulator, policy: tenuto.Policy, wire: str) -> Iterator[Any]:
    made = MAKERS[wire](sim, policy)
    yield made
    made.close()


@pytest.mark.behaviour("N1", "N7a", "P1a", "T16")
@pytest.mark.filterwarnings("ignore:brand_new is not a valid FinishReason")
@every_pair(
    indirect=["policy"],
    wire=sorted(MAKERS),
    mode=["body", "stream"],
    kind=[Kind.CALL, Kind.PREFACE_CALL],
    policy=["stop", "error"],
)
def test_whole_calls_beside_a_stop_that_nobody_knows_are_not_handed_on(
    sim: Simulator, policy: tenuto.Policy, asker: Any, mode: str, kind: Kind
) -> None:
    sim.script([Step(kind=kind, finish=NEW)])
    said = asker.ask_case(ASKED, mode)
    assert said.calls == []
    assert len(sim.requests) == 1
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "unknown_stop")
    if policy.on_incomplete == "error":
        assert said.error is not None
        assert "unknown stop" in str(said.error).replace("_", " ")  # or its code
    else:
        assert said.error is None
        assert NEW in (getattr(said, "stop", None), getattr(said, "finish", None))
        assert bool(said.text) == (kind is Kind.PREFACE_CALL)


@pytest.mark.behaviour("N1a", "T3", "T5")
@pytest.mark.parametrize("wire", ["openai-responses"])
@both
def test_a_response_that_is_incomplete_without_a_reason_is_cut_and_its_calls_are_asked_for_again(
    sim: Simulator, policy: tenuto.Policy, asker: Any, mode: str
) -> None:
    """By its word: whatever the reason was, it is not whole."""
    sim.script([Step(kind=Kind.CALL, finish="incomplete"), Step(kind=Kind.CALL)])
    said = asker.ask_case(ASKED, mode)
    assert len(sim.requests) == 2
    assert (said.error, len(said.calls), asker.ending["status"]) == (None, 1, "complete")
