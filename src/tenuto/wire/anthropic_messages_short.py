"""The short path of Anthropic Messages (`wire.short`)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from tenuto.wire.json import is_utf8
from tenuto.wire.plain import say_something
from tenuto.wire.short import (
    NOTICE_START,
    UNREADABLE,
    Asks,
    Named,
    are_different,
    is_plain_text,
    lacks_required,
)

# --- the request --------------------------------------------------------------------------------


class _Said(msgspec.Struct, tag_field="type", tag="text"):
    text: str


class _Image(msgspec.Struct, tag_field="type", tag="image"):
    """Nothing of it is looked at."""


class _Document(msgspec.Struct, tag_field="type", tag="document"):
    """Nothing of it is looked at."""


class _Row(msgspec.Struct):
    """A row without calls, results and thinking."""

    role: Literal["user", "assistant"]
    content: str | list[_Said | _Image | _Document]


class _Request(msgspec.Struct):
    messages: list[_Row]
    stream: bool | None = None
    thread: None = None


_read_request = msgspec.json.Decoder(_Request).decode


def asks(body: bytes, path: str = "/v1/messages") -> Asks | None:
    """What a request asks for whose rows are texts, of people with pictures; else None. The paths
    of clouds say more, and are left to the machine.

    >>> asks(b'{"messages": [{"role": "user", "content": "Hi"}]}')
    (False, '')
    >>> asks(b'{"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}') is None
    True
    """
    if not path.endswith("/messages") or not is_plain_text(body):
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
            if isinstance(block, _Said) and (not block.text or block.text.isspace()):
                return None
            if said and isinstance(block, _Said) and NOTICE_START in block.text:
                return None
    return (request.stream is True, "") if request.messages else None


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
