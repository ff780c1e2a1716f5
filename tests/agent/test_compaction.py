"""A conversation that has become too long is shortened (H7, H8)."""

import json
import time
from collections.abc import Iterator, Sequence

import pytest
from agent.simulated import WIRES, agent, model

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.signals import Usage
from tenuto.core.events.report import Report
from tenuto.wires.answer import Answer
from tenuto_agent import Conversation, Limits, Model, loop_hints
from tenuto_agent.compaction import planned
from tenuto_agent.events import AgentEvent, Compacted, Returned
from tenuto_agent.loop import Ask, Loop
from tenuto_agent.requests import Setup
from tenuto_agent.transcript import Assistant, Result, Results, Row, Transcript, User
from tenuto_sim import Simulator

PROMPT = "How are tides made?"
WINDOW = 1_200


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


def turn(number: int, chars: int = 600) -> list[Row]:
    call = ToolCall(f"call_{number:04}", "write_file", '{"path": "a.txt"}', Finding.WHOLE)
    result = Result(call.id, call.name, "word " * (chars // 5))
    return [
        User(f"Question {number}"),
        Assistant("", (call,)),
        Results((result,)),
        Assistant(f"Answer {number}"),
    ]


def turns(count: int, chars: int = 600) -> list[Row]:
    return [row for number in range(count) for row in turn(number, chars)]


def shortened(told: Sequence[AgentEvent]) -> list[bool]:
    return [event.summarized for event in told if isinstance(event, Compacted)]


def ended(chat: Conversation) -> tuple[str, str]:
    assert chat.result is not None
    return chat.result.status, chat.result.reason


@pytest.mark.behaviour("H7", "H8", "H9")
@pytest.mark.parametrize("wire", WIRES)
def test_a_long_conversation_is_shortened_and_goes_on_by_the_rules_of_its_wire(
    sim: Simulator, wire: str
) -> None:
    before = len(sim.requests)
    with agent(model(sim, wire, "normal", context_window_tokens=WINDOW)) as asked:
        chat = asked.conversation(turns(20))
        told = [event for number in range(9) for event in chat.stream(f"{PROMPT} ({number})")]
        assert shortened(told)[0]
        assert len(shortened(told)) >= 2  # and again, as it grows
        assert ended(chat) == ("complete", "completed")
        assert "Question 0" not in str(chat.rows)
        assert {request.status for request in sim.requests[before:]} == {200}
        largest = max(len(request.body) for request in sim.requests[before + 1 :])
        assert largest < WINDOW * 4 * 1.2


@pytest.mark.behaviour("H7")
def test_pending_calls_and_the_running_turn_stay_in_the_middle_of_a_turn(sim: Simulator) -> None:
    def write_file(path: str, content: str) -> str:
        return "word " * 1_400

    headers = {"x-sim-fault": "tool"}
    asks = model(sim, "anthropic-messages", headers=headers, context_window_tokens=2_000)
    with agent(asks, tools=[write_file]) as asked:
        chat = asked.conversation([User("Hello."), Assistant("word " * 120)] * 4)
        told = []
        for event in chat.stream(PROMPT):
            told.append(event)
            if isinstance(event, Returned):
                headers["x-sim-fault"] = "normal"  # whom the record is asked of has no tools
    assert shortened(told) == [True]
    assert ended(chat) == ("complete", "completed")
    last = json.loads(sim.requests[-1].body)["messages"]
    assert last[-1]["content"][0]["type"] == "tool_result"  # the call of this turn and its result
    assert last[-2]["content"][-1]["id"] == last[-1]["content"][0]["tool_use_id"]
    assert PROMPT in str(last)


@pytest.mark.behaviour("H7")
@pytest.mark.parametrize(("case", "had"), [("length_once", True), ("length_always", False)])
def test_a_record_that_was_cut_is_finished_or_left_out(
    sim: Simulator, case: str, had: bool
) -> None:
    headers = {"x-sim-fault": case}
    with agent(model(sim, "openai-chat", headers=headers, context_window_tokens=WINDOW)) as asked:
        chat = asked.conversation(turns(20))
        told = []
        for event in chat.stream(PROMPT):
            told.append(event)
            headers["x-sim-fault"] = "normal"
    assert shortened(told) == [had]
    first = chat.rows[0]
    assert isinstance(first, User)
    assert (loop_hints.NO_SUMMARY in first.text) is not had
    if had:
        assert sim.expected(PROMPT, case).text[-40:] in first.text or len(first.text) > 300


@pytest.mark.behaviour("H8", "P5")
def test_an_overflow_shortens_the_conversation_and_the_step_is_asked_once_more(
    sim: Simulator,
) -> None:
    before = len(sim.requests)
    headers = {"x-sim-fault": "context_length_400"}
    with agent(model(sim, "openai-chat", headers=headers)) as asked:
        chat = asked.conversation(turns(5))
        told = []
        for event in chat.stream(PROMPT):
            told.append(event)
            if isinstance(event, Compacted):
                headers["x-sim-fault"] = "normal"
        assert shortened(told) == [False]
        assert ended(chat) == ("complete", "completed")
        assert [r.status for r in sim.requests[before:]] == [400, 400, 200]
        headers["x-sim-fault"] = "context_length_400"
        before = len(sim.requests)
        assert shortened(list(chat.stream(PROMPT))) == [False]
        assert ended(chat) == ("failed", "context_window")
        assert [r.status for r in sim.requests[before:]] == [400, 400, 400]


@pytest.mark.behaviour("H7")
def test_a_short_conversation_is_left_alone(sim: Simulator) -> None:
    before = len(sim.requests)
    with agent(model(sim, "openai-chat", "normal", context_window_tokens=10)) as asked:
        chat = asked.conversation()
        assert shortened(list(chat.stream(PROMPT))) == []
        assert len(sim.requests) == before + 1


@pytest.mark.behaviour("H7")
@pytest.mark.parametrize(("told", "long"), [(500, False), (5_000, True), (None, True)])
def test_usage_counts_before_an_estimate_also_in_the_next_turn(
    told: int | None, long: bool
) -> None:
    asks = Model("openai-chat:m", base_url="http://localhost/v1", context_window_tokens=3_000)
    setup = Setup([asks], "", (), {}, Limits(), False, time.monotonic)
    loop = Loop(setup, Transcript([User("word " * 2_500), Assistant("Yes.")]))

    def quiet() -> list[bool]:
        asked = []
        for command in loop.run("Go on."):
            if isinstance(command, Ask):
                asked.append(command.quiet)
                usage = Usage(told, 0) if told is not None else None
                report = Report("complete", "completed", None, (usage,), "stop")
                command.context.ended(report, Answer("Yes."), None, {})
        return asked

    assert quiet() == [False]  # too short for being shortened, whatever its size
    assert quiet() == ([True, False] if long else [False])


@pytest.mark.behaviour("H7")
def test_a_plan_keeps_whole_steps_and_what_fits() -> None:
    rows = [User("Go."), *(row for n in range(12) for row in turn(n)[1:3])]
    for limit in (10_000, 1_500, 0):
        plan = planned(rows, limit)
        assert plan is not None
        assert plan.task == "Go."
        Transcript(plan.with_summary("All well."))  # what cannot stand there raises
        assert [type(row) for row in plan.kept[:2]] == [Assistant, Results]
    assert plan is not None
    assert len(plan.kept) == 2
