"""The rules for requests, and the provider's error messages.

Theory of operation: a request passes through the rules in a fixed order, and the first violation is
the answer. The rules are the strictest of the OpenAI-style dialects together: OpenAI's own for the
order of calls and results, Groq's and Mistral's for unknown keys and empty rows, Ollama's for the
arguments of calls that are sent back. A history that passes here passes everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from tenuto_sim.errors import Failure
from tenuto_sim.history import by_id, is_json_object, text_of
from tenuto_sim.openai_chat.errors import (
    WORDS,
    empty,
    failure,
    missing,
    mistyped,
    too_many_tokens,
    unknown_argument,
)
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Shape, Types, Violations, from_us, unpaired

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
_SPOKEN: Final = frozenset({"role", "content", "name"})
KEYS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("system", "developer", "user", "function"), _SPOKEN),
    # The official SDK's own message has the last four.
    "assistant": _SPOKEN | {"tool_calls", "refusal", "audio", "function_call", "annotations"},
    "tool": frozenset({"role", "content", "tool_call_id", "name"}),  # as in OpenAI's own examples
}
_ROLES: Final = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"
_MAX_ID_CHARS: Final = 40
_TYPES: Final[Types] = {
    "tools": list,
    "stream": bool,
    "stream_options": dict,
    "response_format": dict,
    "n": int,
}
_CALL: Final = Shape.of("id type", "function", {"id": str, "type": str})
_FUNCTION: Final = Shape.of("name arguments", None, {"name": str, "arguments": str})

Body = Mapping[str, Any]
Messages = Sequence[Body]


def impossible(body: Any) -> Violations:
    """Yield the violations of a request that can't be answered at all.

    >>> list(impossible({"model": "sim", "messages": [{"role": "user"}]}))
    []
    """
    if not isinstance(body, dict):
        yield failure(NOT_JSON)
    yield from model_rules(body)
    if "messages" not in body:
        yield missing("messages")
    yield from WORDS.of_types(body, {"messages": list})
    if not body["messages"]:
        yield empty("messages")
    yield from types_rules(body)
    for i, message in enumerate(body["messages"]):
        if not isinstance(message, dict):
            yield mistyped(f"messages[{i}]", dict, message)
        if "role" not in message:
            yield missing(f"messages[{i}].role")


def header_violations(headers: Mapping[str, str]) -> Violations:
    """Yield the refusal of each header that must not leave the client."""
    return from_us(headers, lambda name: failure(f"Unrecognized request header supplied: {name}"))


def body_violations(body: Body, settings: Settings) -> Violations:
    """Yield the other violations of a body.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": "hello"}], "_x": 1}
    >>> next(body_violations(ask, Settings())).document["error"]["message"]
    'Unrecognized request argument supplied: _x'
    """
    yield from from_us(body, unknown_argument, "_", "tenuto", "x-tenuto", "x_tenuto")
    if "max_tokens" in body and "max_completion_tokens" in body:
        yield failure(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            param="max_tokens",
            code="invalid_parameter_combination",
        )
    for name in ("max_tokens", "max_completion_tokens"):
        yield from number_rules(name, body.get(name), settings.max_output_tokens)
    if body.get("tools") == []:
        yield empty("tools")
    if body.get("tool_choice") is not None and not body.get("tools"):
        yield failure(
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
            "specified.",
            param="tool_choice",
        )
    yield from stream_options_rules(body)
    messages = body["messages"]
    for rule in (_roles_and_keys, _contents, _calls, _results):
        yield from rule(messages)
    if settings.prefill == "reject" and messages[-1]["role"] == "assistant":
        yield failure(PREFILL_REFUSALS[settings.prefill_refusal])


def reworded(found: Iterable[Failure], say: Callable[[str], Failure]) -> Violations:
    """Yield the refusals of Chat Completions with another provider's texts."""
    return (say(str(one.document["error"]["message"])) for one in found)


def impossible_as(say: Callable[[str], Failure]) -> Callable[[Any], Violations]:
    """Return `impossible` with another provider's texts for its refusals."""
    return lambda body: reworded(impossible(body), say)


def without(
    body: Body, members: Mapping[str, Iterable[str]], in_calls: Body | None = None
) -> dict[str, Any]:
    """Return a request without members that Chat Completions doesn't have.

    Args:
        body: the request.
        members: further members of the rows of each role ("": all roles), and of each "call".
        in_calls: members that a call gets by default.
    """
    rows = []
    for row in body["messages"]:
        strange = {*members.get("", ()), *members.get(str(row["role"]), ())}
        kept = {name: item for name, item in row.items() if name not in strange}
        if isinstance(calls := kept.get("tool_calls"), list):
            kept["tool_calls"] = [_call_without(call, members, in_calls or {}) for call in calls]
        rows.append(kept)
    return {**body, "messages": rows}


def _call_without(call: Any, members: Mapping[str, Iterable[str]], more: Body) -> Any:
    if not isinstance(call, dict):
        return call
    return {
        **more,
        **{name: item for name, item in call.items() if name not in members.get("call", ())},
    }


def model_rules(body: Body) -> Violations:
    """Yield violations in the name of the model."""
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield failure("you must provide a model parameter")


def types_rules(body: Body, types: Types = _TYPES) -> Violations:
    """Yield violations in the types of members that any request may have."""
    return WORDS.of_types(body, types, null=True)


def stream_options_rules(body: Body) -> Violations:
    """Yield violations in the options of a stream that is not requested."""
    if body.get("stream_options") is not None and not body.get("stream"):
        yield failure(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )


def number_rules(
    name: str,
    value: Any,
    most: int,
    least: int = 1,
    too_many: Callable[[str, int, int], Failure] = too_many_tokens,
) -> Violations:
    """Yield violations in an output limit, or in another whole number."""
    if value is None:
        return
    if type(value) is not int:
        yield mistyped(name, int, value)
    elif value < least:
        yield failure(
            f"Invalid '{name}': integer below minimum value. Expected a value >= {least}, "
            f"but got {value} instead.",
            param=name,
            code="integer_below_min_value",
        )
    elif value > most:
        yield too_many(name, value, most)


def _roles_and_keys(messages: Messages) -> Violations:
    for i, message in enumerate(messages):
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
        content, param = message.get("content"), f"messages.[{i}].content"
        if content is not None and not isinstance(content, str | list):
            yield mistyped(f"messages[{i}].content", str | list, content)
        says = message.get("tool_calls") or message.get("function_call")
        assistant = message["role"] == "assistant"
        if assistant and (says or text_of(message.get("refusal")).strip()):
            continue
        if content is None:
            yield failure(NULL_CONTENT, param=param, code="invalid_type")
        if assistant and not text_of(content).strip():
            yield failure(EMPTY_ASSISTANT, param=param)


def _calls(messages: Messages) -> Violations:
    for i, message in enumerate(messages):
        yield from WORDS.of_types(message, {"tool_calls": list}, f"messages[{i}].", null=True)
        if message.get("tool_calls") == []:
            yield failure(f"[] is too short - 'messages.{i}.tool_calls'")
        for j, call in enumerate(message.get("tool_calls") or ()):
            yield from _call(f"messages[{i}].tool_calls[{j}]", call)


def _call(path: str, call: Any) -> Violations:
    if not isinstance(call, dict):
        yield mistyped(path, dict, call)
    yield from _CALL.violations(path, call, WORDS)
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
    function = call.get("function")
    if not isinstance(function, dict):
        yield missing(f"{path}.function")
        return
    yield from _FUNCTION.violations(f"{path}.function", function, WORDS)
    if not is_json_object(function["arguments"]):
        yield failure(BROKEN_ARGUMENTS, param=f"{path}.function.arguments")


def _results(messages: Messages) -> Violations:
    for i, message in enumerate(messages):
        if message["role"] == "tool" and "tool_call_id" not in message:
            yield missing(f"messages[{i}].tool_call_id")
    yield from unpaired(
        by_id(messages),
        lambda calls, i: failure(ORPHAN_CALL + ", ".join(calls), param=f"messages.[{i + 1}].role"),
        lambda _, i: failure(ORPHAN_RESULT, param=f"messages.[{i}].role"),
    )
