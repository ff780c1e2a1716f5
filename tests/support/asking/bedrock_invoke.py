"""Asking Bedrock's InvokeModel through boto3 and aiobotocore: a simulator, with bodies in the shape of
OpenAI's chat, and a far side that says what a test wrote down."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.exceptions import ClientError

import tenuto
from support.asking.bedrock_converse import OWN, BedrockAsker, given_to_a_client
from support.asking.openai_chat import Asker, Got
from support.asking.wrapping import QUICK, Watching
from support.replay.openai_chat import Reply
from tenuto_sim import CASES_ON, Simulator

WIRE = "bedrock-invoke"
CASES = CASES_ON[WIRE]
STREAM = "application/vnd.amazon.eventstream"


@dataclass(frozen=True)
class Raw:
    """A response as its bytes."""

    body: bytes
    kind: str = "application/json"
    wait_s: float = 0.0

    def reply(self, asked: Any) -> Reply:
        return Reply(200, self.kind, self.body, {})


def client_at(url: str, events: list[tenuto.Event] | None = None, **settings: Any) -> Any:
    bare = boto3.client("bedrock-runtime", **given_to_a_client(url, 0))
    policy = tenuto.Policy(**(QUICK | settings))
    return tenuto.wrap(bare, policy=policy, on_event=None if events is None else events.append)


def events_in(response: Any) -> Iterator[Any]:
    for event in response["body"]:
        yield json.loads(event["chunk"]["bytes"])


class Assembled:
    """A stream put together as AWS's documentation does it."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.got = Got()
        self.message: dict[str, Any] = {"role": "assistant", "content": ""}
        self.calls: dict[int, dict[str, Any]] = {}

    def add(self, event: Any) -> None:
        value = json.loads(event["chunk"]["bytes"])
        self.told.append(value)
        self.got.usage = value.get(METRICS, self.got.usage)
        for choice in value["choices"]:
            piece = choice.get("delta") or choice.get("message") or {}
            self.got.text += piece.get("content") or ""
            self.message["refusal"] = self.message.get("refusal", "") + (piece.get("refusal") or "")
            self.got.finish = (
                choice.get("finish_reason") or choice.get("stop_reason") or (self.got.finish)
            )
            for call in piece.get("tool_calls") or ():
                self._add(call)

    def _add(self, call: dict[str, Any]) -> None:
        if call["index"] not in self.calls:
            kept = {key: value for key, value in call.items() if key != "index"}
            self.calls[call["index"]] = kept | {"function": dict(call["function"])}
        else:
            self.calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]

    def done(self) -> Got:
        got = self.got
        got.calls = list(self.calls.values())
        got.message = self.message | {"content": got.text or None}
        if not got.message["refusal"]:
            del got.message["refusal"]
        got.message |= {"tool_calls": got.calls} if got.calls else {}
        return got


def _of_body(raw: bytes) -> Got:
    body = json.loads(raw)
    (choice,) = body["choices"]
    message = choice["message"]
    return Got(
        text=message.get("content") or "",
        calls=message.get("tool_calls") or [],
        finish=choice.get("finish_reason") or choice.get("stop_reason"),
        message=message,
        usage=body.get("usage"),
    )


METRICS = "amazon-bedrock-invocationMetrics"


class InvokeAsker(Asker):
    """Asks a simulator through boto3 and aiobotocore, with nothing else around them. `maker` stands
    before the model's name; `told` holds the events of the last stream."""

    own_errors = OWN
    refusal = ClientError
    maker = ""

    def __init__(self, sim: Simulator, max_retries: int = 0) -> None:
        self.sim = sim
        self._clients = BedrockAsker(sim, max_retries)
        self.loop = self._clients.loop
        self.client, self.async_client = self._clients.client, self._clients.async_client
        self.told: list[dict[str, Any]] = []

    def close(self) -> None:
        self._clients.close()

    def _given(self, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        body = {key: value for key, value in given.items() if key not in ("model", "stream")}
        name = "invoke_model_with_response_stream" if given["stream"] else "invoke_model"
        return name, {"modelId": self.maker + given["model"], "body": json.dumps(body)}

    def _ask(self, given: dict[str, Any]) -> Got:
        name, asked = self._given(given)
        response = getattr(self.client, name)(**asked)
        if not given["stream"]:
            return _of_body(response["body"].read())
        assembled = Assembled()
        self.told = assembled.told
        with contextlib.closing(response["body"]) as stream:
            for event in stream:
                assembled.add(event)
        return assembled.done()

    def _ask_async(self, given: dict[str, Any]) -> Got:
        async def run() -> Got:
            name, asked = self._given(given)
            response = await getattr(self.async_client, name)(**asked)
            if not given["stream"]:
                async with response["body"] as body:
                    return _of_body(await body.read())
            assembled = Assembled()
            self.told = assembled.told
            stream = response["body"]
            try:
                async for event in stream:
                    assembled.add(event)
            finally:
                if (closing := stream.close()) is not None:
                    await closing
            return assembled.done()

        return self.loop.run_until_complete(run())


class WrappedInvoke(Watching, InvokeAsker):
    """Asks through `tenuto.wrap`."""

    def __init__(
        self,
        sim: Simulator,
        policy: tenuto.Policy,
        maker: str = "",
        *,
        watched: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(sim, policy, watched=watched, **options)
        self.maker = maker


def assert_one_chat(told: Sequence[dict[str, Any]]) -> None:
    """One id, one stop, the metrics at the end."""
    choices = [choice for event in told for choice in event["choices"]]
    assert len({event.get("id") for event in told}) == 1
    assert len({frozenset(choice) - {"logprobs"} for choice in choices}) == 1
    stops = [choice.get("finish_reason") or choice.get("stop_reason") for choice in choices]
    assert [bool(stop) for stop in stops] == [False] * (len(stops) - 1) + [True]
    assert [METRICS in event for event in told] == [False] * (len(told) - 1) + [True]
