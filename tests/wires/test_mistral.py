"""Mistral's chat: how it is told from OpenAI's, its rules for a history, and what is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mistralai.client.models import ChatCompletionResponse, CompletionChunk

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Message
from tenuto.core.answer.signals import Usage
from tenuto.core.deciding.actions import AppendAssistant, AppendUser, SetOutputLimit
from tenuto.core.seam.seam import Seam
from tenuto.core.settings.policy import Policy
from tenuto.detection import recognize
from tenuto.providers.registry import route
from tenuto.providers.table import ROWS
from tenuto.turn.drivers.commands import Request
from tenuto.turn.pipeline.engine import Engine
from tenuto.turn.stream.merger import merger
from tenuto.wires.answer import Answer, AttemptContent
from tenuto.wires.json import decode_object, encode
from tenuto.wires.mistral.render import MistralLayout
from tenuto.wires.mistral.request import parse_request
from tenuto.wires.mistral.wire import WIRE, read
from tenuto_sim.mistral.rules import violations
from tenuto_sim.reply import Settings

MISTRAL = ROWS.all()["mistral"].dialect
ASKED: Any = {"role": "user", "content": "Go."}
CHAT = "https://api.mistral.ai/v1/chat/completions#stream"


def called(*ids: str) -> dict[str, Any]:
    function = {"name": "read", "arguments": "{}"}
    calls = [{"id": i, "type": "function", "function": function, "index": 0} for i in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls, "prefix": False}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


def sent(rows: list[dict[str, Any]], *edits: Any) -> tuple[Any, Any]:
    """The request that leaves, and how it was parsed."""
    asked = parse_request(encode({"model": "sim", "messages": rows}))
    assert asked is not None
    value: Any = decode_object(asked.apply(edits, MISTRAL))
    return value, asked


# --- which wire it is


@pytest.mark.behaviour("N8")
def test_a_host_or_an_sdk_says_that_it_is_mistrals_and_a_path_of_its_own_does():
    chat = "https://host.example/v1/chat/completions"
    google = "https://x/v1/projects/p/locations/l/publishers/mistralai/models/m:streamRawPredict"
    found = {
        url: [route(url, speaks)[0] for speaks in ("", "mistral")]
        for url in (CHAT, chat, google, "https://x/v1/fim/completions", "https://x/v1/embeddings")
    }
    names = [[wire and wire.name for wire in wires] for wires in found.values()]
    mistrals = ["mistral", "mistral"]
    assert names == [mistrals, ["openai-chat", "mistral"], mistrals, mistrals, [None, None]]
    assert route(CHAT)[1].dialect is MISTRAL
    assert route(chat, "mistral")[1].dialect.prefill_row == MISTRAL.prefill_row


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize(
    ("told", "wire"),
    [
        ({"id": "ab" * 16, "model": "ministral-8b-2512"}, "mistral"),
        ({"id": "ab" * 16, "model": "ft:open-mistral-7b:x"}, "mistral"),
        ({"id": "cmpl-" + "ab" * 16, "model": "mistral-tiny"}, "mistral"),
        # SGLang's ids; a server of one's own; a gateway.
        ({"id": "ab" * 16, "model": "qwen3"}, "openai-chat"),
        ({"id": "chatcmpl-" + "ab" * 16, "model": "mistral-7b"}, "openai-chat"),
        ({"id": "ab" * 16, "model": "mistralai/mistral-7b"}, "openai-chat"),
        ({"id": 7, "model": None}, "openai-chat"),
    ],
)
def test_ids_and_names_of_models_tell_its_answers_from_those_of_others(told, wire):
    choice = {"index": 0, "message": {"content": "Hi"}, "finish_reason": "length"}
    body = {"object": "chat.completion", "choices": [choice], **told}
    response, read_by = recognize(body)
    assert (response.stop.reason.value, read_by and read_by.name) == ("max_tokens", wire)
    named = recognize(body, wire="mistral")[1]
    assert named is WIRE, "who says whose it is, is right"


@pytest.mark.behaviour("N8")
def test_an_error_without_a_number_is_mistrals_and_one_with_a_number_is_vllms():
    told = {"object": "error", "message": "No.", "type": "x", "param": None}
    assert recognize(told | {"code": "3230"})[1] is WIRE
    assert recognize(told | {"code": None})[1] is WIRE
    assert recognize(told | {"code": 400})[1] is not WIRE


# --- the request


@pytest.mark.behaviour("C7", "C8", "C17")
def test_cut_text_is_sent_back_as_the_beginning_of_the_answer():
    value, asked = sent([ASKED], AppendAssistant("Half", prefill=True), SetOutputLimit(99))
    begun = {"role": "assistant", "content": "Half", "prefix": True}
    assert value == {"model": "sim", "messages": [ASKED, begun], "max_tokens": 99}
    assert asked.facts.include_usage, "streams tell it, asked for or not"


@pytest.mark.behaviour("C7", "C8", "H9")
@pytest.mark.parametrize("said", ["It was late", " late"], ids=["repeated", "not repeated"])
@pytest.mark.parametrize("prefill", [True, False])
def test_a_beginning_of_the_callers_becomes_one_with_what_followed_it(said, prefill):
    begun = {"role": "assistant", "content": "It was", "prefix": True}
    edits: list[Any] = [AppendAssistant(said, prefill=prefill)]
    edits += [] if prefill else [AppendUser("Go on.")]
    value, asked = sent([ASKED, begun], *edits)
    row = {"role": "assistant", "content": "It was late"} | ({"prefix": True} if prefill else {})
    assert value["messages"] == [ASKED, row, *([] if prefill else [ASKED | {"content": "Go on."}])]
    assert (asked.facts.prefill_barred, asked.repairs) == (False, ())
    assert list(violations({}, value, Settings())) == []


@pytest.mark.behaviour("H2", "H5", "H5a", "H9")
@pytest.mark.parametrize(
    ("rows", "repairs"),
    [
        ([ASKED, called("D681PevKs"), result("D681PevKs")], ()),
        ([ASKED, called("call_1", "call_2"), result("call_1"), result("call_2")],
         ("call_ids_renamed",)),
        ([ASKED, called("D681PevKs"), result("D681PevKs"), ASKED], ("rows_arranged",)),
        ([ASKED, called("call_1"), ASKED],
         ("unanswered_call_answered", "call_ids_renamed", "rows_arranged")),
    ],
)  # fmt: skip
def test_a_history_of_others_is_put_right_once_and_for_all(rows, repairs):
    value, asked = sent(rows)
    assert asked.repairs == repairs
    assert list(violations({}, value, Settings())) == []
    again, repaired = sent(value["messages"])
    assert (again["messages"], repaired.repairs) == (value["messages"], ())
    if not repairs:
        assert value["messages"] == rows


@pytest.mark.behaviour("E3", "H9")
def test_a_hint_behind_the_results_of_tools_follows_a_word_of_the_assistants():
    rows = [ASKED, called("D681PevKs"), result("D681PevKs")]
    value, _ = sent(rows, AppendUser("Go on."))
    assert [row["role"] for row in value["messages"][3:]] == ["assistant", "user"]
    assert list(violations({}, value, Settings())) == []


@pytest.mark.behaviour("C28", "N6")
def test_what_fills_in_the_middle_is_watched_since_its_limit_says_how_much_is_wanted():
    body = encode({"model": "codestral-latest", "prompt": "def f(", "suffix": "return x"})
    asked = parse_request(body)
    assert asked is not None
    assert asked.facts.left_alone == "no_messages"
    assert asked.apply([SetOutputLimit(9)], MISTRAL) == body
    assert parse_request(b'{"model": "codestral-latest"}') is None
    assert parse_request(b"[]") is None


# --- what is written


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def thinking(said: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [text(said)]}


REFERENCE = {"type": "reference", "reference_ids": [0, 2]}
IDENTITY = {"id": "ab" * 16, "object": "chat.completion", "model": "m", "created": 1}


def spoken(content: Any, said: str, own: str | None = None) -> AttemptContent:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}}
    body = {**IDENTITY, "choices": [choice]}
    message = Message()
    message.take(read(body, event=False))
    return AttemptContent(body, said, own=said if own is None else own, message=message)


@pytest.mark.behaviour("C20", "P2")
@pytest.mark.parametrize(
    ("attempts", "reasoning", "content"),
    [
        ((spoken("Half", "Half"), spoken("Half of it", " of it", "Half of it")), "",
         "Half of it"),
        ((spoken([thinking("Hm."), text("Half")], "Half"), spoken(" of it", " of it")), "Hm.",
         [thinking("Hm."), text("Half of it")]),
        ((spoken([text("Paris"), REFERENCE], "Paris"), spoken([text(" it is"), REFERENCE], " it is")),
         "", [text("Paris"), REFERENCE, text(" it is"), REFERENCE]),
        ((spoken([text("Paris")], "Paris"), spoken([text("Paris is"), REFERENCE], " is", "Paris is")),
         "", [text("Paris is"), REFERENCE]),
        ((spoken([REFERENCE, 7, text("Hi")], "Hi"),), "", [REFERENCE, text("Hi")]),
    ],
    ids=["text", "thinking", "references", "echo", "odd"],
)  # fmt: skip
def test_a_body_of_several_attempts_keeps_their_chunks(attempts, reasoning, content):
    said = "".join(one.text for one in attempts)
    call = ToolCall("D681PevKs", "read", "{}", Finding.WHOLE)
    answer = Answer(
        said, reasoning, (call,), native_stop="tool_calls", usage=Usage(1, 2), spoken=attempts
    )
    body: Any = json.loads(WIRE.render_body(attempts[0].value, attempts[-1].value, answer))
    message = body["choices"][0]["message"]
    assert message["content"] == content
    assert "reasoning_content" not in message
    made: Any = ChatCompletionResponse.model_validate(body)
    assert made.choices[0].message.tool_calls[0].id == "D681PevKs"


@pytest.mark.behaviour("S2", "P2")
def test_events_of_a_further_attempt_keep_what_is_no_text():
    writer = merger(MistralLayout("m"))
    first = {**IDENTITY, "object": "chat.completion.chunk"}
    writer.begin({**first, "choices": [{"index": 0, "delta": {"content": "Half"}}], "p": "ab"})
    writer.next_attempt(apart=False)
    content = [thinking("Hm."), text(" of it"), REFERENCE]
    event = {"choices": [{"index": 0, "delta": {"content": content}}]}
    out = writer.passed(read(event, event=True)) + writer.text(" of it") + writer.reasoning("Hm.")
    out += writer.end(Answer(" of it", native_stop="stop", usage=Usage(1, 2)), include_usage=True)
    *events, done, _ = out.split(b"\n\n")
    chunks: list[Any] = [CompletionChunk.model_validate_json(event[6:]) for event in events]
    deltas = [json.loads(event[6:])["choices"][0]["delta"] for event in events]
    assert [delta["content"] for delta in deltas] == [
        [thinking("Hm."), REFERENCE], " of it", [thinking("Hm.")], ""
    ]  # fmt: skip
    assert (chunks[-1].choices[0].finish_reason, chunks[-1].usage.completion_tokens) == ("stop", 2)
    assert done == b"data: [DONE]"


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize(
    ("said", "again", "echoed", "new"),
    [
        ("ha", "haha!", True, "ha!"),
        ("ha", "haha!", False, "haha!"),
        ("Half", "Half of it", True, " of it"),
        ("Half", " of it", True, " of it"),
        ("Half", "Ha", True, ""),
    ],
)
def test_an_answer_that_repeats_every_prefill_says_even_a_letter_once(said, again, echoed, new):
    for pieces in ([again], list(again)):
        seam = Seam(said, exact=True, echoed=echoed)
        assert "".join(map(seam.feed, pieces)) + seam.finish() == new


@pytest.mark.behaviour("N6")
def test_a_client_that_asks_elsewhere_is_read_by_what_it_speaks():
    engine = Engine(Policy())
    body = encode({"model": "m", "messages": [ASKED]})
    request = Request("POST", "http://127.0.0.1:9/v1/chat/completions", (), body)
    engine.speaks = "mistral"
    asked = engine.read(request)
    assert asked is not None
    assert asked.wire is WIRE
