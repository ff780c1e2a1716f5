"""The wrapped official SDKs of all wires, in front of a far side that says what a test wrote down:
a text, and one call in whatever pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from support.asking.anthropic_messages import TOOLS as ANTHROPIC_TOOLS
from support.asking.anthropic_messages import WrappedAnthropic
from support.asking.bedrock_converse import TOOLS as CONVERSE_TOOLS
from support.asking.bedrock_converse import WrappedBedrock
from support.asking.bedrock_invoke import WrappedInvoke
from support.asking.cohere import WrappedCohere
from support.asking.cohere_v1 import TOOLS as COHERE_V1_TOOLS
from support.asking.cohere_v1 import WrappedCohereV1
from support.asking.gemini_generate import TOOLS as GEMINI_TOOLS
from support.asking.gemini_generate import WrappedGemini
from support.asking.gemini_interactions import TOOLS as INTERACTIONS_TOOLS
from support.asking.gemini_interactions import WrappedInteractions, asks
from support.asking.mistral import WrappedMistral
from support.asking.ollama import WrappedOllama
from support.asking.openai_chat import TOOLS as CHAT_TOOLS
from support.asking.openai_responses import TOOLS as RESPONSES_TOOLS
from support.asking.openai_responses import WrappedResponses
from support.asking.wrapping import Wrapped
from support.aws import chunk, message
from support.far_sides import FarSide, answer, json_answer, sse_answer

MAKERS: dict[str, Any] = {
    "anthropic-messages": WrappedAnthropic,
    "bedrock-converse": WrappedBedrock,
    "bedrock-invoke": WrappedInvoke,
    "cohere": WrappedCohere,
    "cohere-v1": WrappedCohereV1,
    "gemini-generate": WrappedGemini,
    "gemini-interactions": WrappedInteractions,
    "mistral": WrappedMistral,
    "ollama": WrappedOllama,
    "openai-chat": Wrapped,
    "openai-responses": WrappedResponses,
}
TOOLS: dict[str, dict[str, Any]] = {
    "anthropic-messages": {"tools": ANTHROPIC_TOOLS},
    "bedrock-converse": {"toolConfig": CONVERSE_TOOLS},
    "bedrock-invoke": {"tools": CHAT_TOOLS},
    "cohere": {"tools": CHAT_TOOLS},
    "cohere-v1": {"tools": COHERE_V1_TOOLS},
    "gemini-generate": {"tools": GEMINI_TOOLS},
    "gemini-interactions": {"tools": INTERACTIONS_TOOLS},
    "mistral": {"tools": CHAT_TOOLS},
    "ollama": {"tools": CHAT_TOOLS},
    "openai-chat": {"tools": CHAT_TOOLS},
    "openai-responses": {"tools": RESPONSES_TOOLS},
}
ROWS: dict[str, dict[str, Any]] = {
    "bedrock-converse": {"role": "user", "content": [{"text": "Write it."}]},
    "cohere-v1": {"role": "USER", "message": "Write it."},
    "gemini-generate": {"role": "user", "parts": [{"text": "Write it."}]},
    "gemini-interactions": asks("Write it."),
}
DECODED = ("cohere-v1", "gemini-generate", "ollama")
"""Wires on which arguments are no text but an object."""
NAME, ID = "write_file", "call_1"
Event = dict[str, Any]


class At:
    """Where an asker finds a far side."""

    def __init__(self, far: FarSide) -> None:
        self.base_url = far.base_url
        self.root_url = far.base_url.removesuffix("/v1")


def ask(
    asker: Any, wire: str, mode: str = "stream", way: str = "sync", *, required: bool = True
) -> Any:
    """One question with a tool; `required`: whether the tool requires arguments."""
    row = ROWS.get(wire, {"role": "user", "content": "Write it."})
    tools = TOOLS[wire] if required else _without_required(TOOLS[wire])
    return asker.ask([row], mode, way, **tools)


def _without_required(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_required(v) for k, v in value.items() if k != "required"}
    return [_without_required(item) for item in value] if isinstance(value, list) else value


def arguments_of(said: Any) -> list[Any]:
    """What the calls that were handed out ask for, as values."""
    if hasattr(said, "inputs"):
        return list(said.inputs)
    return [json.loads(raw) for raw in said.raw_arguments]


def streamed(wire: str, *pieces: Any, text: str = "", stop: str | None = None) -> bytes:
    """A response that streams a text and a call, with a clean stop: that of a call, or `stop`. Each
    piece stands where the wire has a piece of the arguments, whatever it is."""
    return as_stream(wire, [_stopped(e, stop) for e in EVENTS[wire](pieces, text)])


def as_stream(wire: str, events: list[Event]) -> bytes:
    """Events as the wire has them."""
    if wire in AWS:
        raw = b"".join(map(AWS[wire], events))
        return answer(raw, "content-type: application/vnd.amazon.eventstream", length=False)
    if wire in LINES:
        raw = b"".join(json.dumps(event).encode() + b"\n" for event in events)
        return answer(raw, "content-type: application/x-ndjson", length=False)
    return sse_answer(b"".join(_line(event) for event in events))


def _named(event: Event) -> bytes:
    ((name, payload),) = event.items()
    kinds = {"content_type": "application/json", "message_type": "event"}
    return message(json.dumps(payload).encode(), event_type=name, **kinds)


LINES = ("cohere-v1", "ollama")
AWS = {
    "bedrock-converse": _named,
    "bedrock-invoke": lambda event: chunk(json.dumps(event).encode()),
}


def _line(event: Event) -> bytes:
    name = f"event: {event['type']}\n" if isinstance(event.get("type"), str) else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def _chat(pieces: Iterable[Any], text: str) -> Iterable[Event]:
    shared: Event = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    first = {"id": ID, "type": "function", "function": {"name": NAME, "arguments": ""}}
    deltas: list[Event] = [
        {"role": "assistant", "content": text},
        {"tool_calls": [{"index": 0, **first}]},
    ]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": p}}]} for p in pieces]
    for delta, finish in [*((delta, None) for delta in deltas), ({}, "tool_calls")]:
        yield {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _anthropic(pieces: Iterable[Any], text: str) -> Iterable[Event]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    told: Event = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": []}
    told |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    yield {"type": "message_start", "message": told}
    if text:
        part: Event = {"type": "text", "text": ""}
        yield {"type": "content_block_start", "index": 0, "content_block": part}
        delta: Event = {"type": "text_delta", "text": text}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
    index = int(bool(text))
    part = {"type": "tool_use", "id": ID, "name": NAME, "input": {}}
    yield {"type": "content_block_start", "index": index, "content_block": part}
    for piece in pieces:
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": "tool_use", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def _converse(pieces: Iterable[Any], text: str) -> Iterable[Event]:
    yield {"messageStart": {"role": "assistant"}}
    if text:
        yield {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}}}
        yield {"contentBlockStop": {"contentBlockIndex": 0}}
    at = {"contentBlockIndex": int(bool(text))}
    yield {"contentBlockStart": {**at, "start": {"toolUse": {"toolUseId": ID, "name": NAME}}}}
    for piece in pieces:
        yield {"contentBlockDelta": {**at, "delta": {"toolUse": {"input": piece}}}}
    yield {"contentBlockStop": at}
    yield {"messageStop": {"stopReason": "tool_use"}}
    usage = {"inputTokens": 1, "outputTokens": 5, "totalTokens": 6}
    yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


def _cohere(pieces: Iterable[Any], text: str) -> Iterable[Event]:
    def event(kind: str, **said: Any) -> Event:
        return {"type": kind, "index": 0, "delta": {"message": said}}

    yield {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}}
    if text:
        yield event("content-start", content={"type": "text", "text": ""})
        yield event("content-delta", content={"text": text})
        yield {"type": "content-end", "index": 0}
    begun = {"id": ID, "type": "function", "function": {"name": NAME, "arguments": ""}}
    yield event("tool-call-start", tool_calls=begun)
    for piece in pieces:
        yield event("tool-call-delta", tool_calls={"function": {"arguments": piece}})
    yield {"type": "tool-call-end", "index": 0}
    usage = {"tokens": {"input_tokens": 1, "output_tokens": 5}}
    yield {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": usage}}


def _cohere_v1(pieces: Iterable[Any], text: str) -> Iterable[Event]:
    """A call comes whole here, behind what says that it begins, where there is something to come."""

    def event(kind: str, **said: Any) -> Event:
        return {"is_finished": kind == "stream-end", "event_type": kind, **said}

    yield event("stream-start", generation_id="g1")
    if text:
        yield event("tool-calls-chunk", text=text)
    calls = [{"name": NAME, "parameters": piece} for piece in pieces]
    for number, piece in enumerate(pieces):
        if piece is not None and piece != "":
            yield event("tool-calls-chunk", tool_call_delta={"index": number, "name": NAME})
    yield event("tool-calls-generation", text=text, tool_calls=calls)
    usage = {"tokens": {"input_tokens": 1, "output_tokens": 5}}
    whole = {"text": text, "generation_id": "g1", "tool_calls": calls, "meta": usage}
    yield event("stream-end", response=whole, finish_reason="COMPLETE")


def _responses(pieces: Iterable[Any], text: str) -> Iterable[Event]:
    def event(kind: str, **more: Any) -> Event:
        return {"type": f"response.{kind}", "sequence_number": next(numbers), **more}

    numbers = iter(range(100))
    whole = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "output": []}
    yield event("created", response={**whole, "status": "in_progress"})
    output: list[Event] = []
    if text:
        part = {"type": "output_text", "text": text, "annotations": []}
        item: Event = {"id": "msg_1", "type": "message", "role": "assistant", "content": [part]}
        at: Event = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
        yield event("output_item.added", output_index=0, item={**item, "content": []})
        yield event("content_part.added", **at, part={**part, "text": ""})
        yield event("output_text.delta", **at, delta=text)
        yield event("output_text.done", **at, text=text)
        yield event("content_part.done", **at, part=part)
        output.append({**item, "status": "completed"})
        yield event("output_item.done", output_index=0, item=output[0])
    index = len(output)
    item = {"id": "fc_1", "type": "function_call", "call_id": ID, "name": NAME, "arguments": ""}
    yield event("output_item.added", output_index=index, item=dict(item))
    for piece in pieces:
        at = {"output_index": index, "item_id": "fc_1"}
        yield event("function_call_arguments.delta", **at, delta=piece)
    item["arguments"] = "".join(piece for piece in pieces if isinstance(piece, str))
    item["status"] = "completed"
    yield event("output_item.done", output_index=index, item=item)
    output = [*output, item]
    yield event("completed", response={**whole, "status": "completed", "output": output})


def _gemini(pieces: Iterable[Any], text: str) -> Iterable[Event]:
    """A call comes in one piece here."""
    told = [{"text": text}] if text else []
    calls = [{"functionCall": {"name": NAME, "args": piece}} for piece in pieces]
    parts: list[Event] = [*told, *calls]
    for number, part in enumerate(parts):
        candidate: Event = {"index": 0, "content": {"role": "model", "parts": [part]}}
        if number == len(parts) - 1:
            candidate["finishReason"] = "STOP"
        yield {"candidates": [candidate], "responseId": "g1", "modelVersion": "m"}


def _interactions(pieces: Iterable[Any], text: str) -> Iterable[Event]:
    told: Event = {"id": "v1_1", "object": "interaction", "model": "m"}
    yield {"interaction": told | {"status": "in_progress"}, "event_type": "interaction.created"}
    said = [{"type": "text", "text": text}] if text else []
    call = {"type": "function_call", "id": ID, "name": NAME, "arguments": {}}
    given = [{"type": "arguments_delta", "arguments": piece} for piece in pieces]
    steps = [*([({"type": "model_output"}, said)] if text else []), (call, given)]
    for index, (step, deltas) in enumerate(steps):
        yield {"index": index, "step": step, "event_type": "step.start"}
        for delta in deltas:
            yield {"index": index, "delta": delta, "event_type": "step.delta"}
        yield {"index": index, "event_type": "step.stop"}
    last = told | {"status": "requires_action"}
    yield {"interaction": last, "event_type": "interaction.completed"}


def _mistral(pieces: Iterable[Any], text: str) -> Iterable[Event]:
    """A call comes in one piece here as well."""
    shared: Event = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    calls = [
        {"id": ID, "type": "function", "function": {"name": NAME, "arguments": piece}, "index": 0}
        for piece in pieces
    ]
    usage = {"prompt_tokens": 1, "completion_tokens": 5, "total_tokens": 6}
    begun: Event = {"role": "assistant", "content": text}
    yield {**shared, "choices": [{"index": 0, "delta": begun, "finish_reason": None}]}
    choice = {"index": 0, "delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}
    yield {**shared, "choices": [choice], "usage": usage}


def _ollama(pieces: Iterable[Any], text: str) -> Iterable[Event]:
    """A call comes in one piece here as well."""
    shared: Event = {"model": "m", "created_at": "2026-11-22T10:00:00Z"}
    message: Event = {"role": "assistant", "content": text}
    yield {**shared, "message": message, "done": False}
    for piece in pieces:
        call = {"function": {"name": NAME, "arguments": piece}}
        told: Event = {"role": "assistant", "content": "", "tool_calls": [call]}
        yield {**shared, "message": told, "done": False}
    end: Event = {"role": "assistant", "content": ""}
    yield {**shared, "message": end, "done": True, "done_reason": "stop"}


ABSENT: Any = object()
"""Stands for arguments that do not stand in a body at all."""


def whole(wire: str, given: Any, *, text: str = "", stop: str | None = None) -> bytes:
    """A body with a text and a call, with a clean stop: that of a call, or `stop`."""
    body = _given(_stopped(BODIES[wire](text), stop), given)
    return json_answer(json.dumps(body).encode())


def _given(value: Any, given: Any) -> Any:
    """A body with the arguments of its call in their place, which is `ABSENT` there."""
    if isinstance(value, dict):
        said = {k: given if v is ABSENT else _given(v, given) for k, v in value.items()}
        return {k: v for k, v in said.items() if v is not ABSENT}
    return [_given(item, given) for item in value] if isinstance(value, list) else value


_STOPS = ("stop_reason", "stopReason", "finish_reason", "status")
_OF_CALLS = ("tool_use", "tool_calls", "TOOL_CALL", "requires_action")


def _stopped(event: Any, stop: str | None) -> Any:
    """An event or body in which `stop` stands in place of the stop of a call."""
    if stop is None or not isinstance(event, dict | list):
        return event
    if isinstance(event, list):
        return [_stopped(item, stop) for item in event]
    return {
        k: stop if k in _STOPS and v in _OF_CALLS else _stopped(v, stop) for k, v in event.items()
    }


def _function() -> Event:
    return {"id": ID, "type": "function", "function": {"name": NAME, "arguments": ABSENT}}


def _chat_body(text: str) -> Event:
    said: Event = {"role": "assistant", "content": text or None, "tool_calls": [_function()]}
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 1, "completion_tokens": 5, "total_tokens": 6}
    told = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m"}
    return {**told, "choices": [choice], "usage": usage}


def _anthropic_body(text: str) -> Event:
    said = [{"type": "text", "text": text}] if text else []
    call = {"type": "tool_use", "id": ID, "name": NAME, "input": ABSENT}
    told: Event = {"id": "m1", "type": "message", "role": "assistant", "model": "m"}
    told |= {"stop_reason": "tool_use", "stop_sequence": None}
    return {**told, "content": [*said, call], "usage": {"input_tokens": 1, "output_tokens": 5}}


def _converse_body(text: str) -> Event:
    said = [{"text": text}] if text else []
    content = [*said, {"toolUse": {"toolUseId": ID, "name": NAME, "input": ABSENT}}]
    usage = {"inputTokens": 1, "outputTokens": 5, "totalTokens": 6}
    told: Event = {"output": {"message": {"role": "assistant", "content": content}}}
    return {**told, "stopReason": "tool_use", "usage": usage, "metrics": {"latencyMs": 1}}


def _cohere_body(text: str) -> Event:
    said: Event = {"role": "assistant", "tool_calls": [_function()]}
    said |= {"content": [{"type": "text", "text": text}]} if text else {}
    usage = {"tokens": {"input_tokens": 1, "output_tokens": 5}}
    return {"id": "m1", "finish_reason": "TOOL_CALL", "message": said, "usage": usage}


def _cohere_v1_body(text: str) -> Event:
    calls = [{"name": NAME, "parameters": ABSENT}]
    usage = {"tokens": {"input_tokens": 1, "output_tokens": 5}}
    told: Event = {"text": text, "generation_id": "g1", "tool_calls": calls, "meta": usage}
    return told | {"finish_reason": "COMPLETE"}


def _gemini_body(text: str) -> Event:
    said = [{"text": text}] if text else []
    parts = [*said, {"functionCall": {"name": NAME, "args": ABSENT}}]
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], "responseId": "g1", "modelVersion": "m"}


def _interactions_body(text: str) -> Event:
    said: list[Event] = [{"type": "model_output", "content": [{"type": "text", "text": text}]}]
    call = {"type": "function_call", "id": ID, "name": NAME, "arguments": ABSENT}
    told: Event = {"id": "v1_1", "object": "interaction", "model": "m"}
    return {**told, "status": "requires_action", "steps": [*(said if text else []), call]}


def _mistral_body(text: str) -> Event:
    return _chat_body(text) | {"id": "08f3" * 8, "model": "mistral-small-latest"}


def _ollama_body(text: str) -> Event:
    call = {"function": {"name": NAME, "arguments": ABSENT}}
    said = {"role": "assistant", "content": text, "tool_calls": [call]}
    told: Event = {"model": "m", "created_at": "2026-11-22T10:00:00Z", "message": said}
    return {**told, "done": True, "done_reason": "stop"}


def _responses_body(text: str) -> Event:
    part = {"type": "output_text", "text": text, "annotations": []}
    said: list[Event] = [
        {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    ]
    said[0]["content"] = [part]
    call = {"id": "fc_1", "type": "function_call", "call_id": ID, "name": NAME}
    call |= {"status": "completed", "arguments": ABSENT}
    told: Event = {"id": "r1", "object": "response", "created_at": 1, "model": "m"}
    return {**told, "status": "completed", "output": [*(said if text else []), call]}


BODIES = {
    "anthropic-messages": _anthropic_body,
    "bedrock-converse": _converse_body,
    "bedrock-invoke": _chat_body,
    "cohere": _cohere_body,
    "cohere-v1": _cohere_v1_body,
    "gemini-generate": _gemini_body,
    "gemini-interactions": _interactions_body,
    "mistral": _mistral_body,
    "ollama": _ollama_body,
    "openai-chat": _chat_body,
    "openai-responses": _responses_body,
}

EVENTS = {
    "anthropic-messages": _anthropic,
    "bedrock-converse": _converse,
    "bedrock-invoke": _chat,
    "cohere": _cohere,
    "cohere-v1": _cohere_v1,
    "gemini-generate": _gemini,
    "gemini-interactions": _interactions,
    "mistral": _mistral,
    "ollama": _ollama,
    "openai-chat": _chat,
    "openai-responses": _responses,
}
