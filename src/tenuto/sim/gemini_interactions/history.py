"""Which requests are refused, and in which words.

Theory of operation: a request passes through the rules in a fixed order and the first violation is
the answer. The rules of calls and results are those of generateContent, which the same models have:
https://ai.google.dev/gemini-api/docs/function-calling (read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tenuto.sim.errors import Failure
from tenuto.sim.gemini_interactions.errors import (
    failure,
    too_many_tokens,
    unknown_parameter,
    unsupported,
)
from tenuto.sim.gemini_interactions.request import CONTENT, kind_of, steps_of
from tenuto.sim.gemini_interactions.seals import is_signature

KEYS: Final = frozenset(
    {"agent", "agent_config", "background", "cached_content", "continuation_token", "environment"}
    | {"generation_config", "input", "labels", "model", "previous_interaction_id"}
    | {"response_format", "response_mime_type", "response_modalities", "safety_settings"}
    | {"service_tier", "store", "stream", "system_instruction", "tools", "webhook_config"}
)
CONFIG: Final = frozenset(
    {"image_config", "max_output_tokens", "seed", "speech_config", "stop_sequences"}
    | {"temperature", "thinking_level", "thinking_summaries", "tool_choice", "top_p"}
    | {"transcription_config", "video_config"}
)
STEPS: Final[Mapping[str, tuple[frozenset[str], frozenset[str]]]] = {
    "user_input": (frozenset({"content"}), frozenset()),
    "model_output": (frozenset({"content"}), frozenset()),
    "thought": (frozenset(), frozenset({"signature", "summary"})),
    "function_call": (frozenset({"id", "name", "arguments"}), frozenset({"signature"})),
    "function_result": (frozenset({"call_id", "result"}), frozenset({"name", "is_error"})),
    "google_search_call": (
        frozenset({"id", "arguments"}),
        frozenset({"search_type", "signature"}),
    ),
    "google_search_result": (
        frozenset({"call_id", "result"}),
        frozenset({"is_error", "signature"}),
    ),
}
"""Of each step: keys that must be there, and keys that may, besides its type."""

TOOLS: Final[Mapping[str, None]] = {
    "function": None, "code_execution": None, "mcp_server": None, "google_maps": None,
    "google_search": None, "computer_use": None, "file_search": None, "url_context": None,
    "retrieval": None, "tool_search": None,
}  # fmt: skip
UNEQUAL: Final = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "model": (str,),
    "tools": (list,),
    "stream": (bool,),
    "store": (bool,),
    "background": (bool,),
    "generation_config": (dict,),
    "previous_interaction_id": (str,),
    "continuation_token": (str,),
}

Violations = Iterator[Failure]
Steps = Sequence[Mapping[str, Any]]


def impossible(body: Any) -> Failure | None:
    """Return what is wrong with a body that could not be answered at all.

    >>> impossible({"model": "sim"}).document["error"]["message"]
    "'input' is required."
    """
    return next(_shape(body), None) if isinstance(body, dict) else failure("Invalid JSON payload.")


def _shape(body: Mapping[str, Any]) -> Violations:
    for name, types in _TYPES.items():
        if body.get(name) is not None and not isinstance(body[name], types):
            yield failure(f"Invalid value at '{name}'.")
    if not body.get("model"):
        yield failure("'model' is required.")
    given = body.get("input")
    if given is None and not body.get("continuation_token"):
        yield failure("'input' is required.")
    if given is not None and not isinstance(given, str | dict | list):
        yield failure("Invalid value at 'input'.")
    for i, step in enumerate(steps_of(body)):
        if not isinstance(kind_of(step), str):
            yield failure(f"'type' is required at 'input[{i}]'.")


def violation(headers: Mapping[str, str], body: Mapping[str, Any], ceiling: int) -> Failure | None:
    """Return the first rule that a request breaks, None where it breaks none.

    >>> violation({}, {"model": "sim", "input": "x"}, 100) is None
    True
    """

    def rules() -> Violations:
        for name in headers:
            if name.startswith("x-tenuto-"):
                yield failure(f"Unknown header: {name}")
        yield from _body(body, ceiling)
        steps = steps_of(body)
        for i, step in enumerate(steps):
            yield from _step(f"input[{i}]", step)
        yield from _pairs(steps)

    return next(rules(), None)


def _body(body: Mapping[str, Any], ceiling: int) -> Violations:
    for name in body:
        if name not in KEYS:
            yield unknown_parameter(name)
    config = body.get("generation_config") or {}
    for name in config:
        if name not in CONFIG:
            yield unknown_parameter(f"generation_config.{name}")
    budget = config.get("max_output_tokens")
    if budget is not None and (type(budget) is not int or not 1 <= budget <= ceiling):
        yield too_many_tokens("", budget, ceiling)
    if config.get("tool_choice") in ("any", "validated") and not body.get("tools"):
        yield failure("'tools' is required where 'tool_choice' asks for a call.")
    for i, tool in enumerate(body.get("tools") or ()):
        if kind_of(tool) not in TOOLS:
            yield unsupported(f"tools[{i}]", kind_of(tool), TOOLS)


def _step(path: str, step: Mapping[str, Any]) -> Violations:
    kind = kind_of(step)
    if kind not in STEPS:
        yield unsupported(path, kind, STEPS)
        return
    required, optional = STEPS[kind]
    for name in sorted(required):
        if name not in step:
            yield failure(f"'{name}' is required at '{path}'.")
    for name in step:
        if name not in required | optional | {"type"}:
            yield unknown_parameter(f"{path}.{name}")
    if kind == "thought" and "signature" in step and not is_signature(step["signature"]):
        yield failure(f"Thought signature is not valid at '{path}'.")
    if kind == "function_call" and not isinstance(step["arguments"], dict):
        yield failure(f"Invalid value at '{path}.arguments': expected an object.")
    if kind in ("user_input", "model_output"):
        yield from _content(path, step["content"])


def _content(path: str, content: Any) -> Violations:
    if not isinstance(content, list) or not content:
        yield failure(f"'content' must hold at least one part at '{path}'.")
        return
    for i, part in enumerate(content):
        if kind_of(part) not in CONTENT:
            yield unsupported(f"{path}.content[{i}]", kind_of(part), dict.fromkeys(CONTENT))
        elif kind_of(part) == "text" and not str(part.get("text") or "").strip():
            yield failure(f"'text' must not be empty at '{path}.content[{i}]'.")


def _pairs(steps: Steps) -> Violations:
    """Every call is answered before the user says more, once; no result without a call."""
    waiting: set[Any] = set()
    known: set[Any] = set()
    for step in steps:
        kind = kind_of(step)
        if kind == "function_call":
            if step["id"] in known:
                yield failure(f"Duplicate function call id '{step['id']}'.")
            known.add(step["id"])
            waiting.add(step["id"])
        elif kind == "function_result":
            if step["call_id"] not in waiting:
                yield failure(UNEQUAL)
            waiting.discard(step["call_id"])
        elif waiting and kind == "user_input":
            yield failure(UNEQUAL)
    if waiting:
        yield failure(UNEQUAL)
