"""Tries the SDK of one extra, in an environment that holds some version of it:

    python checks/lowest/run.py openai

`make lowest` runs it for every extra with the lowest version that its bound in pyproject.toml lets
in. Each SDK asks the simulator for a text that the limit cuts, a call that the limit cuts and a
stream that breaks off, whole and streamed, sync and async, through `tenuto.wrap`. It prints
the first answers that are not right, and exits with 1 if there is any. The extra must have brought
the validator of documents too.
"""

import asyncio
import importlib
import json
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any

import tenuto
from tenuto.schema.checking import Checker
from tenuto_sim import CASES_ON, Simulator

PROMPT = "Tell me what happened in the harbour."
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}
FUNCTION = {"name": "write_file", "description": "Write a text file.", "parameters": SCHEMA}
CHAT_TOOLS = [{"type": "function", "function": FUNCTION}]
USER = [{"role": "user", "content": PROMPT}]
CASES = ("length_once", "call_cut_length", "drop_mid_text")
POLICY = tenuto.Policy(backoff_s=0.01, backoff_max_s=0.01)

Answer = tuple[str, list[Any]]
"""A text, and the arguments of each call."""


class Chat:
    """OpenAI's Chat Completions, which several SDKs speak alike.

    Args:
        made: makes the sync and the async client for a simulator.
    """

    wire, dialect = "openai-chat", ""

    def __init__(self, made: Callable[[Simulator], tuple[Any, Any]], dialect: str = "") -> None:
        self.made, self.dialect = made, dialect or self.dialect

    def given(self, model: str, tools: bool) -> dict[str, Any]:
        """The arguments of a call."""
        return {"model": model, "messages": USER, **({"tools": CHAT_TOOLS} if tools else {})}

    def body(self, client: Any, **given: Any) -> Any:
        return client.chat.completions.create(**given)

    def stream(self, client: Any, **given: Any) -> Any:
        return client.chat.completions.create(stream=True, **given)

    def read(self, told: Any) -> Answer:
        """What a whole answer says."""
        message = told.choices[0].message
        calls = [json.loads(call.function.arguments) for call in message.tool_calls or ()]
        return message.content or "", calls

    def joined(self, events: Iterable[Any]) -> Answer:
        """What a stream says."""
        text, calls = "", dict[int, str]()
        for chunk in events:
            for choice in chunk.choices or ():
                text += choice.delta.content or ""
                for piece in choice.delta.tool_calls or ():
                    more = piece.function.arguments or ""
                    calls[piece.index] = calls.get(piece.index, "") + more
        return text, [json.loads(raw) for raw in calls.values()]


class Messages:
    """Anthropic's Messages."""

    wire, dialect = "anthropic-messages", ""

    def made(self, sim: Simulator) -> tuple[Any, Any]:
        import anthropic

        given: dict[str, Any] = {"base_url": sim.root_url, "api_key": "none", "max_retries": 0}
        return anthropic.Anthropic(**given), anthropic.AsyncAnthropic(**given)

    def given(self, model: str, tools: bool) -> dict[str, Any]:
        tool = {"name": "write_file", "description": "Write a file.", "input_schema": SCHEMA}
        more = {"tools": [tool]} if tools else {}
        return {"model": model, "messages": USER, "max_tokens": 1_000, **more}

    def body(self, client: Any, **given: Any) -> Any:
        return client.messages.create(**given)

    def stream(self, client: Any, **given: Any) -> Any:
        return client.messages.create(stream=True, **given)

    def read(self, told: Any) -> Answer:
        text = "".join(block.text for block in told.content if block.type == "text")
        return text, [block.input for block in told.content if block.type == "tool_use"]

    def joined(self, events: Iterable[Any]) -> Answer:
        text, calls = "", dict[int, str]()
        for event in events:
            if event.type == "content_block_delta":
                text += getattr(event.delta, "text", "")
                raw = getattr(event.delta, "partial_json", None)
                if raw is not None:
                    calls[event.index] = calls.get(event.index, "") + raw
        return text, [json.loads(raw) for raw in calls.values()]


class Gemini:
    """Gemini's generateContent."""

    wire, dialect = "gemini-generate", ""

    def made(self, sim: Simulator) -> tuple[Any, Any]:
        from google import genai
        from google.genai import types

        options = types.HttpOptions(base_url=sim.root_url)
        client = genai.Client(api_key="none", http_options=options)
        return client, client

    def given(self, model: str, tools: bool) -> dict[str, Any]:
        declared = {**FUNCTION, "parameters": SCHEMA}
        more = {"config": {"tools": [{"function_declarations": [declared]}]}} if tools else {}
        return {"model": model, "contents": PROMPT, **more}

    def body(self, client: Any, **given: Any) -> Any:
        return client.models.generate_content(**given)

    def stream(self, client: Any, **given: Any) -> Any:
        return client.models.generate_content_stream(**given)

    def read(self, told: Any) -> Answer:
        parts = (told.candidates[0].content and told.candidates[0].content.parts) or []
        text = "".join(part.text or "" for part in parts)
        return text, [part.function_call.args for part in parts if part.function_call]

    def joined(self, events: Iterable[Any]) -> Answer:
        read = [self.read(event) for event in events]
        return "".join(text for text, _ in read), [call for _, calls in read for call in calls]


class Converse:
    """Amazon Bedrock's Converse."""

    wire, dialect = "bedrock-converse", ""

    def made(self, sim: Simulator) -> tuple[Any, Any]:
        import boto3

        keys = {"aws_access_key_id": "AKIATEST", "aws_secret_access_key": "none"}
        client = boto3.client(
            "bedrock-runtime", endpoint_url=sim.root_url, region_name="us-east-2", **keys
        )
        return client, None

    def given(self, model: str, tools: bool) -> dict[str, Any]:
        spec = {"name": "write_file", "description": "Write.", "inputSchema": {"json": SCHEMA}}
        more = {"toolConfig": {"tools": [{"toolSpec": spec}]}} if tools else {}
        row = {"role": "user", "content": [{"text": PROMPT}]}
        return {"modelId": model, "messages": [row], **more}

    def body(self, client: Any, **given: Any) -> Any:
        return client.converse(**given)

    def stream(self, client: Any, **given: Any) -> Any:
        return client.converse_stream(**given)["stream"]

    def read(self, told: Any) -> Answer:
        blocks = told["output"]["message"]["content"]
        text = "".join(block.get("text", "") for block in blocks)
        return text, [block["toolUse"]["input"] for block in blocks if "toolUse" in block]

    def joined(self, events: Iterable[Any]) -> Answer:
        text, calls = "", dict[int, str]()
        for event in events:
            told = event.get("contentBlockDelta")
            if told is not None:
                text += told["delta"].get("text", "")
                if "toolUse" in told["delta"]:
                    index = told["contentBlockIndex"]
                    calls[index] = calls.get(index, "") + told["delta"]["toolUse"]["input"]
        return text, [json.loads(raw) for raw in calls.values()]


class Mistral(Chat):
    """Mistral's chat."""

    wire, dialect = "mistral", ""

    def __init__(self) -> None:
        super().__init__(self._made)

    def _made(self, sim: Simulator) -> tuple[Any, Any]:
        try:
            made_by = importlib.import_module("mistralai.client").Mistral
        except (ImportError, AttributeError):  # older versions have it at the top
            made_by = importlib.import_module("mistralai").Mistral
        client = made_by(api_key="none", server_url=sim.root_url)
        return client, client

    def body(self, client: Any, **given: Any) -> Any:
        asks = client.chat.complete_async if _is_async() else client.chat.complete
        return asks(**given)

    def stream(self, client: Any, **given: Any) -> Any:
        asks = client.chat.stream_async if _is_async() else client.chat.stream
        return asks(**given)

    def joined(self, events: Iterable[Any]) -> Answer:
        return super().joined(event.data for event in events)


class Cohere:
    """Cohere's Chat, version 2."""

    wire, dialect = "cohere", ""

    def made(self, sim: Simulator) -> tuple[Any, Any]:
        import cohere

        given: dict[str, Any] = {"api_key": "none", "base_url": sim.root_url}
        return cohere.ClientV2(**given), cohere.AsyncClientV2(**given)

    def given(self, model: str, tools: bool) -> dict[str, Any]:
        return {"model": model, "messages": USER, **({"tools": CHAT_TOOLS} if tools else {})}

    def body(self, client: Any, **given: Any) -> Any:
        return client.chat(**given)

    def stream(self, client: Any, **given: Any) -> Any:
        return client.chat_stream(**given)

    def read(self, told: Any) -> Answer:
        text = "".join(part.text for part in told.message.content or ())
        calls = told.message.tool_calls or ()
        return text, [json.loads(call.function.arguments) for call in calls]

    def joined(self, events: Iterable[Any]) -> Answer:
        text, calls = "", list[str]()
        for event in events:
            if event.type == "content-delta":
                text += event.delta.message.content.text
            elif event.type == "tool-call-start":
                calls.append(event.delta.message.tool_calls.function.arguments or "")
            elif event.type == "tool-call-delta":
                calls[-1] += event.delta.message.tool_calls.function.arguments
        return text, [json.loads(raw) for raw in calls]


class Ollama:
    """Ollama's own API."""

    wire, dialect = "ollama", ""

    def made(self, sim: Simulator) -> tuple[Any, Any]:
        import ollama

        return ollama.Client(host=sim.root_url), ollama.AsyncClient(host=sim.root_url)

    def given(self, model: str, tools: bool) -> dict[str, Any]:
        return {"model": model, "messages": USER, **({"tools": CHAT_TOOLS} if tools else {})}

    def body(self, client: Any, **given: Any) -> Any:
        return client.chat(**given)

    def stream(self, client: Any, **given: Any) -> Any:
        return client.chat(stream=True, **given)

    def read(self, told: Any) -> Answer:
        message = told["message"]
        calls = message.get("tool_calls") or ()
        return message.get("content") or "", [dict(c["function"]["arguments"]) for c in calls]

    def joined(self, events: Iterable[Any]) -> Answer:
        read = [self.read(event) for event in events]
        return "".join(text for text, _ in read), [call for _, calls in read for call in calls]


def _openai(sim: Simulator) -> tuple[Any, Any]:
    import openai

    given: dict[str, Any] = {"base_url": sim.base_url, "api_key": "none", "max_retries": 0}
    return openai.OpenAI(**given), openai.AsyncOpenAI(**given)


def _groq(sim: Simulator) -> tuple[Any, Any]:
    import groq

    given: dict[str, Any] = {"base_url": sim.root_url, "api_key": "none", "max_retries": 0}
    return groq.Groq(**given), groq.AsyncGroq(**given)


def _together(sim: Simulator) -> tuple[Any, Any]:
    import together

    given: dict[str, Any] = {"base_url": sim.base_url, "api_key": "none", "max_retries": 0}
    return together.Together(**given), together.AsyncTogether(**given)


def _cerebras(sim: Simulator) -> tuple[Any, Any]:
    from cerebras.cloud import sdk as cerebras

    given: dict[str, Any] = {"base_url": sim.root_url, "api_key": "none", "max_retries": 0}
    given["warm_tcp_connection"] = False
    return cerebras.Cerebras(**given), cerebras.AsyncCerebras(**given)


SDKS: dict[str, Any] = {
    "openai": Chat(_openai),
    "anthropic": Messages(),
    "gemini": Gemini(),
    "bedrock": Converse(),
    "mistral": Mistral(),
    "cohere": Cohere(),
    "groq": Chat(_groq, "groq"),
    "together": Chat(_together, "together"),
    "cerebras": Chat(_cerebras, "cerebras"),
    "ollama": Ollama(),
}


PACKAGES = {
    "gemini": "google-genai",
    "bedrock": "boto3",
    "mistral": "mistralai",
    "cerebras": "cerebras-cloud-sdk",
}
"""Where a package is called otherwise than its extra."""


def _is_async() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _async_answer(sdk: Any, client: Any, mode: str, given: dict[str, Any]) -> Answer:
    client = getattr(client, "aio", client)
    told = getattr(sdk, mode)(client, **given)
    if hasattr(told, "__await__"):
        told = await told
    if mode == "body":
        return sdk.read(told)  # type: ignore[no-any-return]
    return sdk.joined([event async for event in told])  # type: ignore[no-any-return]


def _answer(sdk: Any, client: Any, mode: str, given: dict[str, Any]) -> Answer:
    told = getattr(sdk, mode)(client, **given)
    return sdk.read(told) if mode == "body" else sdk.joined(told)  # type: ignore[no-any-return]


def wrong(name: str) -> list[str]:
    """Try an SDK: a line for each answer that is not the right one."""
    sdk, found = SDKS[name], []
    # Mistral's models go on with a prefill, others answer it like any other history.
    prefill: Any = "continue" if sdk.wire == "mistral" else "restart"
    with Simulator(dialect=sdk.dialect, prefill=prefill) as sim, asyncio.Runner() as runner:
        sync, task = (c and tenuto.wrap(c, policy=POLICY) for c in sdk.made(sim))
        for case in CASES:
            known = CASES_ON[sdk.wire][case]
            whole = sim.expected(PROMPT, case)
            right = whole.text, [json.loads(str(call.arguments)) for call in whole.calls]
            given = sdk.given(f"sim/{case}", known.wants_tools)
            for mode in sorted(known.modes):
                for client, asks in ((sync, _answer), (task, _async_answer)):
                    if client is None:
                        continue
                    sim.forget()
                    got: Any
                    try:
                        got = asks(sdk, client, mode, given)
                        got = runner.run(got) if asyncio.iscoroutine(got) else got
                    except Exception as error:  # noqa: BLE001 - whatever comes is the finding
                        got = f"{type(error).__name__}: {error}"
                    if got != right:
                        found.append(f"{case}, {mode}, {asks.__name__}: {str(got)[:200]}")
    return found


def main(extra: str) -> int:
    """Say how the SDK of an extra did; 1 where something was wrong."""
    package = PACKAGES.get(extra, extra)
    assert Checker(SCHEMA).fits({"path": "a", "content": ""})
    found = wrong(extra)
    for line in found[:4] or ["right"]:  # what fails at all mostly fails everywhere
        print(f"{package} {version(package)}: {line}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
