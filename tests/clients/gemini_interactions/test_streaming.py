"""Streams flow, whatever they took, and who leaves one stops the provider.

The simulator sends an event when the one before it was acknowledged; see `pacing`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from google import genai
from support.asking.gemini_interactions import TOOLS
from support.asking.wrapping import QUICK
from support.pacing.openai_chat import Pacer, answers_to, pieces

import tenuto
from tenuto_sim import Simulator, Step

SIZE = 24
BEFORE_TEXT = ("created", "status", "step")
BEHIND_TEXT = ("step", "completed", "done")
PROMPT = "Tell me."


def ask(model: str = "sim/normal", **more: Any) -> dict[str, Any]:
    return {"model": model, "input": PROMPT, "stream": True, "store": False, **more}


def wrap(sim: Simulator) -> tuple[Any, list[tenuto.Event]]:
    events: list[tenuto.Event] = []
    client = genai.Client(api_key="key", http_options={"base_url": sim.root_url})
    return tenuto.wrap(client, policy=tenuto.Policy(**QUICK), on_event=events.append), events


def told(client: Any, **given: Any) -> Iterator[Any]:
    yield from client.interactions.create(**given)


async def told_async(client: Any, **given: Any) -> AsyncIterator[Any]:
    async for event in await client.aio.interactions.create(**given):
        yield event


async def closed(client: Any) -> None:
    await client.aio.aclose()
    client.close()


def read(sim: Simulator, answers: list[int], way: str, **given: Any) -> list[Any]:
    """Read a stream to its end, each event acknowledged as it arrives."""
    pacer, seen = Pacer(sim, answers), []

    async def run() -> None:
        client, _ = wrap(sim)
        if way == "sync":
            for event in told(client, **given):
                seen.append(event)
                pacer.arrived()
        else:
            async for event in told_async(client, **given):
                seen.append(event)
                pacer.arrived()
        await closed(client)

    asyncio.run(run())
    return seen


def text_of(event: Any) -> str:
    return str(getattr(getattr(event, "delta", None), "text", None) or "")


def answers_for(texts: list[str]) -> list[int]:
    """What is held is acknowledged ahead: white space, and whatever closes something."""
    shown = [bool(text.strip()) for text in texts]
    return answers_to([*(True for _ in BEFORE_TEXT), *shown, *(False for _ in BEHIND_TEXT)])


gzips = pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])


@pytest.mark.behaviour("S4", "S8a")
@gzips
def test_every_text_event_arrives_before_the_next_one_is_sent(way, gzip):
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=SIZE, gzip=gzip) as sim:
        whole = sim.answer(PROMPT)
        seen = read(sim, answers_for(pieces(whole, SIZE)), way, **ask())
        assert "".join(map(text_of, seen)) == whole
        assert not sim.stalled
        assert len(sim.requests) == 1


SEAM_CHARS = 120
"""More than a continuation that goes on exactly may keep waiting at its seam."""


@pytest.mark.behaviour("S2", "S4", "C16")
@gzips
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
        texts = [text for event in read(sim, answers, way, **ask()) if (text := text_of(event))]
        helper.join()
        assert "".join(texts) == whole
        assert not sim.stalled
        assert len(texts) > len(pieces(whole, size)) - SEAM_CHARS // size, "event by event"


@pytest.mark.behaviour("S4", "T16")
async def test_calls_wait_until_the_outcome_is_known():
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=SIZE) as sim:
        client, _ = wrap(sim)
        arguments = pieces(str(sim.expected(PROMPT, "tool").calls[0].arguments), SIZE)
        stream = told_async(client, **ask("sim/tool", tools=TOOLS))
        for kind in ("interaction.created", "interaction.status_update"):
            assert (await anext(stream)).event_type == kind
            sim.acknowledge()
        # The step, its pieces, and what closes it: all of it may be sent, and nothing arrives.
        for _ in range(len(arguments) + 1):
            sim.acknowledge()
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.wait({waiting}, timeout=0.15)
        assert not waiting.done()
        sim.acknowledge()
        sim.acknowledge()
        rest = [await waiting] + [event async for event in stream]
        assert (rest[0].event_type, rest[-1].event_type) == ("step.start", "interaction.completed")
        assert not sim.stalled
        await closed(client)


@pytest.mark.behaviour("C27")
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
@gzips
def test_a_structured_answer_that_was_cut_parses(gzip, stream):
    with Simulator(gzip=gzip) as sim:
        client, events = wrap(sim)
        form = {"type": "text", "mime_type": "application/json"}
        given = ask("sim/length_json", response_format=form) | {"stream": stream}
        made = client.interactions.create(**given)
        assert json.loads("".join(map(text_of, made)) if stream else made.output_text)
        assert [e.data["status"] for e in events if e.name == "turn_ended"] == ["complete"]
        assert len(sim.requests) == 2
        client.close()


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
async def test_leaving_after_any_event_stops_the_provider(way, continuing):
    with Simulator(delay_s=0.004) as sim:
        client, events = wrap(sim)
        before, most = prepare(sim, continuing=continuing)
        for place in range(1, most):
            prepare(sim, continuing=continuing)
            events.clear()
            await (leave if way == "sync" else leave_async)(client, before + place)
            gc.collect()
            assert is_quiet(sim)
            was_cancelled_once(events, continuing=continuing)
        await closed(client)


async def leave(client: Any, arrivals: int) -> None:
    with client.interactions.create(**ask()) as stream:
        for _, event in zip(range(arrivals), stream, strict=False):
            assert event


async def leave_async(client: Any, arrivals: int) -> None:
    async with await client.aio.interactions.create(**ask()) as stream:
        for _ in range(arrivals):
            await anext(stream)
