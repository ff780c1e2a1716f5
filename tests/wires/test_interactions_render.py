"""What we write: the official SDK's own types accept it, and read back it says the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from google.genai.interactions import Interaction, InteractionSSEStreamEvent
from hypothesis import given
from hypothesis import strategies as st
from support.asking.gemini_interactions import assert_one_interaction

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Message
from tenuto.core.answer.signals import Usage
from tenuto.detection import read
from tenuto.turn.stream.merger import merger
from tenuto.wires.answer import Answer, AttemptContent
from tenuto.wires.gemini_interactions.render import InteractionLayout
from tenuto.wires.gemini_interactions.steps import kind_of
from tenuto.wires.gemini_interactions.wire import WIRE

FIRST: dict[str, Any] = {
    "id": "v1_1", "object": "interaction", "model": "m", "status": "incomplete", "x_unknown": [1],
    "created": "2026-09-21T18:13:20Z", "updated": "2026-09-21T18:13:21Z", "steps": [],
    "usage": {"total_input_tokens": 3, "total_output_tokens": 2, "total_tokens": 5,
              "total_cached_tokens": 0},
}  # fmt: skip
CALLS = (
    ToolCall("a", "f", '{"x":1}', Finding.WHOLE, extra={"signature": "gA=="}),
    ToolCall("b", "g", "{}", Finding.WHOLE),
)
answers = st.builds(
    Answer,
    text=st.text(max_size=20) | st.just("half \ud83d"),
    calls=st.sampled_from([(), CALLS]),
    native_stop=st.sampled_from(["completed", "requires_action", "incomplete", "failed"]),
    usage=st.none() | st.just(Usage(3, 9, 4)),
    raw_usage=st.none() | st.just(FIRST["usage"]),
)


def said(response: Any) -> tuple[Any, ...]:
    usage = response.usage
    return (
        response.text,
        [(c.id, c.name, json.loads(c.arguments)) for c in response.calls],
        response.stop.raw,
        usage and (usage.input_tokens, usage.output_tokens),
    )


def meant(answer: Answer) -> tuple[Any, ...]:
    calls = [(c.id, c.name, json.loads(c.arguments)) for c in answer.calls]
    used = (answer.usage and (3, 9)) or (answer.raw_usage and (3, 2)) or None
    return (answer.text, calls, answer.native_stop, used)


def told(raw: bytes) -> list[Any]:
    """The events of a writer, as the SDK has them."""
    lines = [line[6:] for line in raw.splitlines() if line.startswith(b"data: {")]
    made = [InteractionSSEStreamEvent.model_validate({"data": json.loads(line)}) for line in lines]
    return [event.data for event in made]


@pytest.mark.behaviour("C19", "C1", "S2")
@given(answers)
def test_a_body_says_what_the_answer_says(answer):
    body = WIRE.render_body(FIRST, FIRST, answer)
    assert said(read(body)) == meant(answer)
    value = json.loads(body)
    assert (value["id"], value["x_unknown"]) == ("v1_1", [1])
    if "\ud83d" not in answer.text:
        Interaction.model_validate(value)


@pytest.mark.behaviour("C7", "C22")
@pytest.mark.parametrize(("stop", "name"), [("completed", "v1_2"), ("incomplete", "v1_1")])
def test_a_whole_answer_has_the_id_of_the_interaction_that_ended_it(stop, name):
    last = FIRST | {"id": "v1_2"}
    assert json.loads(WIRE.render_body(FIRST, last, Answer("Hi", native_stop=stop)))["id"] == name


@pytest.mark.behaviour("C19", "S2", "S4")
@given(answers, st.text(min_size=1, max_size=9), st.booleans())
def test_a_stream_that_is_written_is_one_interaction_that_says_the_same(answer, thought, begun):
    writer = merger(InteractionLayout("m"))
    if begun:
        writer.begin(FIRST)
    out = writer.reasoning(thought)
    out += writer.text(answer.text) if answer.text else b""
    out += writer.end(answer, include_usage=True)
    assert out.endswith(b"event: done\ndata: [DONE]\n\n")
    assert said(read(out)) == meant(answer)
    if "\ud83d" in answer.text:
        return
    events = told(out)
    assert_one_interaction(events)
    assert events[-1].interaction.id == ("v1_1" if begun else "")


@pytest.mark.behaviour("P1a", "E9")
def test_an_error_event_is_one_that_the_sdk_knows_and_readers_of_the_wire_too():
    raw = merger(InteractionLayout("m")).error("dropped", "Tenuto could not finish this turn.")
    assert [event.event_type for event in told(raw)] == ["interaction.created", "error"]
    error = json.loads(raw.splitlines()[4][6:])["error"]
    assert (error["type"], error["code"]) == ("tenuto_incomplete", "dropped")
    assert read(raw).stop.reason.value == "error"


@pytest.mark.behaviour("P1a", "E9")
def test_an_error_body_holds_what_had_come():
    partial = Answer("Half", reasoning="Hm.")
    error = json.loads(WIRE.render_error("dropped", "No.", partial))["error"]
    assert error["partial"] == {"text": "Half", "reasoning": "Hm."}
    assert "partial" not in json.loads(WIRE.render_error("dropped", "No.", Answer("")))["error"]


# --- what an attempt says behind another one


def event(kind: str, index: Any = None, **members: Any) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    return {"event_type": kind, **place, **members}


def start(index: Any, kind: str, **members: Any) -> dict[str, Any]:
    return event("step.start", index, step={"type": kind, **members})


def delta(index: Any, kind: str, **members: Any) -> dict[str, Any]:
    return event("step.delta", index, delta={"type": kind, **members})


def stop(index: Any) -> dict[str, Any]:
    return event("step.stop", index)


BEGUN = [event("interaction.created", interaction=FIRST), start(0, "model_output"),
         delta(0, "text", text="Half ")]  # fmt: skip
NOTE = {"type": "url_citation", "start_index": 0, "end_index": 4, "url": "https://example.com"}


def going_on(*events: dict[str, Any], apart: bool = False, begun: Any = BEGUN) -> Any:
    """A writer that has followed a beginning, and what it makes of the events of the next attempt;
    the text of these comes through the seam."""
    writer = merger(InteractionLayout("m"))
    writer.begin(begun[0])
    for value in begun:
        writer.given(WIRE.read(value, event=True))
    out = writer.next_attempt(apart=apart)
    for value in events:
        out += writer.passed(WIRE.read(value, event=True))
        out += writer.text(value["delta"]["text"]) if kind_of(value.get("delta")) == "text" else b""
    return writer, out


def outline(raw: bytes) -> list[tuple[str, int, str]]:
    """Type, index and what it is of the events of steps."""
    told: list[tuple[str, int, str]] = []
    for line in raw.splitlines():
        value = json.loads(line[6:]) if line.startswith(b"data: {") else {}
        if "index" in value:
            inner = value.get("step") or value.get("delta") or {}
            kind = value["event_type"].removeprefix("step.")
            told.append((kind, value["index"], inner.get("text") or inner.get("type", "")))
    return told


@pytest.mark.behaviour("S2", "C20")
def test_text_goes_on_in_the_step_that_is_open_without_what_was_thought_before_it():
    writer, out = going_on(
        event("interaction.created", interaction=FIRST | {"id": "v1_2"}),
        start(0, "thought"),
        delta(0, "thought_signature", signature="gA=="),
        stop(0),
        start(1, "model_output"),
        delta(1, "text", text="of it."),
        stop(1),
    )
    assert outline(out) == [("delta", 0, "of it.")]
    end = writer.end(Answer("Half of it.", native_stop="completed"), include_usage=True)
    assert outline(end) == [("stop", 0, "")]
    assert told(end)[-1].interaction.id == "v1_1"


@pytest.mark.behaviour("S2", "C14")
def test_an_attempt_that_stands_apart_begins_a_step_of_its_own():
    _, out = going_on(start(0, "model_output"), delta(0, "text", text="Again."), apart=True)
    assert outline(out) == [("stop", 0, ""), ("start", 1, "model_output"), ("delta", 1, "Again.")]


@pytest.mark.behaviour("C28a")
def test_a_text_with_annotations_is_not_gone_on_in():
    cited = [*BEGUN, delta(0, "text_annotation_delta", annotations=[NOTE])]
    _, out = going_on(start(0, "model_output"), delta(0, "text", text="More."), begun=cited)
    assert outline(out) == [("stop", 0, ""), ("start", 1, "model_output"), ("delta", 1, "More.")]


@pytest.mark.behaviour("C20", "C28a", "S2")
def test_what_the_provider_ran_passes_under_our_numbers():
    _, out = going_on(
        start(0, "google_search_call", id="s", arguments={}),
        delta(0, "google_search_call", arguments={"queries": ["x"]}),
        stop(0),
        start(1, "google_search_result", call_id="s", result=[]),
        stop(1),
        start(2, "model_output"),
        delta(2, "text", text="Found."),
        delta(2, "text_annotation_delta", annotations=[NOTE]),
    )
    assert outline(out) == [
        ("stop", 0, ""),
        ("start", 1, "google_search_call"),
        ("delta", 1, "google_search_call"),
        ("stop", 1, ""),
        ("start", 2, "google_search_result"),
        ("stop", 2, ""),
        ("start", 3, "model_output"),
        ("delta", 3, "Found."),
        ("delta", 3, "text_annotation_delta"),
    ]


@pytest.mark.behaviour("T1", "T16")
@pytest.mark.parametrize("index", [1, None])
def test_calls_wait_for_the_end(index):
    call = {"id": "c", "name": "f", "arguments": {}}
    writer, out = going_on(
        start(index, "function_call", **call),
        delta(index, "arguments_delta", arguments='{"a'),
        stop(index),
    )
    assert out == b""
    end = writer.end(Answer("Half ", native_stop="incomplete"), include_usage=True)
    assert b"function_call" not in end


@pytest.mark.behaviour("N6", "S2")
@pytest.mark.parametrize(
    "odd",
    [{}, event("step.start", 1), event("step.start", 1, step=5), event("step.delta", 1, delta=[]),
     delta("x", "zzz"), delta(9, "google_search_call"), stop(None), stop([]), start(2, "user_input"),
     delta(2, "thought_signature", signature=None), event("zzz", 3)],
)  # fmt: skip
def test_what_nobody_knows_is_left_out_of_a_continuation(odd):
    _, out = going_on(odd)
    assert out == b""


@pytest.mark.behaviour("S2")
@pytest.mark.parametrize("index", [None, "1", 7])
def test_text_whose_step_was_not_begun_or_has_an_odd_number_is_one_interaction(index):
    begun = [BEGUN[0], start(index, "model_output"), delta(index, "text", text="Half ")]
    writer, out = going_on(delta(0, "text", text="of it."), begun=begun)
    out += writer.end(Answer("Half of it.", native_stop="completed"), include_usage=True)
    assert {number for _, number, _ in outline(out)} == {7 if index == 7 else 0}


@pytest.mark.behaviour("C20", "P8")
def test_a_body_that_is_said_as_events_says_first_what_is_neither_text_nor_a_call():
    search = {"type": "google_search_call", "id": "s", "arguments": {}}
    signed = {"type": "thought", "signature": "gA==", "summary": [{"type": "text", "text": "Hm."}]}
    asked = {"type": "user_input", "content": []}
    writer = merger(InteractionLayout("m"))
    writer.begin(FIRST | {"steps": [asked, signed, search, {"type": "model_output"}, 5]})
    out = writer.reasoning("Hm.") + writer.text("Hi")
    assert [(kind, what) for kind, _, what in outline(out) if kind != "stop"] == [
        ("start", "thought"),
        ("start", "google_search_call"),
        ("start", "model_output"),
        ("delta", "Hi"),
    ]
    told(out)


# --- what was said, merged


def output(*texts: str, **more: Any) -> dict[str, Any]:
    parts = [{"type": "text", "text": text, **more} for text in texts]
    return {"type": "model_output", "content": parts}


THOUGHT = {"type": "thought", "signature": "gA=="}
SEARCH = {"type": "google_search_call", "id": "s", "arguments": {}}
IMAGE = {"type": "image", "data": "AA", "mime_type": "image/png"}
Attempt = tuple[list[Any], str, bool]


def streamed(events: Iterable[Any], text: str) -> AttemptContent:
    message = Message()
    for value in events:
        message.take(WIRE.read(value, event=True))
    return AttemptContent(None, text, message=message)


def a_body(value: dict[str, Any], text: str, apart: bool = False) -> AttemptContent:
    message = Message()
    message.take(WIRE.read(value, event=False))
    return AttemptContent(value, text, apart, message=message)


def merged(*spoken: Attempt) -> list[Any]:
    """The types of the merged steps; of outputs the parts."""
    made = WIRE.content([a_body({"steps": s}, text, apart) for s, text, apart in spoken])
    return [list(map(shown, s["content"])) if "content" in s else s["type"] for s in made]


def shown(part: Any) -> str:
    return str(part.get("text", part["type"]))


CITED: Attempt = ([output("Cited.", annotations=[NOTE])], "Cited.", False)
HALF: Attempt = ([THOUGHT, output("Half of ")], "Half of ", False)
REST: Attempt = ([THOUGHT, output("of it.")], "it.", False)


@pytest.mark.behaviour("C28a", "C20", "C14")
@pytest.mark.parametrize(
    ("spoken", "wanted"),
    [
        ((HALF, REST), ["thought", ["Half of it."]]),
        ((HALF, (REST[0], "it.", True)), ["thought", ["Half of "], "thought", ["it."]]),
        ((HALF, ([SEARCH, output("Found.")], "Found.", False)),
         ["thought", ["Half of "], "google_search_call", ["Found."]]),
        ((CITED, ([output(" More.")], " More.", False)), [["Cited."], [" More."]]),
        ((HALF, ([output(" \n")], " \n", False), ([output("End.")], "End.", False)),
         ["thought", ["Half of  \nEnd."]]),
        ((HALF, ([THOUGHT, SEARCH], " ", False)),
         ["thought", ["Half of  "], "thought", "google_search_call"]),
        ((([THOUGHT], "", False),), ["thought"]),
        ((([{"type": "model_output", "content": [IMAGE]}], "", False),), [["image"]]),
        ((([output("a", "b")], "ab", False),), [["a", "b"]]),
        ((([{"type": "user_input"}, {"type": "function_call"}, 5, output("x")], "x", False),),
         [["x"]]),
    ],
)  # fmt: skip
def test_what_was_said_is_merged_where_it_may_be(spoken: Iterable[Attempt], wanted: list[Any]):
    assert merged(*spoken) == wanted


@pytest.mark.behaviour("C26")
@pytest.mark.parametrize("stream", [False, True])
def test_the_token_of_the_last_pause_is_kept_with_its_interaction(stream):
    def paused(name: str, token: str) -> AttemptContent:
        told = {"id": name, "status": "requires_continuation", "continuation_token": token}
        last = event("interaction.completed", interaction=told)
        if stream:
            return streamed([last], "")
        return a_body(told | {"steps": []}, "")

    one, two = paused("v1_1", "WyJh"), paused("v1_2", "WyJi")
    assert WIRE.content([one, two]) == ({"continuation_token": "WyJi", "id": "v1_2"},)
    assert WIRE.content([one, a_body({"steps": []}, "")]) == ()


@pytest.mark.behaviour("C1", "N7")
def test_the_events_of_a_stream_are_merged_as_the_body_would_be():
    events = [
        start(0, "thought"),
        delta(0, "thought_summary", content={"type": "text", "text": "Hm."}),
        delta(0, "thought_signature", signature="gA=="),
        start(1, "google_search_call", id="s", arguments={}),
        delta(1, "google_search_call", arguments={"queries": ["x"]}),
        start(2, "model_output"),
        delta(2, "text", text="Half "),
        delta(2, "text", text="of it."),
        delta(2, "text_annotation_delta", annotations=[NOTE]),
        delta(2, "image", data="AA", mime_type="image/png"),
        delta(2, "text", text=" More."),
    ]
    cited = {"type": "text", "text": "Half of it.", "annotations": [NOTE]}
    assert WIRE.content([streamed(events, "Half of it. More.")]) == (
        THOUGHT | {"summary": [{"type": "text", "text": "Hm."}]},
        SEARCH | {"arguments": {"queries": ["x"]}},
        {"type": "model_output", "content": [cited, IMAGE, {"type": "text", "text": " More."}]},
    )
