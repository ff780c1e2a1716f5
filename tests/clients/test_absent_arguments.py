"""Arguments that never came, and names that came in pieces (T12a). Real bytes, through the official
SDKs of eleven wires; the far side sees what is asked for again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK, Wrapped
from support.events import openai_chat as chat
from support.events.framing import sse
from support.every_wire import (
    ABSENT,
    DECODED,
    MAKERS,
    OBJECTS,
    At,
    arguments_of,
    ask,
    streamed,
    whole,
)
from support.far_sides import FarSide, json_answer, sse_answer
from support.pairing import every_pair

import tenuto
from tenuto.core import hints

WANTED = {"path": "a.txt", "content": "x"}
TEXT = json.dumps(WANTED)

NOTHING: dict[str, tuple[tuple[Any, ...], ...]] = {
    "anthropic-messages": ((), ("",)),
    "bedrock-converse": ((), ("",)),
    "bedrock-invoke": ((), ("",), (None,)),
    "cohere": ((), ("",)),
    "cohere-v1": ((None,), ("",)),
    "gemini-generate": ((None,),),
    "gemini-interactions": ((), ("",)),
    "mistral": (("",), (None,), ("null",)),
    "ollama": ((None,), ("",)),
    "openai-chat": ((), ("",), (None,), ("null",)),
    "openai-responses": ((), ("",)),
}
"""How streams leave arguments out, piece by piece."""
STREAMS = [(wire, pieces) for wire, ways in NOTHING.items() for pieces in ways]
BODIES = [(wire, given) for wire in MAKERS for given in (ABSENT, None, "")]
EMPTY_IS_ODD = {"gemini-generate"}
"""Wires on which the SDK fails on a text for arguments before anything is asked for."""


def asked(wire: str, *answers: bytes, mode: str, way: str = "sync", required: bool = True) -> Any:
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        said = ask(asker, wire, mode, way, required=required)
        ending = asker.ending
        asker.close()
    return said, far.requests, ending


def right(wire: str, mode: str) -> bytes:
    if mode == "stream":
        return streamed(wire, WANTED if wire in DECODED else TEXT)
    return whole(wire, WANTED if wire in OBJECTS else TEXT)


@pytest.mark.behaviour("T12a", "T1", "T16")
@pytest.mark.parametrize(("wire", "pieces"), STREAMS, ids=[f"{w}-{p!r}" for w, p in STREAMS])
def test_a_streamed_call_whose_required_arguments_never_came_is_asked_for_again(
    wire: str, pieces: tuple[Any, ...], way: str
) -> None:
    first = streamed(wire, *pieces)
    said, requests, ending = asked(wire, first, right(wire, "stream"), mode="stream", way=way)
    assert said.error is None
    assert arguments_of(said) == [WANTED]
    assert len(requests) == 2
    assert hints.FILL_CALL.encode() in requests[1][1]
    assert ending["status"] == "complete"


@pytest.mark.behaviour("T12a", "T1", "T16")
@pytest.mark.parametrize(("wire", "given"), BODIES, ids=[f"{w}-{g!r:.9}" for w, g in BODIES])
def test_a_call_of_a_body_whose_required_arguments_never_came_is_asked_for_again(
    wire: str, given: Any
) -> None:
    if given == "" and wire in EMPTY_IS_ODD:
        pytest.skip("a text is no arguments there, and is malformed")
    said, requests, ending = asked(wire, whole(wire, given), right(wire, "body"), mode="body")
    assert said.error is None
    assert arguments_of(said) == [WANTED]
    assert len(requests) == 2
    assert ending["status"] == "complete"


@pytest.mark.behaviour("T12a", "T12")
@pytest.mark.parametrize("wire", MAKERS)
def test_an_empty_object_that_was_sent_counts_as_sent(wire: str) -> None:
    empty: Any = {} if wire in OBJECTS else "{}"
    said, requests, _ = asked(wire, whole(wire, empty), mode="body")
    assert (said.error, arguments_of(said), len(requests)) == (None, [{}], 1)
    if wire not in ("anthropic-messages", "bedrock-converse"):
        piece: Any = {} if wire in DECODED else "{}"
        said, requests, _ = asked(wire, streamed(wire, piece), mode="stream")
        assert (said.error, arguments_of(said), len(requests)) == (None, [{}], 1)


@pytest.mark.behaviour("T12a", "T12")
@pytest.mark.parametrize(("wire", "given"), BODIES, ids=[f"{w}-{g!r:.9}" for w, g in BODIES])
def test_absent_arguments_are_an_empty_object_where_nothing_is_required(
    wire: str, given: Any
) -> None:
    if given == "" and wire in EMPTY_IS_ODD:
        pytest.skip("a text is no arguments there, and is malformed")
    said, requests, _ = asked(wire, whole(wire, given), mode="body", required=False)
    assert (said.error, arguments_of(said), len(requests)) == (None, [{}], 1)


@pytest.mark.behaviour("T12a", "P1a")
@every_pair(wire=MAKERS, mode=("body", "stream"), on_incomplete=("stop", "error"))
def test_a_call_whose_arguments_never_come_is_never_handed_on(
    wire: str, mode: str, on_incomplete: str
) -> None:
    nothing = streamed(wire, *NOTHING[wire][0]) if mode == "stream" else whole(wire, ABSENT)
    with FarSide(nothing) as far:
        policy: Any = {**QUICK, "on_incomplete": on_incomplete}
        asker = MAKERS[wire](At(far), tenuto.Policy(**policy))
        said = ask(asker, wire, mode)
        ending = asker.ending
        asker.close()
    assert ending["status"] == "partial"
    assert ending["reason"] == "tool_call_truncated"
    assert (said.error is not None) == (on_incomplete == "error")
    if said.error is None:
        assert arguments_of(said) == []


# --- names in pieces ----------------------------------------------------------------------------


def tool(name: str, *required: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def chat_stream(*pieces: dict[str, Any]) -> bytes:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    deltas += [{"tool_calls": [piece]} for piece in pieces]
    return sse_answer(b"".join(sse(chat.chunks(deltas, "tool_calls"), done=True)))


def piece(name: str | None, given: str | None, call_id: str | None = None, index: Any = 0) -> Any:
    function = {k: v for k, v in {"name": name, "arguments": given}.items() if v is not None}
    made: dict[str, Any] = {"index": index, "id": call_id, "function": function}
    made |= {"type": "function"} if call_id else {}
    return {k: v for k, v in made.items() if v is not None}


def calls_of(stream: bytes, *tools: str) -> list[tuple[str, str]]:
    with FarSide(stream) as far:
        asker = Wrapped(At(far), tenuto.Policy(**QUICK))
        said = asker.ask(
            [{"role": "user", "content": "Go."}], "stream", tools=[tool(name) for name in tools]
        )
        asker.close()
    assert said.error is None
    assert len(far.requests) == 1
    return [(c["function"]["name"], c["function"]["arguments"]) for c in said.calls]


ONE = [("get_weather", '{"city":"Rome"}')]
IN_PIECES = [
    [piece("get_", "", "a"), piece("weather", ""), piece(None, '{"city":"Rome"}')],
    [piece("get", "", "a"), piece("_wea", None), piece("ther", '{"city":"Rome"}')],
    [piece("get_", "", "a"), piece("weather", '{"city":', "a"), piece(None, '"Rome"}')],
    [piece("get_", "", "a", None), piece("weather", '{"city":"Rome"}', None, None)],
]
REPEATED = [
    [piece("get_weather", '{"city"', "a"), piece("get_weather", ':"Rome"}')],
    [piece("get_weather", "", "a"), piece("get_weather", '{"city":"Rome"}', "a")],
    [piece("get_weather", '{"city"', "a", None), piece("get_weather", ':"Rome"}', None, None)],
    [piece("get_weather", '{"city"', "a", None), piece("get_weather", ':"Rome"}', "a", None)],
]


@pytest.mark.behaviour("T12a", "T13")
@pytest.mark.parametrize("pieces", [*IN_PIECES, *REPEATED])
def test_a_name_in_pieces_or_said_again_is_the_name_of_one_call(pieces: list[Any]) -> None:
    assert calls_of(chat_stream(*pieces), "get_weather", "get_time") == ONE


@pytest.mark.behaviour("T12a", "T13")
@pytest.mark.parametrize(
    ("pieces", "tools", "calls"),
    [
        # A piece is a tool of its own.
        (
            [piece("get", "{}", "a"), piece("time", "{}", "b", 1)],
            ("get", "time", "gettime"),
            [("get", "{}"), ("time", "{}")],
        ),
        (
            [piece("get", "", "a"), piece("time", "{}")],
            ("get", "time", "gettime"),
            [("get", "{}"), ("time", "{}")],
        ),
        # A new id begins a call.
        (
            [piece("get_", "{}", "a"), piece("weather", "{}", "b")],
            ("get_weather",),
            [("get_", "{}"), ("weather", "{}")],
        ),
        # All calls under one number, without ids: the name beside whole arguments.
        (
            [piece("time", '{"a":1}'), piece("time", '{"a":2}')],
            ("time",),
            [("time", '{"a":1}'), ("time", '{"a":2}')],
        ),
        # The joined name is no tool.
        (
            [piece("get_", "", "a"), piece("weather", "{}")],
            ("other",),
            [("get_", "{}"), ("weather", "{}")],
        ),
    ],
)
def test_calls_that_are_several_stay_several(pieces, tools, calls) -> None:
    assert calls_of(chat_stream(*pieces), *tools) == calls


@pytest.mark.behaviour("T12a", "T12")
def test_where_the_request_holds_no_schema_absent_arguments_are_an_empty_object() -> None:
    call = {"id": "fc_1", "type": "function_call", "call_id": "a", "name": "stored"}
    call |= {"status": "completed", "arguments": ""}
    body = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "output": [call]}
    with FarSide(json_answer(json.dumps({**body, "status": "completed"}).encode())) as far:
        asker = MAKERS["openai-responses"](At(far), tenuto.Policy(**QUICK))
        said = asker.ask([{"role": "user", "content": "Go."}], "body", prompt={"id": "pmpt_1"})
        asker.close()
    assert (said.error, said.raw_arguments, len(far.requests)) == (None, ["{}"], 1)
