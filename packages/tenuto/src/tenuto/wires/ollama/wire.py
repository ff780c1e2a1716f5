"""Ollama's own API: `/api/chat` and `/api/generate`.

https://docs.ollama.com/api/chat, https://docs.ollama.com/api/generate (read through ollama-python
0.6.3, `ollama/_types.py`, 2026-11-22). This module holds the stop table, the reader, and how
endings are shown. Errors are in `errors`, requests in `request`, `history` and `prompt`, and
writing in `render`.

A stream is JSON objects, one per line, and is the default. Bodies and lines look alike: each line
holds what is new, and the last one is `done` and says why. A call arrives whole, with its arguments
as an object, and no stop reports it.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.parts import AnySignal, CallPiece, Envelope, Kind, Piece, Place, Said
from tenuto.core.answer.signals import (
    CallDelta,
    Ended,
    FaultSeen,
    StopSeen,
    Usage,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.wires.answer import error_body
from tenuto.wires.base import Wire, never
from tenuto.wires.chat_like import chat as chat_like
from tenuto.wires.errors import fault_parser
from tenuto.wires.json import JsonObject, as_text, count
from tenuto.wires.members import word_in
from tenuto.wires.ollama import render
from tenuto.wires.ollama.errors import ERRORS, error_of, read_fault
from tenuto.wires.ollama.form import FORM
from tenuto.wires.ollama.request import CHAT, GENERATE, ChatRequest, parse_request
from tenuto.wires.request_edits import key_at
from tenuto.wires.stops import StopTable, clean_stop, stop_reader

_R = StopReason

STOPS: StopTable = {
    # The model ended its turn, or a stop sequence came; calls end with it too.
    "stop": (_R.END_TURN, None),
    # `num_predict` was reached, or `num_ctx` is full.
    "length": (_R.MAX_TOKENS, None),
    # Nothing was requested: the model was loaded, or unloaded. It has said nothing, so nothing
    # ended either.
    "load": (_R.UNKNOWN, "load"),
    "unload": (_R.UNKNOWN, "unload"),
}
"""The server's values of `done_reason`, in its own order
(https://github.com/ollama/ollama/blob/main/llm/server.go, `DoneReason`)."""

_read_stop = stop_reader(STOPS)


def _end(value: JsonObject) -> StopSeen | Ended | None:
    """Return the stop or end in an object; None: the answer continues.

    A last line without a reason ends in order, without a stop (N1a, S3a). Versions before May 2024
    never give one (https://github.com/ollama/ollama/pull/4235, read 2026-11-23). Later ones leave
    it out only if the connection to the model was closed, and write `stop` in that case on their
    Chat Completions.
    """
    seen = _read_stop(value.get("done_reason"), "done_reason")
    return Ended() if seen is None and value.get("done") is True else seen


# --- reading ----------------------------------------------------------------------------------

_CALL_KEYS = frozenset({"id", "function"})


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one line; none for an object of another shape."""
    if not isinstance(value, dict):
        return []
    signals: list[AnySignal] = [Envelope(value), _said(value)]
    message = value.get("message")
    if isinstance(message, dict):
        signals += _read_message(message, "content")
        signals += _beside(message, message.keys() - render.WORDS, "message")
    else:
        signals += _read_message(value, "response")
    signals += _beside(value, render.IMAGES & value.keys())
    error = error_of(value)
    if error is not None:
        signals.append(FaultSeen(read_fault(error)))
    elif not event and value.get("done") is False:  # the first line, and all that was received
        signals.append(FaultSeen(Fault(FaultKind.CONNECTION, "not_done")))
    usage = usage_object(value)
    if usage is not None:
        signals.append(UsageSeen(Usage(*(count(usage.get(key)) for key in render.COUNTS))))
    end = _end(value)
    if end is not None:
        signals.append(end)
    return signals


def _said(value: JsonObject) -> Said:
    """Return a line's members about the end. Each line has a piece of the log probabilities."""
    logs = value.get("logprobs")
    own = {key: item for key, item in value.items() if key in render.OF_THE_END}
    return Said(own, {"logprobs": own.pop("logprobs")} if isinstance(logs, list) else None)


def _read_message(message: JsonObject, content: str) -> Iterator[AnySignal]:
    """Read the text and calls of a message, or of an answer to a prompt."""
    for name, kind in ("thinking", Kind.REASONING), (content, Kind.TEXT):
        text = message.get(name)
        if isinstance(text, str) and text:
            yield Piece((name,), kind, text, holds=name)
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        given = [call for call in calls if call is not None]
        deltas = [_call(call) if isinstance(call, dict) else _UNREADABLE for call in given]
        yield from (CallPiece(_CALLS, delta) for delta in deltas)
    elif calls:
        yield CallPiece(_CALLS, _UNREADABLE)


def _beside(value: JsonObject, names: AbstractSet[str], *place: str) -> Iterator[Piece]:
    """Read what stands beside the text: images, and unknown members."""
    for name in [name for name in value if name in names]:
        kind = Kind.OTHER if name in render.IMAGES and value[name] else Kind.NOTE
        yield Piece((*place, name), kind, "", {name: value[name]}, holds="")


_CALLS: Place = ("tool_calls", None)
_UNREADABLE = CallDelta(None, None, None, None, unreadable=True)
"""Stands for something that should be a call but is none: it belongs to the call before it."""


def _call(call: JsonObject) -> CallDelta:
    """Read a call, which arrives whole. Most servers write no id, so calls go by their order."""
    named = call.get("function")
    function = named if isinstance(named, dict) else call
    call_id, given = word_in(call, "id"), function.get("arguments")
    odd: tuple[str, ...] = ()
    if not isinstance(given, dict) and given:
        odd = ("arguments_text",) if isinstance(given, str) else ("arguments_no_object",)
    extra = {
        "call": {key: item for key, item in call.items() if key not in _CALL_KEYS},
        "function": {k: v for k, v in function.items() if k not in ("name", "arguments")},
        "named": call_id is not None,
    }
    return CallDelta(
        None,
        call_id,
        word_in(function, "name"),
        given if given is None or isinstance(given, str) else as_text(given),
        odd,
        may_lack_id=True,
        decoded=isinstance(given, dict),
        unreadable=not isinstance(named, dict | None),
        extra=extra,
    )


def usage_object(value: JsonObject) -> JsonObject | None:
    """Return the native counts, which are among the other members of the last line."""
    found = {key: value[key] for key in render.COUNTS if value.get(key) is not None}
    return found or None


# --- the wire itself --------------------------------------------------------------------------


def is_request(path: str) -> bool:
    """Return whether the path is that of a generation, below any base URL."""
    return path.rstrip("/").endswith((CHAT, GENERATE))


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is a response of this wire, or one of its lines."""
    if type(value.get("done")) is not bool:
        return False
    message = value.get("message")
    if isinstance(message, dict):
        return "model" in value or "role" in message
    told = "model" in value or "done_reason" in value
    return told and isinstance(value.get("response"), str)


def is_event(value: JsonObject) -> bool:
    """Return whether an object is a line that does not end its stream. The last line may also be a
    whole body, and is read the same way."""
    return value.get("done") is not True and error_of(value) is None


WIRE = Wire(
    name="ollama",
    stops=STOPS,
    errors=ERRORS,
    # Ollama filters nothing, and gateways in front of it use OpenAI's word.
    shown=chat_like.SHOWN,
    is_request=is_request,
    request=parse_request,
    limit_key=lambda _: key_at(ChatRequest.paths.output_limit),
    looks_like=looks_like,
    is_event=is_event,
    last_is_body=True,
    read=read,
    is_terminator=never,
    usage_object=usage_object,
    parse_fault=fault_parser(error_of, read_fault),
    layout=render.LineLayout,
    clean_stop=clean_stop("stop"),  # with calls and without
    as_body=render.as_body,
    render_body=render.render_body,
    render_error=error_body(render.error_of_ours),
    form=FORM,
)
