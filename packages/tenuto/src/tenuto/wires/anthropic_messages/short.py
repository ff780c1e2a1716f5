"""The short path of Anthropic Messages (`wires.short`)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from tenuto.wires.answer_id import Id, Ids
from tenuto.wires.instructions import may_be_blank
from tenuto.wires.json import UNREADABLE
from tenuto.wires.plain import say_something
from tenuto.wires.short import (
    NULL,
    UNSURE,
    Asks,
    Closes,
    Ends,
    Event,
    EventKind,
    EventSays,
    Named,
    NotBlank,
    Opens,
    SaysNothing,
    Stops,
    is_below,
    is_plain_text,
)


class _Block(msgspec.Struct, tag_field="type"):
    """A block of which only the members of its own class are read."""


# --- the request --------------------------------------------------------------------------------


class _Spoken(_Block, tag="text"):
    text: NotBlank


class _Image(_Block, tag="image"): ...


class _Document(_Block, tag="document"): ...


_Blocks = list[_Spoken | _Image | _Document]


class _Row(msgspec.Struct, tag_field="role"):
    """A row without calls, results and thinking."""


class _Asked(_Row, tag="user"):
    content: str | _Blocks


class _Answered(_Row, tag="assistant"):
    content: NotBlank | Annotated[_Blocks, msgspec.Meta(min_length=1)]


class _Request(msgspec.Struct):
    messages: Annotated[list[_Asked | _Answered], msgspec.Meta(min_length=1)]
    model: Any = None
    stream: bool | None = None
    max_tokens: int | None = None
    thread: None = None
    compaction: Any = None
    system: msgspec.Raw = NULL


_read_request = msgspec.json.Decoder(_Request).decode


def asks(body: bytes, url: str = "/v1/messages") -> Asks | None:
    """Return what a request asks for if its rows are texts, and pictures from people; else None.
    Cloud paths say more, and take the full path.

    >>> asks(b'{"messages": [{"role": "user", "content": "Hi"}]}').stream
    False
    >>> asks(b'{"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}') is None
    True
    """
    if not url.partition("?")[0].endswith("/messages") or not is_plain_text(body):
        return None
    try:
        request = _read_request(body)
    except UNREADABLE:
        return None
    if may_be_blank(request.system):
        return None
    if isinstance(request.messages[-1], _Answered):  # it may end in white space
        return None
    return Asks(
        request.stream is True,
        model=request.model if isinstance(request.model, str) else "",
        max_tokens=request.max_tokens,
        alone=request.compaction is not None,
    )


# --- the answer ---------------------------------------------------------------------------------


class _Text(_Block, tag="text"):
    text: msgspec.Raw  # not decoded, since bodies may be large


class _Thinking(_Block, tag="thinking"): ...


class _Redacted(_Block, tag="redacted_thinking"): ...


class _Call(_Block, tag="tool_use"):
    id: Named
    name: Named
    args: dict[str, Any] = msgspec.field(name="input")


class _Usage(msgspec.Struct):
    output_tokens: int | None = None


_NO_USAGE = _Usage()


class _Whole(msgspec.Struct):
    """All keys that reveal an error, a stop or a call."""

    content: list[_Text | _Thinking | _Redacted | _Call]
    stop_reason: Literal["end_turn", "stop_sequence", "tool_use"]
    type: Literal["message", None] = None
    error: None = None
    id: Id = None
    usage: _Usage | None = None


_read_whole = msgspec.json.Decoder(_Whole).decode


def ids_if_whole(body: bytes, max_tokens: int | None = None) -> Ids | None:
    """Return the ids of a body that is a complete answer, text or calls; None: it may be none.

    >>> ids_if_whole(
    ...     b'{"id":"m1","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}')
    Ids(id='m1', response_id=None, response=None, message=None)
    >>> ids_if_whole(b'{"content":[{"type":"text","text":"Hi"}],"stop_reason":"max_tokens"}')
    """
    texts: list[msgspec.Raw] = []
    ids: list[str] = []
    try:
        whole = _read_whole(body)
        for block in whole.content:
            if type(block) is _Text:
                texts.append(block.text)
            elif type(block) is _Call:
                ids.append(block.id)
        if (whole.stop_reason == "tool_use") is not bool(ids):
            return None
        if ids and not is_below(max_tokens, (whole.usage or _NO_USAGE).output_tokens):
            return None
        return Ids(whole.id) if say_something(texts, body, ids) else None
    except UNREADABLE:
        return None


# --- a stream -----------------------------------------------------------------------------------


class _Used(msgspec.Struct):
    output_tokens: int


class _Message(msgspec.Struct):
    content: Annotated[list[msgspec.Raw], msgspec.Meta(max_length=0)]
    usage: _Used


class _Began(Opens, tag="message_start"):
    message: _Message


class _EmptyBlock(msgspec.Struct):
    type: Literal["text"]
    text: Literal[""]


class _BlockBegan(Opens, tag="content_block_start"):
    content_block: _EmptyBlock
    index: Literal[0]


class _Ping(SaysNothing, tag="ping"): ...


class _TextDelta(msgspec.Struct):
    type: Literal["text_delta"]  # as a tag it might be left out
    text: Named


class _Delta(Event, tag="content_block_delta"):
    delta: _TextDelta
    index: Literal[0]


class _BlockEnded(Closes, tag="content_block_stop"):
    index: Literal[0]
    content_block: None = None


class _Stop(msgspec.Struct):
    stop_reason: Literal["end_turn", "stop_sequence"]


class _Stopped(Stops, tag="message_delta"):
    delta: _Stop
    usage: _Used


class _Ended(Ends, tag="message_stop"):
    message: None = None


_read_event = msgspec.json.Decoder(
    _Began | _BlockBegan | _Ping | _Delta | _BlockEnded | _Stopped | _Ended
).decode


def event(data: bytes) -> EventSays:
    """Return the meaning of an event.

    >>> event(b'{"type":"content_block_delta","index":0,"delta":'
    ...       b'{"type":"text_delta","text":"Hi"}}')[1]
    'Hi'
    """
    try:
        told = _read_event(data)
    except UNREADABLE:
        return UNSURE
    return (EventKind.TEXT, told.delta.text) if type(told) is _Delta else told.said
