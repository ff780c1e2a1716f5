"""The errors of Gemini's APIs, as a table.

https://ai.google.dev/gemini-api/docs/troubleshooting and https://cloud.google.com/apis/design/errors
(read 2026-11-22): `error` holds the HTTP status as `code`, the kind as `status`, and `details`.
"""

from __future__ import annotations

import re

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.wires.errors import (
    CONTEXT_WORDS,
    GAVE_UP,
    GOOGLE,
    HISTORY_REJECTED,
    PREFILL_REJECTED,
    ErrorRow,
    by_status,
    error_at,
    read,
    row,
)
from tenuto.wires.filters import BLOCKED
from tenuto.wires.json import JsonObject

_K = FaultKind

ERRORS: tuple[ErrorRow, ...] = (
    GAVE_UP,
    row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"max_?output_?tokens.{0,80}?supported range is from \d++[^\d]*"
        r"(?:(?P<below>\d{1,9}(?!\d)) \(exclusive\)|(?P<maximum>\d{1,9}(?!\d)))",
    ),
    PREFILL_REJECTED,
    HISTORY_REJECTED,
    row(_K.UNKNOWN_KEY, words=r"unknown name \"(?P<name>[^\"]+)\""),
    row(
        _K.CONTEXT_OVERFLOW,
        words=rf"{CONTEXT_WORDS}|exceeds the maximum number of tokens allowed",
    ),
    *BLOCKED,
    # Before all statuses: words about a key are more precise than the status.
    row(
        _K.AUTHENTICATION,
        GOOGLE[_K.AUTHENTICATION],
        words=r"api key not valid|api key expired|api_key_invalid",
        statuses=range(401, 402),
    ),
    *by_status(
        {
            _K.SERVER: "unknown aborted data_loss",
            _K.INVALID_REQUEST: "out_of_range unimplemented",
            _K.CANCELLED: "cancelled",
        },
        GOOGLE,
    ),
)
"""Rows by status, words, or HTTP status. The first match counts; the last row matches all."""


def error_of(value: JsonObject) -> object | None:
    """Return the error in an object, or None."""
    return error_at(value)


def is_googles(error: object) -> bool:
    """Return whether an error has the shape of all Google APIs.

    >>> is_googles({"code": 503, "message": "", "status": "UNAVAILABLE"}), is_googles({"code": 503})
    (True, False)
    """
    if not isinstance(error, dict) or type(error.get("code")) is not int:
        return False
    status = error.get("status")
    return isinstance(status, str) and status.isupper()


def read_fault(
    error: object, status: int | None = None, retry_after_s: float | None = None
) -> Fault:
    """Return the fault that an error object (or a bare text) means.

    >>> read_fault({"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}).kind.value
    'overloaded'
    >>> read_fault("it has a maxOutputTokens value of 9 but the supported range is from 1 "
    ...            "(inclusive) to 9 (exclusive).").allowed_tokens
    8
    """
    if isinstance(error, dict):
        named = error.get("status")
        code = error.get("code")
        if isinstance(named, str) and named:  # it says more than the number beside it
            error = {key: item for key, item in error.items() if key != "code"}
            if status is None and type(code) is int and 400 <= code < 600:
                status = code
    return read(error, ERRORS, status, retry_after_s)


_SECONDS = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")


def asked_to_wait_s(error: object) -> float | None:
    """Return the seconds that an error asks to wait (`google.rpc.RetryInfo`), or None.

    >>> asked_to_wait_s({"details": [{"@type": "…RetryInfo", "retryDelay": "48s"}]})
    48.0
    """
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (found := _SECONDS.fullmatch(delay)):
            return float(found[1])
    return None
