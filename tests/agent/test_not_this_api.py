"""What is no answer: a page with status 200, where base_url is wrong or a network wants a log-in, a
redirect to one. It is said what came, and none of what it holds."""

from __future__ import annotations

import asyncio
import dataclasses
import http.server
import threading
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from support.agent_turns import POLICY
from support.far_sides import STREAM, FarSide, answer

import tenuto
from tenuto.cli import main
from tenuto_agent import Agent, Model, RunResult
from tenuto_agent.events import AgentEvent, Recovered, Switched
from tenuto_sim import Simulator, Step, saying
from tenuto_sim.case import Ending

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
    assert (result.fault.kind, result.fault.status) == ("not_this_api", 200)
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
    assert "What failed: not_this_api 200: the answer is text/html" in told
    assert "Check the base URL" in told
    assert "Try again later" not in told


@pytest.mark.behaviour("P1")
def test_an_error_for_a_caller_that_wants_one_says_what_came(portal: str) -> None:
    policy = tenuto.Policy(on_incomplete="error", backoff_s=0.001)
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello."}], "stream": True}
    with tenuto.http_client(policy=policy) as client:
        said = client.post(f"{portal}/chat/completions", json=body).text
    assert "What came: the answer is text/html" in said
    assert "Check the base URL" in said
    assert "guest" not in said


@pytest.mark.behaviour("P4")
def test_another_model_is_asked_in_its_place(portal: str) -> None:
    events: list[AgentEvent] = []
    with Simulator() as sim:
        models = [Model("openai-chat:m", base_url=each) for each in (portal, sim.base_url)]
        with Agent(models, policy=POLICY, on_event=events.append) as agent:
            assert agent.run("Hello.").ok
    assert [event.why for event in events if isinstance(event, Switched)] == ["not_this_api"]


@pytest.mark.behaviour("P1")
def test_an_answer_that_breaks_off_is_none_of_these() -> None:
    with Simulator() as sim:
        sim.plan([saying("A word.")], lambda *_: Step(ending=Ending.EMPTY_BODY))
        model = Model("openai-chat:m", base_url=sim.base_url)
        with Agent(model, stream=False, policy=POLICY) as agent:
            result = agent.run("Hello.")
    assert not result.ok
    assert "base URL" not in result.advice


def asked(far: FarSide, wire: str, way: str, **known: Any) -> RunResult:
    """How a turn ends whose model is this far side."""
    model = Model(f"{wire}:m", base_url=far.base_url, api_key="k")
    if way == "sync":
        with Agent(model, **{"policy": POLICY, **known}) as agent:
            return agent.run("Hello.")

    async def run() -> RunResult:
        async with Agent(model, **{"policy": POLICY, **known}) as agent:
            return await agent.arun("Hello.")

    return asyncio.run(run())


EITHER = pytest.mark.parametrize("stream", [True, False], ids=["stream", "body"])
LED = {
    "302 Found": ("https://me:pass@login.example/in?token=t0ps3cret#x", "login.example"),
    "301 Moved Permanently": ("//login.example:8443/", "login.example"),
    "307 Temporary Redirect": ("/v2/chat", "another path"),
    "308 Permanent Redirect": ("http://[half", "another path"),
    "300 Multiple Choices": ("", "not in this API's format"),
    "304 Not Modified": ("", "not in this API's format"),
    "600 Odd": ("", "not in this API's format"),
}
"""By the status, where it leads, and what is said of that."""


@pytest.mark.behaviour("P1", "N10")
@EITHER
@pytest.mark.parametrize("status", LED)
def test_a_redirect_is_a_fault_that_says_where_it_leads(
    status: str, stream: bool, way: str
) -> None:
    location, said = LED[status]
    headers = [f"location: {location}"] if location else []
    with FarSide(answer(b"", *headers, status=status)) as far:
        result = asked(far, "openai-chat", way, stream=stream)
        tries = 1 if location else 1 + POLICY.fault_retries
        assert len(far.requests) == tries
    assert (result.status, result.reason) == ("failed", "provider_error")
    assert result.report is not None
    assert result.report.attempts == tries
    assert result.fault is not None
    kind = "redirected" if location else "not_this_api"
    assert (result.fault.kind, result.fault.status) == (kind, int(status[:3]))
    assert said in result.fault.message
    assert status[:3] in result.fault.message
    assert "base URL" in result.advice
    assert not any(word in repr(result) for word in ("t0ps3cret", "pass@", "half"))


@pytest.mark.behaviour("P1")
@EITHER
@pytest.mark.parametrize("wire", WIRES)
def test_a_redirect_to_a_page_is_told_of_on_every_wire(wire: str, stream: bool) -> None:
    found = answer(PAGE, "location: https://login.example/", status="302 Found")
    with FarSide(found) as far:
        result = asked(far, wire, "sync", stream=stream)
    assert result.fault is not None
    assert (result.fault.kind, result.fault.status) == ("redirected", 302)


@pytest.mark.behaviour("P8", "C25")
@EITHER
def test_to_other_callers_a_redirect_passes_as_it_came(stream: bool) -> None:
    found = answer(b"There.", "location: https://login.example/?a=b", status="302 Found")
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello."}], "stream": stream}
    with FarSide(found) as far, tenuto.http_client(follow_redirects=False) as client:
        got = client.post(f"{far.base_url}/chat/completions", json=body)
    assert (got.status_code, got.content) == (302, b"There.")
    assert got.headers["location"] == "https://login.example/?a=b"


@pytest.mark.behaviour("P1", "P5")
@EITHER
@pytest.mark.parametrize("kind", ["", "application/json", "text/event-stream", "text/html"])
def test_a_page_is_one_under_any_name(kind: str, stream: bool, way: str) -> None:
    headers = [f"content-type: {kind}"] if kind else []
    with FarSide(answer(b"\r\n " + PAGE, *headers)) as far:
        result = asked(far, "openai-chat", way, stream=stream)
        assert len(far.requests) == 1 + POLICY.fault_retries
    assert result.report is not None
    assert result.fault is not None
    assert result.fault.kind == "not_this_api"
    assert ("text/html" if "html" in kind else "a page of HTML") in result.fault.message
    assert "base URL" in result.advice


@pytest.mark.behaviour("P1")
def test_nothing_suggests_another_try_where_a_page_answers(portal: str) -> None:
    ends: list[Any] = []
    model = openai.OpenAI(base_url=portal, api_key="k", max_retries=0)
    client = tenuto.wrap(model, policy=POLICY, on_event=ends.append)
    with client, pytest.raises(openai.APIError):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
    end = next(event for event in ends if event.name == "turn_ended")
    assert (end.suggestion, "base URL" in end.advice) == ("stop", True)


@pytest.mark.behaviour("P5", "S3")
@EITHER
@pytest.mark.parametrize("status", ["502 Bad Gateway", "503 Service Unavailable"])
def test_a_page_that_tells_of_an_error_is_worth_another_try(status: str, stream: bool) -> None:
    events: list[AgentEvent] = []
    with FarSide(answer(PAGE, "content-type: text/html", status=status)) as far:
        result = asked(far, "openai-chat", "sync", stream=stream, on_event=events.append)
        assert len(far.requests) == 1 + POLICY.fault_retries
    assert result.fault is not None
    assert result.fault.kind in ("server", "overloaded")
    assert result.advice == "Try again later."


@pytest.mark.behaviour("P5")
@EITHER
@pytest.mark.parametrize("status", ["400 Bad Request", "500 Internal Server Error"])
@pytest.mark.parametrize(
    ("body", "came"),
    [
        (b"", "an empty body"),
        (b" \n", "an empty body"),
        (b"[]", "the body []"),
        (b"null\n", "the body null"),
        (b"{}", "the body {}"),
        (b'{"guest": 1}', "a body in which no error message was found"),
        (PAGE, "a body in which no error message was found"),
    ],
)
def test_an_error_without_words_says_its_status_and_what_came(
    body: bytes, came: str, status: str, stream: bool
) -> None:
    with FarSide(answer(body, "content-type: application/json", status=status)) as far:
        result = asked(far, "openai-chat", "sync", stream=stream)
    assert result.fault is not None
    assert result.fault.message == f"HTTP {status[:3]} with {came}"
    assert "guest" not in repr(result)


@pytest.mark.behaviour("S3", "P5")
@pytest.mark.parametrize("kind", ["text/html", "text/plain", "application/octet-stream"])
@pytest.mark.parametrize("begun", [b"", b": ping\n\n", b"\n\n", b"da"])
def test_a_misnamed_stream_that_drops_before_its_text_is_asked_for_again(
    begun: bytes, kind: str
) -> None:
    dropped = answer(begun, f"content-type: {kind}", length=False)
    with FarSide(dropped, answer(STREAM, f"content-type: {kind}", length=False)) as far:
        result = asked(far, "openai-chat", "sync", stream=True)
        assert len(far.requests) == 2
    assert (result.ok, result.text) == (True, "All said.")


@pytest.mark.behaviour("P1")
def test_an_answer_that_is_too_large_names_the_limit() -> None:
    policy = dataclasses.replace(POLICY, body_max_bytes=10)
    with FarSide(answer(b'{"choices": []}')) as far:
        result = asked(far, "openai-chat", "sync", stream=False, policy=policy)
    assert (result.status, result.reason) == ("failed", "limit_passed")
    assert result.fault is not None
    assert "body_max_bytes (10)" in result.fault.message


@pytest.mark.behaviour("P1", "S8a")
@EITHER
@pytest.mark.parametrize(
    ("status", "kind"), [("200 OK", "garbage"), ("401 Unauthorized", "authentication")]
)
def test_an_answer_in_a_coding_that_nobody_reads_is_a_fault(
    status: str, kind: str, stream: bool
) -> None:
    with FarSide(answer(b"\x1f\x9d", "content-encoding: compress", status=status)) as far:
        result = asked(far, "openai-chat", "sync", stream=stream)
    assert result.report is not None
    assert result.fault is not None
    assert result.fault.kind == kind
