"""LangChain: `with_structured_output` of each model, by each of its methods. A stream is `streaming=True`."""

from collections.abc import Callable
from typing import Any

from structured import LIMIT_TOKENS, QUESTION, Given, Tide, Way

DISTRIBUTION = "langchain"
LIMITED: dict[str, Any] = {"model": "m", "max_tokens": LIMIT_TOKENS, "max_retries": 0}


def openai(given: Given) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(
        base_url=given.url,
        api_key="key",
        http_client=given.http(),
        streaming=given.stream,
        **LIMITED,
    )


def responses(given: Given) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(
        base_url=given.url, api_key="key", http_client=given.http(), streaming=given.stream,
        use_responses_api=True, **LIMITED,
    )  # fmt: skip


def anthropic(given: Given) -> Any:
    from langchain_anthropic import ChatAnthropic

    model = ChatAnthropic(base_url=given.root, api_key="key", streaming=given.stream, **LIMITED)
    vars(model)["_client"] = given.wrap(model._client)  # it takes no client
    return model


def google(given: Given) -> Any:
    from langchain_google_genai import ChatGoogleGenerativeAI

    limited = {"model": "m", "max_output_tokens": LIMIT_TOKENS, "max_retries": 1}
    model = ChatGoogleGenerativeAI(
        base_url=given.root, google_api_key="key", streaming=given.stream, **limited
    )
    model.client = given.wrap(model.client)
    return model


def mistral(given: Given) -> Any:
    from langchain_mistralai import ChatMistralAI

    headers = {"authorization": "Bearer key"}
    client = given.http("httpx", base_url=given.url, headers=headers)
    return ChatMistralAI(api_key="key", client=client, streaming=given.stream, **LIMITED)


def groq(given: Given) -> Any:
    from langchain_groq import ChatGroq

    http = given.http("httpx")
    return ChatGroq(
        base_url=given.root, api_key="key", http_client=http, streaming=given.stream, **LIMITED
    )


def _asking(made: Callable[[Given], Any], method: str) -> Callable[[Given], Callable[[], Any]]:
    def asking(given: Given) -> Callable[[], Any]:
        model = made(given).with_structured_output(Tide, method=method)
        return lambda: model.invoke(QUESTION)

    return asking


METHODS = ("json_schema", "json_mode", "function_calling")
MODELS: tuple[tuple[Callable[[Given], Any], str, str, tuple[str, ...]], ...] = (
    (openai, "openai-chat", "langchain_openai", METHODS),
    (responses, "openai-responses", "langchain_openai", METHODS),
    (anthropic, "anthropic-messages", "langchain_anthropic", ("json_schema", "function_calling")),
    (google, "gemini-generate", "langchain_google_genai", METHODS),
    (mistral, "mistral", "langchain_mistralai", METHODS),
    (groq, "openai-chat", "langchain_groq", METHODS),
)
WAYS = tuple(
    Way(f"{made.__name__} {method}", wire, package, _asking(made, method))
    for made, wire, package, methods in MODELS
    for method in methods
)
