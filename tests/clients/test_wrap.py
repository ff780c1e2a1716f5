"""A wrapped client keeps all that its owner set, and its turns are finished all the same."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import httpx2
import openai
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import BODY, FarSide, json_answer

import tenuto
from tenuto_sim import Simulator

POLICY = tenuto.Policy(**QUICK)
MESSAGES: list[Any] = [{"role": "user", "content": "Tell me."}]
CUT = BODY % (b"The first half, ", b"length")
REST = BODY % (b"and the second.", b"stop")
WHOLE = "The first half, and the second."


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as running:
        yield running


def halves(*headers: str) -> FarSide:
    """A far side that says its answer in two halves."""
    return FarSide(json_answer(CUT, *headers), json_answer(REST))


def ask(client: Any, **more: Any) -> Any:
    return client.chat.completions.create(model="m", messages=MESSAGES, **more)


def said(client: Any, **more: Any) -> str:
    return str(ask(client, **more).choices[0].message.content)


async def said_async(client: Any, **more: Any) -> str:
    made = await client.chat.completions.create(model="m", messages=MESSAGES, **more)
    return str(made.choices[0].message.content)


def bare(base_url: str, **more: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=base_url, api_key="key", **({"max_retries": 0} | more))


def wrap(client: Any, **more: Any) -> Any:
    return tenuto.wrap(client, policy=POLICY, **more)


@pytest.mark.behaviour("C28a")
def test_headers_query_cookies_and_auth_go_with_every_attempt():
    class Signed(httpx2.Auth):
        def auth_flow(self, request: Any) -> Any:
            request.headers["x-signed"] = str(len(request.content))
            yield request

    http = openai.DefaultHttpxClient(auth=Signed(), cookies={"c": "1"}, headers={"x-http": "h"})
    with halves() as far:
        client = bare(
            far.base_url, http_client=http, default_headers={"x-own": "o"}, default_query={"q": "7"}
        )
        with wrap(client) as wrapped:
            assert said(wrapped) == WHOLE
        assert len(far.requests) == 2
        for head, body in far.requests:
            lines = head.lower()
            assert b"?q=7" in lines.split(b"\r\n")[0]
            for part in (b"x-own: o", b"x-http: h", b"cookie: c=1", b"authorization: bearer key"):
                assert part in lines
            assert b"x-signed: %d" % len(body) in lines, "signed anew"
            assert b"content-length: %d" % len(body) in lines


@pytest.mark.behaviour("C28a")
def test_sync_hooks_see_every_attempt_and_may_read_it():
    seen: list[Any] = []

    def response_hook(response: Any) -> None:
        response.read()
        seen.append(response.json()["choices"][0]["finish_reason"])

    hooks: Any = {"request": [lambda r: seen.append(r.method)], "response": [response_hook]}
    http = openai.DefaultHttpxClient(event_hooks=hooks)
    with halves() as far, wrap(bare(far.base_url, http_client=http)) as wrapped:
        assert said(wrapped) == WHOLE
    assert seen == ["POST", "length", "POST", "stop"]


@pytest.mark.behaviour("C28a")
async def test_async_hooks_see_every_attempt_and_may_read_it():
    seen: list[Any] = []

    async def response_hook(response: Any) -> None:
        await response.aread()
        seen.append(response.json()["choices"][0]["finish_reason"])

    http = openai.DefaultAsyncHttpxClient(event_hooks={"response": [response_hook]})
    with halves() as far:
        client = openai.AsyncOpenAI(base_url=far.base_url, api_key="key", http_client=http)
        async with wrap(client) as wrapped:
            assert await said_async(wrapped) == WHOLE
    assert seen == ["length", "stop"]


@pytest.mark.behaviour("P8")
async def test_an_error_that_a_hook_has_read_can_be_read_again_where_a_stream_was_asked_for():
    async def response_hook(response: Any) -> None:
        await response.aread()

    refusal = b'{"error": {"message": "No."}}'
    made = tenuto.async_http_client(event_hooks={"response": [response_hook]})
    with FarSide(json_answer(refusal, status="400 Bad Request")) as far:
        asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
        async with made, made.stream("POST", f"{far.base_url}/chat/completions", json=asked) as got:
            assert (got.status_code, got.text) == (400, refusal.decode())


@pytest.mark.behaviour("C5")
def test_a_hook_that_raises_for_a_continuation_does_not_cost_the_text():
    http = openai.DefaultHttpxClient(
        event_hooks={"response": [lambda response: response.raise_for_status()]}
    )
    bad = json_answer(b"{}", status="500 Bad")
    with FarSide(json_answer(CUT), bad) as far:
        with wrap(bare(far.base_url, http_client=http)) as wrapped:
            made = ask(wrapped)
        assert made.choices[0].message.content.strip() == "The first half,"
        assert made.choices[0].finish_reason == "length"


@pytest.mark.behaviour("C28a")
def test_a_proxy_is_used_for_every_attempt():
    with halves() as proxy:
        url = proxy.base_url.removesuffix("/v1")
        http = openai.DefaultHttpxClient(proxy=url)
        with wrap(bare("http://nowhere.invalid/v1", http_client=http)) as wrapped:
            assert said(wrapped) == WHOLE
        for head, _ in proxy.requests:
            assert head.startswith(b"POST http://nowhere.invalid/v1/chat/completions")


@pytest.mark.behaviour("C28a")
def test_custom_transports_carry_every_attempt():
    answers = iter([CUT, REST] * 2)

    def respond(request: Any) -> Any:
        return httpx2.Response(
            200, content=next(answers), headers={"content-type": "application/json"}
        )

    class Own(httpx2.BaseTransport):
        def handle_request(self, request: Any) -> Any:
            return respond(request)

    for transport in (httpx2.MockTransport(respond), Own()):
        http = openai.DefaultHttpxClient(transport=transport)
        with wrap(bare("http://nowhere.invalid/v1", http_client=http)) as wrapped:
            assert said(wrapped) == WHOLE


@pytest.mark.behaviour("C5")
def test_a_transport_that_raises_its_own_errors_does_not_cost_the_text():
    class Failing(httpx2.BaseTransport):
        calls = 0

        def handle_request(self, request: Any) -> Any:
            self.calls += 1
            if self.calls > 1:
                raise ConnectionResetError("gone")
            return httpx2.Response(200, content=CUT, headers={"content-type": "application/json"})

    http = openai.DefaultHttpxClient(transport=Failing())
    with wrap(bare("http://nowhere.invalid/v1", http_client=http)) as wrapped:
        made = ask(wrapped)
    assert made.choices[0].finish_reason == "length"


@pytest.mark.behaviour("C28a")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_a_client_of_the_older_httpx_is_wrapped_as_well():
    with halves() as far:
        old: Any = httpx.Client()
        with wrap(bare(far.base_url, http_client=old)) as wrapped:
            assert said(wrapped) == WHOLE
    with halves() as far:
        old = httpx.AsyncClient()
        client = openai.AsyncOpenAI(base_url=far.base_url, api_key="key", http_client=old)
        async with wrap(client) as wrapped:
            assert await said_async(wrapped) == WHOLE


@pytest.mark.behaviour("C28a")
def test_subclasses_of_either_client_keep_what_they_add():
    class Counting(httpx2.Client):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name
            self.sent = 0

        def send(self, request: Any, **options: Any) -> Any:
            self.sent += 1
            return super().send(request, **options)

    class Tool:
        def __init__(self, client: Any) -> None:
            self._client = client

    class Own(openai.OpenAI):
        def __init__(self, tenant: str, base_url: str, http: Any) -> None:
            super().__init__(base_url=base_url, api_key=tenant, http_client=http)
            self.tenant = tenant
            self.tool = Tool(self)

    with halves() as far:
        http = Counting("mine")
        client: Any = Own("acme", far.base_url, http)
        wrapped: Any = wrap(client)
        assert isinstance(wrapped, Own)
        assert wrapped.tenant == "acme"
        inner: Any = wrapped._client
        assert inner.name == "mine"
        assert said(wrapped) == WHOLE
        assert inner.sent == 2
        assert wrapped.tool._client is wrapped
        assert client.tool._client is client
        wrapped.close()


@pytest.mark.behaviour("C28a")
def test_azure_is_wrapped_as_well():
    with halves() as far:
        azure = openai.AzureOpenAI(
            azure_endpoint=far.base_url.removesuffix("/v1"), api_key="key", api_version="2026-01-01"
        )
        with wrap(azure) as wrapped:
            assert said(wrapped) == WHOLE
        for head, _ in far.requests:
            assert b"/openai/deployments/m/chat/completions?api-version=2026-01-01" in head


def test_copies_of_a_wrapped_client_stay_wrapped_and_the_original_stays_bare(sim):
    client = bare(sim.base_url)
    client.chat.completions  # noqa: B018 - resources are made once and point at their client
    wrapped = wrap(client)
    whole = sim.answer("Tell me.")
    for made in (wrapped, wrapped.with_options(timeout=9), wrapped.copy(max_retries=1)):
        sim.forget()
        got = made.chat.completions.create(model="sim/length_once", messages=MESSAGES)
        assert got.choices[0].message.content == whole
    sim.forget()
    got = client.chat.completions.create(model="sim/length_once", messages=MESSAGES)
    assert got.choices[0].finish_reason == "length"
    wrapped.close()


@pytest.mark.behaviour("P1b", "P8c")
def test_wrapping_twice_is_wrapping_once(sim):
    client = bare(sim.base_url)
    once = tenuto.wrap(client)
    assert tenuto.wrap(once) is once
    events: list[tenuto.Event] = []
    twice = wrap(wrap(once), on_event=events.append)
    before = len(sim.requests)
    got = twice.chat.completions.create(model="sim/length_always", messages=MESSAGES)
    assert got.choices[0].finish_reason == "length"
    assert len(sim.requests) - before == 4, "one turn's continuations"
    assert [e.name for e in events].count("turn_ended") == 1
    client.close()


@pytest.mark.behaviour("P8c")
def test_wrapping_again_keeps_what_is_not_given():
    first: list[str] = []
    second: list[str] = []
    none = tenuto.Policy(continuation_max_attempts=0)
    with FarSide(json_answer(CUT)) as far, bare(far.base_url) as client:
        wrapped = tenuto.wrap(client, policy=none, on_event=lambda e: first.append(e.name))
        assert said(tenuto.wrap(wrapped)).strip() == "The first half,"
        assert first.count("turn_ended") == 1
        other = tenuto.wrap(wrapped, on_event=lambda e: second.append(e.name))
        assert said(other).strip() == "The first half,"
        assert len(far.requests) == 2, "the policy stayed"
        assert (first.count("turn_ended"), second.count("turn_ended")) == (1, 1)
    with halves() as far, bare(far.base_url) as client:
        wrapped = tenuto.wrap(client, policy=none, on_event=lambda e: first.append(e.name))
        assert said(tenuto.wrap(wrapped, policy=POLICY)) == WHOLE
        assert first.count("turn_ended") == 2, "the listener stayed"


@pytest.mark.behaviour("C28a")
def test_either_client_may_go_first(sim):
    whole = sim.answer("Tell me.")

    def right(client: Any) -> bool:
        sim.forget()
        made = client.chat.completions.create(model="sim/normal", messages=MESSAGES)
        return bool(made.choices[0].message.content == whole)

    client = bare(sim.base_url)
    wrapped = wrap(client)
    assert right(wrapped)
    del client
    gc.collect()
    assert right(wrapped), "the original is gone"
    del wrapped
    client = bare(sim.base_url)
    wrapped = wrap(client)
    assert right(wrapped)
    del wrapped
    gc.collect()
    assert not client.is_closed()
    assert right(client), "the wrapped one is gone"
    client.close()


@pytest.mark.behaviour("C28a")
def test_settings_of_retries_and_of_the_read_timeout_stay_in_force():
    def slow() -> Any:
        time.sleep(1)
        yield json_answer(REST)

    with FarSide(json_answer(b"{}", status="500 Bad"), json_answer(REST)) as far:
        with wrap(bare(far.base_url, max_retries=1)) as wrapped:
            raw = wrapped.chat.completions.with_raw_response.create(model="m", messages=MESSAGES)
        assert raw.retries_taken == 1
    with FarSide(slow()) as far, wrap(bare(far.base_url, timeout=0.1)) as wrapped:
        with pytest.raises(openai.APITimeoutError):
            ask(wrapped)
        assert len(far.requests) == 1, "before any answer: the SDK's own to retry"


@pytest.mark.behaviour("C28a", "C5")
def test_the_timeout_of_a_body_is_the_turns():
    def slow() -> Any:
        time.sleep(0.6)
        yield json_answer(CUT)

    with FarSide(slow(), slow(), slow()) as far, wrap(bare(far.base_url, timeout=1)) as wrapped:
        began = time.monotonic()
        made = ask(wrapped)
        assert time.monotonic() - began < 1.7
        assert made.choices[0].finish_reason == "length"
        assert made.choices[0].message.content.startswith("The first half,")


@pytest.mark.behaviour("C28a")
def test_a_continuation_frees_the_tool_choice_and_has_its_own_key():
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    forced = {"type": "function", "function": {"name": "f"}}
    first = json_answer(CUT, "x-request-id: first", "x-own: 1")
    with FarSide(first, json_answer(REST, "x-request-id: second")) as far:
        with wrap(bare(far.base_url)) as wrapped:
            raw = wrapped.chat.completions.with_raw_response.create(
                model="m",
                messages=MESSAGES,
                tools=[tool],
                tool_choice=forced,
                extra_headers={"Idempotency-Key": "k"},
            )
        assert raw.parse().choices[0].message.content == WHOLE
        assert (raw.request_id, raw.headers["x-own"]) == ("first", "1")
        keys = [
            line.split(b": ")[1]
            for head, _ in far.requests
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"idempotency-key")
        ]
        assert keys[0] == b"k"
        assert len(set(keys)) == len(keys) > 1
        assert b'"tool_choice":"auto"' in far.requests[1][1].replace(b" ", b"")


@pytest.mark.behaviour("C28a")
def test_one_wrapped_client_serves_many_threads(sim):
    events: list[tenuto.Event] = []
    names = ["normal", "length_once", "drop_mid_text", "empty_once", "length_twice", "body_cut"]
    with wrap(bare(sim.base_url), on_event=events.append) as wrapped:

        def turn(number: int) -> bool:
            prompt = f"Tell me, take {number}."
            name = names[number % len(names)]
            streaming = name == "drop_mid_text"
            made = wrapped.chat.completions.create(
                model=f"sim/{name}",
                messages=[{"role": "user", "content": prompt}],
                stream=streaming,
            )
            if streaming:
                text = "".join(c.choices[0].delta.content or "" for c in made if c.choices)
            else:
                text = made.choices[0].message.content
            return bool(text == sim.answer(prompt))

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(turn, range(24)))
    assert [e.data["status"] for e in events if e.name == "turn_ended"] == ["complete"] * 24
    assert len({e.turn for e in events}) == 24


@pytest.mark.behaviour("C28a")
async def test_many_turns_of_one_async_client_run_side_by_side(sim):
    client = openai.AsyncOpenAI(base_url=sim.base_url, api_key="key", max_retries=0)
    async with wrap(client) as wrapped:

        async def turn(number: int) -> bool:
            prompt = f"Tell me, take {number}."
            made = await wrapped.chat.completions.create(
                model=f"sim/{('length_once', 'drop_mid_text')[number % 2]}",
                messages=[{"role": "user", "content": prompt}],
                stream=True,
            )
            text = ""
            async for chunk in made:
                text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
            return bool(text == sim.answer(prompt))

        assert all(await asyncio.gather(*(turn(number) for number in range(16))))
    assert sim.open_streams == 0


def test_closing_the_wrapped_client_closes_its_connections(sim):
    with wrap(bare(sim.base_url)) as wrapped:
        wrapped.models.list()
    assert wrapped.is_closed()
    with pytest.raises(RuntimeError, match="closed"):  # as the bare client
        wrapped.models.list()


@pytest.mark.parametrize("thing", [object(), "a", httpx2.Client, openai.OpenAI, None])
def test_what_cannot_be_wrapped_is_named_with_what_can(thing):
    with pytest.raises(tenuto.UnsupportedClient) as caught:
        tenuto.wrap(thing)
    said = str(caught.value)
    assert type(thing).__name__ in said
    assert "http_client" not in said
    if not isinstance(thing, type):
        assert "openai, anthropic, groq, together, cerebras.cloud.sdk, " in said
        assert "docs/guide/drop-in.md" in said
    assert len(said) < 250


@pytest.mark.parametrize("name", ["Client", "AsyncClient"])
@pytest.mark.parametrize("library", [httpx, httpx2], ids=lambda library: library.__name__)
def test_who_wants_to_wrap_an_http_client_is_told_how_to_get_one_that_recovers(library, name):
    with pytest.raises(tenuto.UnsupportedClient) as caught:
        tenuto.wrap(getattr(library, name)())
    maker = "http_client" if name == "Client" else "async_http_client"
    library = "" if library is httpx2 else "'httpx'"
    assert f"`tenuto.{maker}({library})`" in str(caught.value)
    assert "openai" not in str(caught.value)  # what else can be wrapped would bury it


@pytest.mark.parametrize(
    ("module", "name", "advice"),
    [
        ("langchain_openai.chat_models.base", "ChatOpenAI", "http_async_client=tenuto."),
        ("llama_index.llms.openai.base", "OpenAI", "`http_client=tenuto.http_client('httpx')`"),
        ("crewai.llms.providers.openai.completion", "OpenAICompletion", "llm._get_sync_client()"),
        (
            "haystack.components.generators.chat.openai",
            "OpenAIChatGenerator",
            "tenuto.HTTPTransport()",
        ),
        ("instructor.core.client", "Instructor", "from_openai(tenuto.wrap("),
        ("litellm.router", "Router", "tenuto.litellm.install()"),
        ("pydantic_ai.models.openai", "OpenAIChatModel", "async_http_client()"),
        ("huggingface_hub.inference._client", "InferenceClient", "set_client_factory"),
    ],
)
def test_who_wants_to_wrap_a_framework_is_told_what_to_give_it(module, name, advice):
    thing = type(name, (), {"__module__": module})()
    with pytest.raises(tenuto.UnsupportedClient) as caught:
        tenuto.wrap(thing)
    assert str(caught.value).startswith(f"cannot wrap {module}.{name}; ")
    assert advice in str(caught.value)
