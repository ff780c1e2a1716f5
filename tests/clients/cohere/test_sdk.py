"""What Cohere's SDK offers besides a plain question: each works over a wrapped client as before."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import cohere
import httpx
import pytest
from cohere.core import ApiError
from support.asking.cohere import TOOLS, assert_one_message
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, json_answer, sse_answer

import tenuto
from tenuto.core import hints
from tenuto_sim import Step
from tenuto_sim.case import Kind

ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Tell me."}]}
CUT = {"model": "sim/length_once", **ASK}
POLICY = tenuto.Policy(**QUICK)
MODES = pytest.mark.parametrize("mode", ["body", "stream"])


@pytest.fixture
def make(sim: Any) -> Iterator[Callable[..., Any]]:
    """Makes clients of the SDK, and closes them in the end."""
    with ExitStack() as stack:

        def make(kind: Any = cohere.ClientV2, **more: Any) -> Any:
            client = kind(**({"api_key": "key", "base_url": sim.root_url} | more))
            return stack.enter_context(client)

        yield make


@pytest.mark.behaviour("P8c")
def test_wrapping_leaves_the_client_as_it_is_and_wrapping_twice_is_once(sim, make):
    client = make()
    wrapped = tenuto.wrap(client, policy=POLICY)
    assert type(wrapped) is type(client)
    assert client.chat(**CUT).finish_reason == "MAX_TOKENS"
    sim.forget()
    assert wrapped.chat(**CUT).finish_reason == "COMPLETE"
    assert tenuto.wrap(wrapped) is wrapped
    sim.forget()
    again = tenuto.wrap(wrapped, policy=tenuto.Policy(continuation_max_attempts=0))
    assert again.chat(**CUT).finish_reason == "MAX_TOKENS"


def test_a_client_of_version_1_is_finished_where_it_speaks_version_2(sim, make):
    client = make(cohere.Client)
    client.v2.chat(**CUT)  # made before it was wrapped
    sim.forget()
    assert tenuto.wrap(client, policy=POLICY).v2.chat(**CUT).finish_reason == "COMPLETE"


def test_an_async_client_of_version_1_as_well(sim):
    async def run() -> Any:
        client = cohere.AsyncClient(api_key="key", base_url=sim.root_url)
        async with tenuto.wrap(client, policy=POLICY) as wrapped:
            return await wrapped.v2.chat(**CUT)

    assert asyncio.run(run()).finish_reason == "COMPLETE"


def test_raw_responses_and_a_subclass_of_one_s_own_are_wrapped_as_well(sim, make):
    class Ours(cohere.ClientV2):
        def ask(self) -> Any:
            return self.chat(**CUT)

    wrapped = tenuto.wrap(make(Ours), policy=POLICY)
    assert isinstance(wrapped, Ours)
    assert wrapped.ask().finish_reason == "COMPLETE"
    sim.forget()
    assert wrapped.with_raw_response.chat(**CUT).data.finish_reason == "COMPLETE"


def test_arguments_are_checked_and_warned_of_as_before(sim, make, caplog):
    plain, quiet = make(), make(log_warning_experimental_features=False)
    given = {**CUT, "response_format": {"type": "json_object", "schema": {}}}
    for client, warnings in ((plain, 1), (quiet, 0)):
        for asked in (client, tenuto.wrap(client, policy=POLICY)):
            caplog.clear()
            sim.forget()
            asked.chat(**given)
            assert sum("response_format.schema" in text for text in caplog.messages) == warnings
            caplog.clear()
            list(asked.chat_stream(**given))
            assert sum("response_format.schema" in text for text in caplog.messages) == warnings
            with pytest.raises(ValueError, match="chat_stream"):
                asked.chat(**CUT, stream=True)


def test_a_method_that_was_put_over_the_class_s_own_is_refused_before_and_stays_after(make):
    asked: list[Any] = []

    def noting(client: Any) -> Any:
        plain = client.chat

        def chat(**given: Any) -> Any:
            asked.append(given)
            return plain(**given)

        client.chat = chat
        return client

    with pytest.raises(tenuto.UnsupportedClient, match=r"whose chat was replaced; wrap .* first"):
        tenuto.wrap(noting(make()), policy=POLICY)
    wrapped = noting(tenuto.wrap(make(), policy=POLICY))
    assert wrapped.chat(**CUT).finish_reason == "COMPLETE"
    assert asked == [CUT]


def _wrapping(plain: Any) -> Any:
    @functools.wraps(plain)
    def noting(**given: Any) -> Any:
        return plain(**given)

    return noting


@pytest.mark.parametrize(
    "replaced",
    [functools.partial, _wrapping, lambda plain: type("Called", (), {"__call__": plain})()],
    ids=["partial", "wraps", "object"],
)
@pytest.mark.parametrize("part", ["client", "v2", "raw"])
def test_a_method_that_was_replaced_in_any_way_is_refused_and_never_left_out(make, part, replaced):
    client = make()
    holder = {
        "client": client,
        "v2": getattr(client, "v2", client),
        "raw": client.with_raw_response,
    }
    holder[part].chat = replaced(holder[part].chat)
    with pytest.raises(tenuto.UnsupportedClient, match=r"whose chat was replaced; wrap .* first"):
        tenuto.wrap(client, policy=POLICY)


def test_a_client_whose_other_methods_were_replaced_is_wrapped_with_them(make):
    client = make()
    client.embed = functools.partial(client.embed)
    wrapped = tenuto.wrap(client, policy=POLICY)
    assert wrapped.embed is client.embed
    assert wrapped.chat(**CUT).finish_reason == "COMPLETE"


def test_settings_hooks_and_headers_stay_in_force_on_every_attempt(sim, make):
    seen: list[httpx.Request] = []
    http = httpx.Client(event_hooks={"request": [seen.append]}, headers={"x-own": "1"})
    tenuto.wrap(make(httpx_client=http, client_name="ours"), policy=POLICY).chat(**CUT)
    for request in sim.requests:
        assert request.headers["x-own"] == "1"
        assert request.headers["x-client-name"] == "ours"
        assert request.headers["authorization"] == "Bearer key"
    assert len(seen) == len(sim.requests) == 2


def test_what_translates_for_another_service_is_not_wrapped():
    given: dict[str, Any] = {
        "aws_access_key": "a",
        "aws_secret_key": "b",
        "aws_region": "us-east-1",
    }
    with pytest.raises(tenuto.UnsupportedClient, match=r"BedrockClientV2; .* cohere, "):
        tenuto.wrap(cohere.BedrockClientV2(**given))


@pytest.mark.behaviour("C7", "C8", "C9", "C17", "C19")
@MODES
def test_a_cut_answer_is_gone_on_with_by_a_hint(sim, wrapped, mode, way):
    asker = wrapped()
    got = asker.ask(ASK["messages"], mode, way, model="sim/length_once", max_tokens=500)
    first, second = (request.json for request in sim.requests)
    assert (got.text, got.finish) == (sim.answer("Tell me."), "COMPLETE")
    assert second["messages"][:1] == first["messages"]
    said, hint = second["messages"][1:]
    assert got.text.startswith(said["content"])
    assert hint == {"role": "user", "content": hints.CONTINUE}
    assert (first["max_tokens"], second["max_tokens"]) == (500, 1000)
    spent = sim.spent("Tell me.")
    assert got.usage.tokens.input_tokens == sim.requests[0].input_tokens
    assert got.usage.tokens.output_tokens == spent.output_tokens


@pytest.mark.behaviour("C28", "P8")
@MODES
def test_log_probabilities_are_left_alone(sim, wrapped, mode, way):
    asker = wrapped()
    got = asker.ask(ASK["messages"], mode, way, model="sim/length_once", logprobs=True)
    assert got.finish == "MAX_TOKENS"
    assert len(sim.requests) == 1
    assert asker.of("left_alone")[0]["why"] == "logprobs"


@pytest.mark.behaviour("C28a", "C24")
@MODES
def test_a_forced_choice_is_lifted_while_a_text_goes_on_and_then_owed(sim, wrapped, mode, way):
    asker = wrapped()
    sim.script([Step(kind=Kind.TEXT, keep=0.5, finish="length")])
    asker.ask(ASK["messages"], mode, way, tools=TOOLS, tool_choice="REQUIRED")
    # The call that was forced is owed, so what the continuation lacks is asked for by name again.
    choices = [request.json.get("tool_choice") for request in sim.requests]
    assert choices == ["REQUIRED", None, "REQUIRED"]


@pytest.mark.behaviour("C18")
@MODES
def test_a_limit_above_the_model_s_is_asked_for_once_more_as_the_text_allows(
    sim, wrapped, mode, way
):
    got = wrapped().ask(
        ASK["messages"], mode, way, model="sim/http_400_max_tokens_too_large", max_tokens=2000
    )
    assert got.error is None
    assert [request.json["max_tokens"] for request in sim.requests] == [2000, 1000]


@pytest.mark.behaviour("C21", "P1a")
@MODES
def test_a_notice_stands_at_the_end_and_is_taken_out_of_a_history(sim, wrapped, mode, way):
    asker = wrapped(on_incomplete="notice", continuation_max_attempts=1)
    got = asker.ask(ASK["messages"], mode, way, model="sim/length_always")
    assert got.text.endswith(hints.NOTICE.format(reason="retry limit"))
    asker.ask([*ASK["messages"], got.message, {"role": "user", "content": "On."}], mode, way)
    assert hints.NOTICE_START not in sim.requests[-1].body.decode()


@pytest.mark.behaviour("P1a", "P1b")
def test_an_error_of_ours_is_not_retried_by_the_sdk(sim, wrapped):
    asker = wrapped(on_incomplete="error", continuation_max_attempts=1)
    got = asker.ask(ASK["messages"], model="sim/length_always")
    assert isinstance(got.error, ApiError)
    assert got.error.body["code"] == "retry_limit"
    assert sim.answer("Tell me.").startswith(got.error.body["partial"]["text"])
    assert len(sim.requests) == 2


@pytest.mark.behaviour("C23")
def test_who_leaves_a_stream_ends_the_turn(sim, wrapped):
    asker = wrapped()
    stream = asker.client.chat_stream(**CUT)
    next(iter(stream))
    stream.close()
    assert asker.ending["reason"] == "cancelled"


def cited(words: str, text: str) -> dict[str, Any]:
    start = text.index(words)
    sources = [{"type": "document", "id": words, "document": {"text": words}}]
    return {"start": start, "end": start + len(words), "text": words, "sources": sources}


def answered(text: str, words: str, finish: str, mode: str) -> bytes:
    """An answer that cites a source for some of its words."""
    usage = {"tokens": {"input_tokens": 3, "output_tokens": 4}}
    part = {"type": "text", "text": text}
    if mode == "body":
        message = {"role": "assistant", "content": [part], "citations": [cited(words, text)]}
        said = {"id": "x", "message": message, "finish_reason": finish, "usage": usage}
        return json_answer(json.dumps(said).encode())

    def event(kind: str, **said: Any) -> bytes:
        told = {"type": kind, "index": 0, "delta": {"message": said}}
        return f"event: {kind}\ndata: {json.dumps(told)}\n\n".encode()

    end = {"type": "message-end", "delta": {"finish_reason": finish, "usage": usage}}
    return sse_answer(
        event("message-start", role="assistant")
        + event("content-start", content=part | {"text": ""})
        + event("content-delta", content={"text": text})
        + event("citation-start", citations=cited(words, text))
        + b'data: {"type":"citation-end","index":0}\n\n'
        + b'data: {"type":"content-end","index":0}\n\n'
        + f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode()
    )


@pytest.mark.behaviour("C14", "C22", "C28a")
@MODES
def test_citations_of_a_joined_answer_stand_at_their_words(mode):
    whole = "The tide comes twice a day."
    answers = (
        answered("The tide comes twi", "tide", "MAX_TOKENS", mode),
        answered("comes twice a day.", "day", "COMPLETE", mode),
    )
    with FarSide(*answers) as far, ExitStack() as stack:
        root = far.base_url.removesuffix("/v1")
        client = stack.enter_context(cohere.ClientV2(api_key="key", base_url=root))
        wrapped = tenuto.wrap(client, policy=POLICY)
        if mode == "body":
            message = wrapped.chat(model="m", **ASK).message
            text, found = message.content[0].text, message.citations
        else:
            told: list[Any] = list(wrapped.chat_stream(model="m", **ASK))
            assert_one_message(told)
            deltas = [event for event in told if event.type == "content-delta"]
            text = "".join(event.delta.message.content.text for event in deltas)
            starts = [event for event in told if event.type == "citation-start"]
            found = [event.delta.message.citations for event in starts]
    assert text == whole
    assert [(whole[c.start : c.end], c.text) for c in found] == [("tide", "tide"), ("day", "day")]
