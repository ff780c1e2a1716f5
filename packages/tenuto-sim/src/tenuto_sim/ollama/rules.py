"""The rules for requests, and the provider's error messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.errors import Failure
from tenuto_sim.ollama.errors import failure, mistyped, unknown_key
from tenuto_sim.ollama.render import CREATED, Say, in_message
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Violations, from_us

NOT_JSON: Final = "invalid character 'o' in literal null (expecting 'u')"
ARGUMENTS: Final = "messages.tool_calls.function.arguments"
_ROLES: Final = ("system", "user", "assistant", "tool")


def impossible(body: Any, say: Say = in_message) -> Violations:
    """Yield the violations of a body that can't be answered at all. A body without a question only
    loads the model.

    >>> next(impossible({"model": "sim", "messages": []})).document["done_reason"]
    'load'
    """
    if not isinstance(body, dict):
        yield failure(NOT_JSON)
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield failure("model is required")
    messages = body.get("messages") or []
    if not isinstance(messages, list):
        yield mistyped("messages", "[]api.Message", messages)
    for message in messages:
        if not isinstance(message, dict | None):
            yield mistyped("messages", "api.Message", message)
    if not isinstance(body.get("prompt", ""), str):
        yield mistyped("prompt", "string", body["prompt"])
    if not messages:
        told = {"model": body["model"], "created_at": CREATED, **say("", {})}
        yield Failure(200, told | {"done_reason": "load", "done": True})


def violations(headers: Mapping[str, str], body: Mapping[str, Any], _: Settings) -> Violations:
    """Yield the other violations of a request.

    >>> call = {"function": {"name": "f", "arguments": "{}"}}
    >>> row = {"role": "assistant", "tool_calls": [call]}
    >>> next(violations({}, {"model": "sim", "messages": [row]}, Settings())).document["error"][:29]
    'json: cannot unmarshal string'
    """
    # Keys that must not leave a client, although the server ignores them.
    names = [*headers, *body, *(key for row in body["messages"] for key in row)]
    yield from from_us(names, unknown_key, "_", "tenuto", "x-tenuto")
    if not isinstance(body.get("stream", True), bool):
        yield mistyped("stream", "bool", body["stream"])
    options = {} if body.get("options") is None else body["options"]
    if not isinstance(options, dict):
        yield mistyped("options", "map[string]interface {}", options)
    if type(options.get("num_predict", 0)) not in (int, float):
        yield failure('option "num_predict" must be of type integer')
    for row in body["messages"]:
        yield from _row(row)


def _row(row: Mapping[str, Any]) -> Violations:
    content, calls = row.get("content"), row.get("tool_calls")
    if row.get("role") not in _ROLES:
        yield failure(f"invalid role: {row.get('role')}, must be one of {', '.join(_ROLES)}")
    if not isinstance(content, str | None):
        yield mistyped("messages.content", "string", content)
    if not isinstance(calls, list | None):
        yield mistyped("messages.tool_calls", "[]api.ToolCall", calls)
    for call in calls or ():
        function = call.get("function") if isinstance(call, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if not isinstance(arguments, dict):
            yield mistyped(ARGUMENTS, "api.ToolCallFunctionArguments", arguments)
