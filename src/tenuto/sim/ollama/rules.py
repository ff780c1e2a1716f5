"""Which requests are refused, and in which words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto.sim.errors import Failure
from tenuto.sim.ollama.errors import failure, mistyped, unknown_key
from tenuto.sim.ollama.render import CREATED, Say, in_message
from tenuto.sim.reply import Settings

NOT_JSON: Final = "invalid character 'o' in literal null (expecting 'u')"
ARGUMENTS: Final = "messages.tool_calls.function.arguments"
_ROLES: Final = ("system", "user", "assistant", "tool")
_GO_NAMES: Final[Mapping[type, str]] = {
    dict: "object", list: "array", str: "string", int: "number", float: "number", bool: "bool",
}  # fmt: skip


def impossible(body: Any, say: Say = in_message) -> Failure | None:
    """Return what is wrong with a body that could not be answered at all; one that asks nothing
    only loads the model.

    >>> impossible({"model": "sim", "messages": []}).document["done_reason"]
    'load'
    """
    if not isinstance(body, dict):
        return failure(NOT_JSON)
    if not isinstance(body.get("model"), str) or not body["model"]:
        return failure("model is required")
    messages = body.get("messages") or []
    if not isinstance(messages, list):
        return mistyped("messages", _go_name(messages), "[]api.Message")
    wrong = next((m for m in messages if not isinstance(m, dict)), None)
    if wrong is not None:
        return mistyped("messages", _go_name(wrong), "api.Message")
    if not isinstance(body.get("prompt", ""), str):
        return mistyped("prompt", _go_name(body["prompt"]), "string")
    if not messages:
        told = {"model": body["model"], "created_at": CREATED, **say("", {})}
        return Failure(200, told | {"done_reason": "load", "done": True})
    return None


def violation(headers: Mapping[str, str], body: Mapping[str, Any], _: Settings) -> Failure | None:
    """Return the first rule that a request breaks.

    >>> call = {"function": {"name": "f", "arguments": "{}"}}
    >>> row = {"role": "assistant", "tool_calls": [call]}
    >>> violation({}, {"model": "sim", "messages": [row]}, Settings()).document["error"][:29]
    'json: cannot unmarshal string'
    """
    return next(_violations(headers, body), None)


def _violations(headers: Mapping[str, str], body: Mapping[str, Any]) -> Iterator[Failure]:
    # What must not leave a client, whatever the server reads over.
    for name in [*headers, *body, *(key for row in body["messages"] for key in row)]:
        if name.startswith(("_", "tenuto", "x-tenuto")):
            yield unknown_key(name)
    if not isinstance(body.get("stream", True), bool):
        yield mistyped("stream", _go_name(body["stream"]), "bool")
    options = body.get("options")
    if options is not None and not isinstance(options, dict):
        yield mistyped("options", _go_name(options), "map[string]interface {}")
    if isinstance(options, dict) and type(options.get("num_predict", 0)) not in (int, float):
        yield failure('option "num_predict" must be of type integer')
    for row in body["messages"]:
        yield from _row(row)


def _row(row: Mapping[str, Any]) -> Iterator[Failure]:
    content, calls = row.get("content"), row.get("tool_calls")
    if row.get("role") not in _ROLES:
        yield failure(f"invalid role: {row.get('role')}, must be one of {', '.join(_ROLES)}")
    if not isinstance(content, str | None):
        yield mistyped("messages.content", _go_name(content), "string")
    if not isinstance(calls, list | None):
        yield mistyped("messages.tool_calls", _go_name(calls), "[]api.ToolCall")
    for call in calls or ():
        function = call.get("function") if isinstance(call, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if not isinstance(arguments, dict):
            yield mistyped(ARGUMENTS, _go_name(arguments), "api.ToolCallFunctionArguments")


def _go_name(value: Any) -> str:
    return _GO_NAMES.get(type(value), "null")
