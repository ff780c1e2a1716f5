"""The providers, the wires that they speak, and their dialects: one row of data per provider.

Tenuto recognizes a provider by the host of its base URL, or by a `server` header of its responses.
Others get the safe defaults of `UNKNOWN`. Rows of Chat Completions, which most of them speak, are
in `chat`, and rows of other APIs beside it are in `beside`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from urllib.parse import urlsplit

from tenuto.providers.beside import COMPLETIONS, MESSAGES
from tenuto.providers.chat import CHAT
from tenuto.providers.provider import SPOKEN, Row, row
from tenuto.wires.names import UNKNOWN as NO_NAME
from tenuto.wires.names import Names, key_of
from tenuto.wires.registry import WIRES

UNKNOWN_OF = {wire: row(wire, NO_NAME) for wire in SPOKEN}
"""The rows with safe defaults, by built-in wire, for hosts that no row names."""

UNKNOWN = UNKNOWN_OF["openai-chat"]

PROVIDERS: tuple[Row, ...] = (
    *CHAT,
    *COMPLETIONS,
    row("anthropic-messages", "anthropic", ("api.anthropic.com",),
        "https://platform.claude.com/docs/en/api/messages 2026-11-21",
        authorization="x-api-key", sends_stop=True),
    *MESSAGES,
    row("anthropic-messages", "aws-bedrock", (".amazonaws.com",),
        "https://docs.aws.amazon.com/bedrock/latest/userguide/"
        "model-parameters-anthropic-claude-messages.html 2026-11-21",
        sends_stop=True),
    row("bedrock-converse", "aws-converse", (".amazonaws.com",),
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html "
        "2026-11-22"),
    row("bedrock-invoke", "aws-invoke", (".amazonaws.com",),
        "https://docs.aws.amazon.com/nova/latest/userguide/complete-request-schema.html "
        "2026-11-22"),
    row("anthropic-messages", "google-vertex", (".googleapis.com",),
        "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude 2026-11-21"),
    row("anthropic-messages", "azure-foundry", (".services.ai.azure.com",),
        "https://learn.microsoft.com/azure/ai-foundry 2026-11-21",
        authorization="x-api-key"),
    row("openai-responses", "openai-responses", ("api.openai.com", ".api.openai.com"),
        "https://platform.openai.com/docs/api-reference/responses 2026-11-22",
        most_id_chars=64),
    row("openai-responses", "azure-openai-responses",
        (".openai.azure.com", ".services.ai.azure.com"),
        "https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses 2026-11-22",
        most_id_chars=64, authorization="api-key"),
    row("gemini-generate", "gemini", ("generativelanguage.googleapis.com",),
        "https://ai.google.dev/api/generate-content 2026-11-22",
        authorization="x-goog-api-key", sends_stop=True),
    row("gemini-interactions", "gemini-interactions", ("generativelanguage.googleapis.com",),
        "https://ai.google.dev/api/interactions-api 2026-11-22",
        authorization="x-goog-api-key"),
    row("gemini-interactions", "gemini-vertex-interactions", (".googleapis.com",),
        "https://docs.cloud.google.com/gemini-enterprise-agent-platform/reference/rest 2026-11-22"),
    row("gemini-generate", "gemini-vertex", (".googleapis.com",),
        "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference "
        "2026-11-22",
        sends_stop=True),
    row("cohere", "cohere", ("api.cohere.com", "api.cohere.ai"),
        "https://docs.cohere.com/reference/chat 2026-11-22", sends_stop=True),
    row("mistral", "mistral",
        ("api.mistral.ai", "api.eu.mistral.ai", "api.us.mistral.ai", "codestral.mistral.ai"),
        "https://docs.mistral.ai/api; mistralai 3.7.0, mistralai/client/models 2026-11-22",
        sends_stop=True, usage=("usage.num_cached_tokens",),
        quirks=("q05-call-without-type", "q22-error-in-the-middle-stream",
                "q42-whole-call-in-one-event-stream", "thinking-chunks-stream")),
    row("ollama", "ollama",
        ("localhost:11434", "127.0.0.1:11434", "host.docker.internal:11434", "ollama:11434",
         "ollama.com"),
        "https://docs.ollama.com/api 2026-11-22", sends_stop=True),
)  # fmt: skip


def _shipped() -> dict[str, Row]:
    return {key_of(each.dialect.name, each.version): each for each in PROVIDERS}


ROWS: Names[Row] = Names(_shipped)
"""The rows in force: those above, and those that `tenuto.register_provider` added."""


def unknown_of(wire: str) -> Row:
    """Return the row with safe defaults for a wire, which need not be built in.

    >>> unknown_of("acme").wire, unknown_of("acme").dialect.name
    ('acme', 'unknown')
    """
    return UNKNOWN_OF.get(wire) or _rows_of(wire, WIRES.changes)[0]


@lru_cache(maxsize=256)
def _rows_of(wire: str, changes: int) -> tuple[Row, Row | None]:
    """Return the row of unknown providers of a wire that is not built in, and that of its own
    provider, if it has one."""
    found = WIRES.find(wire)
    dialect = found.dialect if found is not None else None
    if dialect is None:
        unknown = replace(UNKNOWN, wire=wire)
    else:
        unknown = Row(replace(dialect, name=UNKNOWN.dialect.name), wire)
    if found is None or not found.hosts:
        return unknown, None
    named = replace(unknown.dialect, name=found.name)
    return unknown, Row(named, wire, hosts=found.hosts, source="the wire's own")


def own_row(wire: str) -> Row | None:
    """Return the row of a wire's own provider, on a wire that is not built in; None: it has
    none."""
    return None if wire in UNKNOWN_OF else _rows_of(wire, WIRES.changes)[1]


def by_url(url: str, wire: str = "openai-chat") -> Row:
    """Return the provider at a URL that speaks a wire; the unknown one if no row names its host.

    >>> by_url("https://api.openai.com/v1/chat/completions").dialect.name
    'openai'
    """
    parts = urlsplit(url)
    for known in ROWS.all().values():
        if known.wire.partition("@")[0] == wire and known.serves(parts):
            return known
    own = own_row(wire)
    return own if own is not None and own.serves(parts) else unknown_of(wire)


def by_server(server: str, wire: str = "openai-chat") -> Row:
    """Return the provider that a response's `server` header names; the unknown one if no row has
    it.

    >>> by_server("llama.cpp").dialect.prefill
    True
    """
    word = server.lower()
    for known in ROWS.all().values():
        speaks = known.wire.partition("@")[0] == wire
        if speaks and known.server and word.startswith(known.server):
            return known
    return unknown_of(wire)
