"""The errors of Cohere's API version 1, as a table.

https://docs.cohere.com/v1/reference/errors (read 2026-11-24) and messages quoted in public issues.
An error is an object with a `message`. Only limits have a code, the `error_type`.
"""

from __future__ import annotations

from tenuto.wire_kit import (
    BLOCKED,
    HISTORY_REJECTED,
    TENUTO_ERROR,
    ErrorRow,
    Fault,
    FaultKind,
    JsonObject,
    by_status,
    error_at,
    fault_reader,
)
from tenuto.wire_kit import (
    error_row as row,
)

_K = FaultKind

GAVE_UP = row(_K.UPSTREAM_GAVE_UP, "cascade_exhausted", TENUTO_ERROR, words=rf"^{TENUTO_ERROR}:")
"""The end of a stream has room only for words."""

ERRORS: tuple[ErrorRow, ...] = (
    GAVE_UP,
    row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"tokens must be less than or equal to (?P<allowed>\d{1,9}(?!\d))",
    ),
    row(_K.UNKNOWN_KEY, words=r"unknown field: parameter '?(?P<unknown>[\w.\[\]]+)'? is not"),
    row(_K.CONTEXT_OVERFLOW, words=r"too many tokens|size limit exceeded"),
    # Blocked by the usage guidelines.
    row(_K.CONTENT_BLOCKED, words=r"blocked (?:output|input)", statuses=range(498, 499)),
    *BLOCKED,
    HISTORY_REJECTED,
    *by_status(),
)
"""Rows by code, words, or HTTP status. The first match counts; the last row matches all."""


def error_of(value: JsonObject) -> object | None:
    """Return the error in an object; None: there is none.

    >>> error_of({"message": "No."}), error_of({"text": "Hi", "generation_id": "g"})
    ({'message': 'No.'}, None)
    """
    if isinstance(value.get("message"), str) and "event_type" not in value:
        return value
    return error_at(value)


read_fault = fault_reader(ERRORS)


def fault_in(value: JsonObject) -> Fault | None:
    """Return the fault in an answer with status 200; None: there is none. Many servers answer with
    a `message` at such a path, so its words decide.

    >>> fault_in({"message": "Hello!"}) is None, fault_in({"error": "No."}).kind.value
    (True, 'server')
    """
    error = error_of(value)
    fault = None if error is None else read_fault(error)
    unclear = error is value and fault is not None and fault.kind is _K.SERVER
    return None if unclear else fault
