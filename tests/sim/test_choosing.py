"""A model name, a header and a script choose the same fault; a conversation keeps its place."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any, get_args
from urllib.parse import quote

import openai
import pytest

from tenuto.cli.app import main
from tenuto_sim import CASES, CASES_ON, STEPS, Simulator, Step
from tenuto_sim.commands.faults import WireName
from tenuto_sim.exchange import Answer, Exchange

HEADERS = {
    "authorization": "Bearer key",
    "x-api-key": "key",
    "x-goog-api-key": "key",
    "anthropic-version": "2023-06-01",
}
CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "x"}]}
PROMPT = {"prompt": "x"}
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "openai-chat": ("/v1/chat/completions", CHAT),
    "anthropic-messages": ("/v1/messages", CHAT | {"max_tokens": 4096}),
    "openai-completions": ("/v1/completions", PROMPT),
    "openai-responses": ("/v1/responses", {"input": "x"}),
    "gemini-generate": (
        "/v1beta/models/{}:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "x"}]}]},
    ),
    "gemini-interactions": ("/v1beta/interactions", {"input": "x"}),
    "bedrock-converse": (
        "/model/{}/converse",
        {"messages": [{"role": "user", "content": [{"text": "x"}]}]},
    ),
    "bedrock-invoke": ("/model/{}/invoke", CHAT),
    "cohere": ("/v2/chat", CHAT),
    "cohere-v1": ("/v1/chat", {"message": "x"}),
    "mistral": ("/mistral/v1/chat/completions", CHAT),
    "ollama": ("/api/chat", CHAT | {"stream": False}),
    "dashscope": ("/api/v1/services/aigc/text-generation/generation", {"input": CHAT}),
}
"""By wire: a path, in which {} is the model where the body does not say it, and a body."""
wires = pytest.mark.parametrize("wire", CASES_ON)


def asked(wire: str, model: str, **headers: str) -> Answer:
    path, body = REQUESTS[wire]
    if "{}" not in path:
        body = body | {"model": model}
    raw = json.dumps(body).encode()
    return Exchange().answer("POST", path.format(quote(model, safe=":")), HEADERS | headers, raw)


def user(text):
    return [{"role": "user", "content": text}]


def stops(bare, prompt, count=3, **more):
    return [bare.ask(user(prompt), **more).finish for _ in range(count)]


def test_model_header_and_script_choose_the_same_case(bare):
    expected = ["length", "stop", "stop"]
    assert stops(bare, "by model", model="sim/length_once") == expected
    assert stops(bare, "by header", extra_headers={"x-sim-fault": "length_once"}) == expected
    assert stops(bare, "by steps", extra_headers={"x-sim-script": "length,normal"}) == expected
    bare.sim.script([Step(keep=0.45, finish="length"), Step()])
    assert stops(bare, "by script") == expected
    texts = {
        bare.ask(user("the same"), model="sim/length_once").text,
        bare.ask(user("the same"), extra_headers={"x-sim-fault": "length_once"}).text,
        bare.ask(user("the same"), extra_headers={"x-sim-script": "length"}).text,
    }
    assert len(texts) == 1


def test_a_header_is_stronger_than_the_model_name(bare):
    more = {"model": "sim/empty_always", "extra_headers": {"x-sim-fault": "length_once"}}
    assert stops(bare, "both", **more) == ["length", "stop", "stop"]


def test_any_other_model_name_has_no_fault(bare):
    assert bare.ask(user("x"), model="gpt-5").text == bare.sim.answer("x")


def test_a_script_is_stronger_than_everything_and_counts_for_all_conversations(bare):
    bare.sim.script([STEPS["length"], STEPS["filter"]])
    assert bare.ask(user("first"), model="sim/empty_always").finish == "length"
    assert bare.ask(user("second")).finish == "content_filter"
    assert bare.ask(user("third")).finish == "stop"


def test_conversations_are_told_apart_by_prompt_or_by_header(bare):
    ask = {"model": "sim/length_twice"}
    assert stops(bare, "one", 2, **ask) == ["length", "length"]
    assert stops(bare, "two", 1, **ask) == ["length"]
    mine = ask | {"extra_headers": {"x-sim-conversation": "c1"}}
    assert stops(bare, "three", 1, **mine) + stops(bare, "four", 2, **mine) == [
        "length", "length", "stop",
    ]  # fmt: skip


def test_the_later_messages_of_a_conversation_do_not_begin_a_new_one(bare):
    ask = {"model": "sim/length_once"}
    said = bare.ask(user("long talk"), **ask).text
    more = [{"role": "assistant", "content": said}, {"role": "user", "content": "Go on."}]
    assert bare.ask([*user("long talk"), *more], **ask).finish == "stop"


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"model": "sim/no_such_case"}, 404, "model_not_found"),
        ({"extra_headers": {"x-sim-fault": "no_such_case"}}, 400, "sim_unknown_fault"),
        ({"extra_headers": {"x-sim-script": "length,no_such"}}, 400, "sim_unknown_step"),
        ({"model": "sim/call_cut_length"}, 400, "sim_needs_tools"),
    ],
)
def test_a_name_that_does_not_exist_is_not_silently_normal(bare, more, status, code):
    error = bare.ask(user("x"), **more).error
    assert isinstance(error, openai.APIStatusError)
    assert (error.status_code, error.code) == (status, code)


def test_a_refusal_for_want_of_a_tool_is_no_step(bare):
    tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
    ask = {"model": "sim/call_malformed"}
    assert isinstance(bare.ask(user("x"), **ask).error, openai.BadRequestError)
    broken = bare.ask(user("x"), tools=[tool], **ask)
    (call,) = broken.calls
    with pytest.raises(json.JSONDecodeError):
        json.loads(call["function"]["arguments"])


@wires
@pytest.mark.parametrize("own", ["sim/", "sim:", "sim-model/", "sim-model:"])
def test_the_simulators_own_name_with_a_case_chooses_it_on_every_wire(wire, own):
    assert asked(wire, f"{own}normal").status == 200
    assert asked(wire, f"{own}http_429_once").status == 429


@wires
@pytest.mark.parametrize(
    ("model", "headers", "status"),
    [
        ("sim/no_such", {}, 404),
        ("sim:no_such", {}, 404),
        ("sim-model/no_such", {}, 404),
        ("sim-model:no_such", {}, 404),
        ("sim-model", {"x-sim-fault": "no_such"}, 400),
        ("sim-model", {"x-sim-script": "length,no_such"}, 400),
    ],
)
def test_what_does_not_exist_is_refused_on_every_wire_and_said_where_it_is_listed(
    wire, model, headers, status, capsys
):
    made = asked(wire, model, **headers)
    assert made.status == status
    refusal = json.loads(made.body)
    inner = refusal.get("error", refusal)  # as each wire writes any refusal
    said = inner if isinstance(inner, str) else inner["message"]
    assert "'no_such'" in said
    name, *command = shlex.split(re.findall("`(.+)`", said)[0])
    assert (name, command[:3]) == ("tenuto", ["faults", "--wire", wire][: len(command)])
    if wire in get_args(WireName):  # others are played by a test run alone
        assert main(command) == 0
        assert "length_once" in capsys.readouterr().out
    (listed,) = re.findall(r"GET (/\S+)\.", said)
    assert Exchange().answer("GET", listed, {}, b"").status == 200


@wires
@pytest.mark.parametrize(
    "model",
    [
        "sim", "sim-model", "gpt-4o", "ft:gpt-4o:org::id", "anthropic.claude-v1:0", "llama3:8b",
        "org/model", "sim-models:8b", "org/my-sim:8b", "simulated/model", "org/sim",
    ],
)  # fmt: skip
def test_any_other_name_is_that_of_a_model_on_every_wire(wire, model):
    made = asked(wire, model)
    assert made.status == 200, made.body


@pytest.mark.parametrize("step", STEPS)
def test_every_step_that_a_header_can_name_can_be_taken(bare, tools, step):
    for mode in ("body", "stream"):
        got = bare.ask(
            user(f"step {step} {mode}"), mode, tools=tools, extra_headers={"x-sim-script": step}
        )
        assert got.error is None or isinstance(got.error, openai.OpenAIError | TypeError)


def test_a_call_in_a_script_waits_for_its_place(bare, tools):
    more = {"tools": tools, "extra_headers": {"x-sim-script": "length,call_cut,normal"}}
    first, second, third = (bare.ask(user("mixed"), **more) for _ in range(3))
    assert (first.finish, len(first.calls)) == ("length", 0)
    assert (second.finish, len(second.calls)) == ("length", 1)
    assert third.raw_arguments == [bare.sim.expected("mixed", "tool").calls[0].arguments]


def test_after_a_tool_result_only_such_requests_take_steps(bare, tools):
    case = CASES["empty_after_tool_result_always"]
    prompt = bare.prompt_for(case)
    ask = {"model": f"sim/{case.name}", "tools": tools}
    called = bare.ask(user(prompt), **ask)
    assert called.finish == "tool_calls"
    result = {"role": "tool", "tool_call_id": called.calls[0]["id"], "content": "ok"}
    history = [*user(prompt), called.message, result]
    assert bare.ask(history, **ask).text == ""
    assert bare.ask([*history, {"role": "user", "content": "And?"}], **ask).text == ""


def test_every_request_is_recorded_with_what_was_answered():
    with (
        Simulator() as sim,
        openai.OpenAI(base_url=sim.base_url, api_key="key", max_retries=0) as client,
    ):
        client.models.list()
        client.chat.completions.create(model="sim", messages=[{"role": "user", "content": "x"}])
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(
                model="sim/http_500_once", messages=[{"role": "user", "content": "x"}]
            )
        with pytest.raises(openai.NotFoundError):
            client.get("/nothing", cast_to=object)
    rows = [(r.method, r.path, r.status) for r in sim.requests]
    assert rows == [
        ("GET", "/v1/models", 200),
        ("POST", "/v1/chat/completions", 200),
        ("POST", "/v1/chat/completions", 500),
        ("GET", "/v1/nothing", 404),
    ]
    assert sim.requests[1].json["model"] == "sim"
    assert sim.requests[1].body.startswith(b"{")
    assert sim.requests[1].headers["authorization"] == "Bearer key"
    assert sim.requests[0].json is None
