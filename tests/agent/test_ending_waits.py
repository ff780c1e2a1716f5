"""A turn that is ended from elsewhere while it waits, or by its time: for a model that says nothing,
for the next attempt, or for a tool. It is over at once, and the provider is told."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from support.far_sides import FarSide
from support.pairing import WAYS, every_pair

from tenuto.core.settings.policy import Policy
from tenuto.turn.record.turn_log import TurnLog
from tenuto_agent import Agent, Conversation, Limits, Model, RunResult, loop_hints
from tenuto_agent.cancellation import Cancellation
from tenuto_agent.events import AgentEvent, Said
from tenuto_agent.function_tool import Tool, tool
from tenuto_agent.transcript import Results

AT_ONCE_S = 1.5
"""A loaded machine included; what is waited for lasts longer by far."""
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
BUSY = b"HTTP/1.1 503 Busy\r\nretry-after: 30\r\ncontent-length: 2\r\n\r\n{}"

libraries = pytest.mark.parametrize("library", ["httpx2", "httpx"])


def said(
    text: str, finish: str | None = None, calls: list[dict[str, object]] | None = None
) -> bytes:
    """An event of Chat Completions, as a chunk."""
    delta: dict[str, object] = {"content": text} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    event = b"data: %b\n\n" % json.dumps({"id": "1", "choices": [choice]}).encode()
    return b"%x\r\n%b\r\n" % (len(event), event)


END = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
DONE = EVENTS + said("All is well.", "stop") + END
TEXT = EVENTS + said("The first words. ")


def calling(*names: str) -> bytes:
    """An answer that calls tools without arguments."""
    calls: list[dict[str, object]] = [
        {
            "index": n,
            "id": f"c{n}",
            "type": "function",
            "function": {"name": name, "arguments": "{}"},
        }
        for n, name in enumerate(names)
    ]
    return EVENTS + said("", None, calls) + said("", "tool_calls") + END


class Stalling:
    """A provider that answers one request after another as it was told, and says nothing more until
    the client goes away.

    Attributes:
        begun: set once the last answer was given.
        heard: set once the agent has told of words.
        left: set once the client has gone after it.
        bodies: what was asked.
    """

    def __init__(self, answers: list[bytes]) -> None:
        self.answers = answers
        self.begun, self.heard, self.left = (threading.Event() for _ in range(3))
        self.bodies: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(peer,), daemon=True).start()

    def _talk(self, peer: socket.socket) -> None:
        with peer, peer.makefile("rb") as lines:
            while size := self._head(lines.readline):
                self.bodies.append(lines.read(size))
                peer.sendall(self.answers.pop(0) if self.answers else b"")
                if not self.answers:
                    self.begun.set()
            self.left.set()

    @staticmethod
    def _head(readline: Callable[[], bytes]) -> int:
        size = 0
        try:
            while (line := readline().strip().lower()) or not size:
                if line.startswith(b"content-length:"):
                    size = int(line.partition(b":")[2])
                elif not line:
                    return 0
        except OSError:
            return 0
        return size


@contextmanager
def stalling(*answers: bytes) -> Iterator[Stalling]:
    with closing(Stalling([*answers])) as provider:
        yield provider


def agent(
    provider: Stalling, *tools: Tool, library: str = "httpx2", limits: Limits | None = None
) -> Agent:
    def hear(event: AgentEvent) -> None:
        if isinstance(event, Said):
            provider.heard.set()

    model = Model("openai-chat:m", base_url=provider.url, api_key="k")
    return Agent(
        model,
        tools=tools,
        policy=Policy(retry_after_max_s=60),
        library=library,
        on_event=hear,
        limits=limits,
    )


def cancelled(chat: Conversation, way: str, wait: Callable[[], object]) -> RunResult:
    """A turn that another thread ends once `wait` is over; it must not last."""
    ended_s: list[float] = []

    def stop() -> None:
        wait()
        time.sleep(0.05)  # the turn goes into its wait
        ended_s.append(time.monotonic())
        chat.cancel()

    stopper = threading.Thread(target=stop)
    stopper.start()
    result = chat.run("Go on.") if way == "sync" else asyncio.run(chat.arun("Go on."))
    over_s = time.monotonic()
    stopper.join()
    assert over_s - ended_s[0] < AT_ONCE_S
    assert result.reason == "cancelled"
    assert result.status == ("partial" if result.text else "failed")
    return result


@pytest.mark.behaviour("C23", "T8")
@libraries
@pytest.mark.parametrize("before", [(), (DONE,)], ids=["new connection", "kept connection"])
@pytest.mark.parametrize("came", [b"", EVENTS, TEXT], ids=["nothing", "a head", "words"])
def test_a_model_that_says_nothing_is_waited_for_no_more(
    way: str, library: str, before: tuple[bytes, ...], came: bytes
) -> None:
    with stalling(*before, came) as provider, agent(provider, library=library) as asking:
        chat = asking.conversation()
        for _ in before:
            assert (chat.run("Say a word.") if way == "sync" else asyncio.run(chat.arun("A."))).ok
        provider.heard.clear()
        moment = provider.heard if came is TEXT else provider.begun
        result = cancelled(chat, way, moment.wait)
        assert result.text == ("The first words. " if came is TEXT else "")
        assert provider.left.wait(AT_ONCE_S), "the provider was not told"
        provider.answers.append(DONE)
        after = chat.run("And now?")
        assert after.ok, after
        assert len(provider.bodies) == len(before) + 2


@pytest.mark.behaviour("C23", "T8")
def test_a_task_beside_it_ends_the_wait_for_a_model() -> None:
    async def main(provider: Stalling, chat: Conversation) -> RunResult | None:
        turn = asyncio.ensure_future(chat.arun("Go on."))
        await asyncio.to_thread(provider.heard.wait)
        chat.cancel()
        chat.cancel()
        result = await turn
        assert turn.cancelling() == 0, "the task was not cancelled, the turn was"
        return result

    with stalling(TEXT) as provider, agent(provider) as asking:
        started_s = time.monotonic()
        result = asyncio.run(main(provider, asking.conversation()))
        assert time.monotonic() - started_s < AT_ONCE_S
        assert result is not None
        assert (result.status, result.reason) == ("partial", "cancelled")


@pytest.mark.behaviour("C23", "T8")
def test_the_wait_for_the_next_attempt_ends(way: str) -> None:
    with stalling(BUSY) as provider, agent(provider) as asking:
        chat = asking.conversation()
        cancelled(chat, way, provider.begun.wait)
        assert len(provider.bodies) == 1, "no further attempt"
        provider.answers.append(DONE)
        assert chat.run("And now?").ok


@pytest.mark.behaviour("C23", "T8")
def test_a_turn_that_was_ended_asks_nobody_any_more(way: str) -> None:
    with stalling(TEXT) as provider, agent(provider) as asking:
        cancelled(asking.conversation(), way, provider.begun.wait)
        time.sleep(0.2)
        assert len(provider.bodies) == 1


@pytest.mark.behaviour("C23", "T8")
@pytest.mark.parametrize("kind", ["in threads", "async"])
def test_tools_are_waited_for_no_more(way: str, kind: str) -> None:
    """What each came to by then is known: that of the one that was done is kept."""
    go_on, began = threading.Event(), threading.Event()

    def quick() -> str:
        return "It is quick."

    def slow() -> str:
        began.set()
        go_on.wait(30)
        return "It is slow."

    async def slowly() -> str:
        began.set()
        await asyncio.sleep(30)
        return "It is slow."

    beside = slow if kind == "in threads" else slowly
    tools = [tool(each, concurrent=True) for each in (quick, beside)]
    answers = calling(*(each.name for each in tools)), DONE
    with stalling(*answers) as provider, agent(provider, *tools) as asking:
        chat = asking.conversation()
        cancelled(chat, way, began.wait)
        results = next(row for row in chat.rows if isinstance(row, Results)).results
        assert [result.text for result in results] == ["It is quick.", loop_hints.CALL_UNSURE]
        go_on.set()
        assert chat.run("And now?").ok


@pytest.mark.behaviour("C29", "T8")
@pytest.mark.parametrize("came", [b"", EVENTS, TEXT], ids=["nothing", "a head", "words"])
def test_a_model_that_stalls_lasts_as_long_as_the_turn_may_and_not_as_often_as_it_is_tried(
    way: str, came: bytes
) -> None:
    limits = Limits(timeout_s=1.0)
    with stalling(came, came, came) as provider, agent(provider, limits=limits) as asking:
        chat = asking.conversation()
        started_s = time.monotonic()
        result = chat.run("Go on.") if way == "sync" else asyncio.run(chat.arun("Go on."))
        assert 0.9 < time.monotonic() - started_s < 1.9
        assert result.reason == "time_limit"
        assert result.status == ("partial" if result.text else "failed")
        assert result.text == ("The first words. " if came is TEXT else "")
        assert "timeout_s" in result.advice
        assert len(provider.bodies) == 1
        provider.answers[:] = [DONE]
        assert chat.run("And now?").ok


KEPT_ALIVE = {
    "a comment": b": alive\n\n",
    "an event": b"event: ping\ndata: {}\n\n",
    "a line": b"\n",
}


def kept_alive(before: bytes, piece: bytes, *, body: bool = False) -> Iterator[bytes]:
    """An answer that goes on for 20 s and says nothing more."""
    kind = b"application/json" if body else b"text/event-stream"
    yield b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\nconnection: close\r\n\r\n" % kind
    yield before
    for _ in range(400):
        time.sleep(0.05)
        yield piece


SAID = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"The first words."}}]}\n\n'


@pytest.mark.behaviour("C29", "T8")
@every_pair(way=WAYS, piece=KEPT_ALIVE, before=["nothing", "words"])
def test_an_answer_that_is_only_kept_alive_ends_with_the_turn_s_time(
    way: str, piece: str, before: str
) -> None:
    words = before == "words"
    with FarSide(kept_alive(SAID if words else b"", KEPT_ALIVE[piece])) as far:
        result, took_s = timed(far.base_url, way, stream=True)
    assert 0.9 < took_s < 1.9
    assert (result.reason, result.text) == ("time_limit", "The first words." if words else "")
    assert result.status == ("partial" if words else "failed")
    assert len(far.requests) == 1


@pytest.mark.behaviour("C29")
def test_a_body_that_is_only_kept_alive_ends_with_the_turn_s_time(way: str) -> None:
    with FarSide(kept_alive(b"", b" ", body=True)) as far:
        result, took_s = timed(far.base_url, way, stream=False)
    assert 0.9 < took_s < 1.9
    assert (result.status, result.reason) == ("failed", "time_limit")


@pytest.mark.behaviour("C29")
def test_an_answer_that_is_coming_is_read_to_its_end(way: str) -> None:
    def coming() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        for _ in range(16):
            event = SAID.replace(b"The first words.", b"word ") + b": alive\n\n"
            for at in range(0, len(event), 20):  # half an event is no silence
                yield event[at : at + 20]
                time.sleep(0.02)
        yield b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
        yield b"data: [DONE]\n\n"

    with FarSide(coming()) as far:
        result, took_s = timed(far.base_url, way, stream=True)
    assert (result.status, result.text) == ("complete", "word " * 16)
    assert took_s > 1.2


def timed(url: str, way: str, *, stream: bool) -> tuple[RunResult, float]:
    """A turn that may take a second, and the seconds that it took."""
    model = Model("openai-chat:m", base_url=url, api_key="k")
    with Agent(model, limits=Limits(timeout_s=1.0), stream=stream) as asking:
        started_s = time.monotonic()
        result = asking.run("Go on.") if way == "sync" else asyncio.run(asking.arun("Go on."))
        return result, time.monotonic() - started_s


@pytest.mark.behaviour("C29")
def test_a_further_attempt_has_the_time_that_is_left(way: str) -> None:
    """The first one fails at once, the second one stalls, a third one does not begin."""
    broken = EVENTS.replace(b"text/event-stream", b"x/y") + b"0\r\n\r\n"
    limits = Limits(timeout_s=1.0)
    with stalling(broken, b"", DONE) as provider, agent(provider, limits=limits) as asking:
        started_s = time.monotonic()
        result = asking.run("Go on.") if way == "sync" else asyncio.run(asking.arun("Go on."))
        assert 0.9 < time.monotonic() - started_s < 1.9
        assert (result.status, result.reason) == ("failed", "time_limit")
        assert len(provider.bodies) == 2


@pytest.mark.behaviour("C29", "P4")
def test_no_other_model_is_asked_once_the_time_is_over() -> None:
    with stalling(b"") as stuck, stalling(DONE) as other:
        models = [Model("openai-chat:m", base_url=each.url, api_key="k") for each in (stuck, other)]
        with Agent(models, limits=Limits(timeout_s=0.5)) as asking:
            result = asking.run("Go on.")
        assert (result.reason, other.bodies) == ("time_limit", [])


@pytest.mark.behaviour("C23")
def test_a_signal_may_end_a_turn_whatever_its_thread_is_at():
    cancellation = Cancellation()

    class Interrupted(list[Callable[[], object]]):
        """Stands where a wait is noted; the signal comes just then, in the thread that notes it."""

        def append(self, tell: Callable[[], object]) -> None:
            super().append(tell)
            cancellation.set()

    def waits() -> None:
        cancellation._waiting = Interrupted()
        with cancellation.telling(lambda: None):
            pass

    thread = threading.Thread(target=waits, daemon=True)
    thread.start()
    thread.join(AT_ONCE_S)
    assert not thread.is_alive()


@pytest.mark.behaviour("C23")
def test_what_was_said_is_not_lost_however_the_threads_meet(monkeypatch) -> None:
    told = TurnLog.cancelled

    def slowly(watch: TurnLog, *given: Any) -> None:
        time.sleep(0.05)
        told(watch, *given)

    monkeypatch.setattr(TurnLog, "cancelled", slowly)
    with stalling(TEXT) as provider, agent(provider) as asking:
        assert cancelled(asking.conversation(), "sync", provider.heard.wait).text


@pytest.mark.behaviour("C23", "T4")
def test_of_a_turn_that_ends_while_a_tool_runs_calls_that_are_text_are_none(way: str) -> None:
    begun, go_on = threading.Event(), threading.Event()

    @tool(timeout_s=20)
    def wait() -> None:
        """Wait."""
        begun.set()
        go_on.wait(10)

    text = 'Let me look.\n<tool_call>{"name": "wait", "arguments": {}}</tool_call>'
    with stalling(EVENTS + said(text, "stop") + END) as provider:
        asked = Model("openai-chat:m", base_url=provider.url, api_key="k", text_calls=True)
        with Agent(asked, tools=[wait]) as asking:
            result = cancelled(asking.conversation(), way, begun.wait)
        go_on.set()
    assert result.text.strip() == "Let me look."


DECLINED = EVENTS + said("I cannot.", "content_filter") + END


@pytest.mark.behaviour("C23", "E12")
def test_what_one_model_declined_with_is_kept_where_the_turn_ends_while_another_is_asked(
    way: str,
) -> None:
    with stalling(DECLINED) as first, stalling(b"") as other:
        models = [Model("openai-chat:m", base_url=each.url, api_key="k") for each in (first, other)]
        with Agent(models) as asking:
            result = cancelled(asking.conversation(), way, other.begun.wait)
        assert (result.status, result.text) == ("partial", "I cannot.")


REFUSED = b"HTTP/1.1 401 No\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


@pytest.mark.behaviour("C23", "P1")
@pytest.mark.parametrize("then", [b"", REFUSED], ids=["silence", "a refused key"])
def test_what_an_earlier_step_said_is_not_lost(way: str, then: bytes) -> None:
    @tool
    def look() -> str:
        """Look."""
        return "Seen."

    speaking = calling("look").replace(EVENTS, TEXT)
    with stalling(speaking, then) as provider, agent(provider, look) as asking:
        chat = asking.conversation()
        if then:
            result = chat.run("Go.") if way == "sync" else asyncio.run(chat.arun("Go."))
            assert (result.status, result.reason) == ("failed", "provider_error")
        else:
            result = cancelled(chat, way, provider.begun.wait)
        assert result.text == "The first words. "
