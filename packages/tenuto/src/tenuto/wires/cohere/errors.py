"""The errors of Cohere's APIs, as a table.

https://docs.cohere.com/reference/errors (read 2026-11-22) and messages quoted in public issues. An
error is an object with an `id` and a `message`. Only prompts and limits that are too large have a
code, the `error_type`.
"""

from __future__ import annotations

from tenuto.core.answer.fault import FaultKind
from tenuto.wires.errors import (
    OURS,
    PREFILL_REJECTED,
    TOKEN_RATE,
    ErrorRow,
    ReadFault,
    fault_reader,
    row,
)
from tenuto.wires.filters import BLOCKED

_K = FaultKind

GAVE_UP = row(_K.UPSTREAM_GAVE_UP, "cascade_exhausted", OURS, words=rf"^{OURS}:")
"""The end of a stream has room only for words."""

SAID_ALIKE: tuple[ErrorRow, ...] = (
    row(_K.UNKNOWN_KEY, words=r"unknown field: parameter '?(?P<unknown>[\w.\[\]]+)'? is not"),
    TOKEN_RATE,
    row(
        _K.CONTEXT_OVERFLOW,
        words=r"too many tokens\W*(?:size limit|total number|max tokens|.{0,60}?\b(?:prompt|input))"
        r"|size limit exceeded",
    ),
    # Blocked by the usage guidelines.
    row(_K.CONTENT_BLOCKED, words=r"blocked (?:output|input)", statuses=range(498, 499)),
)
"""Errors with the same words in both versions."""

ERRORS: tuple[ErrorRow, ...] = (
    GAVE_UP,
    row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"max.?tokens must be less than or equal to (?P<allowed>\d{1,9}(?!\d))",
    ),
    PREFILL_REJECTED,
    *SAID_ALIKE,
    *BLOCKED,
    row(_K.PAYMENT, statuses=range(402, 403)),
    row(_K.AUTHENTICATION, statuses=range(401, 404)),
    row(_K.CANCELLED, statuses=range(499, 500)),  # the caller closed the request
    row(_K.RATE_LIMITED, words=r"rate limit|trial key", statuses=range(429, 430)),
    row(_K.OVERLOADED, words=r"overloaded", statuses=range(503, 504)),
    row(_K.TIMEOUT, words=r"timed? ?out", statuses=range(504, 505)),
    row(_K.TIMEOUT, statuses=range(408, 409)),
    row(_K.INVALID_REQUEST, words=r"^invalid request", statuses=range(400, 500)),
    row(_K.SERVER),
)
"""Rows by code, words, or HTTP status. The first match counts; the last row matches all."""

read_fault: ReadFault = fault_reader(ERRORS)
