"""Which requests are refused, and in which words.

Mistral's own rules come first: keys that are not known, the order of rows, the ids of calls, and
the last row. What they leave open are the rules of Chat Completions, told in Mistral's shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from tenuto.sim.errors import Failure
from tenuto.sim.history import text_of
from tenuto.sim.mistral.errors import failure, not_allowed, out_of_order, too_many_tokens
from tenuto.sim.openai_chat import history as chat
from tenuto.sim.reply import Settings

BODY_KEYS: Final = frozenset(
    {"model", "messages", "temperature", "top_p", "max_tokens", "stream", "stop", "random_seed"}
    | {"metadata", "response_format", "tools", "tool_choice", "presence_penalty", "top_k", "n"}
    | {"frequency_penalty", "min_tokens", "repetition_penalty", "logprobs", "top_logprobs"}
    | {"prompt_logprobs", "top_prompt_logprobs", "prediction", "parallel_tool_calls"}
    | {"reasoning_effort", "prompt_mode", "guardrails", "prompt_cache_key", "service_tier"}
    | {"safe_prompt"}
)
ROW_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"role", "content"}),
    "user": frozenset({"role", "content"}),
    "assistant": frozenset({"role", "content", "tool_calls", "prefix"}),
    "tool": frozenset({"role", "content", "tool_call_id", "name"}),
}
_FOLLOWS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"system", "user", "assistant"}),
    "user": frozenset({"system", "user", "assistant"}),
    "tool": frozenset({"tool", "assistant"}),
}
LAST_ROW: Final = (
    "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
)
PREFIX_NOT_LAST: Final = "Prefix is only allowed for the last assistant message"
COUNTS: Final = "Not the same number of function calls and responses"
NEITHER: Final = "Assistant message must have either content or tool_calls, but not none."
_is_id = re.compile(r"[a-zA-Z0-9]{9}").fullmatch

Rows = Sequence[Mapping[str, Any]]
Violations = Iterator[Failure]


def impossible(body: Any) -> Failure | None:
    """Return what is wrong with a body that could not be answered at all."""
    if not isinstance(body, dict):
        return failure(chat.NOT_JSON)
    return _in_shape(chat.basic_violation(body))


def violation(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Failure | None:
    """Return the first rule that a request breaks, None where there is none.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": "hello"}]}
    >>> violation({}, ask, Settings()) is None
    True
    >>> violation({}, ask | {"stream_options": {}}, Settings()).status
    422
    """
    rows: Rows = body["messages"]
    found = _in_shape(chat.header_violation(headers)) or _of_keys(body)
    for rule in _RULES if found is None else ():
        if (found := next(rule(rows), None)) is not None:
            break
    budget = body.get("max_tokens")
    if found is None and isinstance(budget, int) and budget > settings.max_output_tokens:
        found = too_many_tokens("max_tokens", budget, settings.max_output_tokens)
    common = chat.violation(_as_chat(body), max_output_tokens=settings.max_output_tokens)
    return found or _in_shape(common)


def _in_shape(found: Failure | None) -> Failure | None:
    """Return a refusal of Chat's in the shape of Mistral."""
    if found is None:
        return None
    return replace(found, document=failure(found.document["error"]["message"]).document)


def _of_keys(body: Mapping[str, Any]) -> Failure | None:
    unknown = next((name for name in body if name not in BODY_KEYS), None)
    if unknown is not None:
        return not_allowed(unknown)
    for i, row in enumerate(body["messages"]):
        role = row["role"]
        for name in row:
            if name not in ROW_KEYS.get(role, row):
                return not_allowed("messages", i, role, name)
    return None


def _as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request without what Chat Completions has no word for."""
    return {**body, "messages": [_row_as_chat(row) for row in body["messages"]]}


def _row_as_chat(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in row.items() if key != "prefix"}
    if row["role"] == "tool":
        kept.pop("name", None)
    if isinstance(calls := row.get("tool_calls"), list):
        kept["tool_calls"] = [
            {"type": "function"} | {key: value for key, value in call.items() if key != "index"}
            for call in calls
        ]
    if row.get("tool_calls", 0) is None:
        del kept["tool_calls"]
    return kept


def _order(rows: Rows) -> Violations:
    for before, row in pairwise(rows):
        role, follows = row["role"], _FOLLOWS.get(before["role"])
        if before.get("tool_calls") and role != "tool":
            yield failure(COUNTS)
        elif follows is not None and role not in follows:
            yield out_of_order(f"Unexpected role '{role}' after role '{before['role']}'")
        elif before.get("prefix"):
            yield failure(PREFIX_NOT_LAST)


def _counts(rows: Rows) -> Violations:
    owed = 0
    for row in rows:
        if row["role"] == "tool":
            owed -= 1
        elif owed:
            break
        if row["role"] == "assistant":
            owed = len(row.get("tool_calls") or ())
    if owed:
        yield failure(COUNTS)


def _ids(rows: Rows) -> Violations:
    for row in rows:
        named = [call.get("id") for call in row.get("tool_calls") or ()]
        named += [row["tool_call_id"]] if "tool_call_id" in row else []
        for found in named:
            if not isinstance(found, str) or not _is_id(found):
                yield failure(
                    f"Tool call id was {found} but must be a-z, A-Z, 0-9, with a length of 9.",
                    type_="invalid_function_call",
                    code="3280",
                )


def _contents(rows: Rows) -> Violations:
    for row in rows:
        said = text_of(row.get("content")).strip() or row.get("tool_calls")
        if row["role"] == "assistant" and not said:
            yield failure(NEITHER)


def _last(rows: Rows) -> Violations:
    if rows[-1]["role"] == "assistant" and rows[-1].get("prefix") is not True:
        yield out_of_order(LAST_ROW)


_RULES: Final[tuple[Callable[[Rows], Violations], ...]] = (_order, _counts, _ids, _contents, _last)
