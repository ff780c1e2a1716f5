"""White space alone, behind a prefill, is an empty answer: where it is asked for again, it is no text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.one_turn import Played

from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, lost
from tenuto.turn.pipeline.engine import Engine

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Say it."}]}


def answer(text: str, broken: bool = False) -> Scripted:
    told: list[tuple[dict[str, Any], str | None]] = [({"content": text}, None), ({}, "stop")]
    events = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": why}]} for delta, why in told
    ]
    data = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    return (
        Scripted.stream(data[0], lost()) if broken else Scripted.stream(*data, b"data: [DONE]\n\n")
    )


def text_of(pieces: list[bytes]) -> str:
    events = b"".join(pieces).split(b"\n\n")
    values = [json.loads(event[6:]) for event in events if event.startswith(b"data: {")]
    deltas = [value["choices"][0]["delta"] for value in values if value["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)


@pytest.mark.behaviour("E1", "C13")
@pytest.mark.parametrize("blank", ["\n", " ", " \n\n"])
@pytest.mark.parametrize(
    ("said", "more", "whole"),
    [
        ("Measure the pre", "ssure.", "Measure the pressure."),
        ("One line:\n", "the next", "One line:\nthe next"),
        ("One line:\n  ", "  the next", "One line:\n  the next"),
        ("One word", " and the next", "One word and the next"),
    ],
)
def test_white_space_of_an_answer_that_was_asked_for_again_is_no_text(
    said: str, more: str, whole: str, blank: str
) -> None:
    script = Script(answer(said, broken=True), answer(blank), answer(more))
    asked = json.dumps(ASKED | {"stream": True}).encode()
    policy = Policy(backoff_s=0, prefill="always")
    run = Engine(policy).begin(Request("POST", "https://host/v1/chat/completions", (), asked))
    assert run is not None
    given = [p for p in Drive(run, script.connect).pieces() if isinstance(p, bytes)]
    assert text_of(given) == whole


@pytest.mark.behaviour("E1", "C13")
@pytest.mark.parametrize("blank", ["\n", " "])
def test_white_space_behind_a_paused_answer_is_no_text_either(blank: str) -> None:
    def body(text: str, stop: str) -> bytes:
        content = [{"type": "text", "text": text}]
        return json.dumps({"type": "message", "content": content, "stop_reason": stop}).encode()

    broken = body("ssure.", "end_turn")[:20]
    script = Script(
        Scripted.body(body("Measure the pre", "pause_turn")),
        Scripted.body(broken, lost()),
        Scripted.body(body(blank, "end_turn")),
        Scripted.body(body("ssure.", "end_turn")),
    )
    asked = json.dumps(ASKED | {"model": "claude-sonnet-4-5", "max_tokens": 99}).encode()
    run = Engine(Policy(backoff_s=0)).begin(Request("POST", "https://host/v1/messages", (), asked))
    assert run is not None
    given = b"".join(p for p in Drive(run, script.connect).pieces() if isinstance(p, bytes))
    told = json.loads(given)["content"]
    assert "".join(block["text"] for block in told) == "Measure the pressure."


@pytest.mark.behaviour("S3c")
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
@pytest.mark.parametrize("more", ["", " ", "\n"])
def test_a_prefill_that_the_server_repeats_confirms_no_end(more: str, on_incomplete: str) -> None:
    half = "First it is. Then a retired judge"

    def unmarked(text: str) -> Scripted:
        event = {"choices": [{"index": 0, "delta": {"content": text}}]}
        return Scripted.stream(f"data: {json.dumps(event)}\n\n".encode())

    played = Played(
        "https://host.example/v1/chat/completions",
        ASKED | {"stream": True},
        unmarked(half),
        *[unmarked(half + more)] * 4,
        prefill="always",
        on_incomplete=on_incomplete,
    )
    assert played.report.status == "partial"
