"""Limits: made, changed, around a block, and decided in the program."""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import tenuto


def make() -> None:
    assert_type(tenuto.Policy(), tenuto.Policy)
    assert_type(tenuto.Policy.for_agents(), tenuto.Policy)
    assert_type(tenuto.Policy.for_chat(continuation_max_attempts=1), tenuto.Policy)
    assert_type(tenuto.Policy.for_batch(), tenuto.Policy)
    assert_type(tenuto.Policy().changed({"empty_retries": 0}), tenuto.Policy)
    assert_type(tenuto.load_policy(Path()), tenuto.Policy)
    policy = tenuto.Policy(
        on_incomplete="error",
        hard_max_tokens=2_000,
        providers={"openai": {"empty_retries": 0}},
    )
    assert_type(policy.hard_max_tokens, int | None)
    assert_type(policy.turn_timeout_s, float)


def refused() -> None:
    tenuto.Policy(3)  # type: ignore[call-arg, arg-type]
    tenuto.Policy(empty_retries="two")  # type: ignore[arg-type]
    tenuto.Policy(on_incomplete="fail")  # type: ignore[arg-type]
    tenuto.Policy(retries=1)  # type: ignore[call-arg]
    tenuto.Policy().empty_retries = 0  # type: ignore[misc]


def a_block() -> int:
    with tenuto.policy(on_incomplete="error") as nothing:
        assert_type(nothing, None)
        return 1


def decide(decision: tenuto.Decision) -> str | None:
    assert_type(decision.outcome, str)
    assert_type(decision.stop, tenuto.Stop | None)
    assert_type(decision.output_tokens, int)
    return "too dear" if decision.output_tokens > 1_000 else None


def number(decision: tenuto.Decision) -> int:
    return decision.attempts


def decided() -> None:
    tenuto.Policy(decide=decide)
    tenuto.Policy(decide=number)  # type: ignore[arg-type]
