"""No further attempt outlives the time that there is for it, however slowly it drips (C29a)."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import openai
import pytest
from botocore.config import Config
from support.asking.bedrock_converse import async_client, given_to_a_client
from support.asking.wrapping import QUICK
from support.aws_messages import message
from support.far_sides import BODY, FarSide, answer, event, json_answer, sse_answer
from support.pairing import WAYS, every_pair

import tenuto
from tenuto_agent import Agent, Limits, Model

ROWS: list[Any] = [{"role": "user", "content": "Hi"}]
LIMIT_S, SLACK_S = 0.5, 1.5
"""The limit, and what a machine that is busy may take beside it: what drips would take far longer."""

DRIP_S, DRIPS_S = 0.1, 6.0

CUT_BODY = json_answer(BODY % (b"Half of it ", b"length"))
CUT_STREAM = sse_answer(event(b"Half of it ") + event(b"", b'"length"') + b"data: [DONE]\n\n")
WHOLE = BODY % (b"and the rest.", b"stop")
ERROR = b'{"error":{"message":"It is busy.","type":"server_error","code":"busy","param":null}}'


def dripping(whole: bytes, first: int = 0) -> Iterator[bytes]:
    """An answer of which all behind the first bytes comes one by one; it ends by itself."""
    if first:
        yield whole[:first]
    until = time.monotonic() + DRIPS_S
    for at in range(first, len(whole)):
        if time.monotonic() > until:
            return
        time.sleep(DRIP_S)
        yield whole[at : at + 1]


def drips(kind: str, whole: bytes) -> Iterator[bytes]:
    """The far side's second answer; of a "head" all comes slowly, else what is behind it."""
    return dripping(whole, 0 if kind == "head" else whole.index(b"\r\n\r\n") + 4)


def second(kind: str, mode: str) -> bytes:
    if kind == "error":
        return json_answer(ERROR, status="503 Service Unavailable")
    if mode == "stream" and kind != "body":
        slow = event(b"and") + event(b" the rest.") + event(b"", b'"stop"') + b"data: [DONE]\n\n"
        return sse_answer(slow)
    return json_answer(WHOLE)


def told(client: Any, mode: str, *, is_async: bool) -> str:
    """The text of an answer."""

    async def given() -> str:
        made = await client.chat.completions.create(
            model="m", messages=ROWS, stream=mode == "stream"
        )
        if mode == "body":
            return str(made.choices[0].message.content)
        return "".join(
            [(c.choices[0].delta.content or "") if c.choices else "" async for c in made]
        )

    if is_async:
        return asyncio.run(given())
    made = client.chat.completions.create(model="m", messages=ROWS, stream=mode == "stream")
    if mode == "body":
        return str(made.choices[0].message.content)
    return "".join((c.choices[0].delta.content or "") if c.choices else "" for c in made)


def of_openai(far: FarSide, library: str, way: str, timeout_s: float, **policy: Any) -> Any:
    """The SDK over a client of either library."""
    settings = tenuto.Policy(**(QUICK | policy))
    is_async = way == "async"
    make = tenuto.async_http_client if is_async else tenuto.http_client
    http = make(library, policy=settings)  # type: ignore[call-overload]
    sdk = openai.AsyncOpenAI if is_async else openai.OpenAI
    made: Any = sdk
    return made(
        base_url=far.base_url, api_key="k", timeout=timeout_s, max_retries=0, http_client=http
    )


def timed(do: Callable[[], Any]) -> tuple[Any, float]:
    """What comes of it, and the seconds that it took."""
    started_s = time.monotonic()
    try:
        came = do()
    except openai.APIError as error:
        came = error
    return came, time.monotonic() - started_s


LIMITED: dict[str, tuple[float, dict[str, Any]]] = {
    "caller": (LIMIT_S, {"fault_retries": 0}),
    "turn": (30.0, {"turn_timeout_s": LIMIT_S}),
}
"""By the caller's own timeout, and by the policy's."""

LIBRARIES = pytest.mark.parametrize("library", ["httpx", "httpx2"])
MODES = pytest.mark.parametrize("mode", ["body", "stream"])


@pytest.mark.behaviour("C29a", "C5")
@every_pair(
    # Nothing else ends a stream that goes on.
    only=lambda _, __, limit, mode, kind: kind != "stream" or (limit, mode) == ("turn", "stream"),
    library=["httpx", "httpx2"],
    way=WAYS,
    limit=LIMITED,
    mode=["body", "stream"],
    kind=["head", "body", "error", "stream"],
)
def test_what_drips_ends_with_its_time(
    library: str, way: str, mode: str, kind: str, limit: str
) -> None:
    timeout_s, policy = LIMITED[limit]
    first = CUT_STREAM if mode == "stream" else CUT_BODY
    with FarSide(first, drips(kind, second(kind, mode))) as far:
        client = of_openai(far, library, way, timeout_s, **policy)
        text, took_s = timed(lambda: told(client, mode, is_async=way == "async"))
    assert len(far.requests) == 2
    assert str(text).startswith("Half of it")
    assert took_s < LIMIT_S + SLACK_S


@pytest.mark.behaviour("C29a", "C5")
@MODES
def test_with_errors_asked_for_what_drips_ends_as_one(way: str, mode: str) -> None:
    first = CUT_STREAM if mode == "stream" else CUT_BODY
    policy = {"turn_timeout_s": LIMIT_S, "on_incomplete": "error"}
    with FarSide(first, drips("body", second("body", mode))) as far:
        client = of_openai(far, "httpx", way, 30.0, **policy)
        error, took_s = timed(lambda: told(client, mode, is_async=way == "async"))
    assert isinstance(error, openai.APIError)
    assert took_s < LIMIT_S + SLACK_S


@pytest.mark.behaviour("C29a", "P1a")
@LIBRARIES
def test_an_error_whose_words_drip_reaches_the_caller_as_that_error(library: str, way: str) -> None:
    with FarSide(json_answer(WHOLE)[:-20], drips("error", second("error", "body"))) as far:
        client = of_openai(far, library, way, 30.0, turn_timeout_s=LIMIT_S)
        error, took_s = timed(lambda: told(client, "body", is_async=way == "async"))
    assert len(far.requests) == 2
    assert isinstance(error, openai.InternalServerError)
    assert took_s < LIMIT_S + SLACK_S


@pytest.mark.behaviour("C29a")
@LIBRARIES
@pytest.mark.parametrize("kind", ["head", "body"])
def test_a_silence_ends_with_the_turn_s_time(library: str, way: str, kind: str) -> None:
    """Nothing at all comes, and the caller would wait for long."""

    def silent() -> Iterator[bytes]:
        if kind == "body":
            yield json_answer(WHOLE)[:-20]
        time.sleep(2.0)

    with FarSide(CUT_BODY, silent()) as far:
        client = of_openai(far, library, way, 30.0, turn_timeout_s=LIMIT_S)
        text, took_s = timed(lambda: told(client, "body", is_async=way == "async"))
    assert text == "Half of it "
    assert took_s < LIMIT_S + SLACK_S


@pytest.mark.behaviour("C29a")
@LIBRARIES
def test_a_stream_that_goes_on_is_not_ended_by_the_read_timeout(library: str, way: str) -> None:
    def slowly() -> Iterator[bytes]:
        yield sse_answer(b"")
        for _ in range(10):
            time.sleep(0.1)
            yield event(b"word ")
        yield event(b"", b'"stop"') + b"data: [DONE]\n\n"

    with FarSide(CUT_STREAM, slowly()) as far:
        client = of_openai(far, library, way, 0.4)
        text, took_s = timed(lambda: told(client, "stream", is_async=way == "async"))
    assert text == "Half of it " + "word " * 10
    assert took_s > 1.0


@pytest.mark.behaviour("C29a", "C29")
@MODES
def test_the_turn_s_time_begins_with_the_end_of_the_first_attempt(way: str, mode: str) -> None:
    def late() -> Iterator[bytes]:
        time.sleep(1.0)
        yield CUT_STREAM if mode == "stream" else CUT_BODY

    rest = event(b"and the rest.") + event(b"", b'"stop"') + b"data: [DONE]\n\n"
    with FarSide(late(), sse_answer(rest) if mode == "stream" else json_answer(WHOLE)) as far:
        client = of_openai(far, "httpx", way, 30.0, turn_timeout_s=0.9)
        text, _ = timed(lambda: told(client, mode, is_async=way == "async"))
    assert text == "Half of it and the rest."


@pytest.mark.behaviour("C29a")
def test_an_api_that_is_asked_for_a_first_time_may_drip_for_as_long_as_without_us() -> None:
    def slowly() -> Iterator[bytes]:
        whole = json_answer(WHOLE)
        yield whole[:-10]
        for byte in whole[-10:]:
            time.sleep(0.1)
            yield bytes([byte])

    with FarSide(slowly()) as far:
        client = of_openai(far, "httpx", "sync", 0.5, turn_timeout_s=0.5)
        text, took_s = timed(lambda: told(client, "body", is_async=False))
    assert text == "and the rest."
    assert took_s > 0.9


# --- Bedrock's clients --------------------------------------------------------------------------

CONVERSED = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Half of it"}]}},
    "stopReason": "max_tokens",
    "usage": {"inputTokens": 1, "outputTokens": 5, "totalTokens": 6},
    "metrics": {"latencyMs": 1},
}
ASKED: Any = [{"role": "user", "content": [{"text": "Tell me."}]}]


def conversed(mode: str) -> bytes:
    if mode == "body":
        return json_answer(json.dumps(CONVERSED).encode())
    events: list[dict[str, Any]] = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Half of it"}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "max_tokens"}},
        {"metadata": {"usage": CONVERSED["usage"], "metrics": {"latencyMs": 1}}},
    ]
    kinds = {"content_type": "application/json", "message_type": "event"}
    made = b"".join(
        message(json.dumps(each[name]).encode(), event_type=name, **kinds)
        for each in events
        for name in each
    )
    return answer(made, "content-type: application/vnd.amazon.eventstream", length=False)


def of_bedrock(url: str, way: str, mode: str, read_s: float, **policy: Any) -> str:
    """What a client of boto3 or aiobotocore gives of one turn."""
    settings = tenuto.Policy(**(QUICK | policy))
    given = given_to_a_client(url, 0) | {}
    given["config"] = given["config"].merge(Config(read_timeout=read_s))

    def text_of(events: list[Any]) -> str:
        deltas = [each.get("contentBlockDelta", {}).get("delta", {}) for each in events]
        return "".join(delta.get("text", "") for delta in deltas)

    async def asking() -> str:
        async with async_client(given) as bare:
            client = tenuto.wrap(bare, policy=settings)
            if mode == "body":
                got = await client.converse(modelId="m", messages=ASKED)
                return str(got["output"]["message"]["content"][0]["text"])
            got = await client.converse_stream(modelId="m", messages=ASKED)
            return text_of([each async for each in got["stream"]])

    if way == "async":
        return asyncio.run(asking())
    client = tenuto.wrap(boto3.client("bedrock-runtime", **given), policy=settings)
    if mode == "body":
        got = client.converse(modelId="m", messages=ASKED)
        return str(got["output"]["message"]["content"][0]["text"])
    return text_of(list(client.converse_stream(modelId="m", messages=ASKED)["stream"]))


@pytest.mark.behaviour("C29a", "C5")
@every_pair(
    only=lambda _, *what: what != ("caller", "stream", "body"),
    way=WAYS,
    limit=LIMITED,
    mode=["body", "stream"],
    kind=["head", "error", "body"],
)
def test_what_drips_ends_with_its_time_on_bedrock(
    way: str, mode: str, kind: str, limit: str
) -> None:
    timeout_s, policy = LIMITED[limit]
    error = json_answer(b'{"message":"It is busy for now, and so on."}', status="503 Busy")
    slow = error if kind == "error" else conversed(mode)
    with FarSide(conversed(mode), drips(kind, slow)) as far:
        url = far.base_url.removesuffix("/v1")
        text, took_s = timed(lambda: of_bedrock(url, way, mode, timeout_s, **policy))
    assert len(far.requests) == 2
    assert text == "Half of it"
    # To make a client takes botocore some time.
    assert took_s < LIMIT_S + SLACK_S + 0.6


# --- the agent's own ----------------------------------------------------------------------------


@pytest.mark.behaviour("C29a", "C29")
@every_pair(
    way=WAYS,
    mode=["body", "stream"],
    number=["first", "further"],
    kind=["head", "body", "error", "event"],
)
def test_what_drips_ends_with_the_agent_s_time(way: str, mode: str, kind: str, number: str) -> None:
    slow = drips(kind, second("stream" if kind == "event" else kind, mode))
    first = (CUT_STREAM if mode == "stream" else CUT_BODY,) if number == "further" else ()
    with FarSide(*first, slow) as far:
        model = Model("openai-chat:m", base_url=far.base_url, api_key="k")
        limits = Limits(timeout_s=LIMIT_S)
        with Agent(model, limits=limits, stream=mode == "stream") as asking:
            started_s = time.monotonic()
            result = asking.run("Go.") if way == "sync" else asyncio.run(asking.arun("Go."))
            took_s = time.monotonic() - started_s
    assert len(far.requests) == len(first) + 1
    assert not result.ok
    assert result.text.strip() == ("Half of it" if first else "")
    assert took_s < LIMIT_S + SLACK_S + (1.2 if kind == "event" and mode == "stream" else 0)


@pytest.mark.behaviour("C29a")
def test_threads_that_look_at_the_clock_end_with_their_turn() -> None:
    before = threading.active_count()
    with FarSide(CUT_BODY, json_answer(WHOLE)) as far:
        client = of_openai(far, "httpx", "sync", 30.0)
        for _ in range(5):
            told(client, "body", is_async=False)
    until = time.monotonic() + 2
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= before
