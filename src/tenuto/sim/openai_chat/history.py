"""Which requests are refused, and in which words.

Theory of operation: a request passes through the rules in a fixed order and the first violation is
the answer. The rules are the strictest of the OpenAI-style dialects taken together: OpenAI's own
for the order of calls and results, Groq's and Mistral's for unknown keys and empty rows, Ollama's
for the arguments of calls that are sent back. A history that passes here passes everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tenuto.sim.errors import Failure
from tenuto.sim.history import is_json_object, text_of
from tenuto.sim.openai_chat.errors import failure, too_many_tokens, unknown_argument
from tenuto.sim.shapes import from_us

ORPHAN_CALL: Final = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: "
)
ORPHAN_RESULT: Final = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
    "'tool_calls'."  # "preceeding" is the provider's spelling
)
NULL_CONTENT: Final = "Invalid value for 'content': expected a string, got null."
EMPTY_ASSISTANT: Final = "Assistant message must have either content or tool_calls, but not none."
BROKEN_ARGUMENTS: Final = "invalid tool call arguments"
NOT_JSON: Final = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using "
    "your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not "
    "valid JSON.)"
)
PREFILL_REFUSALS: Final[Mapping[str, str]] = {
    "anthropic": "This model does not support assistant message prefill. "
    "The conversation must end with a user message.",
    "mistral": "Expected last role User or Tool (or Assistant with prefix True) for serving "
    "but got assistant",
    "deepseek": "The last message of deepseek-reasoner must be a user message, or an assistant "
    "message with prefix mode on "
    "(refer to https://api-docs.deepseek.com/guides/chat_prefix_completion).",
}
KEYS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset(
        # The last four are what the official SDK's own message dumps to.
        {"role", "content", "name", "tool_calls", "refusal", "audio", "function_call"}
        | {"annotations"}
    ),
    "tool": frozenset({"role", "content", "tool_call_id"}),
    "function": frozenset({"role", "content", "name"}),
}
_ROLES: Final = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"
_MAX_ID_CHARS: Final = 40
_JSON_NAMES: Final[Mapping[type, str]] = {
    dict: "object", list: "array", str: "string", int: "integer", float: "decimal",
    bool: "boolean", type(None): "null",
}  # fmt: skip

_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "tools": (list, "an array of objects"),
    "stream": (bool, "a boolean"),
    "stream_options": (dict, "an object"),
    "response_format": (dict, "an object"),
    "n": (int, "an integer"),
}

Messages = Sequence[Mapping[str, Any]]
Violations = Iterator[Failure]


def violation(
    body: Any, *, max_output_tokens: int, prefill_refusal: str | None = None
) -> Failure | None:
    """Return the first violation in a decoded request body, None where there is none.

    `prefill_refusal` is the text for a history that ends in an assistant message; None allows it.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": "hello"}]}
    >>> violation(ask, max_output_tokens=100) is None
    True
    >>> violation({"model": "sim"}, max_output_tokens=100).document["error"]["param"]
    'messages'
    """
    if not isinstance(body, dict):
        return failure(NOT_JSON)
    found = next(_body_rules(body, max_output_tokens), None)
    if found is not None:
        return found
    messages: Messages = body["messages"]
    for rule in _RULES:
        if (found := next(rule(messages), None)) is not None:
            return found
    if prefill_refusal is not None and messages[-1]["role"] == "assistant":
        return failure(prefill_refusal)
    return None


def basic_violation(body: Mapping[str, Any]) -> Failure | None:
    """Return what is wrong with a request that could not be answered at all.

    >>> basic_violation({"model": "sim", "messages": [{"role": "user"}]}) is None
    True
    """
    if (found := next(_shape_rules(body), None)) is not None:
        return found
    for i, message in enumerate(body["messages"]):
        if not isinstance(message, dict):
            return mistyped(f"messages[{i}]", "an object", message)
        if "role" not in message:
            return missing(f"messages[{i}].role")
    return None


def header_violation(headers: Mapping[str, str]) -> Failure | None:
    """Return the refusal of a header that must not leave the client.

    >>> header_violation({"accept": "*/*"}) is None
    True
    """
    return next(header_violations(headers), None)


def header_violations(headers: Mapping[str, str]) -> Violations:
    """Yield the refusal of each header that must not leave the client."""
    return from_us(headers, lambda name: failure(f"Unrecognized request header supplied: {name}"))


def missing(path: str) -> Failure:
    """Return the refusal of a body that lacks something."""
    return failure(
        f"Missing required parameter: '{path}'.", param=path, code="missing_required_parameter"
    )


def mistyped(path: str, expected: str, value: Any) -> Failure:
    """Return the refusal of a value of another type."""
    got = _JSON_NAMES.get(type(value), "value")
    article = "" if got == "null" else "an " if got[0] in "aeiou" else "a "
    return failure(
        f"Invalid type for '{path}': expected {expected}, but got {article}{got} instead.",
        param=path,
        code="invalid_type",
    )


def _empty(path: str) -> Failure:
    return failure(
        f"Invalid '{path}': empty array. Expected an array with minimum length 1, "
        "but got an empty array instead.",
        param=path,
        code="empty_array",
    )


def _shape_rules(body: Mapping[str, Any]) -> Violations:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield failure("you must provide a model parameter")
    if "messages" not in body:
        yield missing("messages")
    elif not isinstance(body["messages"], list):
        yield mistyped("messages", "an array of objects", body["messages"])
    elif not body["messages"]:
        yield _empty("messages")
    yield from types_rules(body)


def types_rules(
    body: Mapping[str, Any], types: Mapping[str, tuple[type, str]] = _TYPES
) -> Violations:
    """Yield what is wrong with the types of members that any request may have."""
    for name, (type_, words) in types.items():
        if body.get(name) is not None and not isinstance(body[name], type_):
            yield mistyped(name, words, body[name])


def _body_rules(body: Mapping[str, Any], max_output_tokens: int) -> Violations:
    for name in body:
        if name.startswith(("_", "tenuto", "x-tenuto", "x_tenuto")):
            yield unknown_argument(name)
    yield from _shape_rules(body)
    if "max_tokens" in body and "max_completion_tokens" in body:
        yield failure(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            param="max_tokens",
            code="invalid_parameter_combination",
        )
    for name in ("max_tokens", "max_completion_tokens"):
        yield from budget_rules(name, body.get(name), max_output_tokens)
    if body.get("tools") == []:
        yield _empty("tools")
    if body.get("tool_choice") is not None and not body.get("tools"):
        yield failure(
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
            "specified.",
            param="tool_choice",
        )
    if body.get("stream_options") is not None and not body.get("stream"):
        yield failure(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )


def budget_rules(
    name: str,
    value: Any,
    ceiling: int,
    least: int = 1,
    too_many: Callable[[str, int, int], Failure] = too_many_tokens,
) -> Violations:
    """Yield what is wrong with an output limit."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        yield mistyped(name, "an integer", value)
    elif value < least:
        yield failure(
            f"Invalid '{name}': integer below minimum value. Expected a value >= {least}, "
            f"but got {value} instead.",
            param=name,
            code="integer_below_min_value",
        )
    elif value > ceiling:
        yield too_many(name, value, ceiling)


def _roles_and_keys(messages: Messages) -> Violations:
    for i, message in enumerate(messages):
        if not isinstance(message, dict):
            yield mistyped(f"messages[{i}]", "an object", message)
            return
        if "role" not in message:
            yield missing(f"messages[{i}].role")
        role = message["role"]
        if not isinstance(role, str) or role not in KEYS:
            yield failure(
                f"Invalid value: '{role}'. Supported values are: {_ROLES}.",
                param=f"messages[{i}].role",
                code="invalid_value",
            )
        for name in message:
            if name not in KEYS[role]:
                yield failure(
                    f"'messages.{i}' : for 'role:{role}' the following must be satisfied"
                    f"[('messages.{i}' : property '{name}' is unsupported)]"
                )


def _contents(messages: Messages) -> Violations:
    for i, message in enumerate(messages):
        content, role = message.get("content"), message["role"]
        calls = message.get("tool_calls")
        if content is not None and not isinstance(content, str | list):
            yield mistyped(f"messages[{i}].content", "a string or an array of objects", content)
        if role == "assistant":
            refused = text_of(message.get("refusal")).strip()
            if calls or refused or message.get("function_call"):
                continue
            if content is None:
                yield failure(NULL_CONTENT, param=f"messages.[{i}].content", code="invalid_type")
            if not text_of(content).strip():
                yield failure(EMPTY_ASSISTANT, param=f"messages.[{i}].content")
        elif content is None:
            yield failure(NULL_CONTENT, param=f"messages.[{i}].content", code="invalid_type")


def _calls(messages: Messages) -> Violations:
    for i, message in enumerate(messages):
        calls = message.get("tool_calls")
        if calls is None:
            continue
        if not isinstance(calls, list):
            yield mistyped(f"messages[{i}].tool_calls", "an array of objects", calls)
            return
        if not calls:
            yield failure(f"[] is too short - 'messages.{i}.tool_calls'")
        for j, call in enumerate(calls):
            yield from _call(f"messages[{i}].tool_calls[{j}]", call)


def _call(path: str, call: Any) -> Violations:
    if not isinstance(call, dict):
        yield mistyped(path, "an object", call)
        return
    for name in ("id", "type"):
        if name not in call:
            yield missing(f"{path}.{name}")
        elif not isinstance(call[name], str):
            yield mistyped(f"{path}.{name}", "a string", call[name])
    if len(call["id"]) > _MAX_ID_CHARS:
        yield failure(
            f"Invalid '{path}.id': string too long. Expected a string with maximum length "
            f"{_MAX_ID_CHARS}, but got a string with length {len(call['id'])} instead.",
            param=f"{path}.id",
            code="string_above_max_length",
        )
    if call["type"] != "function":
        yield failure(
            f"Invalid value: '{call['type']}'. Supported values are: 'function'.",
            param=f"{path}.type",
            code="invalid_value",
        )
    for name in call:
        if name not in ("id", "type", "function"):
            yield failure(f"Extra inputs are not permitted, field: '{path}.{name}'")
    function = call.get("function")
    if not isinstance(function, dict):
        yield missing(f"{path}.function")
        return
    for name in ("name", "arguments"):
        if name not in function:
            yield missing(f"{path}.function.{name}")
        elif not isinstance(function[name], str):
            yield mistyped(f"{path}.function.{name}", "a string", function[name])
    if not is_json_object(function["arguments"]):
        yield failure(BROKEN_ARGUMENTS, param=f"{path}.function.arguments")


def _results(messages: Messages) -> Violations:
    pending: list[str] = []
    caller = 0
    for i, message in enumerate(messages):
        if message["role"] == "tool":
            if "tool_call_id" not in message:
                yield missing(f"messages[{i}].tool_call_id")
            # A second result for the same call finds its call answered already.
            if message["tool_call_id"] not in pending:
                yield failure(ORPHAN_RESULT, param=f"messages.[{i}].role")
            pending.remove(message["tool_call_id"])
            continue
        if pending:
            yield failure(ORPHAN_CALL + ", ".join(pending), param=f"messages.[{caller + 1}].role")
        pending = list(dict.fromkeys(call["id"] for call in message.get("tool_calls") or ()))
        caller = i
    if pending:
        yield failure(ORPHAN_CALL + ", ".join(pending), param=f"messages.[{caller + 1}].role")


_RULES: Final[tuple[Callable[[Messages], Violations], ...]] = (
    _roles_and_keys,
    _contents,
    _calls,
    _results,
)
