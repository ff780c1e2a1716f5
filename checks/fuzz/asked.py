"""A request of each wire, and how its official SDK reads what comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import anthropic
import httpx
import httpx2
import ollama
import openai
from botocore.exceptions import BotoCoreError
from cohere.core import ApiError
from cohere.core.http_sse import EventSource
from google.genai import errors
from google.genai._api_client import HttpResponse
from google.genai._gaos.utils.eventstreaming import stream_events
from mistralai.client.errors import MistralError
from openai.types import Completion
from openai.types.chat import ChatCompletionChunk

from tenuto.wires.base import Wire


class Asked(NamedTuple):
    """Attributes:
    path: the URL path.
    body_path: that of requests for a body, "" where it is the same.
    rows: the key of the conversation, below which others stand behind a dot; "": it has no rows.
    body: a request, without `stream`.
    read: reads a stream as the SDK does, to its end.
    error: what the SDK raises for an error of the far side.
    streaming: the URL path of a stream with its query, where the path tells and not the body.
    speaks: the wire of its SDK, where the path tells not.
    headers: those of a request for a stream, where they tell.
    beside: members without which rows are no request, each with a comma behind it.
    """

    path: str
    rows: str
    body: dict[str, Any]
    read: Callable[[bytes], None]
    error: type[Exception]
    streaming: str = ""
    speaks: str = ""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    beside: bytes = b""

    def path_of(self, *, stream: bool) -> str:
        """Where a request goes."""
        return (stream and self.streaming) or self.path


def _response(raw: bytes) -> Any:
    request = httpx2.Request("POST", "https://host/")
    return httpx2.Response(200, content=raw, request=request)


_openai = openai.OpenAI(api_key="key", base_url="https://host/v1")
_anthropic = anthropic.Anthropic(api_key="key", base_url="https://host")


def _read_openai(raw: bytes) -> None:
    list(openai.Stream(cast_to=ChatCompletionChunk, response=_response(raw), client=_openai))


def _read_completions(raw: bytes) -> None:
    list(openai.Stream(cast_to=Completion, response=_response(raw), client=_openai))


def _read_responses(raw: bytes) -> None:
    # Without the types of its events, which raise nowhere and take long for an odd one.
    list(openai.Stream(cast_to=object, response=_response(raw), client=_openai))


def _read_anthropic(raw: bytes) -> None:
    kind: Any = anthropic.types.RawMessageStreamEvent
    list(anthropic.Stream(cast_to=kind, response=_response(raw), client=_anthropic))


def _read_gemini(raw: bytes) -> None:
    try:
        for chunk in HttpResponse({}, response_stream=_response(raw)).segments():
            error = chunk.get("error") if isinstance(chunk, dict) else None
            if isinstance(error, dict) and type(error.get("code")) is int:
                errors.APIError.raise_error(error["code"], chunk, None)
    except errors.UnknownApiResponseError as error:
        raise error.__cause__ or error from None


def _read_interactions(raw: bytes) -> None:
    # Without the types of its events, which raise nowhere and take long for an odd one.
    list(stream_events(_response(raw), json.loads, sentinel="[DONE]"))


class _EventFailed(Exception):
    """An event tells an error: DashScope's SDK makes a response of it."""


def _read_dashscope(raw: bytes) -> None:
    for line in raw.splitlines():
        if line == b"event:error":
            raise _EventFailed
        if line.startswith(b"data:"):
            json.loads(line[len(b"data:") :])


def _read_cohere(raw: bytes) -> None:
    # Without the types of its events: what these make of an odd one is logged, and left out.
    request = httpx.Request("POST", "https://host/")
    named = {"content-type": "text/event-stream"}
    list(EventSource(httpx.Response(200, headers=named, content=raw, request=request)).iter_sse())


def _read_cohere_v1(raw: bytes) -> None:
    for line in raw.decode().splitlines():
        if line:
            json.loads(line)


def _read_events(raw: bytes) -> None:
    for line in raw.splitlines():
        if line.startswith(b"data:"):
            json.loads(line.removeprefix(b"data:"))


def _read_mistral(raw: bytes) -> None:
    # Without the types of its events, which take long.
    _read_events(raw.replace(b"data: [DONE]", b""))


def _read_lines(raw: bytes) -> None:
    # Without the types of its parts, which raise for an odd one.
    for line in raw.decode().splitlines():
        if error := json.loads(line).get("error"):
            raise ollama.ResponseError(str(error))


TOOL = {"type": "object", "properties": {"path": {"type": "string"}}}
ALL = (
    Asked(
        "/v1/chat/completions",
        "messages",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "Caf\u00e9?"}],
            "tools": [{"type": "function", "function": {"name": "read", "parameters": TOOL}}],
        },
        _read_openai,
        openai.APIError,
    ),
    Asked(
        "/v1/chat/completions",
        "messages",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "Caf\u00e9?"}],
            "tools": [{"type": "function", "function": {"name": "read", "parameters": TOOL}}],
        },
        _read_mistral,
        MistralError,
        speaks="mistral",
    ),
    Asked(
        "/ml/v1/text/chat",
        "messages",
        {
            "model_id": "m",
            "project_id": "p",
            "messages": [{"role": "user", "content": "Caf\u00e9?"}],
            "tools": [{"type": "function", "function": {"name": "read", "parameters": TOOL}}],
        },
        _read_events,
        httpx2.HTTPError,
        "/ml/v1/text/chat_stream?version=2024-05-31",
    ),
    Asked(
        "/generate",
        "",
        {"inputs": "Caf\u00e9?"},
        _read_events,
        httpx2.HTTPError,
        "/generate_stream",
    ),
    Asked(
        "/v1/completions",
        "prompt",
        {"model": "m", "prompt": "Caf\u00e9?"},
        _read_completions,
        openai.APIError,
    ),
    Asked(
        "/v1/messages",
        "messages",
        {
            "model": "m",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": "Caf\u00e9?"}],
            "tools": [{"name": "read", "input_schema": TOOL}],
        },
        _read_anthropic,
        anthropic.APIError,
    ),
    Asked(
        "/v1/responses",
        "input",
        {
            "model": "m",
            "input": [{"role": "user", "content": "Caf\u00e9?"}],
            "tools": [{"type": "function", "name": "read", "parameters": TOOL}],
        },
        _read_responses,
        openai.APIError,
    ),
    Asked(
        "/v1beta/models/m:generateContent",
        "contents",
        {
            "contents": [{"role": "user", "parts": [{"text": "Caf\u00e9?"}]}],
            "tools": [{"functionDeclarations": [{"name": "read", "parameters": TOOL}]}],
        },
        _read_gemini,
        errors.APIError,
        "/v1beta/models/m:streamGenerateContent?alt=sse",
    ),
    Asked(
        "/v1beta/interactions",
        "input",
        {
            "model": "m",
            "input": [{"type": "user_input", "content": [{"type": "text", "text": "Caf\u00e9?"}]}],
            "tools": [{"type": "function", "name": "read", "parameters": TOOL}],
        },
        _read_interactions,
        errors.APIError,
    ),
    Asked(
        "/v2/chat",
        "messages",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "Caf\u00e9?"}],
            "tools": [{"type": "function", "function": {"name": "read", "parameters": TOOL}}],
        },
        _read_cohere,
        ApiError,
    ),
    Asked(
        "/v1/chat",
        "chat_history",
        {
            "model": "m",
            "message": "Caf\u00e9?",
            "chat_history": [{"role": "USER", "message": "Hi"}],
            "tools": [{"name": "read", "parameter_definitions": {"path": {"type": "str"}}}],
        },
        _read_cohere_v1,
        ApiError,
        beside=b'"message": "Hi", ',
    ),
    Asked(
        "/api/chat",
        "messages",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "Caf\u00e9?"}],
            "tools": [{"type": "function", "function": {"name": "read", "parameters": TOOL}}],
        },
        _read_lines,
        ollama.ResponseError,
    ),
    Asked(
        "/api/v1/services/aigc/text-generation/generation",
        "input.messages",
        {
            "model": "m",
            "input": {"messages": [{"role": "user", "content": "Caf\u00e9?"}]},
            "parameters": {
                "tools": [{"type": "function", "function": {"name": "read", "parameters": TOOL}}]
            },
        },
        _read_dashscope,
        _EventFailed,
        headers=((b"X-DashScope-SSE", b"enable"),),
    ),
    *(
        Asked(
            f"/model/amazon.nova-x/{whole}",
            "messages",
            {
                "messages": [{"role": "user", "content": [{"text": "Caf\u00e9?"}]}],
                "toolConfig": {
                    "tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": TOOL}}}]
                },
            },
            _read_events,
            BotoCoreError,
            f"/model/amazon.nova-x/{stream}",
        )
        for stream, whole in (
            ("converse-stream", "converse"),
            ("invoke-with-response-stream", "invoke"),
        )
    ),
)
"""A new wire adds its row."""


def asked(wire: Wire) -> Asked:
    """The row of a wire."""
    own = (row for row in ALL if row.speaks == wire.name)
    return next(own, None) or next(row for row in ALL if wire.is_request(row.path))


def body_of(row: Asked, *, stream: bool) -> bytes:
    """The request's bytes."""
    return json.dumps(row.body | {"stream": stream}, ensure_ascii=False).encode()
