"""What google-genai offers besides a plain question: each works over a wrapped client as before."""

from __future__ import annotations

import asyncio
import gc
import weakref
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from google import genai
from google.auth.credentials import Credentials
from google.genai import types
from pydantic import BaseModel
from support.asking.gemini_generate import GeminiAsker, user
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, json_answer
from support.replay.gemini_generate import END, MAX, R
from support.replay.openai_chat import Replay

import tenuto
from tenuto.core import hints
from tenuto_sim import Simulator

POLICY = tenuto.Policy(**QUICK)
HALVES = (R("The first half, ", MAX), R("and the second.", END))
WHOLE = "The first half, and the second."
MODES = pytest.mark.parametrize("mode", ["body", "stream"])


def ask(client: Any, mode: str, way: str, **more: Any) -> str:
    """The text of one answer."""
    given = {"model": "m", "contents": "Tell me."} | more

    async def run() -> str:
        async with client.aio as aio:
            if mode == "body":
                return str((await aio.models.generate_content(**given)).text)
            told = await aio.models.generate_content_stream(**given)
            return "".join([chunk.text or "" async for chunk in told])

    if way == "async":
        return asyncio.run(run())
    if mode == "body":
        return str(client.models.generate_content(**given).text)
    return "".join(chunk.text or "" for chunk in client.models.generate_content_stream(**given))


@pytest.fixture
def replay() -> Any:
    with Replay() as running:
        yield running


# --- chats ------------------------------------------------------------------------------------


@pytest.mark.behaviour("C22")
@MODES
def test_a_chat_keeps_the_whole_answer_and_no_hint(play: Any, mode: str, way: str) -> None:
    asker = play(*HALVES, R("Fine.", END))
    client = asker.client

    async def run() -> None:
        chat = client.aio.chats.create(model="m")
        if mode == "body":
            await chat.send_message("Tell me.")
        else:
            async for _ in await chat.send_message_stream("Tell me."):
                pass
        await chat.send_message("And?")

    if way == "async":
        asker.loop.run_until_complete(run())
    else:
        chat = client.chats.create(model="m")
        if mode == "body":
            chat.send_message("Tell me.")
        else:
            list(chat.send_message_stream("Tell me."))
        chat.send_message("And?")
    *said, asked = asker.bodies[2]["contents"][1:]
    assert {row["role"] for row in said} == {"model"}
    assert "".join(part.get("text", "") for row in said for part in row["parts"]) == WHOLE
    assert asked == user("And?")
    assert hints.CONTINUE not in str(asker.bodies[2])


@pytest.mark.behaviour("C27")
def test_a_schema_that_is_a_type_is_parsed(play: Any, way: str) -> None:
    class Tide(BaseModel):
        height: float

    asker = play(R('{"heig', MAX), R('{"height": 1.5}', END))
    said = asker.tell("body", way, response_mime_type="application/json", response_schema=Tide)
    assert said.last.parsed == Tide(height=1.5)


# --- the client itself ------------------------------------------------------------------------


@pytest.mark.behaviour("P8c")
def test_wrapping_gives_the_same_type_and_twice_is_once(replay: Replay) -> None:
    client = GeminiAsker.make(replay)
    wrapped = tenuto.wrap(client)
    assert isinstance(wrapped, genai.Client)
    assert tenuto.wrap(wrapped) is wrapped
    again = tenuto.wrap(wrapped, policy=POLICY)
    assert again is not wrapped
    replay.say(*HALVES, R("A", MAX))
    assert ask(again, "body", "sync") == WHOLE
    assert ask(client, "body", "sync") == "A", "the client that was given stays as it is"
    client.close()


@pytest.mark.behaviour("P8c")
def test_a_subclass_stays_one_and_another_google_client_is_refused() -> None:
    class Own(genai.Client):
        def name(self) -> str:
            return "own"

    wrapped = tenuto.wrap(Own(api_key="key"))
    assert isinstance(wrapped, Own)
    assert wrapped.name() == "own"

    class Client:
        __module__ = "google.cloud.storage.client"

    with pytest.raises(tenuto.UnsupportedClient, match=r"google\.cloud\.storage"):
        tenuto.wrap(Client())  # type: ignore[type-var]


@pytest.mark.behaviour("C23")
@MODES
def test_the_original_may_be_forgotten_and_the_copy_closes_what_it_shares(
    replay: Replay, mode: str
) -> None:
    wrapped = tenuto.wrap(GeminiAsker.make(replay), policy=POLICY)
    gc.collect()
    replay.say(*HALVES)
    assert ask(wrapped, mode, "sync") == WHOLE
    wrapped.close()
    assert wrapped._api_client._httpx_client.is_closed


@pytest.mark.behaviour("C23")
@MODES
def test_what_the_copy_made_is_enough_to_keep(replay: Replay, mode: str, way: str) -> None:
    wrapped = tenuto.wrap(GeminiAsker.make(replay), policy=POLICY)
    kept = SimpleNamespace(models=wrapped.models, aio=wrapped.aio)
    del wrapped
    gc.collect()
    replay.say(*HALVES)
    assert ask(kept, mode, way) == WHOLE


@pytest.mark.behaviour("C23")
def test_a_copy_that_is_forgotten_leaves_the_original_open(replay: Replay) -> None:
    client = GeminiAsker.make(replay)
    wrapped = tenuto.wrap(client, policy=POLICY)
    gone = weakref.ref(wrapped)
    del wrapped
    gc.collect()
    assert gone() is None
    replay.say(R("Still here.", END))
    assert ask(client, "body", "sync") == "Still here."
    client.close()


@pytest.mark.behaviour("P1b")
def test_settings_of_the_client_stay_in_force(replay: Replay, way: str) -> None:
    client = GeminiAsker.make(
        replay, headers={"x-team": "tides"}, timeout=7_000, api_version="v1alpha"
    )
    replay.say(*HALVES)
    assert ask(tenuto.wrap(client, policy=POLICY), "body", way) == WHOLE
    for asked in replay.requests:
        assert asked.headers["x-team"] == "tides"
        assert asked.headers["x-goog-api-key"] == "key"
        assert asked.headers["x-server-timeout"] == "7"
        assert asked.path == "/v1alpha/models/m:generateContent"
    client.close()


@pytest.mark.behaviour("P1b")
@MODES
def test_async_requests_go_through_httpx_even_where_aiohttp_was_set_up(
    replay: Replay, mode: str
) -> None:
    async def run() -> tuple[str, str]:
        async with aiohttp.ClientSession(headers={"x-team": "tides"}) as session:
            client = GeminiAsker.make(replay, aiohttp_client=session)
            async with tenuto.wrap(client, policy=POLICY).aio as aio:
                if mode == "body":
                    text = (await aio.models.generate_content(model="m", contents="x")).text
                else:
                    told = await aio.models.generate_content_stream(model="m", contents="x")
                    text = "".join([chunk.text or "" async for chunk in told])
            client.close()
            return text or "", replay.requests[-1].headers["x-team"]

    replay.say(*HALVES)
    assert asyncio.run(run()) == (WHOLE, "tides")


@pytest.mark.behaviour("P8")
def test_what_asks_for_no_turn_passes_untouched(play: Any) -> None:
    asker = play(R("ignored"))
    counted = asker.client.models.count_tokens(model="m", contents="Hi")
    assert counted.total_tokens is None
    assert asker.replay.requests[0].path.endswith(":countTokens")
    assert asker.events == []


# --- Vertex AI --------------------------------------------------------------------------------


class Fresh(Credentials):
    """Credentials that have a token and need no network."""

    def __init__(self) -> None:
        super().__init__()
        self.token = "token-1"

    def refresh(self, request: Any) -> None:
        self.token = "token-2"


@pytest.mark.behaviour("C28a", "C1")
@MODES
@pytest.mark.parametrize("case", ["length_twice", "normal", "drop_mid_text"])
def test_vertex_with_credentials_recovers_alike(mode: str, way: str, case: str) -> None:
    if case == "drop_mid_text" and mode == "body":
        return
    with Simulator() as sim:
        client = genai.Client(
            vertexai=True, project="p", location="l", credentials=Fresh(),
            http_options=types.HttpOptions(base_url=sim.root_url),
        )  # fmt: skip
        wrapped = tenuto.wrap(client, policy=POLICY)
        text = ask(wrapped, mode, way, model=f"sim/{case}", contents="On Vertex.")
        assert text == sim.answer("On Vertex.")
        for asked in sim.requests:
            assert asked.headers["authorization"] == "Bearer token-1"
            assert asked.path.startswith("/v1beta1/projects/p/locations/l/publishers/sim/models/")
        client.close()


@pytest.mark.behaviour("C1")
@MODES
def test_vertex_with_a_key_recovers_alike(mode: str, way: str) -> None:
    with Simulator() as sim:
        client = genai.Client(
            vertexai=True, api_key="key", http_options=types.HttpOptions(base_url=sim.root_url)
        )
        text = ask(
            tenuto.wrap(client, policy=POLICY), mode, way,
            model="sim/length_once", contents="With a key.",
        )  # fmt: skip
        assert text == sim.answer("With a key.")
        client.close()


# --- streams ----------------------------------------------------------------------------------


@pytest.mark.behaviour("S4", "S8a")
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])
def test_every_text_arrives_before_the_next_one_is_sent(gzip: bool, way: str) -> None:
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=16, gzip=gzip) as sim:
        whole = sim.answer("Tell me.")
        pieces = [whole[at : at + 16] for at in range(0, len(whole), 16)]
        client = tenuto.wrap(GeminiAsker.make(sim), policy=POLICY)
        given: dict[str, Any] = {"model": "sim/normal", "contents": "Tell me."}
        texts: list[str] = []

        def arrived(chunk: Any) -> None:
            texts.append(chunk.text or "")
            held = len(texts) + 1 == len(pieces)  # the last text comes with the stop
            for _ in range(2 if held else 1):
                sim.acknowledge()

        async def run() -> None:
            async with client.aio as aio:
                async for chunk in await aio.models.generate_content_stream(**given):
                    arrived(chunk)

        if way == "async":
            asyncio.run(run())
        else:
            for chunk in client.models.generate_content_stream(**given):
                arrived(chunk)
        assert texts == pieces
        assert not sim.stalled
        client.close()


@pytest.mark.behaviour("C23", "P6")
@pytest.mark.parametrize("continuing", [False, True])
def test_leaving_a_stream_stops_the_provider(continuing: bool, way: str) -> None:
    events: list[tenuto.Event] = []
    case = "length_once" if continuing else "normal"
    with Simulator(delay_s=0.02, token_chars=8) as sim:
        client = tenuto.wrap(GeminiAsker.make(sim), policy=POLICY, on_event=events.append)
        given: dict[str, Any] = {"model": f"sim/{case}", "contents": "Tell me."}
        enough = 1 if not continuing else int(len(sim.answer("Tell me.")) * 0.6)

        def is_enough(texts: list[str]) -> bool:
            return len("".join(texts)) >= enough

        async def run() -> None:
            texts: list[str] = []
            async with client.aio as aio:
                told: Any = await aio.models.generate_content_stream(**given)
                async for chunk in told:
                    texts.append(chunk.text or "")
                    if is_enough(texts):
                        break
                await told.aclose()
                for _ in range(200):
                    if not sim.open_streams:
                        return
                    await asyncio.sleep(0.01)

        if way == "async":
            asyncio.run(run())
        else:
            texts: list[str] = []
            told: Any = client.models.generate_content_stream(**given)
            for chunk in told:
                texts.append(chunk.text or "")
                if is_enough(texts):
                    break
            told.close()
            del told
            gc.collect()
        assert [event.name for event in events].count("cancelled") == 1
        assert [e.data["reason"] for e in events if e.name == "turn_ended"] == ["cancelled"]
        assert len(sim.requests) == 1 + continuing
        client.close()


@pytest.mark.behaviour("N6", "P8")
def test_a_body_that_is_no_answer_reaches_the_sdk_as_an_error_of_its_own(way: str) -> None:
    with FarSide(json_answer(b"[1, 2]")) as far:
        url = far.base_url.removesuffix("/v1")
        client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=url))
        with pytest.raises(genai.errors.APIError):
            ask(tenuto.wrap(client, policy=POLICY), "body", way)
        client.close()
