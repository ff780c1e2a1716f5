"""What the policy and the caller's own timeout bound, and how that is told."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from typing import Any

import groq
import openai
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, answer, event, sse_answer

import tenuto

ROWS: list[Any] = [{"role": "user", "content": "Hi"}]


def endless(piece: bytes) -> Iterator[bytes]:
    yield sse_answer(event(b"All "))
    while True:
        yield piece


def asked(client: Any, **policy: Any) -> tuple[str, Any, list[tenuto.Event]]:
    """Text, exception and events of one stream."""
    events: list[tenuto.Event] = []
    wrapped = tenuto.wrap(client, policy=tenuto.Policy(**policy), on_event=events.append)
    text = ""
    try:
        made = wrapped.chat.completions.create(model="m", messages=ROWS, stream=True)
        for chunk in made:
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    except (openai.APIError, groq.APIError) as error:
        return text, error, events
    return text, None, events


def ending(events: list[tenuto.Event]) -> tuple[Any, Any]:
    (data,) = [event.data for event in events if event.name == "turn_ended"]
    return data["status"], data["reason"]


@pytest.mark.behaviour("S4", "P1")
def test_what_is_held_back_too_long_names_its_limit_and_the_setting():
    with FarSide(endless(event(b"\\n" * 100))) as far:
        client = openai.OpenAI(base_url=far.base_url, api_key="k")
        _, error, events = asked(client, **QUICK, hold_max_bytes=50_000)
    assert "hold_max_bytes (50000)" in str(error)
    assert "The provider said" not in str(error)
    assert ending(events) == ("partial", "limit_passed")


@pytest.mark.behaviour("C23", "C5")
@pytest.mark.parametrize("make", [openai.OpenAI, groq.Groq])
def test_upstream_is_let_go_before_the_sdk_raises(make):
    gc.disable()
    try:
        with FarSide(endless(event(b"\\n" * 100))) as far:
            root = far.base_url if make is openai.OpenAI else far.base_url.removesuffix("/v1")
            client = make(base_url=root, api_key="k")
            _, error, _ = asked(client, **QUICK, hold_max_bytes=50_000)
            assert error is not None  # and holds the stream by its traceback
            until = time.monotonic() + 3
            while not far.gone and time.monotonic() < until:
                time.sleep(0.01)
            assert far.gone
    finally:
        gc.enable()


@pytest.mark.behaviour("P5", "C5", "C28a")
def test_a_wait_that_the_caller_would_not_wait_for_is_not_kept():
    cut = sse_answer(event(b"Half said") + event(b"", b'"length"') + b"data: [DONE]\n\n")
    limited = answer(b"{}", "retry-after: 100000", status="429 Too Many Requests")
    with FarSide(cut, limited) as far:
        client = openai.OpenAI(base_url=far.base_url, api_key="k", timeout=2, max_retries=0)
        began = time.monotonic()
        text, error, events = asked(client)
        assert time.monotonic() - began < 2
    assert (text, error, len(far.requests)) == ("Half said", None, 2)
    assert ending(events) == ("partial", "provider_error")
