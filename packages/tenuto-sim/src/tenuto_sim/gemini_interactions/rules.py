"""The rules for requests, and the provider's error messages. `history` has those for steps.

Quoted texts come from https://ai.google.dev/gemini-api/docs/api-errors or public reports (read
2026-11-22). The others have the form of the service's errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.asked import at
from tenuto_sim.gemini_interactions.errors import (
    WORDS,
    failure,
    missing,
    mistyped,
    out_of_range,
    too_many_tokens,
    unknown_parameter,
    unsupported,
)
from tenuto_sim.gemini_interactions.history import history_violations
from tenuto_sim.gemini_interactions.request import kind_of, steps_of
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Types, Violations, from_us, others

_TYPES: Final[Types] = {
    "model": str, "previous_interaction_id": str, "continuation_token": str,
    "system_instruction": str, "tools": list, "generation_config": dict,
    "stream": bool, "store": bool, "background": bool,
}  # fmt: skip
KEYS: Final = frozenset(
    {"agent", "agent_config", "cached_content", "environment", "input", "labels"}
    | {"response_format", "response_mime_type", "response_modalities", "safety_settings"}
    | {"service_tier", "webhook_config", *_TYPES}
)
CONFIG: Final = frozenset(
    {"image_config", "max_output_tokens", "seed", "speech_config", "stop_sequences"}
    | {"temperature", "thinking_level", "thinking_summaries", "tool_choice", "top_p"}
    | {"transcription_config", "video_config"}
)
TOOLS: Final = (
    *("function", "code_execution", "mcp_server", "google_maps", "google_search", "computer_use"),
    *("file_search", "url_context", "retrieval", "tool_search"),
)
FORMATS: Final = (
    *("image", "object", "audio", "string", "video", "number", "integer", "boolean", "text"),
    "array",
)
"""Formats of an answer: a medium, or a type of JSON Schema."""
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "thinking_level": ("minimal", "low", "medium", "high", "xhigh"),
    "thinking_summaries": ("auto", "none"),
    "tool_choice": ("auto", "any", "none", "validated"),
}
_MOST: Final = {"temperature": ("temperature", 2), "top_p": ("topP", 1)}
"""For each number, its name in errors, and its maximum."""

Body = Mapping[str, Any]


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all.

    >>> next(impossible({"model": "sim"})).document["error"]["message"]
    "'input' is required."
    """
    if not isinstance(body, dict):
        yield failure("Invalid JSON payload.")
    yield from WORDS.of_types(body, _TYPES, null=True)
    if not body.get("model"):
        yield failure("'model' is required.")
    if body.get("input") is None and not body.get("continuation_token"):
        yield failure("'input' is required.")
    yield from WORDS.of_types(body, {"input": str | dict | list}, null=True)
    for i, step in enumerate(steps_of(body)):
        if not isinstance(kind_of(step), str):
            yield missing(f"input[{i}].type")


def violations(headers: Mapping[str, str], body: Body, settings: Settings) -> Violations:
    """Yield the other violations of a request.

    >>> ask = {"background": True, "store": False}
    >>> next(violations({}, ask, Settings())).document["error"]["message"]
    "'store=false' is incompatible with 'background=true'."
    """
    yield from from_us(headers, lambda name: failure(f"Unknown header: {name}"))
    yield from others(body, KEYS, unknown_parameter)
    if body.get("background") and body.get("store") is False:
        yield failure("'store=false' is incompatible with 'background=true'.")
    yield from _config(body.get("generation_config") or {}, settings.max_output_tokens)
    yield from _formats(body.get("response_format"))
    for i, tool in enumerate(body.get("tools") or ()):
        if kind_of(tool) not in TOOLS:
            yield unsupported(f"tools[{i}]", kind_of(tool), TOOLS)
        if kind_of(tool) == "function" and not isinstance(tool.get("name"), str):
            yield missing(f"tools[{i}].name")
    choice = (body.get("generation_config") or {}).get("tool_choice")
    if choice in ("any", "validated") and not body.get("tools"):
        yield failure("'tools' is required where 'tool_choice' asks for a call.")
    yield from history_violations(steps_of(body))


def _formats(given: Any) -> Violations:
    listed = [given] if isinstance(given, dict) else given or ()
    for i, one in enumerate(listed):
        if kind_of(one) not in FORMATS:
            place = "response_format" if listed is not given else f"response_format[{i}]"
            yield unsupported(place, kind_of(one), FORMATS)


def _config(config: Body, ceiling_tokens: int) -> Violations:
    yield from others(config, CONFIG, lambda name: unknown_parameter(f"generation_config.{name}"))
    budget = config.get("max_output_tokens")
    if budget is not None and type(budget) is not int:
        yield mistyped("generation_config.max_output_tokens")
    if budget is not None and not 1 <= budget <= ceiling_tokens:
        yield too_many_tokens("", budget, ceiling_tokens)
    for name, (spelled, most) in _MOST.items():
        value = config.get(name)
        if value is not None and type(value) not in (int, float):
            yield mistyped(f"generation_config.{name}")
        if value is not None and not 0 <= value <= most:
            yield out_of_range(spelled, value, f"0 (inclusive) to {most} (inclusive)")
    choice = config.get("tool_choice")
    allowed = at(choice, "allowed_tools")
    mode = allowed.get("mode") if isinstance(allowed, dict) else choice
    for name, supported in _WORDS.items():
        value = mode if name == "tool_choice" else config.get(name)
        if value is not None and value not in supported:
            yield unsupported("generation_config", value, supported, name)
