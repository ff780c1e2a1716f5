"""A wrapped client keeps all that its owner set: retries, timeouts, headers, transports, middleware."""

from __future__ import annotations

import time
from typing import Any

import anthropic
import httpx2
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, answer, json_answer
from support.replay.anthropic_messages import ASK, MAX, R

import tenuto

POLICY = tenuto.Policy(**QUICK)
CUT = R("The first half, ", MAX).body("m")
REST = R("and the second.").body("m")
WHOLE = "The first half, and the second."
GIVEN: dict[str, Any] = {"model": "m", "max_tokens": 999, "messages": [ASK]}


def halves(*headers: str) -> FarSide:
    """A far side that says its answer in two halves."""
    return FarSide(json_answer(CUT, *headers), json_answer(REST))


def bare(far: FarSide, **more: Any) -> anthropic.Anthropic:
    given: dict[str, Any] = {"base_url": far.base_url.removesuffix("/v1"), "api_key": "key"}
    return anthropic.Anthropic(**(given | {"max_retries": 0} | more))


def wrap(client: Any) -> Any:
    return tenuto.wrap(client, policy=POLICY)


def text(message: Any) -> str:
    return "".join(block.text for block in message.content)


@pytest.mark.behaviour("C28a")
def test_headers_query_and_hooks_go_with_every_attempt():
    seen: list[Any] = []

    def response_hook(response: Any) -> None:
        response.read()
        seen.append(response.json()["stop_reason"])

    hooks: Any = {"request": [lambda r: seen.append(r.method)], "response": [response_hook]}
    http = anthropic.DefaultHttpxClient(event_hooks=hooks, headers={"x-http": "h"})
    with halves() as far:
        client = bare(
            far, http_client=http, default_headers={"x-own": "o"}, default_query={"q": "7"}
        )
        with wrap(client) as wrapped:
            assert text(wrapped.messages.create(**GIVEN)) == WHOLE
        for head, body in far.requests:
            lines = head.lower()
            assert b"?q=7" in lines.split(b"\r\n")[0]
            for part in (
                b"x-own: o",
                b"x-http: h",
                b"authorization: bearer key",
                b"anthropic-version: ",
            ):
                assert part in lines
            assert b"content-length: %d" % len(body) in lines
    assert seen == ["POST", "max_tokens", "POST", "end_turn"]


@pytest.mark.behaviour("C28a", "P1b")
async def test_middleware_sees_each_call_once_and_the_finished_answer():
    seen: list[Any] = []

    def watch(request: Any, call_next: Any) -> Any:
        response = call_next(request)
        seen.append((response.status_code, text(response.parse())))
        return response

    async def watch_async(request: Any, call_next: Any) -> Any:
        response = await call_next(request)
        seen.append((response.status_code, text(await response.parse())))
        return response

    with halves() as far, wrap(bare(far, middleware=[watch])) as wrapped:
        assert text(wrapped.messages.create(**GIVEN)) == WHOLE
        assert len(far.requests) == 2
    with halves() as far:
        url = far.base_url.removesuffix("/v1")
        client = anthropic.AsyncAnthropic(base_url=url, api_key="key", middleware=[watch_async])
        async with wrap(client) as made:
            assert text(await made.messages.create(**GIVEN)) == WHOLE
    assert seen == [(200, WHOLE)] * 2


@pytest.mark.behaviour("C28a")
def test_custom_transports_carry_every_attempt():
    answers = iter([CUT, REST])

    def respond(request: Any) -> Any:
        headers = {"content-type": "application/json"}
        return httpx2.Response(200, content=next(answers), headers=headers)

    http = anthropic.DefaultHttpxClient(transport=httpx2.MockTransport(respond))
    client = anthropic.Anthropic(base_url="http://nowhere.invalid", api_key="key", http_client=http)
    with wrap(client) as wrapped:
        assert text(wrapped.messages.create(**GIVEN)) == WHOLE


@pytest.mark.behaviour("C28a")
def test_subclasses_and_copies_stay_wrapped_and_the_original_stays_bare():
    class Own(anthropic.Anthropic):
        def __init__(self, tenant: str, base_url: str) -> None:
            super().__init__(base_url=base_url, api_key=tenant, max_retries=0)
            self.tenant = tenant

        def copy(self, **options: Any) -> Any:
            return bare_copy(self, options)

    def bare_copy(client: Own, options: dict[str, Any]) -> Any:
        made = Own(client.tenant, str(client.base_url))
        vars(made)["_client"].close()
        vars(made)["_client"] = client._client
        made.max_retries = options.get("max_retries", client.max_retries)
        return made

    with FarSide(*[json_answer(CUT), json_answer(REST)] * 4, json_answer(CUT)) as far:
        client = Own("acme", far.base_url.removesuffix("/v1"))
        client.messages  # noqa: B018 - resources are made once and point at their client
        wrapped = wrap(client)
        assert isinstance(wrapped, Own)
        assert wrapped.tenant == "acme"
        assert text(wrapped.messages.create(**GIVEN)) == WHOLE
        assert text(wrapped.beta.messages.create(**GIVEN)) == WHOLE
        assert text(wrapped.copy(max_retries=1).messages.create(**GIVEN)) == WHOLE
        plain = anthropic.Anthropic(base_url=client.base_url, api_key="key", max_retries=0)
        with wrap(plain) as other:
            assert text(other.with_options(timeout=9).messages.create(**GIVEN)) == WHOLE
        assert client.messages.create(**GIVEN).stop_reason == "max_tokens", "the original is bare"
        wrapped.close()


@pytest.mark.behaviour("C28a", "P1b")
def test_settings_of_retries_and_of_the_read_timeout_stay_in_force():
    def slow() -> Any:
        time.sleep(1)
        yield json_answer(REST)

    error = b'{"type":"error","error":{"type":"api_error","message":"No."}}'
    with FarSide(json_answer(error, status="500 Bad"), json_answer(REST)) as far:
        with wrap(bare(far, max_retries=1)) as wrapped:
            raw = wrapped.messages.with_raw_response.create(**GIVEN)
        assert raw.retries_taken == 1
    with FarSide(slow()) as far, wrap(bare(far, timeout=0.1)) as wrapped:
        with pytest.raises(anthropic.APITimeoutError):
            wrapped.messages.create(**GIVEN)
        assert len(far.requests) == 1, "before any answer: the SDK's own to retry"


@pytest.mark.behaviour("P1b", "E9")
def test_an_upstream_that_gave_up_itself_is_not_asked_again():
    given_up = (
        b'{"type":"error","error":{"type":"api_error","message":"Gave up.",'
        b'"code":"empty_output","source":"tenuto_incomplete"}}'
    )
    body = answer(given_up, "content-type: application/json", "x-should-retry: false",
                  status="502 Bad Gateway")  # fmt: skip
    with FarSide(json_answer(CUT), body) as far, wrap(bare(far)) as wrapped:
        made = wrapped.messages.create(**GIVEN)
        assert made.stop_reason == "max_tokens"
        assert text(made).strip() == "The first half,"
        assert len(far.requests) == 2


def test_wrapping_twice_is_wrapping_once():
    with halves() as far:
        once = tenuto.wrap(bare(far))
        assert tenuto.wrap(once) is once
        with wrap(once) as twice:
            assert text(twice.messages.create(**GIVEN)) == WHOLE
        assert len(far.requests) == 2
