"""What is wrong is said in the caller's terms before anything is asked; and where a key goes."""

from __future__ import annotations

import asyncio
import copy
import http.server
import json
import pickle
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import pytest
from agent.simulated import WIRES

import tenuto
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto_agent import Agent, Model, Tool
from tenuto_agent.files import file_tools
from tenuto_agent.running import CallRunner
from tenuto_agent.toolbox import Toolbox
from tenuto_sim import Simulator

BASE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "http://127.0.0.1:abc"},
        {"base_url": "http://[::1"},
        {"base_url": 5},
        {"base_url": "x"},
        {"base_url": "file:///x"},
        {"base_url": f"{BASE}?x=1"},
        {"base_url": BASE, "api_key": "sk-1\n"},
        {"base_url": BASE, "api_key": "sk-\u00e9"},
        {"base_url": BASE, "headers": {"a b": "c"}},
        {"base_url": BASE, "headers": {"a": 5}},
        {"base_url": BASE, "headers": {"content-length": "3"}},
        {"base_url": BASE, "options": {"a": 1j}},
        {"base_url": BASE, "options": {"messages": []}},
    ],
    ids=repr,
)
def test_a_model_that_cannot_be_asked_is_refused_when_it_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(tenuto.agent.AgentError) as raised:
        Model("openai-chat:m", **wrong)
    assert "sk-" not in str(raised.value)


@pytest.mark.parametrize(
    "name",
    [
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0",
        "openai.gpt-oss-120b-1:0",
        "mistral.mistral-large-2402-v1:0",
        "amazon.titan-text-express-v1",
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3",
    ],
)
def test_a_model_that_invoke_model_takes_in_a_form_of_its_own_is_sent_to_converse(
    name: str,
) -> None:
    for provider, other in (("bedrock-invoke", "bedrock-converse"), ("aws-invoke", "aws-converse")):
        with pytest.raises(tenuto.agent.AgentError) as raised:
            Model(f"{provider}:{name}", base_url=BASE)
        said = f"the agent cannot call {name} on bedrock-invoke; call it as {other}:{name}"
        assert str(raised.value) == said
        assert Model(f"{other}:{name}", base_url=BASE).wire.name == "bedrock-converse"


@pytest.mark.parametrize(
    "name",
    [
        "amazon.nova-lite-v1:0",
        "eu.amazon.nova-pro-v1:0",
        "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0",
    ],
)
def test_nova_is_asked_by_invoke_model(name: str) -> None:
    assert Model(f"aws-invoke:{name}", base_url=BASE).wire.name == "bedrock-invoke"


def test_models_are_equal_and_hashed_by_what_was_given() -> None:
    made = [Model("openai-chat:m", BASE, "sk-1", options={"stop": ["x"]}) for _ in range(2)]
    assert made[0].wire.name == "openai-chat"  # what is looked up once tells nobody apart
    assert made[0] == made[1]
    assert len(set(made)) == 1
    given: dict[str, Any] = {"name": "openai-chat:n", "base_url": f"{BASE}/v1", "api_key": "sk-2"}
    given |= {"options": {}, "headers": {"a": "b"}, "text_calls": True, "max_output_tokens": 5}
    others = [replace(made[0], **{key: value}) for key, value in given.items()]
    assert len({made[0], *others}) == 1 + len(given)
    assert made[0] != "openai-chat:m"


def test_a_key_is_in_no_dump_of_a_model_and_every_copy_of_it_has_it() -> None:
    model = Model("openai-chat:m", base_url=BASE, api_key="sk-secret-key")
    sent = model.request_headers()
    assert sent["authorization"] == "Bearer sk-secret-key"
    assert "sk-" not in f"{model}{model!r}{asdict(model)}"
    copies = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    copies.append(replace(model, name="openai-chat:m"))
    assert all(each == model and each.request_headers() == sent for each in copies)


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": None},
        {"model": 5},
        {"tools": 5},
        {"tools": test_a_model_that_cannot_be_asked_is_refused_when_it_is_made},
        {"tools": [None]},
        {"limits": {"max_steps": 1}},
        {"on_event": 5},
        {"policy": 5},
        {"system": 5},
        {"stream": "no"},
        {"library": "requests"},
    ],
    ids=lambda wrong: "-".join(f"{k}={type(v).__name__}" for k, v in wrong.items()),
)
def test_an_agent_of_wrong_parts_is_refused_when_it_is_made(wrong: dict[str, Any]) -> None:
    parts = {"model": Model("openai-chat:m", base_url=BASE)} | wrong
    with pytest.raises(tenuto.TenutoError):
        Agent(**parts)


@pytest.mark.parametrize("rows", [None, 5, [{"role": "user", "content": "Why?"}], [None]], ids=repr)
def test_rows_of_another_kind_are_refused_in_the_terms_of_the_caller(rows: Any) -> None:
    agent = Agent(Model("openai-chat:m", base_url=BASE))
    with pytest.raises(tenuto.agent.AgentError, match="rows of a conversation"):
        agent.conversation(rows)


@pytest.mark.parametrize(
    ("root", "limits", "allowed"),
    [
        (3, {}, "root is 3, but it must be a path"),
        (".", {"output_limit_tokens": "x"}, "output_limit_tokens is 'x', but it must be a whole"),
        (".", {"max_file_bytes": None}, "max_file_bytes is None, but it must be a whole number"),
        (".", {"max_result_chars": 0}, "max_result_chars is 0, but it must be a whole number"),
    ],
)
def test_file_tools_of_wrong_arguments_are_refused(root: Any, limits: Any, allowed: str) -> None:
    with pytest.raises(tenuto.agent.ToolError, match=allowed):
        file_tools(root, **limits)


@pytest.mark.parametrize("wire", sorted(WIRES))
def test_the_member_of_the_conversation_is_no_option(wire: str) -> None:
    rows = Model(f"{wire}:m", base_url=BASE).form.rows
    with pytest.raises(tenuto.agent.AgentError, match=f"options has '{rows}'.*writes itself"):
        Model(f"{wire}:m", base_url=BASE, options={rows: []})


def test_a_listener_that_raises_costs_no_turn(caplog: pytest.LogCaptureFixture) -> None:
    """It is treated as a client's listener is: logged, and the turn goes on."""

    def listen(event: object) -> None:
        raise ConnectionError("my log server is down")

    with Simulator() as sim:
        model = Model("openai-chat:m", base_url=sim.base_url)
        with Agent(model, on_event=listen) as agent:
            assert agent.run("One, please.").ok
            assert asyncio.run(agent.arun("Two, please.")).ok
            chat = agent.conversation()
            assert list(chat.stream("Three, please."))
    assert "a listener raised for StepEnded" in caplog.text
    assert "my log server is down" in caplog.text


def test_a_second_turn_waits_for_the_end_of_the_first() -> None:
    with Simulator() as sim, Agent(Model("openai-chat:m", base_url=sim.base_url)) as agent:
        chat = agent.conversation()
        first = chat.stream("One, please.")
        next(first)
        with pytest.raises(tenuto.agent.AgentError, match="is still running"):
            chat.run("Two, please.")
        list(first)
        assert chat.result is not None
        assert chat.result.ok
        assert chat.run("Two, please.").ok


@contextmanager
def answering(status: int, headers: dict[str, str], body: Any) -> Iterator[tuple[str, list[Any]]]:
    """A server that answers every request so; its base URL, and the headers that it was sent."""
    asked: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(dict(self.headers))
            self.rfile.read(int(self.headers["content-length"]))
            raw = json.dumps(body).encode()
            self.send_response(status)
            sent = {"content-type": "application/json", "content-length": str(len(raw))}
            for name, value in {**sent, **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()


def test_no_key_follows_a_redirect() -> None:
    with answering(200, {}, {}) as (elsewhere, asked_there):
        there = {"location": f"{elsewhere.replace('127.0.0.1', 'localhost')}/v1/messages"}
        with answering(307, there, {}) as (base, asked):
            model = Model("anthropic:claude-x", base_url=base, api_key="sk-secret-key")
            with Agent(model) as agent:
                result = agent.run("Hello.")
    assert (result.status, len(asked), asked_there) == ("failed", 1, [])


def test_a_key_that_a_refusal_repeats_is_taken_out() -> None:
    refusal = {"error": {"message": "No such key: sk-secret-key-123456", "type": "x", "code": "y"}}
    with answering(401, {}, refusal) as (base, _):
        model = Model("openai-chat:m", base_url=base, api_key="sk-secret-key-123456")
        with Agent(model) as agent:
            result = agent.run("Hello.")
    assert result.status == "failed"
    assert result.fault is not None
    assert "No such key" in result.fault.message
    assert "sk-secret" not in repr(result)


@pytest.mark.behaviour("C29")
def test_a_wait_that_the_provider_asks_for_is_no_longer_than_the_turn() -> None:
    refusal = {"error": {"message": "Slow down.", "type": "x", "code": "rate_limit_exceeded"}}
    with answering(429, {"retry-after": "100"}, refusal) as (base, asked):
        limits = tenuto.agent.Limits(timeout_s=2)
        with Agent(Model("openai-chat:m", base_url=base), limits=limits) as agent:
            result = agent.run("Hello.")
    assert (result.status, len(asked)) == ("failed", 1)


class Unsayable(ValueError):
    """An exception that cannot be said."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


@pytest.mark.behaviour("T15")
def test_an_exception_that_cannot_be_said_is_a_failed_result_wherever_it_is_raised() -> None:
    def refuse(arguments: object) -> dict[str, object]:
        raise Unsayable

    def fail() -> str:
        raise Unsayable

    fields: dict[str, Any] = {"name": "t", "description": "", "parameters": {"type": "object"}}
    call = ToolCall("call_1", "t", "{}", Finding.WHOLE)
    for tool in (Tool(function=fail, **fields), Tool(function=dict, convert=refuse, **fields)):
        (result,) = CallRunner(Toolbox([tool])).run([call])
        assert result.failed
        assert "whose text cannot be had: RuntimeError" in result.text


def test_the_repr_of_a_model_holds_nothing_that_may_be_secret() -> None:
    model = Model(
        "openai-chat:m",
        base_url="https://ada:s3cret@host.example/v1",
        api_key="s3cret",
        options={"metadata": {"key": "s3cret"}},
        headers={"x-key": "s3cret"},
        max_output_tokens=7,
    )
    assert "s3cret" not in repr(model)
    assert repr(model) == (
        "Model('openai-chat:m', base_url='https://host.example/v1', max_output_tokens=7, "
        "options=['metadata'])"
    )
    assert repr(Model("openai-chat:m", base_url="http://h")) == (
        "Model('openai-chat:m', base_url='http://h')"
    )
