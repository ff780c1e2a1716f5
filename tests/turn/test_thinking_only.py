"""Answers of reasoning alone: what is asked next, and that no request is the same twice (E4, E5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from support.one_turn import Played, events

import tenuto
from tenuto.core import hints
from tenuto.providers.table import ROWS
from tenuto.turn.drivers.scripted import Scripted

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
    assert (got.report.status, got.report.rungs) == ("complete", ("continue_from_reasoning",))
    assert got.got.count(b"Hello.") == 1


@pytest.mark.behaviour("E4", "E5")
@modes
def test_two_prefills_a_nudge_and_retries_follow_each_another_and_then_a_typed_end(stream) -> None:
    policy = {"reasoning_prefills": 2, "empty_retries": 2, "on_incomplete": "error"}
    got = ask(DEEPSEEK, stream, thought("So.", stream), **policy)
    assert got.report.rungs == (
        *["continue_from_reasoning"] * 2,
        "ask_for_answer",
        *["ask_again"] * 2,
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
    ).report.rungs == ("ask_for_answer",)


@pytest.mark.behaviour("E4", "C8")
@modes
def test_a_prefill_of_reasoning_that_is_refused_becomes_a_nudge(stream) -> None:
    words = "The last message must be a user message: expected last role user"
    refused = Scripted.body(json.dumps({"error": {"message": words}}).encode(), status=400)
    url = DEEPSEEK.replace("/v1", "/v2" if stream else "/v3")  # a lesson holds for an address
    got = ask(url, stream, thought("So.", stream), refused, answer(stream))
    assert got.sent[2]["messages"][1:] == [{"role": "user", "content": hints.ANSWER_NOW}]
    assert got.report.status == "complete"


# --- servers of one's own, which take it each in another way -------------------------------------


SERVERS = ("vllm", "sglang", "llama.cpp")
CLOSED = {"role": "assistant", "content": "<think>\nSo.\n</think>"}
OFF = {"enable_thinking": False, "thinking": False}
GOES_ON: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "vllm": (CLOSED, {"continue_final_message": True, "add_generation_prompt": False}),
    "sglang": (CLOSED, {"continue_final_message": True}),
    # `True` would go on within the reasoning.
    "llama.cpp": (
        {"role": "assistant", "content": "", "reasoning_content": "So."},
        {"continue_final_message": "content", "add_generation_prompt": False},
    ),
}
"""The row that the reasoning is sent back in, and the members that say that it is gone on from."""


@pytest.fixture
def servers() -> Iterator[None]:
    before = ROWS.all()
    for name in SERVERS:
        hosts = [f"{name}.lab"]
        tenuto.register_provider(
            tenuto.Provider(f"lab-{name}", wire="openai-chat", like=name, hosts=hosts)
        )
    yield
    ROWS._all, ROWS.changes = before, ROWS.changes + 1


def ask_server(name: str, stream: bool, *answers: Scripted, **more: Any) -> Played:
    body = {"model": "m", "messages": [USER], "stream": stream, **more}
    return Played(f"http://{name}.lab{PATH}", body, *answers, on_incomplete="error")


on_each_server = pytest.mark.parametrize("name", SERVERS)


@pytest.mark.behaviour("E4")
@modes
@on_each_server
@pytest.mark.usefixtures("servers")
def test_a_server_goes_on_from_the_reasoning_in_its_own_way_with_thinking_off(name, stream) -> None:
    got = ask_server(
        name,
        stream,
        thought("So.", stream),
        answer(stream),
        reasoning_effort="high",
        chat_template_kwargs={"enable_thinking": True, "tone": "dry"},
    )
    first, second = got.sent
    row, members = GOES_ON[name]
    assert second.pop("messages") == [USER, row]
    kept = {"model": first["model"], "stream": stream}
    assert second == kept | members | {"chat_template_kwargs": {"tone": "dry"} | OFF}
    assert (got.report.status, got.report.rungs) == ("complete", ("continue_from_reasoning",))
    assert got.got.count(b"Hello.") == 1


@pytest.mark.behaviour("E4")
@on_each_server
@pytest.mark.usefixtures("servers")
def test_what_follows_has_nothing_of_it_that_the_caller_did_not_send(name) -> None:
    got = ask_server(name, False, *[thought("So.", False)] * 2, answer(False))
    assert got.report.rungs == ("continue_from_reasoning", "ask_for_answer")
    assert got.sent[-1].keys() == got.sent[0].keys()


REFUSED = (
    "continue_final_message is set but the final message does not appear in the chat after",
    "chat_template is not supported for Mistral tokenizers.",
    "Assistant response prefill is incompatible with enable_thinking.",
)


@pytest.mark.behaviour("E4", "C8")
@modes
@pytest.mark.parametrize("words", REFUSED)
@pytest.mark.usefixtures("servers")
def test_a_server_that_refuses_reasoning_is_nudged_and_still_goes_on_with_text(
    words, stream
) -> None:
    refused = Scripted.body(json.dumps({"error": {"message": words}}).encode(), status=400)
    half = {"index": 0, "message": {"content": "Half a"}, "finish_reason": "length"}
    cut = Scripted.body(json.dumps({"choices": [half]}).encode())
    if stream:
        half = {"index": 0, "delta": {"content": "Half a"}, "finish_reason": "length"}
        cut = events({"choices": [half]})
    answers = thought("So.", stream), refused, cut, answer(stream)
    got = ask_server("vllm", stream, *answers, model=f"{words} {stream}")  # a lesson is a model's
    assert got.sent[2]["messages"][1:] == [{"role": "user", "content": hints.ANSWER_NOW}]
    assert got.sent[3]["messages"][-1]["content"] == "Half a"
    assert got.sent[3]["continue_final_message"] is True
    assert got.report.status == "complete"


@pytest.mark.behaviour("E4")
@pytest.mark.usefixtures("servers")
def test_reasoning_that_a_body_repeats_is_neither_shown_nor_sent_twice() -> None:
    said = {"role": "assistant", "content": "Hello.", "reasoning_content": "So.\n"}
    choice = {"index": 0, "message": said, "finish_reason": "stop"}
    repeats = Scripted.body(json.dumps({"choices": [choice]}).encode())
    got = ask_server("llama.cpp", False, thought("So.", False), repeats)
    assert json.loads(got.got)["choices"][0]["message"]["reasoning_content"] == "So."
    got = ask_server("llama.cpp", False, *[thought("So.", False)] * 2, answer(False))
    assert got.report.rungs == ("continue_from_reasoning", "ask_for_answer")


@pytest.mark.behaviour("E4")
@modes
def test_deepseek_stops_thinking_whichever_knob_the_request_has(stream) -> None:
    body = {"model": "m", "messages": [USER], "stream": stream, "reasoning_effort": "high"}
    got = Played(DEEPSEEK, body, thought("So.", stream), answer(stream))
    assert got.sent[1]["thinking"] == {"type": "disabled"}
    assert "reasoning_effort" not in got.sent[1], "DeepSeek refuses both"
