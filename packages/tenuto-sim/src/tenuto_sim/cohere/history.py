"""The rules for requests, and the provider's error messages.

Members and types: https://docs.cohere.com/reference/chat (read 2026-11-22). If the provider's
message is not known, a similar one stands in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tenuto_sim.asked import at
from tenuto_sim.cohere.errors import failure, mistyped, too_many_tokens, unknown_field
from tenuto_sim.history import by_id, is_json_object, text_of
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Types, Violations, from_us, of_other_types, others, unpaired

NOT_JSON: Final = "invalid json syntax: please check that the request body is valid JSON"
ORPHAN_CALL: Final = (
    "invalid request: An assistant message with 'tool_calls' must be followed by tool messages "
    "responding to each 'tool_call_id'. The following tool_call_ids did not have response "
    "messages: "
)
ORPHAN_RESULT: Final = "invalid request: cannot find a tool call with the id "
EMPTY_TURN: Final = "invalid request: message must not be empty in a turn"
BROKEN_ARGUMENTS: Final = "invalid request: tool call arguments must be a JSON object string"
NO_MODEL: Final = "a model parameter is required for this endpoint."

MEMBERS: Final = frozenset(
    {"model", "messages", "stream", "tools", "strict_tools", "documents", "citation_options"}
    | {"response_format", "safety_mode", "max_tokens", "stop_sequences", "temperature", "seed"}
    | {"frequency_penalty", "presence_penalty", "k", "p", "logprobs", "tool_choice", "thinking"}
    | {"priority"}
)
KEYS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"role", "content"}),
    "user": frozenset({"role", "content"}),
    "assistant": frozenset({"role", "content", "tool_calls", "tool_plan", "citations"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}
TYPES: Final[Types] = {"tools": list, "stream": bool, "response_format": dict}

Messages = Sequence[Mapping[str, Any]]


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all.

    >>> list(impossible({"model": "sim", "messages": [{"role": "user", "content": "hello"}]}))
    []
    """
    if not isinstance(body, dict):
        yield failure(NOT_JSON)
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield failure(NO_MODEL)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield failure("invalid request: messages must be specified.")
    yield from of_other_types(body, TYPES, mistyped, null=True)
    for number, message in enumerate(body["messages"]):
        if not isinstance(message, dict) or "role" not in message:
            yield mistyped(f"messages[{number}]")


def violations(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Violations:
    """Yield the other violations of a request.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": "hello"}]}
    >>> list(violations({}, ask, Settings()))
    []
    """
    yield from from_us(headers, lambda name: failure(f"invalid request: unknown header {name}"))
    yield from others(body, MEMBERS, unknown_field)
    budget = body.get("max_tokens")
    if budget is not None and type(budget) is not int:
        yield mistyped("max_tokens")
    if isinstance(budget, int) and budget < 0:
        yield failure("invalid request: max_tokens must be greater than or equal to 0.")
    if isinstance(budget, int) and budget > settings.max_output_tokens:
        yield too_many_tokens("max_tokens", budget, settings.max_output_tokens)
    if body.get("tool_choice") not in (None, "REQUIRED", "NONE"):
        yield failure("invalid request: tool_choice must be one of REQUIRED or NONE.")
    if body.get("tool_choice") is not None and not body.get("tools"):
        yield failure("invalid request: tool_choice cannot be specified without tools.")
    if body.get("response_format") and (body.get("tools") or body.get("documents")):
        yield failure("invalid request: response_format is not supported with RAG.")
    for rule in (_roles_and_keys, _contents, _calls, _results):
        yield from rule(body["messages"])


def _roles_and_keys(messages: Messages) -> Violations:
    for number, message in enumerate(messages):
        role = message["role"]
        if not isinstance(role, str) or role not in KEYS:
            yield failure(
                f"invalid request: Invalid role in messages at index {number}. Role must be one of "
                "the following: user, assistant, system, tool"
            )
        yield from others(message, KEYS[role], unknown_field)


def _contents(messages: Messages) -> Violations:
    for message in messages:
        content = message.get("content")
        if content is not None and not isinstance(content, str | list):
            yield mistyped("content")
        says = bool(text_of(content).strip()) or _holds_other(content)
        if not says and not (message["role"] == "assistant" and message.get("tool_calls")):
            yield failure(EMPTY_TURN)


def _holds_other(content: Any) -> bool:
    """Return whether a content has parts other than text: thinking, documents, images."""
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") != "text" for part in parts)


def _calls(messages: Messages) -> Violations:
    for number, message in enumerate(messages):
        calls = message.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            yield mistyped(f"messages[{number}].tool_calls")
        for call in calls or ():
            yield from _call(call)


def _call(call: Any) -> Violations:
    function = at(call, "function")
    if not isinstance(function, dict) or not isinstance(call.get("id"), str):
        yield failure("invalid request: all tool calls must have an id and a function.")
    if call.get("type") != "function":
        yield failure("invalid request: tool call type must be 'function'.")
    yield from others(call, ("id", "type", "function"), unknown_field)
    yield from others(function, ("name", "arguments"), unknown_field)
    if not all(isinstance(function.get(name), str) for name in ("name", "arguments")):
        yield mistyped("tool_calls.function")
    if not is_json_object(function["arguments"]):
        yield failure(BROKEN_ARGUMENTS)


def _results(messages: Messages) -> Violations:
    yield from unpaired(
        by_id(messages),
        lambda calls, _: failure(ORPHAN_CALL + ", ".join(calls)),
        lambda results, _: failure(f"{ORPHAN_RESULT}{results[0]}"),
    )
