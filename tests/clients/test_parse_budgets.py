"""`parse()` of the real SDKs: at most the requests of one turn's budget, and what Tenuto put together
reaches the caller's own model only if it matches (C27a)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal

import anthropic
import cohere
import ollama
import openai
import pydantic
import pytest
from google import genai
from mistralai.client import Mistral
from support.asking.wrapping import QUICK
from support.events.by_wire import WIRES
from support.far_sides import FarSide, answer, json_answer
from support.pairing import every_pair

import tenuto

pytestmark = pytest.mark.behaviour("C27a")

WHOLE = '{"name": "Bay", "kind": "spring", "rows": [{"n": 1}, {"n": 22}]}'
WRONG = '{"name": "Bay", "kind": "storm", "rows": [{"n": "one"}]}'
SAID = WHOLE[:-4]
"""A part that ends within a number, which a rest after a hint writes anew."""
RESTS = {
    "another key": '22}], "height": 3}',
    "a document that does not match": WRONG,
}
"""What all further requests are answered with, under a clean stop."""
REQUESTS = 1 + tenuto.Policy().continuation_max_attempts

ASKED: Any = [{"role": "user", "content": "Tell of a bay."}]
SEEN: list[Any] = []
"""The values that the caller's own model was given to validate."""


class Row(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    n: int


class Tide(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    name: str
    kind: Literal["spring", "neap"]
    rows: list[Row]

    @pydantic.model_validator(mode="before")
    @classmethod
    def _keep(cls, value: Any) -> Any:
        SEEN.append(value)
        return value


def chat(client: Any, stream: bool) -> Any:
    asked = {"model": "m", "messages": ASKED, "response_format": Tide, "max_tokens": 100}
    if not stream:
        return client.chat.completions.parse(**asked).choices[0].message.parsed
    with client.chat.completions.stream(**asked) as events:
        return events.get_final_completion().choices[0].message.parsed


def responses(client: Any, stream: bool) -> Any:
    asked = {"model": "m", "input": ASKED, "text_format": Tide, "max_output_tokens": 100}
    if not stream:
        return client.responses.parse(**asked).output_parsed
    with client.responses.stream(**asked) as events:
        return events.get_final_response().output_parsed


def messages(client: Any, stream: bool) -> Any:
    asked = {"model": "m", "messages": ASKED, "output_format": Tide, "max_tokens": 100}
    if not stream:
        return client.messages.parse(**asked).parsed_output
    with client.messages.stream(**asked) as events:
        return events.get_final_message().parsed_output


def generate(client: Any, stream: bool) -> Any:
    form = {"response_mime_type": "application/json", "response_schema": Tide}
    asked = {"model": "m", "contents": "Tell.", "config": {**form, "max_output_tokens": 100}}
    if not stream:
        return client.models.generate_content(**asked).parsed
    parts = client.models.generate_content_stream(**asked)
    return Tide.model_validate_json("".join(part.text or "" for part in parts))


def mistral(client: Any, stream: bool) -> Any:
    asked = {"model": "m", "messages": ASKED, "max_tokens": 100}
    if not stream:
        return client.chat.parse(Tide, **asked).choices[0].message.parsed
    with client.chat.parse_stream(Tide, **asked) as events:
        pieces = [event.data.choices[0].delta.content or "" for event in events]
    return Tide.model_validate_json("".join(pieces))


def cohere_chat(client: Any, stream: bool) -> Any:
    form = {"type": "json_object", "json_schema": Tide.model_json_schema()}
    asked = {"model": "m", "messages": ASKED, "max_tokens": 100, "response_format": form}
    if not stream:
        return Tide.model_validate_json(client.chat(**asked).message.content[0].text)
    events = [event for event in client.chat_stream(**asked) if event.type == "content-delta"]
    return Tide.model_validate_json("".join(event.delta.message.content.text for event in events))


def ollama_chat(client: Any, stream: bool) -> Any:
    form = Tide.model_json_schema()
    asked = {"model": "m", "messages": ASKED, "format": form, "options": {"num_predict": 100}}
    parts = client.chat(**asked, stream=True) if stream else [client.chat(**asked)]
    return Tide.model_validate_json("".join(part.message.content or "" for part in parts))


Asking = Callable[[Any, bool], Any]
SDKS: dict[str, tuple[Asking, str]] = {
    "openai-chat": (chat, "length"),
    "openai-responses": (responses, "incomplete"),
    "anthropic-messages": (messages, "max_tokens"),
    "gemini-generate": (generate, "MAX_TOKENS"),
    "mistral": (mistral, "length"),
    "cohere": (cohere_chat, "MAX_TOKENS"),
    "ollama": (ollama_chat, "length"),
}
"""How the SDK of a wire is asked for a document, and the stop of a cut one. Cohere's and Ollama's
leave the parsing to the caller."""


@pytest.fixture(scope="module")
def far() -> Iterator[FarSide]:
    with FarSide() as running:
        yield running


@pytest.fixture(scope="module")
def clients(far: FarSide) -> dict[str, Any]:
    url, root = far.base_url, far.base_url.removesuffix("/v1")
    of_openai = openai.OpenAI(base_url=url, api_key="key", max_retries=0)
    return {
        "openai-chat": of_openai,
        "openai-responses": of_openai,
        "anthropic-messages": anthropic.Anthropic(base_url=root, api_key="key", max_retries=0),
        "gemini-generate": genai.Client(api_key="key", http_options={"base_url": root}),
        "mistral": Mistral(api_key="key", server_url=root),
        "cohere": cohere.ClientV2(api_key="key", base_url=root),
        "ollama": ollama.Client(host=root),
    }


def told(wire: str, text: str, stop: str | None, stream: bool) -> bytes:
    """An answer as this wire's provider gives it."""
    made = WIRES[wire]
    events = made.events(text, (), stop) if stream else [made.body(text, (), stop)]
    for event in events:
        inner = event.get("response", event)
        if inner.get("status") == "incomplete":
            inner["incomplete_details"] = {"reason": "max_output_tokens"}
    if not stream:
        return json_answer(json.dumps(events[0]).encode())
    kind = f"content-type: {made.content_type}"
    return answer(b"".join(made.framed(events)), kind, length=False)


Parsing = Callable[..., Any]


@pytest.fixture(params=SDKS)
def parsing(request: Any, far: FarSide, clients: dict[str, Any]) -> Parsing:
    """Lets an SDK parse what comes of a cut document, with one answer to all further requests."""
    wire = request.param
    ask, cut = SDKS[wire]

    def parse(stream: bool, rest: str | None, **settings: Any) -> Any:
        if rest is None:  # Mistral's models go on from a prefill, exactly
            rest = WHOLE[len(SAID) :] if wire == "mistral" else "22}]}"
        far.answers = (told(wire, SAID, cut, stream), told(wire, rest, None, stream))
        far.requests.clear()
        SEEN.clear()
        policy = tenuto.Policy(**QUICK, **settings)
        return ask(tenuto.wrap(clients[wire], policy=policy), stream)

    return parse


both = pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
AT_CEILING = {"hard_max_tokens": 100}
"""The limit of the request can't be raised, so that the document is continued at once."""


POLICIES: dict[str, Any] = {
    "stop": {"on_incomplete": "stop"},
    "error": {"on_incomplete": "error", **AT_CEILING},
}


@every_pair(stream=(False, True), rest=RESTS, policy=POLICIES)
def test_parse_costs_a_turn_at_most_and_sees_nothing_unproven(far, parsing, stream, rest, policy):
    try:
        got = parsing(stream, RESTS[rest], **POLICIES[policy])
    except Exception:  # noqa: BLE001 - each SDK has its own for a document that is none
        got = None
    assert got is None
    assert len(far.requests) in range(2, REQUESTS + 1)
    assert not SEEN


@both
@pytest.mark.parametrize(
    ("rest", "policy"),
    [(WHOLE, {}), (None, AT_CEILING)],
    ids=["asked again", "continued"],
)
def test_parse_gets_the_document_that_was_completed(far, parsing, stream, rest, policy):
    got = parsing(stream, rest, **policy)
    assert (got.model_dump(), len(far.requests)) == (json.loads(WHOLE), 2)
