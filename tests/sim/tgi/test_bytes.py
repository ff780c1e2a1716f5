"""The bytes are the server's: the SDK's types know every key, and what breaks its rules is refused in
its words."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import httpx
import pytest
from huggingface_hub import (
    TextGenerationOutput,
    TextGenerationOutputDetails,
    TextGenerationOutputToken,
    TextGenerationStreamOutput,
    TextGenerationStreamOutputStreamDetails,
)
from support.asking.tgi import MODEL_AT

from tenuto.sim import Simulator


def post(sim: Simulator, path: str, **asked: Any) -> httpx.Response:
    return httpx.post(sim.root_url + path, json={"inputs": "Tell me.", **asked})


def keys_of(kind: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


@pytest.mark.parametrize("name", ["normal", "length_once", "cjk"])
def test_every_object_has_the_keys_of_the_sdks_own_types(sim: Simulator, name: str) -> None:
    told = {"details": True}
    for way in MODEL_AT.values():
        whole = post(sim, way["body"].format(f"sim/{name}"), parameters=told).json()
        (body,) = whole if isinstance(whole, list) else [whole]
        assert body.keys() == keys_of(TextGenerationOutput)
        assert body["details"].keys() <= keys_of(TextGenerationOutputDetails)
        assert {*body["details"]["tokens"][0]} == keys_of(TextGenerationOutputToken)
        stream = post(sim, way["stream"].format(f"sim/{name}"), stream=True, parameters=told)
        events = [json.loads(line[5:]) for line in stream.text.splitlines() if line]
        assert all(event.keys() <= keys_of(TextGenerationStreamOutput) for event in events)
        assert {*events[-1]["details"]} == keys_of(TextGenerationStreamOutputStreamDetails)
        assert isinstance(events[-1]["generated_text"], str)


@pytest.mark.parametrize(
    ("path", "asked", "said"),
    [
        ("/generate", {"inputs": ""}, "`inputs` cannot be empty"),
        ("/generate", {"inputs": ["x"]}, "inputs: invalid type, expected a string"),
        ("/", {"parameters": {"max_new_tokens": 0}}, "`max_new_tokens` must be strictly positive"),
        ("/", {"parameters": {"max_new_tokens": 99999}}, "`max_new_tokens` must be <= 16384. Given"),
        ("/", {"parameters": {"max_new_tokens": "9"}}, "parameters.max_new_tokens: invalid type"),
        ("/", {"parameters": {"best_of": 2}}, "you must use sampling when `best_of` is > 1"),
        ("/generate_stream", {"parameters": {"best_of": 2}}, "not supported when streaming tokens"),
        ("/generate_stream", {"parameters": {"decoder_input_details": True}}, "when streaming"),
        ("/", {"parameters": {"grammar": {"type": "ebnf"}}}, "grammar is not valid"),
        ("/", {"parameters": {"_tenuto": 1}}, "unknown field `_tenuto`"),
        ("/", {"parameters": []}, "parameters: invalid type"),
    ],
)  # fmt: skip
def test_what_the_server_would_refuse_is_refused_in_its_words(
    sim: Simulator, path: str, asked: dict[str, Any], said: str
) -> None:
    answer = post(sim, path, **asked)
    assert (answer.status_code, answer.json()["error_type"]) == (422, "validation")
    assert said in answer.json()["error"]
