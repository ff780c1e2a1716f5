"""A conversation with an agent, which drives the loop, sync and async."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from typing import Any

from tenuto.clients.loop_client import AsyncLoopTurn, LoopTurn
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.stop import Stop
from tenuto.core.errors import AgentError
from tenuto.telemetry.listeners import tell
from tenuto_agent.asking import Hearing, failures
from tenuto_agent.cancellation import Cancellation, Waits
from tenuto_agent.events import AgentEvent
from tenuto_agent.kit import Kit
from tenuto_agent.loop import AgentCommand, AgentReply, AgentRun, Ask, Loop, RunCalls, Tell
from tenuto_agent.model import check_type
from tenuto_agent.result import RunResult
from tenuto_agent.running import CallRunner
from tenuto_agent.session import Session
from tenuto_agent.transcript import Row, Transcript


class Conversation:
    """A conversation with an agent, in which each turn knows the earlier ones.

    `Agent.conversation` makes one.

    Args:
        kit: what the agent's conversations share; only the agent has it.
        rows: as for `Agent.conversation`.

    Attributes:
        result: how the last turn ended; None before the first.
        stops: why each turn ended, in order: the stop of its last response, or None without one.
            Turns in a session's file don't count.

    >>> from tenuto.sim import Simulator
    >>> from tenuto.agent import Agent, Model
    >>> with Simulator() as sim:
    ...     model = Model("openai-chat:sim-model:normal", base_url=sim.base_url)
    ...     with Agent(model) as agent:
    ...         chat = agent.conversation()
    ...         _ = chat.run("How are tides made?"), chat.run("And the moon?")
    >>> [type(row).__name__ for row in chat.rows]
    ['User', 'Assistant', 'User', 'Assistant']
    >>> [stop.reason.value for stop in chat.stops]
    ['end_turn', 'end_turn']
    """

    def __init__(self, kit: Kit, rows: Sequence[Row] | Session = ()) -> None:
        self._kit = kit
        self._transcript = rows.transcript if isinstance(rows, Session) else _continued(rows)
        self._loop = Loop(kit.setup, self._transcript)
        self._cancellation = Cancellation()
        self.result: RunResult | None = None
        self._stops: list[Stop | None] = []

    @property
    def stops(self) -> tuple[Stop | None, ...]:
        """Why each turn ended, in order."""
        return tuple(self._stops)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The conversation so far."""
        return tuple(self._transcript)

    def cancel(self) -> None:
        """End the running turn at once, from any thread or task (C23).

        Waits for the model, and between attempts, end at once, and the connection is closed. Tools
        in threads are abandoned; async tools are cancelled and get a second to clean up. With `run`
        and `stream`, two things finish first: a plain function without a time limit that runs
        alone, because the caller's own thread runs it, and a connection that is being made (a name
        lookup, then at most 5 s for each address and for TLS).
        """
        self._cancellation.set()

    def run(self, prompt: str) -> RunResult:
        """Run a turn to its end.

        Args:
            prompt: the user's message.

        Raises:
            AgentError: the prompt is not text.
        """
        for _ in self._turn(prompt, watched=self._kit.on_event is not None):
            pass
        assert self.result is not None
        return self.result

    async def arun(self, prompt: str) -> RunResult:
        """Like `run`, for asyncio."""
        async for _ in self._aturn(prompt, watched=self._kit.on_event is not None):
            pass
        assert self.result is not None
        return self.result

    def stream(self, prompt: str) -> Generator[AgentEvent, None, None]:
        """Run a turn and yield its events; `result` has the result afterwards. Closing the
        generator ends the turn at once, as Ctrl-C does, and the result has the text received by
        then."""
        return self._turn(prompt, watched=True)

    def astream(self, prompt: str) -> AsyncGenerator[AgentEvent, None]:
        """Like `stream`, for asyncio."""
        return self._aturn(prompt, watched=True)

    # --- carrying out the loop's commands

    def _turn(self, prompt: str, *, watched: bool) -> Generator[AgentEvent, None, None]:
        reply: AgentReply = None
        with self._commands(prompt) as run:
            while (command := self._next(run, reply)) is not None:
                reply = None
                match command:
                    case Tell(event):
                        yield self._told(event)
                    case RunCalls(calls):
                        reply = self._runner(command).run(calls)
                    case Ask():
                        for event in self._ask(command, watched and not command.quiet):
                            yield self._told(event)

    async def _aturn(self, prompt: str, *, watched: bool) -> AsyncGenerator[AgentEvent, None]:
        reply: AgentReply = None
        async with self._kit.async_client() as client:
            with self._commands(prompt) as run:
                while (command := self._next(run, reply)) is not None:
                    reply = None
                    match command:
                        case Tell(event):
                            yield self._told(event)
                        case RunCalls(calls):
                            reply = await self._runner(command).arun(calls)
                        case Ask():
                            heard = self._aask(command, client, watched and not command.quiet)
                            async with contextlib.aclosing(heard) as events:
                                async for event in events:
                                    yield self._told(event)

    # --- shared by sync and async

    @contextlib.contextmanager
    def _commands(self, prompt: str) -> Iterator[AgentRun]:
        """Start a turn and give its commands. If it is cut off, `result` has what it got by
        then."""
        if not isinstance(prompt, str) or not prompt.strip():
            raise AgentError(f"prompt is {prompt!r}, but it must be a text that is not blank")
        if self._transcript.in_turn:
            raise AgentError(
                "a turn of this conversation is still running; start the next one after it"
            )
        self._cancellation, self.result = Cancellation(), None
        self._transcript.in_turn = True
        try:
            with contextlib.closing(self._loop.run(prompt)) as run:
                yield run
        finally:
            self._transcript.in_turn = False
            if self.result is None:
                self.result = self._loop.result("cancelled")
            self._stops.append(self.result.stop)

    def _runner(self, command: RunCalls) -> CallRunner:
        return CallRunner(
            self._kit.toolbox,
            command.within_s,
            began=self._began,
            ended=self._transcript.ended,
            cancellation=self._cancellation,
        )

    def _began(self, call: ToolCall) -> None:
        self._transcript.began(call, self._kit.toolbox[call.name].idempotent)

    def _next(self, run: AgentRun, reply: AgentReply) -> AgentCommand | None:
        """Return the next command; None at the end of the turn."""
        if self._cancellation.is_set:
            return None
        try:
            return run.send(reply)
        except StopIteration as end:
            self.result = end.value
            return None

    def _told(self, event: AgentEvent) -> AgentEvent:
        if self._kit.on_event is not None:
            tell(self._kit.on_event, event, type(event).__name__)
        return event

    def _ask(self, ask: Ask, watched: bool) -> Iterator[AgentEvent]:
        client, stream = self._kit.client(), self._kit.setup.stream
        cancellation = self._cancellation
        hearing = Hearing(ask, watched)
        request = self._kit.posts.made(ask, client, stream)
        turn = LoopTurn(client, request, ask.context, stream=stream)
        with cancellation.telling(turn.cancel), failures(client), contextlib.closing(turn):
            for _ in turn.pieces():
                if watched:
                    yield from hearing.told()
                if cancellation.is_set:
                    break
        yield from hearing.rest()

    async def _aask(self, ask: Ask, client: Any, watched: bool) -> AsyncGenerator[AgentEvent, None]:
        stream, waits = self._kit.setup.stream, Waits(self._cancellation)
        hearing = Hearing(ask, watched)
        request = self._kit.posts.made(ask, client, stream)
        turn = AsyncLoopTurn(client, request, ask.context, stream=stream)
        with failures(client), waits.open():
            try:
                pieces = turn.pieces()
                with contextlib.suppress(StopAsyncIteration):
                    while True:
                        await waits.of(pieces.__anext__)
                        for event in hearing.told():
                            yield event
            finally:
                await turn.close()
        for event in hearing.rest():
            yield event


def _continued(rows: Sequence[Row]) -> Transcript:
    check_type("rows", rows, Sequence, f"{_ROWS}, or a Session")
    try:
        return Transcript(rows)
    except ValueError as error:
        raise AgentError(f"rows must be {_ROWS}: {error}") from None


_ROWS = "the rows of a conversation or of a RunResult, in order"
