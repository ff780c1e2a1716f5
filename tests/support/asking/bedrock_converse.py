"""Asking a simulator through boto3, as AWS's documentation shows how to, and judging what comes
back. What is common to all wires stands in `openai_chat`."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import aiobotocore.session
import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from support.asking.wrapping import Watching
from support.aws import ACCESS_KEY, REGION, SECRET_KEY, SESSION_TOKEN
from support.loops import close_loop
from tenuto_sim import CASES_ON, Bare, Case, Simulator

WIRE = "bedrock-converse"
CASES = CASES_ON[WIRE]
TOOLS: Any = {
    "tools": [
        {
            "toolSpec": {
                "name": "write_file",
                "description": "Write a text file.",
                "inputSchema": {
                    "json": {
                        "type": "object",
                        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                        "required": ["path", "content"],
                    }
                },
            }
        }
    ]
}
OWN = (ClientError, BotoCoreError)
"""What programs that use boto3 catch."""
_number = itertools.count(1)
_session: Any = aiobotocore.session.get_session()
"""One for all clients, as boto3 has it: it keeps the descriptions of AWS's services, which take
longer to read than a test to run."""


@dataclass
class AttemptContent:
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


class Assembled:
    """A stream put together as AWS's documentation does it."""

    def __init__(self) -> None:
        self.blocks: dict[int, dict[str, Any]] = {}
        self.inputs: dict[int, str] = {}
        self.stop: str | None = None
        self.usage: Any = None
        self.told: list[dict[str, Any]] = []

    def add(self, event: dict[str, Any]) -> None:
        self.told.append(event)
        if "contentBlockStart" in event:
            began = event["contentBlockStart"]
            self.blocks[began["contentBlockIndex"]] = {"toolUse": began["start"]["toolUse"]}
            self.inputs[began["contentBlockIndex"]] = ""
        elif "contentBlockDelta" in event:
            came = event["contentBlockDelta"]
            self._add(came["contentBlockIndex"], came["delta"])
        elif "messageStop" in event:
            self.stop = event["messageStop"].get("stopReason")
        elif "metadata" in event:
            self.usage = event["metadata"].get("usage")

    def _add(self, index: int, delta: dict[str, Any]) -> None:
        if "toolUse" in delta:
            self.inputs[index] += delta["toolUse"]["input"]
            return
        block = self.blocks.setdefault(index, {})
        if "text" in delta:
            block["text"] = block.get("text", "") + delta["text"]
        elif thought := delta.get("reasoningContent"):
            held = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})
            text = held["reasoningText"]
            text["text"] += thought.get("text", "")
            text.update({"signature": thought["signature"]} if "signature" in thought else {})

    def done(self) -> AttemptContent:
        for index, text in self.inputs.items():
            self.blocks[index]["toolUse"]["input"] = json.loads(text or "{}")
        return of_message({"role": "assistant", "content": [*self.blocks.values()]}, self.stop,
                          self.usage)  # fmt: skip


def of_message(message: Any, stop: Any, usage: Any) -> AttemptContent:
    content = json.loads(json.dumps(message["content"]))  # as a program does that keeps it
    return AttemptContent(
        text="".join(block["text"] for block in content if "text" in block),
        calls=[block["toolUse"] for block in content if "toolUse" in block],
        stop=stop,
        message={"role": "assistant", "content": content},
        usage=usage,
    )


def given_to_a_client(url: str, retries: int) -> dict[str, Any]:
    return {
        "region_name": REGION,
        "endpoint_url": url,
        "aws_access_key_id": ACCESS_KEY,
        "aws_secret_access_key": SECRET_KEY,
        "aws_session_token": SESSION_TOKEN,
        "config": Config(retries={"total_max_attempts": retries + 1, "mode": "standard"}),
    }


def async_client(given: dict[str, Any]) -> Any:
    """Return a client of aiobotocore, to be entered."""
    return _session.create_client("bedrock-runtime", **given)


class BedrockAsker:
    """Asks a simulator through boto3 and aiobotocore, with nothing else around them; `told` holds
    the events of the last stream."""

    def __init__(self, sim: Simulator, max_retries: int = 0) -> None:
        self.sim = sim
        given = given_to_a_client(sim.root_url, max_retries)
        self.client: Any = boto3.client("bedrock-runtime", **given)
        self.loop = asyncio.new_event_loop()
        self._stack = AsyncExitStack()
        made = async_client(given)
        self.async_client: Any = self.loop.run_until_complete(self._stack.enter_async_context(made))
        self.told: list[dict[str, Any]] = []

    def close(self) -> None:
        self.client.close()
        self.loop.run_until_complete(self._stack.aclose())
        close_loop(self.loop)

    def prompt_for(self, case: Case) -> str:
        """Return a prompt that no other test uses, so that the case's plan begins anew."""
        return f"Tell me about {case.name}, take {next(_number)}."

    def history_for(self, case: Case, prompt: str) -> list[Any]:
        history: list[Any] = [{"role": "user", "content": [{"text": prompt}]}]
        if case.after_tool_result:
            whole = self.sim.expected(prompt, "tool").calls[0]
            call = {"toolUseId": "tooluse_before", "name": whole.name}
            call["input"] = json.loads(str(whole.arguments))
            history.append({"role": "assistant", "content": [{"toolUse": call}]})
            result = {"toolUseId": "tooluse_before", "content": [{"text": "written"}]}
            history.append({"role": "user", "content": [{"toolResult": result}]})
        return history

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> AttemptContent:
        prompt = self.prompt_for(case)
        given = dict(case.request) | ({"toolConfig": TOOLS} if case.wants_tools else {}) | more
        history = self.history_for(case, prompt)
        said = self.ask(history, mode, way, **({"modelId": f"sim/{case.name}"} | given))
        said.prompt, said.history = prompt, history
        return said

    def ask(
        self, messages: list[Any], mode: str = "body", way: str = "sync", **more: Any
    ) -> AttemptContent:
        """Ask once; what the SDK raises is kept in the result."""
        self.told = []
        given = {"modelId": "sim", "messages": messages} | more
        try:
            if way == "async":
                return self.loop.run_until_complete(self._ask_async(given, mode))
            return self._ask(given, mode)
        except Exception as error:  # noqa: BLE001 - which one it is, is what tests are about
            return AttemptContent(error=error)

    def _ask(self, given: dict[str, Any], mode: str) -> AttemptContent:
        if mode == "body":
            return _of_body(self.client.converse(**given))
        assembled = Assembled()
        self.told = assembled.told
        # Closed by us: botocore leaves the socket of a stream that raised to the collector.
        with contextlib.closing(self.client.converse_stream(**given)["stream"]) as stream:
            for event in stream:
                assembled.add(event)
        return assembled.done()

    async def _ask_async(self, given: dict[str, Any], mode: str) -> AttemptContent:
        if mode == "body":
            return _of_body(await self.async_client.converse(**given))
        assembled = Assembled()
        self.told = assembled.told
        stream = (await self.async_client.converse_stream(**given))["stream"]
        try:
            async for event in stream:
                assembled.add(event)
        finally:
            if (closing := stream.close()) is not None:
                await closing
        return assembled.done()

    def wanted(self, said: AttemptContent, case: Case) -> tuple[str, list[Any]]:
        """Return text and decoded arguments of the full right answer."""
        if case.after_tool_result:
            return self.sim.answer(said.prompt), []
        config = case.request.get("outputConfig")
        format_ = None
        if config:
            schema = json.loads(config["textFormat"]["structure"]["jsonSchema"]["schema"])
            format_ = {"type": "json_schema", "json_schema": {"schema": schema}}
        whole = self.sim.expected(said.prompt, case.name, response_format=format_)
        return whole.text, [json.loads(str(call.arguments)) for call in whole.calls]


def _of_body(response: dict[str, Any]) -> AttemptContent:
    message = response["output"]["message"]
    return of_message(message, response.get("stopReason"), response.get("usage"))


def broken_call(said: Any, wanted: list[Any]) -> str:
    """Return what is wrong with the calls that were handed out, "" where nothing is."""
    ids = [call.get("toolUseId") for call in said.calls]
    if len(set(ids)) < len(ids) or not all(isinstance(i, str) and i for i in ids):
        return "ids"
    if said.calls and said.inputs != wanted:
        return "input"
    return "lying" if said.calls and said.stop not in ("end_turn", "tool_use") else ""


def results_for(said: Any) -> list[Any]:
    """Return the message that answers every call."""
    results = [
        {"toolResult": {"toolUseId": call.get("toolUseId"), "content": [{"text": "ok"}]}}
        for call in said.calls
    ]
    return [{"role": "user", "content": results}] if results else []


def next_turn_is_refused(asker: Any, said: Any, case: Case) -> bool:
    """Return whether the history with the answer in it is refused."""
    after = results_for(said) or [{"role": "user", "content": [{"text": "Go on."}]}]
    tools = {"toolConfig": TOOLS} if case.wants_tools else {}
    asked = asker.ask([*said.history, said.message, *after], **tools)
    return isinstance(asked.error, OWN)


def verdicts(asker: Any, said: Any, case: Case) -> set[Bare]:
    """Return everything that is true of a result."""
    if said.error is not None:
        return {Bare.RAISES if isinstance(said.error, OWN) else Bare.HARMFUL}
    text, inputs = asker.wanted(said, case)
    if broken_call(said, inputs):
        return {Bare.HARMFUL}
    right = (said.text, said.inputs) == (text, inputs)
    refused = next_turn_is_refused(asker, said, case)
    if right and not refused:
        return {Bare.FINE}
    return ({Bare.HARMFUL} if refused else set()) | (set() if right else {Bare.SILENT})


class WrappedBedrock(Watching, BedrockAsker):
    """Asks through `tenuto.wrap`."""


def assert_one_converse_message(events: Sequence[dict[str, Any]]) -> None:
    """One start, blocks that are numbered in one row and closed, one stop, the usage last."""
    names = [next(iter(event)) for event in events]
    assert names[0] == "messageStart"
    assert names[-2:] == ["messageStop", "metadata"]
    assert all(names.count(name) == 1 for name in ("messageStart", "messageStop", "metadata"))
    closed: list[int] = []
    current: int | None = None
    for event in events[1:-2]:
        ((name, payload),) = event.items()
        index = payload["contentBlockIndex"]
        assert index not in closed, "a block goes on behind its end"
        if name == "contentBlockStart" or current is None:
            assert current is None, "a block begins inside of another"
            current = index
        assert index == current
        if name == "contentBlockStop":
            closed.append(index)
            current = None
    assert current is None
    assert closed == sorted(closed)
