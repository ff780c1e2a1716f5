"""The rules for requests, and the provider's error messages.

Theory of operation: a request passes through the rules in a fixed order, and the first violation is
the answer. The id of an item that the provider made shows the reasoning that led to it, without
which the item is refused (`seals`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from tenuto_sim.history import is_json_object, text_of
from tenuto_sim.openai_chat.errors import above, failure, missing, mistyped
from tenuto_sim.openai_chat.history import NOT_JSON, header_violations, number_rules, types_rules
from tenuto_sim.openai_responses.errors import (
    WORDS,
    unknown_parameter,
    unsupported,
)
from tenuto_sim.openai_responses.request import items_of, kind_of
from tenuto_sim.openai_responses.seals import cipher, tied_to
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Shape, Types, Violations, others

_TYPES: Final[Types] = {
    "model": str, "instructions": str, "previous_response_id": str, "tools": list,
    "stream": bool, "store": bool, "background": bool, "text": dict, "reasoning": dict,
}  # fmt: skip
KEYS: Final = frozenset(
    {"context_management", "conversation", "include", "input", "max_output_tokens"}
    | {"max_tool_calls", "metadata", "parallel_tool_calls", "prompt", "prompt_cache_key"}
    | {"prompt_cache_retention", "safety_identifier", "service_tier", "stream_options"}
    | {"temperature", "tool_choice", "top_logprobs", "top_p", "truncation", "user", *_TYPES}
)
LEAST_OUTPUT_TOKENS: Final = 16
NO_INPUT: Final = (
    "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be "
    "provided."
)
NO_OUTPUT: Final = "No tool output found for function call {id}."
NO_CALL: Final = "No tool call found for function call output with call_id {id}."
NOTHING_FOLLOWS: Final = (
    "Item '{id}' of type 'reasoning' was provided without its required following item."
)
NO_REASONING: Final = (
    "Item '{id}' of type '{type}' was provided without its required 'reasoning' item: '{tie}'."
)
BROKEN_ARGUMENTS: Final = "invalid tool call arguments"
"""OpenAI accepts broken arguments back; other providers of this wire do not."""

_OF_ITEM: Final[Types] = {"call_id": str, "name": str, "arguments": str}
_shape = partial(Shape.of, types=_OF_ITEM)
ITEMS: Final[Mapping[str, tuple[str, Shape]]] = {
    "message": ("msg", _shape("content role", "type id status phase")),
    "function_call": ("fc", _shape("arguments call_id name", "type id status namespace caller")),
    "function_call_output": ("fc", _shape("call_id output", "type id status")),
    "custom_tool_call": ("ctc", _shape("call_id input name", "type id namespace status")),
    "custom_tool_call_output": ("ctc", _shape("call_id output", "type id")),
    "reasoning": ("rs", _shape("id summary", "type content encrypted_content status")),
    "web_search_call": ("ws", _shape("action id status", "type")),
    "item_reference": ("", _shape("id", "type")),
}
"""For each item, the beginning of its id, and its members."""

_IN: Final = ("input_text", "input_image", "input_file")
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "assistant": ("output_text", "refusal"),
    "user": _IN,
    "system": _IN,
    "developer": _IN,
}
MADE_BY_THE_MODEL: Final = frozenset({"function_call", "custom_tool_call", "web_search_call"})
_CALLS: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}

Items = Sequence[Mapping[str, Any]]


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all.

    >>> next(impossible({"input": "x"})).document["error"]["message"]
    "Missing required parameter: 'model'."
    """
    if not isinstance(body, dict):
        yield failure(NOT_JSON)
    if not body.get("model"):
        yield missing("model")
    yield from types_rules(body, _TYPES)
    given = body.get("input")
    if given is None and not any(map(body.get, ("previous_response_id", "prompt", "conversation"))):
        yield failure(NO_INPUT, param="input", code="missing_required_parameter")
    yield from types_rules(body, {"input": str | list})
    for i, item in enumerate(items_of(body)):
        if not isinstance(item, dict):
            yield mistyped(f"input[{i}]", dict, item)
        if "type" not in item and "role" not in item:
            yield missing(f"input[{i}].type")


def violations(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Violations:
    """Yield the other violations of a request."""
    yield from header_violations(headers)
    yield from _body(body, settings.max_output_tokens)
    items = items_of(body)
    for i, item in enumerate(items):
        yield from _item(f"input[{i}]", item)
    for rule in (_calls, _results, _reasoning):
        yield from rule(items)


def _body(body: Mapping[str, Any], ceiling: int) -> Violations:
    yield from others(body, KEYS, unknown_parameter)
    if body.get("previous_response_id") and body.get("conversation"):
        yield failure(
            "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.",
            code="mutually_exclusive_parameters",
        )
    budget = body.get("max_output_tokens")
    yield from number_rules("max_output_tokens", budget, ceiling, LEAST_OUTPUT_TOKENS, above)
    if body.get("tool_choice") not in (None, "auto", "none") and not body.get("tools"):
        yield failure(
            "Tool choice 'required' must be specified with 'tools' parameter.",
            param="tool_choice",
        )
    for i, tool in enumerate(body.get("tools") or ()):
        if not isinstance(tool, dict) or "type" not in tool:
            yield missing(f"tools[{i}].type")
        elif tool["type"] == "function" and not isinstance(tool.get("name"), str):
            yield missing(f"tools[{i}].name")


def _item(path: str, item: Mapping[str, Any]) -> Violations:
    kind = kind_of(item)
    if not isinstance(kind, str) or kind not in ITEMS:
        yield unsupported(f"{path}.type", kind, *ITEMS)
    prefix, shape = ITEMS[kind]
    yield from shape.violations(path, item, WORDS)
    yield from WORDS.of_types(item, {"id": str}, f"{path}.", null=True)
    id_ = item.get("id")
    if id_ is not None and not id_.startswith(prefix):
        yield failure(
            f"Invalid '{path}.id': '{id_}'. Expected an ID that begins with '{prefix}'.",
            param=f"{path}.id",
            code="invalid_value",
        )
    if kind == "message":
        yield from _message(path, item)
    elif kind == "function_call" and not is_json_object(item["arguments"]):
        yield failure(BROKEN_ARGUMENTS, param=f"{path}.arguments")
    elif kind == "reasoning" and item.get("encrypted_content") not in (None, cipher(item["id"])):
        yield failure(
            f"The encrypted content for item {item['id']} could not be verified. Reason: Encrypted "
            "content could not be decrypted or parsed.",
            code="invalid_encrypted_content",
        )


def _message(path: str, item: Mapping[str, Any]) -> Violations:
    role, content = item["role"], item["content"]
    if not isinstance(role, str) or role not in PARTS:
        yield unsupported(f"{path}.role", role, *PARTS)
    yield from WORDS.of_types(item, {"content": str | list}, f"{path}.")
    if role == "assistant" and "id" not in item and not _holds_words(content):
        yield failure(
            f"Invalid '{path}.content': string too short. Expected a string with minimum length 1, "
            "but got an empty string instead.",
            param=f"{path}.content",
            code="string_below_min_length",
        )
    for j, part in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(part, dict) or part.get("type") not in PARTS[role]:
            given = part.get("type") if isinstance(part, dict) else part
            yield unsupported(f"{path}.content[{j}]", given, *PARTS[role])


def _holds_words(content: Any) -> bool:
    refused = isinstance(content, list) and any("refusal" in part for part in content)
    return bool(text_of(content).strip()) or refused


def _calls(items: Items) -> Violations:
    answered = [item.get("call_id") for item in items if kind_of(item) in _CALLS.values()]
    seen: set[str] = set()
    for item in items:
        if kind_of(item) not in _CALLS:
            continue
        if item["call_id"] in seen:
            yield failure(f"Duplicate function call with call_id {item['call_id']}.", param="input")
        seen.add(item["call_id"])
        if item["call_id"] not in answered:
            yield failure(NO_OUTPUT.format(id=item["call_id"]), param="input")


def _results(items: Items) -> Violations:
    pending: dict[str, str] = {}
    for item in items:
        kind = kind_of(item)
        if kind in _CALLS:
            pending[item["call_id"]] = _CALLS[kind]
            continue
        unasked = kind in _CALLS.values() and pending.pop(item["call_id"], "") != kind
        if unasked:
            yield failure(NO_CALL.format(id=item["call_id"]), param="input")


def _reasoning(items: Items) -> Violations:
    led: set[str] = set()
    for at, item in enumerate(items):
        kind = kind_of(item)
        if kind == "reasoning":
            led.add(item["id"])
            after = next((i for i in items[at + 1 :] if kind_of(i) != "reasoning"), None)
            if not _made_by_the_model(after):
                yield failure(NOTHING_FOLLOWS.format(id=item["id"]), param="input")
            continue
        if not _made_by_the_model(item):
            led = set()
            continue
        tie = tied_to(str(item.get("id") or ""))
        if tie is not None and tie not in led:
            yield failure(NO_REASONING.format(id=item["id"], type=kind, tie=tie), param="input")


def _made_by_the_model(item: Mapping[str, Any] | None) -> bool:
    kind = kind_of(item)
    return kind in MADE_BY_THE_MODEL or (
        kind == "message" and item is not None and item.get("role") == "assistant"
    )
