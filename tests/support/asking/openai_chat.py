"""Asking a simulator through the official SDK, as its documentation shows how to, and judging what
comes back. Shared by the tests of the simulator (bare SDK) and of the clients (wrapped SDK)."""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import dataclass, field
from typing import Any

import openai

from support.loops import close_loop
from tenuto_sim import Bare, Case, Simulator
from tenuto_sim.history import is_json_object

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "write_file",
            "description": "Write a text file.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                "required": ["path", "content"],
            },
        },
    }
]
TOKEN_CHARS = 8
"""Characters of a token of the simulator that the bare SDKs ask. By default it has four, and an SDK
takes twice as long to read twice the events."""
_number = itertools.count(1)


@dataclass
class Got:
    """What one call of the SDK gave: a message as it would go into the history, or an error."""

    text: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    finish: str | None = None
    message: dict[str, Any] = field(default_factory=dict)
    error: Exception | None = None
    usage: Any = None
    prompt: str = ""
    history: list[Any] = field(default_factory=list)

    @property
    def raw_arguments(self) -> list[Any]:
        return [call["function"]["arguments"] for call in self.calls]


class Assembled:
    """A stream put together as the SDK's documentation does it."""

    def __init__(self) -> None:
        self.got = Got()
        self.calls: dict[Any, Any] = {}
        self.refusal = ""

    def add(self, chunk: Any) -> None:
        self.got.usage = chunk.usage or self.got.usage
        for choice in chunk.choices or ():
            self.got.text += choice.delta.content or ""
            self.refusal += getattr(choice.delta, "refusal", None) or ""
            if choice.finish_reason is not None:
                self.got.finish = choice.finish_reason
            for piece in choice.delta.tool_calls or ():
                if piece.index not in self.calls:
                    self.calls[piece.index] = piece
                else:
                    self.calls[piece.index].function.arguments += piece.function.arguments

    def done(self) -> Got:
        got = self.got
        got.calls = [
            {
                "id": call.id,
                "type": call.type,
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in self.calls.values()
        ]
        got.message = {"role": "assistant", "content": got.text or None}
        got.message |= {"tool_calls": got.calls} if got.calls else {}
        got.message |= {"refusal": self.refusal} if self.refusal else {}
        return got


def of_body(completion: Any) -> Got:
    choice = completion.choices[0]
    # As a program would: through JSON, whatever types the fields turned out to have.
    message = json.loads(json.dumps(choice.message.to_dict()))
    return Got(
        text=choice.message.content or "",
        calls=message.get("tool_calls") or [],
        finish=choice.finish_reason,
        message=message,
        usage=completion.usage,
    )


class Asker:
    """Asks a simulator through the SDK, with nothing else around it."""

    own_errors: tuple[type[Exception], ...] = (openai.OpenAIError,)
    """What programs that use the SDK catch."""
    refusal: type[Exception] = openai.BadRequestError

    def __init__(self, sim: Simulator, max_retries: int = 0) -> None:
        self.sim = sim
        given: Any = {"api_key": "key", "max_retries": max_retries}
        self.client, self.async_client = self.clients(**given)
        self.loop = asyncio.new_event_loop()

    def clients(self, **given: Any) -> tuple[Any, Any]:
        """The clients of the SDK, sync and async."""
        given["base_url"] = self.sim.base_url
        return openai.OpenAI(**given), openai.AsyncOpenAI(**given)

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
            function = {"name": whole.name, "arguments": whole.arguments}
            call = {"id": "call_before", "type": "function", "function": function}
            history.append({"role": "assistant", "content": None, "tool_calls": [call]})
            history.append({"role": "tool", "tool_call_id": "call_before", "content": "written"})
        return history

    def ask_case(self, case: Case, mode: str, way: str = "sync") -> Got:
        prompt = self.prompt_for(case)
        more = dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {})
        history = self.history_for(case, prompt)
        got = self.ask(history, mode, way, model=f"sim/{case.name}", **more)
        got.prompt, got.history = prompt, history
        return got

    def ask(self, messages: list[Any], mode: str = "body", way: str = "sync", **more: Any) -> Got:
        """Ask once; what the SDK raises is kept in the result."""
        given = {"model": "sim", "messages": messages, "stream": mode == "stream"} | more
        ask = self._ask_async if way == "async" else self._ask
        try:
            return ask(given)
        except Exception as error:  # noqa: BLE001 - which one it is, is what tests are about
            return Got(error=error)

    def _ask(self, given: dict[str, Any]) -> Got:
        made = self.client.chat.completions.create(**given)
        if not given["stream"]:
            return of_body(made)
        assembled = Assembled()
        # Some SDKs leave a stream that fails to the collector, which may come at any time.
        with made:
            for chunk in made:
                assembled.add(chunk)
        return assembled.done()

    def _ask_async(self, given: dict[str, Any]) -> Got:
        async def run() -> Got:
            made = await self.async_client.chat.completions.create(**given)
            if not given["stream"]:
                return of_body(made)
            assembled = Assembled()
            async with made:
                async for chunk in made:
                    assembled.add(chunk)
            return assembled.done()

        return self.loop.run_until_complete(run())

    def wanted(self, got: Got, case: Case) -> tuple[str, list[Any]]:
        """Return text and arguments of the full right answer."""
        if case.after_tool_result:
            return self.sim.answer(got.prompt), []
        whole = self.sim.expected(
            got.prompt, case.name, response_format=case.request.get("response_format")
        )
        return whole.text, [call.arguments for call in whole.calls]


def broken_call(got: Any) -> str:
    """Return what is wrong with the calls that were handed out, "" where nothing is."""
    ids = [call.get("id") for call in got.calls]
    if len(set(ids)) < len(ids) or not all(isinstance(i, str) and i for i in ids):
        return "ids"
    for call in got.calls:
        raw = call["function"]["arguments"]
        if not isinstance(raw, str) or not is_json_object(raw):
            return "arguments"
        if call.get("type") != "function":
            return "type"
    return "lying" if got.calls and got.finish not in ("stop", "tool_calls") else ""


def next_turn_is_refused(asker: Any, got: Any) -> bool:
    """Return whether the history with the answer in it is refused."""
    results = [
        {"role": "tool", "tool_call_id": call.get("id"), "content": "ok"} for call in got.calls
    ]
    after = [] if got.calls else [{"role": "user", "content": "Go on."}]
    said = asker.ask([*got.history, got.message, *results, *after])
    return isinstance(said.error, asker.refusal)


def verdicts(asker: Any, got: Any, case: Case) -> set[Bare]:
    """Return everything that is true of a result."""
    if got.error is not None:
        mine = isinstance(got.error, asker.own_errors)
        return {Bare.RAISES if mine else Bare.HARMFUL}
    right = (got.text, got.raw_arguments) == asker.wanted(got, case)
    if got.calls and broken_call(got):
        return {Bare.HARMFUL}
    refused = next_turn_is_refused(asker, got)
    if right and not refused:
        return {Bare.FINE}
    return ({Bare.HARMFUL} if refused else set()) | (set() if right else {Bare.SILENT})
