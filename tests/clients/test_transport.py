"""Transports for clients that somebody else builds: the same turns as through a client of ours."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator
from typing import Any

import httpx
import httpx2
import openai
import pytest
from support.asking.wrapping import QUICK
from support.aws import ACCESS_KEY, SECRET_KEY
from support.events.framing import sse
from support.events.openai_chat import events as chat_events
from support.far_sides import FarSide, answer, json_answer
from support.pacing.openai_chat import Pacer, ahead_of, pieces
from support.replay.openai_chat import END, MAX, R, Refused, Replay

import tenuto
from tenuto_sim import Simulator

POLICY = tenuto.Policy(**QUICK)
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Tell me."}]}
CUT, REST, WHOLE = (
    R("The first half, ", MAX),
    R("and the second."),
    "The first half, and the second.",
)
STOP_AND_DONE = 2

in_each_library = pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])
in_each_mode = pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])


@pytest.fixture
def replay() -> Iterator[Replay]:
    with Replay() as running:
        yield running


def built(library: Any, way: str, transport: Any = None, **settings: Any) -> Any:
    """A client of the library that somebody builds over a transport of ours."""
    if transport is None:
        kind: Any = tenuto.AsyncHTTPTransport if way == "async" else tenuto.HTTPTransport
        transport = kind(**({"policy": POLICY} | settings))
    kind = library.AsyncClient if way == "async" else library.Client
    return kind(transport=transport, timeout=60)


def said(client: Any, way: str, url: str, stream: bool = False, **asked: Any) -> tuple[str, str]:
    """Text and stop of one answer, through the official SDK; it closes the client."""
    sdk: dict[str, Any] = {"base_url": url, "api_key": "key", "max_retries": 0}
    given = ASK | {"stream": stream} | asked
    if way == "async":

        async def ask() -> list[Any]:
            async with openai.AsyncOpenAI(**sdk, http_client=client) as asker:
                made: Any = await asker.chat.completions.create(**given)
                return [chunk async for chunk in made] if stream else [made]

        return joined(asyncio.run(ask()))
    with openai.OpenAI(**sdk, http_client=client) as asker:
        made: Any = asker.chat.completions.create(**given)
        return joined(list(made) if stream else [made])


def posted(client: Any, way: str, url: str) -> Any:
    """The response to one request of a bare client, which is closed then."""

    async def post() -> Any:
        async with client:
            return await client.post(f"{url}/chat/completions", json=ASK)

    if way == "async":
        return asyncio.run(post())
    with client:
        return client.post(f"{url}/chat/completions", json=ASK)


def joined(parts: list[Any]) -> tuple[str, str]:
    choices = [choice for part in parts for choice in part.choices]
    texts = [getattr(choice, "delta", None) or choice.message for choice in choices]
    stop = next(c.finish_reason for c in reversed(choices) if c.finish_reason)
    return "".join(text.content or "" for text in texts), stop


@pytest.mark.behaviour("C1", "C25")
@in_each_mode
@in_each_library
def test_a_cut_text_comes_back_whole_through_a_client_that_somebody_else_built(
    replay, library, way, stream
):
    replay.say(CUT, REST)
    assert said(built(library, way), way, replay.base_url, stream) == (WHOLE, END)
    assert len(replay.requests) == 2


@pytest.mark.behaviour("C1")
@in_each_library
def test_a_mount_finishes_the_turns_of_its_host_and_no_others(replay, library, way):
    kind: Any = library.AsyncClient if way == "async" else library.Client
    transport: Any = tenuto.AsyncHTTPTransport if way == "async" else tenuto.HTTPTransport
    for host, wanted in (("127.0.0.1", (WHOLE, END)), ("example.org", ("The first half, ", MAX))):
        replay.say(CUT, REST)
        client = kind(mounts={f"all://{host}": transport(policy=POLICY)}, timeout=60)
        assert said(client, way, replay.base_url) == wanted


@pytest.mark.behaviour("C1")
@in_each_library
def test_one_dictionary_of_keywords_serves_a_sync_and_an_async_client(replay, library):
    keywords: dict[str, Any] = {"transport": tenuto.HTTPTransport(policy=POLICY), "timeout": 60}
    replay.say(CUT, REST, CUT, REST)
    assert said(library.Client(**keywords), "sync", replay.base_url) == (WHOLE, END)
    assert said(library.AsyncClient(**keywords), "async", replay.base_url) == (WHOLE, END)
    assert len(replay.requests) == 4


@pytest.mark.behaviour("C1")
def test_a_dictionary_that_a_framework_copies_deeply_still_works(replay):
    given: dict[str, Any] = {"transport": tenuto.HTTPTransport(policy=POLICY), "timeout": 60}
    keywords = copy.deepcopy(given)
    replay.say(CUT, REST)
    assert said(httpx.Client(**keywords), "sync", replay.base_url) == (WHOLE, END)


@pytest.mark.behaviour("S4", "S8a")
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])
@in_each_library
def test_each_event_arrives_before_the_next_one_is_sent(library, way, gzip):
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=16, gzip=gzip) as sim:
        whole = sim.answer("Tell me.")
        pacer = Pacer(sim, ahead_of(pieces(whole, 16), STOP_AND_DONE))
        given: dict[str, Any] = ASK | {"model": "sim/normal", "stream": True}
        sdk: dict[str, Any] = {"base_url": sim.base_url, "api_key": "key", "max_retries": 0}
        texts: list[str] = []

        def take(chunk: Any) -> None:
            texts.extend(choice.delta.content or "" for choice in chunk.choices)
            pacer.arrived()

        async def read() -> None:
            async with openai.AsyncOpenAI(**sdk, http_client=built(library, way)) as asker:
                async for chunk in await asker.chat.completions.create(**given):
                    take(chunk)

        if way == "async":
            asyncio.run(read())
        else:
            with openai.OpenAI(**sdk, http_client=built(library, way)) as asker:
                for chunk in asker.chat.completions.create(**given):
                    take(chunk)
        assert "".join(texts) == whole
        assert not sim.stalled


@pytest.mark.behaviour("C28a")
@in_each_mode
@in_each_library
def test_a_compressed_answer_is_continued_and_readable(library, way, stream):
    with Simulator(token_chars=16, gzip=True) as sim:
        got = said(built(library, way), way, sim.base_url, stream, model="sim/length_twice")
        assert got == (sim.answer("Tell me."), END)
        assert len(sim.requests) == 3


@pytest.mark.behaviour("P8")
@in_each_library
def test_what_is_no_turn_and_what_opts_out_pass_untouched(replay, library):
    models = json_answer(b'{"data":[]}', "x-own: 1")
    with FarSide(models) as far, built(library, "sync") as client:
        made = client.get(f"{far.base_url}/models", headers={"x-tenuto": "off"})
        assert (made.json(), made.headers["x-own"]) == ({"data": []}, "1")
        assert b"x-tenuto" not in far.requests[0][0].lower()
    replay.say(CUT)
    off = {"x-tenuto": "off"}
    got = said(built(library, "sync"), "sync", replay.base_url, extra_headers=off)
    assert got == ("The first half, ", MAX)
    assert "x-tenuto" not in replay.requests[0].headers


@pytest.mark.behaviour("P8")
@in_each_mode
@in_each_library
def test_a_whole_answer_keeps_its_bytes_and_headers(library, stream):
    body = b"".join(sse(chat_events("All of it."), done=True)) if stream else R("All.").body("m")
    kind = "text/event-stream" if stream else "application/json"
    came = answer(body, f"content-type: {kind}", "x-request-id: r1")
    with FarSide(came) as far, built(library, "sync") as client:
        url = f"{far.base_url}/chat/completions"
        made = client.post(url, json=ASK | {"stream": stream})
        assert (made.content, made.headers["x-request-id"]) == (body, "r1")
        assert str(made.url) == url
        assert len(far.requests) == 1
        with client.stream("POST", url, json=ASK | {"stream": stream}) as raw:
            assert b"".join(raw.iter_raw()) == body


@pytest.mark.behaviour("P3", "P6")
@in_each_library
def test_policy_and_on_event_work_as_for_a_client_of_ours(replay, library, way):
    events: list[tenuto.Event] = []
    never = tenuto.Policy(continuation_max_attempts=0)
    replay.say(CUT)
    client = built(library, way, policy=never, on_event=events.append)
    text, stop = said(client, way, replay.base_url)
    assert (text.strip(), stop) == ("The first half,", MAX)
    assert [event.data["status"] for event in events if event.name == "turn_ended"] == ["partial"]


@pytest.mark.behaviour("C28a")
@in_each_library
def test_a_transport_that_was_given_sends_every_attempt_and_is_closed(replay, library, way):
    seen: list[str] = []
    asynchronous = way == "async"
    base: Any = library.AsyncHTTPTransport if asynchronous else library.HTTPTransport

    class Counting(base):  # type: ignore[misc]
        def handle_request(self, request: Any) -> Any:
            seen.append("sent")
            return super().handle_request(request)

        async def handle_async_request(self, request: Any) -> Any:
            seen.append("sent")
            return await super().handle_async_request(request)

        def __exit__(self, *error: Any) -> None:
            seen.append("left")
            super().__exit__(*error)

        async def __aexit__(self, *error: Any) -> None:
            seen.append("left")
            await super().__aexit__(*error)

    replay.say(CUT, REST)
    ours: Any = tenuto.AsyncHTTPTransport if asynchronous else tenuto.HTTPTransport
    transport = ours(Counting(), policy=POLICY)
    url = f"{replay.base_url}/chat/completions"

    async def ask() -> Any:
        async with built(library, way, transport) as client:
            return (await client.post(url, json=ASK)).json()

    if asynchronous:
        made = asyncio.run(ask())
    else:
        with built(library, way, transport) as client:
            made = client.post(url, json=ASK).json()
    assert made["choices"][0]["message"]["content"] == WHOLE
    assert seen == ["sent", "sent", "left"]


@in_each_library
def test_closing_the_client_closes_the_connections_below(replay, library, way):
    replay.say(R("All."))
    client = built(library, way)
    url = f"{replay.base_url}/chat/completions"

    async def use() -> None:
        await client.post(url, json=ASK)
        pool = client._transport._below_async.transport._pool
        assert len(pool.connections) == 1
        await client.aclose()
        assert pool.connections == []

    if way == "async":
        asyncio.run(use())
        return
    client.post(url, json=ASK)
    pool = client._transport._pool
    assert len(pool.connections) == 1
    client.close()
    assert pool.connections == []
    built(library, way).close()  # one that was never asked


# --- more than one of ours ------------------------------------------------------------------------


@pytest.mark.behaviour("P8c")
@in_each_library
def test_a_client_that_recovers_over_such_a_transport_finishes_a_turn_once(replay, library, way):
    seen: list[tenuto.Event] = []
    over: list[tenuto.Event] = []
    kind: Any = tenuto.AsyncHTTPTransport if way == "async" else tenuto.HTTPTransport
    make: Any = tenuto.async_http_client if way == "async" else tenuto.http_client
    once = tenuto.Policy(**(QUICK | {"continuation_max_attempts": 1}))
    transport = kind(policy=POLICY, on_event=seen.append)
    client = make(library.__name__, transport=transport, policy=once, on_event=over.append)
    replay.say(CUT, CUT, REST)
    assert said(client, way, replay.base_url)[1] == MAX
    assert len(replay.requests) == 2
    assert seen == []
    assert sum(event.name == "turn_ended" for event in over) == 1


@pytest.mark.behaviour("P8c")
@in_each_library
def test_an_opt_out_of_a_client_over_such_a_transport_holds_below_it(replay, library):
    replay.say(CUT)
    client: Any = tenuto.http_client(library.__name__, transport=tenuto.HTTPTransport())
    got = said(client, "sync", replay.base_url, extra_headers={"x-tenuto": "off"})
    assert got == ("The first half, ", MAX)


@pytest.mark.behaviour("P8c")
def test_wrapping_an_sdk_over_such_a_transport_is_wrapping_once(replay):
    sdk: dict[str, Any] = {"base_url": replay.base_url, "api_key": "key", "max_retries": 0}
    once = tenuto.Policy(**(QUICK | {"continuation_max_attempts": 1}))
    http = httpx2.Client(transport=tenuto.HTTPTransport(policy=once), timeout=60)
    with openai.OpenAI(**sdk, http_client=http) as client:
        assert tenuto.wrap(client) is client
        events: list[tenuto.Event] = []
        again = tenuto.wrap(client, on_event=events.append)  # it keeps the policy
        replay.say(CUT, CUT, REST)
        made = again.chat.completions.create(**ASK)
    assert made.choices[0].finish_reason == MAX
    assert len(replay.requests) == 2
    assert sum(event.name == "turn_ended" for event in events) == 1


@pytest.mark.behaviour("P8c")
def test_a_transport_over_one_of_ours_takes_its_place(replay, way):
    kind: Any = tenuto.AsyncHTTPTransport if way == "async" else tenuto.HTTPTransport
    seen: list[tenuto.Event] = []
    once = tenuto.Policy(**(QUICK | {"continuation_max_attempts": 1}))
    transport = kind(kind(on_event=seen.append), policy=once)
    replay.say(CUT, CUT, REST)
    assert said(built(httpx, way, transport), way, replay.base_url)[1] == MAX
    assert len(replay.requests) == 2
    assert seen == []


# --- what is refused or left alone ----------------------------------------------------------------


def test_one_transport_for_clients_of_both_libraries_is_refused(replay):
    replay.say(R("All."), R("All."))
    transport = tenuto.HTTPTransport()
    url = f"{replay.base_url}/chat/completions"
    with httpx.Client(transport=transport) as client, httpx2.Client(transport=transport) as other:
        client.post(url, json=ASK)
        with pytest.raises(
            tenuto.UnsupportedClient, match=r"for httpx, and the client is of httpx2"
        ):
            other.post(url, json=ASK)


def test_a_sync_transport_under_an_async_client_is_refused(replay):
    client = httpx.AsyncClient(transport=tenuto.HTTPTransport(httpx.HTTPTransport()))
    with pytest.raises(tenuto.UnsupportedClient, match="has no method handle_async_request"):
        posted(client, "async", replay.base_url)
    assert replay.requests == []


@in_each_library
def test_an_async_transport_under_a_sync_client_is_refused(replay, library):
    url = f"{replay.base_url}/chat/completions"
    says = r"give a sync client tenuto\.HTTPTransport\(\), which serves both"
    for over in ("built", "http_client"):
        transport: Any = tenuto.AsyncHTTPTransport()
        client: Any = (
            library.Client(transport=transport)
            if over == "built"
            else tenuto.http_client(library.__name__, transport=transport)
        )
        with pytest.raises(tenuto.UnsupportedClient, match=says):
            client.post(url, json=ASK)
        with pytest.raises(tenuto.UnsupportedClient, match=says):
            client.get(replay.base_url)
        client.close()
    with pytest.raises(tenuto.UnsupportedClient, match=says):
        library.Client(transport=tenuto.AsyncHTTPTransport()).__enter__()
    assert replay.requests == []


@in_each_library
def test_a_transport_of_the_other_library_is_refused(replay, library, way):
    other: Any = {httpx: httpx2, httpx2: httpx}[library]
    below = other.AsyncHTTPTransport() if way == "async" else other.HTTPTransport()
    with pytest.raises(tenuto.UnsupportedClient, match=rf"transport is for {other.__name__}, "):
        posted(built(library, way, tenuto.HTTPTransport(below)), way, replay.base_url)
    assert replay.requests == []


@pytest.mark.parametrize("kind", [tenuto.HTTPTransport, tenuto.AsyncHTTPTransport])
@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("http://127.0.0.1:9", "str"),
        (tenuto.Policy(), "Policy"),
        (httpx.Client(), "Client"),
        (httpx.HTTPTransport, "the class HTTPTransport"),
    ],
    ids=["text", "policy", "client", "class"],
)
def test_what_is_no_transport_is_refused_where_it_is_given(kind, given, found):
    with pytest.raises(tenuto.UnsupportedClient, match=f"transport is {found}, but it must be "):
        kind(given)


def test_a_sync_transport_is_refused_where_only_async_clients_are_served():
    with pytest.raises(tenuto.UnsupportedClient, match="an object with handle_async_request, or"):
        tenuto.AsyncHTTPTransport(httpx.HTTPTransport())  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [tenuto.HTTPTransport, tenuto.AsyncHTTPTransport])
@pytest.mark.parametrize("given", [{"policy": {"rungs": 1}}, {"on_event": "print"}])
def test_settings_of_the_wrong_type_are_refused(kind, given):
    with pytest.raises(tenuto.PolicyError, match=next(iter(given))):
        kind(**given)


@pytest.mark.behaviour("P8c")
@in_each_library
def test_a_request_that_is_signed_above_is_left_alone(replay, library):
    signed = (
        f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/x, SignedHeaders=host, Signature={SECRET_KEY}"
    )
    replay.say(CUT)
    with built(library, "sync") as client:
        url = f"{replay.base_url}/chat/completions"
        made = client.post(url, json=ASK, headers={"authorization": signed}).json()
    assert made["choices"][0]["finish_reason"] == MAX
    assert len(replay.requests) == 1


@pytest.mark.behaviour("C5")
@in_each_library
def test_a_provider_that_refuses_is_reported_as_it_is(replay, library, way):
    replay.say(Refused(500))
    with pytest.raises(openai.InternalServerError):
        said(built(library, way), way, replay.base_url)
    assert len(replay.requests) == 1


@in_each_library
def test_a_host_that_is_not_there_raises_the_librarys_own_error(library):
    with built(library, "sync") as client, pytest.raises(library.ConnectError) as caught:
        client.post("http://127.0.0.1:9/v1/chat/completions", json=ASK)
    assert caught.value.request.method == "POST"
