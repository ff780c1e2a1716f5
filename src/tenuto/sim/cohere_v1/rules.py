"""Which requests are refused, and in which words.

Members and types: https://docs.cohere.com/v1/reference/chat (read 2026-11-24). Where the words of
the provider are not known, those here say the same in its manner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tenuto.sim.cohere_v1.errors import failure, too_many_tokens, unknown_field
from tenuto.sim.cohere_v1.request import rows_of
from tenuto.sim.errors import Failure
from tenuto.sim.reply import Settings

NOT_JSON: Final = "invalid json syntax: please check that the request body is valid JSON"
NOTHING_ASKED: Final = (
    "invalid request: message must be at least 1 token long or tool results must be specified."
)
NO_MESSAGE: Final = "invalid request: all elements in history must have a message."
MESSAGE_AND_RESULTS: Final = (
    "invalid request: cannot specify message if the last entry in chat history contains tool "
    "results"
)
ORPHAN_CALL: Final = (
    "invalid request: A CHATBOT message with 'tool_calls' must be followed by tool messages "
    "responding to each call. These did not have results: "
)
ORPHAN_RESULT: Final = "invalid request: cannot find a tool call for the result of "

MEMBERS: Final = frozenset(
    {"message", "model", "stream", "preamble", "chat_history", "conversation_id", "documents"}
    | {"prompt_truncation", "connectors", "search_queries_only", "citation_quality", "temperature"}
    | {"max_tokens", "max_input_tokens", "k", "p", "seed", "stop_sequences", "frequency_penalty"}
    | {"presence_penalty", "raw_prompting", "tools", "tool_results", "force_single_step"}
    | {"response_format", "safety_mode"}
)
_SPOKEN: Final = frozenset({"role", "message", "tool_calls"})
KEYS: Final[Mapping[str, frozenset[str]]] = {
    "SYSTEM": _SPOKEN,
    "USER": _SPOKEN,
    "CHATBOT": _SPOKEN,
    "TOOL": frozenset({"role", "tool_results"}),
}

Rows = Sequence[Mapping[str, Any]]
Violations = Iterator[Failure]


def impossible(body: Any) -> Failure | None:
    """Return what is wrong with a body that could not be answered at all.

    >>> impossible({"message": "hello"}) is None, impossible({"message": ""}).status
    (True, 400)
    """
    if not isinstance(body, dict):
        return failure(NOT_JSON)
    types = {"message": str, "chat_history": list, "tool_results": list, "tools": list}
    for name, type_ in (types | {"stream": bool, "response_format": dict}).items():
        if body.get(name) is not None and not isinstance(body[name], type_):
            return _mistyped(name)
    if body.get("message") is None:
        return _mistyped("message")
    rows = rows_of(body)
    if not all(isinstance(row, dict) and isinstance(row.get("role"), str) for row in rows):
        return _mistyped("chat_history")
    if not body["message"].strip() and (not rows or rows[-1]["role"] != "TOOL"):
        return failure(NOTHING_ASKED)
    return None


def violation(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Failure | None:
    """Return the first rule that a request breaks, None where there is none.

    >>> violation({}, {"message": "hello"}, Settings()) is None
    True
    >>> rows = [{"role": "USER", "message": "Hi"}, {"role": "TOOL", "tool_results": []}]
    >>> violation({}, {"message": "hello", "chat_history": rows}, Settings()).status
    400
    """
    found = next(_body_rules(headers, body, settings.max_output_tokens), None)
    for rule in (_rows, _pairs):
        found = found or next(rule(body), None)
    return found


def _mistyped(name: str) -> Failure:
    return failure(f"invalid type: parameter {name} is of the wrong type. ")


def _body_rules(headers: Mapping[str, str], body: Mapping[str, Any], most: int) -> Violations:
    for name in headers:
        if name.startswith("x-tenuto-"):
            yield failure(f"invalid request: unknown header {name}")
    for name in body:
        if name not in MEMBERS:
            yield unknown_field(name)
    budget = body.get("max_tokens")
    if budget is not None and type(budget) is not int:
        yield _mistyped("max_tokens")
    if isinstance(budget, int) and budget > most:
        yield too_many_tokens("max_tokens", budget, most)
    if body.get("tool_results") and not body.get("tools"):
        yield failure("invalid request: tool_results can only be used with tools.")
    if body.get("conversation_id") and body.get("chat_history"):
        yield failure("invalid request: cannot specify both conversation_id and chat_history.")
    history = body.get("chat_history") or [{}]
    if body["message"] and history[-1].get("role") == "TOOL":
        yield failure(MESSAGE_AND_RESULTS)


def _rows(body: Mapping[str, Any]) -> Violations:
    for number, row in enumerate(rows_of(body)):
        if row["role"] not in KEYS:
            yield failure(f"invalid request: Invalid role in chat_history at index {number}.")
            continue
        for name in row:
            if name not in KEYS[row["role"]]:
                yield unknown_field(name)
        if row["role"] == "TOOL":
            yield from _results(row.get("tool_results"))
            continue
        calls, said = row.get("tool_calls") or (), row.get("message")
        if not isinstance(said, str) or not (said.strip() or calls):
            yield failure(NO_MESSAGE)
        for call in calls:
            yield from _call(call)


def _results(results: Any) -> Violations:
    for result in results if isinstance(results, list) else [None]:
        told = result if isinstance(result, dict) else {}
        outputs = told.get("outputs")
        if not isinstance(outputs, list) or not all(isinstance(one, dict) for one in outputs):
            yield _mistyped("tool_results.outputs")
        for name in told.keys() - {"call", "outputs"}:
            yield unknown_field(name)
        yield from _call(told.get("call"))


def _call(call: Any) -> Violations:
    told = call if isinstance(call, dict) else {}
    if not isinstance(told.get("name"), str) or not isinstance(told.get("parameters"), dict):
        yield _mistyped("tool_calls")
    for name in told.keys() - {"name", "parameters"}:
        yield unknown_field(name)


def _pairs(body: Mapping[str, Any]) -> Violations:
    pending: Counter[str] = Counter()
    rows = rows_of(body)
    # In a single step the calls that are answered now stand nowhere.
    single = bool(body["message"] and body.get("tool_results"))
    for row in rows[:-1] if single else rows:
        if row["role"] == "TOOL":
            found = Counter(result["call"]["name"] for result in row["tool_results"])
            if found - pending:
                yield failure(ORPHAN_RESULT + ", ".join(found - pending))
            pending -= found
            continue
        if pending:
            yield failure(ORPHAN_CALL + ", ".join(pending))
        pending = Counter(call["name"] for call in row.get("tool_calls") or ())
    if pending:
        yield failure(ORPHAN_CALL + ", ".join(pending))
