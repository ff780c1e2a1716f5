"""What a framework makes of each fault of the simulator: bare, and with a recovering client.

Theory of operation
-------------------
A driver gives an agent of its framework one tool, asks it one thing, and lets the framework do all
the rest: its own loop runs the tool and sends the result. Then it asks the same agent to go on. What
is judged is what came of it, not how: which calls were really run, what the framework gave out as
its answer, and whether the provider accepted the conversation afterwards. The fault is chosen with
a header of the HTTP client, so that a driver knows nothing of it.
"""

import asyncio
import importlib
import json
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import tenuto
from tenuto_sim import CASES_ON, Case, Simulator

MOST_REQUESTS = 40
"""More than any loop here needs that comes to an end."""

LONGEST_S = 30
"""After which an agent is taken to hang: AutoGen waits for ever for a tool that failed."""

QUICK: dict[str, Any] = {"backoff_s": 0.01, "retry_after_max_s": 0.01}
"""Waits are not what is measured."""

CLEAN_STOPS = frozenset({None, "", "null", "stop", "end_turn", "tool_calls", "tool_use"})
REFUSAL = "I'm sorry, but I can't help with that."


class Verdict(StrEnum):
    """What came of one question, the best first."""

    RIGHT = "right"
    """The whole right answer, each call run once, and the conversation goes on."""
    TOLD = "told"
    """An error, or a stop in the framework's answer that says that it is not whole."""
    SILENT = "silent"
    """A cut, empty or broken answer that was given out as if it were whole."""
    HARMFUL = "harmful"
    """A broken call was run, the conversation is refused from here on, or it never ended."""


ORDER = list(Verdict)
COLUMNS: dict[str, dict[str, Any] | None] = {
    "bare": None,
    "stop": {},
    "error": {"on_incomplete": "error"},
}
"""The clients: the library's own, and recovering ones with these settings of the policy."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the framework gave out; `stop` is the stop reason that it shows, None where it does not."""

    text: str
    stop: str | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What a driver is given: where to ask, through what, with which tools and body keys.

    Where a framework takes no HTTP client, `http` only says the headers of the next request, among
    them the fault, and the driver makes what its framework takes, of `policy` (None: bare). It
    calls `count` with each request, as the client would: that ends what never ends.
    """

    base_url: str
    http: Any
    policy: tenuto.Policy | None
    way: str
    stream: bool
    tools: list[Callable[..., str]]
    body: dict[str, Any]
    count: Callable[[], None]


class Driver(Protocol):
    """An agent of a framework. It has `ask` or `ask_async`, as its ways say.

    If the call of a tool is its last answer, it has `ends_with_calls`. If the page recommends to
    describe hosts that never mark the end of their answers, it has `describes_hosts`, and if another
    policy than "error", the column of that one as `recipe`.
    """

    distribution: str
    wire: str
    library: str
    ways: tuple[str, ...]

    def __init__(self, given: Given) -> None: ...
    def ask(self, prompt: str) -> Answer: ...
    async def ask_async(self, prompt: str) -> Answer: ...


def recipe_of(driver: Any) -> str:
    """The column of the policy that the page recommends for a framework's loop. Most frameworks
    hide or translate the stop, so only an error is sure to be heard."""
    return getattr(driver, "recipe", "error")


class Endless(BaseException):
    """The framework asks and asks. No `Exception`, so that nobody retries it."""


@dataclass
class Disk:
    """The tools, and what was really run."""

    ran: list[dict[str, Any]] = field(default_factory=list)

    def tools(self, case: Case) -> list[Callable[..., str]]:
        def write_file(path: str, content: str) -> str:
            """Write a text file."""
            self.ran.append({"path": path, "content": content})
            return "written"

        def list_files() -> str:
            """List all files."""
            self.ran.append({})
            return "a.txt"

        if not case.wants_tools:
            return []
        return [list_files if case.kind == "no_arguments" else write_file]


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one question and its circumstances."""

    case: str
    mode: str
    way: str
    column: str
    verdict: Verdict
    why: str


class Judge:
    """One framework in front of one simulator."""

    def __init__(self, driver: Any, sim: Simulator) -> None:
        self.driver = driver
        self.sim = sim
        self.left = 0

    def results(self, columns: Iterable[str]) -> Iterator[Result]:
        """Ask once in each way, in each column, for each case whole and streamed."""
        for column in columns:
            for way in self.driver.ways:
                with asyncio.Runner() as runner:
                    for case in self._cases():
                        # Each case is a host of its own: what a client has learned of one, such as
                        # how its answers end, does not hold for the next.
                        settings = COLUMNS[column]
                        policy = None if settings is None else tenuto.Policy(**(QUICK | settings))
                        http = self._client(way, policy)
                        for mode in sorted(case.modes):
                            yield self._result(runner, http, policy, case, mode, way, column)
                        runner.run(http.aclose()) if way == "async" else http.close()

    def _base_url(self, case: Case, column: str) -> str:
        """The simulator's address, under another name where the page says to describe the host."""
        advised = getattr(self.driver, "describes_hosts", False) and case.name.startswith("host_")
        if not advised or column != recipe_of(self.driver):
            return self.sim.base_url
        url = self.sim.base_url.replace("127.0.0.1", "localhost")
        host = url.removeprefix("http://").removesuffix("/v1")
        tenuto.register_provider(
            tenuto.Provider("host", wire=self.driver.wire, hosts=[host], sends_stop=False)
        )
        return url

    def _cases(self) -> Iterator[Case]:
        """The cases of the wire; a driver without an agent may have `fits`, and leave some out."""
        fits = getattr(self.driver, "fits", lambda _: True)
        return filter(fits, CASES_ON[self.driver.wire].values())

    def _client(self, way: str, policy: tenuto.Policy | None) -> Any:
        def counted(_: Any) -> None:
            self._count()

        async def counted_async(_: Any) -> None:
            self._count()

        hooks = {"request": [counted_async if way == "async" else counted]}
        if policy is None:
            library = importlib.import_module(self.driver.library)
            kind = library.AsyncClient if way == "async" else library.Client
            return kind(event_hooks=hooks, timeout=600)
        make: Any = tenuto.async_http_client if way == "async" else tenuto.http_client
        return make(self.driver.library, policy=policy, event_hooks=hooks)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Endless

    def _result(
        self,
        runner: asyncio.Runner,
        http: Any,
        policy: tenuto.Policy | None,
        case: Case,
        mode: str,
        way: str,
        column: str,
    ) -> Result:
        # The same question, and so the same answer, for each client and each framework.
        self.sim.forget()
        prompt = f"Tell me about {case.name}, {mode} and {way}."
        disk = Disk()
        stream = mode == "stream"
        body = dict(case.request)
        tools = disk.tools(case)
        base_url = self._base_url(case, column)
        given = Given(base_url, http, policy, way, stream, tools, body, self._count)
        agent = self.driver(given)

        def ask(fault: str, prompt: str) -> Answer:
            http.headers["x-sim-fault"] = fault
            self.left = MOST_REQUESTS
            if way == "async":
                return runner.run(in_time(agent.ask_async(prompt)))
            return agent.ask(prompt)  # type: ignore[no-any-return]

        before = len(self.sim.requests)
        verdict, why = self._verdict(case, prompt, disk, before, ask)
        return Result(case.name, mode, way, column, verdict, why)

    def _verdict(
        self, case: Case, prompt: str, disk: Disk, before: int, ask: Callable[[str, str], Answer]
    ) -> tuple[Verdict, str]:
        error: Exception | None = None
        try:
            answer = ask(case.name, prompt)
        except Endless:
            return Verdict.HARMFUL, "it never ended"
        except Exception as raised:  # noqa: BLE001 - any is an error that its user sees
            error, answer = raised, Answer("")
        asked = self.sim.requests[before:]
        if asked and asked[0].prompt:  # a framework may put the question into words of its own
            prompt = asked[0].prompt
        wanted = self._wanted_calls(case, prompt, asked)
        left = list(wanted)
        for call in disk.ran:
            if call not in wanted:
                return Verdict.HARMFUL, f"ran a broken call: {call}"
            if call not in left:
                return Verdict.HARMFUL, f"ran a call twice: {call}"
            left.remove(call)
        if error is not None:
            # The case's own refusals apart: the framework sent back what no provider accepts.
            refused = asked and asked[-1].status == 400 and not says_400(case)
            verdict = Verdict.HARMFUL if refused else Verdict.TOLD
            return verdict, f"{type(error).__name__}: {error}"
        try:
            ask("normal", "Go on.")
        except (Endless, Exception) as raised:  # noqa: BLE001 - whatever it is, the talk is over
            # A case's own small limit cuts the next answer as well, which spoils nothing.
            if self.sim.requests[-1].status == 400 or not LIMITS & case.request.keys():
                return Verdict.HARMFUL, f"the next turn: {type(raised).__name__}: {raised}"
        if not left and plain(answer.text) == plain(self._wanted_text(case, prompt, wanted, asked)):
            return Verdict.RIGHT, ""
        told = answer.stop not in CLEAN_STOPS or REFUSAL in answer.text
        why = f"stop {answer.stop!r}, {len(left)} calls not run, text {answer.text[-60:]!r}"
        return (Verdict.TOLD if told else Verdict.SILENT), why

    def _wanted_calls(self, case: Case, prompt: str, asked: list[Any]) -> list[Any]:
        """The arguments of the right calls, made for the schema that the framework sent."""
        if not case.wants_tools or not asked:
            return []
        tool = asked[0].json["tools"][0]
        function = tool.get("function", tool)  # Responses has its members beside the type
        function = next(iter(function.get("functionDeclarations", ())), function)
        schema: Any = next((function[key] for key in SCHEMAS if function.get(key)), {})
        name = "tool" if case.after_tool_result else case.name
        whole = self.sim.expected(prompt, name, tool=function["name"], parameters=schema)
        return [json.loads(str(call.arguments)) for call in whole.calls]

    def _wanted_text(self, case: Case, prompt: str, calls: list[Any], asked: list[Any]) -> str:
        """The text that stands last: after calls were run, it is that after their results."""
        if calls:
            ends = getattr(self.driver, "ends_with_calls", False)
            return "" if ends else self.sim.answer(prompt)
        sent = asked[0].json.get("response_format") if asked else None
        form = sent or form_of(case)
        return self.sim.expected(prompt, case.name, response_format=form).text


async def in_time(asking: Coroutine[Any, Any, Answer]) -> Answer:
    """An answer, or `Endless` where the framework waits for what never comes."""
    try:
        async with asyncio.timeout(LONGEST_S) as limit:
            return await asking
    except TimeoutError:
        if limit.expired():
            raise Endless from None
        raise


def fault_of(given: Given) -> dict[str, str]:
    """The header that says which fault comes next, for drivers that send headers of their own."""
    return {"x-sim-fault": given.http.headers["x-sim-fault"]}


def form_of(case: Case) -> Any:
    """The form of an answer that a case asks for, in the words of Chat Completions; None: none."""
    asked = case.request
    nested = asked.get("text") or asked.get("output_config") or {}
    form = asked.get("response_format") or nested.get("format")
    schema = (form or {}).get("schema") or asked.get("response_schema")
    if schema is None:
        return form
    lowered = re.sub(r'"[A-Z]+"', lambda found: found[0].lower(), json.dumps(schema))
    return {"type": "json_schema", "json_schema": {"schema": json.loads(lowered)}}


SCHEMAS = ("parameters", "input_schema", "parametersJsonSchema")
"""Members of a tool that say what its arguments are."""

LIMITS = {"max_tokens", "max_output_tokens"}
"""Members of a request that limit its answer."""


def says_400(case: Case) -> bool:
    """Whether refusals are what this case is about."""
    return any(step.error or step.ceiling_tokens for step in case.plan)


def plain(text: str) -> str:
    """The text without think blocks, which some frameworks keep and others take out."""
    return re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL).strip()
