"""Turns of mistralai, wrapped: what leaves on the wire, and what its user is given."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from mistralai.azure.client import MistralAzure
from mistralai.client import Mistral
from mistralai.client.errors import SDKError
from mistralai.gcp.client import MistralGCP
from support.asking.mistral import CASES, TOOLS, WrappedMistral
from support.asking.wrapping import QUICK, is_right
from support.events.openai_chat import mistral_body
from support.far_sides import FarSide, json_answer

import tenuto
from tenuto.core import hints
from tenuto.core.errors import UnsupportedClient
from tenuto_sim import Simulator

Make = Callable[..., WrappedMistral]
ASK: Any = [{"role": "user", "content": "Hi"}]


def rows_of(sim: Simulator) -> list[Any]:
    return [request.json["messages"] for request in sim.requests]


def said(text: str, finish: str) -> bytes:
    return json_answer(json.dumps(mistral_body(text, stop=finish)).encode())


@pytest.mark.behaviour("C1", "C8", "C17", "C19", "H5")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_cut_text_goes_on_from_a_beginning_that_every_answer_repeats(
    wrapped: Make, sim: Simulator, mode: str, way: str
) -> None:
    asker, case = wrapped(), CASES["length_twice"]
    got = asker.ask_case(case, mode, way)
    assert is_right(asker, got, case)
    first, *others = rows_of(sim)
    for rows in others:
        assert rows[:-1] == first
        assert rows[-1].keys() == {"role", "content", "prefix"}
        assert rows[-1]["prefix"] is True
        assert got.text.startswith(rows[-1]["content"])
    spent = sim.spent(got.prompt)
    assert got.usage.completion_tokens == spent.output_tokens
    assert got.usage.prompt_tokens == sim.requests[0].input_tokens
    assert asker.of("continuation_attempt")[0]["prefill"] is True


@pytest.mark.behaviour("C8", "C14")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_without_prefills_a_hint_follows_what_was_said(
    wrapped: Make, sim: Simulator, mode: str
) -> None:
    asker, case = wrapped(prefill="never"), CASES["length_then_overlap"]
    got = asker.ask_case(case, mode)
    assert is_right(asker, got, case)
    said, hint = rows_of(sim)[1][-2:]
    assert said == {"role": "assistant", "content": said["content"]}
    assert hint == {"role": "user", "content": hints.CONTINUE}


@pytest.mark.behaviour("C8")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_beginning_of_the_callers_is_gone_on_with(
    wrapped: Make, sim: Simulator, mode: str
) -> None:
    """The answer holds it, so that it is the beginning of what is sent back."""
    asker = wrapped()
    prompt = "Tell me about a beginning."
    whole = sim.expected(prompt, "text").text
    begun = {"role": "assistant", "content": whole[:20], "prefix": True}
    got = asker.ask([{"role": "user", "content": prompt}, begun], mode, model="sim/length_once")
    assert (got.error, got.text, got.finish) == (None, whole, "stop")
    (_, row), again = rows_of(sim)[0], rows_of(sim)[1]
    assert row == begun
    assert [r["role"] for r in again] == ["user", "assistant"]
    assert again[1]["content"].startswith(whole[:20])


@pytest.mark.behaviour("C20", "P2")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_thinking_stays_in_the_content_of_an_answer_that_was_cut(wrapped: Make, mode: str) -> None:
    asker, case = wrapped(), CASES["think_then_length"]
    got = asker.ask_case(case, mode)
    assert is_right(asker, got, case)
    if mode == "body":
        assert [part["type"] for part in got.message["content"]] == ["thinking", "text"]
    else:
        kinds = [
            part.type
            for chunk in asker.told
            if isinstance(chunk.choices[0].delta.content, list)
            for part in chunk.choices[0].delta.content
        ]
        assert set(kinds) == {"thinking"}


@pytest.mark.behaviour("H2", "H5", "H9")
def test_a_history_that_others_wrote_is_accepted(wrapped: Make, sim: Simulator) -> None:
    function = {"name": "write_file", "arguments": "{}"}
    rows: list[Any] = [
        *ASK,
        {"role": "assistant", "tool_calls": [{"id": "call_abc", "function": function}]},
        {"role": "tool", "tool_call_id": "call_abc", "content": "written"},
        {"role": "user", "content": "And now?"},
    ]
    asker = wrapped()
    assert asker.ask(rows, tools=TOOLS).error is None
    assert asker.of("history_repaired")[0]["repairs"] == ["call_ids_renamed", "rows_arranged"]


@pytest.mark.behaviour("P1b", "P6")
def test_what_the_sdk_is_told_to_retry_it_retries_and_nothing_else(
    wrapped: Make, sim: Simulator, way: str
) -> None:
    asker = wrapped(max_retries=2)
    assert asker.ask_case(CASES["http_500_once"], "stream", way).error is None
    before = len(sim.requests)
    ended = asker.ask_case(CASES["call_malformed_always"], "body", way)
    assert isinstance(ended.error, SDKError)
    assert (ended.error.status_code, len(sim.requests) - before <= 5) == (424, True)
    assert '"object":"error"' in ended.error.body


@pytest.mark.behaviour("P8", "C28")
def test_filling_in_the_middle_is_handed_on_as_it_came_and_watched() -> None:
    events: list[tenuto.Event] = []
    with FarSide(said("x +", "length")) as far:
        url = far.base_url.removesuffix("/v1")
        with Mistral(api_key="key", server_url=url) as bare:
            client = tenuto.wrap(bare, on_event=events.append)
            made: Any = client.fim.complete(model="codestral-2508", prompt="def f(x): return ")
        assert made.choices[0].message.content == "x +"
        assert len(far.requests) == 1
    (seen,) = (event.data for event in events if event.name == "stop_reason_observed")
    assert seen["reason"] == "max_tokens"


# --- the client


ELSEWHERE: dict[str, tuple[Callable[[str], Any], bytes]] = {
    "azure": (
        lambda url: MistralAzure(api_key="key", server_url=url),
        b"POST /models/chat/completions?api-version=",
    ),
    "google cloud": (
        lambda url: MistralGCP(project_id="p", access_token="t", server_url=url),
        b"POST /v1/projects/p/locations/europe-west4/publishers/mistralai/models/m:rawPredict",
    ),
    "an agent": (
        lambda url: Mistral(api_key="key", server_url=url),
        b"POST /v1/agents/completions",
    ),
}


@pytest.mark.behaviour("C1", "C8", "P1")
@pytest.mark.parametrize("where", ELSEWHERE)
def test_azure_google_cloud_and_agents_speak_alike(where: str) -> None:
    make, path = ELSEWHERE[where]
    answers = said("Half of it was", "length"), said("Half of it was done.", "stop")
    with FarSide(*answers) as far, make(far.base_url.removesuffix("/v1")) as bare:
        client = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK))
        if where == "an agent":
            made = client.agents.complete(agent_id="a", messages=ASK)
        else:
            made = client.chat.complete(model="m", messages=ASK)
        assert made.choices[0].message.content == "Half of it was done."
        (first, asked), (second, again) = far.requests
    assert first.startswith(path)
    assert second.startswith(path)
    row = {"role": "assistant", "content": "Half of it was", "prefix": True}
    assert json.loads(again)["messages"] == [*json.loads(asked)["messages"], row]


@pytest.mark.behaviour("P1")
def test_a_wrapped_client_is_closed_as_the_sdk_closes_its_own_and_keeps_it_alive(
    sim: Simulator,
) -> None:
    url = f"{sim.root_url}/mistral"
    own = Mistral(api_key="key", server_url=url)
    assert own.chat.complete(model="sim", messages=ASK).choices
    wrapped = tenuto.wrap(own, policy=tenuto.Policy(**QUICK))
    assert wrapped.sdk_configuration is not own.sdk_configuration
    assert wrapped.chat is not own.chat
    assert tenuto.wrap(wrapped) is wrapped
    del own
    gc.collect()

    async def ask() -> Any:
        async with wrapped as client:
            return await client.chat.complete_async(model="sim", messages=ASK)

    assert asyncio.run(ask()).choices[0].message.content
    with wrapped as client:
        assert client.chat.complete(model="sim/length_once", messages=ASK)
    assert wrapped.sdk_configuration.client is None
    with pytest.raises(UnsupportedClient):
        tenuto.wrap(wrapped)


@pytest.mark.behaviour("P1")
def test_a_client_of_the_callers_and_a_subclass_are_wrapped_with_what_they_have(
    sim: Simulator,
) -> None:

    class Own(Mistral):
        """A program's own."""

    with httpx2.Client(headers={"x-team": "tides"}) as http:
        own = Own(api_key="key", server_url=f"{sim.root_url}/mistral", client=http)
        wrapped = tenuto.wrap(own, policy=tenuto.Policy(**QUICK))
        assert isinstance(wrapped, Own)
        with wrapped as client:
            client.chat.complete(model="sim/length_once", messages=ASK)
        assert {request.headers["x-team"] for request in sim.requests} == {"tides"}
        assert not http.is_closed, "who gave it closes it"
