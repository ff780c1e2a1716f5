"""Text that comes whole instead of in pieces is the answer: of items, parts, messages and last
events. It leaves as it came, after one request, and is continued without being repeated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from support.events.framing import sse
from support.one_turn import Played

from tenuto.turn.scripted import Scripted

Event = dict[str, Any]

HALF, REST = "The moon pulls the se", "a, twice a day."
TEXT = HALF + REST
ASK: Event = {"model": "m", "stream": True}
ROWS = [{"role": "user", "content": "Why?"}]

RESPONSES = ("https://api.openai.com/v1/responses", ASK | {"input": "Why?"})
MESSAGES = (
    "https://api.anthropic.com/v1/messages",
    ASK | {"messages": ROWS, "max_tokens": 900},
)
CHAT = ("https://api.openai.com/v1/chat/completions", ASK | {"messages": ROWS})
COHERE = ("https://api.cohere.com/v2/chat", ASK | {"messages": ROWS})
INTERACTIONS = (
    "https://generativelanguage.googleapis.com/v1beta/interactions",
    ASK | {"input": "Why?"},
)


# --- OpenAI Responses


def part(text: str, kind: str = "output_text") -> Event:
    member = "refusal" if kind == "refusal" else "text"
    return {"type": kind, member: text, "annotations": []}


def item(*parts: Event, name: str = "msg_1") -> Event:
    return {
        "id": name,
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [*parts],
    }


def ended(*items: Event, cut: bool) -> Event:
    status = "incomplete" if cut else "completed"
    response = {
        "id": "resp_1",
        "object": "response",
        "model": "m",
        "status": status,
        "output": [*items],
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "usage": {"input_tokens": 5, "output_tokens": 9, "total_tokens": 14},
    }
    return {"type": f"response.{status}", "response": response}


CREATED = {"type": "response.created", "response": {"id": "resp_1", "model": "m", "output": []}}
AT = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
ADDED = [
    {"type": "response.output_item.added", "output_index": 0, "item": item()},
    {"type": "response.content_part.added", **AT, "part": part("")},
]


def text_done(text: str) -> Event:
    return {"type": "response.output_text.done", **AT, "text": text}


def part_done(text: str) -> Event:
    return {"type": "response.content_part.done", **AT, "part": part(text)}


def item_done(text: str) -> Event:
    return {"type": "response.output_item.done", "output_index": 0, "item": item(part(text))}


def delta(text: str) -> Event:
    return {"type": "response.output_text.delta", **AT, "delta": text}


def responses(text: str, cut: bool) -> Iterator[tuple[str, list[Event]]]:
    end, bare = ended(item(part(text)), cut=cut), ended(cut=cut)
    dones = [text_done(text), part_done(text), item_done(text)]
    yield "all_dones", [CREATED, *ADDED, *dones, end]
    yield "text_done_alone", [CREATED, *ADDED, text_done(text), bare]
    yield "text_done_unannounced", [CREATED, text_done(text), bare]
    yield "part_done_alone", [CREATED, *ADDED, part_done(text), bare]
    yield "item_done_alone", [CREATED, item_done(text), bare]
    yield "last_event_alone", [end]
    yield "last_event_behind_created", [CREATED, end]
    yield (
        "part_that_begins_whole",
        [
            CREATED,
            ADDED[0],
            {"type": "response.content_part.added", **AT, "part": part(text)},
            part_done(text),
            bare,
        ],
    )
    yield "deltas_that_lack_the_end", [CREATED, *ADDED, delta(text[:9]), *dones, end]


# --- Anthropic Messages


def block(text: str) -> Event:
    return {"type": "text", "text": text}


def start(*content: Event) -> Event:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [*content],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 1},
    }
    return {"type": "message_start", "message": message}


def messages(text: str, cut: bool) -> Iterator[tuple[str, list[Event]]]:
    reason = "max_tokens" if cut else "end_turn"
    end: list[Event] = [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    begun: Event = {"type": "content_block_start", "index": 0, "content_block": block("")}
    closed = {"type": "content_block_stop", "index": 0}
    yield "in_message_start", [start(block(text)), *end]
    yield "in_message_start_by_two", [start(block(text[:9]), block(text[9:])), *end]
    yield "in_block_start", [start(), {**begun, "content_block": block(text)}, closed, *end]
    yield "in_block_stop", [start(), begun, {**closed, "content_block": block(text)}, *end]
    whole = start(block(text))["message"]
    yield "in_message_stop", [start(), end[0], {**end[1], "message": whole}]


# --- OpenAI Chat


def choice(finish: str | None = None, **members: Any) -> Event:
    told = {"index": 0, "finish_reason": finish, **members}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [told]}


def chat(text: str, cut: bool) -> Iterator[tuple[str, list[Event]]]:
    reason = "length" if cut else "stop"

    def said(words: str) -> Event:
        return {"role": "assistant", "content": words}

    yield "message", [choice(reason, message=said(text))]
    yield "message_then_stop", [choice(message=said(text)), choice(reason, message=said(""))]
    yield (
        "messages_in_pieces",
        [
            choice(message=said(text[:9])),
            choice(message=said(text[9:])),
            choice(reason, delta={}),
        ],
    )
    yield (
        "messages_that_grow",
        [
            choice(message=said(text[:9])),
            choice(message=said(text)),
            choice(reason, delta={}),
        ],
    )
    yield "message_beside_an_empty_delta", [choice(reason, delta={}, message=said(text))]
    yield "message_beside_null", [choice(reason, delta=None, message=said(text))]
    yield (
        "message_that_repeats_the_deltas",
        [
            choice(delta=said(text[:9])),
            choice(delta=said(text[9:])),
            choice(reason, delta={}, message=said(text)),
        ],
    )
    yield (
        "both_alike",
        [
            choice(delta=said(text[:9]), message=said(text[:9])),
            choice(delta=said(text[9:]), message=said(text[9:])),
            choice(reason, delta={}),
        ],
    )
    yield "text", [choice(text=text[:9]), choice(text=text[9:]), choice(reason, text="")]
    yield "text_beside_an_empty_delta", [choice(text=text, delta={}), choice(reason, delta={})]


# --- Cohere, Interactions


def cohere(text: str, cut: bool) -> Iterator[tuple[str, list[Event]]]:
    reason = "MAX_TOKENS" if cut else "COMPLETE"
    usage = {"tokens": {"input_tokens": 5, "output_tokens": 9}}
    content = {"type": "text", "text": text}
    message = {"role": "assistant", "content": [content]}
    begun = {"id": "c1", "type": "message-start", "delta": {"message": {"content": []}}}
    end: Event = {"type": "message-end", "delta": {"finish_reason": reason, "usage": usage}}
    first = {"type": "content-start", "index": 0, "delta": {"message": {"content": content}}}
    yield "in_content_start", [begun, first, {"type": "content-end", "index": 0}, end]
    told = {**end["delta"], "message": message}
    yield "in_message_end", [begun, {**end, "delta": told}]
    yield "in_message_end_alone", [{**end, "delta": told}]


def interactions(text: str, cut: bool) -> Iterator[tuple[str, list[Event]]]:
    step = {"type": "model_output", "content": [{"type": "text", "text": text}]}
    base: Event = {"id": "v1", "object": "interaction", "model": "m", "status": "in_progress"}
    begun = {"event_type": "interaction.created", "interaction": base}
    usage = {"total_input_tokens": 5, "total_output_tokens": 9}
    status = "incomplete" if cut else "completed"
    bare = {**base, "status": status, "usage": usage}
    end = {"event_type": "interaction.completed", "interaction": bare}
    first = {"event_type": "step.start", "index": 0, "step": step}
    empty = {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}}
    closed = {"event_type": "step.stop", "index": 0}
    yield "in_step_start", [begun, first, closed, end]
    yield "in_step_stop", [begun, empty, {**closed, "step": step}, end]
    whole = {**end, "interaction": {**bare, "steps": [step]}}
    yield "last_event_behind_created", [begun, whole]
    yield "last_event_alone", [whole]


WIRES = {
    "responses": (RESPONSES, responses),
    "messages": (MESSAGES, messages),
    "chat": (CHAT, chat),
    "cohere": (COHERE, cohere),
    "interactions": (INTERACTIONS, interactions),
}
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


def as_sent(wire: str, events: list[Event]) -> list[bytes]:
    for event in events:  # Interactions name their events by another member
        event.setdefault("type", event.get("event_type")) if wire == "interactions" else None
    return sse(events, done=wire == "chat")


@pytest.mark.behaviour("S10")
@pytest.mark.parametrize(("wire", "number"), CASES)
def test_an_answer_that_comes_whole_leaves_as_it_came_after_one_request(wire, number):
    turn, came = played(wire, number, TEXT, cut=False)
    assert len(turn.sent) == 1
    assert turn.got == came
    assert turn.report.status == "complete"


REST_OF: dict[str, list[Event]] = {
    "responses": [CREATED, *ADDED, delta(REST), text_done(REST), part_done(REST),
                  item_done(REST), ended(item(part(REST)), cut=False)],
    "messages": next(e for n, e in messages(REST, False) if n == "in_block_start"),
    "chat": [choice(delta={"content": REST}), choice("stop", delta={})],
    "cohere": next(e for n, e in cohere(REST, False) if n == "in_content_start"),
    "interactions": next(e for n, e in interactions(REST, False) if n == "in_step_start"),
}  # fmt: skip


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
