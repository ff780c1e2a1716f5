"""Asking a simulator through the official SDK, on OpenAI Responses, as its documentation shows how
to, and judging what comes back. What is common to the wires stands in `openai_chat`."""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import dataclass, field
from typing import Any

import openai

from support.asking.wrapping import Watching
from support.loops import close_loop
from tenuto_sim import CASES_ON, Bare, Case, Simulator
from tenuto_sim.history import is_json_object

WIRE = "openai-responses"
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
_number = itertools.count(1)


@dataclass
class Given:
    """What one call of the SDK gave: items as they would go into the history, or an error."""

    text: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    stop: str | None = None
    items: list[dict[str, Any]] = field(default_factory=list)
    response: Any = None
    error: Exception | None = None
    usage: Any = None
    prompt: str = ""
    history: list[Any] = field(default_factory=list)

    @property
    def raw_arguments(self) -> list[Any]:
        return [call.get("arguments") for call in self.calls]

    @property
    def refused(self) -> bool:
        """Whether the model says that it declines."""
        parts = [p for i in self.items if i["type"] == "message" for p in i["content"]]
        return any(part["type"] == "refusal" for part in parts)


def of_response(response: Any, text: str | None = None) -> Given:
    """Read a response as a program does that keeps it as JSON."""
    whole = json.loads(json.dumps(response.to_dict()))
    items = [item for item in whole.get("output") or [] if item.get("type")]
    parts = [p for i in items if i["type"] == "message" for p in i.get("content") or []]
    said = "".join(part.get("text") or "" for part in parts)
    details = whole.get("incomplete_details") or {}
    return Given(
        text=said if text is None else text,
        calls=[item for item in items if item["type"] == "function_call"],
        stop=details.get("reason") or whole.get("status"),
        items=items,
        response=response,
        usage=getattr(response, "usage", None),
    )


class Assembled:
    """A stream put together: text as it comes, all else from the last event; where none comes, from
    the items that were closed."""

    def __init__(self) -> None:
        self.text = ""
        self.items: dict[Any, Any] = {}
        self.last: Any = None

    def add(self, event: Any) -> None:
        match event.type:
            case "response.output_text.delta":
                self.text += event.delta
            case "response.output_item.added" | "response.output_item.done":
                self.items[getattr(event, "output_index", None)] = event.item
            case "response.function_call_arguments.delta":
                self.items[getattr(event, "output_index", None)].arguments += event.delta
            case "response.completed" | "response.incomplete" | "response.failed":
                self.last = event.response

    def done(self) -> Given:
        if self.last is not None:
            return of_response(self.last, self.text)
        items = [json.loads(json.dumps(item.to_dict())) for item in self.items.values()]
        for item in items:
            if item["type"] == "message" and not item["content"]:
                item["content"] = [{"type": "output_text", "text": self.text}]
        calls = [item for item in items if item["type"] == "function_call"]
        return Given(text=self.text, calls=calls, items=items)


class ResponsesAsker:
    """Asks a simulator through the SDK, with nothing else around it; `told` holds the events of the
    last stream."""

    def __init__(self, sim: Simulator, max_retries: int = 0) -> None:
        self.sim = sim
        given: Any = {"base_url": sim.base_url, "api_key": "key", "max_retries": max_retries}
        self.client = openai.OpenAI(**given)
        self.async_client = openai.AsyncOpenAI(**given)
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
            call = {"type": "function_call", "call_id": "call_before", "name": whole.name}
            history.append(call | {"arguments": whole.arguments})
            output = {"type": "function_call_output", "call_id": "call_before"}
            history.append(output | {"output": "written"})
        return history

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> Given:
        prompt = self.prompt_for(case)
        given = dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {}) | more
        history = self.history_for(case, prompt)
        got = self.ask(history, mode, way, **({"model": f"sim/{case.name}"} | given))
        got.prompt, got.history = prompt, history
        return got

    def ask(self, items: Any, mode: str = "body", way: str = "sync", **more: Any) -> Given:
        """Ask once; what the SDK raises is kept in the result."""
        self.told.clear()
        given = {"model": "sim", "input": items, "stream": mode == "stream"} | more
        try:
            if way == "async":
                return self.loop.run_until_complete(self._ask_async(given))
            return self._ask(given)
        except Exception as error:  # noqa: BLE001 - which one it is, is what tests are about
            return Given(error=error)

    def _ask(self, given: dict[str, Any]) -> Given:
        made = self.client.responses.create(**given)
        if not given["stream"]:
            return of_response(made)
        assembled = Assembled()
        for event in made:
            self.told.append(event)
            assembled.add(event)
        return assembled.done()

    async def _ask_async(self, given: dict[str, Any]) -> Given:
        made = await self.async_client.responses.create(**given)
        if not given["stream"]:
            return of_response(made)
        assembled = Assembled()
        async for event in made:
            self.told.append(event)
            assembled.add(event)
        return assembled.done()

    def wanted(self, got: Given, case: Case) -> tuple[str, list[Any]]:
        """Return text and arguments of the full right answer."""
        if case.after_tool_result:
            return self.sim.answer(got.prompt), []
        format_ = (case.request.get("text") or {}).get("format")
        whole = self.sim.expected(got.prompt, case.name, response_format=format_)
        return whole.text, [call.arguments for call in whole.calls]


def broken_call(got: Given) -> str:
    """Return what is wrong with the calls that were handed out, "" where nothing is."""
    ids = [call.get("call_id") for call in got.calls]
    if len(set(ids)) < len(ids) or not all(isinstance(i, str) and i for i in ids):
        return "ids"
    for raw in got.raw_arguments:
        if not isinstance(raw, str) or not is_json_object(raw):
            return "arguments"
    return "lying" if got.calls and got.stop != "completed" else ""


def results_for(got: Given) -> list[Any]:
    """Return the items that answer every call."""
    return [
        {"type": "function_call_output", "call_id": call.get("call_id"), "output": "ok"}
        for call in got.calls
    ]


def next_turn_is_refused(asker: Any, got: Given, case: Case) -> bool:
    """Return whether the history with the answer in it is refused."""
    after = results_for(got) or [{"role": "user", "content": "Go on."}]
    tools = {"tools": TOOLS} if case.wants_tools else {}
    said = asker.ask([*got.history, *got.items, *after], **tools)
    return isinstance(said.error, openai.BadRequestError)


def verdicts(asker: Any, got: Given, case: Case) -> set[Bare]:
    """Return everything that is true of a result."""
    if got.error is not None:
        mine = isinstance(got.error, openai.OpenAIError)
        return {Bare.RAISES if mine else Bare.HARMFUL}
    right = (got.text, got.raw_arguments) == asker.wanted(got, case)
    if got.calls and broken_call(got):
        return {Bare.HARMFUL}
    refused = next_turn_is_refused(asker, got, case)
    if right and not refused:
        return {Bare.FINE}
    return ({Bare.HARMFUL} if refused else set()) | (set() if right else {Bare.SILENT})


class WrappedResponses(Watching, ResponsesAsker):
    """Asks through `tenuto.wrap`."""


LAST = ("response.completed", "response.incomplete", "response.failed")


def assert_one_response(told: list[Any]) -> None:
    """One id, events in order, each item and part begun once and ended once, the last event alone,
    and its response the sum of all."""
    events = [event.to_dict() for event in told]
    numbers = [event["sequence_number"] for event in events if "sequence_number" in event]
    assert numbers == sorted(set(numbers))
    assert len({e["response"]["id"] for e in events if "response" in e}) == 1
    assert [e["type"] in LAST for e in events] == [False] * (len(events) - 1) + [True]
    added = [e["output_index"] for e in events if e["type"] == "response.output_item.added"]
    done = [e["output_index"] for e in events if e["type"] == "response.output_item.done"]
    assert added == list(range(len(added)))
    assert sorted(done) == added
    ids = [e["item"].get("id") for e in events if e["type"] == "response.output_item.added"]
    assert len(set(ids)) == len(ids)
    texts: dict[tuple[int, int], str] = {}
    for event in events:
        place = (event.get("output_index", -1), event.get("content_index", -1))
        if event["type"] == "response.content_part.added":
            assert place not in texts
            texts[place] = ""
        elif event["type"] in ("response.output_text.delta", "response.refusal.delta"):
            texts[place] += event["delta"]
            assert event["item_id"] == ids[place[0]]
        elif event["type"] == "response.output_text.done":
            assert event["text"] == texts[place]
        elif event["type"] == "response.content_part.done":
            part = event["part"]
            assert part.get("text", part.get("refusal")) == texts[place]
    output = events[-1]["response"]["output"]
    parts = [p for item in output if item["type"] == "message" for p in item["content"]]
    words = [part.get("text", part.get("refusal")) for part in parts]
    assert words == [texts[place] for place in sorted(texts)]
