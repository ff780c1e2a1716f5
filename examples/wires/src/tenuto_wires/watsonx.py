"""watsonx.ai: its chat, and its text generation, which is only read.

https://cloud.ibm.com/apidocs/watsonx-ai#text-chat (read 2026-11-22 through IBM's node and Java SDKs
and reports that quote its bytes). The chat is OpenAI's with other keys (`model_id`, `project_id`,
`tool_choice_option`). The path says whether it streams. A stream ends with the usage and has no
`[DONE]`, which IBM's clients could not read, but gateways write one. Errors are in a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tenuto.wire_kit import (
    CHAT,
    CHAT_ERRORS,
    CHAT_STOPS,
    CHAT_TEXT,
    DONE,
    Answer,
    AnySignal,
    ChatLayout,
    ChatRequest,
    Dialect,
    Envelope,
    ErrorRow,
    FaultKind,
    FaultSeen,
    JsonObject,
    Kind,
    Piece,
    StopReason,
    StopTable,
    Usage,
    UsageSeen,
    count,
    decode_object,
    encode_event,
    error_body,
    fault_parser,
    fault_reader,
    is_chat_event,
    list_in,
    looks_like_chat,
    object_in,
    read_chat,
    stop_reader,
    text_in,
    value_at,
    value_of,
)
from tenuto.wire_kit import (
    chat_request_of as request_of,
)
from tenuto.wire_kit import (
    error_row as _row,
)

_PLAIN = Dialect()
"""The dialect of an unknown provider."""

_K, _R = FaultKind, StopReason

STOPS: StopTable = {
    # Chat: a natural end or a stop sequence; the output limit; a call.
    "stop": CHAT_STOPS["stop"],
    "length": CHAT_STOPS["length"],
    "tool_calls": CHAT_STOPS["tool_calls"],
    # Text generation: "not finished" is no stop, and is never looked up.
    "eos_token": (_R.END_TURN, None),
    "stop_sequence": (_R.STOP_SEQUENCE, None),
    "max_tokens": (_R.MAX_TOKENS, None),
    # The model's own limit, of prompt and answer together.
    "token_limit": (_R.CONTEXT_WINDOW_EXCEEDED, None),
    # Both.
    "time_limit": (_R.ERROR, "time_limit"),
    "cancelled": (_R.CANCELLED, None),
    "error": (_R.ERROR, None),
}

_read_stop = stop_reader(STOPS)
_NOT_FINISHED = "not_finished"

ERRORS: tuple[ErrorRow, ...] = (
    _row(
        _K.CONTEXT_OVERFLOW,
        words=r"input tokens \d+ cannot exceed the total tokens limit (?P<window>\d{1,9})",
    ),
    _row(_K.RATE_LIMITED, "token_quota_reached"),
    _row(_K.AUTHENTICATION, "authentication_token_expired", "authorization_rejected"),
    *CHAT_ERRORS[:-2],  # the words of the models that it serves; codes decide before a bare status
    _row(
        _K.INVALID_REQUEST,
        "invalid_input_argument",
        "invalid_request_entity",
        "json_type_error",
        "json_validation_error",
        "model_not_supported",
        statuses=range(400, 500),
    ),
    *CHAT_ERRORS[-2:],
)

read_fault = fault_reader(ERRORS)

_PATH = re.compile(r"/ml/v1/(?:deployments/[^/]+/)?text/chat(_stream)?/?\Z")


def is_request(path: str) -> bool:
    """Return whether the path is one of its chat.

    >>> is_request("/ml/v1/text/chat_stream"), is_request("/ml/v1/deployments/d/text/chat")
    (True, True)
    >>> is_request("/ml/v1/text/generation")
    False
    """
    return _PATH.search(path) is not None


# --- the request ------------------------------------------------------------------------------


class WatsonxRequest(ChatRequest):
    """A chat request as bytes, with what was read from it (`wires.request.WireRequest`)."""

    def free_tool_choice(self, members: dict[str, bytes]) -> None:
        """Free the choice: `tool_choice` names a tool, but another key decides whether to call
        any."""
        if members.pop("tool_choice", None) is not None:
            members.setdefault("tool_choice_option", b'"auto"')
        if value_of(members.get("tool_choice_option")) not in (None, "none"):
            members["tool_choice_option"] = b'"auto"'


def parse_request(
    body: bytes, probe_max_tokens: int = 0, path: str = "", dialect: Dialect = _PLAIN
) -> WatsonxRequest | None:
    """Return a chat request, or None if the bytes are none; they then pass unchanged (C7).

    >>> body = b'{"model_id": "ibm/granite-4", "messages": [{"role": "user", "content": "Hi"}]}'
    >>> facts = parse_request(body, path="/ml/v1/text/chat_stream").facts
    >>> facts.model, facts.stream
    ('ibm/granite-4', True)
    """
    made = request_of(WatsonxRequest, body, probe_max_tokens, dialect)
    if made is not None:
        made.facts = made.facts.changed(
            model=text_in(object_in(decode_object(body)).get("model_id")),
            stream=path.rstrip("/").endswith("_stream"),
            include_usage=True,  # always
        )
    return made


# --- reading ----------------------------------------------------------------------------------


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event; none for an object of another shape."""
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("results"), list):
        return [Envelope(value), *_generated(_result(value))]
    error = _error_of(value)
    found: list[AnySignal] = [] if error is None else [FaultSeen(read_fault(error))]
    return [*read_chat(value, event=event), *found]


def _result(value: JsonObject) -> JsonObject:
    """Return the first result of a text generation; {}: it is anything else."""
    return object_in(value_at(value, ("results", 0)))


def _generated(result: JsonObject) -> Iterator[AnySignal]:
    """Read a result. Only its first event counts the input."""
    raw = result.get("stop_reason")
    if text := text_in(result.get("generated_text")):
        yield Piece(CHAT_TEXT, Kind.TEXT, text, holds="content")
    stop = None if raw == _NOT_FINISHED else _read_stop(raw, "results[0].stop_reason")
    if stop is not None:
        yield stop
    asked, said = (count(result.get(f"{kind}_token_count")) for kind in ("input", "generated"))
    if asked or said is not None:
        yield UsageSeen(Usage(asked or None, said))


def _error_of(value: JsonObject) -> object | None:
    """Return the first of its errors, with the status beside them."""
    if errors := list_in(value.get("errors")):
        first = errors[0] if isinstance(errors[0], dict) else {"message": errors[0]}
        return {**first, "status_code": value.get("status_code")}
    return None


def is_its_own(value: JsonObject) -> bool:
    """Return whether an object is an answer or an error of this wire.

    >>> is_its_own({"model_id": "ibm/granite-4", "choices": []}), is_its_own({"choices": []})
    (True, False)
    """
    if result := _result(value):
        return "generated_text" in result and "stop_reason" in result
    if isinstance(value.get("errors"), list):
        return "trace" in value
    chat = value.get("choices") == [] or looks_like_chat(value)
    return isinstance(value.get("model_id"), str) and chat


def is_event(value: JsonObject) -> bool:
    """Return whether an object is an event: a chunk of a chat, or an unfinished result. The end of
    a generation may also be a whole body, and is read the same way."""
    if isinstance(value.get("results"), list):
        return _result(value).get("stop_reason") == _NOT_FINISHED
    return is_chat_event(value)


# --- writing ----------------------------------------------------------------------------------


class WatsonxLayout(ChatLayout):
    """Writes a message as chunks. It ends with the usage, without an end mark."""

    def begin(self, value: JsonObject) -> None:
        """Take what all chunks share. The service's messages to its user are written once."""
        super().begin({key: item for key, item in value.items() if key != "system"})

    def stopped(self, answer: Answer, include_usage: bool) -> bytes:
        """Write the stop and the usage."""
        return super().stopped(answer, include_usage).removesuffix(DONE)

    def error(self, code: str, message: str) -> bytes:
        """Write an event named `error`, on which IBM's clients raise."""
        return b"event: error\n" + encode_event(_error(code, message))


def _error(code: str, message: str) -> JsonObject:
    error = {"code": code, "message": message, "more_info": "", "type": "tenuto_incomplete"}
    return {"errors": [error], "trace": "", "status_code": CHAT.error_status}


WIRE = replace(
    CHAT,
    name="watsonx",
    stops=STOPS,
    errors=ERRORS,
    is_request=is_request,
    hosts=(".ml.cloud.ibm.com",),
    dialect=Dialect(output_key="max_completion_tokens"),
    request=parse_request,
    looks_like=is_its_own,
    claims=is_its_own,
    is_event=is_event,
    last_is_body=True,
    read=read,
    parse_fault=fault_parser(lambda value: _error_of(value) or value.get("error"), read_fault),
    layout=WatsonxLayout,
    render_error=error_body(_error),
    form=None,  # a request needs a project or a space too, which only its owner knows
)
