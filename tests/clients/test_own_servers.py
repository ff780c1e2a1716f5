"""Somebody's own server at a path that a wire has as well, asked through `tenuto.http_client()`."""

from __future__ import annotations

import gzip
import threading
from typing import Any

import httpx
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import Answer, FarSide, answer, json_answer, sse_answer
from support.telling import check_each_turn
from tenuto_wires.dashscope.request import PATHS

import tenuto
from tenuto.core.events.turn import TurnEnded

ROWS = [{"role": "user", "content": "Hi"}]
CHAT: dict[str, Any] = {"model": "m", "messages": ROWS}
INPUT: dict[str, Any] = {"model": "m", "input": "Hi"}
CONTENTS: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
CONVERSE: dict[str, Any] = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": CHAT,
    "/v1/completions": {"model": "m", "prompt": "Hi"},
    "/v1/responses": INPUT,
    "/v1/messages": {**CHAT, "max_tokens": 99},
    "/v1beta/models/m:generateContent": CONTENTS,
    "/v1beta/interactions": INPUT,
    "/v2/chat": CHAT,
    "/api/chat": {**CHAT, "stream": False},
    "/api/generate": {"model": "m", "prompt": "Hi", "stream": False},
    "/model/m/converse": CONVERSE,
}
STREAMS: dict[str, dict[str, Any]] = {
    **{path: {**body, "stream": True} for path, body in BODIES.items() if "/v" in path[:3]},
    "/v1beta/models/m:streamGenerateContent": CONTENTS,
    "/v1beta/models/m:streamGenerateContent?alt=sse": CONTENTS,
    "/api/chat": CHAT,
    "/api/generate": {"model": "m", "prompt": "Hi"},
    "/model/m/converse-stream": CONVERSE,
}
STREAMS.pop("/v1beta/models/m:generateContent")

SAID: dict[str, Answer] = {
    "object": json_answer(b'{ "reply": "Hello", "message": "ok", "content": [] }'),
    "list": json_answer(b'[{"a": 1}]'),
    "text": answer(b"Hello", "content-type: text/plain"),
    "page": answer(b"<html>Hello</html>", "content-type: text/html"),
    "accepted": answer(b"", status="202 Accepted"),
    "lines": answer(b'{"delta": "a"}\n\n{"delta": "b"}\n', "x-by: me", length=False),
    "events": sse_answer(b'data: {"type":"text-delta","delta":"Hi"}\n\ndata: [DONE]\n\n'),
    "words": sse_answer(b": hello\n\ndata: Hel\n\ndata: lo\n\n"),
    "numbered": answer(b'0:"Hel"\n0:"lo"\n', "content-type: text/plain", length=False),
}


def root(far: FarSide) -> str:
    return far.base_url.removesuffix("/v1")


@pytest.mark.behaviour("C25", "P8")
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_what_has_nothing_of_the_wires_shape_is_handed_on_as_it_came(said):
    asked = [*BODIES.items(), *STREAMS.items()]
    with FarSide(said) as far:
        with httpx.Client(base_url=root(far)) as bare:
            plain = bare.post("/api/chat", json=CHAT)
        with tenuto.http_client("httpx", policy=tenuto.Policy(**QUICK), base_url=root(far)) as http:
            for path, body in asked:
                got = http.post(path, json=body)
                assert got.content == plain.content, path
                assert (got.status_code, got.headers.get("content-type")) == (
                    plain.status_code,
                    plain.headers.get("content-type"),
                )
        assert len(far.requests) == 1 + len(asked)  # nothing was asked for a second time


@pytest.mark.behaviour("C25", "P8")
def test_a_stream_that_is_not_of_the_wire_keeps_its_bytes_at_a_path_whose_events_may_repeat():
    events = b"data: 1\n\ndata: " + b"x" * 2_000 + b"\n\n"
    coded = gzip.compress(events)
    heads = ("content-type: text/event-stream", "content-encoding: gzip")
    policy = tenuto.Policy(**QUICK, event_max_bytes=1_000)
    asked: dict[str, Any] = {
        "headers": {"x-dashscope-sse": "enable"},
        "json": {"model": "m", "input": CHAT},
    }
    with FarSide(sse_answer(events), answer(coded, *heads)) as far:
        with tenuto.http_client("httpx", policy=policy, base_url=root(far)) as http:
            for came in (events, coded):
                with http.stream("POST", f"/api/v1{PATHS[0]}", **asked) as response:
                    assert b"".join(response.iter_raw()) == came
        assert len(far.requests) == 2


@pytest.mark.behaviour("C25", "S4")
def test_a_stream_that_is_not_of_the_wire_is_handed_on_as_it_comes():
    seen = threading.Event()

    def slowly() -> Any:
        yield sse_answer(b'data: {"type":"start"}\n\n')
        seen.wait(5)
        yield b"data: more\n\n"

    events: list[tenuto.Event] = []
    with FarSide(slowly()) as far:
        http = tenuto.http_client("httpx", on_event=events.append, base_url=root(far))
        with http, http.stream("POST", "/api/chat", json=CHAT) as response:
            pieces = response.iter_raw()
            assert next(pieces) == b'data: {"type":"start"}\n\n'
            assert not seen.is_set()
            seen.set()
            assert b"".join(pieces) == b"data: more\n\n"
    assert [e.data["why"] for e in events if e.name == "left_alone"] == ["another_shape"]
    check_each_turn(events)
    assert isinstance(ended := events[-1], TurnEnded)
    assert (ended.status, ended.reason) == (None, "passed_on_unread")


@pytest.mark.behaviour("C25")
async def test_such_an_answer_is_handed_on_to_async_callers():
    with FarSide(SAID["object"]) as far:
        async with tenuto.async_http_client("httpx", base_url=root(far)) as http:
            got = await http.post("/api/chat", json=CHAT)
            assert got.json()["reply"] == "Hello"
        assert len(far.requests) == 1


CUT = json_answer(b'{"choices": [{"message": {"content": "Ha')
NOTHING = json_answer(b"")
NO_CHOICES = json_answer(b'{"id": "x", "choices": []}')
ERROR = json_answer(b'{"error": {"message": "Overloaded"}}')


@pytest.mark.behaviour("N6", "C1")
@pytest.mark.parametrize("odd", [CUT, NOTHING, NO_CHOICES, ERROR])
def test_a_broken_answer_of_the_wire_is_still_asked_for_again(odd):
    whole = json_answer(
        b'{"choices": [{"message": {"content": "All said."}, "finish_reason": "stop"}]}'
    )
    with FarSide(odd, whole) as far:
        with tenuto.http_client("httpx", policy=tenuto.Policy(**QUICK), base_url=root(far)) as http:
            got = http.post("/v1/chat/completions", json=CHAT)
        assert got.json()["choices"][0]["message"]["content"] == "All said."
        assert len(far.requests) == 2


@pytest.mark.behaviour("N6", "P1a")
@pytest.mark.parametrize(
    ("sure", "agent"), [({"on_incomplete": "error"}, None), ({}, "OpenAI/Python 3.54.0")]
)
def test_where_the_wire_is_meant_another_shape_is_a_fault(sure, agent):
    headers = {"user-agent": agent} if agent else {}
    with FarSide(SAID["object"]) as far:
        policy = tenuto.Policy(**QUICK, **sure)
        with tenuto.http_client("httpx", policy=policy, base_url=root(far)) as http:
            got = http.post("/v1/chat/completions", json=CHAT, headers=headers)
        assert got.status_code == 424
