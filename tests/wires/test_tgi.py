"""Text Generation Inference's own API: which requests are turns, what becomes of them, and what its
errors mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenuto.core.answer.fault import FaultKind as K
from tenuto.core.answer.parts import Message
from tenuto.core.deciding.actions import AppendAssistant, AppendUser, DropConstraint
from tenuto.core.deciding.actions import SetOutputLimit as Budget
from tenuto.providers.registry import route
from tenuto.sim.reply import Settings
from tenuto.sim.tgi.request import located, violations
from tenuto.wires.answer import Answer
from tenuto.wires.dialect import Dialect
from tenuto.wires.tgi.wire import WIRE, looks_like

ASK: dict[str, Any] = {"inputs": "The tide", "parameters": {"details": True}}


def parsed(asked: dict[str, Any], path: str = "/generate", probe: int = 16) -> Any:
    return WIRE.request(json.dumps(asked).encode(), probe, path, Dialect())


@pytest.mark.behaviour("C7", "P8")
@pytest.mark.parametrize(
    ("path", "body", "turn"),
    [
        ("/generate", {"inputs": "x"}, True),
        ("/behind/a/proxy/generate_stream", {"inputs": "x"}, True),
        ("/", ASK, True),
        ("", {"inputs": "x", "stream": True}, True),
        ("/hf-inference/models/org/name", ASK, True),
        ("/models/gpt2", {"inputs": "x", "stream": False, "parameters": {}}, True),
        # What other servers, and other tasks, are asked for.
        ("/generate", {"prompt": "x", "max_tokens": 5}, False),
        ("/generate", {"inputs": ["x", "y"]}, False),
        ("/generate", {"inputs": ""}, False),
        ("/generate", {"text": "x", "sampling_params": {}}, False),
        ("/", {"inputs": "I like it."}, False),
        ("/", {"inputs": "I like it.", "parameters": {"top_k": 3, "truncate": True}}, False),
        ("/hf-inference/models/org/name", {"inputs": "I like it.", "parameters": {}}, False),
        ("/hf-inference/models/org/name", {"inputs": {"question": "x"}, "parameters": {}}, False),
    ],
)
def test_a_request_is_one_where_its_body_says_so(path, body, turn):
    wire, provider, _ = route(f"http://127.0.0.1:8080{path}")
    assert wire is not None
    assert wire.name == "tgi"
    assert provider.unknown
    assert (parsed(body, path) is not None) == turn


@pytest.mark.behaviour("N8")
def test_paths_of_others_stay_theirs():
    others = {
        "/api/generate": "ollama",
        "/models/chat/completions": "openai-chat",
        "/hf-inference/models/org/name/v1/chat/completions": "openai-chat",
        "/hf-inference/models/org/name/pipeline/feature-extraction": None,
        "/info": None,
    }
    found = {path: route(f"http://h{path}")[0] for path in others}
    assert {path: wire and wire.name for path, wire in found.items()} == others
    assert route("https://x.us-east-1.aws.endpoints.huggingface.cloud/")[1].dialect.name == "tgi"


@pytest.mark.behaviour("C28")
@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"best_of": 2, "do_sample": True}, "several_choices"),
        ({"num_return_sequences": 2}, "several_choices"),
        ({"top_n_tokens": 3}, "logprobs"),
        ({"decoder_input_details": True}, "logprobs"),
        ({"grammar": {"type": "regex", "value": "[a-z]+"}}, "grammar"),
        ({"max_new_tokens": 16}, "probe"),
        ({"best_of": 1, "top_n_tokens": 0, "decoder_input_details": False}, ""),
        ({"return_full_text": True}, ""),
        ({"grammar": {"type": "json", "value": {}}, "max_new_tokens": 17}, ""),
        (None, ""),
        ("odd", ""),
    ],
)
def test_what_cannot_be_continued_is_left_alone_and_says_so(parameters, why):
    facts = parsed(ASK | {"parameters": parameters}).facts
    assert facts.left_alone == why
    assert facts.goes_on


@pytest.mark.behaviour("C7", "C17")
def test_edits_leave_the_callers_own_bytes():
    raw = b'{"inputs" : "The tide", "parameters": {"top_p": 0.90, "grammar": {"type": "json"}},"x":1.0}'
    asked = WIRE.request(raw, 16, "/generate", Dialect())
    assert asked is not None
    assert asked.apply([], Dialect()) == raw
    edits: list[Any] = [
        AppendAssistant(" is high"),
        AppendUser("Go on."),
        Budget(800),
        DropConstraint(),
    ]
    sent = asked.apply(edits, Dialect())
    assert sent == (
        b'{"inputs":"The tide is high","parameters":{"top_p":0.90,"max_new_tokens":800},"x":1.0}'
    )


@pytest.mark.behaviour("C7", "E1")
def test_a_prompt_that_comes_again_before_the_text_is_no_part_of_it():
    asked = parsed(ASK, "/")
    body = {"generated_text": "The tide turns", "details": {"finish_reason": "length"}}
    (text, *_) = asked.wire.parse_object(body, event=False)
    assert text.text == " turns"
    nothing = asked.wire.parse_object({"generated_text": "The tide"}, event=False)
    assert nothing == [], "an empty answer is empty"
    sent = json.loads(asked.apply([AppendAssistant(" turns")], Dialect()))
    assert sent == {
        "inputs": "The tide turns",
        "parameters": {"details": True, "return_full_text": False},
    }
    asked = located(sent, {}, full=True, stream=None)
    assert list(violations({}, asked, Settings())) == []


@pytest.mark.behaviour("C18", "P5")
@pytest.mark.parametrize(
    ("error", "kind", "status", "allowed"),
    [
        ("Input validation error: `max_new_tokens` must be <= 512. Given: 800",
         K.OUTPUT_BUDGET_TOO_LARGE, 422, 512),
        (("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. "
         "Given: 96 `inputs` tokens and 8000 `max_new_tokens`"),
         K.OUTPUT_BUDGET_TOO_LARGE, 422, 4000),
        (("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. "
         "Given: 4090 `inputs` tokens and 20 `max_new_tokens`"), K.CONTEXT_OVERFLOW, 422, None),
        ("Input validation error: `inputs` must have less than 1024 tokens. Given: 1030",
         K.CONTEXT_OVERFLOW, 422, None),
        ("Input validation error: `best_of` != 1 is not supported when streaming tokens",
         K.INVALID_REQUEST, 422, None),
        ("Model is overloaded", K.OVERLOADED, 429, None),
        ("Model gpt2 is currently loading", K.OVERLOADED, 503, None),
        ("Request failed during generation: Server error: CUDA out of memory",
         K.SERVER, 424, None),
        ("Authorization header is invalid, use 'Bearer API_TOKEN'", K.AUTHENTICATION, 401, None),
    ],
)  # fmt: skip
def test_an_error_is_understood_by_its_words_its_type_and_its_status(error, kind, status, allowed):
    types = {422: "validation", 429: "overloaded", 424: "generation"}
    body = {"error": error, **({"error_type": types[status]} if status in types else {})}
    fault = WIRE.parse_fault(status, {}, json.dumps(body).encode())
    assert (fault.kind, fault.allowed_tokens) == (kind, allowed)


@pytest.mark.behaviour("E9", "C5")
def test_an_error_of_ours_is_known_as_such_and_keeps_what_came():
    made = WIRE.render_error("dropped", "No.", Answer("Half"))
    assert json.loads(made)["partial"] == {"text": "Half"}
    assert WIRE.parse_fault(502, {}, made).kind is K.UPSTREAM_GAVE_UP


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("odd", [None, 5, "x", [], {"text": 5}, {"special": True, "text": "x"}])
def test_odd_members_say_nothing_and_never_raise(odd):
    for key in ("token", "details", "generated_text", "error", "index"):
        value, message = {"generated_text": None, key: odd}, Message()
        for event in (False, True):
            message.take(WIRE.read(value, event=event))
            looks_like(value)
        WIRE.as_body(message)
