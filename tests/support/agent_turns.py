"""Turns of an agent before a simulator that is told to fail, and how they are judged."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import tenuto
from support.asking.wrapping import QUICK
from tenuto_agent import Agent, Model, RunResult
from tenuto_agent.conversation import Conversation
from tenuto_agent.events import AgentEvent, Said
from tenuto_sim import CASES_ON, Case, Recorded, Simulator
from tenuto_sim.case import Kind
from tenuto_sim.reply import Settings
from tenuto_sim.wires import wire_at

NOVA = "bedrock-invoke"
WIRES = (
    "anthropic-messages",
    "bedrock-converse",
    NOVA,
    "cohere",
    "gemini-generate",
    "gemini-interactions",
    "mistral",
    "ollama",
    "openai-chat",
    "openai-responses",
)
"""Every wire that can be written whole."""
BASES = {"openai-chat": "/v1", "openai-responses": "/v1", "mistral": "/mistral/v1"}
"""What stands behind the simulator's root in a wire's base URL."""
MODELS = {NOVA: "amazon.nova-lite-v1:0"}
CHARS = {"openai-responses": 8}
"""Characters of a token: with larger ones a limit falls below the least that this wire takes."""
POLICY = tenuto.Policy(
    **QUICK | {"retry_after_max_s": 1.0}, empty_retries=3
)  # a 429 asks for a second
WAYS = ("sync", "async")
Ran = tuple[str, dict[str, Any]]
_number = itertools.count(1)


def cases_of(wire: str) -> Mapping[str, Case]:
    """What the simulator can do on a wire; Nova's messages are those of Converse."""
    return CASES_ON["bedrock-converse" if wire == NOVA else wire]


def simulator(wire: str, **options: Any) -> Simulator:
    """One in whose answers a limit is no smaller than what a boosted budget asks for."""
    return Simulator(**{"token_chars": CHARS.get(wire, 60), "max_output_tokens": 32_768} | options)


def options_of(wire: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """What a case wants of a request, as members of its body; of Gemini they are named as its SDK
    names them."""
    if wire != "gemini-generate":
        return dict(request)
    named = {re.sub(r"_(.)", lambda m: m[1].upper(), name): said for name, said in request.items()}
    safety = {name: named.pop(name) for name in [*named] if name == "safetySettings"}
    return safety | ({"generationConfig": named} if named else {})


@dataclass
class Turn:
    """A turn that met a case, and the one that followed it.

    Attributes:
        prompt: what the user said.
        result, after: how it ended, and how the next one did.
        events: what it told.
        ran: the calls that ran, as name and arguments, in order.
        requests: what was sent in both turns.
    """

    prompt: str
    result: RunResult
    after: RunResult
    events: list[AgentEvent]
    ran: list[Ran]
    requests: list[Recorded]

    def told(self) -> str:
        """The text that was told of the last step."""
        said = (event for event in self.events if isinstance(event, Said))
        return "".join(event.text for event in said if event.step == self.result.steps)


@dataclass
class Asker:
    """An agent whose conversations each meet a case; with a tool, or two, or none. Where nobody
    watches it, there are no events."""

    sim: Simulator
    wire: str
    stream: bool
    watched: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    events: list[AgentEvent] = field(default_factory=list)
    ran: list[Ran] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._agents: dict[tuple[str, ...], Agent] = {}

    def close(self) -> None:
        for agent in self._agents.values():
            agent.close()

    # --- tools

    def write_file(self, path: str, content: str) -> str:
        """Write a text file."""
        self.ran.append(("write_file", {"path": path, "content": content}))
        return "Written."

    def read_file(self, path: str) -> str:
        """Read a text file."""
        self.ran.append(("read_file", {"path": path}))
        return "Nothing."

    def list_files(self) -> str:
        """List all files."""
        self.ran.append(("list_files", {}))
        return "None."

    # --- turns

    def model(self, name: str = "") -> Model:
        """What `headers` and `options` hold goes with each of its requests."""
        return Model(
            f"{self.wire}:{name or MODELS.get(self.wire, 'sim-model')}",
            base_url=self.sim.root_url + BASES.get(self.wire, ""),
            api_key="key",
            headers=self.headers,
            options=self.options,
        )

    def agent(self, *tools: str, model: str = "") -> Agent:
        """One with these tools, and with a model of this name."""
        if (model, *tools) not in self._agents:
            self._agents[model, *tools] = Agent(
                self.model(model),
                tools=[getattr(self, name) for name in tools],
                policy=POLICY,
                on_event=self.events.append if self.watched else None,
                stream=self.stream,
            )
        return self._agents[model, *tools]

    def meet(self, case: Case, way: str, *, second_tool: bool = False) -> Turn:
        """A turn that meets the case, and the conversation's next one."""
        number = next(_number)
        prompt = f"Tell me about {case.name}, take {number}."
        before = len(self.sim.requests)
        self.events.clear()
        self.ran.clear()
        self.headers["x-sim-fault"] = case.name
        self.options.clear()
        self.options |= options_of(self.wire, case.request)
        first = "list_files" if case.kind is Kind.NO_ARGUMENTS else "write_file"
        tools = (first, "read_file")[: 1 + second_tool] if case.wants_tools else ()
        # How a host ends its answers is learned by model: one that has marked its ends before, as
        # in the next turn below, is another host.
        own = f"{case.name}-{number}" if case.name.startswith("host_") else ""
        chat = self.agent(*tools, model=own).conversation()
        result = self.said(chat, prompt, way)
        events, ran = [*self.events], [*self.ran]
        self.headers["x-sim-fault"] = "normal"
        after = self.said(chat, "And then?", way)
        return Turn(prompt, result, after, events, ran, self.sim.requests[before:])

    def said(self, chat: Conversation, prompt: str, way: str) -> RunResult:
        """A turn, to its end."""
        if way == "sync":
            return chat.run(prompt)
        return asyncio.run(chat.arun(prompt))


# --- verdicts -------------------------------------------------------------------------------


def wanted(sim: Simulator, turn: Turn, case: Case) -> tuple[str, list[Ran]]:
    """The full right answer: the text of the last step, and the calls before it."""
    named = "tool" if case.after_tool_result else case.name
    whole = sim.expected(turn.prompt, named, response_format=_format_of(turn, case))
    tool = "list_files" if case.kind is Kind.NO_ARGUMENTS else "write_file"
    calls = [(tool, json.loads(str(call.arguments))) for call in whole.calls]
    return (sim.answer(turn.prompt) if calls else whole.text), calls


def _format_of(turn: Turn, case: Case) -> Any:
    """The form that the request wanted its answer in, as the simulator has read it."""
    if not case.request:
        return None
    first = turn.requests[0]
    path, _, query = first.path.partition("?")
    found = wire_at(path, query)
    assert found is not None
    wire, said = found
    return wire.read(wire.located(first.json, said), Settings()).response_format


def harm(turn: Turn, calls: list[Ran]) -> Iterator[str]:
    """What must never happen: a call that is none of those, or one twice; a request that was refused
    for its form; a conversation that cannot go on."""
    for call in turn.ran:
        if turn.ran.count(call) > calls.count(call):
            yield f"ran {call}"
    for request in turn.requests:
        if request.status >= 400 and not request.prompt:
            yield f"refused {request.json}"
    if turn.after.status != "complete":
        yield f"the next turn is {turn.after.reason}: {turn.after.fault}"


def is_right(turn: Turn, text: str, calls: list[Ran], *, watched: bool = True) -> bool:
    """Whether the whole right answer was given, each call ran once, and what was told, where anybody
    watched, is what the result says. Of reasoning in tags nobody says that it is none of the text
    (E13)."""
    shown = re.sub(r"<think>.*?</think>", "", turn.result.text, flags=re.DOTALL)
    told = turn.told() == (turn.result.text if watched else "")
    return shown.strip() == text.strip() and turn.ran == calls and told
