"""Every fault that the simulator knows, through the agent, on every wire that it writes: nothing silent,
nothing harmful, and the conversation goes on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from support.agent_turns import WAYS, WIRES, Asker, cases_of, harm, is_right, simulator, wanted

from tenuto_sim import Case

Askers = Callable[[str, str, bool], Asker]
MOST_REQUESTS = 20
"""More than all ladders can send for the three requests of the longest turn, and for the next one."""

REASONS = {
    "abort": {"cancelled"},
    "blocked_mid_text": {"safety_blocked"},
    "call_cut_always": {"tool_call_truncated"},
    "call_malformed_always": {"tool_call_malformed"},
    "call_missing_always": {"tool_calls_missing"},
    "content_filter": {"safety_blocked", "refused"},
    "content_filter_prompt_400": {"safety_blocked"},
    "context_length_400": {"context_window"},
    "drop_mid_text_always": {"provider_error"},
    "empty_after_tool_result_always": {"empty_after_tool_result"},
    "empty_always": {"empty_output"},
    "exception_validation": {"provider_error"},
    "failed_always": {"provider_error"},
    "failed_policy": {"safety_blocked"},
    "guardrail": {"safety_blocked"},
    "http_400_unknown_key": {"provider_error"},
    "http_503_always": {"provider_error"},
    "http_529_always": {"provider_error"},
    "in_progress": {"background"},
    "length_always": {"retry_limit", "runaway", "budget_exhausted"},
    "length_context": {"retry_limit", "context_window", "runaway"},
    "length_then_500": {"provider_error"},
    "length_then_drop": {"provider_error"},
    "length_then_empty": {"empty_output"},
    "length_then_filter": {"safety_blocked", "refused"},
    "length_then_repeat": {"runaway"},
    "malformed_function_call_always": {"tool_call_malformed"},
    "missing_thought_signature": {"provider_error"},
    "model_length": {"context_window"},
    "other_mid_text": {"unknown_stop"},
    "pause_turn_always": {"paused"},
    "prompt_blocked": {"safety_blocked"},
    "recitation": {"safety_blocked"},
    "refusal": {"refused", "safety_blocked"},
    "safety_empty": {"safety_blocked"},
    "think_then_call_cut_always": {"tool_call_truncated"},
    "too_many_tool_calls": {"provider_error"},
    "unknown_status": {"unknown_stop"},
    "unknown_stop": {"unknown_stop"},
    "unknown_stop_control": {"unknown_stop"},
}
"""What is true of a case that cannot be recovered. "runaway": halving an answer again and again ends
in continuations of one character, and where that is a space, nothing new was said."""

MARKS_ENDS = {"ollama": {"host_marks_nothing", "host_closes"}}
"""Hosts that the agent knows to mark the ends of their streams, as it names their provider. An answer
of such a host without a mark was cut, however whole it looks."""


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    """The askers of a wire, by their mode and whether they are watched. Those of the one before are
    closed: its tests are over."""
    with ExitStack() as stack:
        made: dict[tuple[str, str, bool], Asker] = {}

        def of(wire: str, mode: str, watched: bool) -> Asker:
            if (wire, mode, watched) not in made:
                stack.close()
                made.clear()
                sim = stack.enter_context(simulator(wire))
                for each, seen in itertools.product(("body", "stream"), (True, False)):
                    asker = Asker(sim, wire, stream=each == "stream", watched=seen)
                    made[wire, each, seen] = asker
                    stack.callback(asker.close)
            return made[wire, mode, watched]

        yield of


def meeting(*, every: bool = False) -> pytest.MarkDecorator:
    """Of every three cases of a wire one, another one on the next wire: all of them are heavy."""
    found = [
        (wire, number, case)
        for place, wire in enumerate(WIRES)
        for number, case in enumerate(cases_of(wire).values())
        if every or number % 3 == place % 3
    ]
    ids = [f"{wire}-{case.name}" for wire, _, case in found]
    return pytest.mark.parametrize(("wire", "number", "case"), found, ids=ids)


def one_of(number: int, case: Case) -> tuple[str, str, bool]:
    """One of the eight ways to run a case, another one for the next: all of them are heavy."""
    modes = sorted(case.modes)
    return modes[number // 2 % len(modes)], WAYS[number % 2], number // 4 % 2 == 0


def judge(asker: Asker, case: Case, way: str) -> None:
    turn = asker.meet(case, way, second_tool=way == "async")
    text, calls = wanted(asker.sim, turn, case)
    assert not list(harm(turn, calls))
    assert len(turn.requests) <= MOST_REQUESTS
    result = turn.result
    if result.ok:
        suspected = result.stop is not None and "suspected_truncation" in result.stop.anomalies
        assert suspected or is_right(turn, text, calls, watched=asker.watched)
        assert result.reason == "completed"
    else:
        cut = case.name in MARKS_ENDS.get(asker.wire, ())
        assert cut or not case.recoverable
        assert result.reason in ({"provider_error"} if cut else REASONS[case.name])
        assert result.text == turn.told() or not asker.watched


_PROVED = pytest.mark.behaviour(
    "T1", "T3", "T4", "T8", "T12", "T13", "T14", "E1", "E8", "H4", "H9", "S3"
)


@_PROVED
@meeting()
def test_an_agent_recovers_or_says_truly_why_not_and_its_conversation_goes_on(
    askers: Askers, wire: str, number: int, case: Case
) -> None:
    mode, way, watched = one_of(number, case)
    judge(askers(wire, mode, watched), case, way)


@pytest.mark.heavy
@_PROVED
@meeting(every=True)
def test_an_agent_recovers_or_says_truly_why_not_in_every_mode_and_way(
    askers: Askers, wire: str, number: int, case: Case
) -> None:
    for mode, way, watched in itertools.product(sorted(case.modes), WAYS, (True, False)):
        judge(askers(wire, mode, watched), case, way)
