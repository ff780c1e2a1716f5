"""How a turn ended, as values."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from agent.simulated import agent, model

from tenuto.core.deciding.actions import Status
from tenuto_agent import Agent, Model
from tenuto_sim import Simulator


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("normal", Status.COMPLETE),
        ("content_filter", Status.PARTIAL),
        ("empty_always", Status.FAILED),
    ],
)
def test_a_status_is_one_of_three_and_a_plain_word_in_plain_values(
    case: str, status: Status
) -> None:
    with Simulator() as sim, agent(model(sim, "openai-chat", case)) as asked:
        result = asked.run("How are tides made?")
    assert type(result.status) is Status
    assert result.status == status.value
    plain = result.as_dict()["status"]
    assert (type(plain), plain) == (str, status.value)


@pytest.mark.behaviour("P1")
def test_a_conversation_tells_the_stops_of_its_turns_and_a_result_those_of_its_steps() -> None:
    with Simulator() as sim, agent(model(sim, "openai-chat", "content_filter")) as asked:
        chat = asked.conversation()
        assert not chat.stops
        first = chat.run("How are tides made?")
        second = chat.run("And the moon?")
    assert chat.stops == (first.stop, second.stop)
    assert [stop.reason.value for stop in chat.stops if stop] == ["safety_blocked"] * 2
    assert first.stops == (first.stop,)


QUOTA = {"x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-tokens": "6m0s"}


class Limiting(BaseHTTPRequestHandler):
    """Answers with the headers of a quota."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "By the moon."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps({"id": "c", "object": "chat.completion", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in QUOTA.items():
            self.send_header(name.title(), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def limiting() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Limiting) as server:
        serving = Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        serving.join()


@pytest.mark.behaviour("P1")
def test_a_result_has_what_the_last_answer_told_of_the_quota(limiting: str) -> None:
    with Agent(Model("openai-chat:m", base_url=limiting), stream=False) as asked:
        result = asked.run("How are tides made?")
    assert (result.text, result.quota) == ("By the moon.", QUOTA)
    assert result.as_dict()["quota"] == QUOTA


def test_where_a_provider_tells_no_quota_there_is_none() -> None:
    with Simulator() as sim, agent(model(sim, "openai-chat", "normal")) as asked:
        assert asked.run("How are tides made?").quota == {}
