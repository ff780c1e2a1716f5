"""Tenuto beside the instrumentations of the SDK of OpenAI."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from support.asking.wrapping import QUICK
from support.pairing import WAYS
from support.replay.openai_chat import ASK, MAX, R, Replay

import tenuto
from tenuto.telemetry.opentelemetry import OpenTelemetry

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

INSTRUMENTATIONS = {
    "opentelemetry.instrumentation.genai.openai": "gen_ai.usage.{}_tokens",
    "openinference.instrumentation.openai": "llm.token_count.{}",
}
"""Where each writes the usage that the SDK sees. They live in one environment; `make observability`
has the others."""


@pytest.fixture(params=list(INSTRUMENTATIONS))
def instrumented(request: pytest.FixtureRequest) -> Iterator[tuple[InMemorySpanExporter, Any, str]]:
    """The SDK under an instrumentation: where its spans go, a listener for the same place, and where
    it writes tokens."""
    instrumentor = importlib.import_module(request.param).OpenAIInstrumentor()
    exporter = InMemorySpanExporter()
    tracers = TracerProvider(shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    meters = MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False)
    instrumentor.instrument(tracer_provider=tracers, meter_provider=meters)
    yield exporter, OpenTelemetry(tracers, meters), INSTRUMENTATIONS[request.param]
    instrumentor.uninstrument()


@pytest.mark.behaviour("P6")
@pytest.mark.parametrize(("mode", "way"), [(m, w) for m in ("body", "stream") for w in WAYS])
@pytest.mark.anyio
async def test_a_turn_of_three_requests_is_told_on_the_one_span_that_there_is(
    instrumented: tuple[InMemorySpanExporter, Any, str], mode: str, way: str
) -> None:
    exporter, hear, tokens = instrumented
    given: dict[str, Any] = {"model": "sim", "messages": [ASK], "max_tokens": 1_000}
    if mode == "stream":
        given |= {"stream": True, "stream_options": {"include_usage": True}}
    with Replay() as replay:
        replay.say(R("One, ", MAX, tokens=3), R("two, ", MAX, tokens=4), R("three.", tokens=5))
        ask = ask_async if way == "async" else ask_sync
        await ask(replay.base_url, hear, given)
    (span,) = exporter.get_finished_spans()
    check(span, tokens)


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize(("mode", "way"), [(m, w) for m in ("body", "stream") for w in WAYS])
@pytest.mark.anyio
async def test_what_the_policy_raises_for_is_an_error_of_the_one_span(
    instrumented: tuple[InMemorySpanExporter, Any, str], mode: str, way: str
) -> None:
    exporter, hear, tokens = instrumented
    given: dict[str, Any] = {"model": "sim", "messages": [ASK], "stream": mode == "stream"}
    with Replay() as replay:
        replay.say(*[R("A", MAX)] * 4)
        ask = ask_async if way == "async" else ask_sync
        with pytest.raises(openai.APIError) as raised:
            await ask(replay.base_url, hear, given, on_incomplete="error")
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    told = dict(span.attributes or {})
    assert told["tenuto.outcome"] == "partial"
    # One of them writes the class over what Tenuto wrote.
    named = f"openai.{type(raised.value).__name__}"
    assert told["error.type"] == ("retry_limit" if tokens.startswith("llm.") else named)


async def ask_sync(url: str, hear: Any, given: dict[str, Any], **settings: Any) -> None:
    with openai.OpenAI(base_url=url, api_key="key", max_retries=0) as bare:
        client = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK, **settings), on_event=hear)
        made = client.chat.completions.create(**given)
        if given.get("stream"):
            list(made)


async def ask_async(url: str, hear: Any, given: dict[str, Any], **settings: Any) -> None:
    async with openai.AsyncOpenAI(base_url=url, api_key="key", max_retries=0) as bare:
        client = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK, **settings), on_event=hear)
        made = await client.chat.completions.create(**given)
        if given.get("stream"):
            async for _ in made:
                pass


def check(span: ReadableSpan, tokens: str) -> None:
    told = dict(span.attributes or {})
    sides = ("prompt", "completion") if tokens.startswith("llm.") else ("input", "output")
    assert [told[tokens.format(side)] for side in sides] == [R().input_tokens, 12]  # of one call
    assert told["tenuto.billed.input_tokens"] == 3 * R().input_tokens
    assert told["tenuto.billed.output_tokens"] == 12
    assert (told["tenuto.attempts"], told["tenuto.outcome"]) == (3, "complete")
    assert told["tenuto.recovered"] is True
    assert "tenuto.continuation_terminated" in [event.name for event in span.events]
