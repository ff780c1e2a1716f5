"""The short path of OpenAI Chat (`wire.short`)."""

from __future__ import annotations

from typing import Literal

import msgspec

from tenuto.wire.json import is_utf8
from tenuto.wire.plain import say_something
from tenuto.wire.short import (
    NOTICE_START,
    NULL,
    UNREADABLE,
    Asks,
    Named,
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
    stream: bool | None = None


_read_request = msgspec.json.Decoder(_Request).decode


def asks(body: bytes, path: str = "") -> Asks | None:
    """What a request asks for whose rows are texts of people and of the model; else None.

    >>> asks(b'{"messages": [{"role": "user", "content": "Hi"}], "stream": true}')
    (True, '')
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
    return (request.stream is True, "") if request.messages else None


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
