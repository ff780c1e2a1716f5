"""Streams in which a text comes whole instead of in pieces, on each wire that can have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from support.events.framing import sse

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
    stopped = start(block(text))
    stopped["message"]["stop_reason"] = reason
    yield "in_message_start_with_its_stop", [stopped, end[1]]
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


def as_sent(wire: str, events: list[Event]) -> list[bytes]:
    for event in events:  # Interactions name their events by another member
        event.setdefault("type", event.get("event_type")) if wire == "interactions" else None
    return sse(events, done=wire == "chat")


REST_OF: dict[str, list[Event]] = {
    "responses": [CREATED, *ADDED, delta(REST), text_done(REST), part_done(REST),
                  item_done(REST), ended(item(part(REST)), cut=False)],
    "messages": next(e for n, e in messages(REST, False) if n == "in_block_start"),
    "chat": [choice(delta={"content": REST}), choice("stop", delta={})],
    "cohere": next(e for n, e in cohere(REST, False) if n == "in_content_start"),
    "interactions": next(e for n, e in interactions(REST, False) if n == "in_step_start"),
}  # fmt: skip
