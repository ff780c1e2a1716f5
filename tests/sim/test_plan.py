"""A worker that was told what to say says each answer until it has come through."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenuto_sim import Simulator, Step, Wanted, saying
from tenuto_sim.case import Arguments, Ending
from tenuto_sim.exchange import Exchange
from tenuto_sim.plan import Plan

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
USER = {"role": "user", "content": "Go."}
ANSWERS = [saying("I look.", ("look", {"at": "é"}), ("look", {"at": "b"})), saying("Seen.")]
CUT = Step(arguments=Arguments.CUT, finish="length")
DROP = Step(ending=Ending.DROP)


def ask(made: Exchange, messages: list[Any], **more: Any) -> Any:
    body = {"model": "sim", "messages": messages, "tools": TOOLS, **more}
    return made.answer("POST", "/v1/chat/completions", {}, json.dumps(body).encode())


def message_of(answer: Any) -> Any:
    assert answer.status == 200, answer.body
    return json.loads(answer.body)["choices"][0]["message"]


def with_results(message: Any, result: str = "ok") -> list[Any]:
    message = {name: message[name] for name in ("role", "content", "tool_calls")}
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": result}
        for call in message["tool_calls"]
    ]
    return [message, *results]


def planned(*steps: Step) -> Exchange:
    def fault(number: int, due: Wanted) -> Step:
        return steps[number] if number < len(steps) else Step()

    made = Exchange()
    made.conversations.plan = Plan(ANSWERS, fault)
    return made


def test_answers_come_in_their_order_as_the_history_grows():
    made = planned()
    first = message_of(ask(made, [USER]))
    assert [json.loads(call["function"]["arguments"]) for call in first["tool_calls"]] == [
        {"at": "é"},
        {"at": "b"},
    ]
    assert message_of(ask(made, [USER]))["content"] == first["content"] == "I look."
    rows = [USER, *with_results(first)]
    assert message_of(ask(made, rows))["content"] == "Seen."
    rows += [{"role": "assistant", "content": "Seen."}, USER]
    assert message_of(ask(made, rows))["content"] == "There is nothing left to do."


@pytest.mark.parametrize("step", [CUT, Step(arguments=Arguments.MALFORMED)])
def test_failed_results_of_a_broken_answer_do_not_count(step):
    made = planned(step)
    whole = message_of(ask(planned(), [USER]))
    assert message_of(ask(made, [USER]))["tool_calls"] != whole["tool_calls"]
    again = message_of(ask(made, [USER, *with_results(whole)]))  # as recovery answers it
    assert again["content"] == "I look."
    assert message_of(ask(made, [USER, *with_results(again)]))["content"] == "Seen."


def test_the_same_request_again_is_due_the_same_answer():
    made = planned(CUT)
    whole = message_of(ask(planned(), [USER]))
    ask(made, [USER])
    answered_as_failed = [USER, *with_results(whole)]
    for _ in range(2):  # the first could not be read
        again = message_of(ask(made, answered_as_failed))
        assert again["content"] == "I look."
    assert message_of(ask(made, [USER, *with_results(again)]))["content"] == "Seen."


def test_a_body_that_broke_off_was_not_said():
    made = planned(Step(ending=Ending.CUT_BODY))
    ask(made, [USER])
    whole = message_of(ask(planned(), [USER]))
    assert message_of(ask(made, [USER, *with_results(whole)]))["content"] == "I look."


def test_calls_whose_stream_broke_off_are_not_made_again_after_their_results():
    made = planned(DROP, DROP)
    whole = message_of(ask(planned(), [USER]))
    for _ in range(2):  # a client may take the same end twice for the right one
        assert b'"look"' in b"".join(ask(made, [USER], stream=True).events)
    rows = [USER, *with_results(whole)]
    assert message_of(ask(made, [*rows, USER]))["content"] == "Seen."


def test_calls_whose_stream_broke_off_are_made_again_without_results():
    made = planned(DROP)
    ask(made, [USER], stream=True)
    again = message_of(ask(made, [USER, {"role": "assistant", "content": "I look."}, USER]))
    assert len(again["tool_calls"]) == 2


def test_failed_results_do_not_count_if_the_stream_after_them_broke_off():
    made = planned(CUT, DROP)
    whole = message_of(ask(planned(), [USER]))
    ask(made, [USER])
    failed = [USER, *with_results(whole, "Error")]
    ask(made, failed, stream=True)
    again = message_of(ask(made, [*failed, {"role": "assistant", "content": "I look."}, USER]))
    assert len(again["tool_calls"]) == 2
    assert message_of(ask(made, [USER, *with_results(again)]))["content"] == "Seen."


def test_forgetting_forgets_the_plan():
    sim = Simulator()
    sim.plan(ANSWERS)
    sim.forget()
    assert sim._exchange.conversations.plan is None


def test_only_the_calls_of_an_answer_that_did_not_run_come_again():
    lacks = Step(arguments=Arguments.CUT, broken_call=-1, finish="tool_calls")
    made = planned(lacks)
    first = message_of(ask(made, [USER]))
    rows = [USER, *with_results(first)]
    first["tool_calls"][1]["function"]["arguments"] = "{}"
    rows[-1]["content"] = "Error: its arguments do not fit."
    for _ in range(2):
        again = message_of(ask(made, rows))
        [call] = again["tool_calls"]
        assert json.loads(call["function"]["arguments"]) == {"at": "b"}
        assert not again["content"]
    rows += with_results(again)
    assert message_of(ask(made, rows))["content"] == "Seen."
