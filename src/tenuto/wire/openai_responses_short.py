"""The short path of OpenAI Responses (`wire.short`)."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from tenuto.wire.json import is_utf8
from tenuto.wire.plain import say_something
from tenuto.wire.short import (
    NOTICE_START,
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
    """A message; its type may be left out."""

    role: Literal["user", "system", "developer", "assistant"]
    content: msgspec.Raw
    type: Literal["message"] = "message"


class _Request(msgspec.Struct):
    input: str | list[_Row]
    model: Any = None
    stream: bool | None = None
    max_output_tokens: int | None = None
    previous_response_id: str | None = None
    background: Any = None
    include: Any = None
    top_logprobs: Any = None


_read_request = msgspec.json.Decoder(_Request).decode


def asks(body: bytes, url: str = "") -> Asks | None:
    """What a request asks for whose rows are texts of people and of the model; else None.

    >>> asks(b'{"input": "Hi", "previous_response_id": "resp_1"}').follows
    'resp_1'
    >>> asks(b'{"input": [{"type": "function_call"}]}') is None
    True
    """
    if not is_plain_text(body):
        return None
    try:
        request = _read_request(body)
        if not isinstance(request.input, str):
            for row in request.input:
                if row.role == "assistant":
                    text = read_text(row.content)
                    if not text or text.isspace() or NOTICE_START in text:
                        return None
    except UNREADABLE:
        return None
    return Asks(
        request.stream is True,
        request.previous_response_id or "",
        request.model if isinstance(request.model, str) else "",
        request.max_output_tokens,
        bool(request.background or request.include or request.top_logprobs),
    )


# --- the answer ---------------------------------------------------------------------------------


class _Text(msgspec.Struct):
    type: Literal["output_text"]  # as a tag it might be left out
    text: msgspec.Raw  # not decoded: bodies may be large


class _Message(msgspec.Struct, tag_field="type", tag="message"):
    content: list[_Text]
    status: Literal["completed", None] = None


class _Thought(msgspec.Struct, tag_field="type", tag="reasoning"):
    status: Literal["completed", None] = None


class _Call(msgspec.Struct, tag_field="type", tag="function_call"):
    call_id: Named
    name: Named
    arguments: str
    status: Literal["completed", None] = None


class _Whole(msgspec.Struct):
    """All keys that tell of an error, a stop or a call."""

    output: list[_Message | _Thought | _Call]
    status: Literal["completed"]
    error: None = None
    incomplete_details: None = None
    response: None = None
    type: None = None


_read_whole = msgspec.json.Decoder(_Whole).decode


def is_whole(body: bytes, request: bytes = b"") -> bool:
    """Whether a body is a whole answer, text or calls.

    >>> is_whole(b'{"status":"completed","output":[{"type":"message","content":['
    ...          b'{"type":"output_text","text":"Hi"}]}]}')
    True
    >>> is_whole(b'{"status":"incomplete","output":[]}')
    False
    """
    texts: list[msgspec.Raw] = []
    ids: list[str] = []
    try:
        for item in _read_whole(body).output:
            if isinstance(item, _Message):
                texts += [part.text for part in item.content]
            elif isinstance(item, _Call):
                read_object(item.arguments)
                ids.append(item.call_id)
        if not ids:
            return say_something(texts, body)
        return is_utf8(body) and (len(ids) == 1 or are_different(ids))
    except UNREADABLE:
        return False


# --- a stream -----------------------------------------------------------------------------------


class _Response(msgspec.Struct):
    error: None = None


class _Created(msgspec.Struct, tag_field="type", tag="response.created"):
    response: _Response
    error: None = None


class _InProgress(msgspec.Struct, tag_field="type", tag="response.in_progress"):
    response: _Response
    error: None = None


class _SpokenItem(msgspec.Struct, tag_field="type", tag="message"):
    """Nothing of it is looked at."""


class _ThoughtItem(msgspec.Struct, tag_field="type", tag="reasoning"):
    """Nothing of it is looked at."""


class _ItemBegan(msgspec.Struct, tag_field="type", tag="response.output_item.added"):
    item: _SpokenItem | _ThoughtItem
    error: None = None
    response: None = None


class _Part(msgspec.Struct):
    type: Literal["output_text"]
    text: Literal[""]


class _PartBegan(msgspec.Struct, tag_field="type", tag="response.content_part.added"):
    part: _Part
    error: None = None
    response: None = None


class _Delta(msgspec.Struct, tag_field="type", tag="response.output_text.delta"):
    delta: str
    error: None = None
    response: None = None


class _TextEnded(msgspec.Struct, tag_field="type", tag="response.output_text.done"):
    error: None = None
    response: None = None


class _PartEnded(msgspec.Struct, tag_field="type", tag="response.content_part.done"):
    error: None = None
    response: None = None


class _ItemEnded(msgspec.Struct, tag_field="type", tag="response.output_item.done"):
    item: _SpokenItem | _ThoughtItem
    error: None = None
    response: None = None


class _Output(msgspec.Struct):
    output: list[_Message | _Thought]
    status: Literal["completed"]
    error: None = None
    incomplete_details: None = None


class _Completed(msgspec.Struct, tag_field="type", tag="response.completed"):
    response: _Output
    error: None = None


_read_event = msgspec.json.Decoder(
    _Created
    | _InProgress
    | _ItemBegan
    | _PartBegan
    | _Delta
    | _TextEnded
    | _PartEnded
    | _ItemEnded
    | _Completed
).decode

_KINDS: dict[type, Said] = {
    _Created: (Kind.OPENS, ""),
    _InProgress: (Kind.OPENS, ""),
    _ItemBegan: (Kind.OPENS, ""),
    _PartBegan: (Kind.OPENS, ""),
    _TextEnded: (Kind.CLOSES, ""),
    _PartEnded: (Kind.CLOSES, ""),
    _ItemEnded: (Kind.CLOSES, ""),
    _Completed: (Kind.COMPLETES, ""),
}


def event(data: bytes) -> Said:
    """What an event says.

    >>> event(b'{"type":"response.output_text.delta","delta":"Hi"}')[1]
    'Hi'
    """
    try:
        told = _read_event(data)
    except UNREADABLE:
        return UNSURE
    if isinstance(told, _Delta):
        return (Kind.TEXT, told.delta) if told.delta else UNSURE
    return _KINDS[type(told)]


HOLES = re.compile(
    rb'"(?:obfuscation": ?"(?=[a-zA-Z0-9]*")|sequence_number": ?(?=\d+[,}]))([a-zA-Z0-9]*)'
)
