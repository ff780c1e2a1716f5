"""The wire of docs/guide/write-a-wire.md, run as the page has it, against a server that speaks it."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import tenuto
from tenuto.wire_kit import CHAT, enveloped
from tenuto.wires.registry import WIRES

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "write-a-wire.md"
HALVES = ("The tide comes twice a day, about twelve hours ", "apart, because of the moon.")


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Run the page's code; what it registers is gone after the test."""
    before = WIRES.all()
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (block,) = [block for block in blocks if "kit.enveloped(" in block]
    exec(compile(block, str(PAGE), "exec"), {})
    yield
    WIRES._all = before
    WIRES.changes += 1


def in_envelope(choice: dict[str, Any], **more: Any) -> bytes:
    inner = {"id": "c", "model": "m", "choices": [{"index": 0, **choice}], **more}
    return json.dumps({"trace": "t-1", "answer": inner}).encode()


def body(text: str, finish: str) -> bytes:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    return in_envelope({"message": message, "finish_reason": finish}, usage=usage)


def stream(text: str, finish: str) -> bytes:
    chunks = [
        in_envelope({"delta": {"content": word}, "finish_reason": None})
        for word in re.findall(r"\S+\s*", text)
    ]
    chunks.append(in_envelope({"delta": {}, "finish_reason": finish}))
    return b"".join(b"data: %s\n\n" % chunk for chunk in chunks) + b"data: [DONE]\n\n"


@contextlib.contextmanager
def served(*answers: bytes) -> Iterator[tuple[str, list[Any]]]:
    """Serve these answers, one for each request. Yields the URL and the requests."""
    left, asked = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            asked.append(json.loads(self.rfile.read(length)))
            answer = left.pop(0) if left else b'{"answer": {"error": {"message": "no more"}}}'
            kind = "text/event-stream" if answer.startswith(b"data:") else "application/json"
            self.send_response(200 if answer != REFUSED else 400)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/enveloped", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


REFUSED = b'{"answer": {"error": {"message": "bad", "code": "invalid_request_error"}}}'
ASK = {"model": "m", "messages": [{"role": "user", "content": "What are tides?"}]}


def post(url: str, policy: tenuto.Policy | None = None, **more: Any) -> Any:
    with tenuto.http_client(policy=policy or tenuto.Policy()) as client:
        return client.post(url, json=ASK | more)


@pytest.mark.behaviour("N8")
def test_a_cut_body_comes_back_whole_in_its_envelope() -> None:
    with served(body(HALVES[0], "length"), body(HALVES[1], "stop")) as (url, asked):
        told = post(url).json()
    (choice,) = told["answer"]["choices"]
    assert len(asked) == 2
    assert (choice["message"]["content"], choice["finish_reason"]) == ("".join(HALVES), "stop")
    assert told.keys() == {"trace", "answer"}
    assert told["answer"]["usage"]["completion_tokens"] == 10


@pytest.mark.behaviour("N8")
def test_a_cut_stream_comes_back_whole_in_its_envelope() -> None:
    with served(stream(HALVES[0], "length"), stream(HALVES[1], "stop")) as (url, asked):
        lines = post(url, stream=True).text.splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    choices = [event["answer"]["choices"][0] for event in events]
    assert len(asked) == 2
    assert "".join(choice["delta"].get("content") or "" for choice in choices) == "".join(HALVES)
    assert [c["finish_reason"] for c in choices if c["finish_reason"]] == ["stop"]
    assert {tuple(event) for event in events} == {("trace", "answer")}
    assert lines.count("data: [DONE]") == 1


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize("make", [body, stream], ids=["body", "stream"])
def test_a_wire_at_a_path_of_a_built_in_one_needs_no_provider(make: Any) -> None:
    theirs = "/acme/v1/chat/completions"
    acme = enveloped(CHAT, "acme", member="answer", is_request=theirs.__eq__)
    tenuto.register_wire(acme, version="2")
    with served(make(HALVES[0], "length"), make(HALVES[1], "stop")) as (base, asked):
        url = base.replace("/enveloped", theirs)
        said = post(url, stream=make is stream).text
        assert tenuto.capabilities(url).wire == "acme"
    assert len(asked) == 2
    assert HALVES[1].split()[-1] in said
    assert tenuto.detect(said, wire="acme").reason is tenuto.StopReason.END_TURN


@pytest.mark.behaviour("N8")
def test_errors_stand_in_the_envelope_too() -> None:
    policy = tenuto.Policy(on_incomplete="error", continuation_max_attempts=0)
    with served(body(HALVES[0], "length")) as (url, _):
        told = post(url, policy)
    assert told.status_code == 424
    assert told.json()["answer"]["error"]["partial"]["text"] == HALVES[0]
    with served(stream(HALVES[0], "length")) as (url, _):
        lines = post(url, policy, stream=True).text.splitlines()
    last = json.loads([line for line in lines if line.startswith("data: {")][-1][6:])
    assert last["answer"]["error"]["message"].startswith("Tenuto could not finish this turn")
    with served(REFUSED) as (url, _):
        told = post(url)
    assert (told.status_code, told.content) == (400, REFUSED)
