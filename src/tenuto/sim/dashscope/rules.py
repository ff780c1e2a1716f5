"""Which requests are refused, and in which words.

Its own rules come first; what they leave open are the rules of Chat Completions, told in the words
of DashScope where those are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.dashscope.errors import by_algorithm, failure, too_many_tokens
from tenuto.sim.dashscope.request import as_chat
from tenuto.sim.errors import Failure
from tenuto.sim.openai_chat import history as chat
from tenuto.sim.reply import Settings

_BODY_KEYS: Final = frozenset({"model", "input", "parameters", "service", "stream"})
_INPUT_KEYS: Final = frozenset({"messages", "prompt", "history"})

NOTHING_ASKED: Final = 'Either "prompt" or "messages" must exist and cannot both be none'
NOT_PARTIAL: Final = (
    'The "partial" parameter is only supported in the last message, whose role is "assistant".'
)
THINKS_IN_INCREMENTS: Final = (
    'The incremental_output parameter must be "true" when enable_thinking is true'
)
THINKS_IN_STREAMS: Final = "parameter.enable_thinking must be set to false for non-streaming calls"

_IN_ITS_WORDS: Final[Mapping[str, str]] = {
    chat.ORPHAN_CALL: 'An assistant message with "tool_calls" must be followed by tool messages '
    'responding to each "tool_call_id". The following tool_call_ids did not have response '
    "messages: message[0].role",
    chat.ORPHAN_RESULT: 'messages with role "tool" must be a response to a preceeding message '
    'with "tool_calls".',
    chat.BROKEN_ARGUMENTS: 'The "function.arguments" parameter of the code model must be in JSON '
    "format.",
    chat.EMPTY_ASSISTANT: "Role must be user or assistant and Content length must be greater "
    "than 0",
}
"""What Chat Completions says, by how it begins, and what is said here."""


def impossible(body: Any) -> Failure | None:
    """Return what is wrong with a body that could not be answered at all."""
    if not isinstance(body, dict):
        return failure("Required body invalid, please check the request body format.")
    if not isinstance(body.get("input"), dict):
        return failure("Required input parameter missing from request.")
    if not (body["input"].get("messages") or body["input"].get("prompt")):
        return failure(NOTHING_ASKED)
    if not isinstance(body.get("parameters", {}), dict):
        return failure("The parameters must be an object.")
    if not isinstance(body.get("model"), str):
        return failure("Required parameter(s) missing or invalid, please check the request.")
    return _in_shape(chat.basic_violation(as_chat(body)))


def violation(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Failure | None:
    """Return the first rule that a request breaks, None where there is none.

    >>> asked = {"messages": [{"role": "user", "content": "hello"}]}
    >>> violation({}, {"model": "sim", "input": asked, "stream": False}, Settings()) is None
    True
    """
    found = _in_shape(chat.header_violation(headers)) or _of_keys(body) or _of_thinking(body)
    asked = as_chat(body)
    budget = asked.get("max_tokens")
    if found is None and isinstance(budget, int) and not 1 <= budget <= settings.max_output_tokens:
        found = too_many_tokens("max_tokens", budget, settings.max_output_tokens)
    common = chat.violation(_plain(asked), max_output_tokens=settings.max_output_tokens)
    return found or _in_shape(common)


def _of_keys(body: Mapping[str, Any]) -> Failure | None:
    unknown = [name for name in body if name not in _BODY_KEYS]
    unknown += [name for name in body["input"] if name not in _INPUT_KEYS]
    if unknown:
        return failure(f"Unexpected parameter: {unknown[0]}")
    if "prompt" in body["input"] and "messages" in body["input"]:
        return failure('"prompt" and "messages" cannot both be given')
    rows = as_chat(body)["messages"]
    begun = [row for row in rows if row.get("partial")]
    if begun and (begun != rows[-1:] or rows[-1]["role"] != "assistant"):
        return by_algorithm(NOT_PARTIAL)
    if body.get("service") == "multimodal":
        return _of_lists(rows)
    return None


def _of_lists(rows: list[Any]) -> Failure | None:
    """Return the refusal of a content that is no list of parts."""
    for row in rows:
        if row["role"] != "tool" and not isinstance(row.get("content"), list):
            return by_algorithm("The content field is a required field.")
    return None


def _of_thinking(body: Mapping[str, Any]) -> Failure | None:
    asked = as_chat(body)
    if asked.get("enable_thinking") is not True:
        return None
    if not asked["stream"]:
        return failure(THINKS_IN_STREAMS)
    if not asked.get("incremental_output"):
        return by_algorithm(THINKS_IN_INCREMENTS)
    return None


def _plain(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request without what Chat Completions has no word for."""
    return {**asked, "messages": [_plain_row(row) for row in asked["messages"]]}


def _plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: item for key, item in row.items() if key not in ("partial", "reasoning_content")}
    if row["role"] == "tool":
        kept.pop("name", None)
    if isinstance(calls := row.get("tool_calls"), list):
        kept["tool_calls"] = [
            {key: item for key, item in call.items() if key != "index"}
            if isinstance(call, dict)
            else call
            for call in calls
        ]
    return kept


def _in_shape(found: Failure | None) -> Failure | None:
    """Return a refusal of Chat's in the shape, and where they are known in the words, of this."""
    if found is None:
        return None
    said = str(found.document["error"]["message"])
    for begin, own in _IN_ITS_WORDS.items():
        if said.startswith(begin):
            return by_algorithm(own)
    return failure(said)
