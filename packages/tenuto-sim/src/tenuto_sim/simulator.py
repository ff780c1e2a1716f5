"""The simulator's public interface: in a thread of its own, or in the foreground."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from tenuto_sim.case import Kind, Step
from tenuto_sim.cases import CASES_ON
from tenuto_sim.exchange import Exchange, Recorded
from tenuto_sim.openai_chat.wire import IN_DIALECTS
from tenuto_sim.plan import Faults, Plan, no_faults
from tenuto_sim.reply import Settings, Wanted, full_text, wanted
from tenuto_sim.service import Pace, Service
from tenuto_sim.spent import Spent

Prefill = Literal["restart", "continue", "reject"]


def _kind(case: str) -> Kind:
    return next(cases[case].kind for cases in CASES_ON.values() if case in cases)


class Simulator:
    """A simulated provider on loopback that fails on command. The path of a request chooses the
    wire.

    `prefill` is what the model does with a trailing assistant message: "restart", "continue" or
    "reject" (on Anthropic Messages, "restart" rejects too, unless the model's name says otherwise).
    On Chat Completions, `prefill_echo` makes bodies repeat the prefill, and `prefill_refusal`
    chooses the words that reject it.
    `dialect` is the version of Chat Completions: "groq", "together", "cerebras" or "databricks",
    "" for OpenAI's.
    `max_output_tokens` is the model's output limit. `delay_s` is the wait before each event but the
    first (0: none). `lockstep_timeout_s` is how long a stream waits for `acknowledge()`.
    `strict=False` accepts every history and header. With `begins_anew`, as in `tenuto sim`, a
    finished conversation starts over when its first request arrives again, and meets its fault
    again.

    >>> import urllib.request
    >>> with Simulator() as sim:
    ...     with urllib.request.urlopen(sim.base_url.removesuffix("/v1") + "/health") as response:
    ...         print(response.read().decode())
    {"status":"ok"}
    """

    def __init__(
        self,
        port: int = 0,
        host: str = "127.0.0.1",
        *,
        prefill: Prefill = "restart",
        prefill_echo: bool = True,
        prefill_refusal: str = "anthropic",
        gzip: bool = False,
        lockstep: bool = False,
        lockstep_timeout_s: float = 5.0,
        delay_s: float = 0.0,
        token_chars: int = 4,
        max_output_tokens: int = 16384,
        strict: bool = True,
        dialect: str = "",
        begins_anew: bool = False,
    ) -> None:
        if prefill not in ("restart", "continue", "reject"):
            raise ValueError(f"prefill must be restart, continue or reject, not {prefill!r}")
        if dialect and dialect not in IN_DIALECTS:
            known = ", ".join(IN_DIALECTS)
            raise ValueError(f"dialect must be one of {known}, or empty, not {dialect!r}")
        settings = Settings(prefill, prefill_echo, token_chars, max_output_tokens, prefill_refusal)
        self._exchange = Exchange(settings, strict, dialect)
        self._exchange.conversations.begins_anew = begins_anew
        self._service = Service(
            self._exchange, Pace(lockstep, lockstep_timeout_s, delay_s), gzip=gzip
        )
        self._address = (host, port)
        self._port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Simulator:
        self.start()
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._end_thread()
        if error is None:
            self._raise_failure()

    def start(self) -> None:
        """Listen in a thread; raises OSError if the port is taken."""
        started = threading.Event()
        failed: list[BaseException] = []

        def work() -> None:
            try:
                asyncio.run(self.run(started.set))
            except BaseException as error:  # noqa: BLE001 - passed to the waiting thread
                failed.append(error)
            finally:
                started.set()

        self._thread = threading.Thread(target=work, name="tenuto-sim", daemon=True)
        self._thread.start()
        started.wait()
        if failed:
            self._thread.join()
            raise failed[0]

    def close(self) -> None:
        """End all connections and the thread. You can call it again.

        Raises RuntimeError if the simulator, or a function that you passed it, failed to answer a
        request: the broken connection that a client saw then was not a planned fault.
        """
        self._end_thread()
        self._raise_failure()

    def _raise_failure(self) -> None:
        failure, self._service.failure = self._service.failure, None
        if failure is not None:
            said = f"the simulator failed to answer a request: {failure!r}"
            raise RuntimeError(said) from failure

    def _end_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            return
        self.stop()
        self._thread.join()

    def stop(self) -> None:
        """Ask the server to stop, from any thread or signal handler, without waiting for it."""
        if self._loop is not None and self._end is not None:
            self._loop.call_soon_threadsafe(self._end.set)

    async def run(self, started: Callable[[], None]) -> None:
        """Listen on the running loop until `stop` is called; `started` is called once."""
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        host, port = self._address
        self._port = await self._service.start(host, port)
        started()
        try:
            await self._end.wait()
        finally:
            await self._service.stop()

    @property
    def base_url(self) -> str:
        """The base URL for OpenAI's client, including `/v1`."""
        return f"{self.root_url}/v1"

    @property
    def root_url(self) -> str:
        """The base URL for Anthropic's client, which adds `/v1` itself."""
        return f"http://{self._address[0]}:{self._port}"

    @property
    def requests(self) -> list[Recorded]:
        """All requests so far, in the order of arrival."""
        return self._exchange.requests

    @property
    def memory(self) -> Mapping[str, Any]:
        """The responses stored for clients, by the ids that they continue from (OpenAI
        Responses)."""
        return self._exchange.memory

    @property
    def open_streams(self) -> int:
        """How many responses are being sent right now."""
        return self._service.open_streams

    @property
    def disconnects(self) -> int:
        """How many responses the client closed before their end.

        Bytes that fit into the socket's buffer count as sent. To have a client leave in the middle,
        use `delay_s` or `lockstep`.
        """
        return self._service.disconnects

    @property
    def stalled(self) -> bool:
        """Whether the simulator gave up on a stream because no acknowledgement came."""
        return self._service.stalled

    def answer(
        self,
        prompt: str,
        case: str = "normal",
        response_format: Mapping[str, Any] | None = None,
    ) -> str:
        """Return the whole text of the answer to this first user message.

        >>> Simulator().answer("hello").startswith("Point 1: ")
        True
        """
        return full_text(prompt, _kind(case), response_format)

    def expected(
        self,
        prompt: str,
        case: str = "normal",
        *,
        tool: str = "write_file",
        parameters: Mapping[str, Any] | None = None,
        response_format: Mapping[str, Any] | None = None,
    ) -> Wanted:
        """Return the right answer of a case: its text, and its calls (with other ids).

        >>> Simulator().expected("hello", "call_cut_length").calls[0].name
        'write_file'
        """
        return wanted(prompt, _kind(case), [(tool, parameters or {})], response_format)

    def spent(self, prompt: str | None = None) -> Spent:
        """Return what the conversation with this first user message cost; None: the last
        conversation.

        >>> Simulator().spent("hello").input_tokens
        0
        """
        asked = [request for request in self.requests if request.conversation]
        if prompt is not None:
            return Spent(tuple(request for request in asked if request.prompt == prompt))
        last = asked[-1].conversation if asked else ()
        return Spent(tuple(request for request in asked if request.conversation == last))

    def script(self, steps: Sequence[Step]) -> None:
        """Use these steps for the next requests, whatever they are.

        >>> Simulator().script([Step(keep=0.5, finish="length")])
        """
        self._exchange.conversations.script.extend(steps)

    def plan(self, answers: Sequence[Wanted], faults: Faults = no_faults) -> None:
        """Give conversations these answers (`saying`), repeating each until it has arrived.

        `faults` says what happens to each answer. After the last one, the model has nothing left to
        do.

        >>> from tenuto.sim import saying
        >>> plan = [saying("I look.", ("read_file", {"path": "a"})), saying("It is red.")]
        >>> Simulator().plan(plan)
        """
        self._exchange.conversations.plan = Plan(answers, faults)

    def forget(self) -> None:
        """Forget all conversations, the script and the plan, so that every case starts over.

        >>> Simulator().forget()
        """
        self._exchange.conversations.forget()

    def _acknowledge(self) -> None:
        # Looked up on the loop, because each stream has its own semaphore.
        self._service.pace.acknowledged.release()

    def acknowledge(self) -> None:
        """Allow one more event of the current stream (lockstep)."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._acknowledge)


def serve(
    port: int,
    host: str = "127.0.0.1",
    *,
    ready: Callable[[str], None] | None = None,
    **options: Any,
) -> None:
    """Run a simulator in the foreground until SIGINT or SIGTERM; raises OSError if the port is
    taken.

    `ready` is called once with the base URL. `options` are those of `Simulator`, but `begins_anew`
    is on by default, because a server outlives the programs that use it.
    """

    async def main() -> None:
        simulator = Simulator(port, host, **{"begins_anew": True, **options})
        before: dict[signal.Signals, Any] = {}

        def started() -> None:
            for number in (signal.SIGINT, signal.SIGTERM):
                # Windows lacks loop.add_signal_handler.
                before[number] = signal.signal(number, lambda *_: simulator.stop())
            if ready is not None:
                ready(simulator.base_url)

        try:
            await simulator.run(started)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    asyncio.run(main())
