"""Normal turns are untouched: the same request, the same bytes back, one call; and what an unfinished
turn shows."""

from __future__ import annotations

from typing import Any

import pytest
from google import genai
from google.genai._gaos.lib import compat_errors
from support.asking.gemini_interactions import CASES, TOOLS, InteractionsAsker, asks
from support.asking.wrapping import QUICK

import tenuto
from tenuto.core import hints
from tenuto_sim import Bare, Case

FINE = [case for case in CASES.values() if case.bare is Bare.FINE]
PAUSES = {"pause", "pause_twice"}
"""The SDK goes on from these by itself, and Tenuto in its place."""
MENDED = {"bom", "event_not_json"}
"""Their form misleads readers, so it is put right."""


def given_for(case: Case, stream: bool) -> dict[str, Any]:
    given: dict[str, Any] = {"model": f"sim/{case.name}", "input": "The same.", "stream": stream}
    return given | ({"tools": TOOLS} if case.wants_tools else {}) | dict(case.request)


def raw(client: Any, given: dict[str, Any]) -> bytes:
    with client.interactions.with_streaming_response.create(**given) as response:
        return b"".join(response.iter_bytes())


async def raw_async(client: Any, given: dict[str, Any]) -> bytes:
    async with client.aio.interactions.with_streaming_response.create(**given) as response:
        return b"".join([piece async for piece in response.iter_bytes()])


def bytes_of(asker: InteractionsAsker, way: str, given: dict[str, Any]) -> bytes:
    if way == "sync":
        return raw(asker.client, given)
    return asker.loop.run_until_complete(raw_async(asker.client, given))


@pytest.mark.behaviour("P8", "C25", "S8")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_normal_turn_is_the_same_bytes(sim, wrapped, mode, way):
    bare, asker = InteractionsAsker(sim), wrapped()
    for case in FINE:
        if mode not in case.modes or case.name in MENDED | PAUSES:
            continue
        given = given_for(case, mode == "stream")
        answers, asked = [], []
        for one in (bare, asker):
            sim.forget()
            before = len(sim.requests)
            answers.append(bytes_of(one, way, given))
            asked.append([request.body for request in sim.requests[before:]])
        assert answers[0] == answers[1], case.name
        assert asked[0] == asked[1], case.name
        assert len(asked[0]) == 1, case.name
    bare.close()


@pytest.mark.behaviour("P1a", "C21")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_notice_is_shown_once_and_taken_out_again(wrapped, sim, mode, way):
    asker = wrapped(on_incomplete="notice")
    got = asker.ask_case(CASES["length_always"], mode, way)
    assert got.stop == "incomplete"
    assert got.text.count("[This answer is incomplete: retry limit.]") == 1
    assert got.steps[-1]["content"][-1]["text"] == got.text
    asker.ask([*got.history, *got.steps, asks("Go on.")])
    assert "This answer is incomplete" not in sim.requests[-1].body.decode()


@pytest.mark.behaviour("P1a", "P1b", "C5")
def test_an_error_behind_text_keeps_the_text_in_the_stream(wrapped, way):
    asker = wrapped(on_incomplete="error")
    got = asker.ask_case(CASES["length_then_500"], "stream", way)
    assert isinstance(got.error, compat_errors.APIConnectionError)
    assert asker.told[-1].event_type == "error"
    assert sum(event.event_type == "step.delta" for event in asker.told) > 5


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_the_usage_is_that_of_one_call(wrapped, sim, mode, way):
    asker = wrapped()
    got = asker.ask_case(CASES["think_then_length_twice"], mode, way)
    usage, billed = got.usage, sim.requests
    made = usage.total_output_tokens + usage.total_thought_tokens
    assert made == sum(request.output_tokens for request in billed)
    assert usage.total_input_tokens == billed[0].input_tokens
    assert usage.total_tokens == usage.total_input_tokens + made


@pytest.mark.behaviour("C17", "C7", "C9")
def test_a_continuation_leaves_with_the_text_once_a_hint_and_a_larger_limit(wrapped, sim):
    asker = wrapped()
    got = asker.ask([asks("Tell me.")], generation_config={"max_output_tokens": 64, "top_p": 1})
    first, second, *_ = (request.json for request in sim.requests)
    assert second["generation_config"] == {"max_output_tokens": 128, "top_p": 1}
    own, said, hint = second["input"]
    assert own == first["input"][0]
    assert got.text.startswith(said["content"][0]["text"])
    assert hint == asks(hints.CONTINUE)


@pytest.mark.behaviour("P8")
def test_other_endpoints_pass_by(sim):
    seen: list[tenuto.Event] = []
    options: Any = {"base_url": sim.root_url, "retry_options": {"attempts": 1}}
    client = tenuto.wrap(
        genai.Client(api_key="key", http_options=options),
        policy=tenuto.Policy(**QUICK),
        on_event=seen.append,
    )
    with pytest.raises(compat_errors.NotFoundError):
        client.interactions.get("v1_1")
    client.close()
    assert not seen
    assert "/interactions/v1_1" in sim.requests[0].path
