"""Who speaks which wire, in which dialect: one row of data a provider.

A provider is recognized by the host of its base URL, or by a `server` header of its responses; who
is not recognized gets the safe defaults of `UNKNOWN`. The rows of Chat Completions, which most of
them speak, stand in modules of their own, and so do those of Completions,
of Text Generation Inference, and of APIs that are only read.
"""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

from tenuto.providers.chat import CHAT
from tenuto.providers.chat_elsewhere import CHAT_CLOUDS, CHAT_SERVERS
from tenuto.providers.completions import COMPLETIONS, COMPLETIONS_UNKNOWN
from tenuto.providers.messages_elsewhere import MESSAGES_ELSEWHERE
from tenuto.providers.models import CLAUDE_TAKES_PREFILL, GEMINI_TAKES_PREFILL
from tenuto.providers.native import DASHSCOPE, NATIVE, TGI_UNKNOWN
from tenuto.providers.provider import Provider
from tenuto.wires.base import Dialect
from tenuto.wires.names import Names, key_of

_OLLAMA = Dialect(
    "ollama",
    prefill_models=re.compile(r"\A(?:qwen3|olmo-?3|command-a|lfm2|laguna)"),
    output_key="options.num_predict",
)
"""Ollama goes on with a trailing assistant message where it writes the prompt by itself, as for
these models, and where the model's own template leaves that message open, which nothing tells.
https://github.com/ollama/ollama/tree/main/model/renderers 2026-11-22"""

_MISTRAL = Dialect("mistral", prefill=True, prefill_row=(("prefix", True),), prefill_echoed=True)

UNKNOWN_OF = {
    "openai-chat": Provider(Dialect(), "openai-chat"),
    "anthropic-messages": Provider(
        Dialect(prefill_models=CLAUDE_TAKES_PREFILL), "anthropic-messages"
    ),
    "openai-completions": COMPLETIONS_UNKNOWN,
    # The last event of these says how the answer ended, and their SDKs rely on it.
    "openai-responses": Provider(Dialect(), "openai-responses", sends_stop=True),
    "gemini-generate": Provider(Dialect(prefill_models=GEMINI_TAKES_PREFILL), "gemini-generate"),
    "gemini-interactions": Provider(
        Dialect(output_key="generation_config.max_output_tokens"),
        "gemini-interactions",
        sends_stop=True,
    ),
    "bedrock-converse": Provider(
        Dialect(prefill_models=CLAUDE_TAKES_PREFILL, output_key="maxTokens"),
        "bedrock-converse",
        sends_stop=True,
    ),
    "bedrock-invoke": Provider(Dialect(output_key="maxTokens"), "bedrock-invoke", sends_stop=True),
    "cohere": Provider(Dialect(), "cohere"),
    # Who is behind Mistral's SDK, serves Mistral's models.
    "mistral": Provider(replace(_MISTRAL, name="unknown"), "mistral"),
    # On premises it has any host.
    "watsonx": Provider(Dialect(output_key="max_completion_tokens"), "watsonx"),
    # Whoever speaks it, speaks it for its models.
    "dashscope": Provider(replace(DASHSCOPE, name="unknown"), "dashscope"),
    "ollama": Provider(replace(_OLLAMA, name="unknown"), "ollama"),
    "tgi": TGI_UNKNOWN,
}
"""Who is behind a host that no row names: by wire, the safe defaults."""

UNKNOWN = UNKNOWN_OF["openai-chat"]

PROVIDERS: tuple[Provider, ...] = (
    *CHAT,
    *CHAT_CLOUDS,
    *CHAT_SERVERS,
    *COMPLETIONS,
    *NATIVE,
    Provider(
        Dialect("anthropic", prefill_models=CLAUDE_TAKES_PREFILL),
        "anthropic-messages",
        hosts=("api.anthropic.com",),
        authorization="x-api-key",
        sends_stop=True,
        source="https://platform.claude.com/docs/en/api/messages 2026-11-21",
    ),
    *MESSAGES_ELSEWHERE,
    Provider(
        Dialect("aws-bedrock", prefill_models=CLAUDE_TAKES_PREFILL),
        "anthropic-messages",
        hosts=(".amazonaws.com",),
        sends_stop=True,
        source="https://docs.aws.amazon.com/bedrock/latest/userguide/"
        "model-parameters-anthropic-claude-messages.html 2026-11-21",
    ),
    Provider(
        # Nova takes a prefill too, but white space at the beginning of what it adds is trimmed:
        # whether a word goes on or another begins would be lost.
        Dialect("aws-converse", prefill_models=CLAUDE_TAKES_PREFILL, output_key="maxTokens"),
        "bedrock-converse",
        hosts=(".amazonaws.com",),
        sends_stop=True,
        source="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html "
        "2026-11-22",
    ),
    Provider(
        Dialect("aws-invoke", output_key="maxTokens"),
        "bedrock-invoke",
        hosts=(".amazonaws.com",),
        sends_stop=True,
        source="https://docs.aws.amazon.com/nova/latest/userguide/complete-request-schema.html "
        "2026-11-22",
    ),
    Provider(
        Dialect("google-vertex", prefill_models=CLAUDE_TAKES_PREFILL),
        "anthropic-messages",
        hosts=(".googleapis.com",),
        source="https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude "
        "2026-11-21",
    ),
    Provider(
        Dialect("azure-foundry", prefill_models=CLAUDE_TAKES_PREFILL),
        "anthropic-messages",
        hosts=(".services.ai.azure.com",),
        authorization="x-api-key",
        source="https://learn.microsoft.com/azure/ai-foundry 2026-11-21",
    ),
    Provider(
        Dialect("openai-responses", output_key="max_output_tokens"),
        "openai-responses",
        hosts=("api.openai.com", ".api.openai.com"),
        sends_stop=True,
        source="https://platform.openai.com/docs/api-reference/responses 2026-11-22",
    ),
    Provider(
        Dialect("azure-openai-responses", output_key="max_output_tokens"),
        "openai-responses",
        hosts=(".openai.azure.com", ".services.ai.azure.com"),
        authorization="api-key",
        sends_stop=True,
        source="https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses 2026-11-22",
    ),
    Provider(
        Dialect("gemini", prefill_models=GEMINI_TAKES_PREFILL),
        "gemini-generate",
        hosts=("generativelanguage.googleapis.com",),
        authorization="x-goog-api-key",
        sends_stop=True,
        source="https://ai.google.dev/api/generate-content 2026-11-22",
    ),
    Provider(
        Dialect("gemini-interactions", output_key="generation_config.max_output_tokens"),
        "gemini-interactions",
        hosts=("generativelanguage.googleapis.com",),
        authorization="x-goog-api-key",
        sends_stop=True,
        source="https://ai.google.dev/api/interactions-api 2026-11-22",
    ),
    Provider(
        Dialect("gemini-vertex-interactions", output_key="generation_config.max_output_tokens"),
        "gemini-interactions",
        hosts=(".googleapis.com",),
        sends_stop=True,
        source="https://docs.cloud.google.com/gemini-enterprise-agent-platform/reference/rest "
        "2026-11-22",
    ),
    Provider(
        Dialect("gemini-vertex", prefill_models=GEMINI_TAKES_PREFILL),
        "gemini-generate",
        hosts=(".googleapis.com",),
        sends_stop=True,
        source="https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference "
        "2026-11-22",
    ),
    Provider(
        # A trailing assistant message is accepted, and not gone on with.
        Dialect("cohere"),
        "cohere",
        hosts=("api.cohere.com", "api.cohere.ai"),
        sends_stop=True,
        source="https://docs.cohere.com/reference/chat 2026-11-22",
    ),
    Provider(
        _MISTRAL,
        "mistral",
        hosts=(
            "api.mistral.ai",
            "api.eu.mistral.ai",
            "api.us.mistral.ai",
            "codestral.mistral.ai",
        ),
        usage=("usage.num_cached_tokens",),
        quirks=(
            "q05-call-without-type",
            "q22-error-in-the-middle-stream",
            "q42-whole-call-in-one-event-stream",
            "thinking-chunks-stream",
        ),
        sends_stop=True,
        source="https://docs.mistral.ai/api; mistralai 3.7.0, mistralai/client/models 2026-11-22",
    ),
    Provider(
        _OLLAMA,
        "ollama",
        hosts=(
            "localhost:11434",
            "127.0.0.1:11434",
            "host.docker.internal:11434",
            "ollama:11434",
            "ollama.com",
        ),
        source="https://docs.ollama.com/api 2026-11-22",
    ),
)


def _shipped() -> dict[str, Provider]:
    return {key_of(row.dialect.name, row.version): row for row in PROVIDERS}


ROWS: Names[Provider] = Names(_shipped)
"""The rows in force: those above, and what `tenuto.register` added."""


def by_url(url: str, wire: str = "openai-chat") -> Provider:
    """The provider behind a URL that speaks a wire, the unknown one where no row names its host.

    >>> by_url("https://api.openai.com/v1/chat/completions").dialect.name
    'openai'
    """
    parts = urlsplit(url)
    for row in ROWS.all().values():
        if row.wire.partition("@")[0] == wire and row.serves(parts):
            return row
    return UNKNOWN_OF.get(wire, UNKNOWN)


def by_server(server: str, wire: str = "openai-chat") -> Provider:
    """The provider that a response's `server` header names, the unknown one where no row has it.

    >>> by_server("llama.cpp").dialect.prefill
    True
    """
    word = server.lower()
    for row in ROWS.all().values():
        if row.server and word.startswith(row.server) and row.wire.partition("@")[0] == wire:
            return row
    return UNKNOWN_OF.get(wire, UNKNOWN)
