"""The short path of OpenAI Responses (`wire.short`)."""

from __future__ import annotations

from typing import Literal

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
    stream: bool | None = None
    previous_response_id: str | None = None


_read_request = msgspec.json.Decoder(_Request).decode


def asks(body: bytes, path: str = "") -> Asks | None:
    """What a request asks for whose rows are texts of people and of the model; else None.

    >>> asks(b'{"input": "Hi", "previous_response_id": "resp_1"}')
    (False, 'resp_1')
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
    return request.stream is True, request.previous_response_id or ""


# --- the answer ---------------------------------------------------------------------------------


class _Text(msgspec.Struct, tag_field="type", tag="output_text"):
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
