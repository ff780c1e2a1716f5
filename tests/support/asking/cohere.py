"""Asking a simulator through Cohere's SDK, as its documentation shows how to. What is common to all
wires stands in `openai_chat`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import cohere
from cohere.core import ApiError

from support.asking import openai_chat
from support.asking.openai_chat import TOOLS, Asker, Got
from support.asking.wrapping import Watching
from support.loops import close_loop
from tenuto_sim import CASES_ON, Bare, Case, Simulator

__all__ = ["CASES", "TOOLS", "WIRE", "CohereAsker", "broken_call", "verdicts"]

WIRE = "cohere"
CASES = CASES_ON[WIRE]
_IN_CHATS_WORDS = {"COMPLETE": "stop", "TOOL_CALL": "tool_calls"}


class ErrorSeen(Exception):
    """The end of a stream holds an error, where the SDK raises on none: a program has to look."""


def plain(value: Any) -> dict[str, Any]:
    """An object of the SDK as a program keeps it: as JSON."""
    made: dict[str, Any] = json.loads(value.model_dump_json(exclude_none=True, warnings=False))
    return made


def of_message(message: dict[str, Any], finish: Any, usage: Any) -> Got:
    """What a whole message says."""
    parts = message.get("content") or []
    return Got(
        text="".join(part.get("text") or "" for part in parts),
        calls=message.get("tool_calls") or [],
        finish=finish,
        message={"role": "assistant", **message},
        usage=usage,
    )


class Assembled:
    """A stream put together as the documentation shows it."""

    def __init__(self) -> None:
        self.parts: dict[Any, dict[str, Any]] = {}
        self.calls: dict[Any, dict[str, Any]] = {}
        self.plan = ""
        self.finish: Any = None
        self.usage: Any = None
        self.error = ""

    def add(self, event: Any) -> None:
        said: Any = getattr(getattr(event, "delta", None), "message", None)
        match event.type:
            case "content-start":
                self.parts[event.index] = {"type": said.content.type, said.content.type: ""}
            case "content-delta":
                part = self.parts[event.index]
                part[part["type"]] += getattr(said.content, part["type"])
            case "tool-plan-delta":
                self.plan += said.tool_plan
            case "tool-call-start":
                self.calls[event.index] = plain(said.tool_calls)
            case "tool-call-delta":
                piece = said.tool_calls.function.arguments
                self.calls[event.index]["function"]["arguments"] += piece
            case "message-end":
                self.error = event.delta.error or ""
                self.finish = event.delta.finish_reason or self.finish
                self.usage = event.delta.usage or self.usage

    def done(self) -> Got:
        if self.error:
            raise ErrorSeen(self.error)
        told = {"content": list(self.parts.values()), "tool_calls": list(self.calls.values())}
        message: dict[str, Any] = {key: value for key, value in told.items() if value}
        message |= {"tool_plan": self.plan} if self.plan else {}
        return of_message(message, self.finish, self.usage)


class CohereAsker(Asker):
    """Asks a simulator through the SDK, with nothing else around it; `told` holds the events of the
    last stream."""

    own_errors = (ApiError,)
    refusal = ApiError

    def __init__(self, sim: Simulator, max_retries: int = 0) -> None:
        self.sim = sim
        given: Any = {"base_url": sim.root_url, "api_key": "key", "max_retries": max_retries}
        self.client: Any = cohere.ClientV2(**given)
        self.async_client: Any = cohere.AsyncClientV2(**given)
        self.loop = asyncio.new_event_loop()
        self.told: list[Any] = []

    def close(self) -> None:
        for client in (self.client, self.async_client):
            closed = client._client_wrapper.httpx_client.httpx_client
            if client is self.client:
                closed.close()
            else:
                self.loop.run_until_complete(closed.aclose())
        close_loop(self.loop)

    def _ask(self, given: dict[str, Any]) -> Got:
        self.told.clear()
        if not given.pop("stream"):
            made = self.client.chat(**given)
            return of_message(plain(made.message), made.finish_reason, made.usage)
        assembled = Assembled()
        for event in self.client.chat_stream(**given):
            self.told.append(event)
            assembled.add(event)
        return assembled.done()

    def _ask_async(self, given: dict[str, Any]) -> Got:
        async def run() -> Got:
            if not given.pop("stream"):
                made = await self.async_client.chat(**given)
                return of_message(plain(made.message), made.finish_reason, made.usage)
            assembled = Assembled()
            async for event in self.async_client.chat_stream(**given):
                self.told.append(event)
                assembled.add(event)
            return assembled.done()

        self.told.clear()
        return self.loop.run_until_complete(run())


def _in_chats_words(got: Got) -> Got:
    return replace(got, finish=_IN_CHATS_WORDS.get(str(got.finish), got.finish))


def broken_call(got: Got) -> str:
    """What is wrong with the calls that were handed out, "" where nothing is."""
    return openai_chat.broken_call(_in_chats_words(got))


def verdicts(asker: Any, got: Got, case: Case) -> set[Bare]:
    """Everything that is true of a result. An error in a stream raises nothing."""
    if isinstance(got.error, ErrorSeen):
        return {Bare.SILENT}
    return openai_chat.verdicts(asker, _in_chats_words(got), case)


class WrappedCohere(Watching, CohereAsker):
    """Asks through `tenuto.wrap`."""


def assert_one_message(told: list[Any]) -> None:
    """A stream is one message: one beginning, parts and calls counted in a row, one end."""
    kinds = [event.type for event in told]
    assert (kinds.count("message-start"), kinds.count("message-end")) == (1, 1)
    assert (kinds[0], kinds[-1]) == ("message-start", "message-end")
    for opens, adds, closes in (
        ("content-start", "content-delta", "content-end"),
        ("tool-call-start", "tool-call-delta", "tool-call-end"),
        ("citation-start", "", "citation-end"),
    ):
        now: int | None = None
        numbers: list[int] = []
        for event in told:
            if event.type == opens:
                assert now is None, "one is open at a time"
                now = event.index
                numbers.append(now)
            elif event.type in (adds, closes):
                assert event.index == now
                now = None if event.type == closes else now
        assert now is None
        assert numbers == list(range(len(numbers)))
