"""Whoever leaves before the end stops the provider at once, is told of once, and hangs nowhere."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import anyio
import openai
import pytest
from support.asking.wrapping import QUICK

import tenuto
from tenuto_sim import Simulator, Step

SIZE = 64
AHEAD = 3
"""Events of a continuation that may be waiting at its seam, the one with the role among them."""


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(lockstep=True, lockstep_timeout_s=10) as running:
        yield running


class Leaving:
    """A wrapped client, and what its turns told."""

    def __init__(self, sim: Simulator, kind: Any, **settings: Any) -> None:
        self.sim = sim
        self.events: list[tenuto.Event] = []
        self.client = tenuto.wrap(
            kind(base_url=sim.base_url, api_key="key", max_retries=0),
            policy=tenuto.Policy(**(QUICK | settings)),
            on_event=self.events.append,
        )

    def asking(self, **more: Any) -> dict[str, Any]:
        return {"model": "sim", "messages": [{"role": "user", "content": "Tell me."}], **more}

    def names(self) -> list[str]:
        return [event.name for event in self.events]

    def was_cancelled_once(self, *, continuing: bool) -> None:
        names = self.names()
        assert names.count("cancelled") == 1
        assert names.count("turn_ended") == 1
        ending = next(e.data for e in self.events if e.name == "turn_ended")
        assert ending["reason"] == "cancelled"
        assert names.count("continuation_attempt") == continuing
        ends = [e.data["reason"] for e in self.events if e.name == "continuation_terminated"]
        assert ends == ["cancelled"] * continuing


def prepare(sim: Simulator, *, continuing: bool) -> int:
    """Set the scene; returns how many events arrive before the part of the turn that is left."""
    sim.forget()
    whole = sim.answer("Tell me.")
    if not continuing:
        sim.script([Step(event_chars=SIZE)])
        return 0
    keep = int(len(whole) * 0.3) // 4 * 4
    sim.script([Step(keep=0.3, finish="length", event_chars=SIZE), Step(event_chars=SIZE)])
    return 1 + -(-keep // SIZE)


def go_on(sim: Simulator, arrived: int, before: int, requests: int) -> None:
    """Acknowledge an arrival, and at the end of the first attempt what must be held."""
    sim.acknowledge()
    if arrived == before:
        sim.acknowledge()  # the terminator, behind the stop
        deadline = time.monotonic() + 5
        while len(sim.requests) < requests + 2 and time.monotonic() < deadline:
            time.sleep(0.001)


def is_quiet(sim: Simulator) -> bool:
    deadline = time.monotonic() + 3
    while sim.open_streams and time.monotonic() < deadline:
        time.sleep(0.002)
    return sim.open_streams == 0


def close(stream: Any) -> None:
    stream.close()


def drop(stream: Any) -> None:
    """Nothing: the generator is abandoned."""


def leave_the_block(stream: Any) -> None:
    with contextlib.suppress(LookupError), stream:
        raise LookupError


@pytest.mark.behaviour("C23", "P6")
@pytest.mark.parametrize("continuing", [False, True], ids=["first_attempt", "continuation"])
@pytest.mark.parametrize("leave", [close, drop, leave_the_block])
def test_leaving_a_stream_after_any_event_stops_the_provider(sim, leave, continuing):
    asker = Leaving(sim, openai.OpenAI)
    for place in range(int(continuing), 5):
        before = prepare(sim, continuing=continuing)
        requests, disconnects = len(sim.requests), sim.disconnects
        asker.events.clear()
        stream = asker.client.chat.completions.create(**asker.asking(stream=True))
        helper = _Helper(sim, before, requests) if continuing else None
        arrived = 0
        while arrived < before + place:
            next(stream)
            arrived += 1
            if helper is not None and arrived == before:
                helper.start()
            elif arrived < before + place:
                sim.acknowledge()
        leave(stream)
        del stream
        gc.collect()
        assert is_quiet(sim)
        assert sim.disconnects == disconnects + 1
        asker.was_cancelled_once(continuing=continuing)
        if helper is not None:
            helper.join()
        assert not sim.stalled
    asker.client.close()


class _Helper(threading.Thread):
    """Lets the end of the first attempt go, and of the continuation what waits at its seam, while
    the reader is blocked."""

    def __init__(self, sim: Simulator, before: int, requests: int) -> None:
        super().__init__()
        self._sim, self._before, self._requests = sim, before, requests

    def run(self) -> None:
        go_on(self._sim, self._before, self._before, self._requests)
        for _ in range(AHEAD):
            self._sim.acknowledge()


async def read_on(stream: Any, sim: Simulator, arrivals: int, before: int, requests: int) -> None:
    """Read so many events, then one more, for which nothing was acknowledged: it never comes."""
    for number in range(1, arrivals + 1):
        await anext(stream)
        if before and number == before:
            _Helper(sim, before, requests).start()
        elif number < arrivals:
            sim.acknowledge()


async def close_async(stream: Any) -> None:
    await stream.close()


async def drop_async(stream: Any) -> None:
    """Nothing: the generator is abandoned."""


async def cancel_the_task(stream: Any) -> None:
    task = asyncio.ensure_future(forever(stream))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def let_a_timeout_pass(stream: Any) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await forever(stream)


async def let_a_cancel_scope_end(stream: Any) -> None:
    with anyio.move_on_after(0.01) as scope:
        await forever(stream)
    assert scope.cancelled_caught


async def leave_the_block_async(stream: Any) -> None:
    with contextlib.suppress(LookupError):
        async with stream:
            raise LookupError


async def forever(stream: Any) -> None:
    while True:
        await anext(stream)


@pytest.mark.behaviour("C23", "P6")
@pytest.mark.parametrize("continuing", [False, True], ids=["first_attempt", "continuation"])
@pytest.mark.parametrize(
    "leave",
    [
        close_async,
        drop_async,
        cancel_the_task,
        let_a_timeout_pass,
        let_a_cancel_scope_end,
        leave_the_block_async,
    ],
)
async def test_leaving_an_async_stream_after_any_event_stops_the_provider(sim, leave, continuing):
    asker = Leaving(sim, openai.AsyncOpenAI)
    for place in range(int(continuing), 5):
        before = prepare(sim, continuing=continuing)
        requests, disconnects = len(sim.requests), sim.disconnects
        asker.events.clear()
        stream: Any = await asker.client.chat.completions.create(**asker.asking(stream=True))
        await read_on(stream, sim, before + place, before, requests)
        await leave(stream)
        del stream
        for _ in range(20):
            gc.collect()
            await asyncio.sleep(0.002)
            if not sim.open_streams and "turn_ended" in asker.names():
                break
        assert is_quiet(sim)
        assert sim.disconnects == disconnects + 1
        asker.was_cancelled_once(continuing=continuing)
        assert not sim.stalled
    await asker.client.close()


@pytest.mark.behaviour("C23")
async def test_closing_from_another_task_ends_the_stream_that_is_waited_for(sim):
    asker = Leaving(sim, openai.AsyncOpenAI)
    prepare(sim, continuing=False)
    stream: Any = await asker.client.chat.completions.create(**asker.asking(stream=True))
    await anext(stream)
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0.02)
    await stream.response.aclose()
    with pytest.raises(openai.APIConnectionError):
        await asyncio.wait_for(waiting, 2)
    assert is_quiet(sim)
    asker.was_cancelled_once(continuing=False)
    await asker.client.close()


@pytest.mark.behaviour("C23")
def test_closing_from_another_thread_during_a_wait_ends_the_stream_at_once():
    with Simulator() as sim:
        asker = Leaving(sim, openai.OpenAI, backoff_s=20.0, backoff_max_s=20.0)
        given = asker.asking(stream=True) | {"model": "sim/drop_mid_text"}
        stream: Any = asker.client.chat.completions.create(**given)
        timer = threading.Timer(0.3, stream.response.close)
        timer.start()
        began = time.monotonic()
        read = []
        with pytest.raises(openai.APIConnectionError):
            read.extend(stream)
        assert len(read) > 1
        assert time.monotonic() - began < 5
        timer.join()
        asker.was_cancelled_once(continuing=True)
        asker.client.close()


@contextlib.contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Ctrl-C in a while: the only way to cancel a thread that waits."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    main = threading.main_thread().ident
    assert main is not None
    old = signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(seconds, signal.pthread_kill, (main, signal.SIGUSR1))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, old)


SLOW_S = 3.0


@pytest.fixture
def slow_sim() -> Iterator[Simulator]:
    """Answers after SLOW_S; nothing of these tests waits for that."""
    with Simulator(delay_s=SLOW_S) as running:
        yield running


@pytest.mark.behaviour("C23")
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
async def test_cancelling_while_an_answer_is_awaited_stops_the_provider(slow_sim, stream):
    asker = Leaving(slow_sim, openai.AsyncOpenAI)

    async def run() -> None:
        made: Any = await asker.client.chat.completions.create(**asker.asking(stream=stream))
        async for _ in made:
            pass

    running = asyncio.create_task(run())
    for _ in range(1_000):
        await asyncio.sleep(0.01)
        if slow_sim.requests:
            break
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    gc.collect()
    await asyncio.sleep(0.01)
    assert is_quiet(slow_sim)
    assert slow_sim.disconnects == 1
    asker.was_cancelled_once(continuing=False)
    await asker.client.close()


@pytest.mark.behaviour("C23")
def test_an_interrupt_while_a_body_is_awaited_stops_the_provider(slow_sim):
    asker = Leaving(slow_sim, openai.OpenAI)
    with pytest.raises(KeyboardInterrupt), interrupted_after(1.0):
        asker.client.chat.completions.create(**asker.asking())
    assert is_quiet(slow_sim)
    assert slow_sim.disconnects == 1
    asker.was_cancelled_once(continuing=False)
    asker.client.close()


@pytest.mark.behaviour("C23", "E5")
@pytest.mark.parametrize("name", ["body_cut", "drop_before_text", "drop_mid_text"])
async def test_cancelling_during_a_wait_ends_the_turn_at_once(name):
    with Simulator() as sim:
        asker = Leaving(sim, openai.AsyncOpenAI, backoff_s=20.0, backoff_max_s=20.0)
        streaming = name != "body_cut"
        began = time.monotonic()
        given = asker.asking(stream=streaming) | {"model": f"sim/{name}"}

        async def read_all() -> None:
            made: Any = await asker.client.chat.completions.create(**given)
            async for _ in made:
                pass

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(read_all(), 1.0)
        gc.collect()
        await asyncio.sleep(0.01)
        assert time.monotonic() - began < 5
        assert is_quiet(sim)
        asker.was_cancelled_once(continuing=name == "drop_mid_text")
        assert len(sim.requests) == 1
        await asker.client.close()


@pytest.mark.behaviour("C23", "E5")
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
def test_an_interrupt_during_a_wait_ends_the_turn_at_once(stream):
    with Simulator() as sim:
        asker = Leaving(sim, openai.OpenAI, backoff_s=20.0, backoff_max_s=20.0)
        given = asker.asking(stream=stream)
        given["model"] = "sim/drop_before_text" if stream else "sim/body_cut"
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
            list(asker.client.chat.completions.create(**given))
        gc.collect()
        assert time.monotonic() - began < 2
        asker.was_cancelled_once(continuing=False)
        assert len(sim.requests) == 1
        asker.client.close()
