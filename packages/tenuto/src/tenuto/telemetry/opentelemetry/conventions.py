"""The words of the conventions for generative AI, schema gen-ai/1.42, for what Tenuto knows.

https://github.com/open-telemetry/semantic-conventions-genai (read 2026-11-25). Requests have those
of the conventions for HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tenuto.core.events.event import Event
from tenuto.core.events.turn import TurnStarted

if TYPE_CHECKING:
    from opentelemetry.trace import Span

SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai/1.42.0"

OPERATIONS: Mapping[str, str] = {
    "gemini-generate": "generate_content",
    "openai-completions": "text_completion",
}
"""`gen_ai.operation.name` by wire; "chat" for all others."""

PROVIDERS: Mapping[str, str] = {
    "aws": "aws.bedrock",
    "azure-openai": "azure.ai.openai",
    "azure": "azure.ai.inference",
    "deepseek": "deepseek",
    "gemini-vertex": "gcp.vertex_ai",
    "gemini": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "openai": "openai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""`gen_ai.provider.name` by what our own name of the provider begins with, the longer first. What
is in no row keeps our name."""

_INFERENCE = frozenset({"chat", "generate_content", "text_completion"})
_KINDS = frozenset({"LLM", "generation"})
_MODEL_KEYS = ("gen_ai.request.model", "llm.request.model", "llm.model_name", "llm.request.type")


@lru_cache(maxsize=256)
def provider_name(ours: str) -> str:
    """The conventions' name of a provider.

    >>> [provider_name(ours) for ours in ("azure-openai-responses", "openai", "openrouter")]
    ['azure.ai.openai', 'openai', 'openrouter']
    """
    begins = (theirs for known, theirs in PROVIDERS.items() if f"{ours}-".startswith(f"{known}-"))
    return next(begins, ours)


def common_attributes(event: Event, wire: str) -> dict[str, Any]:
    """What spans and metrics of a turn have in common."""
    given = {
        "gen_ai.operation.name": OPERATIONS.get(wire, "chat"),
        "gen_ai.provider.name": provider_name(event.provider),
    }
    return given | ({"gen_ai.request.model": event.model} if event.model else {})


def server_attributes(started: TurnStarted) -> dict[str, Any]:
    """Where the requests of a turn go; a port says nothing without its host."""
    if not started.host:
        return {}
    port = {"server.port": started.port} if started.port is not None else {}
    return {"server.address": started.host, **port}


def url_attributes(started: TurnStarted) -> dict[str, Any]:
    """The URL of a turn's requests, with what was removed written as the conventions want it.

    https://opentelemetry.io/docs/specs/semconv/registry/attributes/url/ (read 2026-11-25)
    """
    shown = started.url.replace("[removed]", "REDACTED")
    return {"url.full": shown} if shown else {}


def attributes_of(span: Span) -> Mapping[str, Any]:
    """The attributes of a span; only those of an SDK that records can be read."""
    return getattr(span, "attributes", None) or {}


def is_inference(span: Span) -> bool:
    """Whether a span is that of a call to a model, made by somebody's instrumentation.

    The span of an agent's run may name a model too; it says by its kind or operation what it is.
    """
    if not span.is_recording():
        return False
    known = attributes_of(span)
    kind = known.get("openinference.span.kind", known.get("langfuse.observation.type"))
    if kind is not None:
        return kind in _KINDS
    operation = known.get("gen_ai.operation.name")
    if operation is not None:
        return operation in _INFERENCE
    return "gen_ai.agent.name" not in known and any(key in known for key in _MODEL_KEYS)
