"""pydantic-ai: `NativeOutput`, `ToolOutput` and `PromptedOutput` over the models of each provider."""

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from structured import LIMIT_TOKENS, QUESTION, Given, Tide, Way

DISTRIBUTION = "pydantic-ai-slim"


def openai(given: Given) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel

    return OpenAIChatModel("gpt-5-mini", provider=_of_openai(given))


def responses(given: Given) -> Any:
    from pydantic_ai.models.openai import OpenAIResponsesModel

    return OpenAIResponsesModel("gpt-5-mini", provider=_of_openai(given))


def _of_openai(given: Given) -> Any:
    from openai import AsyncOpenAI
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(base_url=given.url, api_key="key", max_retries=0)
    return OpenAIProvider(openai_client=given.wrap(client))


def anthropic(given: Given) -> Any:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = given.wrap(AsyncAnthropic(base_url=given.root, api_key="key", max_retries=0))
    return AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(anthropic_client=client))


def google(given: Given) -> Any:
    from google import genai
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    client = given.wrap(genai.Client(api_key="key", http_options={"base_url": given.root}))
    return GoogleModel("gemini-3.6-flash", provider=GoogleProvider(client=client))


def mistral(given: Given) -> Any:
    from mistralai.client import Mistral
    from pydantic_ai.models.mistral import MistralModel
    from pydantic_ai.providers.mistral import MistralProvider

    client = given.wrap(Mistral(api_key="key", server_url=given.root))
    return MistralModel("mistral-small-latest", provider=MistralProvider(mistral_client=client))


def groq(given: Given) -> Any:
    from groq import AsyncGroq
    from pydantic_ai.models.groq import GroqModel
    from pydantic_ai.providers.groq import GroqProvider

    client = given.wrap(AsyncGroq(base_url=given.root, api_key="key", max_retries=0))
    return GroqModel("openai/gpt-oss-20b", provider=GroqProvider(groq_client=client))


async def _read(_: Any, events: Any) -> None:
    async for _event in events:
        pass


def _asking(made: Callable[[Given], Any], output: Any) -> Callable[[Given], Callable[[], Any]]:
    def asking(given: Given) -> Callable[[], Any]:
        settings: Any = {"max_tokens": LIMIT_TOKENS}
        agent: Any = Agent(made(given), output_type=output(Tide), model_settings=settings)
        handler = _read if given.stream else None

        async def ask() -> Any:
            return (await agent.run(QUESTION, event_stream_handler=handler)).output

        return lambda: asyncio.run(ask())

    return asking


OUTPUTS = (NativeOutput, PromptedOutput, ToolOutput)
MODELS: tuple[tuple[Callable[[Given], Any], str, str, tuple[Any, ...]], ...] = (
    (openai, "openai-chat", "openai", OUTPUTS),
    (responses, "openai-responses", "openai", OUTPUTS),
    (anthropic, "anthropic-messages", "anthropic", OUTPUTS),
    (google, "gemini-generate", "google.genai", OUTPUTS),
    (mistral, "mistral", "mistralai", (PromptedOutput, ToolOutput)),  # it has no other
    (groq, "openai-chat", "groq", OUTPUTS),
)
WAYS = tuple(
    Way(f"{made.__name__} {output.__name__}", wire, package, _asking(made, output))
    for made, wire, package, outputs in MODELS
    for output in outputs
)
