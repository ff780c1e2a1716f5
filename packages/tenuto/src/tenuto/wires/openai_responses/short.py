"""The short path of OpenAI Responses (`wires.short`)."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from tenuto.wires.answer_id import Id, Ids
from tenuto.wires.json import UNREADABLE
from tenuto.wires.plain import say_something
from tenuto.wires.short import (
    UNSURE,
    Asks,
    Closes,
    Completes,
    Event,
    EventKind,
    EventSays,
    Named,
    NotBlank,
    Opens,
    is_below,
    is_plain_text,
    read_object,
)

# --- the request --------------------------------------------------------------------------------


class _Row(msgspec.Struct, tag_field="role", kw_only=True):
    """A message; its type may be left out."""

    type: Literal["message"] = "message"
    content: msgspec.Raw


class _User(_Row, tag="user"): ...


class _System(_Row, tag="system"): ...


class _Developer(_Row, tag="developer"): ...


class _Answered(_Row, tag="assistant", kw_only=True):
    content: NotBlank  # type: ignore[assignment]


class _Request(msgspec.Struct):
    input: str | list[_User | _System | _Developer | _Answered]
    model: Any = None
    stream: bool | None = None
    max_output_tokens: int | None = None
    previous_response_id: str | None = None
    background: Any = None
    include: Any = None
    top_logprobs: Any = None


_read_request = msgspec.json.Decoder(_Request).decode


def asks(body: bytes, url: str = "") -> Asks | None:
    """Return what a request asks for if its rows are texts of people and the model; else None.

    >>> asks(b'{"input": "Hi", "previous_response_id": "resp_1"}').follows
    'resp_1'
    >>> asks(b'{"input": [{"type": "function_call"}]}') is None
    True
    """
    if not is_plain_text(body):
        return None
    try:
        request = _read_request(body)
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
    text: msgspec.Raw  # not decoded, since bodies may be large


class _Item(msgspec.Struct, tag_field="type", kw_only=True):
    status: Literal["completed", None] = None


class _Message(_Item, tag="message"):
    content: list[_Text]


class _Thought(_Item, tag="reasoning"): ...


class _Call(_Item, tag="function_call"):
    call_id: Named
    name: Named
    arguments: str


class _Usage(msgspec.Struct):
    output_tokens: int | None = None


_NO_USAGE = _Usage()


class _Whole(msgspec.Struct):
    """All keys that reveal an error, a stop or a call."""

    output: list[_Message | _Thought | _Call]
    status: Literal["completed"]
    error: None = None
    incomplete_details: None = None
    stop_reason: None = None
    finish_reason: None = None
    response: None = None
    type: None = None
    id: Id = None
    usage: _Usage | None = None


_read_whole = msgspec.json.Decoder(_Whole).decode


def ids_if_whole(body: bytes, max_tokens: int | None = None) -> Ids | None:
    """Return the ids of a body that is a complete answer, text or calls; None: it may be none.

    >>> ids_if_whole(b'{"id":"r1","status":"completed","output":[{"type":"message","content":['
    ...              b'{"type":"output_text","text":"Hi"}]}]}')
    Ids(id='r1', response_id=None, response=None, message=None)
    >>> ids_if_whole(b'{"status":"incomplete","output":[]}')
    """
    texts: list[msgspec.Raw] = []
    ids: list[str] = []
    try:
        whole = _read_whole(body)
        for item in whole.output:
            if type(item) is _Message:
                texts += [part.text for part in item.content]
            elif type(item) is _Call:
                read_object(item.arguments)
                ids.append(item.call_id)
        if ids and not is_below(max_tokens, (whole.usage or _NO_USAGE).output_tokens):
            return None
        return Ids(whole.id) if say_something(texts, body, ids) else None
    except UNREADABLE:
        return None


# --- a stream -----------------------------------------------------------------------------------


class _NoError(msgspec.Struct):
    error: None = None


class _Created(Opens, tag="response.created", kw_only=True):
    response: _NoError  # type: ignore[assignment]


class _InProgress(Opens, tag="response.in_progress", kw_only=True):
    response: _NoError  # type: ignore[assignment]


class _AnyItem(msgspec.Struct, tag_field="type"):
    """An item of which nothing is read."""


class _AnyMessage(_AnyItem, tag="message"): ...


class _AnyThought(_AnyItem, tag="reasoning"): ...


class _ItemBegan(Opens, tag="response.output_item.added"):
    item: _AnyMessage | _AnyThought


class _EmptyPart(msgspec.Struct):
    type: Literal["output_text"]
    text: Literal[""]


class _PartBegan(Opens, tag="response.content_part.added"):
    part: _EmptyPart


class _Delta(Event, tag="response.output_text.delta"):
    delta: Named


class _TextEnded(Closes, tag="response.output_text.done"): ...


class _PartEnded(Closes, tag="response.content_part.done"): ...


class _ItemEnded(Closes, tag="response.output_item.done"):
    item: _AnyMessage | _AnyThought


class _Output(msgspec.Struct):
    output: list[_Message | _Thought]
    status: Literal["completed"]
    error: None = None
    incomplete_details: None = None
    stop_reason: None = None
    finish_reason: None = None


class _Completed(Completes, tag="response.completed", kw_only=True):
    response: _Output  # type: ignore[assignment]


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


def event(data: bytes) -> EventSays:
    """Return the meaning of an event.

    >>> event(b'{"type":"response.output_text.delta","delta":"Hi"}')[1]
    'Hi'
    """
    try:
        told = _read_event(data)
    except UNREADABLE:
        return UNSURE
    return (EventKind.TEXT, told.delta) if type(told) is _Delta else told.said


HOLES = re.compile(
    rb'"(?:obfuscation": ?"(?=[a-zA-Z0-9]*")|sequence_number": ?(?=\d+[,}]))([a-zA-Z0-9]*)'
)
