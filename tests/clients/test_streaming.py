"""Streams flow: what need not be held arrives at once, whatever door of the SDK it comes through.

The simulator sends an event when the one before it was acknowledged; see `pacing` for how events
that must be held are acknowledged ahead.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import Any

import openai
import pytest
from openai.lib._parsing import type_to_response_format_param  # what the SDK sends
from support.asking.openai_chat import TOOLS
from support.asking.wrapping import QUICK
from support.pacing.openai_chat import DOORS, Document, Pacer, ahead_of, pieces

import tenuto
from tenuto_sim import Simulator, Step

STOP_AND_DONE = 2
STOP_USAGE_AND_DONE = 3


def ask(prompt: str, model: str = "sim/normal", **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": prompt}], **more}


def wrap(sim: Simulator, kind: Any, **settings: Any) -> tuple[Any, list[tenuto.Event]]:
    events: list[tenuto.Event] = []
    client = kind(base_url=sim.base_url, api_key="key", max_retries=0)
    policy = tenuto.Policy(**(QUICK | settings))
    return tenuto.wrap(client, policy=policy, on_event=events.append), events


def read(sim: Simulator, door: Any, answers: list[int], way: str, **given: Any) -> list[str]:
    """Read a stream to its end, each event acknowledged as it arrives."""
    pacer = Pacer(sim, answers)
    texts: list[str] = []
    if way == "sync":
        client, _ = wrap(sim, openai.OpenAI)
        with client:
            for text in door[0](client, **given):
                texts.append(text)
                pacer.arrived()
        return texts

    async def run() -> None:
        client, _ = wrap(sim, openai.AsyncOpenAI)
        async with client:
            async for text in door[1](client, **given):
                texts.append(text)
                pacer.arrived()

    asyncio.run(run())
    return texts


@pytest.mark.behaviour("S4", "S8a")
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("door", DOORS, ids=[door[0].__name__ for door in DOORS])
def test_every_text_event_arrives_before_the_next_one_is_sent(door, way, gzip):
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=16, gzip=gzip) as sim:
        given = ask("Tell me.")
        form: Any = None
        if door[0].__name__ == "by_parsing_helper":
            form = type_to_response_format_param(Document)
        whole = sim.answer("Tell me.", response_format=form)
        answers = ahead_of(pieces(whole, 16), STOP_AND_DONE)
        texts = read(sim, door, answers, way, **given)
        assert "".join(texts) == whole
        assert not sim.stalled
        assert len(sim.requests) == 1


@pytest.mark.behaviour("S4", "C7")
def test_white_space_alone_waits_for_the_text_behind_it_and_nothing_else_waits(way):
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=2) as sim:
        cut = pieces(sim.answer("Tell me."), 2)
        assert sum(not text.strip() for text in cut) == 3, "the text must have such events"
        usage = {"include_usage": True}
        given = ask("Tell me.", stream_options=usage)
        texts = read(sim, DOORS[0], ahead_of(cut, STOP_USAGE_AND_DONE), way, **given)
        assert texts == ["", *cut, "", ""], "as they came, one by one"
        assert not sim.stalled


@pytest.mark.behaviour("S4")
@pytest.mark.parametrize("held", ["text_then_stop", "whole_call"])
async def test_calls_and_closing_events_wait_until_the_outcome_is_known(held):
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=16) as sim:
        client, _ = wrap(sim, openai.AsyncOpenAI)
        calling = held == "whole_call"
        case = "tool_with_text" if calling else "normal"
        more: dict[str, Any] = {"tools": TOOLS} if calling else {}
        prompt = "Tell me."
        wanted = sim.expected(prompt, case)
        texts = pieces(wanted.text, 16)
        arguments = pieces(str(wanted.calls[0].arguments), 16) if calling else []
        stream = await client.chat.completions.create(
            stream=True, **ask(prompt, f"sim/{case}", **more)
        )
        for _ in range(1 + len(texts)):
            chunk = await anext(stream)
            assert not chunk.choices[0].delta.tool_calls
            sim.acknowledge()
        # The last text was answered with the event behind it, the stop or the call's head. All
        # the others but the terminator are let go ahead, and nothing of it may arrive.
        for _ in range(len(arguments) + 1 if calling else 0):
            sim.acknowledge()
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.wait({waiting}, timeout=0.15)
        assert not waiting.done()
        sim.acknowledge()
        rest = [await waiting] + [chunk async for chunk in stream]
        calls = [c for chunk in rest for c in chunk.choices[0].delta.tool_calls or ()]
        assert "".join(c.function.arguments for c in calls) == "".join(arguments)
        assert rest[-1].choices[0].finish_reason == ("tool_calls" if calling else "stop")
        assert not sim.stalled
        await client.close()


SEAM_CHARS = 120
"""More than a continuation that goes on exactly may keep waiting at its seam."""


@pytest.mark.behaviour("S2", "S4", "C16")
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])
def test_a_continuation_flows_after_a_bounded_wait_at_its_seam(way, gzip):
    size = 8
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=size, gzip=gzip) as sim:
        prompt = "Tell me."
        whole = sim.answer(prompt)
        said = whole[: int(len(whole) * 0.45) // size * size]
        sim.script([Step(keep=0.45, finish="length"), Step()])
        answers = ahead_of(pieces(said, size), STOP_AND_DONE)
        # Of the continuation: the role and the text at the seam ahead, then one for each arrival.
        answers += [1] * len(pieces(whole, size))

        def ahead_at_the_seam() -> None:
            while len(sim.requests) < 2:
                time.sleep(0.002)
            for _ in range(1 + SEAM_CHARS // size):
                sim.acknowledge()

        helper = threading.Thread(target=ahead_at_the_seam)
        helper.start()
        texts = read(sim, DOORS[0], answers, way, **ask(prompt))
        helper.join()
        assert "".join(texts) == whole
        assert not sim.stalled
        assert len(texts) > len(pieces(whole, size)) - SEAM_CHARS // size, "event by event"


@pytest.mark.behaviour("C27")
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])
async def test_parse_reads_a_body_that_was_cut_and_continued(gzip):
    with Simulator(gzip=gzip) as sim:
        prompt = "Tell me."
        for kind in (openai.OpenAI, openai.AsyncOpenAI):
            sim.forget()
            client, events = wrap(sim, kind)
            made: Any = client.chat.completions.parse(
                response_format=Document, **ask(prompt, "sim/length_json")
            )
            completion = await made if asyncio.iscoroutine(made) else made
            assert isinstance(completion.choices[0].message.parsed, Document)
            assert completion.choices[0].finish_reason == "stop"
            assert [e.data["status"] for e in events if e.name == "turn_ended"] == ["complete"]
            with contextlib.suppress(TypeError):
                await client.close()
