"""Streams of boto3 flow event by event, and whoever leaves before the end stops the provider."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from typing import Any

import boto3
import pytest
from support.asking.bedrock_converse import Assembled, async_client, given_to_a_client
from support.asking.wrapping import QUICK
from support.pacing.openai_chat import Pacer, answers_to, pieces

import tenuto
from tenuto_sim import Simulator, Step

PROMPT = "Tell me."
SEAM_CHARS = 120
"""More than a continuation that goes on exactly may keep waiting at its seam."""
CLOSING = (False, False, False)
"""The end of the block, the stop, and the usage are held."""


def asking(model: str = "sim/normal") -> dict[str, Any]:
    return {"modelId": model, "messages": [{"role": "user", "content": [{"text": PROMPT}]}]}


def ahead_of(texts: list[str]) -> list[int]:
    """The acknowledgements for a message of one text, which begins with `messageStart`."""
    return answers_to([True, *(bool(text.strip()) for text in texts), *CLOSING])


def read(sim: Simulator, way: str, arrived: Any, events: list[tenuto.Event]) -> Assembled:
    """Read a stream to its end; `arrived` is called for each event."""
    given, told = given_to_a_client(sim.root_url, 0), Assembled()
    policy = tenuto.Policy(**QUICK)
    if way == "sync":
        client = tenuto.wrap(boto3.client("bedrock-runtime", **given), policy=policy,
                             on_event=events.append)  # fmt: skip
        for event in client.converse_stream(**asking())["stream"]:
            told.add(event)
            arrived()
        client.close()
        return told

    async def run() -> None:
        async with async_client(given) as bare:
            client = tenuto.wrap(bare, policy=policy, on_event=events.append)
            async for event in (await client.converse_stream(**asking()))["stream"]:
                told.add(event)
                arrived()

    asyncio.run(run())
    return told


@pytest.mark.behaviour("S4", "P8")
def test_every_text_event_arrives_before_the_next_one_is_sent(way):
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=24) as sim:
        whole = sim.answer(PROMPT)
        pacer = Pacer(sim, ahead_of(pieces(whole, 24)))
        said = read(sim, way, pacer.arrived, []).done()
        assert said.text == whole
        assert not sim.stalled
        assert len(sim.requests) == 1


@pytest.mark.behaviour("S2", "S4", "C16")
def test_a_continuation_flows_after_a_bounded_wait_at_its_seam(way):
    size = 8
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=size) as sim:
        whole = sim.answer(PROMPT)
        said = whole[: int(len(whole) * 0.45) // size * size]
        sim.script([Step(keep=0.45, finish="length"), Step()])
        answers = ahead_of(pieces(said, size)) + [1] * len(pieces(whole, size))
        pacer = Pacer(sim, answers)

        def ahead_at_the_seam() -> None:
            while len(sim.requests) < 2:
                time.sleep(0.002)
            for _ in range(1 + SEAM_CHARS // size):
                sim.acknowledge()

        helper = threading.Thread(target=ahead_at_the_seam)
        helper.start()
        told = read(sim, way, pacer.arrived, [])
        helper.join()
        assert told.done().text == whole
        assert not sim.stalled
        assert len(told.told) > len(pieces(whole, size)) - SEAM_CHARS // size, "event by event"


def is_quiet(sim: Simulator) -> bool:
    deadline = time.monotonic() + 3
    while sim.open_streams and time.monotonic() < deadline:
        time.sleep(0.002)
    return sim.open_streams == 0


def was_cancelled_once(events: list[tenuto.Event], *, continuing: bool) -> None:
    names = [event.name for event in events]
    assert names.count("cancelled") == names.count("turn_ended") == 1
    assert names.count("continuation_attempt") == continuing
    assert names.count("continuation_terminated") == continuing


PLAN = {
    False: [Step(event_chars=64)],
    True: [Step(keep=0.3, finish="length"), Step(event_chars=64)],
}


@pytest.mark.behaviour("C23", "P6")
@pytest.mark.parametrize("continuing", [False, True], ids=["first_attempt", "continuation"])
@pytest.mark.parametrize("leave", ["close", "drop"])
def test_leaving_a_stream_stops_the_provider(leave, continuing):
    with Simulator(delay_s=0.01) as sim:
        sim.script(PLAN[continuing])
        events: list[tenuto.Event] = []
        bare = boto3.client("bedrock-runtime", **given_to_a_client(sim.root_url, 0))
        client = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK), on_event=events.append)
        stream = client.converse_stream(**asking("sim"))["stream"]
        reading = iter(stream)
        while len(sim.requests) < 1 + continuing or not sim.open_streams:
            next(reading)
        next(reading)
        if leave == "close":
            stream.close()
        else:
            del stream, reading
            gc.collect()
        assert is_quiet(sim)
        assert sim.disconnects == 1
        was_cancelled_once(events, continuing=continuing)
        client.close()


@pytest.mark.behaviour("C23", "P6")
@pytest.mark.parametrize("continuing", [False, True], ids=["first_attempt", "continuation"])
@pytest.mark.parametrize("leave", ["close", "cancel"])
def test_leaving_an_async_stream_stops_the_provider(leave, continuing):
    events: list[tenuto.Event] = []

    async def run(sim: Simulator) -> None:
        given = given_to_a_client(sim.root_url, 0)
        async with async_client(given) as bare:
            client = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK), on_event=events.append)
            stream = (await client.converse_stream(**asking("sim")))["stream"]
            inside = asyncio.Event()

            async def read_on() -> None:
                async for _ in stream:
                    if len(sim.requests) == 1 + continuing and sim.open_streams:
                        inside.set()
                        if leave == "close":
                            stream.close()
                            return

            task = asyncio.create_task(read_on())
            await inside.wait()
            if leave == "cancel":
                task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert await asyncio.to_thread(is_quiet, sim)

    with Simulator(delay_s=0.01) as sim:
        sim.script(PLAN[continuing])
        asyncio.run(asyncio.wait_for(run(sim), 10))
        assert sim.disconnects == 1
        was_cancelled_once(events, continuing=continuing)
