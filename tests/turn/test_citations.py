"""Citations of an answer that took several attempts, as its caller gets them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.events import openai_chat as chat
from support.events.framing import sse

from tenuto.core.settings.policy import Policy
from tenuto.frames.sse import SseDecoder
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine

ASK = b'{"model":"m","stream":true,"input":[{"role":"user","content":"Tell me."}]}'


def said(number: int, status: str, *deltas: str, cites: tuple[str, ...] = ()) -> Scripted:
    """A response whose text comes in these pieces, with citations of words behind them."""
    text = "".join(deltas)
    place = {"output_index": 0, "item_id": f"msg_{number}", "content_index": 0}
    message = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": f"resp_{number}", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": message},
        {"type": "response.content_part.added", **place, "part": part},
        *({"type": "response.output_text.delta", **place, "delta": delta} for delta in deltas),
    ]
    for index, word in enumerate(cites):
        at = text.index(word)
        note = {"type": "url_citation", "start_index": at, "end_index": at + len(word)}
        event = {"type": "response.output_text.annotation.added", "annotation_index": index}
        events.append({**event, **place, "annotation": note})
    why = {"incomplete_details": {"reason": "max_output_tokens"}} if status == "incomplete" else {}
    response = {"id": f"resp_{number}", "status": status, "output": [], **why}
    events.append({"type": f"response.{status}", "response": response})
    return Scripted.stream(*sse(events))


def given(*answers: Scripted) -> list[Any]:
    """The events that the caller gets."""
    request = Request("POST", "https://host/v1/responses", (), ASK)
    run = Engine(Policy(backoff_s=0.0)).begin(request)
    assert run is not None
    pieces = Drive(run, Script(*answers).connect).pieces()
    out = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    return [json.loads(event.data) for event in SseDecoder().feed(out) if event.data]


@pytest.mark.behaviour("C28a", "C9")
@pytest.mark.parametrize(
    ("again", "cites"),
    [
        (("twice", " a day."), ("twice", "day")),
        (("ce a day.",), ("a day",)),
        (("The tide comes ", "twice", " a day."), ("tide", "twice a day")),
    ],
)
def test_citations_of_a_continuation_point_at_their_words(again, cites):
    first = said(1, "incomplete", "The tide comes ", "twi", cites=("The tide",))
    events = given(first, said(2, "completed", *again, cites=cites))
    (message,) = events[-1]["response"]["output"]
    (part,) = message["content"]
    assert part["text"] == "The tide comes twice a day."
    notes = part["annotations"]
    words = [part["text"][note["start_index"] : note["end_index"]] for note in notes]
    assert words == ["The tide", *cites]
    told = [e for e in events if e["type"] == "response.output_text.annotation.added"]
    assert [event["annotation"] for event in told] == notes
    assert [event["annotation_index"] for event in told] == list(range(len(notes)))


CHAT = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"Tell me."}]}'


def chunks(finish: str, *deltas: dict[str, Any]) -> Scripted:
    """A chat that says these deltas."""
    return Scripted.stream(*sse(chat.chunks(deltas, finish, beside={}), done=True))


def cite(start: int, end: int) -> dict[str, Any]:
    return {"type": "url_citation", "url_citation": {"start_index": start, "end_index": end}}


def told(*answers: Scripted) -> tuple[str, list[Any]]:
    """The text that the caller of a chat gets, and its annotations."""
    request = Request("POST", "https://host/v1/chat/completions", (), CHAT)
    run = Engine(Policy(backoff_s=0.0)).begin(request)
    assert run is not None
    pieces = Drive(run, Script(*answers).connect).pieces()
    out = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    events = [json.loads(e.data) for e in SseDecoder().feed(out) if e.data and e.data[:1] == b"{"]
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    text = "".join(delta.get("content") or "" for delta in deltas)
    return text, [cited for delta in deltas for cited in delta.get("annotations") or []]


@pytest.mark.behaviour("C28a", "C9")
@pytest.mark.parametrize("beside", [True, False], ids=["beside-text", "by-itself"])
def test_annotations_of_a_chat_are_said_once_and_point_at_their_words(beside):
    def saying(text: str, *places: tuple[int, int]) -> list[dict[str, Any]]:
        cited = {"annotations": [cite(*place) for place in places]}
        return [{"content": text, **cited}] if beside else [{"content": text}, cited]

    first = chunks("length", *saying("The tide comes twi", (4, 8)))
    text, annotations = told(first, chunks("stop", *saying("twice a day.", (0, 5), (6, 11))))
    assert text == "The tide comes twice a day."
    places = [tuple(one["url_citation"].values()) for one in annotations]
    assert [text[start:end] for start, end in places] == ["tide", "twice", "a day"]
