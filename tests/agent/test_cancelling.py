"""A turn that its user, its program or its event loop breaks off: upstream ends, what came is kept, and
the conversation goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest
from support.agent_turns import Asker, simulator

from tenuto.core import hints
from tenuto_agent import Agent
from tenuto_agent.conversation import Conversation
from tenuto_agent.events import AgentEvent, Called, Recovered, Returned, Said, StepEnded
from tenuto_agent.transcript import Assistant
from tenuto_sim import Step, saying
from tenuto_sim.case import Ending

pytestmark = pytest.mark.behaviour("C23", "T8")

FIVE = (
    "openai-chat",
    "anthropic-messages",
    "gemini-generate",
    "openai-responses",
    "bedrock-converse",
)
CALL = saying("I write. " * 100, ("write_file", {"path": "a.txt", "content": "Some words."}))
DONE = saying("All is written. " * 20)
FAULTS = (Step(keep=0.5, ending=Ending.DROP), Step())
"""The first answer breaks off, so that a turn is broken off in the middle of its recovery as well."""

AT: dict[str, Callable[[AgentEvent], bool]] = {
    "the first words": lambda event: isinstance(event, Said),
    "a retry": lambda event: isinstance(event, Recovered),
    "a call": lambda event: isinstance(event, Called),
    "a result": lambda event: isinstance(event, Returned),
    "the end of a step": lambda event: isinstance(event, StepEnded),
    "the last words": lambda event: isinstance(event, Said) and event.step == 2,
}

every_wire = pytest.mark.parametrize("wire", FIVE)
every_moment = pytest.mark.parametrize("moment", AT)


@contextmanager
def asking(wire: str, *, delay_s: float = 0.0) -> Iterator[Asker]:
    with simulator(wire, delay_s=delay_s) as sim:
        sim.plan([CALL, DONE], lambda n, _: FAULTS[n] if n < len(FAULTS) else Step())
        with closing(Asker(sim, wire, stream=True)) as asker:
            yield asker


def assert_over(asker: Asker, chat: Conversation, moment: str, way: str) -> None:
    """The turn says what became of it, nobody reads upstream any more, and the next turn is whole."""
    result = chat.result
    assert result is not None
    assert result.reason == "cancelled"
    assert result.status == ("partial" if result.text else "failed")
    if "words" in moment:
        assert (CALL.text + DONE.text).find(result.text[:8]) >= 0
        assert result.text
    assert result.text in ["", *texts_of(chat)], "what was seen stands in the conversation"
    if "words" in moment:
        assert hints.EMPTY_WITH_TOOLS_NOTE not in texts_of(chat)
    ran = len(asker.ran)
    assert ran == (moment in ("a result", "the last words"))
    until_s = time.monotonic() + 5
    while asker.sim.open_streams:
        assert time.monotonic() < until_s, "upstream goes on"
        time.sleep(0.005)
    asker.sim.forget()
    asker.sim.plan([DONE])
    before = len(asker.sim.requests)
    after = asker.said(chat, "Go on.", way)
    assert after.ok, (after, asker.sim.requests[-1])
    assert json.dumps(result.text)[1:-1].encode() in asker.sim.requests[before].body, "it is sent"
    assert len(asker.ran) == ran, "nothing runs twice"
    assert {request.status for request in asker.sim.requests} == {200}


def texts_of(chat: Conversation) -> list[str]:
    return [row.text for row in chat.rows if isinstance(row, Assistant)]


@every_wire
@every_moment
def test_a_turn_is_cancelled_from_within_the_loop_over_its_events(
    wire: str, moment: str, way: str
) -> None:
    async def follow(chat: Conversation) -> None:
        async for event in chat.astream("Write a file."):
            if AT[moment](event):
                chat.cancel()

    with asking(wire) as asker:
        chat = asker.agent("write_file").conversation()
        if way == "async":
            asyncio.run(follow(chat))
        else:
            for event in chat.stream("Write a file."):
                if AT[moment](event):
                    chat.cancel()
        assert_over(asker, chat, moment, way)


@every_wire
@every_moment
def test_a_turn_ends_with_its_iterator(wire: str, moment: str, way: str) -> None:
    async def leave(chat: Conversation) -> None:
        async with contextlib.aclosing(chat.astream("Write a file.")) as events:
            async for event in events:
                if AT[moment](event):
                    break

    with asking(wire) as asker:
        chat = asker.agent("write_file").conversation()
        if way == "async":
            asyncio.run(leave(chat))
        else:
            with closing(chat.stream("Write a file.")) as events:
                next(event for event in events if AT[moment](event))
        assert_over(asker, chat, moment, way)


@every_wire
def test_a_turn_is_cancelled_from_another_thread(wire: str) -> None:
    with asking(wire, delay_s=0.02) as asker:
        chat = asker.agent("write_file").conversation()
        begun = threading.Event()

        def stop() -> None:
            begun.wait(5)
            chat.cancel()

        stopper = threading.Thread(target=stop)
        stopper.start()
        for event in chat.stream("Write a file."):
            if isinstance(event, Said):
                begun.set()
        stopper.join()
        assert_over(asker, chat, "", "sync")
        assert asker.sim.disconnects


@every_wire
@every_moment
def test_a_task_that_is_cancelled_ends_its_turn(wire: str, moment: str) -> None:
    async def main(chat: Conversation) -> None:
        async def follow() -> None:
            async for event in chat.astream("Write a file."):
                if AT[moment](event):
                    task.cancel()

        task = asyncio.ensure_future(follow())
        with pytest.raises(asyncio.CancelledError):
            await task

    with asking(wire, delay_s=0.004) as asker:
        chat = asker.agent("write_file").conversation()
        asyncio.run(main(chat))
        assert_over(asker, chat, moment, "async")
        assert asker.sim.disconnects or "words" not in moment


def test_a_tool_that_runs_is_the_last_thing_that_is_done(way: str) -> None:
    """What it came to is kept: it ran."""
    with asking("openai-chat") as asker:
        chats: list[Conversation] = []

        def write_file(path: str, content: str) -> str:
            """Write a text file."""
            asker.ran.append(("write_file", {}))
            chats[0].cancel()
            return "Written."

        with Agent(asker.model(), tools=[write_file]) as agent:
            chats.append(agent.conversation())
            asker.said(chats[0], "Write a file.", way)
            assert_over(asker, chats[0], "a result", way)
        assert b"Written." in asker.sim.requests[-1].body
