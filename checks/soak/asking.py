"""Asking through the official SDKs, wrapped by Tenuto, as a program does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any

import aiohttp
import anthropic
import boto3
import httpx
import httpx2
import openai
import urllib3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from google import genai
from google.genai import errors as genai_errors
from google.genai import types

import tenuto
from checks.soak.truth import TOOLS, Plan

READ_TIMEOUT_S = 8.0
"""So long a stall takes. On a busy machine a turn takes seconds, and none is to end by that."""
CLEAN = {
    "chat": ("stop", "tool_calls"),
    "messages": ("end_turn", "tool_use"),
    "responses": ("completed",),
    "gemini": ("STOP",),
    "converse": ("end_turn", "tool_use"),
}
_ERRORS = (
    openai.OpenAIError,
    anthropic.AnthropicError,
    genai_errors.APIError,
    BotoCoreError,
    ClientError,
)
"""What the SDKs raise of their own."""
_TRANSPORTS_ERRORS = (
    httpx.HTTPError,
    httpx2.HTTPError,
    aiohttp.ClientError,
    TimeoutError,
    urllib3.exceptions.HTTPError,
)
"""What google-genai lets through (aiohttp raises TimeoutError itself), and botocore in a stream of
events: there the bare boto3 raises urllib3's own error for a break and for a stall. For a body it
has its own."""
_report: ContextVar[list[dict[str, Any]] | None] = ContextVar("report", default=None)


@dataclass
class Got:
    """What one turn gave: what a program would go on with, or an error."""

    text: str = ""
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    stop: str | None = None
    error: str = ""
    odd: list[str] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)


def _on_event(event: tenuto.Event) -> None:
    told = _report.get()
    if told is not None and event.name == "turn_ended":
        told.append(event.data)


class Asker:
    """Wrapped clients, one of a kind, shared by all who ask in this process."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._made: dict[tuple[str, ...], Any] = {}

    def warm(self) -> None:
        """Make every client before anybody asks: threads share them."""
        for wire in ("openai", "anthropic", "gemini", "converse"):
            for way in ("task", "thread"):
                for on_incomplete in ("stop", "error"):
                    for prefill in ("auto", "always"):
                        self._client(wire, way, on_incomplete, prefill)

    def _client(self, *kind: str) -> Any:
        if kind not in self._made:
            library, way, on_incomplete, prefill = kind
            policy = tenuto.Policy(
                on_incomplete=on_incomplete,  # type: ignore[arg-type]
                prefill=prefill,  # type: ignore[arg-type]
                backoff_s=0.004,
                backoff_max_s=0.02,
            )
            made = _CLIENTS[library](f"http://127.0.0.1:{self.port}", way)
            self._made[kind] = tenuto.wrap(made, policy=policy, on_event=_on_event)
        return self._made[kind]

    def _given(self, plan: Plan, way: str) -> tuple[Any, dict[str, Any]]:
        library = _LIBRARIES.get(plan.wire, plan.wire)
        client = self._client(library, way, plan.on_incomplete, plan.prefill)
        return client, _REQUESTS[plan.wire](plan)

    def ask(self, plan: Plan) -> Got:
        """Ask once, in a thread."""
        with _answer() as got:
            client, given = self._given(plan, "thread")
            _ask(client, given, plan, got)
        return got

    async def ask_async(self, plan: Plan) -> Got:
        """Ask once, in a task."""
        with _answer() as got:
            client, given = self._given(plan, "task")
            await _ask_async(client, given, plan, got)
        return got

    async def close(self) -> None:
        """Close all clients."""
        for (library, way, *_rest), client in self._made.items():
            if library == "gemini" and way == "task":
                await client.aio.aclose()
            elif way == "task" and library != "converse":
                await client.close()
            else:
                client.close()


def _openai(base: str, way: str) -> Any:
    kind: Any = openai.AsyncOpenAI if way == "task" else openai.OpenAI
    waits = openai.Timeout(60, read=READ_TIMEOUT_S)
    return kind(base_url=f"{base}/v1", api_key="key", timeout=waits)


def _anthropic(base: str, way: str) -> Any:
    kind: Any = anthropic.AsyncAnthropic if way == "task" else anthropic.Anthropic
    return kind(base_url=base, api_key="key", timeout=anthropic.Timeout(60, read=READ_TIMEOUT_S))


def _gemini(base: str, way: str) -> Any:
    del way  # one client has both
    tries = types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.02)
    waits_ms = int(READ_TIMEOUT_S * 1_000)
    options = types.HttpOptions(base_url=base, timeout=waits_ms, retry_options=tries)
    return genai.Client(api_key="key", http_options=options)


def _converse(base: str, way: str) -> Any:
    del way  # it has no async one: a task waits for a thread
    tries = {"mode": "standard", "max_attempts": 3}
    config = Config(read_timeout=READ_TIMEOUT_S, retries=tries, max_pool_connections=32)
    return boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=base,
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        config=config,
    )


_LIBRARIES = {"chat": "openai", "responses": "openai", "messages": "anthropic"}
_CLIENTS = {"openai": _openai, "anthropic": _anthropic, "gemini": _gemini, "converse": _converse}


@contextmanager
def _answer() -> Iterator[Got]:
    """What a turn gave, with what it raised and reported."""
    told: list[dict[str, Any]] = []
    _report.set(told)
    got = Got()
    try:
        yield got
    except Exception as error:  # noqa: BLE001 - what a turn raises is what this is about
        _raised(got, error)
    got.report = told[-1] if told else {}


def _raised(got: Got, error: Exception) -> None:
    mine = isinstance(error, (*_ERRORS, *_TRANSPORTS_ERRORS))
    got.error = f"{type(error).__name__}: {str(error)[:300]}"
    if not mine:
        got.odd.append(
            f"an exception that the SDK does not have: {type(error).__module__}.{got.error}"
        )


# Requests


def _chat(plan: Plan) -> dict[str, Any]:
    rows: list[Any] = []
    for who, what in plan.history:
        if who == "call":
            function = {"name": what.name, "arguments": what.arguments}
            call = {"id": "call_before", "type": "function", "function": function}
            rows.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif who == "result":
            rows.append({"role": "tool", "tool_call_id": "call_before", "content": what})
            rows.append({"role": "assistant", "content": "That is done."})
        else:
            rows.append({"role": who, "content": what})
    given: dict[str, Any] = {"messages": [*rows, {"role": "user", "content": plan.prompt}]}
    given |= {"model": plan.model}
    if plan.tools:
        given["tools"] = [
            {"type": "function", "function": {"name": name, "parameters": schema}}
            for name, schema in TOOLS.items()
        ]
    given |= {"max_tokens": plan.max_tokens} if plan.max_tokens else {}
    given |= {"response_format": {"type": "json_object"}} if plan.document else {}
    if plan.stream:
        given["stream"] = True
        given |= {"stream_options": {"include_usage": True}} if plan.usage else {}
    return given


def _responses(plan: Plan) -> dict[str, Any]:
    items: list[Any] = []
    for who, what in plan.history:
        if who == "call":
            made = {"type": "function_call", "call_id": "call_before", "name": what.name}
            items.append(made | {"arguments": what.arguments})
        elif who == "result":
            items.append({"type": "function_call_output", "call_id": "call_before", "output": what})
            items.append({"role": "assistant", "content": "That is done."})
        else:
            items.append({"role": who, "content": what})
    given: dict[str, Any] = {"input": [*items, {"role": "user", "content": plan.prompt}]}
    given |= {"model": plan.model}
    if plan.tools:
        given["tools"] = [
            {"type": "function", "name": name, "parameters": schema, "strict": False}
            for name, schema in TOOLS.items()
        ]
    given |= {"max_output_tokens": plan.max_tokens} if plan.max_tokens else {}
    given |= {"text": {"format": {"type": "json_object"}}} if plan.document else {}
    given |= {"stream": True} if plan.stream else {}
    return given


def _messages(plan: Plan) -> dict[str, Any]:
    rows: list[Any] = []
    for who, what in plan.history:
        if who == "call":
            call = {
                "type": "tool_use",
                "id": "toolu_before",
                "name": what.name,
                "input": what.input,
            }
            rows.append({"role": "assistant", "content": [call]})
        elif who == "result":
            result = {"type": "tool_result", "tool_use_id": "toolu_before", "content": what}
            rows.append({"role": "user", "content": [result]})
            rows.append({"role": "assistant", "content": "That is done."})
        else:
            rows.append({"role": who, "content": what})
    given: dict[str, Any] = {"messages": [*rows, {"role": "user", "content": plan.prompt}]}
    given |= {"model": plan.model, "max_tokens": plan.max_tokens}
    if plan.tools:
        given["tools"] = [{"name": name, "input_schema": schema} for name, schema in TOOLS.items()]
    return given


def _contents(plan: Plan) -> dict[str, Any]:
    rows: list[Any] = []

    def row(role: str, part: dict[str, Any]) -> None:
        rows.append({"role": role, "parts": [part]})

    for who, what in plan.history:
        if who == "call":
            made = {"id": "fc_before", "name": what.name}
            row("model", {"function_call": made | {"args": what.input}})
        elif who == "result":
            name = rows[-1]["parts"][0]["function_call"]["name"]
            made = {"id": "fc_before", "name": name, "response": {"output": what}}
            row("user", {"function_response": made})
            row("model", {"text": "That is done."})
        else:
            row("model" if who == "assistant" else "user", {"text": what})
    row("user", {"text": plan.prompt})
    config: dict[str, Any] = {"automatic_function_calling": {"disable": True}}
    if plan.tools:
        declared = [{"name": n, "parameters_json_schema": s} for n, s in TOOLS.items()]
        config["tools"] = [{"function_declarations": declared}]
    config |= {"max_output_tokens": plan.max_tokens} if plan.max_tokens else {}
    config |= {"response_mime_type": "application/json"} if plan.document else {}
    return {"model": plan.model, "contents": rows, "config": config}


def _converse_messages(plan: Plan) -> dict[str, Any]:
    rows: list[Any] = []
    for who, what in plan.history:
        if who == "call":
            call = {"toolUseId": "tooluse_before", "name": what.name, "input": what.input}
            rows.append({"role": "assistant", "content": [{"toolUse": call}]})
        elif who == "result":
            result = {"toolUseId": "tooluse_before", "content": [{"text": what}]}
            rows.append({"role": "user", "content": [{"toolResult": result}]})
            rows.append({"role": "assistant", "content": [{"text": "That is done."}]})
        else:
            rows.append({"role": who, "content": [{"text": what}]})
    rows.append({"role": "user", "content": [{"text": plan.prompt}]})
    given: dict[str, Any] = {"modelId": plan.model, "messages": rows}
    given |= {"inferenceConfig": {"maxTokens": plan.max_tokens}} if plan.max_tokens else {}
    if plan.tools:
        specs = [{"name": name, "inputSchema": {"json": s}} for name, s in TOOLS.items()]
        given["toolConfig"] = {"tools": [{"toolSpec": spec} for spec in specs]}
    return given


_REQUESTS = {
    "chat": _chat,
    "responses": _responses,
    "messages": _messages,
    "gemini": _contents,
    "converse": _converse_messages,
}


# Asking, and reading what comes


class _Chunks:
    """A stream of chunks put together as the SDK's documentation does it."""

    def __init__(self, got: Got) -> None:
        self.got = got
        self.calls: dict[int, list[str]] = {}

    def add(self, chunk: Any) -> None:
        for choice in chunk.choices or ():
            self.got.text += choice.delta.content or ""
            if choice.finish_reason is not None:
                if self.got.stop is not None:
                    self.got.odd.append("two finish reasons")
                self.got.stop = choice.finish_reason
            for piece in choice.delta.tool_calls or ():
                call = self.calls.setdefault(piece.index, ["", "", ""])
                call[0] = call[0] or piece.id or ""
                call[1] += piece.function.name or ""
                call[2] += piece.function.arguments or ""
        self.got.calls = [(c[0], c[1], c[2]) for c in self.calls.values()]

    def end(self, stream: Any) -> None:
        """Nothing: the chunks are all there is."""


def _of_completion(made: Any, got: Got) -> None:
    choice = made.choices[0]
    got.text, got.stop = choice.message.content or "", choice.finish_reason
    got.calls = [
        (c.id, c.function.name, c.function.arguments) for c in choice.message.tool_calls or ()
    ]


class _Events:
    """A stream of events of Responses: the deltas, and the response at the end."""

    def __init__(self, got: Got) -> None:
        self.got = got
        self.last: Any = None

    def add(self, event: Any) -> None:
        if event.type == "response.output_text.delta":
            self.got.text += event.delta
        elif event.type in ("response.completed", "response.incomplete", "response.failed"):
            if self.last is not None:
                self.got.odd.append("two ends")
            self.last = event.response
        elif event.type == "error":
            self.got.error = f"error event: {event.code} {event.message}"

    def end(self, stream: Any) -> None:
        del stream
        if self.last is not None:
            streamed = self.got.text
            _of_response(self.last, self.got)
            if self.got.text != streamed:
                self.got.odd.append(f"deltas and response differ: {streamed!r}, {self.got.text!r}")


def _of_response(made: Any, got: Got) -> None:
    got.text = "".join(
        part.text or ""
        for item in made.output
        if item.type == "message"
        for part in item.content
        if part.type == "output_text"
    )
    got.calls = [(i.call_id, i.name, i.arguments) for i in made.output if i.type == "function_call"]
    got.stop = made.status
    if made.status == "failed":
        got.error = f"failed: {made.error}"


class _Message:
    """A stream of Messages: the text, and the message that the SDK has put together."""

    def __init__(self, got: Got) -> None:
        self.got = got

    def add(self, event: Any) -> None:
        if event.type == "text":
            self.got.text += event.text

    def end(self, stream: Any) -> None:
        streamed = self.got.text
        _of_message(stream.current_message_snapshot, self.got)
        if self.got.text != streamed:
            self.got.odd.append(f"deltas and message differ: {streamed!r}, {self.got.text!r}")


def _of_message(made: Any, got: Got) -> None:
    got.text = "".join(block.text for block in made.content if block.type == "text")
    got.calls = [
        (b.id, b.name, json.loads(json.dumps(b.input)))
        for b in made.content
        if b.type == "tool_use"
    ]
    got.stop = made.stop_reason


class _Candidates:
    """A stream of Gemini's: the first candidate's parts, as they come."""

    def __init__(self, got: Got) -> None:
        self.got = got

    def add(self, chunk: Any) -> None:
        for candidate in (chunk.candidates or ())[:1]:
            if candidate.finish_reason is not None:
                if self.got.stop is not None:
                    self.got.odd.append("two finish reasons")
                self.got.stop = candidate.finish_reason.value
            for part in (candidate.content and candidate.content.parts) or ():
                call = part.function_call
                if call is not None:
                    name = call.id or f"call {len(self.got.calls)}"
                    self.got.calls.append((name, call.name, call.args or {}))
                elif part.text and not part.thought:
                    self.got.text += part.text

    def end(self, stream: Any) -> None:
        """Nothing: the chunks are all there is."""


def _of_candidates(made: Any, got: Got) -> None:
    _Candidates(got).add(made)


class _Blocks:
    """A stream of Converse, put together as the documentation of boto3 does it."""

    def __init__(self, got: Got) -> None:
        self.got = got
        self.calls: dict[int, list[str]] = {}

    def add(self, event: dict[str, Any]) -> None:
        name, data = next(iter(event.items()))
        if name == "contentBlockStart" and "toolUse" in data["start"]:
            call = data["start"]["toolUse"]
            self.calls[data["contentBlockIndex"]] = [call["toolUseId"], call["name"], ""]
        elif name == "contentBlockDelta":
            self.got.text += data["delta"].get("text", "")
            piece = data["delta"].get("toolUse", {}).get("input", "")
            if piece:
                self.calls[data["contentBlockIndex"]][2] += piece
        elif name == "messageStop":
            if self.got.stop is not None:
                self.got.odd.append("two stops")
            self.got.stop = data["stopReason"]
        self.got.calls = [(c[0], c[1], c[2]) for c in self.calls.values()]

    def end(self, stream: Any) -> None:
        """Nothing: the events are all there is."""


def _of_converse(made: Any, got: Got) -> None:
    blocks = made["output"]["message"]["content"]
    got.text = "".join(block.get("text", "") for block in blocks)
    calls = [block["toolUse"] for block in blocks if "toolUse" in block]
    got.calls = [(c["toolUseId"], c["name"], c["input"]) for c in calls]
    got.stop = made["stopReason"]


_READ: dict[str, tuple[Any, Any]] = {
    "chat": (_of_completion, _Chunks),
    "responses": (_of_response, _Events),
    "messages": (_of_message, _Message),
    "gemini": (_of_candidates, _Candidates),
    "converse": (_of_converse, _Blocks),
}
"""How a whole answer and a stream are read."""


def _made(client: Any, given: dict[str, Any], plan: Plan) -> Any:
    """The SDK's answer; in a task it may have to be awaited."""
    match plan.wire, plan.stream:
        case "chat", _:
            return client.chat.completions.create(**given)
        case "responses", _:
            return client.responses.create(**given)
        case "messages", stream:
            return (client.messages.stream if stream else client.messages.create)(**given)
        case "gemini", stream:
            models = client.aio.models if plan.task else client.models
            return (models.generate_content_stream if stream else models.generate_content)(**given)
        case _, True:
            return client.converse_stream(**given)["stream"]
        case _:
            return client.converse(**given)


def _ask(client: Any, given: dict[str, Any], plan: Plan, got: Got) -> None:
    whole, reader = _READ[plan.wire]
    made = _made(client, given, plan)
    if not plan.stream:
        whole(made, got)
        return
    read = reader(got)
    with made if hasattr(made, "__enter__") else closing(made) as stream:
        for event in stream:
            read.add(event)
        read.end(stream)


async def _ask_async(client: Any, given: dict[str, Any], plan: Plan, got: Got) -> None:
    if plan.wire == "converse":
        await asyncio.to_thread(_ask, client, given, plan, got)
        return
    whole, reader = _READ[plan.wire]
    made = _made(client, given, plan)
    made = await made if isawaitable(made) else made
    if not plan.stream:
        whole(made, got)
        return
    read = reader(got)
    async with made if hasattr(made, "__aenter__") else aclosing(made) as stream:
        async for event in stream:
            read.add(event)
        read.end(stream)


def run_one(port: int, plan: Plan) -> Got:
    """One turn by itself, with clients of its own."""

    async def run() -> Got:
        asker = Asker(port)
        try:
            return (
                await asker.ask_async(plan)
                if plan.task
                else await asyncio.to_thread(asker.ask, plan)
            )
        finally:
            await asker.close()

    return asyncio.run(run())
