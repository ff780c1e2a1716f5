"""What recovery is the loop's own: hints and synthetic results of tools, budgets of a turn that is more
than one request, other models, and attempts that nobody below would repeat."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from support.agent_turns import POLICY, Asker, simulator
from support.pairing import every_pair

from tenuto.core import hints
from tenuto_agent import Agent, Limits, Model, loop_hints, tool
from tenuto_agent.events import Called, Recovered, Returned, Switched
from tenuto_agent.transcript import Assistant, Results, User
from tenuto_sim import STEPS, Simulator, Step, saying
from tenuto_sim.case import Arguments, Say

FIVE = (
    "openai-chat",
    "anthropic-messages",
    "gemini-generate",
    "openai-responses",
    "bedrock-converse",
)
"""Histories of five different forms."""
MAX = Step(arguments=Arguments.CUT, finish="length")
EMPTY = Step(say=Say.NOTHING)
BLANK = Step(say=Say.WHITESPACE)
BLOCKED = Step(keep=0, finish="content_filter")
TOOL = Step()
WORDS = "Some words of a file. " * 20
WRITE = [
    saying(f"File {n}.", ("write_file", {"path": f"{n}.txt", "content": WORDS})) for n in range(3)
]
DONE = saying("All is written.")

every_wire = pytest.mark.parametrize("wire", FIVE)
every_mode = pytest.mark.parametrize("mode", ["body", "stream"])


@contextmanager
def playing(wire: str, mode: str, answers: Any, *steps: Step) -> Iterator[Asker]:
    """An agent whose model has this to say, and whose requests meet these faults."""
    with simulator(wire) as sim:
        sim.plan(answers, lambda number, _: steps[number] if number < len(steps) else Step())
        asker = Asker(sim, wire, stream=mode == "stream")
        with closing(asker):
            yield asker


def holding(asker: Asker, text: str) -> list[int]:
    """The numbers of the requests that hold a text."""
    quoted = json.dumps(text)[1:-1].encode()
    plain = json.dumps(text, ensure_ascii=False)[1:-1].encode()
    return [n for n, r in enumerate(asker.sim.requests) if quoted in r.body or plain in r.body]


@pytest.mark.behaviour("T7")
@every_wire
@every_mode
def test_cut_calls_with_good_ones_between_do_not_end_a_turn(wire: str, mode: str) -> None:
    steps = (MAX, TOOL, MAX, TOOL, MAX, TOOL)
    with playing(wire, mode, [*WRITE, DONE], *steps) as asker:
        result = asker.agent("write_file").run("Write three files.")
        assert (result.status, result.text, result.steps) == ("complete", "All is written.", 4)
        assert [given["path"] for _, given in asker.ran] == ["0.txt", "1.txt", "2.txt"]
        assert {request.status for request in asker.sim.requests} == {200}


@pytest.mark.behaviour("T5", "T7", "T8")
@every_wire
@every_mode
def test_cut_calls_in_a_row_end_it_and_the_next_turn_goes_on(wire: str, mode: str) -> None:
    with playing(wire, mode, [WRITE[0], DONE], *[MAX] * 4) as asker:
        chat = asker.agent("write_file").conversation()
        result = chat.run("Write a file.")
        assert (result.status, result.reason) == ("partial", "tool_call_truncated")
        assert len(asker.sim.requests) == 4, "the request, one re-emission, two answers"
        assert not asker.ran
        assert chat.run("Try again.").ok
        assert len(asker.ran) == 1
        assert {request.status for request in asker.sim.requests} == {200}


@pytest.mark.behaviour("T3", "T4")
@every_wire
@every_mode
def test_a_whole_call_of_a_batch_that_stays_cut_does_not_run(wire: str, mode: str) -> None:
    two = [("write_file", {"path": f"{n}.txt", "content": WORDS}) for n in range(2)]
    both = saying("Two files.", *two)
    with playing(wire, mode, [both, DONE], *[Step(finish="length")] * 4) as asker:
        result = asker.agent("write_file").run("Write two files.")
        assert (result.status, result.reason) == ("partial", "tool_call_truncated")
        assert not asker.ran


@pytest.mark.behaviour("T6", "T9", "H6")
@every_wire
@every_mode
def test_each_tool_has_its_hint_and_watchers_see_the_results_that_are_none_of_a_tools(
    wire: str, mode: str
) -> None:
    @tool(truncated_call_hint="Error: write fewer lines.")
    def write(path: str, content: str) -> str:
        """Write a file."""
        return "Written."

    @tool(truncated_call_hint="Error: search for less.")
    def search(words: str) -> str:
        """Search."""
        return "Found."

    both = saying(
        "Both.",
        ("write", {"path": "a.txt", "content": WORDS}),
        ("search", {"words": WORDS}),
    )
    with playing(wire, mode, [both, DONE], MAX, MAX) as asker:
        events: list[Any] = []
        stream = mode == "stream"
        with Agent(
            asker.model(),
            tools=[write, search],
            policy=POLICY,
            on_event=events.append,
            stream=stream,
        ) as agent:
            chat = agent.conversation()
            assert chat.run("Do both.").ok
        answered = [n for n in range(4) if n in holding(asker, "Error: write fewer lines.")]
        assert answered == holding(asker, "Error: search for less.") == [2]
        assert asker.sim.requests[2].body.count(b"Error: ") == 2
        assert not holding(asker, hints.CALL_CUT_RESULT)
        called = [e for e in events if isinstance(e, Called)]
        returned = [e for e in events if isinstance(e, Returned)]
        assert [e.synthetic for e in called] == [True, True, False, False]
        assert all(c.call is r.call for c, r in zip(called, returned, strict=True))
        assert {(e.step, e.result.failed) for e in returned if e.synthetic} == {(1, True)}
        assert {e.step for e in called} == {1}
        assert [e.call.name for e in called] == ["write", "search"] * 2
        assert [type(row) for row in chat.rows] == [User, Assistant, Results, Assistant]
        kept = chat.rows[2]
        assert isinstance(kept, Results)
        assert [r.text for r in kept.results] == ["Written.", "Found."]


@pytest.mark.behaviour("E3", "E11", "T8")
@every_wire
@every_mode
def test_one_nudge_a_turn_follows_empty_answers_to_results(wire: str, mode: str) -> None:
    with playing(wire, mode, [*WRITE[:2], DONE], TOOL, EMPTY, TOOL, EMPTY) as asker:
        chat = asker.agent("write_file").conversation()
        result = chat.run("Write two files.")
        assert (result.status, result.reason) == ("partial", "empty_after_tool_result")
        assert holding(asker, hints.AFTER_TOOL_RESULT) == [2]
        assert len(asker.sim.requests) == 4
        assert [given["path"] for _, given in asker.ran] == ["0.txt", "1.txt"]
        assert chat.run("And?").text == "All is written."


@pytest.mark.behaviour("E2", "E5", "E10", "E6")
@every_wire
@pytest.mark.parametrize(
    ("tools", "blank", "requests"),
    [((), BLANK, 4), ((), EMPTY, 2), (("write_file",), BLANK, 5)],
    ids=["no tools", "provably nothing", "tools"],
)
def test_empty_answers_are_asked_for_again_as_often_as_it_may_help(
    wire: str, tools: tuple[str, ...], blank: Step, requests: int
) -> None:
    with playing(wire, "body", [DONE], *[blank] * 9) as asker:
        chat = asker.agent(*tools).conversation()
        result = chat.run("Say something.")
        assert (result.status, result.reason) == ("failed", "empty_output")
        assert not result.text.strip()
        if blank is EMPTY and wire == "gemini-generate":
            requests = 4  # it does not say that nothing was made
        assert len(asker.sim.requests) == requests
        assert holding(asker, hints.EMPTY_WITH_TOOLS) == ([1] if tools else [])
        bodies = [request.body for request in asker.sim.requests]
        assert all(a != b for a, b in itertools.pairwise(bodies)), "a retry differs"
    with playing(wire, "body", [DONE], blank, blank) as asker:
        agent = Agent(asker.model(), stream=False, policy=replace(POLICY, empty_recovery=False))
        with agent:
            assert agent.run("Say something.").reason == "empty_output"
        assert len(asker.sim.requests) == 1


def test_an_agent_tries_three_times_where_no_policy_is_given() -> None:
    with Simulator() as sim:
        assert Agent(Asker(sim, "openai-chat", stream=True).model())._kit._policy.empty_retries == 3


@pytest.mark.behaviour("E12", "P4")
@every_wire
@every_mode
def test_a_refusal_goes_to_one_other_model_and_never_back_to_the_same(wire: str, mode: str) -> None:
    with simulator(wire) as sim:
        first = Asker(sim, wire, stream=mode == "stream").model()
        models = [replace(first, name=f"{first.name}-{name}") for name in "abc"]
        events: list[Any] = []
        stream = mode == "stream"
        with Agent(models, policy=POLICY, stream=stream, on_event=events.append) as agent:
            chat = agent.conversation()
            sim.script([BLOCKED])
            result = chat.run("How are tides made?")
            assert (result.status, result.text) == ("complete", sim.answer("How are tides made?"))
            (switched,) = [e for e in events if isinstance(e, Switched)]
            assert switched.model == models[1].name
            assert switched.why in ("refused", "safety_blocked")
            assert len(sim.requests) == 2
            events.clear()
            assert chat.run("And the moon?").ok
            assert len(sim.requests) == 3
            assert not [e for e in events if isinstance(e, Switched)], "the first is asked again"
            sim.script([BLOCKED, BLOCKED])
            result = chat.run("And the sun?")
            assert result.status == "failed"
            assert result.reason in ("refused", "safety_blocked")
            assert len(sim.requests) == 5, "the third is not asked"


# --- nobody below tries again -----------------------------------------------------------------


@pytest.mark.behaviour("P1b", "P5")
@every_pair(wire=FIVE, mode=["body", "stream"], fault=["500", "429", "503"])
def test_a_status_at_the_first_attempt_is_retried(wire: str, mode: str, fault: str) -> None:
    with playing(wire, mode, [DONE], STEPS[fault]) as asker:
        policy = POLICY
        with Agent(asker.model(), policy=policy, stream=mode == "stream") as agent:
            assert agent.run("Go.").text == "All is written."
        assert [request.status for request in asker.sim.requests][1:] == [200]


@pytest.mark.behaviour("P1b", "P5")
def test_who_asks_for_a_wait_is_asked_again_after_it() -> None:
    with playing("openai-chat", "stream", [DONE], STEPS["429"]) as asker:
        policy = replace(POLICY, backoff_s=0.0)
        heard: list[Any] = []
        with Agent(asker.model(), policy=policy, on_event=heard.append) as agent:
            assert agent.run("Go.").ok
        told = [e.event for e in heard if isinstance(e, Recovered)]
        assert [event.data["wait_s"] for event in told if event.name == "fault"] == [1.0]


@pytest.mark.behaviour("P1b")
@every_mode
def test_a_refused_connection_is_tried_again_and_raises_nothing(way: str, mode: str) -> None:
    with Simulator() as sim:
        port = int(sim.root_url.rpartition(":")[2])
        asker = Asker(sim, "openai-chat", stream=mode == "stream")
        chat = asker.agent().conversation()
    result = asker.said(chat, "Go.", way)
    assert (result.status, result.reason, result.text) == ("failed", "provider_error", "")
    assert result.fault is not None
    assert result.fault.kind.value == "connection"
    assert result.report is not None
    assert result.report.attempts > 1
    with Simulator(port):
        assert asker.said(chat, "Go.", way).ok
    asker.close()


@pytest.mark.behaviour("C29")
def test_a_tool_that_outlasts_the_turns_time_is_given_up_and_no_step_follows(way: str) -> None:
    ended = threading.Event()

    def wait_for_the_tide() -> str:
        """Wait."""
        ended.wait(20)
        return "It is here."

    answers = [saying("I wait.", ("wait_for_the_tide", {})), DONE]
    with playing("openai-chat", "stream", answers) as asker:
        model = Model("openai-chat:m", base_url=asker.sim.base_url)
        agent = Agent(model, tools=[wait_for_the_tide], limits=Limits(timeout_s=0.5), policy=POLICY)
        with agent:
            chat = agent.conversation()
            result = chat.run("Wait.") if way == "sync" else asyncio.run(chat.arun("Wait."))
        ended.set()
        assert (result.status, result.reason, result.steps) == ("partial", "time_limit", 1)
        assert next(row for row in result.rows if isinstance(row, Results)).results[0].failed
        assert len(asker.sim.requests) == 1


@pytest.mark.behaviour("P8a")
@every_wire
@every_mode
def test_a_call_that_comes_to_the_same_again_and_again_is_told_once_and_then_ended(
    wire: str, mode: str
) -> None:
    note = loop_hints.REPEATED_CALL.format(times=3)
    with playing(wire, mode, [WRITE[0]] * 9) as asker:
        chat = asker.agent("write_file").conversation()
        result = chat.run("Write a file.")
        assert (result.status, result.reason) == ("partial", "repeated_call")
        assert len(asker.ran) == 5, "told after the third, ended two later"
        assert holding(asker, note) == [3, 4]
        assert all(r.body.count(note[1:40].encode()) == 1 for r in asker.sim.requests[3:5])
        assert {request.status for request in asker.sim.requests} == {200}
    with playing(wire, mode, [WRITE[0], WRITE[0], WRITE[1], WRITE[0], DONE]) as asker:
        assert asker.agent("write_file").run("Write three files.").ok
        assert holding(asker, note) == []
