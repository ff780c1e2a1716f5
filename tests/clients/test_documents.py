"""Which document the official SDKs ask for, in the ways that their documentation shows."""

from __future__ import annotations

import contextlib
import enum
import json
from collections.abc import Callable
from typing import Any

import anthropic
import boto3
import cohere
import groq
import ollama
import openai
import pydantic
import pytest
from botocore.config import Config
from cerebras.cloud.sdk import Cerebras
from google import genai
from mistralai.client import Mistral
from support.aws import ACCESS_KEY, REGION, SECRET_KEY
from support.far_sides import FarSide, json_answer
from together import Together

from examples.wires.tests.at_hand import every_wire as wires
from tenuto.schema.checking import Checker
from tenuto.wires.dialect import Dialect
from tenuto.wires.registry import wires_for_path

HI = "List the crew."
ROWS: Any = [{"role": "user", "content": HI}]
PARTS: Any = [{"role": "user", "content": [{"text": HI}]}]


class Rank(enum.StrEnum):
    MATE = "mate"
    COOK = "cook"


class Boat(pydantic.BaseModel):
    kind: str
    length_m: float


class Sailor(pydantic.BaseModel):
    name: str
    rank: Rank
    age: int | None
    boat: Boat | int  # a union, and a reference


class Crew(pydantic.BaseModel):
    title: str
    sailors: list[Sailor]


SCHEMA = Crew.model_json_schema()
NAMED = {"name": "crew", "schema": SCHEMA}
FORM: Any = {"type": "json_schema", "json_schema": NAMED}
OLDER: Any = {"type": "json_schema", "schema": SCHEMA}
COHERES: Any = {"type": "json_object", "schema": SCHEMA}

SAILOR = {"name": "Ann", "rank": "mate", "age": None, "boat": {"kind": "yawl", "length_m": 9.5}}
WHOLE = {"title": "Dawn watch", "sailors": [SAILOR, {**SAILOR, "age": 40, "boat": 7}]}
WRONG: list[Any] = [
    {"title": "Dawn watch"},
    {"title": 5, "sailors": [SAILOR]},
    {"title": "Dawn watch", "sailors": [{**SAILOR, "rank": "captain"}]},
    {"title": "Dawn watch", "sailors": [{**SAILOR, "age": "forty"}]},
    {"title": "Dawn watch", "sailors": [{**SAILOR, "boat": {"kind": "yawl"}}]},
    {"title": "Dawn watch", "sailors": [{**SAILOR, "boat": "yawl"}]},
    {"title": "Dawn watch", "sailors": SAILOR},
    [WHOLE],
]

Ask = Callable[[str], Any]
NO_RETRY: Any = {"api_key": "k", "max_retries": 0}


def _openai(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", **NO_RETRY)


def _anthropic(url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, **NO_RETRY)


def _gemini(url: str, **config: Any) -> Any:
    client = genai.Client(api_key="k", http_options={"base_url": url})
    made: Any = {"response_mime_type": "application/json", **config}
    return client.models.generate_content(model="gemini-3", contents=HI, config=made)


def _interactions(url: str, **given: Any) -> Any:
    client = genai.Client(api_key="k", http_options={"base_url": url})
    return client.interactions.create(model="gemini-3", input=HI, **given)


def _converse(url: str) -> Any:
    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        config=Config(retries={"total_max_attempts": 1}),
    )
    named = {"name": "crew", "schema": json.dumps(SCHEMA)}
    form = {"type": "json_schema", "structure": {"jsonSchema": named}}
    return client.converse(modelId="m", messages=PARTS, outputConfig={"textFormat": form})


def _stream(url: str) -> None:
    with _openai(url).chat.completions.stream(model="m", messages=ROWS, response_format=Crew):
        pass


def _anthropic_stream(url: str) -> None:
    asks: Any = {"model": "m", "max_tokens": 99, "messages": ROWS, "output_format": Crew}
    with _anthropic(url).messages.stream(**asks):
        pass


OWN_GEMINI: Any = {
    "type": "OBJECT",
    "required": ["title", "sailors"],
    "properties": {
        "title": {"type": "STRING"},
        "sailors": {
            "type": "ARRAY",
            "items": {
                "type": "OBJECT",
                "required": ["name", "rank", "age", "boat"],
                "properties": {
                    "name": {"type": "STRING"},
                    "rank": {"type": "STRING", "format": "enum", "enum": ["mate", "cook"]},
                    "age": {"type": "INTEGER", "nullable": True},
                    "boat": {
                        "any_of": [
                            {
                                "type": "OBJECT",
                                "properties": {
                                    "kind": {"type": "STRING"},
                                    "length_m": {"type": "NUMBER"},
                                },
                                "required": ["kind", "length_m"],
                            },
                            {"type": "INTEGER"},
                        ]
                    },
                },
            },
        },
    },
}

ASKING: dict[str, Ask] = {
    "openai: chat.completions.parse": lambda url: _openai(url).chat.completions.parse(
        model="m", messages=ROWS, response_format=Crew
    ),
    "openai: chat.completions.create": lambda url: _openai(url).chat.completions.create(
        model="m", messages=ROWS, response_format=FORM
    ),
    "openai: chat.completions.stream": _stream,
    "openai: responses.parse": lambda url: _openai(url).responses.parse(
        model="m", input=HI, text_format=Crew
    ),
    "openai, of vLLM": lambda url: _openai(url).chat.completions.create(
        model="m", messages=ROWS, extra_body={"structured_outputs": {"json": SCHEMA}}
    ),
    "openai, of older vLLM": lambda url: _openai(url).completions.create(
        model="m", prompt=HI, extra_body={"guided_json": SCHEMA}
    ),
    "anthropic: messages.parse": lambda url: _anthropic(url).messages.parse(
        model="m", max_tokens=99, messages=ROWS, output_format=Crew
    ),
    "anthropic: messages.stream": _anthropic_stream,
    "anthropic: beta.messages.parse": lambda url: _anthropic(url).beta.messages.parse(
        model="m", max_tokens=99, messages=ROWS, output_format=Crew
    ),
    "google-genai: response_schema, a model": lambda url: _gemini(url, response_schema=Crew),
    "google-genai: response_schema": lambda url: _gemini(url, response_schema=OWN_GEMINI),
    "google-genai: response_json_schema": lambda url: _gemini(url, response_json_schema=SCHEMA),
    "google-genai: interactions": lambda url: _interactions(
        url, response_format={"type": "text", "mime_type": "application/json", "schema": SCHEMA}
    ),
    "google-genai: interactions, the schema alone": lambda url: _interactions(
        url, response_format=SCHEMA
    ),
    "boto3: converse": _converse,
    "mistralai: chat.parse": lambda url: Mistral(api_key="k", server_url=url).chat.parse(
        Crew, model="m", messages=ROWS
    ),
    "cohere: V2": lambda url: cohere.ClientV2("k", base_url=url).chat(
        model="m",
        messages=ROWS,
        response_format=COHERES,
    ),
    "cohere: V2, json_schema": lambda url: cohere.ClientV2("k", base_url=url).chat(
        model="m",
        messages=ROWS,
        response_format=cohere.JsonObjectResponseFormatV2(json_schema=SCHEMA),
    ),
    "cohere: V1": lambda url: cohere.Client("k", base_url=url).chat(
        model="m",
        message=HI,
        response_format=cohere.JsonObjectResponseFormat(schema=SCHEMA),  # type: ignore[call-arg]
    ),
    "groq": lambda url: groq.Groq(base_url=url, **NO_RETRY).chat.completions.create(
        model="m", messages=ROWS, response_format=FORM
    ),
    "together": lambda url: Together(base_url=f"{url}/v1", **NO_RETRY).chat.completions.create(
        model="m", messages=ROWS, response_format=FORM
    ),
    "together, the older form": lambda url: Together(
        base_url=f"{url}/v1", **NO_RETRY
    ).chat.completions.create(model="m", messages=ROWS, response_format=OLDER),
    "cerebras": lambda url: Cerebras(
        base_url=url, warm_tcp_connection=False, **NO_RETRY
    ).chat.completions.create(model="m", messages=ROWS, response_format=FORM),
    "ollama": lambda url: ollama.Client(url).chat(model="m", messages=ROWS, format=SCHEMA),
    "ollama: generate": lambda url: ollama.Client(url).generate(
        model="m", prompt=HI, format=SCHEMA
    ),
}
OWN_WIRE = {"mistralai: chat.parse": "mistral"}
"""SDKs whose paths are those of another wire."""


@pytest.mark.parametrize("asked", ASKING)
def test_the_document_that_an_sdk_asks_for_is_read(asked):
    refusing = FarSide(json_answer(b"{}", status="400 Bad Request"))
    with refusing as far, contextlib.suppress(Exception):
        ASKING[asked](far.base_url.removesuffix("/v1"))
    head, body = far.requests[0]
    path = head.split()[1].decode()
    wire = wires()[OWN_WIRE[asked]] if asked in OWN_WIRE else wires_for_path(path)[0]
    request = wire.request(body, 0, path, Dialect())
    assert request is not None
    document = request.document()
    assert document, body
    judge = Checker(document)
    assert judge.fits(WHOLE)
    assert [wrong for wrong in WRONG if judge.fits(wrong)] == []
