"""Clients for whoever takes an HTTP client: under the official SDK, and used by themselves."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import cohere
import openai
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from support.asking.wrapping import QUICK
from support.aws import ACCESS_KEY, REGION, SECRET_KEY, SESSION_TOKEN, wrong_signature
from support.far_sides import FarSide, answer, json_answer, sse_answer
from support.replay.openai_chat import END, MAX, TOOL, Call, R, Refused, Replay

import tenuto
from tenuto_sim import Simulator

LIBRARIES = ("httpx2", "httpx")
POLICY = tenuto.Policy(**QUICK)
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Tell me."}]}
CUT, REST, WHOLE = (
    R("The first half, ", MAX),
    R("and the second."),
    "The first half, and the second.",
)

in_each_library = pytest.mark.parametrize("library", LIBRARIES)


@pytest.fixture
def replay() -> Iterator[Replay]:
    with Replay() as running:
        yield running


def said(library: str, way: str, replay: Replay, stream: bool = False, **settings: Any) -> Any:
    """Text and stop of one answer, through the official SDK on a client of this library."""
    asked = ASK | {"stream": stream} | settings.pop("asked", {})
    sdk: dict[str, Any] = {"base_url": replay.base_url, "api_key": "key", "max_retries": 0}
    settings = {"policy": POLICY} | settings
    if way == "async":
        return asyncio.run(_said_async(library, sdk, asked, settings))
    client: Any = tenuto.http_client(library, **settings)  # type: ignore[call-overload]
    with openai.OpenAI(**sdk, http_client=client) as asker:
        made = asker.chat.completions.create(**asked)
        assert_one_of(library, asker)
        return joined(list(made)) if stream else whole(made)


async def _said_async(library: Any, sdk: Any, asked: Any, settings: Any) -> Any:
    client: Any = tenuto.async_http_client(library, **settings)
    async with openai.AsyncOpenAI(**sdk, http_client=client) as asker:
        made = await asker.chat.completions.create(**asked)
        assert_one_of(library, asker)
        return joined([chunk async for chunk in made]) if asked["stream"] else whole(made)


def assert_one_of(library: str, asker: Any) -> None:
    """The SDK must really stand on the client that it was given."""
    assert type(asker._client).__module__.partition(".")[0] == library


def whole(made: Any) -> Any:
    assert not made.choices[0].message.tool_calls
    return made.choices[0].message.content, made.choices[0].finish_reason


def joined(chunks: list[Any]) -> Any:
    choices = [choice for chunk in chunks for choice in chunk.choices]
    text = "".join(choice.delta.content or "" for choice in choices)
    return text, next(c.finish_reason for c in reversed(choices) if c.finish_reason)


@pytest.mark.behaviour("C1", "C25")
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
@in_each_library
def test_text_that_was_cut_comes_back_whole(replay, library, way, stream):
    replay.say(CUT, REST)
    assert said(library, way, replay, stream) == (WHOLE, END)
    assert len(replay.requests) == 2
    replay.say(R(WHOLE))
    assert said(library, way, replay, stream) == (WHOLE, END)
    assert len(replay.requests) == 1


@pytest.mark.behaviour("S1", "S3")
@in_each_library
def test_a_stream_that_broke_off_is_gone_on_with(replay, library, way):
    replay.say(R("The first half, ", dropped=True), REST)
    assert said(library, way, replay, stream=True) == (WHOLE, END)


@pytest.mark.behaviour("T1", "T16")
@in_each_library
def test_a_call_that_was_cut_is_never_handed_out(replay, library, way):
    tool = {"type": "function", "function": {"name": "write_file", "parameters": {}}}
    replay.say(R(stop=MAX, calls=[Call(arguments='{"path": "a.t')]), *[R("As text then.")] * 2)
    text, stop = said(library, way, replay, asked={"tools": [tool]})
    assert (text.strip(), stop) == ("As text then.", MAX)
    cut = Call(arguments='{"path": "a.t')
    replay.say(R("So: ", TOOL, [cut]), *[R(stop=TOOL, calls=[cut])] * 9)
    text, stop = said(library, way, replay, asked={"tools": [tool]})
    assert (text.strip(), stop) == ("So:", MAX)


@pytest.mark.behaviour("P3", "P6")
@in_each_library
def test_policy_and_on_event_work_as_for_wrap(replay, library, way):
    events: list[tenuto.Event] = []
    never = tenuto.Policy(continuation_max_attempts=0)
    replay.say(CUT)
    text, stop = said(library, way, replay, policy=never, on_event=events.append)
    assert (text.strip(), stop) == ("The first half,", MAX)
    assert [event.data["status"] for event in events if event.name == "turn_ended"] == ["partial"]


@pytest.mark.behaviour("P3")
def test_without_a_policy_the_settings_of_the_environment_hold(replay, monkeypatch):
    monkeypatch.setenv("TENUTO_CONTINUATION_MAX_ATTEMPTS", "0")
    replay.say(CUT)
    assert said("httpx", "sync", replay, policy=None)[1] == MAX


@pytest.mark.behaviour("C28")
@in_each_library
def test_a_request_can_opt_out(replay, library, way):
    replay.say(CUT)
    got = said(library, way, replay, asked={"extra_headers": {"x-tenuto": "off"}})
    assert got == ("The first half, ", MAX)
    assert not any(name.startswith("x-tenuto") for name in replay.requests[0].headers)


@pytest.mark.behaviour("C1")
@in_each_library
def test_the_librarys_own_calls_finish_turns_as_well(replay, library):
    replay.say(CUT, REST, CUT, REST)
    with tenuto.http_client(library, policy=POLICY, base_url=replay.base_url) as client:
        made = client.post("/chat/completions", json=ASK)
        assert made.json()["choices"][0]["message"]["content"] == WHOLE
        with client.stream("POST", "chat/completions", json=ASK | {"stream": True}) as streamed:
            lines = [line.removeprefix("data: ") for line in streamed.iter_lines()]
    assert text_of(lines) == WHOLE


@pytest.mark.behaviour("C1")
@in_each_library
async def test_the_librarys_own_async_calls_finish_turns_as_well(replay, library):
    replay.say(CUT, REST, CUT, REST)
    made_by = tenuto.async_http_client(library, policy=POLICY, base_url=replay.base_url)
    async with made_by as client:
        made = await client.post("/chat/completions", json=ASK)
        assert made.json()["choices"][0]["message"]["content"] == WHOLE
        asked = {"json": ASK | {"stream": True}}
        async with client.stream("POST", "chat/completions", **asked) as streamed:
            lines = [line.removeprefix("data: ") async for line in streamed.aiter_lines()]
    assert text_of(lines) == WHOLE


def text_of(lines: list[str]) -> str:
    deltas = [
        choice["delta"]
        for line in lines
        if line.startswith("{")
        for choice in json.loads(line)["choices"]
    ]
    return "".join(delta.get("content") or "" for delta in deltas)


@pytest.mark.behaviour("P8", "C28a")
@in_each_library
def test_what_is_no_turn_passes_untouched_with_the_options_of_the_library(library):
    models = json_answer(b'{"data":[]}', "x-own: 1")
    elsewhere = answer(b"", "location: /v1/models", status="307 Temporary Redirect")
    with FarSide(elsewhere, models) as far:
        options: dict[str, Any] = {"headers": {"x-team": "tides"}, "base_url": far.base_url}
        with tenuto.http_client(library, **options) as client:
            made = client.get("/old", headers={"x-tenuto": "off"})
        assert (made.json(), made.headers["x-own"]) == ({"data": []}, "1")
        assert len(far.requests) == 2, "redirects are followed"
        for head, _ in far.requests:
            assert b"x-team: tides" in head.lower()
            assert b"x-tenuto" not in head.lower()


@pytest.mark.behaviour("C28a")
@in_each_library
def test_a_transport_of_the_callers_own_carries_every_attempt(replay, library):
    module: Any = importlib.import_module(library)
    seen = []

    class Counting(module.HTTPTransport):  # type: ignore[misc]
        def handle_request(self, request: Any) -> Any:
            seen.append(request.method)
            return super().handle_request(request)

    replay.say(CUT, REST)
    assert said(library, "sync", replay, transport=Counting()) == (WHOLE, END)
    assert seen == ["POST", "POST"]


@in_each_library
def test_the_defaults_are_those_of_the_sdk_and_can_be_changed(library, way):
    make: Any = tenuto.http_client if way == "sync" else tenuto.async_http_client
    name = "DefaultHttpxClient" if way == "sync" else "DefaultAsyncHttpxClient"
    sdk, ours = getattr(openai, name)(), make(library)
    assert isinstance(
        ours,
        getattr(importlib.import_module(library), "Client" if way == "sync" else "AsyncClient"),
    )
    assert ours.timeout.as_dict() == sdk.timeout.as_dict()
    assert ours.follow_redirects == sdk.follow_redirects
    assert limits(ours) == limits(sdk) == (1000, 100)
    other = make(library, timeout=7, follow_redirects=False)
    assert (other.timeout.read, other.timeout.connect, other.follow_redirects) == (7, 7, False)
    for client in (sdk, ours, other):
        asyncio.run(client.aclose()) if way == "async" else client.close()


def limits(client: Any) -> tuple[int, int]:
    pool = client._transport._pool
    return pool._max_connections, pool._max_keepalive_connections


@in_each_library
def test_closing_closes_the_connections_and_a_closed_client_says_so(replay, library):
    replay.say(R("All."))
    client = tenuto.http_client(library, policy=POLICY)
    client.post(replay.base_url + "/chat/completions", json=ASK)
    pool: Any = client._transport._pool
    assert len(pool.connections) == 1
    client.close()
    assert pool.connections == []
    assert client.is_closed
    with pytest.raises(RuntimeError, match="closed"):
        client.post(replay.base_url + "/chat/completions", json=ASK)


@in_each_library
async def test_closing_closes_the_connections_of_an_async_client(replay, library):
    replay.say(R("All."))
    client = tenuto.async_http_client(library, policy=POLICY)
    await client.post(replay.base_url + "/chat/completions", json=ASK)
    pool: Any = client._transport._pool
    assert len(pool.connections) == 1
    await client.aclose()
    assert pool.connections == []
    assert client.is_closed


def test_wrapping_an_sdk_on_such_a_client_is_wrapping_once(replay):
    events: list[tenuto.Event] = []
    sdk: dict[str, Any] = {"base_url": replay.base_url, "api_key": "key", "max_retries": 0}
    with openai.OpenAI(**sdk, http_client=tenuto.http_client(policy=POLICY)) as client:
        assert tenuto.wrap(client) is client
        again = tenuto.wrap(client, on_event=events.append)
        replay.say(CUT, Refused(500), Refused(500), Refused(500))
        made = again.chat.completions.create(**ASK)
    assert made.choices[0].finish_reason == MAX
    assert sum(event.name == "turn_ended" for event in events) == 1


@pytest.mark.behaviour("C23", "S1")
@in_each_library
def test_a_stream_that_is_left_early_lets_its_connection_go(library):
    with FarSide(sse_answer(b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')) as far:
        client = tenuto.http_client(library, policy=POLICY, base_url=far.base_url)
        asked = {"json": ASK | {"stream": True}}
        with client, client.stream("POST", "/chat/completions", **asked) as streamed:
            assert next(streamed.iter_raw())
            streamed.close()
            pool: Any = client._transport._pool
            assert pool.connections == []


in_each_maker = pytest.mark.parametrize("make", [tenuto.http_client, tenuto.async_http_client])


@in_each_maker
@pytest.mark.parametrize("library", ["aiohttp", "", "os", None, 3, openai])
def test_an_unknown_library_is_named_with_those_that_are_known(make: Callable[..., Any], library):
    with pytest.raises(tenuto.UnsupportedClient) as caught:
        make(library)
    assert repr(library) in str(caught.value)
    assert "'httpx2' or 'httpx'" in str(caught.value)


@in_each_maker
@in_each_library
def test_a_library_that_is_not_installed_is_told_with_what_to_install(make, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    other = "httpx" if library == "httpx2" else "httpx2"
    told = f"pip install {library}; or pass '{other}' for a client of {other}$"
    with pytest.raises(tenuto.UnsupportedClient, match=told):
        make(library)


@in_each_maker
@pytest.mark.parametrize("given", [{"policy": {"rungs": 1}}, {"on_event": "print"}])
def test_settings_of_the_wrong_type_are_refused_before_a_client_is_made(make, given):
    with pytest.raises(tenuto.PolicyError, match=next(iter(given))):
        make("httpx", **given)
    with pytest.raises(tenuto.PolicyError, match=r"^timeut is not an argument .* are timeout, "):
        make("httpx", timeut=3)


@pytest.mark.behaviour("P8c")
@pytest.mark.parametrize("signed_too", [False, True], ids=["beside_the_signature", "signed_too"])
@in_each_library
def test_what_the_caller_has_signed_stays_as_it_was_signed(replay, library, way, signed_too):
    url, body = f"{replay.base_url}/chat/completions", json.dumps(ASK).encode()
    ours, given = {"x-tenuto": "off"}, {"content-type": "application/json"}
    request = AWSRequest("POST", url, given | (ours if signed_too else {}), body)
    keys = Credentials(ACCESS_KEY, SECRET_KEY, SESSION_TOKEN)
    SigV4Auth(keys, "bedrock", REGION).add_auth(request)
    headers = dict(request.headers.items()) | ours
    replay.say(CUT)
    asked = {"content": body, "headers": headers}

    async def ask() -> Any:
        async with tenuto.async_http_client(library, policy=POLICY) as client:
            return (await client.post(url, **asked)).json()

    if way == "async":
        made = asyncio.run(ask())
    else:
        with tenuto.http_client(library, policy=POLICY) as client:
            made = client.post(url, **asked).json()
    assert whole_of(made) == ("The first half, ", MAX), "nothing of it may be changed"
    (sent,) = replay.requests
    assert wrong_signature("POST", url, sent.headers, sent.body, "bedrock", SECRET_KEY) == ""
    assert ("x-tenuto" in sent.headers) is signed_too


def whole_of(made: dict[str, Any]) -> tuple[str, str]:
    choice = made["choices"][0]
    return choice["message"]["content"], choice["finish_reason"]


@pytest.mark.parametrize("stream", [False, True])
def test_an_sdk_that_stands_on_the_other_library_is_told_which_one_to_give(way, stream):
    ask: dict[str, Any] = {"model": "sim/length_twice", "messages": ASK["messages"]}
    asks = "chat_stream" if stream else "chat"

    async def said_async(sdk: dict[str, Any], library: Any) -> Any:
        async with tenuto.async_http_client(library, policy=POLICY) as http:
            client: Any = cohere.AsyncClientV2(**sdk, httpx_client=http)
            made = getattr(client, asks)(**ask)
            return [event async for event in made] if stream else await made

    def said(sdk: dict[str, Any], library: Any) -> Any:
        with tenuto.http_client(library, policy=POLICY) as http:
            client: Any = cohere.ClientV2(**sdk, httpx_client=http)
            made = getattr(client, asks)(**ask)
            return list(made) if stream else made

    def once(library: str) -> Any:
        sdk = {"api_key": "key", "base_url": sim.root_url}
        return asyncio.run(said_async(sdk, library)) if way == "async" else said(sdk, library)

    with Simulator() as sim:
        maker = "async_http_client" if way == "async" else "http_client"
        told = f"built on httpx and cannot use a client of httpx2; pass it tenuto.{maker}('httpx')"
        with pytest.raises(tenuto.UnsupportedClient, match=re.escape(told)):
            once("httpx2")
        assert sim.requests == []
        assert once("httpx")
        assert len(sim.requests) == 3
