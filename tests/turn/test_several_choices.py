"""Several choices that nobody asked for, as a gateway's own default gives them, are not finished:
their bytes are handed on as they came, at once, and an event says why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenuto.core.events.event import Event
from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine

PARTS = [(0, "All of it.", None), (1, "Only ha", None), (0, "", "clean"), (1, "", "cut")]
"""Index, text and stop of each piece: the first choice is whole, the second one is cut."""


def chat(index: int, text: str, stop: str | None, where: str) -> dict[str, Any]:
    said = {"role": "assistant", "content": text}
    return {"index": index, where: said, "finish_reason": stop}


def completion(index: int, text: str, stop: str | None, where: str) -> dict[str, Any]:
    return {"index": index, "text": text, "finish_reason": stop}


def candidate(index: int, text: str, stop: str | None, where: str) -> dict[str, Any]:
    made: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}] if text else []}}
    return {"index": index, **made} | ({"finishReason": stop} if stop else {})


CHAT = ("/v1/chat/completions", chat, "choices", ("stop", "length"), b"data: [DONE]\n\n")
COMPLETIONS = ("/v1/completions", completion, "choices", ("stop", "length"), b"data: [DONE]\n\n")
GEMINI = ("/v1beta/models/m:{}", candidate, "candidates", ("STOP", "MAX_TOKENS"), b"")
GEMINIS = {"stream": "streamGenerateContent?alt=sse", "body": "generateContent"}
PROMPTS: dict[str, dict[str, Any]] = {
    "choices": {"model": "m", "messages": [{"role": "user", "content": "?"}], "prompt": "?"},
    "candidates": {"contents": [{"role": "user", "parts": [{"text": "?"}]}]},
}
WIRES = pytest.mark.parametrize("wire", [CHAT, COMPLETIONS, GEMINI], ids=lambda w: w[0])


def driven(
    wire: Any, mode: str, policy: Policy, *answers: Any, headers: Any = ()
) -> tuple[Script, Any, list[str]]:
    """The turn's pieces as they come, and why it was left alone."""
    path, _, holds, _, _ = wire
    body = PROMPTS[holds] | ({"stream": mode == "stream"} if holds == "choices" else {})
    url = "https://host" + path.format(GEMINIS[mode])
    told: list[Event] = []
    run = Engine(policy, told.append).begin(
        Request("POST", url, headers, json.dumps(body).encode())
    )
    assert run is not None
    script = Script(*answers)
    pieces = Drive(run, script.connect).pieces()
    why: list[str] = []

    def read() -> Any:
        yield from pieces
        why.extend(str(event.data["why"]) for event in told if event.name == "left_alone")

    return script, read(), why


@pytest.mark.behaviour("C28", "P8")
@WIRES
@pytest.mark.parametrize("empty_before", [False, True])
@pytest.mark.parametrize("on_incomplete", ["stop", "notice", "error"])
def test_a_body_of_several_choices_stays_as_it_came(wire, on_incomplete, empty_before):
    _, made, holds, (clean, cut), _ = wire
    choices = [made(0, "All of it.", clean, "message"), made(1, "Only ha", cut, "message")]
    body = json.dumps({"id": "c", holds: choices}).encode()
    policy = Policy(on_incomplete=on_incomplete, backoff_s=0.001)
    empty_before = empty_before and made is not completion  # that is not asked for again
    empty = json.dumps({"id": "c", holds: [made(0, "", clean, "message")]}).encode()
    answers = [Scripted.body(empty)] * empty_before + [Scripted.body(body)]
    script, pieces, why = driven(wire, "body", policy, *answers)
    _, *given = pieces
    assert (b"".join(given), len(script.transmitted)) == (body, len(answers))
    assert why == ["several_choices"]


@pytest.mark.behaviour("C28", "P8", "S4")
@WIRES
@pytest.mark.parametrize("on_incomplete", ["stop", "notice", "error"])
def test_a_stream_of_several_choices_flows_as_it_came(wire, on_incomplete):
    _, made, holds, stops, end = wire
    named = dict(zip(("clean", "cut"), stops, strict=True)) | {None: None}
    events = [
        b"data: %s\n\n"
        % json.dumps({"id": "c", holds: [made(index, text, named[stop], "delta")]}).encode()
        for index, text, stop in PARTS
    ]
    answer = Scripted.stream(*events, *([end] if end else []))
    policy = Policy(on_incomplete=on_incomplete, backoff_s=0.001)
    script, pieces, why = driven(wire, "stream", policy, answer)
    _, *given = pieces
    assert b"".join(given) == b"".join(events) + end
    # Not even the first choice's stop waits, once it is known that there is another one.
    assert given[: len(events) - 1] == events[:-1]
    assert (why, len(script.transmitted)) == (["several_choices"], 1)


def events_of(wire: Any, *parts: tuple[int, str, str | None]) -> list[bytes]:
    _, made, holds, stops, end = wire
    named = dict(zip(("clean", "cut"), stops, strict=True)) | {None: None}
    told = [{"id": "c", holds: [made(at, text, named[stop], "delta")]} for at, text, stop in parts]
    return [b"data: %s\n\n" % json.dumps(value).encode() for value in told] + [end] * bool(end)


@pytest.mark.behaviour("C28", "P8")
@WIRES
def test_choices_that_come_one_behind_the_other_stay_in_their_order(wire):
    parts = [(0, "All of it.", None), (0, " ", None), (0, "", "clean"), (1, "Half", "cut")]
    events = events_of(wire, *parts)
    _, pieces, why = driven(wire, "stream", Policy(), Scripted.stream(*events))
    _, *given = pieces
    assert (b"".join(given), why) == (b"".join(events), ["several_choices"])


@pytest.mark.behaviour("C28")
@WIRES
def test_a_turn_that_is_left_alone_says_why_it_was_asked_to_be(wire):
    events = events_of(wire, *PARTS)
    off = ((b"x-tenuto", b"off"),)
    _, pieces, why = driven(wire, "stream", Policy(), Scripted.stream(*events), headers=off)
    _, *given = pieces
    assert (b"".join(given), why) == (b"".join(events), ["switched_off"])


@pytest.mark.behaviour("C28", "C1")
@WIRES
@pytest.mark.parametrize("then", ["clean", "cut"])
def test_several_choices_of_a_continuation_do_not_stop_a_turn_that_was_begun(wire, then):
    """What was asked for is the rest of the one choice that there is."""
    first = Scripted.stream(*events_of(wire, (0, "One, ", None), (0, "two, ", "cut")))
    second = events_of(wire, (0, "three, ", None), (1, "or not.", "clean"), (0, "four, ", then))
    third = Scripted.stream(*events_of(wire, (0, "five.", "clean")))
    policy = Policy(backoff_s=0.0)
    script, pieces, why = driven(wire, "stream", policy, first, Scripted.stream(*second), third)
    given = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    said = ["One, ", "two, ", "three, ", "four, "] + ["five."] * (then == "cut")
    assert [text for text in said if text.strip().encode() not in given] == []
    assert (why, len(script.transmitted), b"or not" in given) == ([], 2 + (then == "cut"), False)


@pytest.mark.behaviour("C28", "N6")
@WIRES
def test_what_is_no_utf8_is_put_right_behind_a_second_choice_too(wire):
    _, made, holds, (clean, _), end = wire
    said = [(0, "word ", None), (1, "word ", None), (0, "", clean), (1, "", clean)]
    events = [{"id": "c@", holds: [made(*each, "delta")]} for each in said]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + end
    answer = Scripted.stream(stream.replace(b"@", b"\xfa"))
    script, pieces, _ = driven(wire, "stream", Policy(), answer)
    out = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    assert out == stream.replace(b"@", "\ufffd".encode())
    assert len(script.transmitted) == 1


@pytest.mark.behaviour("C28", "S6")
@WIRES
@pytest.mark.parametrize("on_incomplete", ["stop", "notice", "error"])
def test_a_turn_whose_second_choice_never_ended_is_not_complete(wire, on_incomplete):
    parts = [(0, "All of it.", None), (1, "Only ha", None), (0, "", "clean")]
    events = [event for event in events_of(wire, *parts) if event and b"DONE" not in event]
    path, _, holds, _, _ = wire
    asked = PROMPTS[holds] | ({"stream": True} if holds == "choices" else {})
    url = "https://host" + path.format(GEMINIS["stream"])
    told: list[Event] = []
    policy = Policy(on_incomplete=on_incomplete, backoff_s=0.001)
    run = Engine(policy, told.append).begin(Request("POST", url, (), json.dumps(asked).encode()))
    assert run is not None
    script = Script(Scripted.stream(*events))
    given = [piece for piece in Drive(run, script.connect).pieces() if isinstance(piece, bytes)]
    ended = next(event for event in told if event.name == "turn_ended")
    assert (b"".join(given), len(script.transmitted)) == (b"".join(events), 1)
    assert ended.data["status"] == "partial"
