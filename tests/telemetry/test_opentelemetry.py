"""Spans and metrics of turns, through the SDK of OpenTelemetry with its in-memory exporters."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import openai
import pytest
from support.asking.openai_chat import TOOLS, Asker, Got
from support.asking.wrapping import QUICK
from support.replay.openai_chat import ASK, MAX, Answer, R, Refused, Replay
from support.spending import WORLDS

import tenuto
from tenuto.telemetry.opentelemetry import OpenTelemetry, spans
from tenuto_sim import Simulator, Spent

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, use_span

every_way = pytest.mark.parametrize(
    ("mode", "way"), list(product(["body", "stream"], ["sync", "async"]))
)
CUT_TWICE = (R("One, ", MAX, tokens=3), R("two, ", MAX, tokens=4), R("three.", tokens=5))
BROKEN = [R(f"Then came number {n} of them, ", dropped=True) for n in ("one", "two", "six", "ten")]
"""A stream that breaks off again and again."""
OPT_IN = "OTEL_SEMCONV_STABILITY_OPT_IN"


class Collected:
    """A listener, and all that left through it."""

    def __init__(self) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meters = MeterProvider([self.reader], shutdown_on_exit=False)
        self.hear = OpenTelemetry(self.tracers, self.meters)
        self.tracer = self.tracers.get_tracer("somebody")

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that ended, in the order in which they began."""
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    @property
    def points(self) -> dict[str, list[Any]]:
        """The points of each metric by its name."""
        data = self.reader.get_metrics_data()
        made = data.resource_metrics if data is not None else []
        scopes = [scope for resource in made for scope in resource.scope_metrics]
        return {one.name: list(one.data.data_points) for scope in scopes for one in scope.metrics}

    @property
    def all_text(self) -> str:
        """Everything that left, as text."""
        data = self.reader.get_metrics_data()
        return "".join(span.to_json() for span in self.spans) + (data.to_json() if data else "")


class Traced(Asker):
    """The SDK of OpenAI, wrapped with a listener, in front of written-down answers."""

    def __init__(
        self,
        base: Asker,
        replay: Replay,
        hear: OpenTelemetry,
        answers: tuple[Answer, ...],
        **settings: Any,
    ) -> None:
        self.__dict__.update(vars(base))
        replay.say(*answers)
        policy = tenuto.Policy(**QUICK, **settings)
        self.client = tenuto.wrap(base.client, policy=policy, on_event=hear)
        self.async_client = tenuto.wrap(base.async_client, policy=policy, on_event=hear)

    def tell(self, mode: str = "body", way: str = "sync", **more: Any) -> Got:
        """Ask `ASK`, and for the usage of streams."""
        counted = {"stream_options": {"include_usage": True}} if mode == "stream" else {}
        messages = more.pop("messages", [ASK])
        return self.ask(messages, mode, way, **({"max_tokens": 1_000} | counted | more))


@dataclass
class World:
    base: Asker
    replay: Replay

    def play(self, out: Collected, *answers: Answer, **settings: Any) -> Traced:
        return Traced(self.base, self.replay, out.hear, answers, **settings)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Replay() as replay:
        base = Asker(cast("Any", replay), max_retries=0)
        yield World(base, replay)
        base.close()


@pytest.fixture
def out(monkeypatch: pytest.MonkeyPatch) -> Collected:
    monkeypatch.delenv(OPT_IN, raising=False)
    return Collected()


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


# --- spans ---------------------------------------------------------------------------------------


@pytest.mark.behaviour("P6")
@every_way
def test_a_turn_of_three_requests_is_one_client_span_with_a_child_for_each(
    world: World, out: Collected, mode: str, way: str
) -> None:
    with out.tracer.start_as_current_span("the program"):
        got = world.play(out, *CUT_TWICE).tell(mode, way)
    assert got.text == "One, two, three."
    (program,), (turn,) = out.named("the program"), out.named("chat sim")
    posts = out.named("POST")
    assert len(out.spans) == 5
    assert {turn.kind, *(post.kind for post in posts)} == {SpanKind.CLIENT}
    assert turn.parent is not None
    assert turn.parent.span_id == program.context.span_id
    assert all(post.parent and post.parent.span_id == turn.context.span_id for post in posts)
    told = attributes(turn)
    input_tokens = 3 * R().input_tokens
    wanted = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "sim",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": input_tokens,
        "gen_ai.usage.output_tokens": 12,
        "tenuto.outcome": "complete",
        "tenuto.attempts": 3,
        "tenuto.stop.raw": "stop",
        "tenuto.recovered": True,
    }
    assert {key: told.get(key) for key in wanted} == wanted
    assert turn.status.status_code is StatusCode.UNSET
    assert [attributes(post)["tenuto.attempt"] for post in posts] == [1, 2, 3]
    assert [attributes(post).get("http.request.resend_count") for post in posts] == [None, 1, 2]
    names = [event.name for event in turn.events]
    assert names == ["tenuto.continuation_started", "tenuto.continuation_terminated"]
    start, end = turn.start_time or 0, turn.end_time or 0
    for post in posts:
        assert start <= (post.start_time or 0) <= (post.end_time or 0) <= end
    assert all(start <= event.timestamp <= end for event in turn.events)


@pytest.mark.behaviour("P6")
@every_way
@pytest.mark.parametrize(
    "marked",
    [
        {"gen_ai.operation.name": "chat", "gen_ai.request.model": "sim"},
        {"gen_ai.request.model": "sim", "gen_ai.system": "openai"},
        {"openinference.span.kind": "LLM"},
        {"llm.request.type": "chat"},
        {"langfuse.observation.type": "generation"},
    ],
    ids=["genai", "logfire", "openinference", "openllmetry", "langfuse"],
)
def test_under_an_inference_span_the_turn_is_told_there(
    world: World, out: Collected, mode: str, way: str, marked: dict[str, str]
) -> None:
    with out.tracer.start_as_current_span("theirs", attributes=marked):
        world.play(out, *CUT_TWICE).tell(mode, way)
    (span,) = out.spans
    told = attributes(span)
    assert told["tenuto.billed.output_tokens"] == told["gen_ai.usage.output_tokens"] == 12
    assert told["tenuto.attempts"] == 3
    names = [event.name for event in span.events]
    assert names.count("tenuto.attempt_ended") == 3
    assert "tenuto.continuation_terminated" in names
    assert marked.items() <= told.items()
    assert out.points.keys() == {"tenuto.tokens.billed"}  # theirs are the others


@pytest.mark.parametrize(
    "marked",
    [
        {},
        {"http.request.method": "GET"},
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "sim"},
        {"openinference.span.kind": "AGENT", "llm.model_name": "sim"},
        {"langfuse.observation.type": "agent", "gen_ai.request.model": "sim"},
        {"gen_ai.agent.name": "a", "gen_ai.request.model": "sim"},
    ],
)
def test_a_span_that_is_no_inference_gets_a_child(
    world: World, out: Collected, marked: dict[str, str]
) -> None:
    with out.tracer.start_as_current_span("theirs", attributes=marked):
        world.play(out, R("All.")).tell()
    assert attributes(out.named("theirs")[0]) == marked
    assert len(out.named("chat sim")) == 1


def test_a_span_that_ends_before_its_stream_gets_a_child_with_the_result(
    world: World, out: Collected, way: str
) -> None:
    turn = world.play(out, *CUT_TWICE)
    span = out.tracer.start_span("theirs", attributes={"gen_ai.operation.name": "chat"})
    given: dict[str, Any] = {
        "model": "sim", "messages": [ASK], "stream": True, "max_tokens": 1_000,
        "stream_options": {"include_usage": True},
    }  # fmt: skip

    async def asked() -> None:
        with use_span(span):
            made = await turn.async_client.chat.completions.create(**given)
        span.end()
        async for _ in made:
            pass

    if way == "async":
        turn.loop.run_until_complete(asked())
    else:
        with use_span(span):
            made = turn.client.chat.completions.create(**given)
        span.end()
        for _ in made:
            pass
    (theirs,), (ours,) = out.named("theirs"), out.named("tenuto turn")
    assert ours.parent is not None
    assert ours.parent.span_id == theirs.context.span_id
    assert attributes(ours)["tenuto.billed.output_tokens"] == 12
    assert attributes(ours)["tenuto.attempts"] == 3
    assert ours.kind is SpanKind.INTERNAL
    assert not any(key.startswith("gen_ai.") for key in attributes(ours))  # one inference span


def test_turns_at_the_same_time_stand_below_their_own_callers(
    world: World, out: Collected, way: str
) -> None:
    turn = world.play(out, *[R("A text.", wait_s=0.05)] * 4)
    given: dict[str, Any] = {"model": "sim", "messages": [ASK]}

    def ask(number: int) -> None:
        with out.tracer.start_as_current_span(f"caller {number}"):
            turn.client.chat.completions.create(**given)

    async def ask_async(number: int) -> None:
        with out.tracer.start_as_current_span(f"caller {number}"):
            await turn.async_client.chat.completions.create(**given)

    async def all_at_once() -> None:
        await asyncio.gather(*map(ask_async, range(4)))

    if way == "async":
        turn.loop.run_until_complete(all_at_once())
    else:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(ask, range(4)))
    callers = {
        span.context.span_id for number in range(4) for span in out.named(f"caller {number}")
    }
    parents = {span.parent.span_id for span in out.named("chat sim") if span.parent}
    assert parents == callers
    assert len(callers) == 4


def test_turns_that_an_sdk_makes_anew_are_summed_on_its_span(world: World, out: Collected) -> None:
    world.replay.say(Refused(503, headers={"retry-after-ms": "1"}), R("A", tokens=4))
    client = tenuto.wrap(
        world.base.client.with_options(max_retries=1),
        policy=tenuto.Policy(**QUICK),
        on_event=out.hear,
    )
    with out.tracer.start_as_current_span("theirs", attributes={"gen_ai.operation.name": "chat"}):
        client.chat.completions.create(model="sim", messages=[ASK])
    (span,) = out.spans
    told = attributes(span)
    assert (told["tenuto.billed.output_tokens"], told["tenuto.attempts"]) == (4, 2)
    assert told["tenuto.outcome"] == "complete"
    assert "error.type" not in told
    assert span.status.status_code is StatusCode.UNSET


@pytest.mark.behaviour("P1")
def test_a_fault_behind_an_answer_that_was_cut_is_no_error(world: World, out: Collected) -> None:
    got = world.play(out, R("A. ", MAX), Refused(401)).tell()
    assert got.finish == "length"
    (turn,) = out.named("chat sim")
    told = attributes(turn)
    assert told["tenuto.outcome"] == "partial"
    assert told["gen_ai.response.finish_reasons"] == ("length",)
    assert turn.status.status_code is StatusCode.UNSET
    assert attributes(out.named("POST")[1])["error.type"] == "401"


def test_a_turn_that_its_caller_leaves_is_no_error(world: World, out: Collected) -> None:
    turn = world.play(out, R("A text of some length."))
    with turn.client.chat.completions.create(model="sim", messages=[ASK], stream=True) as stream:
        next(iter(stream))
    (span,) = out.named("chat sim")
    assert attributes(span)["tenuto.reason"] == "cancelled"
    assert span.status.status_code is StatusCode.UNSET


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize(
    ("answers", "mode", "outcome", "error", "reasons"),
    [
        ([R("A")], "body", "complete", None, ("stop",)),
        ([R("A", MAX)] * 4, "body", "partial", None, ("length",)),
        ([R("", "content_filter")], "body", "failed", None, ("content_filter",)),
        ([R("")] * 4, "body", "failed", "empty_output", ("stop",)),
        ([Refused(401)], "body", "failed", "authentication", ("error",)),
        (BROKEN, "stream", "partial", "dropped", ("error",)),
    ],
    ids=["whole", "cut", "blocked", "empty", "raised", "dropped"],
)
def test_only_a_turn_that_raised_or_broke_off_is_an_error(
    world: World, out: Collected, answers: list[Any], mode: str, outcome: str, error: str | None,
    reasons: tuple[str, ...],
) -> None:  # fmt: skip
    world.play(out, *answers).tell(mode)
    (turn,) = out.named("chat sim")
    told = attributes(turn)
    assert told["tenuto.outcome"] == outcome
    assert told.get("error.type") == error
    assert (turn.status.status_code is StatusCode.ERROR) is (error is not None)
    assert told.get("gen_ai.response.finish_reasons") == reasons


@pytest.mark.behaviour("P1", "P1a")
@every_way
@pytest.mark.parametrize("marked", [{}, {"gen_ai.operation.name": "chat"}], ids=["own", "theirs"])
@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ([R("A", MAX)] * 4, "retry_limit"),
        ([R("", "content_filter")], "safety_blocked"),
        ([R("A. ", MAX), Refused(401)], "authentication"),
    ],
    ids=["cut", "blocked", "refused behind a cut"],
)
def test_what_the_policy_raises_for_is_an_error(
    world: World, out: Collected, mode: str, way: str, answers: list[Answer], error: str,
    marked: dict[str, str],
) -> None:  # fmt: skip
    turn = world.play(out, *answers, on_incomplete="error")
    with out.tracer.start_as_current_span("theirs", attributes=marked):
        got = turn.tell(mode, way)
    assert isinstance(got.error, openai.APIError)
    (span,) = out.named("theirs" if marked else "chat sim")
    assert attributes(span)["error.type"] == error
    assert span.status.status_code is StatusCode.ERROR
    if not marked:
        (timed,) = out.points["gen_ai.client.operation.duration"]
        assert timed.attributes["error.type"] == error


@pytest.mark.behaviour("P1")
@every_way
def test_an_exception_that_ends_a_turn_is_an_error_of_its_span(
    world: World, out: Collected, mode: str, way: str
) -> None:
    turn = world.play(out, *CUT_TWICE, decide=lambda decision: "no_such_rung")
    assert isinstance(turn.tell(mode, way).error, tenuto.PolicyError)
    (span,) = out.named("chat sim")
    assert attributes(span)["error.type"] == "PolicyError"
    assert span.status.status_code is StatusCode.ERROR


@pytest.mark.behaviour("N10")
@every_way
def test_each_request_says_where_it_went_without_secrets(
    world: World, out: Collected, mode: str, way: str
) -> None:
    port = int(world.replay.root_url.rpartition(":")[2])
    turn = world.play(out, *CUT_TWICE)
    for name in ("client", "async_client"):
        client = getattr(turn, name)
        setattr(turn, name, client.with_options(base_url=f"http://me:{SECRET}@127.0.0.1:{port}/v1"))
    turn.tell(mode, way, extra_query={"key": SECRET, "api-version": "1"})
    (span,) = out.named("chat sim")
    assert attributes(span)["server.address"] == "127.0.0.1"
    assert attributes(span)["server.port"] == port
    assert "url.full" not in attributes(span)
    said = "/v1/chat/completions?key=REDACTED&api-version=1"
    for post in out.named("POST"):
        assert attributes(post)["url.full"] == f"http://REDACTED@127.0.0.1:{port}{said}"
        assert attributes(post)["server.address"] == "127.0.0.1"
        assert attributes(post)["server.port"] == port
    assert len(out.named("POST")) == 3
    assert SECRET not in out.all_text


def test_what_leaves_names_its_schema(world: World, out: Collected) -> None:
    world.play(out, *CUT_TWICE).tell()
    data = out.reader.get_metrics_data()
    assert data is not None
    made = [scope for resource in data.resource_metrics for scope in resource.scope_metrics]
    scopes = [span.instrumentation_scope for span in out.spans] + [each.scope for each in made]
    named = {(scope.name, scope.schema_url) for scope in scopes if scope is not None}
    assert named == {("tenuto", "https://opentelemetry.io/schemas/gen-ai/1.42.0")}


def test_a_request_that_failed_is_an_error_of_its_own_span(world: World, out: Collected) -> None:
    answers = R("A text that", dropped=True), Refused(503), R(" goes on.")
    world.play(out, *answers).tell("stream")
    _, second, third = out.named("POST")
    assert attributes(second)["error.type"] == "503"
    assert second.status.status_code is StatusCode.ERROR
    assert attributes(third)["tenuto.recovery"] == "continuation"
    assert third.status.status_code is StatusCode.UNSET
    assert out.named("chat sim")[0].status.status_code is StatusCode.UNSET


def test_turns_that_never_end_are_dropped_at_a_bound(
    world: World, out: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spans, "MAX_TURNS", 2)
    turn = world.play(out, *[R("A text of some length.")] * 3)
    open_streams = [
        turn.client.chat.completions.create(model="sim", messages=[ASK], stream=True)
        for _ in range(3)
    ]
    (dropped,) = out.named("chat sim")
    assert attributes(dropped)["tenuto.outcome"] == "never_ended"
    assert len(out.named("POST")) == 1
    for stream in open_streams:
        list(stream)
    assert len(out.named("chat sim")) == 3
    assert not out.hear._turns


# --- metrics -------------------------------------------------------------------------------------

OLD = {"gen_ai.client.operation.duration", "gen_ai.client.token.usage"}
NEW = {
    "gen_ai.client.inference.duration",
    "gen_ai.client.inference.time_to_first_chunk",
    "gen_ai.client.inference.usage.input_tokens",
    "gen_ai.client.inference.usage.output_tokens",
    "gen_ai.client.inference.operation.input_tokens",
    "gen_ai.client.inference.operation.output_tokens",
}


@pytest.mark.parametrize(
    ("opted", "names"),
    [
        ("", OLD),
        ("http", OLD),
        ("gen_ai_latest_experimental", NEW),
        ("http, gen_ai_latest_experimental/dup", OLD | NEW),
    ],
)
def test_the_names_of_metrics_are_opted_into(
    world: World, monkeypatch: pytest.MonkeyPatch, opted: str, names: set[str]
) -> None:
    monkeypatch.setenv(OPT_IN, opted)
    out = Collected()
    world.play(out, *CUT_TWICE).tell("stream")
    assert out.points.keys() == names | {"tenuto.tokens.billed"}


def test_billed_tokens_are_counted_apart_for_recoveries(world: World, out: Collected) -> None:
    world.play(out, *CUT_TWICE).tell()
    points = out.points
    billed = {
        (point.attributes["gen_ai.token.type"], point.attributes["tenuto.recovery"]): point.value
        for point in points["tenuto.tokens.billed"]
    }
    each = R().input_tokens
    assert billed == {
        ("input", False): each, ("input", True): 2 * each,
        ("output", False): 3, ("output", True): 9,
    }  # fmt: skip
    sums = {p.attributes["gen_ai.token.type"]: p.sum for p in points["gen_ai.client.token.usage"]}
    assert sums == {"input": 3 * each, "output": 12}
    (timed,) = points["gen_ai.client.operation.duration"]
    assert timed.count == 1
    assert "error.type" not in timed.attributes


UNCOUNTED = ("body_", "drop_", "cut_off_", "reset_", "eof_", "error_", "length_no_usage")
"""Cases in which an answer breaks off before its usage, or gives none."""


@pytest.mark.parametrize("mode", ["body", "stream"])
def test_billed_tokens_are_those_that_the_simulator_counted(out: Collected, mode: str) -> None:
    cases = [case for case in WORLDS[0].cases if mode in case.modes]
    counted = {"stream_options": {"include_usage": True}} if mode == "stream" else {}
    wrong, told_of_all = [], 0
    with Simulator(token_chars=20) as sim:
        asker = Asker(sim)
        asker.client = tenuto.wrap(asker.client, policy=tenuto.Policy(**QUICK), on_event=out.hear)
        for case in cases:
            before = len(sim.requests)
            out.exporter.clear()
            tools = {"tools": TOOLS} if case.wants_tools else {}
            history = asker.history_for(case, asker.prompt_for(case))
            more = {"model": f"sim/{case.name}", **case.request, **tools, **counted}
            asker.ask(history, mode, **more)
            spans = [span for span in out.spans if span.name.startswith("chat ")]
            told = sum(attributes(span).get("tenuto.billed.output_tokens", 0) for span in spans)
            spent = Spent(tuple(sim.requests[before:])).output_tokens
            told_of_all += told
            if told > spent or (told < spent and not case.name.startswith(UNCOUNTED)):
                wrong.append((case.name, told, spent))
        asker.close()
    assert wrong == []
    billed = [
        point.value
        for point in out.points["tenuto.tokens.billed"]
        if point.attributes["gen_ai.token.type"] == "output"
    ]
    assert sum(billed) == told_of_all > 0


def test_a_turn_that_raised_is_timed_with_its_error(world: World, out: Collected) -> None:
    world.play(out, Refused(401)).tell()
    (timed,) = out.points["gen_ai.client.operation.duration"]
    assert timed.attributes["error.type"] == "authentication"


# --- what may not leave --------------------------------------------------------------------------

SECRET = "sk-planted0secret0of0forty0characters0123"


@pytest.mark.behaviour("N10")
@every_way
@pytest.mark.parametrize("inherited", [False, True])
def test_no_secret_is_in_any_span_or_metric(
    world: World, out: Collected, mode: str, way: str, inherited: bool
) -> None:
    more: dict[str, Any] = {
        "extra_headers": {"authorization": f"Bearer {SECRET}"},
        "extra_query": {"key": SECRET},
        "user": SECRET,
        "messages": [{"role": "user", "content": SECRET}],
    }
    marked = {"gen_ai.operation.name": "chat"} if inherited else {}
    refused = Refused(400, f"The key {SECRET} is none.", SECRET)
    plays: list[list[Answer]] = [
        [refused],
        [R(SECRET, MAX), R(SECRET)],
        [R("A", SECRET)],
        [R(""), R(""), R(""), R("")],
    ]
    for answers in plays:
        with out.tracer.start_as_current_span("around", attributes=marked):
            world.play(out, *answers).tell(mode, way, **more)
    assert len(out.named("around")) == 4
    assert len(out.named("chat sim")) == (0 if inherited else 4)
    assert SECRET not in out.all_text
