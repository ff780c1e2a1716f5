"""The short path against the machine: where a wire's typed readings are certain of a request, the
machine lets it leave as it came; where they are certain of a body, the machine hands on its very
bytes as a complete turn. They may be unsure of anything."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from fuzz.asked import ALL, Asked
from fuzz.drawing import fixtures, is_stream, seed, split
from fuzz.histories import HISTORY
from tenuto import Policy
from tenuto.relay.commands import Head, Open, Read, Request, Transmit, Write
from tenuto.relay.engine import Engine
from tenuto.relay.watch import nobody
from tenuto.wire.base import Dialect, Wire

BETWEEN = b"\0"
"""What parts the request of an input from the body behind it; no JSON holds it."""

_HEAD = Head(200, ((b"content-type", b"application/json"),))
_ENGINES = [Engine(Policy(on_incomplete=shown)).telling(nobody) for shown in ("stop", "error")]
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
    request, body = (_mutated(each, mutations, draw) for each in (request, body))
    short, path = wire.short, _asked(wire).path
    assert short is not None
    asks = short.asks(request, path)
    for dialect in _DIALECTS:
        parsed = wire.asked(request, 0, path, dialect, ())
        if asks is not None:
            assert parsed is not None
            assert not parsed.repairs
            assert asks == (parsed.facts.stream, parsed.facts.follows)
            assert parsed.apply((), dialect) is request
    if parsed is not None and not parsed.facts.stream and short.is_whole(body, request):
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
        if isinstance(command, Transmit | Read):
            sent += isinstance(command, Transmit)
            assert replies, "a body that is whole is asked for once"
            reply = replies.pop(0)
        elif isinstance(command, Open):
            assert command.head == _HEAD
        elif isinstance(command, Write):
            seen += command.data
        try:
            command = run.send(reply)
        except StopIteration:
            break
    report = record.watch.report
    assert sent == 1
    assert seen == body
    assert report is not None
    assert (report.status, report.reason) == ("complete", "completed")
    assert not report.rungs


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
