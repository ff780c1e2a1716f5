"""One recovered turn as a product of observability gets it: `python checks/observability/run.py logfire`.

Runs in the product's own environment (`make observability`). The product's SDK sends by its own
exporter to a collector on loopback, and the spans that come there are held to what
docs/opentelemetry.md says.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
from opentelemetry import metrics, trace

import tenuto
from tenuto.telemetry.opentelemetry import OpenTelemetry
from tenuto_sim import Simulator

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from support.collector import Collector, plain

CASE = "length_twice"
"""A turn of three requests."""
ASKED: dict[str, Any] = {
    "model": f"sim/{CASE}",
    "messages": [{"role": "user", "content": "Why do tides come twice a day?"}],
}
CALL, BILLED = "call", "billed"
"""The tokens of one call (the first input, all output), and those of all requests."""


@dataclass(frozen=True)
class Shown:
    """What a product gets of the turn.

    Attributes:
        told: the span that has the attributes of the turn; "" where none has them.
        tokens: the spans that have tokens to show, and which ones.
    """

    told: str
    tokens: dict[str, str]


OWN = f"chat sim/{CASE}"
LOGFIRE = "Chat Completion with {request_data[model]!r}"
LOGFIRE_LOG = "streaming response from {request_data[model]!r} took {duration:.2f}s"

EXPECTED: dict[str, dict[str, Shown]] = {
    "logfire": {
        "body": Shown(LOGFIRE, {LOGFIRE: CALL}),
        "stream": Shown("tenuto turn", {LOGFIRE_LOG: CALL}),
    },
    "langfuse": dict.fromkeys(("body", "stream"), Shown(OWN, {OWN: BILLED})),
    "langfuse-generation": dict.fromkeys(("body", "stream"), Shown("answer", {"answer": BILLED})),
    "langfuse-openai": dict.fromkeys(
        ("body", "stream"), Shown(OWN, {"OpenAI-generation": CALL, OWN: BILLED})
    ),
    "langfuse-openai-alone": dict.fromkeys(
        ("body", "stream"), Shown("", {"OpenAI-generation": CALL})
    ),
    "phoenix": dict.fromkeys(("body", "stream"), Shown("ChatCompletion", {"ChatCompletion": CALL})),
    "openllmetry": dict.fromkeys(("body", "stream"), Shown("openai.chat", {"openai.chat": CALL})),
    "openai-v2": dict.fromkeys(("body", "stream"), Shown(OWN, {OWN: CALL})),
}
"""By product and way of use. Of `langfuse-openai` it is known that it shows the turn twice."""

TOKENS = (
    ("llm.token_count.prompt", "llm.token_count.completion"),
    ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
)
"""Where products look for tokens, the first that are there."""

Used = tuple[Any, Callable[[], contextlib.AbstractContextManager[Any]]]
"""A wrapped client, and what its calls stand in."""


def listening(client: Any) -> Any:
    return tenuto.wrap(client, on_event=OpenTelemetry())


def logfire(root: str, given: dict[str, Any]) -> Used:
    import logfire

    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = root
    logfire.configure(send_to_logfire=False, console=False)
    client = listening(openai.OpenAI(**given))
    logfire.instrument_openai(client)
    return client, contextlib.nullcontext


def langfuse(root: str, given: dict[str, Any]) -> Used:
    _langfuse(root)
    return listening(openai.OpenAI(**given)), contextlib.nullcontext


def langfuse_generation(root: str, given: dict[str, Any]) -> Used:
    product = _langfuse(root)

    def around() -> contextlib.AbstractContextManager[Any]:
        return product.start_as_current_observation(  # type: ignore[no-any-return]
            as_type="generation", name="answer", model="sim"
        )

    return listening(openai.OpenAI(**given)), around


def langfuse_openai(root: str, given: dict[str, Any]) -> Used:
    _langfuse(root)
    from langfuse.openai import OpenAI

    return listening(OpenAI(**given)), contextlib.nullcontext


def langfuse_openai_alone(root: str, given: dict[str, Any]) -> Used:
    from langfuse import is_default_export_span

    def exported(span: Any) -> bool:
        tenutos = span.instrumentation_scope.name == "tenuto"
        return bool(is_default_export_span(span)) and not tenutos

    _langfuse(root, should_export_span=exported)
    from langfuse.openai import OpenAI

    return listening(OpenAI(**given)), contextlib.nullcontext


def _langfuse(root: str, **more: Any) -> Any:
    from langfuse import Langfuse

    return Langfuse(public_key="pk-lf-none", secret_key="sk-lf-none", base_url=root, **more)


def phoenix(root: str, given: dict[str, Any]) -> Used:
    from openinference.instrumentation.openai import OpenAIInstrumentor
    from phoenix.otel import register

    tracers = register(endpoint=f"{root}/v1/traces", protocol="http/protobuf", verbose=False)
    OpenAIInstrumentor().instrument(tracer_provider=tracers)
    return listening(openai.OpenAI(**given)), contextlib.nullcontext


def openllmetry(root: str, given: dict[str, Any]) -> Used:
    os.environ["TRACELOOP_TELEMETRY"] = "false"
    from traceloop.sdk import Traceloop

    with contextlib.redirect_stdout(sys.stderr):
        Traceloop.init(app_name="tenuto", api_endpoint=root, telemetry_enabled=False)
    return listening(openai.OpenAI(**given)), contextlib.nullcontext


def openai_v2(root: str, given: dict[str, Any]) -> Used:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    tracers = TracerProvider()
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{root}/v1/traces")))
    trace.set_tracer_provider(tracers)
    OpenAIInstrumentor().instrument()
    return listening(openai.OpenAI(**given)), contextlib.nullcontext


USES: dict[str, Callable[[str, dict[str, Any]], Used]] = {
    "logfire": logfire,
    "langfuse": langfuse,
    "langfuse-generation": langfuse_generation,
    "langfuse-openai": langfuse_openai,
    "langfuse-openai-alone": langfuse_openai_alone,
    "phoenix": phoenix,
    "openllmetry": openllmetry,
    "openai-v2": openai_v2,
}


def ask(client: Any, mode: str) -> None:
    if mode == "body":
        client.chat.completions.create(**ASKED)
        return
    counted = {"stream_options": {"include_usage": True}}
    for _ in client.chat.completions.create(**ASKED, **counted, stream=True):
        pass


def shown_of(spans: list[tuple[str, dict[str, Any]]], sim: Simulator) -> Shown:
    """What came, in the words of `EXPECTED`."""
    asked = sim.requests
    output = sum(request.output_tokens for request in asked)
    words = {
        (asked[0].input_tokens, output): CALL,
        (sum(request.input_tokens for request in asked), output): BILLED,
    }
    tokens = {name: words.get(pair, str(pair)) for name, told in spans if (pair := _tokens(told))}
    turns = [(name, told) for name, told in spans if "tenuto.outcome" in told]
    for _, told in turns:
        billed = tuple(told[f"tenuto.billed.{side}_tokens"] for side in ("input", "output"))
        assert words[billed] == BILLED, billed
        assert told["tenuto.attempts"] == len(asked) == 3
        assert told["tenuto.recovered"] is True
    assert len(turns) <= 1
    return Shown(turns[0][0] if turns else "", tokens)


def _tokens(told: dict[str, Any]) -> tuple[Any, ...] | None:
    if (usage := told.get("langfuse.observation.usage_details")) is not None:
        read = json.loads(usage)
        return read["prompt_tokens"], read["completion_tokens"]
    for names in TOKENS:
        if all(name in told for name in names):
            return tuple(told[name] for name in names)
    return None


def lines(collector: Collector) -> Iterator[str]:
    """The spans as they came, without content and without what stands in every span."""
    names = {span.span_id: span.name for span in collector.spans}
    for span in sorted(collector.spans, key=lambda span: span.start_time_unix_nano):
        below = names.get(span.parent_span_id)
        yield f"  {span.name}" + (f"  (below {below})" if below else "")
        for event in span.events:
            yield f"    event {event.name}"
        for name, value in plain(span.attributes).items():
            if name.startswith(("tenuto.", "gen_ai.", "llm.token", "llm.fin", "langfuse.")):
                yield f"    {name} = {str(value)[:70]}"


def main(name: str, mode: str) -> int:
    warnings.simplefilter("ignore")
    with Simulator(token_chars=20) as sim, Collector() as collector:
        given = {"base_url": sim.base_url, "api_key": "none", "max_retries": 0}
        client, around = USES[name](collector.root_url, given)
        with around():
            ask(client, mode)
        for provider in (trace.get_tracer_provider(), metrics.get_meter_provider()):
            for last in ("force_flush", "shutdown"):
                if (told := getattr(provider, last, None)) is not None:
                    told()
        spans = [(span.name, plain(span.attributes)) for span in collector.spans]
        found = shown_of(spans, sim)
    right = found == EXPECTED[name][mode] and not collector.wrong
    print(f"{name} {mode}: {'as expected' if right else 'NOT as expected'}: {found}")
    for line in lines(collector):
        print(line)
    return int(not right)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
