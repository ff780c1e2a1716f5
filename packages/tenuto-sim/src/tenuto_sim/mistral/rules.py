"""The rules for requests, and the provider's error messages.

Mistral's own rules come first: unknown keys, the order of rows, the ids of calls, and the last row.
The rules of Chat Completions follow, in Mistral's form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from tenuto_sim.history import text_of
from tenuto_sim.mistral.errors import failure, not_allowed, out_of_order, too_many_tokens
from tenuto_sim.openai_chat import history as chat
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Violations, others

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

_OWN: Final = {"": ("prefix",), "tool": ("name",), "call": ("index",)}
"""Members of rows and calls that Chat Completions doesn't have."""

Rows = Sequence[Mapping[str, Any]]


impossible: Callable[[Any], Violations] = chat.impossible_as(failure)
"""Yields the violations of a body that can't be answered at all."""


def violations(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Violations:
    """Yield the other violations of a request.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": "hello"}]}
    >>> list(violations({}, ask, Settings()))
    []
    >>> next(violations({}, ask | {"stream_options": {}}, Settings())).status
    422
    """
    rows, most = body["messages"], settings.max_output_tokens
    yield from chat.reworded(chat.header_violations(headers), failure)
    yield from others(body, BODY_KEYS, not_allowed)
    for i, row in enumerate(rows):
        for name in row:
            if name not in ROW_KEYS.get(row["role"], row):
                yield not_allowed("messages", i, row["role"], name)
    for rule in (_order, _counts, _ids, _contents, _last):
        yield from rule(rows)
    budget = body.get("max_tokens")
    if isinstance(budget, int) and budget > most:
        yield too_many_tokens("max_tokens", budget, most)
    plain = chat.without(body, _OWN, in_calls={"type": "function"})
    any_end = replace(settings, prefill="continue")
    yield from chat.reworded(chat.body_violations(plain, any_end), failure)


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
    for row in [*rows, {"role": "end"}]:
        if row["role"] == "tool":
            owed -= 1
        elif owed:
            yield failure(COUNTS)
        else:
            owed = len(row.get("tool_calls") or ())


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
