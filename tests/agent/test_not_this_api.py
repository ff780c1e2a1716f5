"""A page with status 200, where base_url is wrong or a network wants a log-in: it is said what came,
and none of what it holds."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest
from agent_turns import POLICY

import tenuto
from tenuto.agent import Agent, Model
from tenuto.agent.events import AgentEvent, Recovered, Switched
from tenuto.cli import main
from tenuto.sim import Simulator, Step, saying
from tenuto.sim.case import Ending

PAGE = b"<!doctype html><html><body>Log in, dear guest.</body></html>"
WIRES = ("openai-chat", "openai-responses", "anthropic-messages", "gemini-generate")


class _Portal(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "Text/HTML; charset=utf-8")
        self.send_header("content-length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def portal() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Portal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


@pytest.mark.behaviour("P1", "N10")
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("wire", WIRES)
def test_a_page_is_told_from_an_answer_that_broke_off(portal: str, wire: str, stream: bool) -> None:
    events: list[AgentEvent] = []
    model = Model(f"{wire}:m", base_url=portal, api_key="k")
    with Agent(model, stream=stream, policy=POLICY, on_event=events.append) as agent:
        result = agent.run("Hello.")
    assert (result.status, result.reason, result.text) == ("failed", "provider_error", "")
    assert result.fault is not None
    assert (result.fault.kind, result.fault.status) == ("garbage", 200)
    assert "text/html" in result.fault.message
    assert "base URL" in result.advice
    assert any(isinstance(event, Recovered) for event in events)
    assert "guest" not in repr((result, events)), "what the page says is nobody's"


@pytest.mark.behaviour("P1")
def test_the_terminal_says_what_came(
    portal: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENUTO_BACKOFF_S", "0.001")
    code = main(["run", "Hello.", "--model", "openai-chat:m", "--base-url", portal])
    told = capsys.readouterr().err
    assert code == 1
    assert "What failed: garbage 200: the answer is text/html" in told
    assert "Check the base URL" in told
    assert "Try again later" not in told


@pytest.mark.behaviour("P1")
def test_an_error_for_a_caller_that_wants_one_says_what_came(portal: str) -> None:
    policy = tenuto.Policy(on_incomplete="error", backoff_s=0.001)
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello."}], "stream": True}
    with tenuto.http_client(policy=policy) as client:
        said = client.post(f"{portal}/chat/completions", json=body).text
    assert "The answer is text/html" in said
    assert "Check the base URL" in said
    assert "guest" not in said


@pytest.mark.behaviour("P4")
def test_another_model_is_asked_in_its_place(portal: str) -> None:
    events: list[AgentEvent] = []
    with Simulator() as sim:
        models = [Model("openai-chat:m", base_url=each) for each in (portal, sim.base_url)]
        with Agent(models, policy=POLICY, on_event=events.append) as agent:
            assert agent.run("Hello.").ok
    assert [event.why for event in events if isinstance(event, Switched)] == ["garbage"]


@pytest.mark.behaviour("P1")
def test_an_answer_that_breaks_off_is_none_of_these() -> None:
    with Simulator() as sim:
        sim.plan([saying("A word.")], lambda *_: Step(ending=Ending.EMPTY_BODY))
        model = Model("openai-chat:m", base_url=sim.base_url)
        with Agent(model, stream=False, policy=POLICY) as agent:
            result = agent.run("Hello.")
    assert not result.ok
    assert "base URL" not in result.advice
