"""The official SDKs: how each is asked, and what a program reads from what it gives.

Whatever an SDK gives is first turned into plain values (`plain`), and these are read. So what a
program saw can be compared member by member, and printed.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from tenuto_sim.gemini_generate.seals import signature

PROMPT: Final = "Tell me what happened in the harbour."
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}
FUNCTION: Final = {"name": "write_file", "description": "Write a text file.", "parameters": SCHEMA}
CHAT_TOOLS: Final = [{"type": "function", "function": FUNCTION}]
GIVEN: Final = {"path": "tides.txt", "content": "high"}
RESULT: Final = "The file is written."
TIMEOUT_S: Final = 15


@dataclass(slots=True)
class Seen:
    """What a program saw of one turn."""

    text: str = ""
    thinking: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    stop: str | None = None
    usage: tuple[int, int] | None = None
    """Tokens of the input and of the output."""
    error: str = ""
    kinds: tuple[str, ...] = ()
    """The classes of the error, from its own to `Exception`."""
    status: int | None = None
    final: Seen | None = None
    """What the last event, or the SDK's own accumulator, says of the whole."""
    dump: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Question:
    """What a program asks.

    `more` are further arguments of the wire, and `rows` the whole history instead of the common
    one.
    """

    model: str
    tools: bool = False
    after_result: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


def plain(value: Any) -> Any:
    """Return what an SDK gave as plain values, without what belongs to the transport."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", exclude_unset=True, warnings=False)
    if isinstance(value, dict):
        left = ("ResponseMetadata", "sdk_http_response", "total_duration", "created_at")
        return {k: plain(v) for k, v in value.items() if k not in left}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


class Sdk:
    """One SDK and one of its wires. A subclass says how it is made, asked and read."""

    package = ""
    wire = ""
    dialect = ""
    prefill = "restart"
    complete: frozenset[str] = frozenset()
    """Stops that say that the answer is whole."""
    sync_only = False

    def client(self, url: str, *, task: bool) -> Any:
        """Return a client that does not repeat requests of its own accord."""
        raise NotImplementedError

    def given(self, question: Question) -> dict[str, Any]:
        """Return the arguments of a call."""
        raise NotImplementedError

    def ask(self, client: Any, given: dict[str, Any], *, stream: bool, task: bool) -> Any:
        """Return what the SDK gives: in a task it may have to be awaited."""
        raise NotImplementedError

    def read(self, seen: Seen, told: Mapping[str, Any]) -> None:
        """Take a whole answer."""
        raise NotImplementedError

    def take(self, seen: Seen, event: Mapping[str, Any], slots: dict[Any, list[Any]]) -> None:
        """Take one event of a stream; `slots` are the calls so far."""
        raise NotImplementedError

    def ended(self, seen: Seen, stream: Any) -> None:
        """Take what the SDK has put together itself."""


def _calls(slots: Mapping[Any, list[Any]]) -> list[tuple[str, Any]]:
    return [(str(name), given) for name, given in slots.values()]


class Chat(Sdk):
    """Chat Completions, which four SDKs speak."""

    wire = "openai-chat"
    complete = frozenset({"stop", "tool_calls", "function_call", "eos", "STOP"})

    def __init__(self, package: str, sync: str, task: str, path: str = "/v1", **more: Any) -> None:
        self.package, self._names, self._path = package, (sync, task), path
        self.dialect = str(more.pop("dialect", ""))
        self._module = more.pop("module", package)
        self._more = more

    def client(self, url: str, *, task: bool) -> Any:
        kind = getattr(importlib.import_module(self._module), self._names[task])
        base = f"{url}{self._path}"
        return kind(base_url=base, api_key="none", max_retries=0, timeout=TIMEOUT_S, **self._more)

    def given(self, question: Question) -> dict[str, Any]:
        rows: list[Any] = [{"role": "user", "content": PROMPT}]
        if question.after_result:
            function = {"name": "write_file", "arguments": json.dumps(GIVEN)}
            call = {"id": "call_1", "type": "function", "function": function}
            rows.append({"role": "assistant", "content": None, "tool_calls": [call]})
            rows.append({"role": "tool", "tool_call_id": "call_1", "content": RESULT})
        tools = {"tools": CHAT_TOOLS} if question.tools else {}
        return {"model": question.model, "messages": rows, **tools, **question.more}

    def ask(self, client: Any, given: dict[str, Any], *, stream: bool, task: bool) -> Any:
        return client.chat.completions.create(**given, **({"stream": True} if stream else {}))

    def read(self, seen: Seen, told: Mapping[str, Any]) -> None:
        choice = told["choices"][0]
        message = choice["message"]
        seen.text = message.get("content") or message.get("refusal") or ""
        seen.thinking = message.get("reasoning_content") or message.get("reasoning") or ""
        seen.stop = choice.get("finish_reason")
        for call in message.get("tool_calls") or ():
            seen.calls.append((call["function"]["name"], call["function"].get("arguments")))
        self._use(seen, told.get("usage"))

    def _use(self, seen: Seen, usage: Any) -> None:
        if usage:
            seen.usage = (usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0)

    def take(self, seen: Seen, event: Mapping[str, Any], slots: dict[Any, list[Any]]) -> None:
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or choice.get("message") or {}
            seen.text += delta.get("content") or delta.get("refusal") or ""
            seen.thinking += delta.get("reasoning_content") or delta.get("reasoning") or ""
            seen.stop = choice.get("finish_reason") or seen.stop
            for piece in delta.get("tool_calls") or ():
                slot = slots.setdefault(piece.get("index"), ["", ""])
                function = piece.get("function") or {}
                slot[0] += function.get("name") or ""
                given = function.get("arguments")
                slot[1] = slot[1] + given if isinstance(given, str) else given or slot[1]
        seen.calls = _calls(slots)
        # Groq's streams tell it in a member of its own.
        self._use(seen, (event.get("x_groq") or {}).get("usage") or event.get("usage"))


class Responses(Sdk):
    """OpenAI's Responses."""

    package, wire = "openai", "openai-responses"
    complete = frozenset({"completed"})

    def client(self, url: str, *, task: bool) -> Any:
        return SDKS["openai-chat"].client(url, task=task)

    def given(self, question: Question) -> dict[str, Any]:
        items: list[Any] = [{"role": "user", "content": PROMPT}]
        if question.after_result:
            call = {"type": "function_call", "call_id": "call_1", "name": "write_file"}
            items.append({**call, "arguments": json.dumps(GIVEN)})
            items.append({"type": "function_call_output", "call_id": "call_1", "output": RESULT})
        tools = {"tools": [{"type": "function", **FUNCTION, "strict": False}]}
        asked = {"model": question.model, "input": items, **(tools if question.tools else {})}
        return {**asked, **question.more}

    def ask(self, client: Any, given: dict[str, Any], *, stream: bool, task: bool) -> Any:
        return client.responses.create(**given, **({"stream": True} if stream else {}))

    def read(self, seen: Seen, told: Mapping[str, Any]) -> None:
        for item in told.get("output") or ():
            for part in item.get("content") or () if item.get("type") == "message" else ():
                seen.text += part.get("text") or part.get("refusal") or ""
            if item.get("type") == "function_call":
                seen.calls.append((item.get("name"), item.get("arguments")))
        why = (told.get("incomplete_details") or {}).get("reason")
        status = told.get("status")
        seen.stop = f"{status}/{why}" if why else status
        if usage := told.get("usage"):
            seen.usage = (usage.get("input_tokens") or 0, usage.get("output_tokens") or 0)
        if error := told.get("error"):
            seen.error = f"in the response: {error.get('code')}"

    def take(self, seen: Seen, event: Mapping[str, Any], slots: dict[Any, list[Any]]) -> None:
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                seen.text += event["delta"]
            case "response.output_item.added" if event["item"].get("type") == "function_call":
                slots[event["output_index"]] = [event["item"].get("name"), ""]
            case "response.function_call_arguments.delta":
                slots[event["output_index"]][1] += event["delta"]
            case "response.output_item.done" if event["item"].get("type") == "function_call":
                item = event["item"]
                slots[event["output_index"]] = [item.get("name"), item.get("arguments")]
            case "response.completed" | "response.incomplete" | "response.failed":
                seen.final = Seen()
                self.read(seen.final, event["response"])
                seen.stop, seen.usage = seen.final.stop, seen.final.usage
                seen.error = seen.final.error
            case "error":
                seen.error = f"event: {event.get('code')}"
        seen.calls = _calls(slots)


class Messages(Sdk):
    """Anthropic's Messages. Streams go through the SDK's helper, which puts the message together."""

    package, wire = "anthropic", "anthropic-messages"
    complete = frozenset({"end_turn", "tool_use", "stop_sequence"})
    _raw = frozenset(
        {
            *("message_start", "message_delta", "message_stop", "error", "ping"),
            *("content_block_start", "content_block_delta", "content_block_stop"),
        }
    )

    def client(self, url: str, *, task: bool) -> Any:
        import anthropic

        kind: Any = anthropic.AsyncAnthropic if task else anthropic.Anthropic
        return kind(base_url=url, api_key="none", max_retries=0, timeout=TIMEOUT_S)

    def given(self, question: Question) -> dict[str, Any]:
        rows: list[Any] = [{"role": "user", "content": PROMPT}]
        if question.after_result:
            call = {"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": GIVEN}
            rows.append({"role": "assistant", "content": [call]})
            result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": RESULT}
            rows.append({"role": "user", "content": [result]})
        tool = {"name": "write_file", "description": "Write a file.", "input_schema": SCHEMA}
        asked = {"model": question.model, "messages": rows, "max_tokens": 1_000}
        more = dict(question.more)
        if "output_config" in more:  # older versions have no such argument
            more = {"extra_body": more}
        return {**asked, **({"tools": [tool]} if question.tools else {}), **more}

    def ask(self, client: Any, given: dict[str, Any], *, stream: bool, task: bool) -> Any:
        return (client.messages.stream if stream else client.messages.create)(**given)

    def read(self, seen: Seen, told: Mapping[str, Any]) -> None:
        for block in told.get("content") or ():
            if block["type"] == "text":
                seen.text += block["text"] or ""
            elif block["type"] == "thinking":
                seen.thinking += block["thinking"]
            elif block["type"] == "tool_use":
                seen.calls.append((block["name"], block.get("input")))
        seen.stop = told.get("stop_reason")
        if usage := told.get("usage"):
            seen.usage = (usage.get("input_tokens") or 0, usage.get("output_tokens") or 0)

    def take(self, seen: Seen, event: Mapping[str, Any], slots: dict[Any, list[Any]]) -> None:
        match event.get("type"):
            case "message_start":
                usage = event["message"].get("usage") or {}
                seen.usage = (usage.get("input_tokens") or 0, usage.get("output_tokens") or 0)
                for block in event["message"].get("content") or ():
                    seen.text += block.get("text") or ""
            case "content_block_start" if event["content_block"]["type"] == "tool_use":
                slots[event["index"]] = [event["content_block"]["name"], ""]
            case "content_block_start":
                seen.text += event["content_block"].get("text") or ""
            case "content_block_delta":
                delta = event["delta"]
                seen.text += delta.get("text") or ""
                seen.thinking += delta.get("thinking") or ""
                if "partial_json" in delta and event["index"] in slots:
                    slots[event["index"]][1] += delta["partial_json"]
            case "message_delta":
                seen.stop = event["delta"].get("stop_reason") or seen.stop
                usage, before = event.get("usage") or {}, seen.usage or (0, 0)
                told = (usage.get("input_tokens"), usage.get("output_tokens"))
                seen.usage = (told[0] or before[0], before[1] if told[1] is None else told[1])
        seen.calls = _calls(slots)

    def ended(self, seen: Seen, stream: Any) -> None:
        seen.dump = [event for event in seen.dump if event.get("type") in self._raw]
        seen.final = Seen()
        self.read(seen.final, plain(stream.current_message_snapshot))


class Gemini(Sdk):
    """Gemini's generateContent."""

    package, wire = "google-genai", "gemini-generate"
    complete = frozenset({"STOP"})

    def client(self, url: str, *, task: bool) -> Any:
        from google import genai
        from google.genai import types

        options = types.HttpOptions(base_url=url, timeout=TIMEOUT_S * 1000)
        return genai.Client(api_key="none", http_options=options)

    def given(self, question: Question) -> dict[str, Any]:
        rows: list[Any] = [{"role": "user", "parts": [{"text": PROMPT}]}]
        if question.after_result:
            call = {"name": "write_file", "args": GIVEN}
            sealed = base64.b64decode(signature("write_file"))
            part = {"function_call": call, "thought_signature": sealed}
            rows.append({"role": "model", "parts": [part]})
            result = {"name": "write_file", "response": {"output": RESULT}}
            rows.append({"role": "user", "parts": [{"function_response": result}]})
        config: dict[str, Any] = dict(question.more)
        contents = config.pop("contents", rows)
        if question.tools:
            config["tools"] = [{"function_declarations": [FUNCTION]}]
        return {"model": question.model, "contents": contents, "config": config or None}

    def ask(self, client: Any, given: dict[str, Any], *, stream: bool, task: bool) -> Any:
        models = (client.aio if task else client).models
        return (models.generate_content_stream if stream else models.generate_content)(**given)

    def read(self, seen: Seen, told: Mapping[str, Any]) -> None:
        self.take(seen, told, {})

    def take(self, seen: Seen, event: Mapping[str, Any], slots: dict[Any, list[Any]]) -> None:
        for candidate in (event.get("candidates") or ())[:1]:
            seen.stop = candidate.get("finish_reason") or seen.stop
            for part in (candidate.get("content") or {}).get("parts") or ():
                if part.get("thought"):
                    seen.thinking += part.get("text") or ""
                else:
                    seen.text += part.get("text") or ""
                if call := part.get("function_call"):
                    seen.calls.append((call.get("name"), call.get("args") or {}))
        if blocked := (event.get("prompt_feedback") or {}).get("block_reason"):
            seen.stop = f"blocked/{blocked}"
        if usage := event.get("usage_metadata"):
            told = usage.get("prompt_token_count") or 0, usage.get("candidates_token_count") or 0
            seen.usage = told


@cache
def _boto() -> Any:
    import boto3

    keys = {"aws_access_key_id": "AKIATEST", "aws_secret_access_key": "none"}
    return boto3.Session(region_name="us-east-2", **keys)


class Converse(Sdk):
    """Amazon Bedrock's Converse; boto3 has no async form."""

    package, wire, sync_only = "boto3", "bedrock-converse", True
    complete = frozenset({"end_turn", "tool_use", "stop_sequence"})

    def client(self, url: str, *, task: bool) -> Any:
        from botocore.config import Config

        config = Config(retries={"total_max_attempts": 1}, read_timeout=TIMEOUT_S)
        return _boto().client("bedrock-runtime", endpoint_url=url, config=config)

    def given(self, question: Question) -> dict[str, Any]:
        rows: list[Any] = [{"role": "user", "content": [{"text": PROMPT}]}]
        if question.after_result:
            call = {"toolUseId": "tooluse_1", "name": "write_file", "input": GIVEN}
            rows.append({"role": "assistant", "content": [{"toolUse": call}]})
            result = {"toolUseId": "tooluse_1", "content": [{"text": RESULT}]}
            rows.append({"role": "user", "content": [{"toolResult": result}]})
        spec = {"name": "write_file", "description": "Write.", "inputSchema": {"json": SCHEMA}}
        tools = {"toolConfig": {"tools": [{"toolSpec": spec}]}} if question.tools else {}
        return {"modelId": question.model, "messages": rows, **tools, **question.more}

    def ask(self, client: Any, given: dict[str, Any], *, stream: bool, task: bool) -> Any:
        return client.converse_stream(**given)["stream"] if stream else client.converse(**given)

    def read(self, seen: Seen, told: Mapping[str, Any]) -> None:
        for block in told["output"]["message"]["content"]:
            seen.text += block.get("text") or ""
            if "toolUse" in block:
                seen.calls.append((block["toolUse"]["name"], block["toolUse"]["input"]))
        seen.stop = told.get("stopReason")
        self._use(seen, told.get("usage"))

    def _use(self, seen: Seen, usage: Any) -> None:
        if usage:
            seen.usage = (usage.get("inputTokens") or 0, usage.get("outputTokens") or 0)

    def take(self, seen: Seen, event: Mapping[str, Any], slots: dict[Any, list[Any]]) -> None:
        for kind, told in event.items():
            if kind == "contentBlockStart" and "toolUse" in (told.get("start") or {}):
                slots[told["contentBlockIndex"]] = [told["start"]["toolUse"]["name"], ""]
            elif kind == "contentBlockDelta":
                seen.text += told["delta"].get("text") or ""
                if "toolUse" in told["delta"]:
                    slots[told["contentBlockIndex"]][1] += told["delta"]["toolUse"]["input"]
            elif kind == "messageStop":
                seen.stop = told.get("stopReason")
            elif kind == "metadata":
                self._use(seen, told.get("usage"))
        seen.calls = _calls(slots)


class Mistral(Chat):
    """Mistral's chat."""

    wire, prefill = "mistral", "continue"

    def __init__(self) -> None:
        super().__init__("mistralai", "", "")

    def client(self, url: str, *, task: bool) -> Any:
        try:
            kind = importlib.import_module("mistralai.client").Mistral
        except (ImportError, AttributeError):  # older versions have it at the top
            kind = importlib.import_module("mistralai").Mistral
        return kind(api_key="none", server_url=url, timeout_ms=TIMEOUT_S * 1000)

    def ask(self, client: Any, given: dict[str, Any], *, stream: bool, task: bool) -> Any:
        chat = client.chat
        if stream:
            return (chat.stream_async if task else chat.stream)(**given)
        return (chat.complete_async if task else chat.complete)(**given)

    def read(self, seen: Seen, told: Mapping[str, Any]) -> None:
        message = told["choices"][0]["message"]
        thoughts, text = _chunks(message.get("content"))
        super().read(
            seen,
            {**told, "choices": [{**told["choices"][0], "message": {**message, "content": text}}]},
        )
        seen.thinking += thoughts

    def take(self, seen: Seen, event: Mapping[str, Any], slots: dict[Any, list[Any]]) -> None:
        event = event.get("data") or event
        made = []
        for choice in event.get("choices") or ():
            thoughts, text = _chunks((choice.get("delta") or {}).get("content"))
            seen.thinking += thoughts
            made.append({**choice, "delta": {**(choice.get("delta") or {}), "content": text}})
        super().take(seen, {**event, "choices": made}, slots)


def _chunks(content: Any) -> tuple[str, str]:
    """Return the thoughts and the text of a content that may be a list of chunks."""
    if not isinstance(content, list):
        return "", content or ""
    thoughts = [t.get("text") or "" for c in content for t in c.get("thinking") or ()]
    return "".join(thoughts), "".join(c.get("text") or "" for c in content)


class Cohere(Sdk):
    """Cohere's Chat, version 2."""

    package, wire = "cohere", "cohere"
    complete = frozenset({"COMPLETE", "TOOL_CALL", "STOP_SEQUENCE"})

    def client(self, url: str, *, task: bool) -> Any:
        import cohere

        kind: Any = cohere.AsyncClientV2 if task else cohere.ClientV2
        return kind(api_key="none", base_url=url, timeout=TIMEOUT_S)

    def given(self, question: Question) -> dict[str, Any]:
        return SDKS["openai-chat"].given(question) | {"request_options": {"max_retries": 0}}

    def ask(self, client: Any, given: dict[str, Any], *, stream: bool, task: bool) -> Any:
        return (client.chat_stream if stream else client.chat)(**given)

    def read(self, seen: Seen, told: Mapping[str, Any]) -> None:
        message = told["message"]
        for part in message.get("content") or ():
            seen.text += part.get("text") or ""
            seen.thinking += part.get("thinking") or ""
        for call in message.get("tool_calls") or ():
            seen.calls.append((call["function"]["name"], call["function"].get("arguments")))
        seen.stop = told.get("finish_reason")
        self._use(seen, told.get("usage"))

    def _use(self, seen: Seen, usage: Any) -> None:
        if tokens := (usage or {}).get("tokens"):
            told = int(tokens.get("input_tokens") or 0), int(tokens.get("output_tokens") or 0)
            seen.usage = told

    def take(self, seen: Seen, event: Mapping[str, Any], slots: dict[Any, list[Any]]) -> None:
        message = (event.get("delta") or {}).get("message") or {}
        match event.get("type"):
            case "content-start" | "content-delta":
                content = message.get("content") or {}
                seen.text += content.get("text") or ""
                seen.thinking += content.get("thinking") or ""
            case "tool-call-start":
                function = (message.get("tool_calls") or {}).get("function") or {}
                slots[event.get("index")] = [function.get("name"), function.get("arguments") or ""]
            case "tool-call-delta":
                function = (message.get("tool_calls") or {}).get("function") or {}
                slots[event.get("index")][1] += function.get("arguments") or ""
            case "message-end":
                delta = event.get("delta") or {}
                seen.stop = delta.get("finish_reason") or seen.stop
                self._use(seen, delta.get("usage"))
        seen.calls = _calls(slots)


class Ollama(Sdk):
    """Ollama's own API."""

    package, wire = "ollama", "ollama"
    complete = frozenset({"stop"})

    def client(self, url: str, *, task: bool) -> Any:
        import ollama

        return (ollama.AsyncClient if task else ollama.Client)(host=url, timeout=TIMEOUT_S)

    def given(self, question: Question) -> dict[str, Any]:
        asked = SDKS["openai-chat"].given(question)
        if question.after_result:
            call = {"function": {"name": "write_file", "arguments": GIVEN}}
            asked["messages"][1] = {"role": "assistant", "content": "", "tool_calls": [call]}
            asked["messages"][2] = {"role": "tool", "content": RESULT, "tool_name": "write_file"}
        return asked

    def ask(self, client: Any, given: dict[str, Any], *, stream: bool, task: bool) -> Any:
        return client.chat(**given, stream=stream)

    def read(self, seen: Seen, told: Mapping[str, Any]) -> None:
        self.take(seen, told, {})

    def take(self, seen: Seen, event: Mapping[str, Any], slots: dict[Any, list[Any]]) -> None:
        message = event.get("message") or {}
        seen.text += message.get("content") or ""
        seen.thinking += message.get("thinking") or ""
        for call in message.get("tool_calls") or ():
            seen.calls.append((call["function"]["name"], call["function"].get("arguments")))
        seen.stop = event.get("done_reason") or seen.stop
        if "eval_count" in event or "prompt_eval_count" in event:
            told = event.get("prompt_eval_count") or 0, event.get("eval_count") or 0
            seen.usage = told


SDKS: Final[dict[str, Sdk]] = {
    "openai-chat": Chat("openai", "OpenAI", "AsyncOpenAI"),
    "openai-responses": Responses(),
    "anthropic": Messages(),
    "gemini": Gemini(),
    "bedrock": Converse(),
    "mistral": Mistral(),
    "cohere": Cohere(),
    "groq": Chat("groq", "Groq", "AsyncGroq", "", dialect="groq"),
    "together": Chat("together", "Together", "AsyncTogether", dialect="together"),
    "cerebras": Chat(
        *("cerebras-cloud-sdk", "Cerebras", "AsyncCerebras", ""),
        dialect="cerebras",
        module="cerebras.cloud.sdk",
        warm_tcp_connection=False,
    ),
    "ollama": Ollama(),
}


def _raised(seen: Seen, error: BaseException) -> None:
    seen.error = f"{type(error).__name__}: {str(error)[:300]}"
    seen.kinds = tuple(f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__)
    told = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if isinstance(told, dict):
        status = (told.get("ResponseMetadata") or {}).get("HTTPStatusCode")
    seen.status = status if isinstance(status, int) else None


def sync_answer(sdk: Sdk, client: Any, given: dict[str, Any], *, stream: bool) -> Seen:
    """Ask once, and return what a program saw."""
    seen, slots = Seen(), dict[Any, list[Any]]()
    try:
        told = sdk.ask(client, given, stream=stream, task=False)
        if not stream:
            seen.dump.append(plain(told))
            sdk.read(seen, seen.dump[0])
            return seen
        with told if hasattr(told, "__exit__") else nullcontext(told) as events:
            try:
                for event in events:
                    seen.dump.append(plain(event))
                    sdk.take(seen, seen.dump[-1], slots)
            finally:
                _ended(sdk, seen, events)
    except Exception as error:  # noqa: BLE001 - whatever comes is what the program saw
        _raised(seen, error)
    return seen


async def async_answer(sdk: Sdk, client: Any, given: dict[str, Any], *, stream: bool) -> Seen:
    """Do the same in a task."""
    seen, slots = Seen(), dict[Any, list[Any]]()
    try:
        told = sdk.ask(client, given, stream=stream, task=True)
        told = await told if hasattr(told, "__await__") else told
        if not stream:
            seen.dump.append(plain(told))
            sdk.read(seen, seen.dump[0])
            return seen
        async with told if hasattr(told, "__aexit__") else nullcontext(told) as events:
            try:
                async for event in events:
                    seen.dump.append(plain(event))
                    sdk.take(seen, seen.dump[-1], slots)
            finally:
                _ended(sdk, seen, events)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the same
        _raised(seen, error)
    return seen


def _ended(sdk: Sdk, seen: Seen, events: Any) -> None:
    try:
        sdk.ended(seen, events)
    except Exception:  # noqa: BLE001 - a stream that broke before its first event has no message
        seen.final = None
