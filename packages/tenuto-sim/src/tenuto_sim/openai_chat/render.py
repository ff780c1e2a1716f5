"""Write a reply: as one JSON document, or as a list of events.

The templates are OpenAI's as recorded in 2026, with their key order and nulls. Each oddity is a
small function over the list of chunks, chosen by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tenuto_sim.case import Ending, Odd, Shape, Step
from tenuto_sim.envelope import Envelope, dump
from tenuto_sim.openai_chat.dialects import OPENAI, Dialect
from tenuto_sim.openai_chat.errors import ERRORS
from tenuto_sim.reply import Call, Reply
from tenuto_sim.writing import in_the_middle, pieces, together

DONE: Final = ("", "[DONE]")
FINGERPRINT: Final = "fp_sim0000001"
CREATED: Final = 1_790_000_000

Chunk = dict[str, Any]


def document(
    reply: Reply, step: Step, envelope: Envelope, dialect: Dialect = OPENAI
) -> dict[str, Any]:
    """Return the answer to a request without `stream`.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("chatcmpl-1", "sim"))
    >>> made["choices"][0]["message"]["content"]
    'Hi.'
    """
    text = reply.text
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text if text is None else reply.echo + text,
    }
    if reply.reasoning:
        message[dialect.reasoning_key] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [body_call(call, reply.shape) for call in reply.calls]
    message |= {"refusal": reply.refusal, "annotations": []}
    choice = {"message": message, "logprobs": None, "finish_reason": _stop(reply, dialect)}
    if step.ending is Ending.NO_FINISH:
        del choice["finish_reason"]
    if step.native_finish is not None:
        choice["native_finish_reason"] = step.native_finish
    made: dict[str, Any] = {
        "id": envelope.id,
        "object": "chat.completion",
        "created": CREATED,
        "model": envelope.model,
        "choices": [{"index": index} | choice for index in range(envelope.choices)],
        "usage": usage(reply),
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
        **dialect.in_body,
    }
    if not step.usage:
        del made["usage"]
    return dialect.said(made)


def usage(reply: Reply) -> dict[str, Any]:
    """Return the usage object of a reply.

    >>> usage(Reply("Hi.", (), "stop", 3, 1))["total_tokens"]
    4
    """
    return {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reply.reasoning_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def body_call(call: Call, shape: Shape, **more: Any) -> dict[str, Any]:
    """Return a whole call, without what its shape leaves out."""
    function = {"name": call.name, "arguments": call.arguments}
    made = {"id": call.id, "type": "function", "function": function, **more}
    absent = {Shape.NO_TYPE: "type", Shape.NO_ID: "id", Shape.NO_INDEX: "index"}.get(shape)
    return {name: item for name, item in made.items() if name != absent}


def _stop(reply: Reply, dialect: Dialect) -> str | None:
    return dialect.stops.get(reply.finish, reply.finish)


def payloads(
    reply: Reply, step: Step, envelope: Envelope, dialect: Dialect = OPENAI
) -> list[Chunk]:
    """Return the chunks of a stream.

    >>> len(payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("chatcmpl-1", "sim")))
    3
    """
    chunks = list(_chunks(replace(reply, finish=_stop(reply, dialect)), step, envelope, dialect))
    if step.error:
        told = dialect.breaks_off if step.error == "mid_stream" else ERRORS[step.error]
        error = dict(told.document)
        if "x_groq" in error:
            chunks.append(_chunk(envelope, []) | error)
        elif step.finish == "error":
            chunks[-1] = chunks[-1] | error
        else:
            chunks.append(error)
    change = _ODDITIES.get(step.odd) if step.odd is not None else None
    return change(chunks, reply) if change is not None else chunks


def fresh(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Return copies of chunks that can be changed."""
    return [json.loads(dump(chunk)) for chunk in chunks]


def _chunk(envelope: Envelope, choices: list[Any]) -> Chunk:
    made: Chunk = {
        "id": envelope.id,
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": envelope.model,
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
        "choices": choices,
    }
    if envelope.include_usage:
        made["usage"] = None
    return made


def _chunks(reply: Reply, step: Step, envelope: Envelope, dialect: Dialect) -> Iterator[Chunk]:
    for delta in _deltas(reply, step, envelope.token_chars, dialect):
        running = {"usage": usage(reply)} if dialect.counts_run else {}
        for index in range(envelope.choices):
            yield {**_chunk(envelope, [_choice(index, delta, None)]), **running}
    failed = step.error and step.finish != "error"
    if reply.finish is not None and not failed:
        for index in range(envelope.choices):
            choice = _choice(index, {}, reply.finish)
            if step.native_finish is not None:
                choice["native_finish_reason"] = step.native_finish
            told = dialect.in_last_chunk(usage(reply)) if step.usage else {}
            yield {**_chunk(envelope, [choice]), **told}
    alone = step.ending is Ending.COUNT_ALONE
    counts = alone or (envelope.include_usage and step.usage and reply.finish is not None)
    if counts and not failed:
        yield _chunk(envelope, []) | {"usage": usage(reply)}


def _choice(index: int, delta: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}


def _deltas(
    reply: Reply, step: Step, token_chars: int, dialect: Dialect
) -> Iterator[dict[str, Any]]:
    size = step.event_chars or token_chars
    yield {"role": "assistant", "content": None if reply.text is None else "", "refusal": None}
    for name, text in (
        (dialect.reasoning_key, reply.reasoning),
        ("content", reply.text or ""),
        ("refusal", reply.refusal or ""),
    ):
        yield from ({name: piece} for piece in pieces(text, size))
    written = [
        list(_call_deltas(index, call, reply.shape, size, dialect))
        for index, call in enumerate(reply.calls)
    ]
    yield from together(written, reply.shape)


def _call_deltas(
    index: int, call: Call, shape: Shape, size: int, dialect: Dialect
) -> Iterator[dict[str, Any]]:
    raw = call.arguments
    first = replace(call, arguments="" if isinstance(raw, str) else raw)
    at = {} if shape is Shape.NO_INDEX else {"index": index}
    yield {"tool_calls": [at | body_call(first, shape)]}
    for piece in pieces(raw, size) if isinstance(raw, str) else ():
        function = {"arguments": piece}
        yield {"tool_calls": [{**at, **dialect.in_piece, "function": function}]}


def _finish_at(chunks: list[Chunk]) -> int:
    """Return the index of the chunk with the finish reason."""
    return next(
        i for i, chunk in enumerate(chunks)
        if chunk["choices"] and chunk["choices"][0]["finish_reason"] is not None
    )  # fmt: skip


def _again(chunks: list[Chunk], finish: str | None) -> list[Chunk]:
    at = _finish_at(chunks)
    first = chunks[at]["choices"][0]
    again = chunks[at] | {"choices": [first | {"finish_reason": finish or first["finish_reason"]}]}
    return [*chunks[: at + 1], again, *chunks[at + 1 :]]


def _late_content(chunks: list[Chunk], _: Reply) -> list[Chunk]:
    at = _finish_at(chunks)
    begin = max(1, at - 3)
    return [*chunks[:begin], chunks[at], *chunks[begin:at], *chunks[at + 1 :]]


def _late_usage(chunks: list[Chunk], reply: Reply) -> list[Chunk]:
    """Always give the usage in a chunk of its own, with an empty choice."""
    last = chunks[-1] | {"choices": [_choice(0, {}, None)], "usage": usage(reply)}
    return [*chunks, last]


def _empty_choices(chunks: list[Chunk], _: Reply) -> list[Chunk]:
    """Azure: the prompt's annotation first, annotations of the answer in the middle."""
    safe = {"hate": {"filtered": False, "severity": "safe"}}
    prompt: Chunk = {
        "choices": [],
        "created": 0,
        "id": "",
        "model": "",
        "object": "",
        "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": safe}],
    }
    note = {key: value for key, value in chunks[0].items() if key != "choices"} | {"choices": []}
    return [prompt, *in_the_middle(chunks, note)]


def _moderation(chunks: list[Chunk], _: Reply) -> list[Chunk]:
    results = {"type": "moderation_results", "model": "omni-moderation", "results": []}
    note = chunks[0] | {"choices": [], "moderation": {"input": results, "output": results}}
    return [*chunks, note]


_ODDITIES: Final[Mapping[Odd, Callable[[list[Chunk], Reply], list[Chunk]]]] = {
    Odd.FINISH_REPEATED: lambda chunks, _: _again(chunks, None),
    Odd.FINISH_CONFLICT: lambda chunks, _: _again(chunks, "length"),
    Odd.CONTENT_AFTER_FINISH: _late_content,
    Odd.USAGE_AFTER_FINISH: _late_usage,
    Odd.EMPTY_CHOICES: _empty_choices,
    Odd.MODERATION: _moderation,
}
