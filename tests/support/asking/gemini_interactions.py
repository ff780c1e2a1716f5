"""Asking a simulator through google-genai's Interactions, as its documentation shows how to, and
judging what comes back. What is common to all wires stands in `openai_chat`."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from google import genai
from google.genai import errors as generate_errors
from google.genai._gaos.lib import compat_errors
from google.genai._gaos.utils import serializers
from pydantic import create_model

from support.asking.wrapping import Watching
from support.loops import close_loop
from tenuto_sim import CASES_ON, Bare, Case

WIRE = "gemini-interactions"
CASES = CASES_ON[WIRE]
TOOLS: list[Any] = [
    {
        "type": "function",
        "name": "write_file",
        "description": "Write a text file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    }
]
_models: dict[int, tuple[Any, Any]] = {}


def _made_once(name: str, *, body: tuple[Any, Any], **config: Any) -> Any:
    """A model that holds a type. The SDK makes one for every event that it reads, which takes most of
    the time of a test; the type is kept with it, so that no other can get its id."""
    type_ = body[0]
    if id(type_) not in _models:
        _models[id(type_)] = type_, create_model(name, body=body, **config)
    return _models[id(type_)][1]


vars(serializers)["create_model"] = _made_once

ERRORS = (compat_errors.APIError, generate_errors.ContinuationInterruptedError)
CLEAN = ("completed", "requires_action")
_number = itertools.count(1)
Step = dict[str, Any]


class ErrorEventSeen(Exception):
    """An error came as an event of a stream, where the SDK raises on none: a program has to look."""


def asks(text: str) -> Step:
    """What the user says."""
    return {"type": "user_input", "content": [{"type": "text", "text": text}]}


@dataclass
class Said:
    """What one call of the SDK gave: steps as they would go into the history, or an error."""

    text: str = ""
    calls: list[Step] = field(default_factory=list)
    stop: str | None = None
    steps: list[Step] = field(default_factory=list)
    id: str = ""
    error: Exception | None = None
    usage: Any = None
    prompt: str = ""
    history: list[Any] = field(default_factory=list)

    @property
    def inputs(self) -> list[Any]:
        """The arguments of the calls, as a program reads them."""
        return [readable(call.get("arguments")) for call in self.calls]


def readable(arguments: Any) -> Any:
    """Arguments as a program that does `json.loads` finds them."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def plain(value: Any) -> Any:
    """An object of the SDK as JSON."""
    return json.loads(json.dumps(value.model_dump(exclude_none=True, by_alias=True)))


def of_steps(steps: list[Step]) -> Said:
    parts = [p for s in steps if s["type"] == "model_output" for p in s.get("content") or []]
    text = "".join(part.get("text") or "" for part in parts)
    return Said(text=text, calls=[s for s in steps if s["type"] == "function_call"], steps=steps)


def of_interaction(interaction: Any) -> Said:
    """Read a whole interaction as a program does that keeps it as JSON."""
    whole = plain(interaction)
    said = of_steps([s for s in whole.get("steps") or [] if s["type"] != "user_input"])
    said.stop, said.id, said.usage = whole.get("status"), whole.get("id", ""), interaction.usage
    return said


class Assembled:
    """A stream put together as the documentation shows it. Where the SDK goes on by itself, the
    events of another interaction follow, whose steps are counted anew."""

    def __init__(self) -> None:
        self.hop = 0
        self.steps: dict[Any, Step] = {}
        self.arguments: dict[Any, str] = {}
        self.said = Said()
        self.error: ErrorEventSeen | None = None

    def add(self, event: Any) -> None:
        match getattr(event, "event_type", None):
            case "interaction.created":
                self.said.id = event.interaction.id
                self.hop += 1
            case "step.start":
                self.steps[self.hop, event.index] = plain(event.step)
            case "step.delta":
                self._piece((self.hop, event.index), plain(event.delta))
            case "interaction.completed":
                self.said.stop, self.said.usage = event.interaction.status, event.interaction.usage
            case "error":
                self.error = ErrorEventSeen(plain(event.error) if event.error else None)

    def _piece(self, index: Any, delta: Step) -> None:
        step = self.steps.setdefault(index, {"type": "model_output"})
        match delta["type"]:
            case "text":
                content = step.setdefault("content", [{"type": "text", "text": ""}])
                content[-1]["text"] += delta["text"]
            case "text_annotation_delta":
                step["content"][-1]["annotations"] = delta["annotations"]
            case "thought_summary":
                step.setdefault("summary", []).append(delta["content"])
            case "thought_signature":
                step["signature"] = delta["signature"]
            case "arguments_delta":
                self.arguments[index] = self.arguments.get(index, "") + delta["arguments"]
            case _:
                step |= delta

    def done(self) -> Said:
        if self.error is not None:
            raise self.error
        for index, raw in self.arguments.items():
            if raw:  # else the step holds what it began with, an empty object
                self.steps[index]["arguments"] = readable(raw)
        said = of_steps([step for _, step in sorted(self.steps.items())])
        said.stop, said.id, said.usage = self.said.stop, self.said.id, self.said.usage
        return said


class InteractionsAsker:
    """Asks a simulator through the SDK, with nothing else around it; `told` holds the events of the
    last stream. Histories are the caller's own (`store=False`), unless a test says otherwise."""

    def __init__(self, sim: Any, attempts: int = 1, **options: Any) -> None:
        self.sim = sim
        given: Any = {"base_url": sim.root_url, "retry_options": {"attempts": attempts}, **options}
        self.client = genai.Client(api_key="key", http_options=given)
        self.loop = asyncio.new_event_loop()
        self.told: list[Any] = []

    def close(self) -> None:
        self.client.close()
        self.loop.run_until_complete(self.client.aio.aclose())
        close_loop(self.loop)

    def prompt_for(self, case: Case) -> str:
        """Return a prompt that no other test uses, so that the case's plan begins anew."""
        return f"Tell me about {case.name}, take {next(_number)}."

    def history_for(self, case: Case, prompt: str) -> list[Any]:
        history: list[Any] = [asks(prompt)]
        if case.after_tool_result:
            whole = self.sim.expected(prompt, "tool").calls[0]
            call = {"type": "function_call", "id": "call_before", "name": whole.name}
            history.append(call | {"arguments": json.loads(str(whole.arguments))})
            result = {"type": "function_result", "call_id": "call_before", "name": whole.name}
            history.append(result | {"result": "written"})
        return history

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> Said:
        prompt = self.prompt_for(case)
        given = dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {}) | more
        history = self.history_for(case, prompt)
        got = self.ask(history, mode, way, **({"model": f"sim/{case.name}"} | given))
        got.prompt, got.history = prompt, history
        return got

    def ask(self, steps: Any, mode: str = "body", way: str = "sync", **more: Any) -> Said:
        """Ask once; what the SDK raises, or hands out as an error, is kept in the result."""
        self.told.clear()
        given = {"model": "sim", "input": steps, "stream": mode == "stream", "store": False} | more
        try:
            if way == "async":
                return self.loop.run_until_complete(self._ask_async(given))
            return self._ask(given)
        except Exception as error:  # noqa: BLE001 - which one it is, is what tests are about
            return Said(error=error)

    def _ask(self, given: dict[str, Any]) -> Said:
        made = self.client.interactions.create(**given)
        if not given["stream"]:
            return of_interaction(made)
        assembled = Assembled()
        for event in made:
            self.told.append(event)
            assembled.add(event)
        return assembled.done()

    async def _ask_async(self, given: dict[str, Any]) -> Said:
        made = await self.client.aio.interactions.create(**given)
        if not given["stream"]:
            return of_interaction(made)
        assembled = Assembled()
        async for event in made:
            self.told.append(event)
            assembled.add(event)
        return assembled.done()

    def wanted(self, got: Said, case: Case) -> tuple[str, list[Any]]:
        """Return text and arguments of the full right answer."""
        if case.after_tool_result:
            return self.sim.answer(got.prompt), []
        json_wanted = "response_format" in case.request
        form = {"type": "json_object"} if json_wanted else None
        whole = self.sim.expected(got.prompt, case.name, response_format=form)
        return whole.text, [json.loads(str(call.arguments)) for call in whole.calls]


def broken_call(got: Said, wanted: list[Any]) -> str:
    """Return what is wrong with the calls that were handed out, "" where nothing is. A cut call has
    an object for its arguments as a whole one has: only the right one tells."""
    ids = [call.get("id") for call in got.calls]
    if len(set(ids)) < len(ids) or not all(isinstance(i, str) and i for i in ids):
        return "ids"
    if got.calls and got.inputs != wanted:
        return "arguments"
    return "lying" if got.calls and got.stop not in CLEAN else ""


def results_for(got: Said) -> list[Any]:
    """Return the steps that answer every call."""
    return [
        {"type": "function_result", "call_id": c.get("id"), "name": c.get("name"), "result": "ok"}
        for c in got.calls
    ]


def next_turn_is_refused(asker: Any, got: Said, case: Case) -> bool:
    """Return whether the history with the answer in it is refused."""
    after = results_for(got) or [asks("Go on.")]
    tools = {"tools": TOOLS} if case.wants_tools else {}
    said = asker.ask([*got.history, *got.steps, *after], **tools)
    return isinstance(said.error, compat_errors.BadRequestError)


def verdicts(asker: Any, got: Said, case: Case) -> set[Bare]:
    """Return everything that is true of a result. An error event raises nothing."""
    if isinstance(got.error, ErrorEventSeen):
        return {Bare.SILENT}
    if got.error is not None:
        return {Bare.RAISES if isinstance(got.error, ERRORS) else Bare.HARMFUL}
    text, inputs = asker.wanted(got, case)
    if broken_call(got, inputs):
        return {Bare.HARMFUL}
    right = (got.text, got.inputs) == (text, inputs)
    refused = next_turn_is_refused(asker, got, case)
    if right and not refused:
        return {Bare.FINE}
    return ({Bare.HARMFUL} if refused else set()) | (set() if right else {Bare.SILENT})


class WrappedInteractions(Watching, InteractionsAsker):
    """Asks through `tenuto.wrap`."""

    retries: ClassVar[Mapping[str, int]] = {"attempts": 3}


def assert_one_interaction(told: list[Any]) -> None:
    """A stream is one interaction: one identity, steps counted in one row, one end."""
    kinds = [event.event_type for event in told]
    assert kinds.count("interaction.created") == 1
    assert kinds.count("interaction.completed") == 1
    assert kinds[-1] == "interaction.completed"
    assert told[0].interaction.id == told[-1].interaction.id
    opened: list[int] = []
    now: int | None = None
    for event in told:
        match event.event_type:
            case "step.start":
                assert now is None, "one step is open at a time"
                assert event.index == len(opened)
                now = event.index
                opened.append(now)
            case "step.delta":
                assert event.index == now
            case "step.stop":
                assert event.index == now
                now = None
