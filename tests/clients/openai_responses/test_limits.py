"""Limits of the output that the provider does not take, and that are therefore never asked for."""

from __future__ import annotations

import pytest
from support.asking.openai_responses import TOOLS

ASK = [{"role": "user", "content": "Tell me."}]
MODES = pytest.mark.parametrize("mode", ["body", "stream"])


@pytest.mark.behaviour("C4", "C17")
@MODES
@pytest.mark.parametrize("limit", [16, 18, 21, 29, 40])
@pytest.mark.parametrize("name", ["length_always", "call_cut_always", "reasoning_only_length"])
def test_what_is_left_of_a_budget_is_not_asked_for_where_it_is_too_small(
    sim, wrapped, mode, limit, name
):
    asker = wrapped(continuation_max_total_completion_tokens=limit * 2 + 9)
    tools = {"tools": TOOLS} if name.startswith("call") else {}
    got = asker.ask(ASK, mode, model=f"sim/{name}", max_output_tokens=limit, **tools)
    asked = [request.json["max_output_tokens"] for request in sim.requests]
    assert all(tokens >= 16 for tokens in asked), asked
    assert all(request.status == 200 for request in sim.requests)
    assert got.error is None or "Tenuto" in str(got.error)
    assert got.error or got.stop == "max_output_tokens"


@pytest.mark.behaviour("C4")
def test_who_asks_for_less_is_answered_as_its_server_does(sim, wrapped):
    got = wrapped().ask(ASK, model="sim/length_always", max_output_tokens=8)
    assert [request.status for request in sim.requests] == [400]
    assert "below minimum" in str(got.error)
