"""Asking a simulator through Mistral's SDK, as its documentation shows how to. What is common to
all wires stands in `openai_chat`."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from mistralai.client import Mistral
from mistralai.client.errors import MistralError
from mistralai.client.utils import BackoffStrategy, RetryConfig

from support.asking.openai_chat import TOOLS, Asker, Got
from support.asking.wrapping import Watching
from support.loops import close_loop
from tenuto_sim import CASES_ON, Case, Simulator

__all__ = ["CASES", "TOOLS", "WIRE", "MistralAsker"]

WIRE = "mistral"
CASES = CASES_ON[WIRE]

_serializers: Any = importlib.import_module("mistralai.client.utils.serializers")
_create_model = _serializers.create_model
_made: dict[str, Any] = {}


def _created_once(name: str, **fields: Any) -> Any:
    """The type by which the SDK reads, which makes it anew for each event: half of a test's time."""
    key = repr((name, fields))
    if key not in _made:
        _made[key] = _create_model(name, **fields)
    return _made[key]


_serializers.create_model = _created_once


def text_of(content: Any) -> str:
    """The text of a content, which is a text or a list of chunks."""
    if isinstance(content, list):
        return "".join(getattr(part, "text", "") for part in content if part.type == "text")
    return content or ""


def plain(value: Any) -> dict[str, Any]:
    """An object of the SDK as a program keeps it: as JSON."""
    made: dict[str, Any] = json.loads(value.model_dump_json(warnings=False))
    return made


def of_body(completion: Any) -> Got:
    choice = completion.choices[0]
    message = plain(choice.message)
    return Got(
        text=text_of(choice.message.content),
        calls=message.get("tool_calls") or [],
        finish=choice.finish_reason,
        message=message,
        usage=completion.usage,
    )


class Assembled:
    """A stream put together as the documentation shows it: a call comes whole."""

    def __init__(self) -> None:
        self.got = Got()
        self.chunks: list[Any] = []

    def add(self, event: Any) -> None:
        chunk, got = event.data, self.got
        self.chunks.append(chunk)
        got.usage = chunk.usage or got.usage
        for choice in chunk.choices:
            got.text += text_of(choice.delta.content)
            got.finish = choice.finish_reason or got.finish
            got.calls += [plain(call) for call in choice.delta.tool_calls or ()]

    def done(self) -> Got:
        got = self.got
        got.message = {"role": "assistant", "content": got.text}
        got.message |= {"tool_calls": got.calls} if got.calls else {}
        return got


class MistralAsker(Asker):
    """Asks a simulator through the SDK, with nothing else around it; `told` holds the chunks of the
    last stream."""

    own_errors = (MistralError,)
    refusal = MistralError

    def __init__(self, sim: Simulator, max_retries: int = 0) -> None:
        self.sim = sim
        given: Any = {"server_url": f"{sim.root_url}/mistral", "api_key": "key"}
        if max_retries:  # it counts no tries, but the time that they take
            backoff = BackoffStrategy(1, 2, 1.0, max_elapsed_time=5_000)
            given["retry_config"] = RetryConfig("backoff", backoff, retry_connection_errors=True)
        self.client: Any = Mistral(**given)
        self.async_client: Any = Mistral(**given)
        self.loop = asyncio.new_event_loop()
        self.told: list[Any] = []

    def close(self) -> None:
        for client in (self.client, self.async_client):
            client.sdk_configuration.client.close()
            self.loop.run_until_complete(client.sdk_configuration.async_client.aclose())
        close_loop(self.loop)

    def _ask(self, given: dict[str, Any]) -> Got:
        self.told.clear()
        if not given.pop("stream"):
            return of_body(self.client.chat.complete(**given))
        assembled = Assembled()
        assembled.chunks = self.told
        with self.client.chat.stream(**given) as events:
            for event in events:
                assembled.add(event)
        return assembled.done()

    def _ask_async(self, given: dict[str, Any]) -> Got:
        async def run() -> Got:
            if not given.pop("stream"):
                return of_body(await self.async_client.chat.complete_async(**given))
            assembled = Assembled()
            assembled.chunks = self.told
            async with await self.async_client.chat.stream_async(**given) as events:
                async for event in events:
                    assembled.add(event)
            return assembled.done()

        self.told.clear()
        return self.loop.run_until_complete(run())

    def history_for(self, case: Case, prompt: str) -> list[Any]:
        """Rows whose calls have ids that Mistral takes."""
        rows = json.dumps(super().history_for(case, prompt))
        return json.loads(rows.replace("call_before", "callBefor"))  # type: ignore[no-any-return]


class WrappedMistral(Watching, MistralAsker):
    """Asks through `tenuto.wrap`."""

    retries: ClassVar[Mapping[str, int]] = {}


def assert_one_message(told: list[Any]) -> None:
    """A stream is one message: one id, one stop, which has the usage and stands last, and a choice
    in every chunk."""
    assert len({chunk.id for chunk in told}) == 1
    assert all(chunk.choices for chunk in told)
    stops = [chunk for chunk in told if chunk.choices[0].finish_reason]
    assert stops == told[-1:]
    assert stops[0].usage is not None
