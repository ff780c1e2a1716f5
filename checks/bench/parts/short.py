"""A healthy turn through `tenuto.sansio.Turn`, without a listener: Python calls beside time.

How many functions are called does not depend on the machine. Time is told in units of
`sum(range(1000))`, measured in the same run. "Each further event" is what a stream of twice as many
events takes more, by the event; what a stream takes at least is that of one token.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

from parts import recorded, recorded_anthropic, recorded_gemini, recorded_responses
from parts.figures import Figure, each_us
from parts.recorded import MESSAGES, compact, words

import tenuto

MOST_CALLS, MOST_TIME = 30, 1.5
MOST_CALLS_AN_EVENT, MOST_FIXED_TIME = 3, 10.0
_EVENTS = 400
_PIECE_BYTES = 16_384

_HEADERS = [
    ("host", "api.example"),
    ("accept", "application/json"),
    ("accept-encoding", "gzip, deflate"),
    ("connection", "keep-alive"),
    ("user-agent", "Example/Python 1.0"),
    ("content-type", "application/json"),
    ("authorization", "Bearer none"),
]
_ANSWERED = (
    (b"date", b"Tue, 24 Nov 2026 02:00:00 GMT"),
    (b"transfer-encoding", b"chunked"),
    (b"connection", b"keep-alive"),
    (b"server", b"cloudflare"),
    (b"x-request-id", b"req_0123456789"),
)
_ARGUMENTS = {"path": "src/town.md", "lines": [1, 40], "about": "the quiet town by the river"}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "integer"}},
        "about": {"type": "string"},
    },
    "required": ["path"],
}
_TOOL = {"name": "read_file", "description": "Read lines of a file."}


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire: where it is asked, with what, and what it answers."""

    name: str
    url: str
    stream_url: str
    request: dict[str, Any]
    stream: dict[str, Any]
    text: bytes
    calls: bytes
    events: Callable[[list[str]], list[bytes]]


def _chat_calls() -> bytes:
    return recorded.body("I look it up.", _TOOL["name"], json.dumps(_ARGUMENTS))


def _responses_calls() -> bytes:
    response = json.loads(recorded_responses.BODY)
    call = {
        "id": "fc_67ccd3acc8d48190",
        "type": "function_call",
        "status": "completed",
        "arguments": json.dumps(_ARGUMENTS),
        "call_id": "call_67ccd3acc8d4",
        "name": _TOOL["name"],
    }
    response["output"].append(call)
    return compact(response)


def _gemini_calls() -> bytes:
    response = json.loads(recorded_gemini.BODY)
    call = {"functionCall": {"name": _TOOL["name"], "args": _ARGUMENTS}}
    response["candidates"][0]["content"]["parts"] = [{"text": "I look it up."}, call]
    return compact(response)


_GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash"

WIRES = (
    Wire(
        "openai",
        "https://api.openai.com/v1/chat/completions",
        "https://api.openai.com/v1/chat/completions",
        {
            "messages": MESSAGES,
            "model": "gpt-4o",
            "tools": [{"type": "function", "function": {**_TOOL, "parameters": _SCHEMA}}],
        },
        {"stream": True, "stream_options": {"include_usage": True}},
        recorded.BODY,
        _chat_calls(),
        recorded.events,
    ),
    Wire(
        "anthropic",
        "https://api.anthropic.com/v1/messages",
        "https://api.anthropic.com/v1/messages",
        {
            "max_tokens": 4096,
            "messages": MESSAGES[1:],
            "model": "claude-sonnet-4-5",
            "system": MESSAGES[0]["content"],
            "tools": [{**_TOOL, "input_schema": _SCHEMA}],
        },
        {"stream": True},
        recorded_anthropic.BODY,
        recorded_anthropic.body("I look it up.", _TOOL["name"], _ARGUMENTS),
        recorded_anthropic.events,
    ),
    Wire(
        "openai-responses",
        "https://api.openai.com/v1/responses",
        "https://api.openai.com/v1/responses",
        {
            "input": MESSAGES[1:],
            "instructions": MESSAGES[0]["content"],
            "model": "gpt-4o",
            "tools": [{"type": "function", **_TOOL, "parameters": _SCHEMA}],
        },
        {"stream": True},
        recorded_responses.BODY,
        _responses_calls(),
        recorded_responses.events,
    ),
    Wire(
        "gemini-generate",
        f"{_GEMINI}:generateContent",
        f"{_GEMINI}:streamGenerateContent?alt=sse",
        {
            "contents": [{"parts": [{"text": MESSAGES[1]["content"]}], "role": "user"}],
            "systemInstruction": {"parts": [{"text": MESSAGES[0]["content"]}], "role": "user"},
            "tools": [{"functionDeclarations": [{**_TOOL, "parameters": _SCHEMA}]}],
        },
        {},
        recorded_gemini.BODY,
        _gemini_calls(),
        recorded_gemini.events,
    ),
)

_POLICY = tenuto.Policy()


def turn(url: str, body: bytes, kind: bytes, pieces: list[bytes]) -> bytes:
    """Drive one turn, and return what the caller is given."""
    head = tenuto.sansio.Head(200, ((b"content-type", kind), *_ANSWERED))
    made = tenuto.sansio.Turn("POST", url, _HEADERS, body, policy=_POLICY)
    left, seen = iter(pieces), []
    reply: Any = None
    step, read = made.next, tenuto.sansio.ReadMore
    while (command := step(reply)) is not None:
        if type(command) is read:
            reply = next(left, b"")
        elif type(command) is tenuto.sansio.SendData:
            seen.append(command.data)
            reply = None
        else:
            reply = head if type(command) is tenuto.sansio.SendRequest else None
    return b"".join(seen)


def called(work: Callable[[], object]) -> int:
    """How many Python functions a piece of work calls, resumed generators among them."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    work()
    work()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count - 2  # `work` and what it calls first


def figures() -> Iterator[Figure]:
    """Calls and time of a body with text, one with a call, and a stream, on each wire."""
    for wire in WIRES:
        yield from _bodies(wire)
        yield from _streams(wire)


def _unit_us(*works: Callable[[], object]) -> list[float]:
    """The time of each, in units of `sum(range(1000))`."""
    unit, *times = each_us((lambda: sum(range(1000)), 1), *((work, 1) for work in works))
    return [time / unit for time in times]


def _bodies(wire: Wire) -> Iterator[Figure]:
    request = compact(wire.request)
    for what, body in (("text", wire.text), ("a call", wire.calls)):
        work = partial(turn, wire.url, request, b"application/json", [body])
        assert work() == body
        title = f"{wire.name}: a turn, body of {len(body):,} bytes with {what}"
        yield Figure(f"{title}, calls", called(work), "calls", MOST_CALLS)
        (time,) = _unit_us(work)
        yield Figure(f"{title}, time", time, "×", MOST_TIME, "of `sum(range(1000))`")


def _streams(wire: Wire) -> Iterator[Figure]:
    request = compact({**wire.request, **wire.stream})
    for how, cut in (("an event at a time", list), ("16 kB at a time", _at_once)):
        few, many = (wire.events(words(count)) for count in (_EVENTS, 2 * _EVENTS))
        works = [
            partial(turn, wire.stream_url, request, b"text/event-stream", cut(events))
            for events in (few, many)
        ]
        for work, events in zip(works, (few, many), strict=True):
            assert work() == b"".join(events)
        title = f"{wire.name}: a stream, {how}"
        calls = [called(work) for work in works]
        each = (calls[1] - calls[0]) / _EVENTS
        yield Figure(f"{title}, each further event", each, "calls", MOST_CALLS_AN_EVENT)
    least = wire.events(words(1))
    work = partial(turn, wire.stream_url, request, b"text/event-stream", least)
    assert work() == b"".join(least)
    (time,) = _unit_us(work)
    title = f"{wire.name}: a stream of one token, {len(least)} events"
    beside = f"of `sum(range(1000))`; {called(work)} calls"
    yield Figure(title, time, "×", MOST_FIXED_TIME, beside)


def _at_once(events: list[bytes]) -> list[bytes]:
    whole = b"".join(events)
    return [whole[at : at + _PIECE_BYTES] for at in range(0, len(whole), _PIECE_BYTES)]
