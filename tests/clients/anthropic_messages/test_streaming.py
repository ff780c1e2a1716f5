"""Streams flow: what need not be held arrives at once, whatever door of the SDK it comes through."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from typing import Any

import anthropic
import pytest
from anthropic import transform_schema
from support.asking.anthropic_messages import TOOLS
from support.asking.wrapping import QUICK
from support.loops import close_loop
from support.pacing.anthropic_messages import DOORS, OPENING, ahead_of
from support.pacing.openai_chat import Document, Pacer, pieces

import tenuto
from tenuto_sim import Simulator, Step

PROMPT = "Tell me."


def ask(model: str = "sim/normal", **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": PROMPT}]
    return {"model": model, "messages": messages, "max_tokens": 4_096, **more}


def wrap(sim: Simulator, way: str) -> tuple[Any, list[tenuto.Event]]:
    events: list[tenuto.Event] = []
    kind: Any = anthropic.Anthropic if way == "sync" else anthropic.AsyncAnthropic
    client = kind(base_url=sim.root_url, api_key="key", max_retries=0)
    return tenuto.wrap(client, policy=tenuto.Policy(**QUICK), on_event=events.append), events


def read(sim: Simulator, door: Any, answers: list[int], way: str) -> list[str]:
    """Read a stream to its end, each event acknowledged as it arrives."""
    pacer = Pacer(sim, answers)
    texts: list[str] = []
    client, _ = wrap(sim, way)
    if way == "sync":
        with client:
            for text in door[0](client, **ask()):
                texts.append(text)
                pacer.arrived()
        return texts

    async def run() -> None:
        async with client:
            async for text in door[1](client, **ask()):
                texts.append(text)
                pacer.arrived()

    asyncio.run(run())
    return texts


@pytest.mark.behaviour("S4", "S8a")
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("door", DOORS, ids=[door[0].__name__ for door in DOORS])
def test_every_text_event_arrives_before_the_next_one_is_sent(door, way, gzip):
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=24, gzip=gzip) as sim:
        form: Any = None
        if door[0].__name__ == "by_parsing_helper":
            schema = transform_schema(Document.model_json_schema())
            form = {"type": "json_schema", "json_schema": {"schema": schema}}
        whole = sim.answer(PROMPT, response_format=form)
        texts = read(sim, door, ahead_of(pieces(whole, 24)), way)
        assert "".join(texts) == whole
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
        answers = ahead_of(pieces(said, size))
        # Of the continuation: what opens it and the text at the seam ahead, then one for each arrival.
        answers += [1] * len(pieces(whole, size))

        def ahead_at_the_seam() -> None:
            while len(sim.requests) < 2:
                time.sleep(0.002)
            for _ in range(len(OPENING) + SEAM_CHARS // size):
                sim.acknowledge()

        helper = threading.Thread(target=ahead_at_the_seam)
        helper.start()
        texts = read(sim, DOORS[0], answers, way)
        helper.join()
        assert "".join(texts) == whole
        assert not sim.stalled
        assert len(texts) > len(pieces(whole, size)) - SEAM_CHARS // size, "event by event"


@pytest.mark.behaviour("S4")
async def test_thinking_flows_and_the_block_behind_it_too():
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=24) as sim:
        sim.script([Step(think=True)])
        client, _ = wrap(sim, "async")
        stream = await client.messages.create(stream=True, **ask())
        kinds: list[str] = []
        async for event in stream:
            kinds.append(event.type)
            delta = getattr(getattr(event, "delta", None), "type", "")
            # A ping is not seen, and the end of the thinking is held until the text begins.
            ahead = 2 if delta == "signature_delta" or len(kinds) == 2 else 1
            for _ in range(ahead):
                sim.acknowledge()
            if event.type == "content_block_start" and event.index == 1:
                break
        assert kinds[-2:] == ["content_block_stop", "content_block_start"]
        assert not sim.stalled
        await stream.close()
        await client.close()


@pytest.mark.behaviour("S4", "T16")
async def test_calls_and_closing_events_wait_until_the_outcome_is_known():
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=64) as sim:
        client, _ = wrap(sim, "async")
        given = ask("sim/tool_with_text", tools=TOOLS)
        stream = await client.messages.create(stream=True, **given)
        seen: list[str] = []
        wanted = sim.expected(PROMPT, "tool_with_text")
        texts = pieces(wanted.text, 64)
        arguments = pieces(str(wanted.calls[0].arguments), 64)
        # Start, block, ping, texts; then the block's end, the call and its end, stop, end.
        for number in range(2 + len(texts)):
            event = await anext(stream)
            seen.append(event.type)
            for _ in range(2 if number == 1 else 1):
                sim.acknowledge()
        for _ in range(1 + 1 + len(arguments) + 1):  # all but the last event of all
            sim.acknowledge()
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.wait({waiting}, timeout=0.15)
        assert not waiting.done()
        for _ in range(2):
            sim.acknowledge()
        rest = [await waiting] + [event async for event in stream]
        deltas = [e.delta for e in rest if e.type == "content_block_delta"]
        assert "".join(delta.partial_json for delta in deltas) == "".join(arguments)
        assert "tool_use" not in seen
        assert not sim.stalled
        await client.close()


# --- whoever leaves -----------------------------------------------------------------------------


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


SIZE = 80


def prepare(sim: Simulator, *, continuing: bool) -> tuple[int, int]:
    """Set the scene; returns how many events there are to see before the part that is left, and the
    most that may be left in it."""
    sim.forget()
    if not continuing:
        sim.script([Step(event_chars=SIZE)])
        return 0, len(pieces(sim.answer(PROMPT), SIZE))
    sim.script([Step(keep=0.3, finish="length", event_chars=SIZE), Step(event_chars=SIZE)])
    keep = int(len(sim.answer(PROMPT)) * 0.3)
    return 2 + -(-keep // SIZE), 4


@pytest.mark.behaviour("C23", "P6")
@pytest.mark.parametrize("continuing", [False, True], ids=["first_attempt", "continuation"])
@pytest.mark.parametrize("helped", [False, True], ids=["create", "stream"])
def test_leaving_after_any_event_stops_the_provider(way, continuing, helped):
    with Simulator(delay_s=0.004) as sim:
        client, events = wrap(sim, way)
        loop = asyncio.new_event_loop()
        before, most = prepare(sim, continuing=continuing)
        for place in range(int(continuing), most):
            prepare(sim, continuing=continuing)
            events.clear()
            if way == "sync":
                leave_sync(client, before + place, helped)
            else:
                loop.run_until_complete(leave_async(client, before + place, helped))
            gc.collect()
            assert is_quiet(sim)
            was_cancelled_once(events, continuing=continuing)
        done = client.close()
        if way == "async":
            loop.run_until_complete(done)
        close_loop(loop)


def leave_sync(client: Any, arrivals: int, helped: bool) -> None:
    if helped:
        with client.messages.stream(**ask()) as stream:
            for _, event in zip(range(arrivals), raw(stream), strict=False):
                assert event
        return
    made = client.messages.create(stream=True, **ask())
    for _, event in zip(range(arrivals), made, strict=False):
        assert event
    made.close()


async def leave_async(client: Any, arrivals: int, helped: bool) -> None:
    if helped:
        async with client.messages.stream(**ask()) as stream:
            await some(stream, arrivals)
        return
    made = await client.messages.create(stream=True, **ask())
    await some(made, arrivals)
    await made.close()


def raw(stream: Any) -> Any:
    return (event for event in stream if event.type != "text")


async def some(stream: Any, arrivals: int) -> None:
    left = arrivals
    while left:
        event = await anext(stream)
        left -= event.type != "text"


@pytest.mark.behaviour("C23")
async def test_cancelling_a_task_that_waits_stops_the_provider():
    with Simulator(lockstep=True, lockstep_timeout_s=10) as sim:
        client, events = wrap(sim, "async")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(leave_async(client, 99, helped=True), 0.1)
        gc.collect()
        await asyncio.sleep(0.01)
        assert is_quiet(sim)
        was_cancelled_once(events, continuing=False)
        await client.close()
