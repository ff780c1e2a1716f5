"""Amazon Bedrock through the SDK's own client: every request that leaves is signed for what it holds,
and what was mended comes back in Bedrock's binary messages."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx2
import pytest
from support.asking.anthropic_messages import CASES, TOOLS, Said, broken_call, next_turn_is_refused
from support.asking.wrapping import QUICK, is_right
from support.aws import KEYS, REGION, events_of, failure
from support.clouds import BEDROCK, Bedrock, BedrockAsker, wrongs
from support.events import anthropic_messages as messages
from support.events.framing import chunks
from support.far_sides import RESET, Answer, FarSide, answer, json_answer
from support.pairing import one_in

import tenuto
from tenuto_sim import Case, Simulator

POLICY = tenuto.Policy(**QUICK)
STREAMED = [case for case in CASES.values() if "stream" in case.modes]
BOTH_WAYS = [
    CASES[name]
    for name in (
        "normal", "length_twice", "tool", "call_cut_length", "call_malformed", "drop_mid_text",
        "reset_mid_text", "pause_turn", "http_429_once", "error_chunk_mid_text",
    )
]  # fmt: skip

World = tuple[Bedrock, BedrockAsker]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Simulator(token_chars=20) as sim, Bedrock(sim) as cloud:
        asker = BedrockAsker(cloud, POLICY)
        yield cloud, asker
        asker.close()


def check(world: World, case: Case, mode: str, way: str) -> None:
    cloud, asker = world
    said = asker.ask_case(case, mode, way)
    assert cloud.refused == []
    if said.error is not None:
        assert isinstance(said.error, anthropic.APIError), "a foreign exception is harmful"
        assert not case.recoverable
        return
    assert not broken_call(said, asker.wanted(said, case)[1])
    if case.recoverable:
        assert is_right(asker, said, case)
        assert asker.ending["status"] == "complete"
    assert not next_turn_is_refused(asker, said, case)


@pytest.mark.slow
@pytest.mark.behaviour("P1a", "T1", "S1", "S9")
@one_in(3, "case", STREAMED)
def test_every_fault_of_a_stream_is_mended_or_told(world: World, case: Case) -> None:
    check(world, case, "stream", "sync")


@pytest.mark.behaviour("P1a", "C28a")
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("case", BOTH_WAYS, ids=[case.name for case in BOTH_WAYS])
def test_bodies_and_streams_are_mended_for_both_clients(
    world: World, case: Case, mode: str, way: str
) -> None:
    if mode in case.modes:
        check(world, case, mode, way)


# --- a normal turn ----------------------------------------------------------------------------


def raw_stream(client: Any, **given: Any) -> tuple[str, bytes]:
    with client.messages.with_streaming_response.create(stream=True, **given) as response:
        return response.headers["content-type"], b"".join(response.iter_bytes())


@pytest.mark.behaviour("P8", "C25")
def test_a_normal_turn_is_the_same_bytes_in_both_directions(world: World) -> None:
    cloud, _ = world
    given: dict[str, Any] = {"model": "us.anthropic.claude-sim.tool_with_text", "max_tokens": 900}
    given["tools"] = TOOLS
    given["messages"] = [{"role": "user", "content": "The same twice."}]
    own = {"base_url": cloud.url, **KEYS}
    with anthropic.AnthropicBedrock(**own) as bare, tenuto.wrap(bare, policy=POLICY) as wrapped:
        for asked in (
            raw_stream,
            lambda c, **g: c.messages.with_raw_response.create(**g).http_response.content,
        ):
            before = len(cloud.seen)
            cloud.sim.forget()
            theirs = asked(bare, **given)
            cloud.sim.forget()
            assert asked(wrapped, **given) == theirs
            first, second = cloud.seen[before:]
            assert (first[0], first[2]) == (second[0], second[2])
            changing = ("x-amz-date", "authorization", "connection")
            assert [h for h in first[1].items() if h[0] not in changing] == [
                h for h in second[1].items() if h[0] not in changing
            ]


# --- signatures -------------------------------------------------------------------------------


def said(text: str, stop: str = "end_turn") -> bytes:
    return json.dumps(messages.body(text, stop=stop)).encode()


HALVES = (
    json_answer(said("The first half, ", "max_tokens")),
    json_answer(said("and the second.")),
)
WHOLE = "The first half, and the second."
ASKED: dict[str, Any] = {
    "model": "us.anthropic.claude-x",
    "max_tokens": 900,
    "messages": [{"role": "user", "content": "Tell me."}],
}


def ask(kind: Any, far: FarSide, change: Callable[[Any], Any] = lambda c: c, **more: Any) -> Said:
    """Ask a wrapped client for a body, whichever kind it is."""
    own = {**KEYS, "base_url": far.base_url.removesuffix("/v1"), "max_retries": 0}
    own |= more.pop("own", {})
    client = tenuto.wrap(kind(**own), policy=POLICY)
    if not kind.__name__.startswith("Async"):
        with client:
            return Said(text=change(client).messages.create(**ASKED, **more).content[0].text)

    async def run() -> Said:
        async with client:
            answer = await change(client).messages.create(**ASKED, **more)
            return Said(text=answer.content[0].text)

    return asyncio.run(run())


OTHERS = [
    (anthropic.AnthropicAWS, "aws-external-anthropic", {"workspace_id": "w"}),
    (anthropic.AsyncAnthropicAWS, "aws-external-anthropic", {"workspace_id": "w"}),
    (anthropic.AnthropicBedrockMantle, "bedrock-mantle", {}),
    (anthropic.AsyncAnthropicBedrockMantle, "bedrock-mantle", {}),
    (anthropic.AnthropicBedrock, "bedrock", {}),
    (anthropic.AsyncAnthropicBedrock, "bedrock", {}),
]


@pytest.mark.behaviour("C28a", "C1")
@pytest.mark.parametrize(("kind", "service", "own"), OTHERS, ids=[o[0].__name__ for o in OTHERS])
def test_every_attempt_is_signed_for_what_it_holds(kind, service, own):
    with FarSide(*HALVES) as far:
        assert ask(kind, far, own=own).text == WHOLE
        assert wrongs(far, service) == ["", ""]


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize("kind", BEDROCK, ids=lambda kind: kind.__name__)
def test_a_header_for_tenuto_is_no_part_of_a_signature(kind):
    with FarSide(*HALVES) as far:
        extra = {"x-tenuto": "off", "x-own": "kept"}
        assert ask(kind, far, extra_headers=extra).text == "The first half, "
        assert wrongs(far) == [""]
        assert b"x-own: kept" in far.requests[0][0].lower()


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize("kind", BEDROCK, ids=lambda kind: kind.__name__)
def test_a_header_for_tenuto_is_not_signed_where_the_request_asks_for_no_turn(kind):
    async def awaited(made: Any) -> Any:
        return await made

    with FarSide(json_answer(b"{}")) as far:
        own = {**KEYS, "base_url": far.base_url.removesuffix("/v1")}
        client: Any = tenuto.wrap(kind(**own), policy=POLICY)
        options = {"headers": {"x-tenuto": "off"}}
        made = client.post("/guardrail/g/version/1/apply", cast_to=object, body={}, options=options)
        if kind.__name__.startswith("Async"):
            asyncio.run(awaited(made))
        else:
            client.close()
        assert wrongs(far) == [""]


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize("kind", BEDROCK, ids=lambda kind: kind.__name__)
def test_a_client_with_other_keys_signs_with_its_own(kind):
    def other(client: Any) -> Any:
        return client.with_options(aws_secret_key="another")

    with FarSide(*HALVES) as far:
        assert ask(kind, far, other).text == WHOLE
        assert wrongs(far, secret="another") == ["", ""]


@pytest.mark.behaviour("C28a", "P8c")
@pytest.mark.parametrize("kind", BEDROCK, ids=lambda kind: kind.__name__)
def test_a_copy_with_another_http_client_signs_every_attempt(kind):
    def other(client: Any) -> Any:
        library = httpx2.AsyncClient if kind.__name__.startswith("Async") else httpx2.Client
        return client.with_options(http_client=library(), aws_secret_key="another")

    with FarSide(*HALVES) as far:
        extra = {"x-tenuto": "on_incomplete=stop"}
        assert ask(kind, far, other, extra_headers=extra).text == WHOLE
        assert wrongs(far, secret="another") == ["", ""]
        assert all(b"x-tenuto" not in head.lower() for head, _ in far.requests)


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize("kind", BEDROCK, ids=lambda kind: kind.__name__)
def test_a_bearer_key_goes_with_every_attempt(kind):
    keys = dict.fromkeys(("aws_access_key", "aws_secret_key", "aws_session_token"))
    with FarSide(*HALVES) as far:
        assert ask(kind, far, own={**keys, "api_key": "bearer"}).text == WHOLE
        for head, _ in far.requests:
            assert head.lower().count(b"authorization: bearer bearer") == 1


@pytest.mark.behaviour("C5")
def test_keys_that_cannot_be_had_any_more_cost_nothing_of_what_was_said():
    class Expiring(anthropic.AnthropicBedrock):
        asked = 0

        def _prepare_request(self, request: Any) -> None:
            self.asked += 1
            if self.asked > 1:
                raise RuntimeError("Could not resolve AWS credentials from session")
            super()._prepare_request(request)

    with FarSide(*HALVES) as far:
        assert ask(Expiring, far).text == "The first half, "
        assert wrongs(far) == [""]


@pytest.mark.behaviour("P8")
def test_a_client_that_is_not_wrapped_itself_has_its_signature_left_alone():
    with FarSide(*HALVES) as far, tenuto.http_client(policy=POLICY) as http:
        given = {**KEYS, "base_url": far.base_url.removesuffix("/v1"), "http_client": http}
        with anthropic.AnthropicBedrock(**given) as client:
            headers = {"x-own": "kept"}
            answer = client.messages.create(**ASKED, extra_headers=headers)
            assert answer.stop_reason == "max_tokens"
            assert wrongs(far) == [""]
            with tenuto.wrap(client) as wrapped:
                assert wrapped.messages.create(**ASKED).content[0].text == "and the second."
        assert wrongs(far) == ["", ""]


@pytest.mark.behaviour("C28a")
def test_wrapping_twice_is_wrapping_once_and_the_client_stays_of_its_type():
    with anthropic.AnthropicBedrock(**KEYS) as client:
        wrapped = tenuto.wrap(client, policy=POLICY)
        assert tenuto.wrap(wrapped) is wrapped
        assert isinstance(wrapped, anthropic.AnthropicBedrock)
        assert type(tenuto.wrap(wrapped, policy=tenuto.Policy())) is type(wrapped)
        assert type(client) is anthropic.AnthropicBedrock


@pytest.mark.behaviour("P8")
def test_an_answer_that_is_kept_does_not_keep_the_client():
    with FarSide(*HALVES) as far:
        own = {**KEYS, "base_url": far.base_url.removesuffix("/v1")}
        client = tenuto.wrap(anthropic.AnthropicBedrock(**own), policy=POLICY)
        kept = client.messages.with_raw_response.create(**ASKED).http_response
        gone = weakref.ref(client)
        client.close()
        del client
        gc.collect()
        assert gone() is None
        assert kept.status_code == 200


# --- streams ----------------------------------------------------------------------------------


def began() -> list[bytes]:
    return chunks(messages.stream([messages.said()], "end_turn")[:2])


def delta(text: str) -> bytes:
    return chunks(messages.block(messages.said(text), 0))[1]


def ended(stop: str = "end_turn") -> list[bytes]:
    return chunks(messages.stream([messages.said()], stop)[2:])


def streamed(*pieces: bytes) -> bytes:
    kind = "content-type: application/vnd.amazon.eventstream"
    return answer(b"".join(pieces), kind, length=False)


def texts(far: FarSide, kind: Any, **settings: Any) -> tuple[list[str], list[tenuto.Event]]:
    """The pieces of text of a streamed turn, and what was told of it."""
    events: list[tenuto.Event] = []
    own = {**KEYS, "base_url": far.base_url.removesuffix("/v1"), "max_retries": 0}
    policy = tenuto.Policy(**(QUICK | settings))
    client = tenuto.wrap(kind(**own), policy=policy, on_event=events.append)
    if kind is BEDROCK[0]:
        with client, client.messages.stream(**ASKED) as stream:
            return list(stream.text_stream), events

    async def run() -> list[str]:
        async with client, client.messages.stream(**ASKED) as stream:
            return [text async for text in stream.text_stream]

    return asyncio.run(run()), events


EXCEPTIONS = {
    "throttlingException": "rate_limited",
    "serviceUnavailableException": "overloaded",
    "modelTimeoutException": "timeout",
    "modelStreamErrorException": "server",
    "internalServerException": "server",
}


@pytest.mark.behaviour("S9", "C5")
@pytest.mark.parametrize("kind", BEDROCK, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("exception", EXCEPTIONS)
def test_an_exception_in_the_middle_of_a_stream_is_recovered_from(exception, kind):
    first = streamed(*began(), delta("The first half, "), failure(exception))
    with FarSide(first, streamed(*began(), delta("and the second."), *ended())) as far:
        found, events = texts(far, kind)
        assert "".join(found) == WHOLE
        assert wrongs(far) == ["", ""]
    observed = next(e.data for e in events if e.name == "stop_reason_observed")
    assert EXCEPTIONS[exception] in json.dumps(observed)


@pytest.mark.behaviour("S1", "S3")
@pytest.mark.parametrize("kind", BEDROCK, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("reset", [True, False])
def test_a_stream_that_breaks_inside_a_message_goes_on(kind, reset):
    first: Answer = (
        streamed(*began(), delta("The first half, "), delta("lost")[:50]),
        *([RESET] if reset else []),
    )
    with FarSide(first, streamed(*began(), delta("and the second."), *ended())) as far:
        assert "".join(texts(far, kind)[0]) == WHOLE
        assert wrongs(far) == ["", ""]


@pytest.mark.behaviour("P1a", "S1")
@pytest.mark.parametrize("kind", BEDROCK, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "pieces", [[], [delta("Half")], [delta("Half"), failure("validationException")]]
)
def test_a_turn_that_cannot_be_finished_makes_the_sdk_raise(kind, pieces):
    with FarSide(streamed(*began(), *pieces)) as far:
        with pytest.raises(anthropic.APIStatusError) as raised:
            texts(far, kind, on_incomplete="error")
        body: Any = raised.value.body
        assert body["error"]["source"] == "tenuto_incomplete"


@pytest.mark.behaviour("S4")
@pytest.mark.parametrize("kind", BEDROCK, ids=lambda kind: kind.__name__)
def test_text_arrives_before_the_next_is_sent(kind):
    said_so = threading.Semaphore(0)

    def paced(*words: str, stop: str) -> Iterator[bytes]:
        yield streamed(*began())
        for word in words:
            yield delta(word)
            assert said_so.acquire(timeout=5), "the text was held back"
        yield b"".join(ended(stop))

    first = paced("One ", "two ", "three ", stop="max_tokens")
    # As much as may wait at a seam, in one piece; what follows it must not wait.
    seam = "four, which is as much as two and two, or three and one put together, and then "
    with FarSide(first, paced(seam, "five ", "six.", stop="end_turn")) as far:
        own = {**KEYS, "base_url": far.base_url.removesuffix("/v1"), "max_retries": 0}
        client: Any = tenuto.wrap(kind(**own), policy=POLICY)
        found: list[str] = []

        def arrived(text: str) -> None:
            found.append(text)
            said_so.release()

        async def run() -> None:
            async with client, client.messages.stream(**ASKED) as stream:
                async for text in stream.text_stream:
                    arrived(text)

        if kind is BEDROCK[1]:
            asyncio.run(run())
        else:
            with client, client.messages.stream(**ASKED) as stream:
                for text in stream.text_stream:
                    arrived(text)
        assert "".join(found) == f"One two three {seam}five six."
        assert wrongs(far) == ["", ""]


@pytest.mark.behaviour("S2")
def test_what_was_mended_is_one_stream_of_right_messages(world: World) -> None:
    cloud, _ = world
    given: dict[str, Any] = {"model": "us.anthropic.claude-sim.length_twice", "max_tokens": 900}
    given["messages"] = [{"role": "user", "content": "Mend this."}]
    client = anthropic.AnthropicBedrock(base_url=cloud.url, **KEYS)
    with client, tenuto.wrap(client, policy=POLICY) as wrapped:
        kind, stream = raw_stream(wrapped, **given)
    assert kind == "application/vnd.amazon.eventstream"
    events = events_of(stream)
    assert [e["type"] for e in events].count("message_start") == 1
    assert events[-1]["type"] == "message_stop"
    text = "".join(e["delta"]["text"] for e in events if e["type"] == "content_block_delta")
    assert text == cloud.sim.answer("Mend this.")
    assert REGION in cloud.seen[-1][1]["authorization"]
