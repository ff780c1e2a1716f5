"""What needs nothing is as without Tenuto: the same requests leave, the same bytes arrive."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from support.asking.anthropic_messages import TOOLS, WIRE
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, answer, json_answer, sse_answer
from support.pairing import in_every_mode
from support.replay.anthropic_messages import (
    ASK,
    CITATION,
    MAX,
    TOOL,
    Call,
    R,
    found,
    said,
    searching,
    thought,
)

import tenuto
from tenuto_sim import CASES_ON, Case, Simulator
from tenuto_sim.cases import TABLES_ON

UNTOUCHED = TABLES_ON[WIRE]["normal"] | TABLES_ON[WIRE]["quirks"]
MENDED = {"bom", "usage_missing", "call_no_index", "call_wrong_index"}
GIVEN: dict[str, Any] = {"model": "m", "max_tokens": 999, "messages": [ASK]}
SQUEEZED: dict[str, Any] = {"": bytes, "gzip": gzip.compress, "deflate": zlib.compress}
OWN = {"request-id", "date", "transfer-encoding"}
"""Headers that differ from answer to answer, or belong to the transfer."""


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=40) as running:
        yield running


def fetched(client: Any, given: dict[str, Any], way: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and bytes as they stand before the SDK reads them."""
    if way == "sync":
        with client:
            made = client.messages.with_streaming_response.create(**given)
            with made as response:
                return response.status_code, dict(response.headers), b"".join(response.iter_bytes())

    async def run() -> tuple[int, dict[str, str], bytes]:
        async with client:
            made = client.messages.with_streaming_response.create(**given)
            async with made as response:
                pieces = [piece async for piece in response.iter_bytes()]
                return response.status_code, dict(response.headers), b"".join(pieces)

    return asyncio.run(run())


def client(root_url: str, way: str) -> Any:
    # Certificates are slow to load, and nothing here asks for any.
    if way == "sync":
        http: Any = anthropic.DefaultHttpxClient(verify=False)
        return anthropic.Anthropic(
            base_url=root_url, api_key="key", max_retries=0, http_client=http
        )
    http = anthropic.DefaultAsyncHttpxClient(verify=False)
    return anthropic.AsyncAnthropic(
        base_url=root_url, api_key="key", max_retries=0, http_client=http
    )


def given_for(case: Case, mode: str) -> dict[str, Any]:
    more: dict[str, Any] = dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {})
    ask = {"role": "user", "content": f"Tell me about {case.name}."}
    given = {"model": f"sim/{case.name}", "messages": [ask], "max_tokens": 4_096}
    return given | {"stream": mode == "stream"} | more


PING = b'event: ping\ndata: {"type":"ping"}\n\n'


def apart(body: bytes) -> tuple[bytes, int]:
    """A stream without its pings, and how many it has."""
    return body.replace(PING, b""), body.count(PING)


def untouched_cases() -> list[Case]:
    return [case for case in UNTOUCHED.values() if case.name not in MENDED]


@pytest.mark.behaviour("P8", "C25", "S8", "S6")
@in_every_mode(untouched_cases())
def test_a_normal_turn_is_the_same_bytes_in_both_directions(sim, case, mode, way):
    events: list[tenuto.Event] = []
    got = []
    requests = []
    for wrapping in (False, True):
        sim.forget()
        before = len(sim.requests)
        made = client(sim.root_url, way)
        if wrapping:
            made = tenuto.wrap(made, on_event=events.append)
        got.append(fetched(made, given_for(case, mode), way))
        requests.append(sim.requests[before:])
    (status, headers, body), (status_2, headers_2, body_2) = got
    # The one header of ours, since somebody listens.
    assert headers_2.pop("x-tenuto-turn") == events[0].turn
    # Pings don't wait while a call is held (S4a); nothing else changes its place.
    assert body_2 == body if PING not in body else apart(body_2) == apart(body)
    assert status_2 == status
    assert headers_2.keys() - OWN == headers.keys() - OWN
    assert all(headers_2[name] == headers[name] for name in headers.keys() - OWN)
    [bare], [wrapped] = requests
    assert wrapped.body == bare.body
    assert wrapped.headers == bare.headers
    assert [e.data["status"] for e in events if e.name == "turn_ended"] == ["complete"]


RICH = R([thought("hm"), searching(), found(), said("Twice.", CITATION), said(" And so on.")])


@pytest.mark.behaviour("P8", "C25", "S8a")
@pytest.mark.parametrize("rich", [RICH, R("All said.", TOOL, [Call()])], ids=["blocks", "call"])
@pytest.mark.parametrize("coding", ["", "gzip", "deflate"])
@pytest.mark.parametrize("size", [7, 1_000_000])
def test_a_stream_is_the_same_bytes_to_its_last_one_however_it_comes(rich, coding, size, way):
    """The SDK reads on behind the last event, where a compressed transfer still has bytes."""
    plain = rich.stream("m")
    coded = SQUEEZED[coding](plain)
    headers = [f"content-encoding: {coding}"] if coding else []
    head = sse_answer(b"", *headers)
    pieces = [coded[at : at + size] for at in range(0, len(coded), size)]
    with FarSide([head, *pieces]) as far:
        made = tenuto.wrap(client(far.base_url.removesuffix("/v1"), way))
        _, _, body = fetched(made, GIVEN | {"stream": True}, way)
        assert body == plain
        assert len(far.requests) == 1


@pytest.mark.behaviour("S6", "N6", "S8a")
@pytest.mark.parametrize("coding", ["", "gzip"])
def test_what_comes_behind_the_end_in_pieces_does_not_break_the_sdk(coding, way):
    plain = R("All said.").stream("m")
    stop = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    first, rest = plain + stop[:15], stop[15:]
    headers = [f"content-encoding: {coding}"] if coding else []
    squeeze = zlib.compressobj(wbits=31)

    def coded(data: bytes) -> bytes:
        return squeeze.compress(data) + squeeze.flush(zlib.Z_SYNC_FLUSH) if coding else data

    pieces = [coded(first), coded(rest) + (squeeze.flush() if coding else b"")]
    with FarSide([sse_answer(b"", *headers), *pieces]) as far:
        made = tenuto.wrap(client(far.base_url.removesuffix("/v1"), way))
        _, _, body = fetched(made, GIVEN | {"stream": True}, way)
        assert body == plain + stop


@pytest.mark.behaviour("S8a")
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_compressed_answer_that_was_cut_is_continued_and_its_headers_fit(coding, mode, way):
    squeeze = SQUEEZED[coding]
    asked = {"stream": mode == "stream", "model": "m"}
    parts = [R("The first half, ", MAX), R("and the second.")]
    make = sse_answer if mode == "stream" else json_answer
    answers = [make(squeeze(p.reply(asked).body), f"content-encoding: {coding}") for p in parts]
    with FarSide(*answers) as far:
        made = tenuto.wrap(client(far.base_url.removesuffix("/v1"), way))
        _, headers, body = fetched(made, GIVEN | {"stream": mode == "stream"}, way)
        assert "content-encoding" not in headers
        assert b"cond." in body
        if mode == "body":
            assert int(headers["content-length"]) == len(body)


@pytest.mark.behaviour("C28", "P8")
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize(
    ("why", "more"),
    [
        ("probe", {"max_tokens": 16}),
        ("thread", {"extra_body": {"thread": "thread_1"}}),
        ("switched_off", {"extra_headers": {"x-tenuto": "off", "x-tenuto-more": "1"}}),
    ],
)
@pytest.mark.parametrize("coding", ["", "gzip"])
def test_what_cannot_be_continued_is_left_alone_and_told_of(
    why, more, mode, on_incomplete, coding, way
):
    plain = R("The first half, ", MAX).reply({"stream": mode == "stream", "model": "m"}).body
    headers = [f"content-encoding: {coding}"] if coding else []
    coded = gzip.compress(plain) if coding else plain
    whole = sse_answer(coded, *headers) if mode == "stream" else json_answer(coded, *headers)
    with FarSide(whole) as far:
        events: list[tenuto.Event] = []
        policy = tenuto.Policy(on_incomplete=on_incomplete)
        bare = client(far.base_url.removesuffix("/v1"), way)
        made = tenuto.wrap(bare, policy=policy, on_event=events.append)
        _, _, body = fetched(made, GIVEN | more | {"stream": mode == "stream"}, way)
        assert body == plain
        assert [e.data["why"] for e in events if e.name == "left_alone"] == [why]
        [(head, _)] = far.requests
        assert b"x-tenuto" not in head.lower()


@pytest.mark.behaviour("P8", "N13")
def test_what_is_no_turn_passes_by(way):
    """Counting tokens, batches and models: the same client, no turn of ours."""
    counted = json_answer(b'{"input_tokens":7}')
    with FarSide(counted) as far:
        events: list[tenuto.Event] = []
        made = tenuto.wrap(client(far.base_url.removesuffix("/v1"), way), on_event=events.append)
        if way == "sync":
            with made:
                count: Any = made.messages.count_tokens(model="m", messages=[ASK])
        else:

            async def run() -> Any:
                async with made:
                    return await made.messages.count_tokens(model="m", messages=[ASK])

            count = asyncio.run(run())
        assert count.input_tokens == 7
        assert events == []


BROKEN = {
    "garbage": answer(b"\x00\xff\xfe garbage", "content-type: application/json"),
    "html": answer(b"<html><body>Bad day</body></html>", "content-type: text/html"),
    "nothing_at_all": b"",
    "half_body": json_answer(R("All").body("m")[:40]),
    "list": json_answer(b"[1,2,3]"),
    "null": json_answer(b"null"),
    "no_content": json_answer(b'{"id":"msg_1","type":"message","role":"assistant","content":[]}'),
    "half_event": sse_answer(R("All").stream("m")[:50]),
    "event_of_garbage": sse_answer(b"event: message_start\ndata: {nonsense\n\n"),
    "only_pings": sse_answer(b'event: ping\ndata: {"type":"ping"}\n\n' * 3),
    "nothing_in_it": sse_answer(b""),
    "error_first": sse_answer(
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"o"}}\n\n'
    ),
}
PAIRS = [
    (name, mode)
    for name, raw in BROKEN.items()
    for mode in ("body", "stream")
    if mode == "stream" or b"event-stream" not in raw
]


def asked(far: FarSide, mode: str, way: str) -> tuple[str, str | None, Exception | None]:
    """Text, stop and error of one call."""
    made = tenuto.wrap(client(far.base_url.removesuffix("/v1"), way), policy=tenuto.Policy(**QUICK))

    async def run() -> Any:
        async with made:
            if mode == "body":
                return await made.messages.create(**GIVEN)
            async with made.messages.stream(**GIVEN) as stream:
                return await stream.get_final_message()

    def sync() -> Any:
        with made:
            if mode == "body":
                return made.messages.create(**GIVEN)
            with made.messages.stream(**GIVEN) as stream:
                return stream.get_final_message()

    try:
        message = sync() if way == "sync" else asyncio.run(run())
    except anthropic.AnthropicError as error:
        return "", None, error
    return "".join(block.text for block in message.content), message.stop_reason, None


@pytest.mark.behaviour("N6", "P1a", "S1", "S9")
@pytest.mark.parametrize(("name", "mode"), PAIRS)
def test_an_answer_that_is_none_raises_the_sdks_own_error(name, mode, way):
    with FarSide(BROKEN[name]) as far:
        _, _, error = asked(far, mode, way)
        assert isinstance(error, anthropic.APIError)
        assert len(far.requests) <= 4


@pytest.mark.behaviour("N6", "C5")
@pytest.mark.parametrize(("name", "mode"), PAIRS)
def test_a_continuation_that_is_none_costs_nothing_of_what_was_received(name, mode, way):
    cut = R("The first half, ", MAX)
    first = sse_answer(cut.stream("m")) if mode == "stream" else json_answer(cut.body("m"))
    with FarSide(first, BROKEN[name]) as far:
        text, stop, error = asked(far, mode, way)
        assert error is None
        assert (text.strip(), stop) == ("The first half,", "max_tokens")


def test_the_cases_that_are_mended_exist():
    assert set(CASES_ON[WIRE]) >= MENDED
