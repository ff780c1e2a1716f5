"""The short path of Anthropic Messages (`wire.short`)."""

from __future__ import annotations

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
    lacks_required,
)

# --- the request --------------------------------------------------------------------------------


class _Spoken(msgspec.Struct, tag_field="type", tag="text"):
    text: str


class _Image(msgspec.Struct, tag_field="type", tag="image"):
    """Nothing of it is looked at."""


class _Document(msgspec.Struct, tag_field="type", tag="document"):
    """Nothing of it is looked at."""


class _Row(msgspec.Struct):
    """A row without calls, results and thinking."""

    role: Literal["user", "assistant"]
    content: str | list[_Spoken | _Image | _Document]


class _Request(msgspec.Struct):
    messages: list[_Row]
    model: Any = None
    stream: bool | None = None
    max_tokens: int | None = None
    thread: None = None
    compaction: Any = None


_read_request = msgspec.json.Decoder(_Request).decode


def asks(body: bytes, url: str = "/v1/messages") -> Asks | None:
    """What a request asks for whose rows are texts, of people with pictures; else None. The paths
    of clouds say more, and are left to the machine.

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
    for row in request.messages:
        said = row.role == "assistant"
        if isinstance(row.content, str):
            if said and (not row.content or row.content.isspace() or NOTICE_START in row.content):
                return None
            continue
        if said and not row.content:
            return None
        for block in row.content:
            if isinstance(block, _Spoken) and (not block.text or block.text.isspace()):
                return None
            if said and isinstance(block, _Spoken) and NOTICE_START in block.text:
                return None
    if not request.messages:
        return None
    return Asks(
        request.stream is True,
        model=request.model if isinstance(request.model, str) else "",
        max_tokens=request.max_tokens,
        alone=request.compaction is not None,
    )


class _Schema(msgspec.Struct):
    required: Any = None


class _Tool(msgspec.Struct):
    name: Any = None
    input_schema: _Schema | None = None


class _Tools(msgspec.Struct):
    tools: list[_Tool] | None = None


_read_tools = msgspec.json.Decoder(_Tools).decode


# --- the answer ---------------------------------------------------------------------------------


class _Text(msgspec.Struct, tag_field="type", tag="text"):
    text: msgspec.Raw  # not decoded: bodies may be large


class _Thinking(msgspec.Struct, tag_field="type", tag="thinking"):
    """Nothing of it is looked at."""


class _Redacted(msgspec.Struct, tag_field="type", tag="redacted_thinking"):
    """Nothing of it is looked at."""


class _Call(msgspec.Struct, tag_field="type", tag="tool_use"):
    id: Named
    name: Named
    input: dict[str, Any]


class _Whole(msgspec.Struct):
    """All keys that tell of an error, a stop or a call."""

    content: list[_Text | _Thinking | _Redacted | _Call]
    stop_reason: Literal["end_turn", "stop_sequence", "tool_use"]
    type: Literal["message", None] = None
    error: None = None


_read_whole = msgspec.json.Decoder(_Whole).decode


def is_whole(body: bytes, request: bytes = b"") -> bool:
    """Whether a body is a whole answer, text or calls.

    >>> is_whole(b'{"content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}')
    True
    >>> is_whole(b'{"content":[{"type":"text","text":"Hi"}],"stop_reason":"max_tokens"}')
    False
    """
    try:
        whole = _read_whole(body)
        texts: list[msgspec.Raw] = []
        calls: list[_Call] = []
        for block in whole.content:
            if isinstance(block, _Text):
                texts.append(block.text)
            elif isinstance(block, _Call):
                calls.append(block)
        if not calls:
            return whole.stop_reason != "tool_use" and say_something(texts, body)
        if whole.stop_reason != "tool_use" or not is_utf8(body):
            return False
        if len(calls) > 1 and not are_different([call.id for call in calls]):
            return False
        tools = _read_tools(request).tools or ()
    except UNREADABLE:
        return False
    for call in calls:
        for tool in tools:
            schema = tool.input_schema
            if tool.name == call.name and schema and lacks_required(call.input, schema.required):
                return False
    return True


# --- a stream -----------------------------------------------------------------------------------


class _Began(msgspec.Struct, tag_field="type", tag="message_start"):
    message: dict[str, msgspec.Raw]
    error: None = None


class _Block(msgspec.Struct):
    type: Literal["text"]
    text: str


class _BlockBegan(msgspec.Struct, tag_field="type", tag="content_block_start"):
    content_block: _Block
    error: None = None


class _Ping(msgspec.Struct, tag_field="type", tag="ping"):
    error: None = None


class _TextDelta(msgspec.Struct):
    type: Literal["text_delta"]  # as a tag it might be left out
    text: str


class _Delta(msgspec.Struct, tag_field="type", tag="content_block_delta"):
    delta: _TextDelta
    error: None = None


class _BlockEnded(msgspec.Struct, tag_field="type", tag="content_block_stop"):
    error: None = None


class _Stop(msgspec.Struct):
    stop_reason: Literal["end_turn", "stop_sequence"]


class _Counts(msgspec.Struct):
    """Whatever was used."""


class _Stopped(msgspec.Struct, tag_field="type", tag="message_delta"):
    delta: _Stop
    usage: _Counts
    error: None = None


class _Ended(msgspec.Struct, tag_field="type", tag="message_stop"):
    error: None = None


_read_event = msgspec.json.Decoder(
    _Began | _BlockBegan | _Ping | _Delta | _BlockEnded | _Stopped | _Ended
).decode

_KINDS: dict[type, Said] = {
    _Began: (Kind.OPENS, ""),
    _Ping: (Kind.NOTHING, ""),
    _BlockEnded: (Kind.CLOSES, ""),
    _Stopped: (Kind.STOPS, ""),
    _Ended: (Kind.ENDS, ""),
}


def event(data: bytes) -> Said:
    """What an event says.

    >>> event(b'{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}')[1]
    'Hi'
    """
    try:
        told = _read_event(data)
    except UNREADABLE:
        return UNSURE
    if isinstance(told, _Delta):
        return (Kind.TEXT, told.delta.text) if told.delta.text else UNSURE
    if isinstance(told, _BlockBegan):
        return UNSURE if told.content_block.text else (Kind.OPENS, "")
    return _KINDS[type(told)]
