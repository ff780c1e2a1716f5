"""Which requests are refused, and in which words.

Theory of operation: a request passes through the rules in a fixed order and the first violation is
the answer. An item that the provider made is known by its id: it tells the reasoning that led to
it, without which the item is refused (`seals`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tenuto.sim.errors import Failure
from tenuto.sim.history import is_json_object, text_of
from tenuto.sim.openai_chat.errors import failure
from tenuto.sim.openai_chat.history import (
    NOT_JSON,
    budget_rules,
    header_violations,
    missing,
    mistyped,
    types_rules,
)
from tenuto.sim.openai_responses.errors import (
    too_many_tokens,
    unknown_parameter,
    unsupported,
)
from tenuto.sim.openai_responses.request import items_of, kind_of
from tenuto.sim.openai_responses.seals import cipher, tied_to
from tenuto.sim.reply import Settings
from tenuto.sim.shapes import Shape, others
from tenuto.sim.wire import first_of

KEYS: Final = frozenset(
    {"background", "context_management", "conversation", "include", "input", "instructions"}
    | {"max_output_tokens", "max_tool_calls", "metadata", "model", "parallel_tool_calls"}
    | {"previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_retention"}
    | {"reasoning", "safety_identifier", "service_tier", "store", "stream", "stream_options"}
    | {"temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"}
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
"""OpenAI takes broken arguments back; others who speak this wire do not."""

ITEMS: Final[Mapping[str, tuple[str, Shape]]] = {
    "message": ("msg", Shape.of("role", "content", may="type id status phase")),
    "function_call": (
        "fc",
        Shape.of("call_id", "name", "arguments", may="type id status namespace caller"),
    ),
    "function_call_output": ("fc", Shape.of("call_id", "output", may="type id status")),
    "custom_tool_call": (
        "ctc",
        Shape.of("call_id", "name", "input", may="type id namespace status"),
    ),
    "custom_tool_call_output": ("ctc", Shape.of("call_id", "output", may="type id")),
    "reasoning": ("rs", Shape.of("id", "summary", may="type content encrypted_content status")),
    "web_search_call": ("ws", Shape.of("id", "status", "action", may="type")),
    "item_reference": ("", Shape.of("id", may="type")),
}
"""Of each item: how its id begins, and its members."""

PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "assistant": ("output_text", "refusal"),
    "user": ("input_text", "input_image", "input_file"),
    "system": ("input_text", "input_image", "input_file"),
    "developer": ("input_text", "input_image", "input_file"),
}
MADE_BY_THE_MODEL: Final = frozenset({"function_call", "custom_tool_call", "web_search_call"})
_CALLS: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}

_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "model": (str, "a string"),
    "tools": (list, "an array of objects"),
    "stream": (bool, "a boolean"),
    "store": (bool, "a boolean"),
    "background": (bool, "a boolean"),
    "text": (dict, "an object"),
    "reasoning": (dict, "an object"),
    "instructions": (str, "a string"),
    "previous_response_id": (str, "a string"),
}

Violations = Iterator[Failure]
Items = Sequence[Mapping[str, Any]]


def impossible(body: Any) -> Failure | None:
    """Return what is wrong with a body that could not be answered at all.

    >>> impossible({"input": "x"}).document["error"]["message"]
    "Missing required parameter: 'model'."
    """
    return next(_shape(body), None) if isinstance(body, dict) else failure(NOT_JSON)


def _shape(body: Mapping[str, Any]) -> Violations:
    if not body.get("model"):
        yield missing("model")
    yield from types_rules(body, _TYPES)
    given = body.get("input")
    if given is None and not any(map(body.get, ("previous_response_id", "prompt", "conversation"))):
        yield failure(NO_INPUT, param="input", code="missing_required_parameter")
    if given is not None and not isinstance(given, str | list):
        yield mistyped("input", "a string or an array of objects", given)
    for i, item in enumerate(items_of(body)):
        if not isinstance(item, dict):
            yield mistyped(f"input[{i}]", "an object", item)
        elif "type" not in item and "role" not in item:
            yield missing(f"input[{i}].type")


def _violations(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Violations:
    yield from header_violations(headers)
    yield from _body(body, settings.max_output_tokens)
    items = items_of(body)
    for i, item in enumerate(items):
        yield from _item(f"input[{i}]", item)
    for rule in _RULES:
        yield from rule(items)


violation = first_of(_violations)
"""The first rule that a request breaks, None where it breaks none."""


def _body(body: Mapping[str, Any], ceiling: int) -> Violations:
    yield from others(body, KEYS, unknown_parameter)
    if body.get("previous_response_id") and body.get("conversation"):
        yield failure(
            "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.",
            code="mutually_exclusive_parameters",
        )
    yield from budget_rules(
        "max_output_tokens",
        body.get("max_output_tokens"),
        ceiling,
        least=LEAST_OUTPUT_TOKENS,
        too_many=too_many_tokens,
    )
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
        return
    prefix, shape = ITEMS[kind]
    yield from shape.violations(path, item, missing, unknown_parameter)
    id_ = item.get("id")
    if id_ is not None and not isinstance(id_, str):
        yield mistyped(f"{path}.id", "a string", id_)
    elif id_ is not None and not id_.startswith(prefix):
        yield failure(
            f"Invalid '{path}.id': '{id_}'. Expected an ID that begins with '{prefix}'.",
            param=f"{path}.id",
            code="invalid_value",
        )
    for name in ("call_id", "name", "arguments"):
        if name in item and not isinstance(item[name], str):
            yield mistyped(f"{path}.{name}", "a string", item[name])
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
        return
    if not isinstance(content, str | list):
        yield mistyped(f"{path}.content", "a string or an array of objects", content)
        return
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


_RULES: Final[tuple[Callable[[Items], Violations], ...]] = (_calls, _results, _reasoning)
