"""The words by which a model declines are in the result and are told, where they are no answer."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from agent.simulated import agent, model
from support.replay.gemini_generate import Blocked, R
from support.replay.openai_chat import Replay

from tenuto_agent import Model
from tenuto_agent.events import Declined, as_dict
from tenuto_sim import Simulator

WORDS = "It asks for what this model does not help with."
DETAILS = {"type": "refusal", "category": "cyber", "explanation": WORDS}
START = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
USAGE = {"input_tokens": 5, "output_tokens": 1}
STREAM = (
    {"type": "message_start", "message": {**START, "stop_reason": None, "usage": USAGE}},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "refusal", "stop_details": DETAILS},
        "usage": USAGE,
    },
    {"type": "message_stop"},
)


class Declining(BaseHTTPRequestHandler):
    """Anthropic's answer where a classifier stepped in, as a body or as a stream."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if asked.get("stream"):
            kind = "text/event-stream"
            pieces = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in STREAM]
            body = "".join(pieces).encode()
        else:
            kind = "application/json"
            end: dict[str, Any] = {"stop_reason": "refusal", "stop_details": DETAILS}
            body = json.dumps({**START, **end, "usage": USAGE}).encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Declining) as server:
        serving = Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        serving.join()


def told_of(asked: Any) -> tuple[Any, list[Declined]]:
    with asked:
        chat = asked.conversation()
        told = [each for each in chat.stream("Why?") if isinstance(each, Declined)]
    return chat.result, told


@pytest.mark.behaviour("E12")
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses"])
def test_the_words_of_a_refusal_are_in_the_result_and_told(wire: str, stream: bool) -> None:
    with Simulator() as sim:
        result, told = told_of(agent(model(sim, wire, "refusal"), stream=stream))
    assert (result.status, result.reason, result.text) == ("failed", "refused", "")
    assert result.refusal
    assert told == [Declined(result.refusal, 1)]
    assert as_dict(told[0]) == {"event": "declined", "text": result.refusal, "step": 1}
    assert result.as_dict()["refusal"] == result.refusal


@pytest.mark.behaviour("E12")
@pytest.mark.parametrize("stream", [True, False])
def test_anthropics_explanation_of_a_refusal_is_in_the_result_and_told(
    url: str, stream: bool
) -> None:
    asked = Model("anthropic-messages:m", base_url=url, api_key="k")
    result, told = told_of(agent(asked, stream=stream))
    assert (result.status, result.reason) == ("failed", "refused")
    assert (result.refusal, told) == (WORDS, [Declined(WORDS, 1)])
    assert result.stop.detail == "cyber"
    assert WORDS not in repr(result.reports)  # events and reports hold no content


@pytest.mark.behaviour("E12", "P4")
def test_where_another_model_answers_there_is_no_refusal_in_the_result(url: str) -> None:
    declines = Model("anthropic-messages:m", base_url=url, api_key="k")
    with Simulator() as sim:
        result, told = told_of(agent(declines, model(sim, "openai-chat", "normal")))
    assert (result.status, result.refusal) == ("complete", "")
    assert told == [Declined(WORDS, 1)]


@pytest.mark.behaviour("E12")
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "blocked",
    [
        R([], "PROHIBITED_CONTENT", beside={"finishMessage": WORDS}),
        Blocked("MODEL_ARMOR", message=WORDS),
    ],
    ids=["answer", "prompt"],
)
def test_what_a_filter_of_gemini_says_is_in_the_result_and_told(blocked: Any, stream: bool) -> None:
    with Replay() as replay:
        replay.say(blocked)
        asked = Model("gemini-generate:m", base_url=replay.root_url, api_key="k")
        result, told = told_of(agent(asked, stream=stream))
    assert (result.status, result.refusal) == ("failed", WORDS)
    assert told == [Declined(WORDS, 1)]
    assert WORDS not in repr(result.reports)


@pytest.mark.behaviour("E12")
@pytest.mark.parametrize("stream", [True, False])
def test_what_stands_beside_a_clean_stop_of_gemini_is_no_refusal(stream: bool) -> None:
    with Replay() as replay:
        replay.say(R("Twice a day.", beside={"finishMessage": "Model is done."}))
        asked = Model("gemini-generate:m", base_url=replay.root_url, api_key="k")
        result, told = told_of(agent(asked, stream=stream))
    assert (result.status, result.text, result.refusal, told) == (
        "complete",
        "Twice a day.",
        "",
        [],
    )
