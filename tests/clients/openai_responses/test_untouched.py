"""Normal turns are untouched: the same request, the same bytes back, one call; and what an unfinished
turn shows."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from support.asking.openai_responses import CASES, TOOLS, ResponsesAsker
from support.asking.wrapping import QUICK

import tenuto
from tenuto.core import hints
from tenuto_sim import Bare, Case

FINE = [case for case in CASES.values() if case.bare is Bare.FINE]
MENDED = {"call_no_index", "call_wrong_index", "bom"}
"""Their form misleads readers, so it is put right."""


def given_for(case: Case, stream: bool) -> dict[str, Any]:
    given: dict[str, Any] = {"model": f"sim/{case.name}", "input": "The same.", "stream": stream}
    return given | ({"tools": TOOLS} if case.wants_tools else {}) | dict(case.request)


def raw(client: Any, given: dict[str, Any]) -> bytes:
    with client.responses.with_streaming_response.create(**given) as response:
        return b"".join(response.iter_bytes())


async def raw_async(client: Any, given: dict[str, Any]) -> bytes:
    async with client.responses.with_streaming_response.create(**given) as response:
        return b"".join([piece async for piece in response.iter_bytes()])


def bytes_of(asker: ResponsesAsker, way: str, given: dict[str, Any]) -> bytes:
    if way == "sync":
        return raw(asker.client, given)
    return asker.loop.run_until_complete(raw_async(asker.async_client, given))


@pytest.mark.behaviour("P8", "C25", "S8")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_normal_turn_is_the_same_bytes(sim, wrapped, mode, way):
    bare, asker = ResponsesAsker(sim), wrapped()
    for case in FINE:
        if mode not in case.modes or case.name in MENDED:
            continue
        given = given_for(case, mode == "stream")
        answers = []
        for one in (bare, asker):
            sim.forget()
            before = len(sim.requests)
            answers.append(bytes_of(one, way, given))
            assert [request.json for request in sim.requests[before:]] == [given], case.name
        assert answers[0] == answers[1], case.name
    bare.close()


@pytest.mark.behaviour("P1a", "C21")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_notice_is_shown_once_and_taken_out_again(wrapped, sim, mode, way):
    asker = wrapped(on_incomplete="notice")
    got = asker.ask_case(CASES["length_always"], mode, way)
    assert got.stop == "max_output_tokens"
    assert got.text.count("[This answer is incomplete: retry limit.]") == 1
    assert got.items[-1]["content"][-1]["text"] == got.text
    asker.ask([*got.history, *got.items, {"role": "user", "content": "Go on."}])
    assert "This answer is incomplete" not in sim.requests[-1].body.decode()


@pytest.mark.behaviour("P1a", "P1b", "C5")
def test_an_error_behind_text_keeps_the_text_in_the_stream(wrapped, way):
    asker = wrapped(on_incomplete="error")
    got = asker.ask_case(CASES["length_then_500"], "stream", way)
    assert isinstance(got.error, openai.APIError)
    assert sum(event.type == "response.output_text.delta" for event in asker.told) > 5


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_the_usage_is_that_of_one_call(wrapped, sim, mode, way):
    asker = wrapped()
    got = asker.ask_case(CASES["length_twice"], mode, way)
    billed = sim.requests
    assert got.usage.output_tokens == sum(request.output_tokens for request in billed)
    assert got.usage.input_tokens == billed[0].input_tokens
    assert got.usage.total_tokens == got.usage.input_tokens + got.usage.output_tokens


@pytest.mark.behaviour("C17", "C7", "C9")
def test_a_continuation_leaves_with_the_text_once_a_hint_and_a_larger_limit(wrapped, sim):
    asker = wrapped()
    given = {"max_output_tokens": 64, "model": "sim/normal"}
    got = asker.ask([{"role": "user", "content": "Tell me."}], **given)
    first, second, *_ = (request.json for request in sim.requests)
    assert second["max_output_tokens"] == 128
    own, said, hint = second["input"]
    assert own == first["input"][0]
    assert got.text.startswith(said["content"])
    assert hint == {"role": "user", "content": hints.CONTINUE}


@pytest.mark.behaviour("P8")
def test_other_endpoints_pass_by(sim):
    seen: list[tenuto.Event] = []
    client = tenuto.wrap(
        openai.OpenAI(base_url=sim.base_url, api_key="key", max_retries=0),
        policy=tenuto.Policy(**QUICK),
        on_event=seen.append,
    )
    with client, pytest.raises(openai.NotFoundError):
        client.responses.retrieve("resp_1")
    assert not seen
    assert sim.requests[0].path == "/v1/responses/resp_1"
