"""What needs nothing is as without Tenuto: the same requests leave, the same bytes arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from support.asking.openai_chat import TOOLS, Asker
from support.far_sides import BODY, STREAM, FarSide, answer, event, json_answer, sse_answer
from support.pairing import in_every_mode

import tenuto
from tenuto_sim import CASES, NORMAL, QUIRKS, Case, Simulator

MENDED = {"call_null_arguments", "call_object_arguments", "call_double_encoded"}
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as running:
        yield running


def fetched(client: Any, given: dict[str, Any], way: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and bytes as they stand before the SDK reads them."""
    if way == "sync":
        with client:
            made = client.chat.completions.with_streaming_response.create(**given)
            with made as response:
                return response.status_code, dict(response.headers), b"".join(response.iter_bytes())

    async def run() -> tuple[int, dict[str, str], bytes]:
        async with client:
            made = client.chat.completions.with_streaming_response.create(**given)
            async with made as response:
                pieces = [piece async for piece in response.iter_bytes()]
                return response.status_code, dict(response.headers), b"".join(pieces)

    return asyncio.run(run())


def client(base_url: str, way: str) -> Any:
    kind = openai.OpenAI if way == "sync" else openai.AsyncOpenAI
    return kind(base_url=base_url, api_key="key", max_retries=0)


def given_for(case: Case, mode: str) -> dict[str, Any]:
    more: dict[str, Any] = dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {})
    ask = {"role": "user", "content": f"Tell me about {case.name}."}
    return {"model": f"sim/{case.name}", "messages": [ask], "stream": mode == "stream"} | more


OWN = {"x-request-id", "date"}
"""Headers that differ from answer to answer."""
ASKED_ONCE = ("host_marks_nothing", "host_closes")
"""Where nothing says that an answer is whole, the first are asked for once more (S3a)."""


@pytest.mark.behaviour("P8", "C25", "S8")
@in_every_mode(c for c in (NORMAL | QUIRKS).values() if c.name not in ASKED_ONCE)
def test_a_normal_turn_is_the_same_bytes_in_both_directions(sim, case, mode, way):
    events: list[tenuto.Event] = []
    got = []
    requests = []
    for wrapping in (False, True):
        sim.forget()
        before = len(sim.requests)
        made = client(sim.base_url, way)
        if wrapping:
            made = tenuto.wrap(made, on_event=events.append)
        got.append(fetched(made, given_for(case, mode), way))
        requests.append(sim.requests[before:])
    (status, headers, body), (status_2, headers_2, body_2) = got
    # The one header of ours, since somebody listens.
    assert headers_2.pop("x-tenuto-turn") == events[0].turn
    # All but a byte order mark, for which the SDK would lose the first event.
    assert body_2 == body.removeprefix(b"\xef\xbb\xbf")
    assert status_2 == status
    for own in OWN:
        headers.pop(own, None)
        headers_2.pop(own, None)
    framing = {"transfer-encoding"} if mode == "stream" else set()
    assert {k: v for k, v in headers_2.items() if k not in framing} == {
        k: v for k, v in headers.items() if k not in framing
    }
    [bare], [wrapped] = requests
    assert wrapped.body == bare.body
    assert wrapped.headers == bare.headers
    assert [e.data["status"] for e in events if e.name == "turn_ended"] == ["complete"]


@pytest.mark.behaviour("C28", "P8")
@pytest.mark.parametrize("on_incomplete", ["stop", "notice", "error"])
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize(
    ("why", "more"),
    [
        ("several_choices", {"n": 2}),
        ("logprobs", {"logprobs": True}),
        ("audio", {"modalities": ["text", "audio"], "audio": {"voice": "a", "format": "wav"}}),
        ("probe", {"max_tokens": 16}),
        ("switched_off", {"extra_headers": {"x-tenuto": "off", "x-tenuto-more": "1"}}),
        ("switched_off", {"extra_headers": {"x-tenuto": "False"}}),
    ],
)
def test_what_cannot_be_continued_is_left_alone_and_told_of(why, more, mode, on_incomplete, way):
    cut_stream = event(b"The first ") + event(b"half, ", b'"length"') + b"data: [DONE]\n\n"
    cut = BODY % (b"The first half, ", b"length")
    whole = sse_answer(cut_stream) if mode == "stream" else json_answer(cut)
    with FarSide(whole) as far:
        events: list[tenuto.Event] = []
        policy = tenuto.Policy(on_incomplete=on_incomplete)
        made = tenuto.wrap(client(far.base_url, way), policy=policy, on_event=events.append)
        _, _, body = fetched(made, ASK | more | {"stream": mode == "stream"}, way)
        assert body == (cut_stream if mode == "stream" else cut)
        assert [e.data["why"] for e in events if e.name == "left_alone"] == [why]
        [(head, _)] = far.requests
        assert b"x-tenuto" not in head.lower()


@pytest.mark.behaviour("C28", "S3")
@pytest.mark.parametrize("name", ["cut_off_mid_text", "reset_mid_text", "body_short"])
def test_what_is_left_alone_breaks_as_it_would_without_tenuto(sim, name, way):
    case = CASES[name]
    given = given_for(case, next(iter(case.modes))) | {"extra_headers": {"x-tenuto": "off"}}
    got = []
    for wrapping in (False, True):
        sim.forget()
        asker = Asker(sim)
        if wrapping:
            asker.client = tenuto.wrap(asker.client)
            asker.async_client = tenuto.wrap(asker.async_client)
        messages = given["messages"]
        more = {k: v for k, v in given.items() if k not in ("messages", "stream")}
        said = asker.ask(messages, next(iter(case.modes)), way, **more)
        got.append((type(said.error), str(said.error)))
        asker.close()
    assert got[1] == got[0]
    assert issubclass(got[0][0], Exception)


@pytest.mark.behaviour("P8c")
def test_headers_that_are_meant_for_tenuto_never_go_upstream(sim):
    bare = openai.OpenAI(
        base_url=sim.base_url, api_key="key", default_headers={"X-Tenuto-Tag": "a"}
    )
    with tenuto.wrap(bare) as made:
        before = len(sim.requests)
        made.models.list()
        made.chat.completions.create(model="sim", messages=ASK["messages"])
        made.post(
            "/chat/completions", cast_to=object, body={"model": "sim", "messages": ASK["messages"]}
        )
        with pytest.raises(openai.BadRequestError):
            made.post("/chat/completions", cast_to=object, body={"model": "sim"})
        seen = sim.requests[before:]
        assert len(seen) == 4
        assert not [name for request in seen for name in request.headers if "tenuto" in name]


@pytest.mark.behaviour("P8", "C7")
def test_a_body_that_is_no_json_passes_untouched(way):
    with FarSide(json_answer(BODY % (b"All said.", b"stop"))) as far:
        made = tenuto.wrap(client(far.base_url, way))
        raw = b'{"model": "m", "messages": [broken'
        if way == "sync":
            with made:
                made.post("/chat/completions", cast_to=object, content=raw)
        else:

            async def run() -> None:
                async with made:
                    await made.post("/chat/completions", cast_to=object, content=raw)

            asyncio.run(run())
        assert [body for _, body in far.requests] == [raw]


@pytest.mark.behaviour("P8", "C28a")
def test_all_that_the_sdk_offers_beside_the_answer_is_there(way):
    headers = ("x-request-id: req_1", "set-cookie: a=b; path=/", "x-ratelimit-remaining: 5")
    body = BODY % (b"All said.", b"stop")
    with FarSide(json_answer(body, *headers)) as far:
        made = tenuto.wrap(client(far.base_url, way))
        if way == "sync":
            with made:
                raw: Any = made.chat.completions.with_raw_response.create(**ASK)
        else:

            async def run() -> Any:
                async with made:
                    return await made.chat.completions.with_raw_response.create(**ASK)

            raw = asyncio.run(run())
        assert raw.request_id == "req_1"
        assert raw.headers["x-ratelimit-remaining"] == "5"
        assert raw.http_response.cookies["a"] == "b"
        assert raw.http_response.reason_phrase == "OK"
        assert raw.http_version == "HTTP/1.1"
        assert raw.elapsed.total_seconds() > 0
        assert raw.retries_taken == 0
        assert raw.status_code == 200
        assert raw.content == body
        assert raw.http_request.headers["authorization"] == "Bearer key"
        assert str(raw.url).endswith("/v1/chat/completions")
        parsed = raw.parse()
        assert parsed.choices[0].message.content == "All said."
        assert parsed._request_id == "req_1"


@pytest.mark.behaviour("P8")
def test_a_redirect_is_followed_and_the_answer_knows_its_own_address(way):
    to = ("location: /v1/other/chat/completions",)
    moved = answer(b"", *to, status="307 Temporary Redirect")
    with FarSide(moved, sse_answer(STREAM)) as far:
        made = tenuto.wrap(client(far.base_url, way))
        _, _, body = fetched(made, ASK | {"stream": True}, way)
        assert body == STREAM
        assert len(far.requests) == 2
