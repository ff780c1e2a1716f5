"""The errors of Gemini's Interactions API, as a table.

https://ai.google.dev/gemini-api/docs/api-errors (read 2026-11-22): `error` holds a `code` in
snake_case and a `message`; a code that the page does not list is the name of the HTTP status.
Servers in front of the API use the shape of all Google APIs.
"""

from __future__ import annotations

from typing import Any

from tenuto.core.answer.fault import FaultKind
from tenuto.wires import filters
from tenuto.wires.errors import GAVE_UP, ErrorRow, ReadFault, fault_reader, row
from tenuto.wires.gemini_like.errors import ERRORS as GENERATE_ERRORS
from tenuto.wires.json import JsonObject

_K = FaultKind

BLOCKED = frozenset(
    {"safety", "recitation", "language", "prohibited_content", "spii", "blocklist"}
    | {"image_safety", "image_prohibited_content", "image_recitation", "image_other"}
    | {"content_blocked"}
)
"""Codes for answers that a policy of the provider's blocked."""

OF_THE_ANSWER = frozenset({"malformed_function_call", "malformed_tool_call"})
"""Codes for a call that the provider couldn't read."""

ERRORS: tuple[ErrorRow, ...] = (
    GAVE_UP,
    row(_K.CONTENT_BLOCKED, *sorted(BLOCKED)),
    *filters.BLOCKED,
    row(_K.MALFORMED_CALL, *sorted(OF_THE_ANSWER), "unexpected_tool_call"),
    row(
        _K.UNKNOWN_KEY,
        "parameter_unknown",
        words=r"unknown (?:parameter|field|name)s?:? ['\"](?P<name>[^'\"]+)['\"]",
    ),
    # Comes with status 429, but waiting does not help: the daily quota is spent.
    row(_K.PAYMENT, "quota_exceeded"),
    row(_K.AUTHENTICATION, "authentication", "unauthorized", "forbidden"),
    row(_K.RATE_LIMITED, "rate_limit_exceeded", "too_many_requests"),
    row(_K.OVERLOADED, "service_unavailable"),
    row(_K.TIMEOUT, "gateway_timeout", "request_timeout"),
    row(_K.SERVER, "api_error", "internal_server_error", "bad_gateway"),
    *(entry for entry in GENERATE_ERRORS if entry.words and not entry.codes),
    row(
        _K.INVALID_REQUEST,
        "invalid_request",
        "model_not_found",
        "already_exists",
        "too_many_tool_calls",
        "missing_thought_signature",
        "bad_request",
    ),
    *(entry for entry in GENERATE_ERRORS if entry.codes or not entry.words),
)
"""Rows by code, words, or HTTP status. The first match counts; the last row matches all."""


def errors_in(value: JsonObject) -> Any:
    """Return the first error among a response's diagnostics; None: there is none.

    >>> errors_in({"errors": [{"code": "safety"}]})
    {'code': 'safety'}
    """
    found = value.get("errors")
    return next((e for e in found if e), None) if isinstance(found, list) else None


def is_its_own(error: object) -> bool:
    """Return whether an error can only be from this API: it has one of its codes, and nothing else
    but a message.

    >>> is_its_own({"code": "spii", "message": "…"}), is_its_own({"code": "spii", "type": "x"})
    (True, False)
    """
    if not isinstance(error, dict) or error.keys() != {"code", "message"}:
        return False
    return error["code"] in _OWN if isinstance(error["code"], str) else False


_OWN = (
    BLOCKED
    | OF_THE_ANSWER
    | {"invalid_request", "parameter_unknown", "model_not_found"}
    | {"quota_exceeded", "unexpected_tool_call"}
)

read_fault: ReadFault = fault_reader(ERRORS)
