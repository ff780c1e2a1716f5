"""Version 1 of Cohere's chat through its SDK: what comes out is what an uncut answer would have given,
whatever it took to finish it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import cohere
import httpx
import pytest
from cohere.core import ApiError
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, answer, json_answer

import tenuto
from examples.wires.tests.asking.cohere_v1 import (
    CASES,
    TOOLS,
    assert_one_message,
    of_answer,
    of_events,
    plain,
)
from tenuto.core import hints
from tenuto_sim import Simulator

ASK: list[Any] = [{"role": "USER", "message": "Tell me."}]
CALL: dict[str, Any] = {"name": "write_file", "parameters": {"path": "a", "content": "x"}}
RESULT: dict[str, Any] = {"call": CALL, "outputs": [{"text": "written"}]}
POLICY = tenuto.Policy(**QUICK)
MODES = pytest.mark.parametrize("mode", ["body", "stream"])
WHOLE = {
    "length_once": "text",
    "length_twice": "text",
    "empty_once": "text",
    "drop_mid_text": "text",
    "call_cut_length": "tool",
    "call_cut_twice": "tool",
    "batch_one_broken": "tools",
    "call_pieces_then_cut": "tool_with_text",
    "call_text_then_cut": "tool_with_text",
    "drop_mid_call": "tool",
}
"""What a fault keeps a client from, by the fault: an answer without one."""


@contextmanager
def over_http_client(sim: Simulator) -> Iterator[Any]:
    """The SDK as it is, over an HTTP client that recovers."""
    with tenuto.http_client("httpx", policy=POLICY) as http:
        yield cohere.Client(api_key="key", base_url=sim.root_url, httpx_client=http)


@contextmanager
def wrapped_client(sim: Simulator) -> Iterator[Any]:
    """A client that was wrapped."""
    with cohere.Client(api_key="key", base_url=sim.root_url) as client:
        yield tenuto.wrap(client, policy=POLICY)


def asked(client: Any, mode: str, **given: Any) -> Any:
    if mode == "body":
        return of_answer(client.chat(**given))
    told = list(client.chat_stream(**given))
    assert_one_message(told)
    return of_events(told)


@pytest.mark.behaviour("C1", "T5", "E1", "S2", "S3")
@pytest.mark.parametrize("client_of", [wrapped_client, over_http_client])
@pytest.mark.parametrize(
    ("fault", "mode"),
    [(name, mode) for name in WHOLE for mode in sorted(CASES[name].modes)],
)
def test_what_is_finished_is_what_an_uncut_answer_gives(
    sim: Simulator, fault: str, mode: str, client_of: Any
) -> None:
    given = {"message": "Tell me.", "tools": TOOLS}
    with client_of(sim) as client:
        right = asked(client, mode, model=f"sim/{WHOLE[fault]}", **given)
        sim.forget()
        before = len(sim.requests)
        asked(client, "stream", model="sim/normal", message="Show how you end.")
        said = asked(client, mode, model=f"sim/{fault}", **given)
    assert (said.text, said.calls, said.finish) == (right.text, right.calls, right.finish)
    assert said.history == right.history
    assert len(sim.requests) > before + 2


@pytest.mark.behaviour("C7", "C8", "C9", "C17", "C19")
@MODES
def test_a_cut_answer_is_gone_on_with_by_a_hint(sim, wrapped, mode, way):
    asker = wrapped()
    before = [{"role": "USER", "message": "Hi"}, {"role": "CHATBOT", "message": "Hello."}]
    given = {"model": "sim/length_once", "max_tokens": 500, "preamble": "Be brief."}
    got = asker.ask([*before, *ASK], mode, way, **given)
    first, second = (request.json for request in sim.requests)
    assert (got.text, got.finish) == (sim.answer("Hi"), "COMPLETE")
    assert second["chat_history"][:3] == [*first["chat_history"], *ASK]
    (said,) = second["chat_history"][3:]
    assert (said["role"], got.text.startswith(said["message"])) == ("CHATBOT", True)
    assert second["message"] == hints.CONTINUE
    assert (first["max_tokens"], second["max_tokens"]) == (500, 1000)
    assert second["preamble"] == "Be brief."
    assert got.usage.tokens.output_tokens == sim.spent("Hi").output_tokens
    assert got.usage.tokens.input_tokens == sim.requests[0].input_tokens


@pytest.mark.behaviour("E3")
@MODES
def test_a_loop_of_steps_goes_on_from_the_rows_that_an_answer_says(sim, wrapped, mode, way):
    """The documentation's own: the rows of an answer and the results are the next request."""
    asker = wrapped()
    called = asker.ask(ASK, mode, way, model="sim/call_cut_length", tools=TOOLS)
    results = [{"call": call, "outputs": [{"text": "ok"}]} for call in called.calls]
    now = {"role": "TOOL", "tool_results": results}
    said = asker.ask([*called.history, now], mode, way, model="sim/length_once", tools=TOOLS)
    assert said.error is None
    assert said.text == sim.answer("Tell me.")
    assert said.history[:-1] == [*called.history, now]
    assert not any(hints.CONTINUE in json.dumps(row) for row in said.history)


@pytest.mark.behaviour("C28", "P8")
@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"search_queries_only": True}, "search_queries_only"),
        ({"raw_prompting": True}, "raw_prompting"),
    ],
)
@MODES
def test_what_cannot_be_gone_on_with_is_left_alone(sim, wrapped, mode, way, more, why):
    asker = wrapped()
    got = asker.ask(ASK, mode, way, model="sim/length_once", **more)
    assert got.finish == "MAX_TOKENS"
    assert len(sim.requests) == 1
    assert asker.of("left_alone")[0]["why"] == why


@pytest.mark.behaviour("C28", "P1a")
@MODES
def test_nothing_is_sent_into_a_conversation_that_the_provider_keeps(sim, wrapped, mode, way):
    asker = wrapped()
    given = {"model": "sim/length_once", "conversation_id": "c", "chat_history": None}
    got = asker.ask(ASK, mode, way, **given)
    assert got.finish == "MAX_TOKENS"
    assert len(sim.requests) == 1


@pytest.mark.behaviour("C18")
@MODES
def test_a_limit_above_the_model_s_is_asked_for_once_more_as_the_text_allows(
    sim, wrapped, mode, way
):
    model = "sim/http_400_max_tokens_too_large"
    got = wrapped().ask(ASK, mode, way, model=model, max_tokens=2000)
    assert got.error is None
    assert [request.json["max_tokens"] for request in sim.requests] == [2000, 1000]


@pytest.mark.behaviour("P1a", "P1b")
def test_an_error_of_ours_is_not_retried_by_the_sdk(sim, wrapped):
    asker = wrapped(on_incomplete="error", continuation_max_attempts=1)
    got = asker.ask(ASK, model="sim/length_always")
    assert isinstance(got.error, ApiError)
    assert got.error.body["code"] == "retry_limit"
    assert sim.answer("Tell me.").startswith(got.error.body["partial"]["text"])
    assert len(sim.requests) == 2


@pytest.mark.behaviour("C21", "P1a")
@MODES
def test_a_notice_stands_at_the_end_and_is_taken_out_of_a_history(sim, wrapped, mode, way):
    asker = wrapped(on_incomplete="notice", continuation_max_attempts=1)
    got = asker.ask(ASK, mode, way, model="sim/length_always")
    assert got.text.endswith(hints.NOTICE.format(reason="retry limit"))
    asker.ask([*got.history, {"role": "USER", "message": "On."}], mode, way)
    assert hints.NOTICE_START not in sim.requests[-1].body.decode()


@pytest.mark.behaviour("S8")
def test_events_are_written_where_events_are_asked_for():
    """Over HTTP alone: of such a stream the SDK reads nothing."""
    texts = (("Hello", "MAX_TOKENS"), (" world", "COMPLETE"))
    with FarSide(*(events_of(*one) for one in texts)) as far:
        with tenuto.http_client(policy=POLICY) as client:
            said = client.post(
                f"{far.base_url}/chat",
                json={"model": "m", "message": "Hi", "stream": True},
                headers={"accept": "text/event-stream"},
            )
        assert len(far.requests) == 2
    data = [line for line in said.text.splitlines() if line.startswith("data: ")]
    told = [json.loads(line.removeprefix("data: ")) for line in data]
    assert [event["event_type"] for event in told] == [
        "stream-start", "text-generation", "text-generation", "stream-end",
    ]  # fmt: skip
    assert told[-1]["response"]["text"] == "Hello world"


def whole_of(text: str, finish: str, **more: Any) -> dict[str, Any]:
    meta = {"tokens": {"input_tokens": 3, "output_tokens": 4}}
    said = {"text": text, "generation_id": "g", "finish_reason": finish, "meta": meta}
    return said | more


def told_of(text: str, finish: str, **more: Any) -> list[dict[str, Any]]:
    cited = more.get("citations")
    return [
        {"event_type": "stream-start", "generation_id": "g"},
        {"event_type": "text-generation", "text": text},
        *([{"event_type": "citation-generation", "citations": cited}] if cited else []),
        {
            "event_type": "stream-end",
            "response": whole_of(text, finish, **more),
            "finish_reason": finish,
        },
    ]


def events_of(text: str, finish: str) -> bytes:
    raw = "".join(
        f"event: {event['event_type']}\ndata: {json.dumps(event)}\n\n"
        for event in told_of(text, finish)
    )
    return answer(raw.encode(), "content-type: text/event-stream", length=False)


def answered(text: str, words: str, finish: str, mode: str) -> bytes:
    """An answer that cites a document for some of its words."""
    start = text.index(words)
    cited = {"start": start, "end": start + len(words), "text": words, "document_ids": [words]}
    if mode == "body":
        return json_answer(json.dumps(whole_of(text, finish, citations=[cited])).encode())
    lines = (json.dumps(event) + "\n" for event in told_of(text, finish, citations=[cited]))
    return answer("".join(lines).encode(), "content-type: application/stream+json", length=False)


@pytest.mark.behaviour("C14", "C22", "C28a")
@MODES
def test_citations_of_a_joined_answer_stand_at_their_words(mode: str) -> None:
    whole = "The tide comes twice a day."
    answers = (
        answered("The tide comes twi", "tide", "MAX_TOKENS", mode),
        answered("comes twice a day.", "day", "COMPLETE", mode),
    )
    with FarSide(*answers) as far, ExitStack() as stack:
        root = far.base_url.removesuffix("/v1")
        client = stack.enter_context(cohere.Client(api_key="key", base_url=root))
        wrapped = tenuto.wrap(client, policy=POLICY)
        if mode == "body":
            said = wrapped.chat(model="m", message="Hi")
            text, found = said.text, said.citations
        else:
            told: list[Any] = list(wrapped.chat_stream(model="m", message="Hi"))
            assert_one_message(told)
            text = told[-1].response.text
            found = [c for e in told if e.event_type == "citation-generation" for c in e.citations]
            assert [plain(c) for c in told[-1].response.citations] == [plain(c) for c in found]
    assert text == whole
    assert [(whole[c.start : c.end], c.text) for c in found] == [("tide", "tide"), ("day", "day")]


@pytest.mark.behaviour("H1", "H2", "H5a")
@MODES
def test_a_history_that_would_be_refused_is_put_in_order(sim, wrapped, mode, way):
    rows = [
        *ASK,
        {"role": "CHATBOT", "message": "I will.", "tool_calls": [CALL]},
        {"role": "CHATBOT", "message": " "},
        {"role": "USER", "message": "And?"},
    ]
    got = wrapped().ask(rows, mode, way, tools=TOOLS)
    assert got.error is None
    sent = sim.requests[-1].json
    assert [row["role"] for row in sent["chat_history"]] == ["USER", "CHATBOT", "TOOL", "CHATBOT"]
    assert sent["message"] == "And?"


@pytest.mark.behaviour("P8")
@MODES
def test_a_whole_answer_and_its_request_are_left_as_they_are(sim: Simulator, mode: str) -> None:
    given = {"model": "sim/tool_with_text", "message": "Tell me.", "tools": TOOLS}
    seen: list[bytes] = []
    for make in (httpx.Client, tenuto.http_client):
        sim.forget()
        with make() as client:
            body = json.dumps(given | {"stream": mode == "stream"}).encode()
            seen.append(client.post(f"{sim.root_url}/v1/chat", content=body).content)
        assert sim.requests[-1].body == body
    assert seen[0] == seen[1]


@pytest.mark.behaviour("C23")
def test_who_leaves_a_stream_ends_the_turn(sim, wrapped: Callable[..., Any]):
    asker = wrapped()
    stream = asker.client.chat_stream(model="sim/length_once", message="Tell me.")
    next(iter(stream))
    stream.close()
    assert asker.ending["reason"] == "cancelled"


@pytest.mark.behaviour("P8", "N3")
@pytest.mark.parametrize(
    "said",
    [{"message": "Hello!"}, {"reply": "Hello!"}, {"text": "Hello!"}, {"response": "Hello!"}],
)
def test_another_servers_answer_at_such_a_path_is_handed_on_as_it_came(said: Any) -> None:
    raw = json.dumps(said).encode()
    with FarSide(json_answer(raw)) as far, tenuto.http_client(policy=POLICY) as client:
        answered_with = client.post(f"{far.base_url}/chat", json={"message": "Hi", "user": 5})
    assert answered_with.content == raw
    assert len(far.requests) == 1
