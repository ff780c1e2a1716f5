"""The short path of OpenAI Chat (`wires.short`)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from tenuto.wires.answer_id import Id, Ids
from tenuto.wires.json import UNREADABLE
from tenuto.wires.plain import say_something
from tenuto.wires.short import (
    NULL,
    UNSURE,
    Asks,
    EventKind,
    EventSays,
    Named,
    NotBlank,
    is_below,
    is_plain_text,
    read_object,
    read_text,
)

# --- the request --------------------------------------------------------------------------------


class _Row(msgspec.Struct, tag_field="role", kw_only=True):
    """A row without calls and results."""

    tool_calls: None = None
    function_call: None = None


class _User(_Row, tag="user"): ...


class _System(_Row, tag="system"): ...


class _Developer(_Row, tag="developer"): ...


class _Answered(_Row, tag="assistant"):
    content: NotBlank


_Rows = list[_User | _System | _Developer | _Answered]


class _Request(msgspec.Struct):
    messages: Annotated[_Rows, msgspec.Meta(min_length=1)]
    model: Any = None
    stream: bool | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: Any = None
    logprobs: Any = None
    top_logprobs: Any = None
    modalities: Any = None


_read_request = msgspec.json.Decoder(_Request).decode


def asks(body: bytes, url: str = "") -> Asks | None:
    """Return what a request asks for if its rows are texts of people and the model; else None.

    >>> asks(b'{"messages": [{"role": "user", "content": "Hi"}], "stream": true}').stream
    True
    >>> asks(b'{"messages": [{"role": "tool", "content": "Hi"}]}') is None
    True
    """
    if not is_plain_text(body):
        return None
    try:
        request = _read_request(body)
    except UNREADABLE:
        return None
    limit = request.max_completion_tokens
    return Asks(
        request.stream is True,
        model=request.model if isinstance(request.model, str) else "",
        max_tokens=limit if limit is not None and limit > 0 else request.max_tokens,
        alone=(
            request.n is not None
            or request.logprobs is not None
            or request.top_logprobs is not None
            or request.modalities is not None
        ),
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
    content: msgspec.Raw = NULL  # not decoded, since bodies may be large
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


class _Usage(msgspec.Struct):
    completion_tokens: int | None = None


_NO_USAGE = _Usage()


class _Whole(msgspec.Struct):
    """All keys that reveal an error, a stop or a call."""

    choices: tuple[_Choice]
    object: Literal["chat.completion", None] = None
    error: None = None
    x_groq: _Groq | None = None
    base_resp: _MiniMax | None = None
    type: None = None
    id: Id = None
    usage: _Usage | None = None


_read_whole = msgspec.json.Decoder(_Whole).decode


def ids_if_whole(body: bytes, max_tokens: int | None = None) -> Ids | None:
    """Return the ids of a body that is a complete answer, text or calls; None: it may be none.

    >>> ids_if_whole(b'{"id":"c1","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}')
    Ids(id='c1', response_id=None, response=None, message=None)
    >>> ids_if_whole(b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"length"}]}')
    """
    ids: list[str] = []
    try:
        whole = _read_whole(body)
        choice = whole.choices[0]
        message = choice.message
        stop = "tool_calls" if message.tool_calls else "stop"
        if choice.finish_reason != stop or choice.native_finish_reason not in (stop, "", None):
            return None
        for call in message.tool_calls or ():
            read_object(call.function.arguments)
            ids.append(call.id)
        if ids and message.content != NULL:
            read_text(message.content)
        if ids and not is_below(max_tokens, (whole.usage or _NO_USAGE).completion_tokens):
            return None
        return Ids(whole.id) if say_something([message.content], body, ids) else None
    except UNREADABLE:
        return None


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
    """Usage, whose members are not read."""


class _GroqChunk(msgspec.Struct):
    error: None = None
    usage: None = None


class _Chunk(msgspec.Struct):
    """All keys that reveal an error, a stop or a call."""

    choices: list[_Piece]
    object: Literal["chat.completion.chunk", None] = None
    error: None = None
    usage: _Counts | None = None
    x_groq: _GroqChunk | None = None
    base_resp: _MiniMax | None = None
    type: None = None


_read_chunk = msgspec.json.Decoder(_Chunk).decode


def event(data: bytes) -> EventSays:
    """Return the meaning of a chunk.

    >>> event(b'{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}')[1]
    'Hi'
    >>> event(b'{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}')[0].value
    'unsure'
    """
    if data == b"[DONE]":
        return EventKind.ENDS, ""
    try:
        chunk = _read_chunk(data)
    except UNREADABLE:
        return UNSURE
    if not chunk.choices:
        return (EventKind.NOTHING if chunk.usage is None else EventKind.COUNTS), ""
    if len(chunk.choices) > 1:
        return UNSURE
    (choice,) = chunk.choices
    text = choice.delta.content or ""
    if choice.finish_reason:
        return UNSURE if text else (EventKind.STOPS, "")
    if chunk.usage is not None or choice.native_finish_reason:
        return UNSURE
    return (EventKind.TEXT, text) if text else (EventKind.NOTHING, "")
