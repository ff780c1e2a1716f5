"""`decide`: the machine's decision for a stop of one's own, without a turn."""

from __future__ import annotations

from typing import Any

import openai
import pytest

import tenuto
from tenuto import Confidence, Context, Decision, Policy, PolicyError, Stop, StopReason, decide
from tenuto.core.deciding.ladders import LADDERS
from tenuto.core.deciding.view import Budget
from tenuto_sim import Simulator, Step

R = StopReason
TEXT = "The tide comes in twi"

ROWS: list[tuple[Stop, dict[str, Any], str, str, bool, str]] = [
    (Stop(R.END_TURN), {"text": "Whole."}, "done", "", False, "none"),
    (Stop(R.MAX_TOKENS), {"text": TEXT}, "text_cut", "continue_with_hint", True, "retry"),
    (Stop(R.MAX_TOKENS), {"text": TEXT, "prefill": True}, "text_cut", "continue_with_prefill", True, "retry"),
    (Stop(R.MAX_TOKENS), {"text": TEXT, "spent": {"continuation": 3}}, "text_cut", "", False, "increase_budget"),
    (Stop(R.MAX_TOKENS), {"reasoning": "Hm"}, "thinking_cut", "raise_limit_and_reason_less", True, "retry"),
    (Stop(R.MAX_TOKENS, broken="truncated"), {}, "arguments_cut", "ask_for_call_again", True, "retry"),
    (Stop(R.TOOL_CALL), {"calls": ("f", "g")}, "done", "", False, "none"),
    (Stop(R.TOOL_CALL, broken="malformed"), {"calls": ("f",)}, "arguments_malformed", "ask_for_call_again", True, "retry"),
    (Stop(R.END_TURN), {}, "empty", "ask_again", True, "retry"),
    (Stop(R.END_TURN), {"after_tool_result": True}, "empty", "nudge_after_tool_result", True, "retry"),
    (Stop(R.DROPPED), {}, "dropped", "send_again", True, "retry"),
    (Stop(R.DROPPED), {"text": TEXT}, "dropped", "resume_with_hint", True, "retry"),
    (Stop(R.ERROR, detail="overloaded"), {}, "fault", "send_again", True, "retry"),
    (Stop(R.ERROR, detail="overloaded"), {"retry_after_s": 9_000.0}, "fault", "", False, "retry"),
    (Stop(R.ERROR, detail="authentication"), {}, "fault", "", False, "stop"),
    (Stop(R.ERROR), {}, "fault", "send_again", True, "retry"),
    # With a code that no table knows, as `detect` tells it.
    (Stop(R.ERROR, raw="E1", confidence=Confidence.MEDIUM), {}, "fault", "", False, "stop"),
    # What `detect` says of things that are not one answer.
    *((Stop(R.UNKNOWN, detail=d), {}, "unknown", "", False, "stop") for d in ("no_answer", "unread", "needs_wire", "several_answers")),
    (Stop(R.SAFETY_BLOCKED), {"text": TEXT}, "blocked", "", False, "modify_prompt"),
    (Stop(R.REFUSAL), {}, "refused", "", False, "modify_prompt"),
    (Stop(R.CONTEXT_WINDOW_EXCEEDED), {}, "overflow", "", False, "modify_prompt"),
    (Stop(R.UNKNOWN, raw="brand_new"), {"text": TEXT}, "unknown", "", False, "stop"),
    (Stop(R.CANCELLED), {"text": TEXT}, "cancelled", "", False, "retry"),
    (Stop(R.MAX_TOKENS), {"text": TEXT, "elapsed_s": 10_000.0}, "text_cut", "", False, "increase_budget"),
]  # fmt: skip


@pytest.mark.behaviour("P2")
@pytest.mark.parametrize("row", ROWS, ids=[f"{n}-{row[2]}" for n, row in enumerate(ROWS)])
def test_a_stop_of_ones_own_has_the_decision_of_the_machine(row: Any) -> None:
    stop, known, outcome, rung, proceed, suggestion = row
    policy = Policy(turn_timeout_s=600)
    told = decide(stop, Context(**known), policy)
    assert (told.outcome, told.rung, told.proceed) == (outcome, rung, proceed)
    assert (told.suggestion, told.stop) == (suggestion, stop)
    assert told.why.startswith(f"{outcome}: ")
    assert not rung or rung in {one.id for one in LADDERS[told.outcome]}  # type: ignore[index]


@pytest.mark.behaviour("P2")
def test_the_policy_and_its_own_word_count() -> None:
    cut, text = Stop(R.MAX_TOKENS), Context(text=TEXT, provider="acme", model="m")
    assert not decide(cut, text, Policy(continuation_max_attempts=0)).proceed
    asked: list[Decision] = []

    def stop(decision: Decision) -> str:
        asked.append(decision)
        return "stop"

    assert not decide(cut, text, Policy(decide=stop)).proceed
    assert [(one.provider, one.model, one.chars) for one in asked] == [("acme", "m", len(TEXT))]


@pytest.mark.behaviour("P2", "P3a")
def test_names_that_are_not_known_are_refused() -> None:
    with pytest.raises(PolicyError, match="continuations is not a budget; the nearest are contin"):
        Context(spent={"continuations": 1})
    with pytest.raises(PolicyError, match=r"max_tokns is not .* the nearest are max_tokens"):
        Context(max_tokns=5)  # type: ignore[call-arg]


@pytest.mark.behaviour("P2")
@pytest.mark.parametrize("step", [Step(keep=0.5, finish="length"), Step()], ids=["cut", "whole"])
def test_it_says_what_a_turn_then_does(step: Step) -> None:
    seen: list[Decision] = []
    with Simulator() as sim:
        sim.script([step, Step()])
        bare = openai.OpenAI(base_url=sim.base_url, api_key="k")
        client = tenuto.wrap(bare, policy=Policy(decide=seen.append))
        row: Any = {"role": "user", "content": "Why?"}
        with client:
            client.chat.completions.create(model="m", messages=[row], max_tokens=500)
        first = seen[0]
        assert first.stop is not None
        context = Context(
            text="x y" * first.chars, max_tokens=500, output_tokens=first.output_tokens
        )
        told = decide(first.stop, context)
    assert first.stop.confidence is Confidence.HIGH
    assert (told.outcome, told.rung, told.proceed) == (first.outcome, first.rung, first.proceed)
    assert set(Context().spent) <= set(Budget)
