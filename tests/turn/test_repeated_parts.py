"""A continuation that repeats the text in several parts: a stream adds the same as a whole body."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from support.asking.anthropic_messages import assert_one_message
from support.events import openai_responses as responses
from support.events.framing import sse
from support.replay import anthropic_messages as anthropic
from support.replay.anthropic_messages import CITATION, MAX, R, found, said, searching

from tenuto.core.settings.policy import Policy
from tenuto.frames.sse import SseDecoder
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine

ONE = "The harbour log records two high tides on most days. "
TWO = "Storms raise both by a metre. "
THREE = "The keeper writes them down."
LATE: dict[str, Any] = CITATION | {"cited_text": "written down"}
SIZES = pytest.mark.parametrize("piece_chars", [1, 5, 1000])


def given(path: str, asked: dict[str, Any], *answers: Scripted) -> tuple[bytes, Script]:
    """The bytes that the caller gets."""
    run = Engine(Policy(backoff_s=0.0)).begin(
        Request("POST", f"https://host{path}", (), json.dumps(asked).encode())
    )
    assert run is not None
    script = Script(*answers)
    pieces = Drive(run, script.connect).pieces()
    return b"".join(piece for piece in pieces if isinstance(piece, bytes)), script


def asked_of_claude(*answers: R, stream: bool) -> list[dict[str, Any]]:
    """The blocks that the caller gets, each with its text."""
    asked = {"model": "m", "max_tokens": 500, "stream": stream, "messages": [anthropic.ASK]}
    if not stream:
        whole = [Scripted.body(answer.body("m")) for answer in answers]
        out, script = given("/v1/messages", asked, *whole)
        assert len(script.transmitted) == len(answers)
        content: list[dict[str, Any]] = json.loads(out)["content"]
        return content
    out, script = given(
        "/v1/messages", asked, *(Scripted.stream(*sse(answer.events("m"))) for answer in answers)
    )
    assert len(script.transmitted) == len(answers)
    events = [json.loads(event.data) for event in SseDecoder().feed(out) if event.data]
    assert_one_message(events)
    blocks: list[dict[str, Any]] = []
    for event in events:
        if event["type"] == "content_block_start":
            blocks.append(dict(event["content_block"]))
        delta = event.get("delta", {})
        if "text" in delta:
            blocks[-1]["text"] += delta["text"]
        if "citation" in delta:
            blocks[-1]["citations"] = [*(blocks[-1].get("citations") or ()), delta["citation"]]
    return blocks


def texts(blocks: Sequence[dict[str, Any]]) -> list[str]:
    return [block["text"] for block in blocks if block["type"] == "text"]


CASES: dict[str, tuple[list[Any], list[Any], str]] = {
    "restart": ([said(ONE), said("Storms ra")], [said(ONE), said(TWO)], ONE + TWO),
    "restart in three": (
        [said(ONE), said(TWO), said("The kee")],
        [said(ONE), said(TWO), said(THREE)],
        ONE + TWO + THREE,
    ),
    "restart with citations": (
        [said(ONE, CITATION), said("Storms ra")],
        [said(ONE, CITATION), said(TWO), said(THREE, LATE)],
        ONE + TWO + THREE,
    ),
    "restart in other parts": (
        [said(ONE), said("Storms ra")],
        [said(ONE[:20]), said(ONE[20:] + "Storms "), said("raise both.")],
        ONE + "Storms raise both.",
    ),
    "restart up to the cut": (
        [said(ONE), said("Storms raise")],
        [said(ONE), said("Storms raise"), said(" both.")],
        ONE + "Storms raise both.",
    ),
    "restart around a search": (
        [said(ONE), searching(), found(), said("Storms ra")],
        [said(ONE), searching("srvtoolu_2"), found("srvtoolu_2"), said(TWO)],
        ONE + TWO,
    ),
    "preamble of its own": (
        [said(ONE + "Storms ra")],
        [said("Continuing:\n\n"), said(ONE + TWO)],
        ONE + TWO,
    ),
    "cut word": (
        [said(ONE + "The result is wor")],
        [said("wor"), said("ld."), said(" " + THREE)],
        ONE + "The result is world. " + THREE,
    ),
    "goes on": ([said(ONE + "Storms r")], [said("aise both."), said(" " + THREE)],
        ONE + "Storms raise both. " + THREE),
    "goes on with a short part": ([said(ONE + "Storms ")], [said("The "), said("keeper.")],
        ONE + "Storms The keeper."),
    "other words": ([said(ONE), said("Storms ra")], [said("T"), said("hat is all.")],
        ONE + "Storms raThat is all."),
}  # fmt: skip


@pytest.mark.behaviour("C14", "S2")
@SIZES
@pytest.mark.parametrize("case", CASES)
def test_blocks_that_repeat_the_text_add_the_same_to_a_stream_as_to_a_body(case, piece_chars):
    cut, more, whole = CASES[case]
    answers = R(cut, MAX), R(more, piece_chars=piece_chars)
    body, stream = (asked_of_claude(*answers, stream=stream) for stream in (False, True))
    assert "".join(texts(body)) == whole
    assert "".join(texts(stream)) == whole


@pytest.mark.behaviour("C14", "S2", "C28a")
@SIZES
def test_only_the_citations_of_text_that_is_new_are_added(piece_chars):
    cut, more, _ = CASES["restart with citations"]
    blocks = asked_of_claude(R(cut, MAX), R(more, piece_chars=piece_chars), stream=True)
    assert texts(blocks) == [ONE, TWO, THREE]
    assert [block.get("citations") or [] for block in blocks] == [[CITATION], [], [LATE]]


@pytest.mark.behaviour("S2", "S3b")
@SIZES
def test_a_repetition_that_breaks_off_in_its_second_block_adds_nothing(piece_chars):
    first = R([said(ONE), said("Storms ra")], MAX)
    second = R([said(ONE), said("Stor")], MAX, piece_chars=piece_chars)
    body, stream = (asked_of_claude(first, second, stream=stream) for stream in (False, True))
    assert texts(body) == texts(stream) == [ONE, "Storms ra"]


@pytest.mark.behaviour("C28a", "S2")
def test_what_comes_between_held_texts_stays_in_its_place():
    first = R([said(ONE + "Storms ra")], MAX)
    second = R([said("Continuing:\n\n"), searching(), found(), said(ONE + TWO), said(THREE)])
    body, stream = (asked_of_claude(first, second, stream=stream) for stream in (False, True))
    kinds = ["text", "server_tool_use", "web_search_tool_result", "text", "text"]
    assert [block["type"] for block in stream] == [block["type"] for block in body] == kinds
    assert texts(stream) == texts(body)


def item(number: int, text: str, id_: str) -> tuple[list[Any], dict[str, Any]]:
    """A message of Responses, under an id of its own."""
    made = responses.said(number, *(text[at : at + 5] for at in range(0, len(text), 5)))
    told, done = json.loads(json.dumps(made).replace("msg_1", f"{id_}_{number}"))
    return told, done


def response(id_: str, status: str, *said_: str, stream: bool) -> Scripted:
    made = [item(number, text, id_) for number, text in enumerate(said_)]
    why = {"incomplete_details": {"reason": "max_output_tokens"}} if status == "incomplete" else {}
    whole = {**responses.TOLD, "status": status, "output": [done for _, done in made], **why}
    if not stream:
        return Scripted.body(json.dumps(whole).encode())
    begun = {**responses.TOLD, "output": [], "status": "in_progress"}
    inner = [event for told, _ in made for event in told]
    events = [
        responses.event("created", response=begun),
        *inner,
        responses.event(status, response=whole),
    ]
    return Scripted.stream(*sse(responses.numbered(events)))


@pytest.mark.behaviour("C14", "S2")
@pytest.mark.parametrize("stream", [False, True])
def test_messages_that_repeat_the_text_continue_in_the_one_that_was_cut(stream):
    answers = (
        response("a", "incomplete", ONE, "Storms ra", stream=stream),
        response("b", "completed", ONE, TWO, THREE, stream=stream),
    )
    asked = {"model": "m", "stream": stream, "input": [{"role": "user", "content": "Tell me."}]}
    out, script = given("/v1/responses", asked, *answers)
    assert len(script.transmitted) == 2
    if stream:
        events = [json.loads(event.data) for event in SseDecoder().feed(out) if event.data]
        deltas = [event["delta"] for event in events if event["type"].endswith("text.delta")]
        assert "".join(deltas) == ONE + TWO + THREE
        output = events[-1]["response"]["output"]
    else:
        output = json.loads(out)["output"]
    parts = [part["text"] for message in output for part in message["content"]]
    assert parts == [ONE, TWO, THREE]


@pytest.mark.behaviour("S4")
def test_what_waits_between_held_texts_is_bounded():
    page = {"type": "web_search_result", "page": "x" * 70_000}
    first = R([said(ONE + "Storms ra")], MAX)
    second = R(
        [said("Continuing:\n\n"), searching(), found() | {"content": [page]}, said(ONE + TWO)]
    )
    asked = {"model": "m", "max_tokens": 500, "stream": True, "messages": [anthropic.ASK]}
    answers = [Scripted.stream(*sse(answer.events("m"))) for answer in (first, second)]
    for limit, is_announced in (65_536, True), (1_000_000, False):
        run = Engine(Policy(backoff_s=0.0, hold_max_bytes=limit)).begin(
            Request("POST", "https://host/v1/messages", (), json.dumps(asked).encode())
        )
        assert run is not None
        pieces = Drive(run, Script(*answers).connect).pieces()
        out = b"".join(piece for piece in pieces if isinstance(piece, bytes))
        events = [json.loads(event.data) for event in SseDecoder().feed(out) if event.data]
        assert_one_message(events)
        assert events[-2]["delta"]["stop_reason"] == "end_turn"
        assert (b"Continuing:" in out) == is_announced  # in doubt, text is kept
