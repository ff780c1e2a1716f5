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
from tenuto.sim.openai_responses.errors import (
    failure,
    missing,
    mistyped,
    too_many_tokens,
    unknown_parameter,
    unsupported,
)
from tenuto.sim.openai_responses.request import items_of, kind_of
from tenuto.sim.openai_responses.seals import cipher, tied_to

KEYS: Final = frozenset(
    {"background", "context_management", "conversation", "include", "input", "instructions"}
    | {"max_output_tokens", "max_tool_calls", "metadata", "model", "parallel_tool_calls"}
    | {"previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_retention"}
    | {"reasoning", "safety_identifier", "service_tier", "store", "stream", "stream_options"}
    | {"temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"}
)
LEAST_OUTPUT_TOKENS: Final = 16
NOT_JSON: Final = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using "
    "your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not "
    "valid JSON.)"
)
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

ITEMS: Final[Mapping[str, tuple[str, frozenset[str], frozenset[str]]]] = {
    "message": ("msg", frozenset({"role", "content"}), frozenset({"id", "status", "phase"})),
    "function_call": (
        "fc",
        frozenset({"call_id", "name", "arguments"}),
        frozenset({"id", "status", "namespace", "caller"}),
    ),
    "function_call_output": (
        "fc",
        frozenset({"call_id", "output"}),
        frozenset({"id", "status"}),
    ),
    "custom_tool_call": (
        "ctc",
        frozenset({"call_id", "name", "input"}),
        frozenset({"id", "namespace", "status"}),
    ),
    "custom_tool_call_output": ("ctc", frozenset({"call_id", "output"}), frozenset({"id"})),
    "reasoning": (
        "rs",
        frozenset({"id", "summary"}),
        frozenset({"content", "encrypted_content", "status"}),
    ),
    "web_search_call": ("ws", frozenset({"id", "status", "action"}), frozenset()),
    "item_reference": ("", frozenset({"id"}), frozenset()),
}
"""Of each item: how its id begins, keys that must be there, and keys that may, besides its type."""

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
    for name, (type_, words) in _TYPES.items():
        if body.get(name) is not None and not isinstance(body[name], type_):
            yield mistyped(name, words, body[name])
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


def violation(headers: Mapping[str, str], body: Mapping[str, Any], ceiling: int) -> Failure | None:
    """Return the first rule that a request breaks, None where it breaks none.

    >>> violation({}, {"model": "sim", "input": "x"}, 100) is None
    True
    """

    def rules() -> Violations:
        for name in headers:
            if name.startswith("x-tenuto-"):
                yield failure(f"Unrecognized request header supplied: {name}")
        yield from _body(body, ceiling)
        items = items_of(body)
        for i, item in enumerate(items):
            yield from _item(f"input[{i}]", item)
        for rule in _RULES:
            yield from rule(items)

    return next(rules(), None)


def _body(body: Mapping[str, Any], ceiling: int) -> Violations:
    for name in body:
        if name not in KEYS:
            yield unknown_parameter(name)
    if body.get("previous_response_id") and body.get("conversation"):
        yield failure(
            "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.",
            code="mutually_exclusive_parameters",
        )
    budget = body.get("max_output_tokens")
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int)):
        yield mistyped("max_output_tokens", "an integer", budget)
    elif budget is not None and budget < LEAST_OUTPUT_TOKENS:
        yield failure(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= "
            f"{LEAST_OUTPUT_TOKENS}, but got {budget} instead.",
            param="max_output_tokens",
            code="integer_below_min_value",
        )
    elif budget is not None and budget > ceiling:
        yield too_many_tokens("", budget, ceiling)
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
    prefix, required, optional = ITEMS[kind]
    for name in sorted(required):
        if name not in item:
            yield missing(f"{path}.{name}")
    for name in item:
        if name not in required | optional | {"type"}:
            yield unknown_parameter(f"{path}.{name}")
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
