"""Ollama's own API: `/api/chat` and `/api/generate`.

https://docs.ollama.com/api/chat, https://docs.ollama.com/api/generate (read through ollama-python
0.6.3, `ollama/_types.py`, 2026-11-22). From top to bottom: the stop table, reading, and the faces
of an ending. The error table stands in `ollama_errors`, the request's side in `ollama_request`,
`…_history` and `prompt`, the writing side in `ollama_render`.

A stream is objects of JSON, one a line, and what is not asked otherwise is streamed. Bodies and
lines look alike: each line holds what is new, and the last one is `done` and says why. A call comes
whole, its arguments as an object, and is named by no stop.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tenuto.core.fault import Fault, FaultKind
from tenuto.core.signals import (
    CallDelta,
    Ended,
    FaultSeen,
    OtherSeen,
    ReasoningDelta,
    Signal,
    StopSeen,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.stop import StopReason
from tenuto.wires.base import JsonObject, Wire, never
from tenuto.wires.errors import fault_parser
from tenuto.wires.json import UNREADABLE, as_text, count
from tenuto.wires.ollama import render
from tenuto.wires.ollama.errors import ERRORS, error_of, read_fault
from tenuto.wires.ollama.form import FORM
from tenuto.wires.ollama.request import CHAT, GENERATE, parse_request
from tenuto.wires.openai_chat import wire as openai_chat
from tenuto.wires.plain import say_something
from tenuto.wires.stops import StopTable, in_other_words, look_up

_R = StopReason

STOPS: StopTable = {
    # The model ended its turn, or a stop sequence came; calls end with it too.
    "stop": (_R.END_TURN, None),
    # `num_predict` was reached, or `num_ctx` is full.
    "length": (_R.MAX_TOKENS, None),
    # Nothing was asked: the model was loaded, or unloaded.
    "load": (_R.END_TURN, "load"),
    "unload": (_R.END_TURN, "unload"),
}
"""What the server writes as `done_reason`, in its own order
(https://github.com/ollama/ollama/blob/main/llm/server.go, `DoneReason`)."""

_ALL_STOPS = {**in_other_words(STOPS), **STOPS}


def _end(value: JsonObject) -> StopSeen | Ended | None:
    """What an object says of the answer's end; None where it goes on.

    One that is done and gives no reason ends in order, without a stop (N1a, S3a). Versions of
    before May 2024 never give one (https://github.com/ollama/ollama/pull/4235, read 2026-11-23).
    Later ones leave it out only where the connection to the model was closed, and write `stop`
    there on their Chat Completions.
    """
    seen = look_up(value.get("done_reason"), "done_reason", _ALL_STOPS)
    return Ended() if seen is None and value.get("done") is True else seen


# --- reading ----------------------------------------------------------------------------------

_CALL_KEYS = frozenset({"id", "function"})


def parse_object(value: object, *, event: bool) -> list[Signal]:
    """The signals of a body, or of one line of a stream; an object of another shape has none."""
    if not isinstance(value, dict):
        return []
    signals: list[Signal] = []
    message = value.get("message")
    if isinstance(message, dict):
        _say(message, "content", signals)
        _parse_calls(message.get("tool_calls"), signals)
    else:
        _say(value, "response", signals)
        _parse_calls(value.get("tool_calls"), signals)
    error = error_of(value)
    if error is not None:
        signals.append(FaultSeen(read_fault(error)))
    elif not event and value.get("done") is False:  # the first line, and all that came
        signals.append(FaultSeen(Fault(FaultKind.CONNECTION, "not_done")))
    usage = usage_object(value)
    if usage is not None:
        signals.append(UsageSeen(_usage(usage)))
    end = _end(value)
    if end is not None:
        signals.append(end)
    return signals


def _say(part: JsonObject, key: str, signals: list[Signal]) -> None:
    thinking, text = part.get("thinking"), part.get(key)
    if isinstance(thinking, str) and thinking:
        signals.append(ReasoningDelta(thinking))
    if isinstance(text, str) and text:
        signals.append(TextDelta(text))
    if part.get("images") or part.get("image"):
        signals.append(OtherSeen())


_UNREADABLE = CallDelta(None, None, None, None, unreadable=True)
"""Stands for what is no call where there should be one: it belongs to the call before it."""


def _parse_calls(calls: object, signals: list[Signal]) -> None:
    if isinstance(calls, list):
        given = [call for call in calls if call is not None]
        signals.extend(_call(call) if isinstance(call, dict) else _UNREADABLE for call in given)
    elif calls:
        signals.append(_UNREADABLE)


def _call(call: JsonObject) -> CallDelta:
    """A call comes whole: most servers write no id, so that calls are told by their order."""
    named = call.get("function")
    function = named if isinstance(named, dict) else call
    call_id, name = call.get("id"), function.get("name")
    given = function.get("arguments")
    odd: tuple[str, ...] = ()
    if not isinstance(given, dict) and given:
        odd = ("arguments_text",) if isinstance(given, str) else ("arguments_no_object",)
    extra = {
        "call": {key: item for key, item in call.items() if key not in _CALL_KEYS},
        "function": {k: v for k, v in function.items() if k not in ("name", "arguments")},
        "named": isinstance(call_id, str) and bool(call_id),
    }
    return CallDelta(
        None,
        call_id if extra["named"] else None,
        name if isinstance(name, str) and name else None,
        given if given is None or isinstance(given, str) else as_text(given),
        odd,
        may_lack_id=True,
        decoded=isinstance(given, dict),
        unreadable=not isinstance(named, dict | None),
        extra=extra,
    )


def usage_object(value: JsonObject) -> JsonObject | None:
    """The native counts, which stand among the other members of what is done."""
    found = {key: value[key] for key in render.COUNTS if value.get(key) is not None}
    return found or None


def _usage(usage: JsonObject) -> Usage:
    return Usage(
        input_tokens=count(usage.get("prompt_eval_count")),
        output_tokens=count(usage.get("eval_count")),
    )


# --- the quick reading of a line that only carries text ------------------------------------------


class _FlowingMessage(msgspec.Struct, gc=False):
    content: str | None = None
    thinking: str | None = None
    tool_calls: None = None
    images: None = None


class _Flowing(msgspec.Struct, gc=False):
    """All keys that `parse_object` looks at. Whatever is more than text fails the decoding."""

    done: Literal[False]
    message: _FlowingMessage | None = None
    response: str | None = None
    thinking: str | None = None
    done_reason: Literal["", None] = None
    tool_calls: None = None
    error: None = None
    image: None = None
    images: None = None
    prompt_eval_count: None = None
    eval_count: None = None


_read_flowing = msgspec.json.Decoder(_Flowing).decode


def read_flowing(data: bytes) -> TextDelta | ReasoningDelta | None:
    """The one signal of a line that carries text or reasoning and nothing else, else None.

    >>> read_flowing(b'{"message":{"role":"assistant","content":"Hi"},"done":false}')
    TextDelta(text='Hi')
    >>> read_flowing(b'{"message":{"content":""},"done":true,"done_reason":"stop"}') is None
    True
    """
    try:
        line = _read_flowing(data)
    except UNREADABLE:
        return None
    message = line.message
    text = line.response if message is None else message.content
    thinking = line.thinking if message is None else message.thinking
    if text and not thinking:
        return TextDelta(text)
    return ReasoningDelta(thinking) if thinking and not text else None


# --- the quick reading of a whole body that is nothing but text ---------------------------------


class _Message(msgspec.Struct):
    content: msgspec.Raw  # not decoded: bodies may be large
    role: Literal["assistant"] = "assistant"
    tool_calls: tuple[()] | None = None


class _Whole(msgspec.Struct):
    done: Literal[True]
    done_reason: Literal["stop"]
    message: _Message
    error: None = None


_read_whole = msgspec.json.Decoder(_Whole).decode


def is_plain(body: bytes) -> bool:
    """Whether a body is an answer of text that ended by itself.

    >>> is_plain(b'{"message":{"content":"Hi"},"done":true,"done_reason":"stop"}')
    True
    """
    try:
        return say_something([_read_whole(body).message.content], body)
    except UNREADABLE:
        return False


# --- the faces of an ending (P1a) -------------------------------------------------------------

SHOWN = openai_chat.SHOWN
"""Every outcome, in Chat's words: Ollama filters nothing, and who stands before it says so in
OpenAI's."""


def is_request(path: str) -> bool:
    """Whether the path is that of a generation, below whatever base URL."""
    return path.rstrip("/").endswith((CHAT, GENERATE))


def looks_like(value: JsonObject) -> bool:
    """Whether an object is a response of this wire, or one of its lines."""
    if type(value.get("done")) is not bool:
        return False
    return isinstance(value.get("message"), dict) or isinstance(value.get("response"), str)


def is_event(value: JsonObject) -> bool:
    """Whether an object is a line that does not end its stream. What ends one may as well be a
    whole body, and is read alike."""
    return value.get("done") is not True and error_of(value) is None


WIRE = Wire(
    name="ollama",
    stops=STOPS,
    errors=ERRORS,
    shown=SHOWN,
    is_request=is_request,
    request=parse_request,
    looks_like=looks_like,
    is_event=is_event,
    read=parse_object,
    read_flowing=read_flowing,
    is_terminator=never,
    is_plain=is_plain,
    usage_object=usage_object,
    parse_fault=fault_parser(error_of, read_fault),
    writer=render.LineWriter,
    clean_stop=render.clean_stop,
    body_of=render.body_of,
    render_body=render.render_body,
    render_error=render.render_error,
    form=FORM,
)
