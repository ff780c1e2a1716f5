"""Which document a request asks for, on each wire and in each provider's form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from examples.wires.tests.at_hand import every_wire as wires
from tenuto.core.deciding.actions import AppendUser, DropConstraint
from tenuto.schema.checking import Checker
from tenuto.wires.dialect import Dialect
from tenuto.wires.documents import schema_in
from tenuto.wires.form import Opening
from tenuto.wires.gemini_like.schema import as_json_schema
from tenuto.wires.request import WireRequest
from tenuto_agent.composing import Composed

SCHEMA: dict[str, Any] = {
    "$defs": {"row": {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}}},
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
    "required": ["rows"],
    "additionalProperties": False,
}
TEXT = json.dumps(SCHEMA)
NAMED = {"name": "table", "strict": True, "schema": SCHEMA}
OPENAI = {"type": "json_schema", "json_schema": NAMED}
FLAT = {"type": "json_schema", "schema": SCHEMA}
OBJECT = {"type": "json_object"}
ROWS = [{"role": "user", "content": "List them."}]
NONE = None

CHAT = {"model": "m", "messages": ROWS}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "List them."}]}]}
PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "openai-chat": ("/v1/chat/completions", CHAT),
    "mistral": ("/v1/chat/completions", CHAT),
    "cohere": ("/v2/chat", CHAT),
    "openai-completions": ("/v1/completions", {"model": "m", "prompt": "List them."}),
    "openai-responses": ("/v1/responses", {"model": "m", "input": "List them."}),
    "anthropic-messages": ("/v1/messages", {**CHAT, "max_tokens": 99}),
    "gemini-generate": ("/v1beta/models/m:generateContent", GEMINI),
    "gemini-interactions": ("/v1beta/interactions", {"model": "m", "input": "List them."}),
    "cohere-v1": ("/v1/chat", {"model": "m", "message": "List them."}),
    "ollama": ("/api/chat", CHAT),
    "bedrock-converse": (
        "/model/m/converse",
        {"messages": [{"role": "user", "content": [{"text": "List them."}]}]},
    ),
    "bedrock-invoke": ("/model/openai.gpt-oss/invoke", CHAT),
    "dashscope": (
        "/api/v1/services/aigc/text-generation/generation",
        {"model": "m", "input": {"messages": ROWS}},
    ),
}


def request(wire: str, members: dict[str, Any]) -> WireRequest:
    path, body = PLACES[wire]
    made = wires()[wire].request(json.dumps({**body, **members}).encode(), 0, path, Dialect())
    assert made is not None
    return made


def converse(schema: Any) -> dict[str, Any]:
    form = {"type": "json_schema", "structure": {"jsonSchema": {"name": "n", "schema": schema}}}
    return {"outputConfig": {"textFormat": form}}


def generation(**config: Any) -> dict[str, Any]:
    return {"generationConfig": config}


JSON = {"responseMimeType": "application/json"}
ENUM = {"type": "STRING", "format": "enum", "enum": ["yes", "no"]}
FORMS: list[tuple[str, dict[str, Any], Any]] = [
    # OpenAI's own, and the servers that have other members beside it.
    ("openai-chat", {"response_format": OPENAI}, SCHEMA),
    ("openai-chat", {"response_format": OBJECT}, {}),
    ("openai-chat", {"response_format": {"type": "text"}}, NONE),
    ("openai-chat", {"response_format": None}, NONE),
    ("openai-chat", {}, NONE),
    ("openai-chat", {"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}}, {}),
    ("openai-chat", {"response_format": {"type": "json_schema", "json_schema": SCHEMA}}, SCHEMA),
    ("openai-chat", {"response_format": {"type": "json_object", "schema": SCHEMA}}, SCHEMA),
    ("openai-chat", {"response_format": FLAT}, SCHEMA),
    ("openai-chat", {"response_format": {"type": "json_object", "schema": None}}, {}),
    ("openai-chat", {"response_format": {"type": "json", "value": SCHEMA}}, SCHEMA),
    ("openai-chat", {"response_format": {"type": "json_schema", "value": NAMED}}, SCHEMA),
    ("openai-chat", {"response_format": {"type": "regex", "regex": "[0-9]+"}}, NONE),
    ("openai-chat", {"response_format": {"type": "grammar", "grammar": "root ::= x"}}, NONE),
    ("openai-chat", {"response_format": {"type": "structural_tag", "structures": []}}, NONE),
    ("openai-chat", {"guided_json": SCHEMA}, SCHEMA),
    ("openai-chat", {"guided_json": TEXT}, SCHEMA),
    ("openai-chat", {"guided_json": "{broken"}, NONE),
    ("openai-chat", {"guided_choice": ["yes", "no"]}, NONE),
    ("openai-chat", {"structured_outputs": {"json": SCHEMA}}, SCHEMA),
    ("openai-chat", {"structured_outputs": {"json": TEXT, "regex": None}}, SCHEMA),
    ("openai-chat", {"structured_outputs": {"json_object": True}}, {}),
    ("openai-chat", {"structured_outputs": {"regex": "[0-9]+"}}, NONE),
    ("openai-chat", {"json_schema": SCHEMA}, SCHEMA),
    (
        "openai-chat",
        {"response_format": {"type": "json_schema", "json_schema": {"schema": 5}}},
        NONE,
    ),
    ("mistral", {"response_format": OPENAI}, SCHEMA),
    ("mistral", {"response_format": OBJECT}, {}),
    ("bedrock-invoke", {"response_format": OPENAI}, SCHEMA),
    ("dashscope", {"parameters": {"response_format": OPENAI}}, SCHEMA),
    ("dashscope", {"parameters": {"response_format": OBJECT}}, {}),
    ("openai-completions", {"response_format": OPENAI}, SCHEMA),
    ("openai-completions", {"guided_json": SCHEMA}, SCHEMA),
    ("openai-completions", {"json_schema": SCHEMA}, SCHEMA),
    # Cohere: the schema itself, under two names.
    ("cohere", {"response_format": {"type": "json_object", "json_schema": SCHEMA}}, SCHEMA),
    ("cohere", {"response_format": {"type": "json_object", "schema": SCHEMA}}, SCHEMA),
    ("cohere", {"response_format": OBJECT}, {}),
    ("cohere-v1", {"response_format": {"type": "json_object", "schema": SCHEMA}}, SCHEMA),
    ("cohere-v1", {"response_format": OBJECT}, {}),
    ("openai-responses", {"text": {"format": {**FLAT, "name": "n", "strict": True}}}, SCHEMA),
    ("openai-responses", {"text": {"format": OBJECT}}, {}),
    ("openai-responses", {"text": {"format": {"type": "text"}, "verbosity": "low"}}, NONE),
    ("anthropic-messages", {"output_config": {"format": FLAT, "effort": "low"}}, SCHEMA),
    ("anthropic-messages", {"output_format": FLAT}, SCHEMA),
    ("anthropic-messages", {"output_config": {"effort": "low"}}, NONE),
    ("ollama", {"format": "json"}, {}),
    ("ollama", {"format": SCHEMA}, SCHEMA),
    ("ollama", {"format": {"type": "array", "items": {}}}, {"type": "array", "items": {}}),
    ("ollama", {"format": {"anyOf": [SCHEMA]}}, {"anyOf": [SCHEMA]}),
    ("ollama", {"format": ""}, NONE),
    ("bedrock-converse", converse(TEXT), SCHEMA),
    ("bedrock-converse", converse("{broken"), NONE),
    ("bedrock-converse", converse("[1]"), NONE),
    # Gemini.
    ("gemini-generate", generation(**JSON), {}),
    ("gemini-generate", {"generation_config": {"response_mime_type": "application/json"}}, {}),
    ("gemini-generate", generation(responseMimeType="text/plain"), NONE),
    ("gemini-generate", generation(responseMimeType="text/x.enum", responseSchema=ENUM), NONE),
    ("gemini-generate", generation(**JSON, responseJsonSchema=SCHEMA), SCHEMA),
    ("gemini-generate", generation(**JSON, _responseJsonSchema=SCHEMA), SCHEMA),
    ("gemini-generate", {"generation_config": {"response_json_schema": SCHEMA}}, SCHEMA),
    ("gemini-generate", generation(**JSON, responseSchema=7), NONE),
    (
        "gemini-generate",
        generation(**JSON, responseSchema={"type": "ARRAY", "items": ENUM, "minItems": "2"}),
        {"type": "array", "items": {"type": "string", "enum": ["yes", "no"]}, "minItems": 2},
    ),
    (
        "gemini-generate",
        generation(responseFormat={"text": {"mimeType": "APPLICATION_JSON", "schema": SCHEMA}}),
        SCHEMA,
    ),
    ("gemini-generate", generation(responseFormat={"text": {"mimeType": "TEXT_PLAIN"}}), NONE),
    (
        "gemini-interactions",
        {"response_format": {"type": "text", "mime_type": "application/json", "schema": SCHEMA}},
        SCHEMA,
    ),
    ("gemini-interactions", {"response_format": {"type": "text", "schema": SCHEMA}}, SCHEMA),
    ("gemini-interactions", {"response_format": SCHEMA}, SCHEMA),
    ("gemini-interactions", {"response_format": [{"type": "image"}, SCHEMA]}, SCHEMA),
    ("gemini-interactions", {"response_mime_type": "application/json"}, {}),
    ("gemini-interactions", {"response_format": {"type": "text", "mime_type": "text/plain"}}, NONE),
]


@pytest.mark.parametrize(("wire", "members", "expected"), FORMS)
def test_the_document_that_a_request_asks_for_is_read(wire, members, expected):
    made = request(wire, members)
    assert made.document() == expected
    assert expected is None or made.facts.structured


def test_every_wire_with_a_constraint_is_among_these():
    read = {wire for wire, _, expected in FORMS if expected is not None}
    like_chat = {"watsonx"}
    assert set(wires()) - read - like_chat == set()


@pytest.mark.parametrize(
    "member", ["guided_json", "structured_outputs", "json_schema", "response_format"]
)
def test_what_was_read_is_lifted(member):
    value = {"json": SCHEMA} if member == "structured_outputs" else SCHEMA
    value = OPENAI if member == "response_format" else value
    made = request("openai-chat", {member: value, "seed": 5})
    left = json.loads(made.apply([AppendUser("Go on."), DropConstraint()], Dialect()))
    assert left.keys() == {"model", "messages", "seed"}


def test_a_composed_request_asks_for_the_document_of_its_options():
    opening = Opening("m", options={"response_format": OPENAI})
    made = Composed(wires()["openai-chat"], Dialect(), "/v1/chat/completions", opening)
    assert made.document() == SCHEMA


@pytest.mark.parametrize("odd", [5, True, [], [5], {"type": 5}, {"type": ["number", 5]}, "", "xml"])
def test_what_is_no_form_is_no_document(odd):
    assert schema_in(odd) is None


# --- Gemini's own schemas ---

OWN: dict[str, Any] = {
    "type": "OBJECT",
    "propertyOrdering": ["name", "size", "type"],
    "required": ["name", "type"],
    "properties": {
        "name": {"type": "STRING", "maxLength": "5", "nullable": True, "title": "Name"},
        "size": {"type": "INTEGER", "format": "int64", "enum": ["1", "2"], "nullable": True},
        "type": {"anyOf": [{"type": "NUMBER"}, {"type": "BOOLEAN"}], "nullable": True},
        "format": {"type": "TYPE_UNSPECIFIED"},
        "child": {"ref": "#/defs/child", "nullable": True},
        "more": {"type": "OBJECT", "additional_properties": {"type": "STRING"}},
    },
    "defs": {"child": {"type": "ARRAY", "items": {"type": "STRING"}, "min_items": 1}},
}
FITTING = {"name": "ab", "type": 1.5}


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"name": None}, True),
        ({"name": "too long"}, False),
        ({"size": 2}, True),
        ({"size": None}, True),
        ({"size": 3}, False),
        ({"size": "2"}, False),
        ({"type": None}, True),
        ({"type": "x"}, False),
        ({"format": ["anything"]}, True),
        ({"child": ["x"]}, True),
        ({"child": None}, True),
        ({"child": []}, False),
        ({"more": {"x": "y"}}, True),
        ({"more": {"x": 1}}, False),
    ],
)
def test_an_own_schema_of_gemini_means_the_same_as_json_schema(changes, fits):
    made = as_json_schema(OWN)
    assert made is not None
    assert Checker(made).fits({**FITTING, **changes}) is fits


def test_one_of_means_any_of_to_gemini():
    made = request("gemini-generate", generation(responseJsonSchema={"oneOf": [{}, {}]}))
    assert made.document() == {"anyOf": [{}, {}]}


def test_a_schema_that_gemini_would_refuse_for_its_depth_is_not_read():
    deep: dict[str, Any] = {"type": "STRING"}
    for _ in range(60):
        deep = {"type": "ARRAY", "items": deep}
    assert request("gemini-generate", generation(responseSchema=deep)).document() is None
