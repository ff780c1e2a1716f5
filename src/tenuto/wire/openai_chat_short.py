"""The short path of OpenAI Chat (`wire.short`)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from tenuto.wire.json import is_utf8
from tenuto.wire.plain import say_something
from tenuto.wire.short import (
    NOTICE_START,
    NULL,
    UNREADABLE,
    UNSURE,
    Asks,
    Kind,
    Named,
    Said,
    are_different,
    is_plain_text,
    read_object,
    read_text,
)

# --- the request --------------------------------------------------------------------------------


class _Row(msgspec.Struct):
    """A row without calls and results."""

    role: Literal["user", "system", "developer", "assistant"]
    content: msgspec.Raw = NULL
    tool_calls: None = None
    function_call: None = None


class _Request(msgspec.Struct):
    messages: list[_Row]
    model: Any = None
    stream: bool | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: Any = None
    logprobs: Any = None
    top_logprobs: Any = None
    modalities: Any = None


_ALONE = (None, None, None, None)

_read_request = msgspec.json.Decoder(_Request).decode


def asks(body: bytes, url: str = "") -> Asks | None:
    """What a request asks for whose rows are texts of people and of the model; else None.

    >>> asks(b'{"messages": [{"role": "user", "content": "Hi"}], "stream": true}').stream
    True
    >>> asks(b'{"messages": [{"role": "tool", "content": "Hi"}]}') is None
    True
    """
    if not is_plain_text(body):
        return None
    try:
        request = _read_request(body)
        for row in request.messages:
            if row.role == "assistant":
                text = read_text(row.content)
                if not text or text.isspace() or NOTICE_START in text:
                    return None
    except UNREADABLE:
        return None
    if not request.messages:
        return None
    limit = request.max_completion_tokens
    return Asks(
        request.stream is True,
        model=request.model if isinstance(request.model, str) else "",
        max_tokens=limit if limit is not None and limit > 0 else request.max_tokens,
        alone=(request.n, request.logprobs, request.top_logprobs, request.modalities) != _ALONE,
    )


# --- the answer ---------------------------------------------------------------------------------


class _Function(msgspec.Struct):
    name: Named
    arguments: str


class _Call(msgspec.Struct):
    id: Named
    type: Literal["function"]
    function: _Function
    custom: None = None


class _Message(msgspec.Struct):
    content: msgspec.Raw = NULL  # not decoded: bodies may be large
    refusal: Literal["", None] = None
    tool_calls: list[_Call] | None = None
    function_call: None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: Literal["stop", "tool_calls"]
    index: Literal[0, None] = 0
    native_finish_reason: Literal["stop", "tool_calls", "", None] = None
    finish_details: None = None
    error: None = None


class _Groq(msgspec.Struct):
    error: None = None


class _MiniMax(msgspec.Struct):
    status_code: Literal[0, None] = None


class _Whole(msgspec.Struct):
    """All keys that tell of an error, a stop or a call."""

    choices: tuple[_Choice]
    object: Literal["chat.completion", None] = None
    error: None = None
    x_groq: _Groq | None = None
    base_resp: _MiniMax | None = None
    type: None = None


_read_whole = msgspec.json.Decoder(_Whole).decode


def is_text(body: bytes) -> bool:
    """Whether a body is an answer of text that ended by itself.

    >>> is_text(b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}')
    True
    """
    try:
        choice = _read_whole(body).choices[0]
        if choice.finish_reason != "stop" or choice.native_finish_reason == "tool_calls":
            return False
        return not choice.message.tool_calls and say_something([choice.message.content], body)
    except UNREADABLE:
        return False


def is_whole(body: bytes, request: bytes = b"") -> bool:
    """Whether a body is a whole answer, text or calls.

    >>> is_whole(b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}')
    True
    >>> is_whole(b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"length"}]}')
    False
    """
    try:
        choice = _read_whole(body).choices[0]
        calls = choice.message.tool_calls
        if not calls:
            if choice.finish_reason != "stop" or choice.native_finish_reason == "tool_calls":
                return False
            return say_something([choice.message.content], body)
        if choice.finish_reason != "tool_calls" or choice.native_finish_reason == "stop":
            return False
        if choice.message.content != NULL:
            read_text(choice.message.content)
        for call in calls:
            read_object(call.function.arguments)
        return is_utf8(body) and (len(calls) == 1 or are_different([call.id for call in calls]))
    except UNREADABLE:
        return False


# --- a stream -----------------------------------------------------------------------------------


class _Delta(msgspec.Struct):
    content: str | None = None
    refusal: Literal["", None] = None
    reasoning_content: Literal["", None] = None
    reasoning: Literal["", None] = None
    tool_calls: None = None
    function_call: None = None
    images: None = None
    audio: None = None


class _Piece(msgspec.Struct):
    delta: _Delta
    index: Literal[0, None] = 0
    finish_reason: Literal["stop", "", None] = None
    native_finish_reason: Literal["stop", "", None] = None
    finish_details: None = None
    error: None = None
    message: None = None


class _Counts(msgspec.Struct):
    """Whatever was used."""


class _GroqChunk(msgspec.Struct):
    error: None = None
    usage: None = None


class _Chunk(msgspec.Struct):
    """All keys that tell of an error, a stop or a call."""

    choices: list[_Piece]
    object: Literal["chat.completion.chunk", None] = None
    error: None = None
    usage: _Counts | None = None
    x_groq: _GroqChunk | None = None
    base_resp: _MiniMax | None = None
    type: None = None


_read_chunk = msgspec.json.Decoder(_Chunk).decode


def event(data: bytes) -> Said:
    """What a chunk says.

    >>> event(b'{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}')[1]
    'Hi'
    >>> event(b'{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}')[0].value
    'unsure'
    """
    if data == b"[DONE]":
        return Kind.ENDS, ""
    try:
        chunk = _read_chunk(data)
    except UNREADABLE:
        return UNSURE
    if not chunk.choices:
        return (Kind.NOTHING if chunk.usage is None else Kind.COUNTS), ""
    if len(chunk.choices) > 1:
        return UNSURE
    (choice,) = chunk.choices
    text = choice.delta.content or ""
    if choice.finish_reason:
        return UNSURE if text else (Kind.STOPS, "")
    if chunk.usage is not None or choice.native_finish_reason:
        return UNSURE
    return (Kind.TEXT, text) if text else (Kind.NOTHING, "")
