"""The errors of the Anthropic Messages wire, as a table.

https://platform.claude.com/docs/en/api/errors (read through anthropic-sdk-python 2.12, 2026-11-21:
`anthropic/types/shared/error_type.py`). Amazon Bedrock and Google Vertex AI, which serve the same
bodies, use words of their own around the errors.
"""

from __future__ import annotations

from tenuto.core.answer.fault import FaultKind
from tenuto.wires.errors import (
    BEDROCK,
    CLAUDE_LIMIT_WORDS,
    CONTEXT_WORDS,
    EXTRA_INPUTS_WORDS,
    GAVE_UP,
    GOOGLE,
    HISTORY_REJECTED,
    PREFILL_REJECTED,
    TOKEN_RATE,
    UNREADABLE_CALL,
    ErrorRow,
    ReadFault,
    by_status,
    fault_reader,
    row,
)
from tenuto.wires.filters import BLOCKED

_K = FaultKind

ERRORS: tuple[ErrorRow, ...] = (
    GAVE_UP,
    UNREADABLE_CALL,  # of llama.cpp's server, which speaks this format too
    row(_K.OUTPUT_BUDGET_TOO_LARGE, words=CLAUDE_LIMIT_WORDS),
    PREFILL_REJECTED,
    HISTORY_REJECTED,
    row(_K.UNKNOWN_KEY, words=EXTRA_INPUTS_WORDS),
    TOKEN_RATE,
    row(
        _K.CONTEXT_OVERFLOW,
        "request_too_large context_length_exceeded exceed_context_size_error",
        words=CONTEXT_WORDS,
        statuses=range(413, 414),
    ),
    *BLOCKED,
    *by_status(
        {
            _K.RATE_LIMITED: "rate_limit_error",
            _K.OVERLOADED: "overloaded_error",
            _K.TIMEOUT: "timeout_error",
            _K.AUTHENTICATION: "authentication_error permission_error",
            _K.SERVER: "api_error",
            _K.INVALID_REQUEST: "invalid_request_error not_found_error conflict_error"
            " memory_precondition_failed_error memory_path_conflict_error",
        },
        BEDROCK,
        GOOGLE,
        overloaded=range(529, 530),
    ),
)
"""Rows by code or type, words, or HTTP status. The first match counts; the last row matches all."""

read_fault: ReadFault = fault_reader(ERRORS)
