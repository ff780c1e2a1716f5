"""instructor: each of its modes on each provider's SDK. A stream is `create_partial`."""

from collections.abc import Callable
from typing import Any

import instructor
from structured import LIMIT_TOKENS, QUESTION, Given, Tide, Way

DISTRIBUTION = "instructor"
ASKED: dict[str, Any] = {
    "messages": [{"role": "user", "content": QUESTION}],
    "response_model": Tide,
}
LIMITED: dict[str, Any] = {"model": "m", "max_tokens": LIMIT_TOKENS}


def openai(given: Given, mode: Any) -> Any:
    import openai

    client = given.wrap(openai.OpenAI(base_url=given.url, api_key="key", max_retries=0))
    return instructor.from_openai(client, mode=mode), LIMITED


def responses(given: Given, mode: Any) -> Any:
    return openai(given, mode)[0], {"model": "m", "max_output_tokens": LIMIT_TOKENS}


def anthropic(given: Given, mode: Any) -> Any:
    import anthropic

    client = given.wrap(anthropic.Anthropic(base_url=given.root, api_key="key", max_retries=0))
    return instructor.from_anthropic(client, mode=mode), LIMITED


def genai(given: Given, mode: Any) -> Any:
    from google import genai

    client = given.wrap(genai.Client(api_key="key", http_options={"base_url": given.root}))
    made = instructor.from_genai(client, mode=mode)
    return made, {"model": "m", "config": {"max_output_tokens": LIMIT_TOKENS}}


def mistral(given: Given, mode: Any) -> Any:
    from mistralai.client import Mistral

    client = given.wrap(Mistral(api_key="key", server_url=given.root))
    return instructor.from_mistral(client, mode=mode), LIMITED


def groq(given: Given, mode: Any) -> Any:
    import groq

    client = given.wrap(groq.Groq(base_url=given.root, api_key="key", max_retries=0))
    return instructor.from_groq(client, mode=mode), LIMITED


def _asking(made: Callable[[Given, Any], Any], mode: Any) -> Callable[[Given], Callable[[], Any]]:
    def asking(given: Given) -> Callable[[], Any]:
        client, more = made(given, mode)

        def ask() -> Any:
            if given.stream:
                return list(client.create_partial(**ASKED, **more))[-1]
            return client.create(**ASKED, **more)

        return ask

    return asking


MODES: tuple[tuple[Callable[[Given, Any], Any], str, str, tuple[str, ...]], ...] = (
    (openai, "openai-chat", "openai", ("JSON_SCHEMA", "JSON", "MD_JSON", "TOOLS")),
    (responses, "openai-responses", "openai", ("RESPONSES_TOOLS",)),
    (anthropic, "anthropic-messages", "anthropic", ("JSON_SCHEMA", "JSON", "TOOLS")),
    (genai, "gemini-generate", "google.genai", ("JSON", "TOOLS")),
    (mistral, "mistral", "mistralai", ("JSON_SCHEMA", "MD_JSON", "TOOLS")),
    (groq, "openai-chat", "groq", ("MD_JSON", "TOOLS")),
)
"""The modes of each provider, as instructor names them."""
WAYS = tuple(
    Way(f"{made.__name__} {mode}", wire, package, _asking(made, getattr(instructor.Mode, mode)))
    for made, wire, package, modes in MODES
    for mode in modes
)
