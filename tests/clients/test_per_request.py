"""The policy of a single request: the header `x-tenuto`, and `with tenuto.policy(…)` around it."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
from collections.abc import Generator, Iterator
from typing import Any

import anthropic
import httpx
import openai
import pytest

import tenuto
from tenuto.cli.explained import explain
from tenuto_sim import Simulator

pytestmark = pytest.mark.behaviour("P3")

MESSAGES: Any = [{"role": "user", "content": "Why do tides come twice a day?"}]
NONE = "continuation_max_attempts=0"
both = pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as running:
        yield running


class Asker:
    """The openai SDK in front of a simulator."""

    def __init__(self, sim: Simulator, policy: tenuto.Policy | None = None, **options: Any) -> None:
        self.sim = sim
        made: dict[str, Any] = {"base_url": sim.base_url, "api_key": "none", **options}
        self.bare = openai.OpenAI(**made)
        self.client = tenuto.wrap(self.bare, policy=policy or tenuto.Policy())
        self.runner = asyncio.Runner()
        self.bare_async = openai.AsyncOpenAI(**made)
        self.client_async = tenuto.wrap(self.bare_async, policy=policy or tenuto.Policy())

    def __call__(self, case: str, header: str = "", way: str = "sync", **more: Any) -> Any:
        """The stop that the SDK shows."""
        self.sim.forget()
        given = {"model": f"sim/{case}", "messages": MESSAGES, **more}
        if header:
            given["extra_headers"] = {"x-tenuto": header}
        return self.run(self.later(given)) if way == "async" else self.now(given)

    def run(self, coroutine: Any) -> Any:
        """Run it on the loop of this asker, as a task of the caller's own."""
        return self.runner.run(coroutine, context=contextvars.copy_context())

    def now(self, given: dict[str, Any]) -> Any:
        answer: Any = self.client.chat.completions.create(**given)
        chunks = answer if given.get("stream") else [answer]
        return next(c.finish_reason for chunk in chunks for c in chunk.choices if c.finish_reason)

    async def later(self, given: dict[str, Any]) -> Any:
        answer: Any = await self.client_async.chat.completions.create(**given)
        chunks = [chunk async for chunk in answer] if given.get("stream") else [answer]
        return next(c.finish_reason for chunk in chunks for c in chunk.choices if c.finish_reason)

    def close(self) -> None:
        self.bare.close()
        self.run(self.bare_async.close())
        self.runner.close()


@pytest.fixture
def asker(sim) -> Iterator[Asker]:
    made = Asker(sim)
    yield made
    made.close()


# --- the header ---------------------------------------------------------------------------------


@pytest.mark.behaviour("P3", "P8c", "C2")
@both
def test_the_header_changes_the_policy_of_one_request_and_is_not_sent(asker, way, stream):
    assert asker("length_once", NONE, way, stream=stream) == "length"
    assert asker("length_once", "", way, stream=stream) == "stop"
    assert asker("normal", NONE, way, stream=stream) == "stop"
    assert len(asker.sim.requests) == 1 + 2 + 1
    sent = [name.lower() for request in asker.sim.requests for name in request.headers]
    assert [name for name in sent if name.startswith("x-tenuto")] == []


def test_several_settings_a_preset_and_names_of_keys_stand_in_one_header(sim):
    asker = Asker(sim, tenuto.Policy(requests_may="everything"))
    with pytest.raises(openai.APIStatusError, match="Tenuto could not finish"):
        asker("length_always", f"on_incomplete=error , {NONE}")
    assert len(asker.sim.requests) == 1
    with pytest.raises(openai.APIStatusError, match="Tenuto could not finish"):
        asker("length_always", f"{NONE}, preset=agents")
    assert len(asker.sim.requests) == 2
    assert asker("http_400_unknown_key", "drop_unsupported=seed logit_bias", seed=1) == "stop"
    asker.close()


@pytest.mark.parametrize("word", ["on", "TRUE", "1", " "])
def test_a_header_that_says_on_changes_nothing(asker, word):
    assert asker("length_once", word) == "stop"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("empty_retries=11", "empty_retries is 11, but it must be a whole number from 0 to 10"),
        ("empty_retries=many", "empty_retries is 'many', but it must be a whole number"),
        ("empty_retires=1", "empty_retires is not a setting; the nearest are empty_retries, "),
        ("preset=agnets", "preset is 'agnets', but it must be one of 'chat', "),
        (
            "hold_max_bytes=0",
            "a request may only lower hold_max_bytes, which is 16777216; a policy",
        ),
        ("capture=turns", "capture cannot be set here"),
        ("per_request=sizes", "per_request cannot be set here"),
        ("decide=stop", "decide is not a setting"),
    ],
)
def test_what_a_header_says_wrong_is_a_policy_error_and_nothing_is_sent(asker, header, said, way):
    with pytest.raises(tenuto.PolicyError) as caught:
        asker("normal", header, way)
    assert str(caught.value).startswith(f"header x-tenuto: {said}")
    assert asker.sim.requests == []


@pytest.mark.parametrize("header", ["error", "off, empty_retries=1", "=1", "empty_retries=1,"])
def test_a_header_that_cannot_be_read_is_a_policy_error_that_says_what_can(asker, header):
    with pytest.raises(tenuto.PolicyError) as caught:
        asker("normal", header)
    assert str(caught.value) == (
        f"header x-tenuto is '{header}', but it must be 'off', or settings such as "
        "'on_incomplete=error, empty_retries=0'"
    )


@both
def test_the_header_works_through_the_anthropic_sdk(sim, stream):
    base = sim.base_url.removesuffix("/v1")
    with anthropic.Anthropic(base_url=base, api_key="none", max_retries=0) as bare:
        client = tenuto.wrap(bare)
        given: Any = {"model": "sim/length_once", "max_tokens": 500, "messages": MESSAGES}
        for header, stop in ((NONE, "max_tokens"), ("on", "end_turn")):
            sim.forget()
            more: Any = {"extra_headers": {"x-tenuto": header}}
            if stream:
                with client.messages.stream(**given, **more) as streamed:
                    assert streamed.get_final_message().stop_reason == stop
            else:
                assert client.messages.create(**given, **more).stop_reason == stop
        with pytest.raises(tenuto.PolicyError, match=r"^header x-tenuto: empty_retries is 99"):
            client.messages.create(**given, extra_headers={"x-tenuto": "empty_retries=99"})


def test_the_header_works_through_a_bare_http_client(sim):
    body = {"model": "sim/length_once", "messages": MESSAGES}
    with tenuto.http_client("httpx", base_url=sim.base_url) as client:
        made = client.post("/chat/completions", json=body, headers={"X-Tenuto": NONE})
        assert made.json()["choices"][0]["finish_reason"] == "length"
        request = client.build_request("POST", "/chat/completions", json=body)
        request.headers["x-tenuto"] = "empty_retries=99"
        with pytest.raises(tenuto.PolicyError, match="empty_retries is 99"):
            client.send(request)
        wrong = {"x-tenuto": "empty_retries=99"}
        assert client.get("/models", headers=wrong).request.headers.get("x-tenuto") is None
    assert isinstance(client, httpx.Client)


def test_a_turn_without_io_takes_the_header_as_well():
    body = json.dumps({"model": "m", "messages": MESSAGES}).encode()
    url = "https://host/v1/chat/completions"
    turn = tenuto.sansio.Turn("POST", url, [("x-tenuto", "empty_retries=0")], body)
    command = turn.next()
    assert isinstance(command, tenuto.sansio.SendRequest)
    assert command.headers == ()
    with pytest.raises(tenuto.PolicyError, match="empty_retries is 99"):
        tenuto.sansio.Turn("POST", url, [("x-tenuto", "empty_retries=99")], body)


# --- what the owner allows ----------------------------------------------------------------------


def test_the_owner_of_a_client_says_what_a_request_may_change(sim, way):
    asker = Asker(sim, tenuto.Policy(per_request={"ending"}))
    refused = "a request may not change continuation_max_attempts; the policy of this client"
    with pytest.raises(tenuto.PolicyError, match=f"^header x-tenuto: {refused}") as caught:
        asker("length_once", f"on_incomplete=error, {NONE}", way)
    assert str(caught.value).endswith("allows (per_request): ending")
    with pytest.raises(tenuto.PolicyError, match=r"^header x-tenuto: a request may not switch"):
        asker("length_once", "off", way)
    with (
        tenuto.policy(continuation_max_attempts=0),
        pytest.raises(tenuto.PolicyError, match=rf"^policy\(\): {refused}"),
    ):
        asker("length_once", "", way)
    assert sim.requests == []
    with pytest.raises(openai.APIStatusError, match="Tenuto could not finish"):
        asker("length_always", "on_incomplete=error", way)
    asker.close()


def test_an_owner_may_allow_nothing(sim):
    asker = Asker(sim, tenuto.Policy(per_request=()))  # type: ignore[arg-type]
    with pytest.raises(tenuto.PolicyError, match=r"allows \(per_request\): nothing$"):
        asker("normal", "on_incomplete=error")
    assert asker("normal", "on") == "stop"
    asker.close()


def test_a_preset_may_change_only_what_its_settings_may(sim):
    asker = Asker(sim, tenuto.Policy(per_request={"ending"}))
    with pytest.raises(tenuto.PolicyError, match="a request may not change tool_answer_attempts"):
        asker("normal", "preset=agents")
    asker.close()


def test_the_header_outweighs_the_exception_of_a_model(sim):
    models = {"*/length_once": {"continuation_max_attempts": 0}}
    asker = Asker(sim, tenuto.Policy(models=models, requests_may="everything"))
    assert asker("length_once") == "length"
    assert asker("length_once", "continuation_max_attempts=1") == "stop"
    asker.close()


# --- the context manager ------------------------------------------------------------------------


@both
def test_a_block_changes_the_policy_of_the_requests_inside_it(asker, way, stream):
    with tenuto.policy(continuation_max_attempts=0):
        assert asker("length_once", "", way, stream=stream) == "length"
        with tenuto.policy(continuation_max_attempts=1):
            assert asker("length_once", "", way, stream=stream) == "stop"
            assert asker("length_once", NONE, way, stream=stream) == "length", "the header"
        assert asker("length_once", "", way, stream=stream) == "length"
        with tenuto.policy(fault_retries=0):
            assert asker("length_once", "", way, stream=stream) == "length", "the outer block"
    assert asker("length_once", "", way, stream=stream) == "stop"


def test_a_block_takes_presets_and_off_stands_in_the_header(asker):
    with tenuto.policy(preset="agents"):
        with pytest.raises(openai.APIStatusError, match="Tenuto could not finish"):
            asker("length_always")
        assert asker("length_always", "off") == "length"


def test_a_block_is_left_by_an_exception(asker):
    with pytest.raises(KeyError), tenuto.policy(continuation_max_attempts=0):
        raise KeyError
    assert asker("length_once") == "stop"


def test_a_block_may_be_entered_again_and_is_no_decorator(asker):
    block = tenuto.policy(continuation_max_attempts=0)
    for _ in range(2):
        with block, block:
            assert asker("length_once") == "length"
        assert asker("length_once") == "stop"
    with pytest.raises(TypeError, match="not callable"):
        block(print)  # type: ignore[operator]


def test_blocks_of_generators_that_end_in_another_order_leave_nothing_behind(asker):
    def inside(attempts: int) -> Generator[None, None, None]:
        with tenuto.policy(continuation_max_attempts=attempts):
            yield

    first, second = inside(0), inside(3)
    next(first)
    next(second)
    first.close()
    assert asker("length_once") == "stop", "the second block"
    second.close()
    assert asker("length_once") == "stop"


def test_a_block_may_be_left_in_another_context_than_it_was_entered_in(asker):
    def inside() -> Generator[None, None, None]:
        with tenuto.policy(continuation_max_attempts=0):
            yield

    held = inside()
    contextvars.copy_context().run(next, held)
    held.close()
    assert asker("length_once") == "stop"


def test_a_block_holds_for_an_agent(sim):
    model = tenuto.agent.Model(
        "openai-chat:sim/length_always", base_url=sim.base_url, api_key="none"
    )
    with tenuto.agent.Agent(model, policy=tenuto.Policy()) as agent:
        agent.run("Why?")
        before = len(sim.requests)
        sim.forget()
        with tenuto.policy(continuation_max_attempts=0):
            agent.run("Why?")
    assert (before, len(sim.requests)) == (4, 5)


def test_a_capture_of_a_request_with_its_own_policy_is_explained_by_it(sim, tmp_path):
    asker = Asker(sim, tenuto.Policy(capture=str(tmp_path), per_request={"text"}))
    assert asker("length_once", NONE) == "length"
    asker.close()
    [file] = tmp_path.glob("*.json")
    assert json.loads(file.read_bytes())["policy"]["continuation_max_attempts"] == 0
    told = explain(file.read_bytes(), None, tenuto.Policy)
    assert (told["policy"], len(told["attempts"])) == ("recorded", 1)
    assert told["next"]["reason"] == "retry_limit"


def test_a_stream_keeps_the_policy_of_its_beginning(asker):
    given: Any = {"model": "sim/length_once", "messages": MESSAGES, "stream": True}
    with tenuto.policy(continuation_max_attempts=0):
        stream = asker.client.chat.completions.create(**given)
    stops = [choice.finish_reason for chunk in stream for choice in chunk.choices]
    assert [stop for stop in stops if stop] == ["length"]


def test_a_block_holds_in_no_other_thread(asker):
    got: list[str | None] = []
    with tenuto.policy(continuation_max_attempts=0):
        other = threading.Thread(target=lambda: got.append(asker("length_once")))
        other.start()
        other.join(30)
    assert got == ["stop"]


def test_a_block_holds_in_its_own_task_and_those_that_it_starts(asker):
    given: Any = {"model": "sim/length_once", "messages": MESSAGES}
    # Each with words of its own: the simulator counts the answers of a conversation.
    asked = [
        given | {"messages": [{"role": "user", "content": f"Question {n}."}]} for n in range(4)
    ]

    async def inside(n: int, leaving: asyncio.Event) -> list[str | None]:
        with tenuto.policy(continuation_max_attempts=0):
            leaving.set()
            begun = asyncio.create_task(asker.later(asked[n]))
            return [await asker.later(asked[n + 1]), await begun]

    async def run() -> tuple[list[str | None], str | None]:
        entered = asyncio.Event()
        held = asyncio.create_task(inside(0, entered))
        await entered.wait()
        outside = await asker.later(asked[2])
        return await held, outside

    assert asker.run(run()) == (["length", "length"], "stop")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"empty_retries": 11}, "policy(): empty_retries is 11, but it must be a whole number"),
        (
            {"empty_retires": 1},
            "policy(): empty_retires is not a setting; the nearest are empty_retries, ",
        ),
        ({"capture": "turns"}, "policy(): capture cannot be set here"),
        ({"requests_may": "everything"}, "policy(): requests_may cannot be set here"),
        ({"preset": "agnets"}, "policy(): preset is 'agnets', but it must be one of 'chat', "),
    ],
)
def test_what_a_block_cannot_change_is_refused_where_it_begins(changes, said):
    with pytest.raises(tenuto.PolicyError) as caught, tenuto.policy(**changes):
        pytest.fail("the block has begun")
    assert str(caught.value).startswith(said)
