"""The short path against the machine: where a wire's typed readings are certain of a request, the
machine lets it leave as it came; where they are certain of a body, the machine hands on its very
bytes as a complete turn. They may be unsure of anything. A stream gives the same requests, bytes and
report by either, and no byte of it waits for longer, whatever it says and however it comes."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from checks.fuzz.asked import ALL, Asked
from checks.fuzz.drawing import fixtures, is_stream, seed, split
from checks.fuzz.histories import HISTORY
from tenuto import Policy
from tenuto.core.answer.fault import FaultKind
from tenuto.core.events.report import Report
from tenuto.providers.learned import Learned
from tenuto.turn.drivers.commands import (
    ConnectionLost,
    Head,
    ReadMore,
    Request,
    SendData,
    SendRequest,
    StartResponse,
)
from tenuto.turn.pipeline.engine import Engine
from tenuto.turn.record.turn_log import ignore_event
from tenuto.turn.short_path.stream import ShortStream
from tenuto.wires.base import Wire
from tenuto.wires.dialect import Dialect

BETWEEN = b"\0"
"""What parts the request of an input from the body behind it; no JSON holds it."""

_HEAD = Head(200, ((b"content-type", b"application/json"),))
_ENGINES = [
    Engine(Policy(on_incomplete=shown)).with_listener(ignore_event) for shown in ("stop", "error")
]
_DIALECTS = (Dialect(), Dialect(signed_thinking=False, reasoning_key="reasoning_content"))
_ODD: tuple[Any, ...] = (
    None, "", " ", 0, 1, -1, 1.5, True, False, [], {}, [{}], "_", "null", "<think>", "{}", '{"a":', "error",
    {"required": ["path", "n"]}, {"path": "x"}, {"error": {"message": "No."}}, "stop", "length", "tool_calls",
    "end_turn", "max_tokens", "STOP", "SAFETY", "completed", "incomplete", "assistant", "user", "model", "tool",
    "\n\n[This answer is incomplete: retry limit.]",
)  # fmt: skip
_WORDS = (
    "id", "name", "type", "text", "role", "content", "error", "index", "thought", "refusal", "custom", "status",
    "function", "function_call", "functionCall", "functionResponse", "promptFeedback", "prompt_feedback", "_mine",
    "blockReason", "willContinue", "finish_details", "native_finish_reason", "stop_details", "x_groq", "base_resp",
    "status_code", "object", "incomplete_details", "response", "thread", "stream", "previous_response_id", "required",
)  # fmt: skip


def seeds(wire: Wire) -> Iterator[bytes]:
    asked = _asked(wire)
    streams = [data for data in fixtures(wire.name) if is_stream(data)]
    healthy = [data for data in map(_longer, streams) if data]
    for number, data in enumerate([*streams, *healthy * 4]):
        for mutations in (0, 1, 2, 3):
            yield seed(_STREAM + BETWEEN + data, mutations, number & 255, 200)
            yield seed(_STREAM + BETWEEN + data, mutations, number & 255, 17)
    plain = json.dumps(asked.body).encode()
    requests = [each for history in _histories(asked) for each in (plain, history)]
    bodies = [body for body in fixtures(wire.name) if not is_stream(body)]
    for number, body in enumerate(bodies):
        request = requests[number % len(requests)]
        for mutations in (0, 1, 2, 3):
            yield seed(request + BETWEEN + body, mutations, number & 255)
    for request in requests:
        yield seed(request + BETWEEN + bodies[0], 0)


def _asked(wire: Wire) -> Asked:
    return next(one for one in ALL if not one.speaks and wire.is_request(one.path))


def _histories(asked: Asked) -> Iterator[bytes]:
    for at in range(len(HISTORY)):
        rows = b",".join([*HISTORY[at : at + 2], json.dumps(asked.body[asked.rows][0]).encode()])
        body = {key: value for key, value in asked.body.items() if key != asked.rows}
        yield b'{"%b":[%b],%b' % (asked.rows.encode(), rows, json.dumps(body).encode()[1:])


def check(wire: Wire, data: bytes) -> None:
    knobs, payload = split(data)
    request, _, body = payload.partition(BETWEEN)
    draw = random.Random(knobs[1:])
    mutations = knobs[0] % 4
    if request == _STREAM:
        _check_stream(wire, body, mutations, draw, knobs[2])
        return
    request, body = (_mutated(each, mutations, draw) for each in (request, body))
    short, path = wire.short, _asked(wire).path
    assert short is not None
    asks = short.asks(request, path)
    for dialect in _DIALECTS:
        parsed = wire.asked(request, 0, path, dialect, ())
        if asks is not None:
            assert parsed is not None
            assert not parsed.repairs
            facts = parsed.facts
            assert asks.alone or asks.model in ("", facts.model)
            assert asks.alone or (
                facts.left_alone in ("", "probe", "prewarm")
                and ((asks.max_tokens or 0) < 1 or asks.max_tokens == facts.max_tokens)
            )
            assert asks.max_tokens is not None or facts.max_tokens is None
            assert (asks.stream, asks.follows) == (facts.stream, facts.follows)
            assert parsed.apply((), dialect) is request
    if (
        parsed is not None
        and not parsed.facts.stream
        and short.ids_if_whole(
            body, asks.max_tokens if asks is not None else parsed.facts.max_tokens
        )
    ):
        for engine in _ENGINES:
            _must_be_whole(engine, Request("POST", f"https://host{path}", (), request), body)


def _must_be_whole(engine: Engine, request: Request, body: bytes) -> None:
    asked = engine.read(request)
    assert asked is not None
    if asked.parsed.repairs:
        return
    record, run = engine.run(asked)
    replies: list[Any] = [_HEAD, body, b""]
    command, seen, sent = run.send(None), b"", 0
    while True:
        reply = None
        if isinstance(command, SendRequest | ReadMore):
            sent += isinstance(command, SendRequest)
            assert replies, "a body that is whole is asked for once"
            reply = replies.pop(0)
        elif isinstance(command, StartResponse):
            assert command.head == _HEAD
        elif isinstance(command, SendData):
            seen += command.data
        try:
            command = run.send(reply)
        except StopIteration:
            break
    report = record.log.report
    assert sent == 1
    assert seen == body
    assert report is not None
    assert (report.status, report.reason) == ("complete", "completed")
    assert not report.rungs


# --- streams ------------------------------------------------------------------------------------

_STREAM = b"stream"
"""Stands for a plain request for a stream."""

_STREAM_HEAD = Head(200, ((b"content-type", b"text/event-stream"),))
_QUIET = [
    Engine(Policy(on_incomplete=shown, backoff_s=0.0, empty_retries=1))
    for shown in ("stop", "error")
]
_LEAST = Policy(hold_max_bytes=700, event_max_bytes=700)


def _longer(data: bytes) -> bytes:
    """A stream of text with its texts said again and again, b"" where it says none."""
    end = b"\r\n\r\n" if b"\r\n\r\n" in data else b"\n\n"
    events = data.split(end)
    texts = [
        event for event in events if b"Hello" in event or b" wor" in event or b"world" in event
    ]
    if not texts or b"call" in data or b"tool" in data:
        return b""
    at = events.index(texts[-1])
    more = [texts[-1].replace(b"world", b"w%d" % n if n % 3 else b" ") for n in range(9)]
    return end.join([*events[:at], *more, *events[at:]])


def _check_stream(wire: Wire, data: bytes, mutations: int, draw: random.Random, most: int) -> None:
    asked = _asked(wire)
    body = asked.body if wire.name == "gemini-generate" else {**asked.body, "stream": True}
    path = asked.path_of(stream=True)
    request = Request("POST", f"https://host{path}", (), json.dumps(body).encode())
    data = _with_events_changed(data, mutations, draw)
    pieces, at = [], 0
    while at < len(data):
        size = draw.randint(1, (most + 1) * (8 if draw.random() < 0.3 else 1))
        pieces.append(data[at : at + size])
        at += size
    ends = ConnectionLost(FaultKind.CONNECTION, ConnectionError()) if draw.random() < 0.1 else b""
    engine = Engine(_LEAST) if draw.random() < 0.05 else draw.choice(_QUIET)
    environment = engine.environment
    for_machine = Engine(
        engine.policy,
        ignore_event,
        environment=replace(environment, on_event=ignore_event, learned=Learned()),
    )
    for_short = Engine(engine.policy, None, environment=replace(environment, learned=Learned()))
    taken = for_short.begin_quick(request, for_short.with_listener(ignore_event))
    assert isinstance(taken, ShortStream)
    read = for_machine.read(request)
    assert read is not None
    record, run = for_machine.run(read)
    one, other = _played(taken, pieces, ends), _played(run, pieces, ends)
    assert one == other
    assert _told(taken.report) == _told(record.log.report)
    kept = [each.environment.learned._endings.keys() for each in (for_short, for_machine)]
    assert kept[0] == kept[1]


def _told(report: Report | None) -> Report | None:
    """A report without the turn's id: each of the two turns has its own."""
    return report and replace(report, turn="")


def _played(run: Any, pieces: list[bytes], ends: Any) -> tuple[Any, ...]:
    """What a turn sends and gives, and how many bytes its caller has whenever more is read."""
    left: Iterator[Any] = iter(())
    sent: list[bytes] = []
    seen, opened, progress = b"", [], []
    reply: Any = None
    while len(sent) < 4:
        try:
            command = run.send(reply)
        except StopIteration:
            break
        reply = None
        if isinstance(command, SendRequest):
            sent.append(_OWN_ID.sub(b"t-own", command.body))
            left = iter([*pieces, ends]) if len(sent) == 1 else iter([*pieces, b""])
            reply = _STREAM_HEAD
        elif isinstance(command, ReadMore):
            progress.append(len(seen))
            reply = next(left, b"")
            while command.take is not None and isinstance(reply, bytes) and reply:
                if (out := command.take(reply)) is None:
                    break
                seen += out
                progress.append(len(seen))
                reply = next(left, b"")
        elif isinstance(command, StartResponse):
            opened.append(command.head.without(b"x-tenuto-turn"))
        elif isinstance(command, SendData):
            seen += command.data
    return sent, _OWN_ID.sub(b"t-own", seen), opened, progress


_OWN_ID = re.compile(rb"\bt[0-9a-f]{5}(?=\d{3}\b)|(?<=\"turn\":\")[0-9a-f]{40}")


def _with_events_changed(data: bytes, mutations: int, draw: random.Random) -> bytes:
    """The same stream with some of its events changed, doubled, moved or taken away."""
    end = b"\r\n\r\n" if b"\r\n\r\n" in data else b"\n\n"
    events = data.split(end)
    for _ in range(mutations):
        at, how = draw.randrange(len(events)), draw.randrange(8)
        if how == 0:
            del events[at]
        elif how == 1:
            events.insert(at, events[at])
        elif how == 2:
            events.insert(
                at,
                draw.choice(
                    [b": ping", b"", b"data: [DONE]", b"event: error\ndata: {}", b"data: {}"]
                ),
            )
        elif how == 3:
            other = draw.randrange(len(events))
            events[at], events[other] = events[other], events[at]
        elif how == 4:
            return end.join(events)[: draw.randrange(len(data) + 1)]
        else:
            head, found, text = events[at].partition(b"data: ")
            events[at] = head + found + _mutated(text, 1, draw)
        if not events:
            return b""
    return end.join(events)


def _mutated(data: bytes, mutations: int, draw: random.Random) -> bytes:
    """The same JSON with some of its members changed, renamed, doubled or taken away; what is none
    stays as it is."""
    if not mutations:
        return data
    try:
        value = json.loads(data)
    except ValueError:
        return data
    for _ in range(mutations):
        places = list(_places(value))
        if not places:
            break
        within, key = draw.choice(places)
        how = draw.randrange(6)
        if how == 0:
            del within[key]
        elif how == 1 and isinstance(within, dict):
            within[draw.choice(_WORDS)] = within.pop(key)
        elif how == 2 and isinstance(within, list):
            within.append(copy.deepcopy(within[key]))
        elif how == 3 and isinstance(within, dict):
            within[draw.choice(_WORDS)] = copy.deepcopy(draw.choice(_ODD))
        elif how == 4:
            other, at = draw.choice(places)
            within[key] = copy.deepcopy(other[at])
        else:
            within[key] = copy.deepcopy(draw.choice(_ODD))
    try:
        return json.dumps(value, ensure_ascii=draw.random() < 0.5).encode()
    except ValueError:  # half a surrogate pair
        return data


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    left = [value]
    while left:
        one = left.pop()
        keys = (
            one.keys()
            if isinstance(one, dict)
            else range(len(one))
            if isinstance(one, list)
            else ()
        )
        for key in keys:
            yield one, key
            if isinstance(one[key], dict | list):
                left.append(one[key])
