"""Text that comes whole instead of in pieces is the answer: of items, parts, messages and last
events. It leaves as it came, after one request, and is continued without being repeated."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.events.framing import sse
from support.one_turn import Played
from support.whole_texts import (
    ADDED,
    AT,
    CREATED,
    HALF,
    RESPONSES,
    REST_OF,
    TEXT,
    WIRES,
    as_sent,
    delta,
    ended,
    item,
    item_done,
    part,
)

from tenuto.turn.drivers.scripted import Scripted

CASES = [
    pytest.param(wire, n, id=f"{wire}-{name}")
    for wire, (_, cases) in WIRES.items()
    for n, (name, _) in enumerate(cases("", False))
]


def played(wire: str, number: int, text: str, *more: Scripted, cut: bool) -> tuple[Played, bytes]:
    (url, body), cases = WIRES[wire]
    _, events = list(cases(text, cut))[number]
    pieces = as_sent(wire, events)
    return Played(url, body, Scripted.stream(*pieces), *more), b"".join(pieces)


@pytest.mark.behaviour("S10")
@pytest.mark.parametrize(("wire", "number"), CASES)
def test_an_answer_that_comes_whole_leaves_as_it_came_after_one_request(wire, number):
    turn, came = played(wire, number, TEXT, cut=False)
    assert len(turn.sent) == 1
    assert turn.got == came
    assert turn.report.status == "complete"


def shown(wire: str, got: bytes) -> str:
    """The text that a reader finds in the events, wherever it stands, and Responses' at the end."""
    events = [json.loads(line[6:]) for line in got.splitlines() if line.startswith(b"data: {")]
    match wire:
        case "responses":
            items = events[-1]["response"]["output"]
            return "".join(part["text"] for item in items for part in item["content"])
        case "messages":
            given = [event.get("content_block", {}).get("text", "") for event in events]
            more = [event.get("delta", {}).get("text", "") for event in events]
            return "".join(map("".join, zip(given, more, strict=True)))
        case "chat":
            said = [choice for event in events for choice in event["choices"][:1]]
            grown = ""
            for told in said:
                whole = (told.get("message") or {}).get("content") or told.get("text") or ""
                grown = whole if whole.startswith(grown) else grown + whole
                if not whole:
                    grown += (told.get("delta") or {}).get("content") or ""
            return grown
        case "cohere":
            content = [event.get("delta", {}).get("message", {}).get("content") for event in events]
            return "".join(part["text"] for part in content if isinstance(part, dict))
        case _:
            parts = [p for e in events for p in e.get("step", {}).get("content", ())]
            parts += [event["delta"] for event in events if event["event_type"] == "step.delta"]
            return "".join(part.get("text", "") for part in parts)


def text_in(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.behaviour("S10")
@pytest.mark.parametrize(("wire", "number"), CASES)
def test_one_that_is_cut_is_continued_without_being_repeated(wire, number):
    rest = Scripted.stream(*as_sent(wire, REST_OF[wire]))
    turn, _ = played(wire, number, HALF, rest, cut=True)
    assert len(turn.sent) == 2
    assert text_in(turn.sent[1]).count(HALF) == 1
    assert turn.report.status == "complete"
    assert shown(wire, turn.got) == TEXT


@pytest.mark.behaviour("S10")
@pytest.mark.parametrize("where", ["done", "part_done", "item_done", "last_event"])
def test_a_refusal_without_deltas_is_the_answer(where):
    refusal, words = part("I can't help with that.", "refusal"), "I can't help with that."
    told = {
        "done": {"type": "response.refusal.done", **AT, "refusal": words},
        "part_done": {"type": "response.content_part.done", **AT, "part": refusal},
        "item_done": {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": item(refusal),
        },
    }.get(where)
    end = ended(*([] if told else [item(refusal)]), cut=False)
    pieces = sse([CREATED, *([told] if told else []), end])
    turn = Played(*RESPONSES, Scripted.stream(*pieces))
    assert len(turn.sent) == 1
    assert turn.got == b"".join(pieces)
    assert turn.report.stop.reason == "refusal"


@pytest.mark.behaviour("S10")
def test_reasoning_that_comes_whole_is_no_empty_answer_and_the_text_behind_it_flows():
    summary = [{"type": "summary_text", "text": "Hm."}]
    thought = {"id": "rs_1", "type": "reasoning", "summary": summary}
    done = {"type": "response.output_item.done", "output_index": 0, "item": thought}
    second = [{**event, "output_index": 1} for event in (*ADDED, delta(TEXT), item_done(TEXT))]
    end = ended(thought, item(part(TEXT)), cut=False)
    pieces = sse([CREATED, done, *second, end])
    turn = Played(*RESPONSES, Scripted.stream(*pieces))
    assert len(turn.sent) == 1
    assert turn.got == b"".join(pieces)
    assert turn.of("turn_ended")[0]["held_bytes"] < len(pieces[1]) + len(b"".join(pieces[-2:])) + 1


@pytest.mark.behaviour("S10")
@pytest.mark.parametrize("repeated", [False, True])
def test_the_last_event_alone_may_have_the_text_of_cohere(repeated):
    tokens = [TEXT[:9], TEXT[9:]] if repeated else []
    whole = {"text": TEXT, "generation_id": "g", "finish_reason": "COMPLETE"}
    events = [
        {"event_type": "stream-start", "generation_id": "g", "is_finished": False},
        *({"event_type": "text-generation", "is_finished": False, "text": t} for t in tokens),
        {"event_type": "stream-end", "is_finished": True, "response": whole}
        | {"finish_reason": "COMPLETE"},
    ]
    lines = [json.dumps(event).encode() + b"\n" for event in events]
    asked = {"model": "m", "stream": True, "message": "Why?"}
    turn = Played("https://api.cohere.com/v1/chat", asked, Scripted.stream(*lines))
    assert (len(turn.sent), turn.got) == (1, b"".join(lines))
    assert turn.report.status == "complete"
