"""The rules for requests, and the provider's error messages.

Members and types: https://docs.cohere.com/v1/reference/chat (read 2026-11-24). If the provider's
message is not known, a similar one stands in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from examples.wires.tests.simulated.cohere_v1.errors import too_many_tokens, unknown_field
from examples.wires.tests.simulated.cohere_v1.request import rows_of
from tenuto_sim.cohere.errors import failure, mistyped
from tenuto_sim.cohere.history import NOT_JSON, TYPES
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Types, Violations, from_us, of_other_types, others, unpaired

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

_TYPES: Final[Types] = {"message": str, "chat_history": list, "tool_results": list, **TYPES}

Row = Mapping[str, Any]


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all.

    >>> list(impossible({"message": "hello"})), next(impossible({"message": ""})).status
    ([], 400)
    """
    if not isinstance(body, dict):
        yield failure(NOT_JSON)
    yield from of_other_types(body, _TYPES, mistyped, null=True)
    if body.get("message") is None:
        yield mistyped("message")
    rows = rows_of(body)
    if not all(isinstance(row, dict) and isinstance(row.get("role"), str) for row in rows):
        yield mistyped("chat_history")
    if not body["message"].strip() and (not rows or rows[-1]["role"] != "TOOL"):
        yield failure(NOTHING_ASKED)


def violations(headers: Mapping[str, str], body: Row, settings: Settings) -> Violations:
    """Yield the other violations of a request.

    >>> list(violations({}, {"message": "hello"}, Settings()))
    []
    >>> rows = [{"role": "USER", "message": "Hi"}, {"role": "TOOL", "tool_results": []}]
    >>> next(violations({}, {"message": "hello", "chat_history": rows}, Settings())).status
    400
    """
    yield from from_us(headers, lambda name: failure(f"invalid request: unknown header {name}"))
    yield from others(body, MEMBERS, unknown_field)
    budget, most = body.get("max_tokens"), settings.max_output_tokens
    if budget is not None and type(budget) is not int:
        yield mistyped("max_tokens")
    if isinstance(budget, int) and budget > most:
        yield too_many_tokens("max_tokens", budget, most)
    if body.get("tool_results") and not body.get("tools"):
        yield failure("invalid request: tool_results can only be used with tools.")
    if body.get("conversation_id") and body.get("chat_history"):
        yield failure("invalid request: cannot specify both conversation_id and chat_history.")
    history = body.get("chat_history") or [{}]
    if body["message"] and history[-1].get("role") == "TOOL":
        yield failure(MESSAGE_AND_RESULTS)
    rows = rows_of(body)
    yield from _rows(rows)
    # In a single step, the calls that these results answer are in no row.
    single = bool(body["message"] and body.get("tool_results"))
    yield from unpaired(
        map(_names, rows[:-1] if single else rows),
        lambda calls, _: failure(ORPHAN_CALL + ", ".join(dict.fromkeys(calls))),
        lambda results, _: failure(ORPHAN_RESULT + ", ".join(dict.fromkeys(results))),
    )


def _names(row: Row) -> tuple[list[str] | None, list[str]]:
    """Return the names of the functions whose results a row has (None: it has no results), and of
    those that it calls."""
    if row["role"] == "TOOL":
        return [result["call"]["name"] for result in row["tool_results"]], []
    return None, [call["name"] for call in row.get("tool_calls") or ()]


def _rows(rows: Iterable[Row]) -> Violations:
    for number, row in enumerate(rows):
        if row["role"] not in KEYS:
            yield failure(f"invalid request: Invalid role in chat_history at index {number}.")
        yield from others(row, KEYS[row["role"]], unknown_field)
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
            yield mistyped("tool_results.outputs")
        yield from others(told, ("call", "outputs"), unknown_field)
        yield from _call(told.get("call"))


def _call(call: Any) -> Violations:
    told = call if isinstance(call, dict) else {}
    if not isinstance(told.get("name"), str) or not isinstance(told.get("parameters"), dict):
        yield mistyped("tool_calls")
    yield from others(told, ("name", "parameters"), unknown_field)
