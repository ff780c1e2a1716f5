"""Every SDK before answers whose framing, name and bytes do not fit each other: what a program is
given with Tenuto in front, and without."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple

import aiobotocore.session
import anthropic
import boto3
import ollama
import openai
from botocore.exceptions import BotoCoreError, ClientError
from google import genai
from google.genai import errors, types
from google.genai._gaos.lib import compat_errors
from mistralai.client import Mistral
from mistralai.client.errors import MistralError

import tenuto
from examples.wires.tests.at_hand import fixtures
from support.asking.bedrock_converse import given_to_a_client
from support.asking.gemini_interactions import ErrorEventSeen
from support.aws import KEYS, as_botocore_reads
from support.aws_messages import chunk
from support.far_sides import FarSide, answer
from support.replay import gemini_generate as replay_gemini

TEXT = "Hello world"
NAMES = {
    "events": "text/event-stream",
    "json": "application/json",
    "lines": "application/x-ndjson",
    "messages": "application/vnd.amazon.eventstream",
    "html": "text/html",
    "plain": "text/plain",
    "octets": "application/octet-stream",
    "none": "",
}
"""Content types."""
BYTES = ("events", "body", "array", "lines", "messages", "html", "error", "empty")
"""What comes; `lines`: objects of JSON, one on each line."""
MODES, WAYS = ("body", "stream"), ("sync", "async")
HTML = b"<!DOCTYPE html>\n<html><body><h1>Welcome</h1></body></html>\n"
ERROR = json.dumps(
    {
        "type": "error",
        "message": "No luck today",
        "error": {"type": "api_error", "code": 503, "message": "No luck today"},
    }
).encode()
POLICY = tenuto.Policy(backoff_s=0.0, retry_after_max_s=0.0)


class Got(NamedTuple):
    """What a program was given: text, or what else it is, or an error."""

    said: Any = None
    error: Exception | None = None

    @property
    def is_right(self) -> bool:
        """Whether it is the answer."""
        return self.error is None and self.said == TEXT


# --- what comes


RECORDED = {
    "openai-chat": ("stop", "stream.sse"),
    "openai-responses": ("completed", "stream.sse"),
    "anthropic-messages": ("end-turn", "stream.sse"),
    "gemini-interactions": ("completed", "stream.sse"),
    "bedrock-converse": ("end-turn", "stream.bin"),
    "ollama": ("stop", "stream.ndjson"),
    "mistral": ("stop", "stream.sse"),
}
OTHER_WORDS = {
    "gemini-interactions": {b"Hello.": TEXT.encode(), b"1, 2, 3, ": b"Hello ", b"4, 5.": b"world"},
    "mistral": {b"All of it.": TEXT.encode(), b'"All"': b'"Hello"', b'" of it."': b'" world"'},
}
"""What the fixtures of a wire say instead of the text."""


def told(wire: str) -> tuple[bytes, bytes]:
    """The answer as the body and as the stream of a wire."""
    if wire == "gemini-generate":
        made = replay_gemini.R(TEXT)
        return made.body(), made.stream()
    name, file = RECORDED[wire]
    folder = fixtures(wire)
    body = (folder / name / "body.json").read_bytes()
    stream = (folder / f"{name}-stream" / file).read_bytes()
    for said, meant in OTHER_WORDS.get(wire, {}).items():
        body, stream = body.replace(said, meant), stream.replace(said, meant)
    return body, stream


def shapes_of(wire: str) -> dict[str, bytes]:
    """The same answer in each framing, and what is none."""
    body, stream = told(wire)
    if wire == "bedrock-converse":
        pieces = [
            json.dumps({headers[":event-type"]: json.loads(payload)}).encode()
            for headers, payload in as_botocore_reads(stream)
        ]
        messages, events = stream, b"".join(b"data: %b\n\n" % piece for piece in pieces)
    elif wire == "ollama":
        pieces = stream.splitlines()
        messages = b"".join(map(chunk, pieces))
        events = b"".join(b"data: %b\n\n" % piece for piece in pieces)
    else:
        pieces = [line[6:] for line in stream.splitlines() if line.startswith(b"data: {")]
        messages, events = b"".join(map(chunk, pieces)), stream
    array, lines = b"[" + b"\n,\n".join(pieces) + b"\n]", b"\n".join(pieces) + b"\n"
    shapes = (events, body, array, lines, messages, HTML, ERROR, b"")
    return dict(zip(BYTES, shapes, strict=True))


class Changing:
    """An answer that is set anew for each question; `FarSide` sends it."""

    given = b""

    def __iter__(self) -> Iterator[bytes]:
        yield self.given


# --- who asks


MESSAGES: Any = [{"role": "user", "content": "Hi"}]
BLOCKS: Any = [{"role": "user", "content": [{"text": "Hi"}]}]
CLAUDE = json.dumps(
    {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 99, "messages": MESSAGES}
)


@dataclass(frozen=True)
class Sdk:
    """One SDK: the wire it speaks, and the errors that its users catch. `by_name`: it reads what it
    is given by its content type, whatever was asked for, and nothing under a wrong one."""

    wire: str
    own: tuple[type[Exception], ...]
    by_name: bool = False

    def reads(self, named: str, shape: str) -> bool:
        """Whether it reads a shape under a content type."""
        return not self.by_name or named == {"body": "json"}.get(shape, shape)


BOTOS = (ClientError, BotoCoreError)
SDKS = {
    "chat": Sdk("openai-chat", (openai.OpenAIError,)),
    "responses": Sdk("openai-responses", (openai.OpenAIError,)),
    "anthropic": Sdk("anthropic-messages", (anthropic.AnthropicError,)),
    "anthropic-bedrock": Sdk("anthropic-messages", (anthropic.AnthropicError,)),
    "gemini": Sdk("gemini-generate", (errors.APIError,)),
    "interactions": Sdk(
        "gemini-interactions", (compat_errors.APIError, ErrorEventSeen), by_name=True
    ),
    "ollama": Sdk("ollama", (ollama.ResponseError,)),
    "mistral": Sdk("mistral", (MistralError,), by_name=True),
    "converse": Sdk("bedrock-converse", BOTOS),
    "invoke": Sdk("anthropic-messages", BOTOS),
}


class Asker:
    """One client of an SDK, bare or wrapped, before a far side whose answer changes."""

    def __init__(self, name: str, way: str, far: FarSide, loop: Any, *, wrapped: bool) -> None:
        self.name, self.way, self.loop = name, way, loop
        self._stack = AsyncExitStack()
        client = self._made(far.base_url.removesuffix("/v1"))
        self.client = tenuto.wrap(client, policy=POLICY) if wrapped else client

    def close(self) -> None:
        self.loop.run_until_complete(self._stack.aclose())

    def _made(self, url: str) -> Any:
        is_async = self.way == "async"
        match self.name:
            case "chat" | "responses":
                kind: Any = openai.AsyncOpenAI if is_async else openai.OpenAI
                made = kind(base_url=f"{url}/v1", api_key="key", max_retries=0)
            case "anthropic":
                kind = anthropic.AsyncAnthropic if is_async else anthropic.Anthropic
                made = kind(base_url=url, api_key="key", max_retries=0)
            case "anthropic-bedrock":
                kind = anthropic.AsyncAnthropicBedrock if is_async else anthropic.AnthropicBedrock
                made = kind(base_url=url, max_retries=0, **KEYS)
            case "ollama":
                kind = ollama.AsyncClient if is_async else ollama.Client
                made = kind(host=url)
            case "mistral":
                made = Mistral(server_url=url, api_key="key")
                own: Any = made.sdk_configuration
                self._stack.callback(own.client.close)
                self._stack.push_async_callback(own.async_client.aclose)
                return made
            case "gemini" | "interactions":
                retry = types.HttpRetryOptions(attempts=1)
                options = types.HttpOptions(base_url=url, retry_options=retry)
                made = genai.Client(api_key="key", http_options=options)
                self._stack.push_async_callback(made.aio.aclose)
                self._stack.callback(made.close)
                return made
            case _:
                given = given_to_a_client(url, 0)
                if is_async:
                    session: Any = aiobotocore.session.get_session()
                    opening = session.create_client("bedrock-runtime", **given)
                    return self.loop.run_until_complete(self._stack.enter_async_context(opening))
                made = boto3.client("bedrock-runtime", **given)
        self._stack.push_async_callback(made.close) if is_async else self._stack.callback(
            made.close
        )
        return made

    def ask(self, mode: str) -> Got:
        """Ask once; what is raised is kept."""
        try:
            if self.way == "async":
                return Got(self.loop.run_until_complete(self._ask_async(mode)))
            return Got(self._ask(mode))
        except Exception as error:  # noqa: BLE001 - which one it is, is what the tests are about
            return Got(error=error)

    def _call(self, mode: str) -> Any:
        streams: Any = {"stream": True} if mode == "stream" else {}
        client = self.client
        match self.name:
            case "chat":
                return client.chat.completions.create(model="m", messages=MESSAGES, **streams)
            case "responses":
                return client.responses.create(model="m", input="Hi", **streams)
            case "anthropic" | "anthropic-bedrock":
                given = {"model": "claude-x", "messages": MESSAGES, "max_tokens": 99}
                return client.messages.create(**given, **streams)
            case "ollama":
                return client.chat("m", MESSAGES, **streams)
            case "mistral":
                way = ("stream" if streams else "complete") + "_async" * (self.way == "async")
                return getattr(client.chat, way)(model="m", messages=MESSAGES)
            case "gemini":
                models = client.aio.models if self.way == "async" else client.models
                method = "generate_content_stream" if streams else "generate_content"
                return getattr(models, method)(model="m", contents="Hi")
            case "interactions":
                interactions = (
                    client.aio.interactions if self.way == "async" else client.interactions
                )
                return interactions.create(model="m", input="Hi", store=False, **streams)
            case "converse":
                method = client.converse_stream if streams else client.converse
                return method(modelId="amazon.nova-x", messages=BLOCKS)
            case _:
                method = (
                    client.invoke_model_with_response_stream if streams else client.invoke_model
                )
                return method(modelId="anthropic.claude-x", body=CLAUDE)

    def _ask(self, mode: str) -> Any:
        answered = self._call(mode)
        if mode == "body":
            body = answered["body"].read() if self.name == "invoke" else None
            return self._of_body(answered, body)
        if self.name in ("converse", "invoke"):
            answered = answered["stream" if self.name == "converse" else "body"]
        with contextlib.closing(answered):
            return "".join([self._of_event(event) for event in answered])

    async def _ask_async(self, mode: str) -> Any:
        answered = await self._call(mode)
        if mode == "body":
            body = await answered["body"].read() if self.name == "invoke" else None
            return self._of_body(answered, body)
        if self.name in ("converse", "invoke"):
            answered = answered["stream" if self.name == "converse" else "body"]
        events = aiter(answered)
        try:
            return "".join([self._of_event(event) async for event in events])
        finally:
            # Both: an SDK's iterator that raised is else left to the collector.
            for each in (events, answered):
                closing = getattr(each, "aclose", None) or getattr(each, "close", None)
                if closing is not None and (waits := closing()) is not None:
                    await waits

    def _of_body(self, answered: Any, body: bytes | None) -> Any:
        """The text of a body; what is no answer of the SDK's own type, as it is."""
        if isinstance(answered, str):
            return f"(a str) {answered}"
        match self.name:
            case "chat" | "mistral":
                return answered.choices[0].message.content
            case "responses":
                return answered.output_text
            case "anthropic" | "anthropic-bedrock":
                return answered.content[0].text
            case "ollama":
                return answered.message.content
            case "gemini":
                return answered.text
            case "interactions":
                return answered.output_text
            case "converse":
                return answered["output"]["message"]["content"][0]["text"]
            case _:
                return json.loads(body or b"")["content"][0]["text"]

    def _of_event(self, event: Any) -> str:
        match self.name:
            case "chat":
                return str(event.choices[0].delta.content or "") if event.choices else ""
            case "responses":
                return str(event.delta) if event.type == "response.output_text.delta" else ""
            case "anthropic" | "anthropic-bedrock":
                return str(event.delta.text) if event.type == "content_block_delta" else ""
            case "ollama":
                return str(event.message.content or "")
            case "mistral":
                return str(event.data.choices[0].delta.content or "")
            case "gemini":
                return str(event.text or "")
            case "interactions":
                if event.event_type == "error":  # on which this SDK raises nothing
                    raise ErrorEventSeen(event.error)
                delta = getattr(event, "delta", None)
                return str(getattr(delta, "text", None) or "")
            case "converse":
                return str(event.get("contentBlockDelta", {}).get("delta", {}).get("text", ""))
            case _:
                value = json.loads(event["chunk"]["bytes"])
                return str(value.get("delta", {}).get("text", ""))


def response(name: str, shape: bytes) -> bytes:
    """A response of this content type and these bytes."""
    header = (f"content-type: {NAMES[name]}",) if NAMES[name] else ()
    return answer(shape, *header)


def verdict(sdk: Sdk, bare: Got, got: Got) -> str:
    """What was made of it: "right"; "alike", the error (or the odd thing) that there is without
    Tenuto; "told", an error of the SDK where there was something worse; "" where it is worse."""
    if got.is_right:
        return "right"
    if bare.is_right:
        return ""
    if got.error is not None:
        if type(got.error) is type(bare.error):
            return "alike"
        return "told" if isinstance(got.error, sdk.own) else ""
    return "as it came" if bare.error is None and got.said == bare.said else ""
