"""The short path of Gemini (`wires.short`)."""

from __future__ import annotations

import re
from functools import lru_cache
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
    EventKind,
    EventSays,
    Named,
    is_below,
    is_plain_text,
)

_WHOLE, _STREAMING = ":generateContent", ":streamGenerateContent"


# --- the request --------------------------------------------------------------------------------


class _Asked(msgspec.Struct, rename="camel"):
    """A part without calls and results."""

    text: str | None = None
    function_call: msgspec.UnsetType = msgspec.UNSET
    function_response: msgspec.UnsetType = msgspec.UNSET
    snake_call: msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="function_call")
    snake_response: msgspec.UnsetType = msgspec.field(
        default=msgspec.UNSET, name="function_response"
    )


class _Row(msgspec.Struct):
    parts: list[_Asked]
    role: str | None = None


class _Config(msgspec.Struct, rename="camel"):
    """Settings for which a stream is only observed."""

    max_output_tokens: int | None = None
    candidate_count: Any = None
    response_modalities: Any = None
    response_logprobs: Any = None
    logprobs: Any = None
    snake_tokens: Any = msgspec.field(default=None, name="max_output_tokens")
    snake_count: Any = msgspec.field(default=None, name="candidate_count")
    snake_modalities: Any = msgspec.field(default=None, name="response_modalities")
    snake_logprobs: Any = msgspec.field(default=None, name="response_logprobs")


class _Request(msgspec.Struct):
    contents: Annotated[list[_Row], msgspec.Meta(min_length=1)]
    config: _Config | None = msgspec.field(default=None, name="generationConfig")
    token: Any = msgspec.field(default=None, name="continuationToken")
    system: msgspec.Raw = msgspec.field(default=NULL, name="systemInstruction")
    snake_system: msgspec.Raw = msgspec.field(default=NULL, name="system_instruction")
    snake_config: Any = msgspec.field(default=None, name="generation_config")
    snake_token: Any = msgspec.field(default=None, name="continuation_token")


_NO_CONFIG = _Config()

_read_request = msgspec.json.Decoder(_Request).decode


def asks(body: bytes, url: str = f"/v1beta/models/m{_WHOLE}") -> Asks | None:
    """Return what a request asks for if its rows are texts, and pictures from people; else None.
    Framings other than server-sent events take the full path.

    >>> asks(b'{"contents": [{"parts": [{"text": "Hi"}]}]}').stream
    False
    >>> asks(b'{"contents": [{"parts": [{"functionResponse": {}}]}]}') is None
    True
    """
    asked = _asked_by(url)
    if asked is None or not is_plain_text(body):
        return None
    try:
        request = _read_request(body)
    except UNREADABLE:
        return None
    if may_be_blank(request.system) or may_be_blank(request.snake_system):
        return None
    for row in request.contents:
        if row.role == "model":
            if not row.parts:
                return None
            for part in row.parts:
                if not part.text or part.text.isspace():
                    return None
    config = request.config or _NO_CONFIG
    stream, model = asked
    snake = (
        request.snake_config is not None
        or config.snake_tokens is not None
        or config.snake_count is not None
        or config.snake_modalities is not None
        or config.snake_logprobs is not None
    )
    return Asks(
        stream,
        model=model,
        max_tokens=0 if snake else config.max_output_tokens,
        alone=(
            snake
            or request.token is not None
            or request.snake_token is not None
            or config.candidate_count is not None
            or config.response_modalities is not None
            or config.response_logprobs is not None
            or config.logprobs is not None
        ),
    )


@lru_cache(maxsize=256)
def _asked_by(url: str) -> tuple[bool, str] | None:
    """Return whether a URL asks for a stream, and its model; None: it asks for something else."""
    path, _, query = url.partition("?")
    stream = path.endswith(_STREAMING) and query == "alt=sse"
    if not (stream or path.endswith(_WHOLE)):
        return None
    model = path.rpartition("/models/")[2].partition(":")[0]
    return stream, "" if "%" in model or "/" in model else model


# --- the answer ---------------------------------------------------------------------------------


class _Call(msgspec.Struct):
    name: Named
    args: dict[str, Any]
    id: str | None = None
    camel_more: Literal[False, None] = msgspec.field(default=None, name="willContinue")
    snake_more: Literal[False, None] = msgspec.field(default=None, name="will_continue")


class _Part(msgspec.Struct):
    text: msgspec.Raw = NULL  # not decoded, since bodies may be large
    thought: bool | None = None
    call: _Call | None = msgspec.field(default=None, name="functionCall")
    snake_call: None = msgspec.field(default=None, name="function_call")


class _Content(msgspec.Struct):
    parts: list[_Part]


class _Candidate(msgspec.Struct):
    content: _Content
    reason: Literal["STOP"] = msgspec.field(name="finishReason")
    index: Literal[0, None] = 0


class _Usage(msgspec.Struct, rename="camel"):
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


_NO_USAGE = _Usage()


class _Whole(msgspec.Struct):
    """All keys that reveal an error, a stop or a call."""

    candidates: tuple[_Candidate]
    error: None = None
    camel_feedback: None = msgspec.field(default=None, name="promptFeedback")
    snake_feedback: None = msgspec.field(default=None, name="prompt_feedback")
    response_id: Id = msgspec.field(default=None, name="responseId")
    usage: _Usage | None = msgspec.field(default=None, name="usageMetadata")


_read_whole = msgspec.json.Decoder(_Whole).decode


def _used(usage: _Usage) -> int | None:
    """Return the output tokens, thoughts included; None: they aren't known."""
    answered, thought = usage.candidates_token_count, usage.thoughts_token_count
    return thought if answered is None else answered + (thought or 0)


def ids_if_whole(body: bytes, max_tokens: int | None = None) -> Ids | None:
    """Return the ids of a body that is a complete answer, text or calls; None: it may be none.

    >>> ids_if_whole(b'{"responseId":"r1","candidates":[{"content":{"parts":[{"text":"Hi"}]},'
    ...              b'"finishReason":"STOP"}]}')
    Ids(id=None, response_id='r1', response=None, message=None)
    >>> ids_if_whole(b'{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}')
    """
    texts: list[msgspec.Raw] = []
    ids: list[object] = []
    try:
        whole = _read_whole(body)
        for part in whole.candidates[0].content.parts:
            if part.call is not None:
                ids.append(part.call.id or len(ids))
            elif not part.thought and part.text != NULL:
                texts.append(part.text)
        if ids and not is_below(max_tokens, _used(whole.usage or _NO_USAGE)):
            return None
        return Ids(None, whole.response_id) if say_something(texts, body, ids) else None
    except UNREADABLE:
        return None


# --- a stream -----------------------------------------------------------------------------------


class _TextPart(msgspec.Struct, forbid_unknown_fields=True):
    text: str


class _Texts(msgspec.Struct, forbid_unknown_fields=True):
    parts: tuple[_TextPart]
    role: str | None = None


class _Flowing(msgspec.Struct, forbid_unknown_fields=True):
    content: _Texts
    index: Literal[0, None] = 0
    reason: Literal["STOP", None] = msgspec.field(name="finishReason", default=None)


class _Counts(msgspec.Struct):
    """Usage, whose members are not read."""


class _Event(msgspec.Struct):
    """All keys that reveal an error, a stop or a call."""

    candidates: tuple[_Flowing]
    counts: _Counts | None = msgspec.field(default=None, name="usageMetadata")
    snake_counts: None = msgspec.field(default=None, name="usage_metadata")
    error: None = None
    camel_feedback: None = msgspec.field(default=None, name="promptFeedback")
    snake_feedback: None = msgspec.field(default=None, name="prompt_feedback")


_read_event = msgspec.json.Decoder(_Event).decode


def event(data: bytes) -> EventSays:
    """Return the meaning of an event.

    >>> event(b'{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}')[1]
    'Hi'
    """
    try:
        (candidate,) = _read_event(data).candidates
    except UNREADABLE:
        return UNSURE
    text = candidate.content.parts[0].text
    if candidate.reason:
        return EventKind.STOPS, text
    return (EventKind.TEXT, text) if text else UNSURE


HOLES = re.compile(rb'"(?:(?:candidates|total|thoughts|prompt)T|t)okenCount": ?(\d+)(?=[,}\s])')
