"""What a recovery costs: seldom more than the whole answer would have, and nothing that the client
said is sent in other words, so that prompt caches hit."""

from __future__ import annotations

import functools

import pytest
from support.pairing import matrix, param
from support.spending import WORLDS, Cost, World, asked_again, costs, spread

MOST_TIMES = 1.1

worlds = matrix(
    "world",
    # Each wire and each kind of model once; all of them are heavy.
    [param(w, heavy=n in (1, 2), id=f"{w.wire} {w.model}") for n, w in enumerate(WORLDS)],
)


@functools.cache
def measured(world: World) -> tuple[Cost, ...]:
    return tuple(costs(world))


@pytest.mark.slow
@pytest.mark.behaviour("C7", "C17a", "C19")
@worlds
def test_a_recovery_bills_little_more_than_the_uncut_answer_and_keeps_every_row(world):
    every = measured(world)
    assert {cost.ended for cost in every} == {"complete"}
    again = asked_again(every)
    print(f"\n{world.wire}, {world.model}")
    print(f"  all: {spread(every)}")
    print(f"  asked again: {spread(again)}")
    assert spread(every).median <= MOST_TIMES
    assert spread(again).median <= MOST_TIMES
    shared = [shared for cost in every for shared in cost.shared]
    assert [cost.name for cost in every if not all(s.rows_identical for s in cost.shared)] == []
    assert [cost.name for cost in every if not all(s.head_identical for s in cost.shared)] == []
    sent = sum(s.messages_bytes for s in shared)
    print(f"  identical: {sum(s.common_bytes for s in shared) / sent:.0%} of {sent:,} bytes")
    print(f"  input billed again: {sum(cost.further_input_tokens for cost in every):,} tokens")
    cut = next(cost for cost in every if cost.name == "length_once (stream)")
    assert cut.prefills == world.prefill
