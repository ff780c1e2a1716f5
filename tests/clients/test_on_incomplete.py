"""How a turn that was not finished shows itself: outcome × on_incomplete, whole and streamed (P1a)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import openai
import pytest
from support.replay.openai_chat import FILES, MAX, SAFETY, TOOL, Call, R

import tenuto
from tenuto.core.deciding.outcome import OF_TURNS, Outcome
from tenuto.turn.drivers.commands import Head, ReadMore, Request, SendRequest, StartResponse
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine
from tenuto_sim import Simulator

both = pytest.mark.parametrize("mode", ["body", "stream"])

ASKED = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}'
CUT = Call(arguments='{"path": "a.t')
SAID = "I will write it down now."
MALFORMED = Call(arguments="{'path': 1}")


@dataclass(frozen=True)
class Face:
    """One row of the table.

    Attributes:
        outcome: what the last response means.
        answer: the provider's answer, given as often as it is asked for.
        reason: why the turn ended.
        stop: the native stop that shows; None: an error shows, of the code `code`.
        code: the error's code where an error shows, under "error" in any case; "": the reason.
        text: the text that is kept.
    """

    outcome: Outcome
    answer: R
    reason: str
    stop: str | None
    code: str = ""
    text: str = ""


O = Outcome  # noqa: E741 - a table reads better narrow

FACES = (
    Face(O.TEXT_CUT, R("A", MAX), "retry_limit", "length", text="AAAA"),
    Face(O.ARGUMENTS_CUT, R(SAID, MAX, [CUT]), "tool_call_truncated", "length", text=SAID),
    Face(O.ARGUMENTS_CUT, R("", MAX, [CUT]), "tool_call_truncated", "length"),
    Face(O.THINKING_CUT, R("", MAX, reasoning="hm"), "reasoning_budget", "length"),
    Face(O.CALLS_MISSING, R(SAID, TOOL), "tool_calls_missing", "stop", text=SAID),
    Face(O.CALLS_MISSING, R("", TOOL), "tool_calls_missing", None, "tool_calls_missing"),
    Face(
        O.ARGUMENTS_MALFORMED,
        R(SAID, TOOL, [MALFORMED]),
        "tool_call_malformed",
        TOOL,
        "malformed_tool_call",
        text=SAID,
    ),
    Face(
        O.ARGUMENTS_MALFORMED,
        R("", "malformed_function_call"),
        "tool_call_malformed",
        None,
        "malformed_tool_call",
    ),
    Face(O.THINKING_ONLY, R("", reasoning="hm"), "empty_output", None, "empty_output"),
    Face(O.EMPTY, R(""), "empty_output", None, "empty_output"),
    Face(O.DROPPED, R("", dropped=True), "provider_error", None, "dropped"),
    Face(O.FAULT, R("A", "error"), "provider_error", "error", "provider_error", text="A"),
    Face(O.FAULT, R("", "error"), "provider_error", None, "provider_error"),
    Face(O.PAUSED, R("A", "pause_turn"), "paused", "pause_turn", text="A"),
    Face(O.OVERFLOW, R("A", "model_length"), "context_window", "model_length", text="A"),
    Face(O.OVERFLOW, R("", "model_length"), "context_window", "model_length"),
    Face(O.BLOCKED, R("A", SAFETY), "safety_blocked", SAFETY, text="A"),
    Face(O.BLOCKED, R("", SAFETY), "safety_blocked", SAFETY),
    Face(O.REFUSED, R("A", "refusal"), "refused", "refusal", text="A"),
    Face(O.CANCELLED, R("A", "abort"), "cancelled", "abort", text="A"),
    Face(O.UNKNOWN, R("A", "weird_new"), "unknown_stop", "weird_new", text="A"),
)
IDS = [f"{face.outcome}{'-text' if face.text else ''}" for face in FACES]
every_face = pytest.mark.parametrize("face", FACES, ids=IDS)


def end(play: Any, face: Face, mode: str, way: str, on_incomplete: str) -> Any:
    turn = play(*[face.answer] * 9, on_incomplete=on_incomplete, fault_retries=0)
    got = turn.tell(mode, way, **FILES, max_tokens=1_000)
    assert turn.ending["status"] in ("partial", "failed")
    assert turn.ending["reason"] == face.reason
    assert turn.of("stop_reason_observed")[-1]["outcome"] == face.outcome
    assert got.calls == []
    return turn, got


def test_every_outcome_that_can_end_a_turn_unfinished_has_a_row():
    assert {face.outcome for face in FACES} == OF_TURNS - {Outcome.DONE}


@pytest.mark.behaviour("P1a", "P1", "T16")
@both
@every_face
def test_stop_shows_the_truthful_native_stop_or_an_error_where_there_is_none(play, face, mode, way):
    turn, got = end(play, face, mode, way, "stop")
    assert turn.ending["error"] == (None if face.stop is not None else face.code)
    if face.stop is None:
        assert_error(got, face, mode)
    else:
        assert (got.error, got.finish, got.text) == (None, face.stop, face.text)


@pytest.mark.behaviour("P1a", "C21", "P10")
@both
@every_face
def test_notice_adds_one_line_to_what_is_partial_and_none_to_what_was_refused(
    play, face, mode, way
):
    turn, got = end(play, face, mode, way, "notice")
    if face.stop is None:
        assert_error(got, face, mode)
        return
    notice = f"\n\n[This answer is incomplete: {face.reason.replace('_', ' ')}.]"
    whole = face.outcome in (O.BLOCKED, O.REFUSED)
    said = face.text if whole or turn.ending["status"] == "failed" else face.text + notice
    assert (got.error, got.finish, got.text) == (None, face.stop, said)


@pytest.mark.behaviour("P1a", "P1")
@both
@every_face
def test_error_always_raises(play, face, mode, way):
    turn, got = end(play, face, mode, way, "error")
    assert turn.ending["error"] == (face.code or face.reason)
    assert_error(got, face, mode)
    assert turn.ending["reason"].replace("_", " ") in str(got.error)


def assert_error(got: Any, face: Face, mode: str) -> None:
    """The SDK raises; the code is in its place, and what was received is not lost."""
    assert isinstance(got.error, openai.APIError)
    assert got.error.code == (face.code or face.reason)
    if mode == "stream":  # the text was delivered before the error
        return
    assert isinstance(got.error, openai.APIStatusError)
    assert got.error.status_code == 424  # frameworks retry every 5xx, 408, 409 and 429
    assert got.error.response.headers["x-should-retry"] == "false"
    assert got.error.type == "tenuto_incomplete"
    assert isinstance(got.error.body, dict)
    assert got.error.body.get("partial", {}).get("text", "") == face.text


@pytest.mark.behaviour("P1a")
@pytest.mark.parametrize("face", [f for f in FACES if f.text], ids=lambda f: f.outcome.value)
def test_in_a_stream_the_text_comes_before_the_error(play, face):
    turn = play(*[face.answer] * 9, on_incomplete="error", fault_retries=0)
    said = ""
    stream = turn.client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "x"}], stream=True, max_tokens=1_000
    )
    try:
        for chunk in stream:
            said += "".join(choice.delta.content or "" for choice in chunk.choices)
    except openai.APIError:
        said += "|"
    assert said == face.text + "|"


@pytest.mark.behaviour("P1a")
@both
@pytest.mark.parametrize("stop", [MAX, TOOL, SAFETY])
def test_a_request_that_is_left_alone_shows_what_came(play, mode, way, stop):
    turn = play(R("A", stop), on_incomplete="error")
    got = turn.tell(mode, way, extra_headers={"x-tenuto": "off"})
    assert (got.error, got.text, got.finish, turn.sent) == (None, "A", stop, 1)


@pytest.mark.behaviour("N1a", "S6")
@pytest.mark.parametrize("case", ["done_no_finish", "finish_empty_string", "content_after_finish"])
@pytest.mark.parametrize("policy", ["stop", "error"])
def test_an_oddly_ended_stream_has_its_text_before_one_stop_for_those_who_ask_for_errors(
    case: str, policy: Literal["stop", "error"]
) -> None:
    with Simulator() as sim, openai.OpenAI(base_url=sim.base_url, api_key="none") as bare:
        client = tenuto.wrap(bare, policy=tenuto.Policy(on_incomplete=policy))
        asked: dict[str, Any] = {
            "model": "m",
            "extra_headers": {"x-sim-fault": case},
            "messages": [{"role": "user", "content": "Why do tides come twice a day?"}],
        }
        chunks = list(client.chat.completions.create(**asked, stream=True))
        choices = [choice for chunk in chunks for choice in chunk.choices]
        stops = [choice.finish_reason for choice in choices if choice.finish_reason]
        before = [c.delta.content or "" for c in choices[: _first_stop(choices)]]
        whole = sim.answer(asked["messages"][0]["content"])
        assert "".join(choice.delta.content or "" for choice in choices) == whole
        if policy == "error":
            assert stops == ["stop"]
            assert "".join(before) == whole
        else:
            sim.forget()
            bare_chunks = list(bare.chat.completions.create(**asked, stream=True))
            told, expected = (
                [[c.model_dump() for c in chunk.choices] for chunk in seen]
                for seen in (chunks, bare_chunks)
            )
            assert told == expected


@pytest.mark.behaviour("T13")
@pytest.mark.parametrize("policy", ["stop", "error"])
def test_calls_that_alternate_come_one_after_the_other_for_those_who_ask_for_errors(
    policy: Literal["stop", "error"],
) -> None:
    with Simulator() as sim, openai.OpenAI(base_url=sim.base_url, api_key="none") as bare:
        client = tenuto.wrap(bare, policy=tenuto.Policy(on_incomplete=policy))
        chunks: Any = client.chat.completions.create(
            model="sim/calls_interleaved",
            messages=[{"role": "user", "content": "Write three files."}],
            stream=True,
            **FILES,
        )
        deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
        pieces = [piece for delta in deltas for piece in delta.tool_calls or ()]
        wanted = sim.expected("Write three files.", "calls_interleaved").calls
    places = [piece.index for piece in pieces]
    assert (places == sorted(places)) is (policy == "error")
    for place, call in enumerate(wanted):
        said = "".join(p.function.arguments or "" for p in pieces if p.index == place)
        assert json.loads(said) == json.loads(str(call.arguments))


@pytest.mark.behaviour("S6", "P1")
def test_what_stands_behind_a_stop_and_is_more_than_text_is_handed_on_as_it_came() -> None:
    events = [
        b'{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi there"}}]}',
        b'{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
        b'{"choices":[{"index":0,"delta":{"content":" more","images":[{"url":"u"}]}}]}',
        b"[DONE]",
    ]
    sent = b"".join(b"data: " + event + b"\n\n" for event in events)
    head = Head(200, ((b"content-type", b"text/event-stream"),))
    request = Request("POST", "https://host/v1/chat/completions", (), ASKED)
    run = Engine(tenuto.Policy(on_incomplete="error")).begin(request)
    assert run is not None
    out = list(Drive(run, Script(Scripted(head, (sent,))).connect).pieces())
    assert b"".join(piece for piece in out if isinstance(piece, bytes)) == sent


@pytest.mark.behaviour("C29")
def test_a_further_attempt_offers_no_piece_to_the_driver_so_that_its_time_is_looked_at() -> None:
    event = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n'
    json_head = Head(200, ((b"content-type", b"application/json"),))
    stream_head = Head(200, ((b"content-type", b"text/event-stream"),))
    empty = b'{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}'
    run = Engine(tenuto.Policy()).begin(Request("POST", "https://h/v1/chat/completions", (), ASKED))
    assert run is not None
    replies: Iterator[Any] = iter([json_head, empty, b"", stream_head, event, event, b""])
    offers: list[object] = []
    command = run.send(None)
    while not isinstance(command, StartResponse):
        if isinstance(command, ReadMore):
            offers.append(command.take)
        answered = isinstance(command, SendRequest | ReadMore)
        command = run.send(next(replies) if answered else None)
    for _ in range(2):
        command = run.send(None)
        while not isinstance(command, ReadMore):
            command = run.send(None)
        offers.append(command.take)
        run.send(next(replies))  # an event
    assert offers == [None] * len(offers)
    run.close()


def _first_stop(choices: list[Any]) -> int:
    return next((n for n, choice in enumerate(choices) if choice.finish_reason), len(choices))
