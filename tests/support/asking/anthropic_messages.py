"""Asking a simulator through the official SDK of Anthropic, as its documentation shows how to, and
judging what comes back. What is common to both wires stands in `openai_chat`."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anthropic

from support.asking.wrapping import Watching
from support.loops import close_loop
from tenuto_sim import CASES_ON, Bare, Case, Simulator

WIRE = "anthropic-messages"
CASES = CASES_ON[WIRE]
TOOLS: list[Any] = [
    {
        "name": "write_file",
        "description": "Write a text file.",
        "input_schema": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    }
]
MAX_TOKENS = 4096
_number = itertools.count(1)


@dataclass
class Said:
    """What one call of the SDK gave: a message as it would go into the history, or an error."""

    text: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    stop: str | None = None
    message: dict[str, Any] = field(default_factory=dict)
    error: Exception | None = None
    usage: Any = None
    prompt: str = ""
    history: list[Any] = field(default_factory=list)

    @property
    def inputs(self) -> list[Any]:
        """The decoded arguments of the calls."""
        return [call.get("input") for call in self.calls]


def of_message(message: anthropic.types.Message) -> Said:
    """Read a message as a program does that keeps it as JSON."""
    # What the SDK adds for itself (parsed outputs) is no part of a history.
    raw = json.loads(json.dumps(message.to_dict(exclude_unset=True)))
    content = [
        {k: v for k, v in block.items() if k != "parsed_output" and v is not None}
        for block in raw["content"]
    ]
    return Said(
        text="".join(block["text"] for block in content if block["type"] == "text"),
        calls=[block for block in content if block["type"] == "tool_use"],
        stop=message.stop_reason,
        message={"role": "assistant", "content": content},
        usage=getattr(message, "usage", None),
    )


def resource(client: Any, given: dict[str, Any]) -> Any:
    """Return what a program asks: the SDK knows compaction in its beta alone."""
    compacts = "compaction" in json.dumps([given["model"], given["messages"]])
    return client.beta.messages if compacts else client.messages


class AnthropicAsker:
    """Asks a simulator through the SDK, with nothing else around it; `told` holds the events of the
    last stream."""

    def __init__(self, sim: Simulator, max_retries: int = 0) -> None:
        self.sim = sim
        given: Any = {"base_url": sim.root_url, "api_key": "key", "max_retries": max_retries}
        self.client = anthropic.Anthropic(**given)
        self.async_client = anthropic.AsyncAnthropic(**given)
        self.loop = asyncio.new_event_loop()
        self.told: list[Any] = []

    def close(self) -> None:
        self.client.close()
        self.loop.run_until_complete(self.async_client.close())
        close_loop(self.loop)

    def prompt_for(self, case: Case) -> str:
        """Return a prompt that no other test uses, so that the case's plan begins anew."""
        return f"Tell me about {case.name}, take {next(_number)}."

    def history_for(self, case: Case, prompt: str) -> list[Any]:
        history: list[Any] = [{"role": "user", "content": prompt}]
        if case.after_tool_result:
            whole = self.sim.expected(prompt, "tool").calls[0]
            call = {"type": "tool_use", "id": "toolu_before", "name": whole.name}
            call["input"] = json.loads(str(whole.arguments))
            history.append({"role": "assistant", "content": [call]})
            result = {"type": "tool_result", "tool_use_id": "toolu_before", "content": "written"}
            history.append({"role": "user", "content": [result]})
        return history

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> Said:
        prompt = self.prompt_for(case)
        given = dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {}) | more
        history = self.history_for(case, prompt)
        said = self.ask(history, mode, way, **({"model": f"sim/{case.name}"} | given))
        said.prompt, said.history = prompt, history
        return said

    def ask(self, messages: list[Any], mode: str = "body", way: str = "sync", **more: Any) -> Said:
        """Ask once; what the SDK raises is kept in the result."""
        self.told.clear()
        given = {"model": "sim", "messages": messages, "max_tokens": MAX_TOKENS} | more
        try:
            return of_message(
                self.loop.run_until_complete(self._ask_async(given, mode))
                if way == "async"
                else self._ask(given, mode)
            )
        except Exception as error:  # noqa: BLE001 - which one it is, is what tests are about
            return Said(error=error)

    def _ask(self, given: dict[str, Any], mode: str) -> Any:
        messages = resource(self.client, given)
        if mode == "body":
            return messages.create(**given)
        with messages.stream(**given) as stream:
            for event in stream:
                self.told.append(event)
            return stream.get_final_message()

    async def _ask_async(self, given: dict[str, Any], mode: str) -> Any:
        messages = resource(self.async_client, given)
        if mode == "body":
            return await messages.create(**given)
        async with messages.stream(**given) as stream:
            async for event in stream:
                self.told.append(event)
            return await stream.get_final_message()

    def wanted(self, said: Said, case: Case) -> tuple[str, list[Any]]:
        """Return text and decoded arguments of the full right answer."""
        if case.after_tool_result:
            return self.sim.answer(said.prompt), []
        config = case.request.get("output_config")
        format_ = None
        if config:
            schema = {"schema": config["format"]["schema"]}
            format_ = {"type": "json_schema", "json_schema": schema}
        whole = self.sim.expected(said.prompt, case.name, response_format=format_)
        return whole.text, [json.loads(str(call.arguments)) for call in whole.calls]


def broken_call(said: Any, wanted: list[Any]) -> str:
    """Return what is wrong with the calls that were handed out, "" where nothing is.

    A cut call has a dictionary for its input as a whole one has: only the right one tells.
    """
    ids = [call.get("id") for call in said.calls]
    if len(set(ids)) < len(ids) or not all(isinstance(i, str) and i for i in ids):
        return "ids"
    if said.calls and said.inputs != wanted:
        return "input"
    return "lying" if said.calls and said.stop not in ("end_turn", "tool_use") else ""


def results_for(said: Any) -> list[Any]:
    """Return the message that answers every call."""
    results = [
        {"type": "tool_result", "tool_use_id": call.get("id"), "content": "ok"}
        for call in said.calls
    ]
    return [{"role": "user", "content": results}] if results else []


def next_turn_is_refused(asker: Any, said: Any, case: Case) -> bool:
    """Return whether the history with the answer in it is refused."""
    after = results_for(said) or [{"role": "user", "content": "Go on."}]
    tools = {"tools": TOOLS} if case.wants_tools else {}
    asked = asker.ask([*said.history, said.message, *after], **tools)
    return isinstance(asked.error, anthropic.BadRequestError)


def verdicts(asker: Any, said: Any, case: Case) -> set[Bare]:
    """Return everything that is true of a result."""
    if said.error is not None:
        mine = isinstance(said.error, anthropic.AnthropicError)
        return {Bare.RAISES if mine else Bare.HARMFUL}
    text, inputs = asker.wanted(said, case)
    if broken_call(said, inputs):
        return {Bare.HARMFUL}
    right = (said.text, said.inputs) == (text, inputs)
    refused = next_turn_is_refused(asker, said, case)
    if right and not refused:
        return {Bare.FINE}
    return ({Bare.HARMFUL} if refused else set()) | (set() if right else {Bare.SILENT})


EVENTS = (
    "message_start", "content_block_start", "content_block_delta", "content_block_stop",
    "message_delta", "message_stop",
)  # fmt: skip
"""The types of the wire's own events, beside those that the SDK's helper makes of them."""


def of_the_wire(told: Iterable[Any]) -> list[dict[str, Any]]:
    """The events of the wire among those that the SDK's helper gave."""
    return [event.to_dict() for event in told if event.type in EVENTS]


class WrappedAnthropic(Watching, AnthropicAsker):
    """Asks through `tenuto.wrap`."""


def events_of(stream: bytes) -> list[dict[str, Any]]:
    """The events of a stream, each named as its object is."""
    events = []
    for part in stream.decode().replace("\r\n", "\n").split("\n\n"):
        fields = [line.partition(": ") for line in part.split("\n") if not line.startswith(":")]
        found = {name: value for name, _, value in fields if name}
        if "data" in found:
            events.append(json.loads(found["data"]))
            assert found["event"] == events[-1]["type"]
    return events


def assert_one_message(events: Iterable[Mapping[str, Any]]) -> None:
    """One start; blocks in one row without gaps, each opened and closed once, with all its deltas
    between; one stop with the usage; one end."""
    told = [event for event in events if event["type"] != "ping"]
    kinds = [event["type"] for event in told]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    for once in ("message_start", "message_delta", "message_stop"):
        assert kinds.count(once) == 1, once
    assert isinstance(told[-2]["usage"]["output_tokens"], int)
    opened, is_open = -1, False
    for event in told[1:-2]:
        if event["type"] == "content_block_start":
            assert not is_open, "a block begins inside of another"
            opened, is_open = opened + 1, True
        else:
            assert is_open, f"{event['type']} outside of a block"
            assert event["type"] in ("content_block_delta", "content_block_stop")
            is_open = event["type"] == "content_block_delta"
        assert event["index"] == opened, "blocks are numbered in one row"
    assert not is_open, "a block stays open"
