"""Answers of reasoning alone: what is asked next, and that no request is the same twice (E4, E5)."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from one_turn import Played, events

from tenuto.core import hints
from tenuto.relay.scripted import Scripted

PATH = "/v1/chat/completions"
DEEPSEEK, ELSEWHERE = "https://api.deepseek.com/beta" + PATH, "https://host" + PATH
USER = {"role": "user", "content": "Hi"}


def thought(text: str, stream: bool) -> Scripted:
    message = {"role": "assistant", "content": "", "reasoning_content": text}
    if stream:
        stop: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "stop"}
        return events({"choices": [{"index": 0, "delta": message}]}, {"choices": [stop]})
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return Scripted.body(json.dumps({"choices": [choice]}).encode())


def answer(stream: bool) -> Scripted:
    part = {"role": "assistant", "content": "Hello."}
    if stream:
        stop: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "stop"}
        return events({"choices": [{"index": 0, "delta": part}]}, {"choices": [stop]})
    choice = {"index": 0, "message": part, "finish_reason": "stop"}
    return Scripted.body(json.dumps({"choices": [choice]}).encode())


def ask(url: str, stream: bool, *answers: Scripted, **policy: Any) -> Played:
    body = {"model": "m", "messages": [USER], "stream": stream, "thinking": {"type": "enabled"}}
    return Played(url, body, *answers, **policy)


modes = pytest.mark.parametrize("stream", [True, False])


@pytest.mark.behaviour("E4")
@modes
def test_reasoning_without_an_answer_is_the_beginning_of_the_next_with_thinking_off(stream) -> None:
    got = ask(DEEPSEEK, stream, thought("So.", stream), answer(stream))
    row = {"role": "assistant", "content": "", "reasoning_content": "So.", "prefix": True}
    assert got.sent[1]["messages"] == [USER, row]
    assert got.sent[1]["thinking"] == {"type": "disabled"}
    assert (got.report.status, got.report.rungs) == ("complete", ("go on from the reasoning",))
    assert got.got.count(b"Hello.") == 1


@pytest.mark.behaviour("E4", "E5")
@modes
def test_two_prefills_a_nudge_and_retries_follow_each_another_and_then_a_typed_end(stream) -> None:
    policy = {"reasoning_prefills": 2, "empty_retries": 2, "on_incomplete": "error"}
    got = ask(DEEPSEEK, stream, thought("So.", stream), **policy)
    assert got.report.rungs == (
        *["go on from the reasoning"] * 2,
        "ask for the answer",
        *["ask again"] * 2,
    )
    bodies = [json.dumps(body) for body in got.sent]
    assert all(one != other for one, other in pairwise(bodies))
    assert [body["messages"][1].get("reasoning_content") for body in got.sent[1:3]] == [
        "So.",
        "So.So.",
    ]
    assert (got.report.status, got.report.reason) == ("failed", "empty_output")


@pytest.mark.behaviour("E4", "E5")
@modes
def test_where_no_reasoning_is_taken_a_nudge_follows_and_a_retry(stream) -> None:
    got = ask(ELSEWHERE, stream, thought("So.", stream), thought("So.", stream), answer(stream))
    assert [body["messages"][1:] for body in got.sent[1:]] == [
        [{"role": "user", "content": hints.ANSWER_NOW}],
        [{"role": "user", "content": hints.EMPTY}],
    ]
    assert got.report.status == "complete"
    assert len(ask(DEEPSEEK, stream, thought("So.", stream), empty_recovery=False).sent) == 1
    assert ask(
        DEEPSEEK, stream, thought("So.", stream), answer(stream), prefill="never"
    ).report.rungs == ("ask for the answer",)


@pytest.mark.behaviour("E4", "C8")
@modes
def test_a_prefill_of_reasoning_that_is_refused_becomes_a_nudge(stream) -> None:
    words = "The last message must be a user message: expected last role user"
    refused = Scripted.body(json.dumps({"error": {"message": words}}).encode(), status=400)
    url = DEEPSEEK.replace("/v1", "/v2" if stream else "/v3")  # a lesson holds for an address
    got = ask(url, stream, thought("So.", stream), refused, answer(stream))
    assert got.sent[2]["messages"][1:] == [{"role": "user", "content": hints.ANSWER_NOW}]
    assert got.report.status == "complete"
