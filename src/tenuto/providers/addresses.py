"""Base URLs and key variables of providers, for agents, which have no SDK of their own.

A test checks each address against its row. Addresses are those of the providers' quick starts, read
2026-11-22; the links stand in the rows (`Row.source`).
"""

from __future__ import annotations

from typing import NamedTuple


class Address(NamedTuple):
    """Where to reach one provider.

    Attributes:
        base_url: without the path that the wire adds. It may contain an environment variable with
            its default, in braces: `{AWS_REGION:us-east-1}`.
        key_variable: the environment variable that holds the key; "": no key is needed.
    """

    base_url: str
    key_variable: str = ""


_BEDROCK = Address(
    "https://bedrock-runtime.{AWS_REGION:us-east-1}.amazonaws.com", "AWS_BEARER_TOKEN_BEDROCK"
)

ADDRESSES: dict[str, Address] = {
    "anthropic": Address("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "aws-converse": _BEDROCK,
    "aws-invoke": _BEDROCK,
    "cerebras": Address("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "cohere": Address("https://api.cohere.com", "CO_API_KEY"),
    "deepseek": Address("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "fireworks": Address("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "gemini": Address("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    "gemini-interactions": Address("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    "groq": Address("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": Address("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "moonshot": Address("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    "ollama": Address("http://localhost:11434"),
    "openai": Address("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openai-responses": Address("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": Address("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "perplexity": Address("https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    "together": Address("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "xai": Address("https://api.x.ai/v1", "XAI_API_KEY"),
    "zai": Address("https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
}
"""Addresses by the name of the provider's row. All others need a base URL from the user."""
