"""Streams flow, and the SDK's own helpers see one whole response, whatever it took.

The simulator sends an event when the one before it was acknowledged; see `pacing`.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import openai
import pytest
from support.asking.openai_responses import CASES, TOOLS
from support.asking.wrapping import QUICK
from support.loops import close_loop
from support.pacing.openai_chat import Document, Pacer, answers_to, pieces
from support.pairing import one_in

import tenuto
from tenuto_sim import Simulator, Step

SIZE = 24
TEXT = "response.output_text.delta"
BEFORE_TEXT = ("created", "in_progress", "item", "part")
BEHIND_TEXT = ("text", "part", "item", "completed")
PROMPT = "Tell me."


@pytest.fixture(scope="module")
def running() -> Iterator[Simulator]:
    # Half as many events as else: the SDK's helper reads each of them twice.
    with Simulator(token_chars=8) as sim:
        yield sim


def ask(model: str = "sim/normal", **more: Any) -> dict[str, Any]:
    return {"model": model, "input": [{"role": "user", "content": PROMPT}], **more}


def wrap(sim: Simulator, way: str) -> tuple[Any, list[tenuto.Event]]:
    events: list[tenuto.Event] = []
    kind: Any = openai.AsyncOpenAI if way == "async" else openai.OpenAI
    client = kind(base_url=sim.base_url, api_key="key", max_retries=2)
    return tenuto.wrap(client, policy=tenuto.Policy(**QUICK), on_event=events.append), events


def by_create(client: Any, **given: Any) -> Iterator[Any]:
    yield from client.responses.create(stream=True, **given)


def by_helper(client: Any, **given: Any) -> Iterator[Any]:
    with client.responses.stream(**given) as stream:
        yield from stream


async def by_create_async(client: Any, **given: Any) -> AsyncIterator[Any]:
    async with await client.responses.create(stream=True, **given) as stream:
        async for event in stream:
            yield event


async def by_helper_async(client: Any, **given: Any) -> AsyncIterator[Any]:
    async with client.responses.stream(**given) as stream:
        async for event in stream:
            yield event


DOORS = [(by_create, by_create_async), (by_helper, by_helper_async)]


def read(sim: Simulator, door: Any, answers: list[int], way: str, **given: Any) -> list[Any]:
    """Read a stream to its end, each event acknowledged as it arrives."""
    pacer, told = Pacer(sim, answers), []
    if way == "sync":
        client, _ = wrap(sim, way)
        with client:
            for event in door[0](client, **given):
                told.append(event)
                pacer.arrived()
        return told

    async def run() -> None:
        client, _ = wrap(sim, way)
        async with client:
            async for event in door[1](client, **given):
                told.append(event)
                pacer.arrived()

    asyncio.run(run())
    return told


def answers_for(texts: list[str]) -> list[int]:
    """What is held is acknowledged ahead: white space, and whatever closes something."""
    shown = [bool(text.strip()) for text in texts]
    return answers_to([*(True for _ in BEFORE_TEXT), *shown, *(False for _ in BEHIND_TEXT)])


@pytest.mark.behaviour("S4", "S8a")
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("door", DOORS, ids=[door[0].__name__ for door in DOORS])
def test_every_text_event_arrives_before_the_next_one_is_sent(door, way, gzip):
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=SIZE, gzip=gzip) as sim:
        whole = sim.answer(PROMPT)
        told = read(sim, door, answers_for(pieces(whole, SIZE)), way, **ask())
        assert "".join(event.delta for event in told if event.type == TEXT) == whole
        assert not sim.stalled
        assert len(sim.requests) == 1


SEAM_CHARS = 120
"""More than a continuation that goes on exactly may keep waiting at its seam."""


@pytest.mark.behaviour("S2", "S4", "C16")
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])
def test_a_continuation_flows_after_a_bounded_wait_at_its_seam(way, gzip):
    size = 8
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=size, gzip=gzip) as sim:
        whole = sim.answer(PROMPT)
        said = whole[: int(len(whole) * 0.45) // size * size]
        sim.script([Step(keep=0.45, finish="length"), Step()])
        answers = answers_for(pieces(said, size)) + [1] * len(pieces(whole, size))

        def ahead_at_the_seam() -> None:
            while len(sim.requests) < 2:
                time.sleep(0.002)
            for _ in range(len(BEFORE_TEXT) + SEAM_CHARS // size):
                sim.acknowledge()

        helper = threading.Thread(target=ahead_at_the_seam)
        helper.start()
        told = read(sim, DOORS[1], answers, way, **ask())
        helper.join()
        texts = [event.delta for event in told if event.type == TEXT]
        assert "".join(texts) == whole
        assert not sim.stalled
        assert len(texts) > len(pieces(whole, size)) - SEAM_CHARS // size, "event by event"


@pytest.mark.behaviour("S4", "T16")
async def test_calls_wait_until_the_outcome_is_known():
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=SIZE) as sim:
        client, _ = wrap(sim, "async")
        arguments = pieces(str(sim.expected(PROMPT, "tool").calls[0].arguments), SIZE)
        stream = await client.responses.create(stream=True, **ask("sim/tool", tools=TOOLS))
        for _ in range(2):
            assert (await anext(stream)).type in ("response.created", "response.in_progress")
            sim.acknowledge()
        # The item, its pieces, and what closes them: all of it may be sent, and nothing arrives.
        for _ in range(len(arguments) + 2):
            sim.acknowledge()
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.wait({waiting}, timeout=0.15)
        assert not waiting.done()
        sim.acknowledge()
        rest = [await waiting] + [event async for event in stream]
        assert rest[0].type == "response.output_item.added"
        assert rest[-1].type == "response.completed"
        assert not sim.stalled
        await client.close()


async def final(client: Any, way: str, **given: Any) -> Any:
    """The response that the SDK's helper has in the end; the client is closed."""
    if way == "async":
        async with client, client.responses.stream(**given) as stream:
            return await stream.get_final_response()
    with client, client.responses.stream(**given) as stream:
        return stream.get_final_response()


async def parsed(client: Any, way: str, **given: Any) -> Any:
    """The same of a body."""
    if way == "async":
        async with client:
            return await client.responses.parse(**given)
    with client:
        return client.responses.parse(**given)


STREAMED = [c for c in CASES.values() if c.recoverable and "stream" in c.modes]


@pytest.mark.behaviour("C1", "T5", "S2", "S4")
@one_in(3, "case", STREAMED)
async def test_the_streaming_helper_gives_the_whole_response(case, way, running):
    if case.after_tool_result:
        return
    client, _ = wrap(running, way)
    given: Any = {"model": f"sim/{case.name}", "input": f"{case.name}, {way}."} | dict(case.request)
    given |= {"tools": TOOLS} if case.wants_tools else {}
    response = await final(client, way, **given)
    format_ = (case.request.get("text") or {}).get("format")
    wanted = running.expected(given["input"], case.name, response_format=format_)
    assert response.output_text.rpartition("</think>")[2].strip() == wanted.text.strip()
    calls = [item for item in response.output if item.type == "function_call"]
    assert len(calls) == len(wanted.calls)


@pytest.mark.behaviour("C27")
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("helper", [parsed, final])
async def test_a_structured_answer_that_was_cut_parses(gzip, way, helper):
    with Simulator(gzip=gzip) as sim:
        client, events = wrap(sim, way)
        response = await helper(client, way, **ask("sim/length_json", text_format=Document))
        assert isinstance(response.output_parsed, Document)
        assert [e.data["status"] for e in events if e.name == "turn_ended"] == ["complete"]
        assert len(sim.requests) == 2


@pytest.mark.behaviour("C27")
@pytest.mark.parametrize("helper", [parsed, final])
async def test_a_structured_answer_that_is_whole_where_the_limit_cut_parses(way, running, helper):
    running.script([Step(finish="max_output_tokens")])
    client, events = wrap(running, way)
    before = len(running.requests)
    response = await helper(client, way, **ask(text_format=Document))
    assert isinstance(response.output_parsed, Document)
    assert (response.status, response.incomplete_details) == ("completed", None)
    assert [e.data["status"] for e in events if e.name == "turn_ended"] == ["complete"]
    assert len(running.requests) == before + 1


def is_quiet(sim: Simulator) -> bool:
    deadline = time.monotonic() + 3
    while sim.open_streams and time.monotonic() < deadline:
        time.sleep(0.002)
    return sim.open_streams == 0


def was_cancelled_once(events: list[tenuto.Event], *, continuing: bool) -> None:
    names = [event.name for event in events]
    assert names.count("cancelled") == 1
    assert names.count("turn_ended") == 1
    assert names.count("continuation_attempt") == continuing
    ends = [e.data["reason"] for e in events if e.name == "continuation_terminated"]
    assert ends == ["cancelled"] * continuing


LEFT = 80
"""Characters of text in an event, where a stream is left."""


def prepare(sim: Simulator, *, continuing: bool) -> tuple[int, int]:
    """Set the scene; returns how many events there are to see before the part that is left, and the
    most that may be left in it."""
    sim.forget()
    if not continuing:
        sim.script([Step(event_chars=LEFT)])
        return 0, len(pieces(sim.answer(PROMPT), LEFT))
    sim.script([Step(keep=0.3, finish="length", event_chars=LEFT), Step(event_chars=LEFT)])
    keep = int(len(sim.answer(PROMPT)) * 0.3)
    return len(BEFORE_TEXT) + -(-keep // LEFT), 4


@pytest.mark.behaviour("C23", "P6")
@pytest.mark.parametrize("continuing", [False, True], ids=["first_attempt", "continuation"])
@pytest.mark.parametrize("door", DOORS, ids=[door[0].__name__ for door in DOORS])
def test_leaving_after_any_event_stops_the_provider(way, continuing, door):
    with Simulator(delay_s=0.004) as sim:
        client, events = wrap(sim, way)
        loop = asyncio.new_event_loop()
        before, most = prepare(sim, continuing=continuing)
        for place in range(1, most):
            prepare(sim, continuing=continuing)
            events.clear()
            if way == "sync":
                leave_sync(client, door[0], before + place)
            else:
                loop.run_until_complete(leave_async(client, door[1], before + place))
            gc.collect()
            assert is_quiet(sim)
            was_cancelled_once(events, continuing=continuing)
        done = client.close()
        if way == "async":
            loop.run_until_complete(done)
        close_loop(loop)


def leave_sync(client: Any, door: Any, arrivals: int) -> None:
    stream = door(client, **ask())
    for _, event in zip(range(arrivals), stream, strict=False):
        assert event
    stream.close()


async def leave_async(client: Any, door: Any, arrivals: int) -> None:
    stream = door(client, **ask())
    for _ in range(arrivals):
        await anext(stream)
    await stream.aclose()
