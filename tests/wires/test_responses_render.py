"""What we write: the official SDK's own types accept it, and read back it says the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter
from support.asking.openai_responses import assert_one_response

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Message
from tenuto.core.answer.signals import Usage
from tenuto.detection import read
from tenuto.turn.stream.merger import Merger
from tenuto.wires.answer import Answer, AttemptContent
from tenuto.wires.openai_responses.render import ResponseLayout
from tenuto.wires.openai_responses.wire import WIRE
from tenuto.wires.openai_responses.wire import read as read_places

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
FIRST: dict[str, Any] = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "incomplete",
    "error": None, "incomplete_details": {"reason": "max_output_tokens"}, "instructions": None,
    "metadata": {}, "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto",
    "tools": [], "top_p": 1.0, "output": [], "x_unknown": [1], "store": True,
    "usage": {"input_tokens": 3, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
              "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 0},
              "total_tokens": 5, "queue_time": 0.5},
}  # fmt: skip
CALLS = (
    ToolCall("a", "f", '{"x":1}', Finding.WHOLE, extra={"id": "fc_a"}),
    ToolCall("b", "g", "print(", Finding.WHOLE, free=True),
)
answers = st.builds(
    Answer,
    text=st.text(max_size=20) | st.just("half \ud83d"),
    calls=st.sampled_from([(), CALLS]),
    native_stop=st.sampled_from(["completed", "max_output_tokens", "content_filter", "incomplete"]),
    usage=st.none() | st.just(Usage(3, 9, 4)),
    raw_usage=st.none() | st.just(FIRST["usage"]),
)


def said(response: Any) -> tuple[Any, ...]:
    usage = response.usage
    return (
        response.text,
        [(c.id, c.name, c.arguments) for c in response.calls],
        response.stop.raw,
        usage and (usage.input_tokens, usage.output_tokens),
    )


def meant(answer: Answer) -> tuple[Any, ...]:
    calls = [(c.id, c.name, c.arguments) for c in answer.calls]
    return (answer.text, calls, answer.native_stop, (3, 9) if answer.usage else None)


class Told:
    """The events of a writer, as the SDK has them."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        lines = [line[6:] for line in raw.splitlines() if line.startswith(b"data: ")]
        self.events = [EVENT.validate_json(line) for line in lines]


@pytest.mark.behaviour("C19", "C1", "S2")
@given(answers)
def test_a_body_says_what_the_answer_says(answer):
    body = WIRE.render_body(FIRST, FIRST, answer)
    assert said(read(body)) == meant(answer)
    value = json.loads(body)
    assert (value["id"], value["x_unknown"]) == ("resp_1", [1])
    if "\ud83d" not in answer.text:
        Response.model_validate(value)


@pytest.mark.behaviour("C19", "S2", "S4")
@given(answers, st.text(min_size=1, max_size=9), st.booleans())
def test_a_stream_that_is_written_is_one_response_that_says_the_same(answer, thought, begun):
    writer = Merger(ResponseLayout("m"))
    if begun:
        writer.begin(FIRST)
    out = writer.reasoning(thought)
    out += writer.text(answer.text) if answer.text else b""
    out += writer.end(answer, include_usage=True)
    assert said(read(out)) == meant(answer)
    if "\ud83d" in answer.text:
        return
    told = Told(out)
    assert_one_response(told.events)
    assert told.events[-1].response.id == ("resp_1" if begun else "resp_tenuto")


@pytest.mark.behaviour("P1a")
def test_an_error_event_is_one_on_which_the_sdk_raises_and_readers_of_the_wire_too():
    writer = Merger(ResponseLayout("m"))
    raw = writer.error("dropped", "Tenuto could not finish this turn.")
    value = json.loads(raw.splitlines()[-2].removeprefix(b"data: "))
    assert value["error"]["type"] == "tenuto_incomplete"
    assert (value["type"], value["code"]) == ("error", "dropped")
    assert read(raw).stop.reason.value == "error"


@pytest.mark.behaviour("C19", "S2")
@pytest.mark.parametrize("announced", [None, {"type": "zzz", "id": "msg_9"}])
def test_text_that_was_not_announced_stands_in_the_end_all_the_same(announced):
    writer = Merger(ResponseLayout("m"))
    writer.begin({"type": "response.created", "response": FIRST})
    if announced is not None:
        added = {"type": "response.output_item.added", "output_index": 0, "item": announced}
        writer.given(read_places(added, event=True))
    writer.note_forwarded_texts(["Half "])
    out = writer.text("of it.")
    out += writer.end(Answer("Half of it.", native_stop="completed"), include_usage=True)
    assert Told(out).events[-1].response.output_text == "Half of it."


@pytest.mark.behaviour("T1", "T16")
def test_a_call_that_was_announced_as_something_else_is_not_passed_on():
    writer = Merger(ResponseLayout("m"))
    writer.begin({"type": "response.created", "response": FIRST})
    writer.next_attempt(apart=False)

    def passed(event: dict[str, Any]) -> bytes:
        return writer.passed(read_places(event, event=True))

    odd = {"type": "zzz", "id": "fc_1"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": '{"a'}
    passed({"type": "response.output_item.added", "output_index": 1, "item": odd})
    for kind in ("delta", "done"):
        event = {"type": f"response.function_call_arguments.{kind}", "output_index": 1}
        assert passed(event | {"delta": '{"a', "arguments": '{"a'}) == b""
    done = {"type": "response.output_item.done", "output_index": 1, "item": call}
    assert passed(done) == b""
    assert b"function_call" not in writer.end(
        Answer("", native_stop="max_output_tokens"), include_usage=True
    )


def part(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], **more}


def item(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [part(text, **more)]}


RS = {"type": "reasoning", "id": "rs_1", "summary": []}
WS = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
CITED = {"annotations": [{"type": "url_citation"}]}


def spoken(output: list[Any], text: str, apart: bool = False) -> AttemptContent:
    """An attempt whose body held these items, and of which this text is kept."""
    body, message = {"output": output}, Message()
    message.take(read_places(body, event=False))
    return AttemptContent(body, text, apart, message=message)


def merged(*attempts: tuple[list[Any], str, bool]) -> list[Any]:
    made = WIRE.content([spoken(*attempt) for attempt in attempts])
    return [
        "".join(p["text"] for p in i["content"]) if i["type"] == "message" else i["id"]
        for i in made
    ]


@pytest.mark.behaviour("C28a", "C20", "C14")
def test_what_was_said_is_merged_where_it_may_be():
    half = ([RS, item("Half of ")], "Half of ", False)
    rest = ([RS | {"id": "rs_2"}, item("of it.")], "it.", False)
    assert merged(half, rest) == ["rs_1", "Half of it."]
    assert merged(half, (rest[0], "it.", True)) == ["rs_1", "Half of ", "rs_2", "it."]
    cited = ([WS, item("Cited.", **CITED)], "Cited.", False)
    assert merged(cited, ([item(" More.")], " More.", False)) == ["ws_1", "Cited. More."]
    assert merged(half, ([item("of it.", **CITED)], "it.", False)) == ["rs_1", "Half of it."]
    likely = ([item("Likely.", logprobs=[{"token": "Likely."}])], "Likely.", False)
    assert merged(likely, ([item(" More.")], " More.", False)) == ["Likely.", " More."]
    assert merged(half, ([WS, item("Found.")], "Found.", False)) == [
        "rs_1",
        "Half of ",
        "ws_1",
        "Found.",
    ]
    assert merged(([RS], "", False)) == ["rs_1"]
    assert merged(half, ([WS], "\n", False)) == ["rs_1", "Half of \n", "ws_1"]
    blank = ([item(" \n")], " \n", False)
    assert merged(half, blank, ([item("End.")], "End.", False)) == ["rs_1", "Half of  \nEnd."]


def cited(text: str, *words: str) -> dict[str, Any]:
    at = [(text.index(word), word) for word in words]
    notes = [{"type": "url_citation", "start_index": i, "end_index": i + len(w)} for i, w in at]
    return item(text, annotations=notes)


def pointed_at(message: Mapping[str, Any]) -> list[list[str]]:
    """The words that the annotations of each part point at."""
    return [
        [p["text"][a["start_index"] : a["end_index"]] for a in p["annotations"]]
        for p in message["content"]
    ]


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (["The tide"], ("twice a day.", "twice"), "ce a day."),
        (["The tide"], ("ce a day.", "a day"), "ce a day."),
        ([], ("The tide comes twice a day.", "twice a day"), "ce a day."),
        (["tide"], ("twice a day.", "twice", "day"), "ce a day."),
    ],
)
def test_citations_of_texts_that_are_joined_point_at_their_words(first, second, kept):
    half = cited("The tide comes twi", *first)
    attempts = [spoken([half], "The tide comes twi"), spoken([cited(*second)], kept)]
    (message,) = WIRE.content(attempts)
    assert [p["text"] for p in message["content"]] == ["The tide comes twice a day."]
    assert pointed_at(message) == [[*first, *second[1:]]]


@pytest.mark.behaviour("C28a")
def test_a_citation_whose_words_are_in_another_part_is_left_out():
    half = item("The tide comes twi", logprobs=[{"token": "The"}])
    rest = cited("twice a day.", "twice", "a day")
    _, message = WIRE.content([spoken([half], "The tide comes twi"), spoken([rest], "ce a day.")])
    assert pointed_at(message) == [["a day"]]


@pytest.mark.behaviour("S2")
def test_messages_of_two_answers_never_share_an_id():
    """OpenAI refuses a conversation that holds an id twice, and ids of more than 64 characters."""
    ids = set()
    for number in range(2):
        layout = ResponseLayout("m")
        layout.begin({"response": {"id": f"resp_{'0' * 90}{number}"}})
        ids |= {layout.group(None, (), 1)["id"], layout.group(None, (), 2)["id"]}
    assert len(ids) == 4
    assert all(made.startswith("msg_") and len(made) <= 64 for made in ids)
