"""How Cohere says that something failed: the error table.

https://docs.cohere.com/reference/errors (read 2026-11-22) and messages quoted in public issues. An
error is an object with an `id` and a `message`; of codes there is one, the `error_type` of prompts
and limits that are too large.
"""

from __future__ import annotations

from tenuto.core.fault import Fault, FaultKind
from tenuto.wire.errors import PREFILL_REJECTED, ErrorRow, read
from tenuto.wire.errors import row as _row

_K = FaultKind

OURS = "tenuto_incomplete"
"""The `type` of our own errors, by which another Tenuto knows them (E9)."""

ERRORS: tuple[ErrorRow, ...] = (
    # The end of a stream has room for words alone.
    _row(_K.UPSTREAM_GAVE_UP, "cascade_exhausted", OURS, words=rf"^{OURS}:"),
    _row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"max.?tokens must be less than or equal to (?P<allowed>\d{1,9})",
    ),
    PREFILL_REJECTED,
    _row(_K.UNKNOWN_KEY, words=r"unknown field: parameter '?(?P<unknown>[\w.\[\]]+)'? is not"),
    _row(_K.CONTEXT_OVERFLOW, words=r"too many tokens|size limit exceeded"),
    # Blocked by the usage guidelines.
    _row(_K.CONTENT_BLOCKED, words=r"blocked (?:output|input)", statuses=range(498, 499)),
    _row(_K.AUTHENTICATION, statuses=range(401, 404)),
    _row(_K.RATE_LIMITED, words=r"rate limit|trial key", statuses=range(429, 430)),
    _row(_K.OVERLOADED, words=r"overloaded", statuses=range(503, 504)),
    _row(_K.TIMEOUT, words=r"timed? ?out", statuses=range(504, 505)),
    _row(_K.TIMEOUT, statuses=range(408, 409)),
    _row(_K.INVALID_REQUEST, words=r"^invalid request", statuses=range(400, 500)),
    _row(_K.SERVER),
)
"""First fit decides: by a code, the words, or the HTTP status; the last row fits all."""


def read_fault(
    error: object, status: int | None = None, retry_after_s: float | None = None
) -> Fault:
    """The fault that an error object (or a bare text) means.

    >>> read_fault({"message": "too many tokens: size limit exceeded by 9 tokens."}).kind.value
    'context_overflow'
    """
    return read(error, ERRORS, status, retry_after_s)
