"""The rest of a broken stream is fetched where the provider keeps the answer (C30)."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import openai
import pytest
from google import genai
from google.genai import types
from support.asking.wrapping import QUICK
from support.events import gemini_interactions as interactions
from support.events import openai_responses as responses
from support.events.framing import Call
from support.stored_streams import Refusal, StoredStreams

import tenuto
import tenuto.events
from tenuto.cli import main

CALL = Call(('{"path": "a", ', '"content": ', '"b"}'))


def told(wire: str, *, store: bool | None = True) -> list[dict[str, Any]]:
    """A whole stream: a text in several pieces, and a call."""
    if wire == "interactions":
        made = interactions.events("One two three.", [CALL])
        step = next(event for event in made if event["event_type"] == "step.delta")
        at = made.index(step)
        pieces = [
            {**step, "delta": {"type": "text", "text": t}} for t in ("One ", "two ", "three.")
        ]
        made[at : at + 1] = pieces
        return [event | {"event_id": f"e/{n}"} for n, event in enumerate(made)]
    said, item = responses.said(0, "One ", "two ", "three.")
    called, call = responses.called(1, CALL)
    begun = {**responses.TOLD, "output": [], "background": True, "store": store}
    first = {**begun, "status": "queued"}
    last = {**begun, "output": [item, call], "status": "completed", "usage": None}
    inner = [
        responses.event("created", response=first),
        responses.event("queued", response=first),
        responses.event("in_progress", response=begun | {"status": "in_progress"}),
        *said, *called,
        responses.event("completed", response=last),
    ]  # fmt: skip
    return responses.numbered(inner)


TOOLS = [{"type": "function", "name": "write_file", "parameters": {"type": "object"}}]


@dataclass
class Got:
    """What a program saw."""

    events: list[Any]
    error: Exception | None = None

    @property
    def kinds(self) -> list[str]:
        """What the events were, with what the SDK's objects hold of them."""
        return [event.model_dump_json(exclude_none=True) for event in self.events]


class Asking:
    """Asks a server through the official SDK of a wire, bare or wrapped."""

    def __init__(self, far: StoredStreams, wire: str, way: str, **settings: Any) -> None:
        self.wire, self.way = wire, way
        self.heard: list[tenuto.Event] = []
        self.policy = tenuto.Policy(**QUICK | settings)
        make = openai.AsyncOpenAI if way == "async" else openai.OpenAI
        if wire == "responses":
            self.bare: Any = make(base_url=far.base_url, api_key="key", max_retries=0)
        else:
            options = types.HttpOptions(base_url=far.root_url)
            self.bare = genai.Client(api_key="key", http_options=options)

    def ask(self, *, bare: bool = False, **more: Any) -> Got:
        client = self.bare
        if not bare:
            client = tenuto.wrap(client, policy=self.policy, on_event=self.heard.append)
        given = {"model": "m", "input": "Tell me.", "tools": TOOLS, "stream": True}
        if self.wire == "responses":
            given |= {"background": True} | more
            create = client.responses.create
        else:
            given |= {"automatic_continuation": False} | more
            create = (client.aio if self.way == "async" else client).interactions.create
        given = {key: item for key, item in given.items() if item is not None}
        got = Got([])
        try:
            if self.way == "async":
                asyncio.run(self._hear(create, given, got))
            else:
                for event in create(**given):
                    got.events.append(event)
        except Exception as error:  # noqa: BLE001 - which one it is, is what a test is about
            got.error = error
        finally:
            if self.way == "sync" or self.wire == "interactions":
                self.bare.close()
        return got

    async def _hear(self, create: Any, given: dict[str, Any], got: Got) -> None:
        try:
            async for event in await create(**given):
                got.events.append(event)
        finally:
            await (self.bare.close() if self.wire == "responses" else self.bare.aio.aclose())


def far_side(wire: str, *breaks: int | Refusal, **more: Any) -> StoredStreams:
    far = StoredStreams(told(wire), breaks=breaks, **more)
    if wire == "interactions":
        far.place, far.after = "event_id", "last_event_id"
    return far


WIRES = pytest.mark.parametrize("wire", ["responses", "interactions"])


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Inheritance class AiohttpClientSession")
        warnings.filterwarnings("ignore", message="Interactions usage is experimental")
        yield


def unbroken(wire: str, way: str) -> list[str]:
    with far_side(wire) as far:
        return Asking(far, wire, way).ask(bare=True).kinds


@pytest.mark.behaviour("C30", "P10")
@WIRES
@pytest.mark.parametrize("clean", [False, True], ids=["broken", "ended"])
def test_a_stream_that_breaks_at_any_event_is_fetched_on_as_if_it_had_not(
    wire: str, clean: bool, way: str
) -> None:
    whole = unbroken(wire, way)
    for at in range(1, len(whole)):
        with far_side(wire, at, clean=clean) as far:
            got = Asking(far, wire, way).ask()
        assert got.error is None, at
        assert got.kinds == whole, at
        assert [method for method, *_ in far.requests] == ["POST", "GET"]
        place = far.events[at - 1][far.place]
        posted, asked = far.requests[0][1], urlsplit(far.requests[1][1])
        assert asked.path == posted + ("/r1" if wire == "responses" else "/v1_1")
        assert parse_qs(asked.query) == {"stream": ["true"], far.after: [str(place)]}


@pytest.mark.behaviour("C30")
@WIRES
def test_it_is_fetched_as_the_sdk_fetches_it(wire: str) -> None:
    with far_side(wire) as far:
        asking = Asking(far, wire, "sync")
        place = far.events[5][far.place]
        if wire == "responses":
            stream = asking.bare.responses.retrieve("r1", stream=True, starting_after=place)
        else:
            stream = asking.bare.interactions.get("v1_1", stream=True, last_event_id=place)
        assert [*stream]
        ((_, bare, _, _),) = far.requests
        far.requests, far.breaks = [], [6]
        assert asking.ask().error is None
    ours = far.requests[1][1]
    assert urlsplit(ours).path == urlsplit(bare).path
    assert parse_qs(urlsplit(ours).query) == parse_qs(urlsplit(bare).query)


@pytest.mark.behaviour("C30", "P6")
def test_an_event_tells_it(way: str) -> None:
    with far_side("interactions", 3, Refusal(503), 2) as far:
        asking = Asking(far, "interactions", way)
        assert asking.ask().error is None
    told = [e for e in asking.heard if isinstance(e, tenuto.events.StreamFetched)]
    assert [(e.place, e.status, e.continues) for e in told] == [
        ("e/2", 503, False), ("e/2", 200, True), ("e/4", 200, True),
    ]  # fmt: skip
    (ended,) = [e for e in asking.heard if isinstance(e, tenuto.events.TurnEnded)]
    assert (ended.status, ended.attempts) == ("complete", 1)


@pytest.mark.behaviour("C30", "H10")
@WIRES
def test_it_is_fetched_with_the_callers_own_credentials_and_without_its_body(
    wire: str, way: str
) -> None:
    with far_side(wire, 4) as far:
        assert Asking(far, wire, way).ask().error is None
    (_, _, asked, _), (_, _, fetched, body) = far.requests
    key = "authorization" if wire == "responses" else "x-goog-api-key"
    assert fetched[key] == asked[key]
    assert body is None
    assert not {"content-type", "content-length", "transfer-encoding"} & fetched.keys()


@pytest.mark.behaviour("C30", "C29")
@WIRES
def test_it_may_break_again_and_again_as_long_as_something_comes(wire: str, way: str) -> None:
    whole = unbroken(wire, way)
    with far_side(wire, 3, 2, 0, 1, 1) as far:
        got = Asking(far, wire, way).ask()
    assert (got.error, got.kinds) == (None, whole)
    assert len(far.requests) == 6


@pytest.mark.behaviour("C30")
@WIRES
def test_events_that_come_once_more_are_left_out(wire: str, way: str) -> None:
    whole = unbroken(wire, way)
    again = 3 if wire == "responses" else 1
    with far_side(wire, 5, 2, again=again) as far:
        got = Asking(far, wire, way).ask()
    assert (got.error, got.kinds) == (None, whole)


@pytest.mark.behaviour("C30", "P10")
@pytest.mark.parametrize("refusal", [Refusal(404), Refusal(400), Refusal(403), *[0]])
def test_a_background_response_that_cannot_be_fetched_ends_as_without_tenuto(
    refusal: Any, way: str
) -> None:
    with far_side("responses", 5) as far:
        bare = Asking(far, "responses", way).ask(bare=True)
    with far_side("responses", 5, *[refusal] * 9) as far:
        got = Asking(far, "responses", way).ask()
    assert got.kinds == bare.kinds
    assert type(got.error) is type(bare.error)
    assert len(far.requests) == (2 if refusal else 4)


@pytest.mark.behaviour("C30", "P10")
def test_an_interaction_that_cannot_be_fetched_is_asked_for_its_rest(way: str) -> None:
    rest = [event | {"event_id": f"f/{n}"} for n, event in enumerate(interactions.events("two."))]
    with far_side("interactions", 3, Refusal(404), others=[rest]) as far:
        got = Asking(far, "interactions", way).ask()
    assert got.error is None
    texts = [e.delta.text for e in got.events if e.event_type == "step.delta"]
    assert "".join(texts) == "One two."
    assert [method for method, *_ in far.requests] == ["POST", "GET", "POST"]


@pytest.mark.behaviour("C30", "C28")
@WIRES
def test_what_is_not_stored_is_not_fetched(wire: str, way: str) -> None:
    others = [interactions.events("two three.")] * 3
    with far_side(wire, 3, others=others) as far:
        Asking(far, wire, way).ask(store=False)
    assert "GET" not in [method for method, *_ in far.requests]


@pytest.mark.behaviour("C30", "C28")
def test_a_response_in_the_foreground_is_asked_for_its_rest(way: str) -> None:
    rest = responses.events("two three.")
    with far_side("responses", 5, others=[rest]) as far:
        got = Asking(far, "responses", way).ask(background=False)
    assert [method for method, *_ in far.requests] == ["POST", "POST"]
    assert got.error is None


@pytest.mark.behaviour("C30")
@WIRES
def test_an_error_in_the_stream_is_no_break(wire: str, way: str) -> None:
    failed: dict[str, Any] = {"type": "error", "code": "x", "message": "No.", "sequence_number": 5}
    if wire == "interactions":
        failed = {
            "event_type": "error",
            "event_id": "e/5",
            "error": {"code": "x", "message": "No."},
        }
    with far_side(wire, 6, clean=True) as far:
        far.events = [*told(wire)[:5], failed]
        far.breaks = [6, *[Refusal(400)] * 5]
        Asking(far, wire, way).ask()
    assert "GET" not in [method for method, *_ in far.requests]


@pytest.mark.behaviour("C30")
@pytest.mark.parametrize(
    "more", [{"background": True}, {"agent": "a"}, {"continuation_token": "t"}]
)
def test_interactions_that_are_left_alone_are_fetched_too(more: dict[str, Any], way: str) -> None:
    whole = unbroken("interactions", way)
    given: dict[str, Any] = dict(more)
    if "agent" in more:
        given["model"] = None
    if "background" in more:
        given["automatic_continuation"] = None
    with far_side("interactions", 5, 2) as far:
        got = Asking(far, "interactions", way).ask(**given)
    assert (got.error, got.kinds) == (None, whole)
    assert [method for method, *_ in far.requests] == ["POST", "GET", "GET"]


@pytest.mark.behaviour("C30")
@pytest.mark.parametrize("without", [[0], [3], [3, 4]])
def test_no_stream_is_fetched_from_an_event_without_a_place(without: list[int], way: str) -> None:
    with far_side("interactions", without[-1] + 1, others=[interactions.events("two.")] * 2) as far:
        for at in without:
            far.events[at].pop("event_id")
        Asking(far, "interactions", way).ask()
    assert "GET" not in [method for method, *_ in far.requests]


@pytest.mark.behaviour("C30", "P3")
@WIRES
def test_without_a_budget_nothing_is_fetched(wire: str, way: str) -> None:
    others = [interactions.events("two three.")] * 3
    with far_side(wire, 3, others=others) as far:
        Asking(far, wire, way, pause_resumes=0).ask()
    assert "GET" not in [method for method, *_ in far.requests]


@pytest.mark.behaviour("C30", "P8b")
def test_a_captured_turn_names_what_was_fetched_and_can_be_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with far_side("interactions", 4) as far:
        assert Asking(far, "interactions", "sync", capture=str(tmp_path)).ask().error is None
    (file,) = tmp_path.glob("*.json")
    first, second = (each["request"] for each in json.loads(file.read_text())["attempts"])
    assert (first["method"], second["method"]) == ("POST", "GET")
    assert "/v1_1?stream=true&last_event_id=" in second["url"]
    assert main(["explain", "--json", str(file)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert not told.get("note"), told
