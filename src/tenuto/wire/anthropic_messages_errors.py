"""How the Anthropic Messages wire says that something failed: the error table.

https://platform.claude.com/docs/en/api/errors (read through anthropic-sdk-python 2.12, 2026-11-21:
`anthropic/types/shared/error_type.py`). Amazon Bedrock and Google Vertex AI, which serve the same
bodies, wrap their errors in words of their own:
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html,
https://cloud.google.com/apis/design/errors.
"""

from __future__ import annotations

from tenuto.core.fault import Fault, FaultKind
from tenuto.wire.errors import CONTEXT_WORDS, HISTORY_REJECTED, PREFILL_REJECTED, ErrorRow, read
from tenuto.wire.errors import row as _row

_K = FaultKind

OURS = "tenuto_incomplete"
"""The `source` of errors that Tenuto wrote: what could be recovered behind it was (E9)."""

ERRORS: tuple[ErrorRow, ...] = (
    _row(_K.UPSTREAM_GAVE_UP, "cascade_exhausted", OURS),
    # Prompt and max_tokens share the window: what the prompt leaves is what is allowed.
    _row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"max_tokens: \d+ > (?P<maximum>\d{1,9})"
        r"|exceed context limit: (?P<prompt>\d{1,9}) \+ \d+ > (?P<window>\d{1,9})",
    ),
    PREFILL_REJECTED,
    HISTORY_REJECTED,
    _row(_K.UNKNOWN_KEY, words=r"(?P<key>[\w.\[\]-]+): extra inputs are not permitted"),
    _row(
        _K.CONTEXT_OVERFLOW,
        "request_too_large",
        "context_length_exceeded",
        "exceed_context_size_error",
        words=CONTEXT_WORDS,
        statuses=range(413, 414),
    ),
    _row(_K.CONTENT_BLOCKED, words=r"blocked by content filtering policy"),
    # Some come with status 429 or 400, but waiting does not help.
    _row(
        _K.AUTHENTICATION,
        "billing_error",
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "linked_organization_spend_limit_reached",
        "linked_organization_billing_unavailable",
        "organization_on_hold",
        words=r"credit balance is too low",
    ),
    _row(
        _K.RATE_LIMITED,
        "rate_limit_error",
        "throttlingexception",
        "servicequotaexceededexception",
        "resource_exhausted",
        statuses=range(429, 430),
    ),
    _row(
        _K.OVERLOADED,
        "overloaded_error",
        "serviceunavailableexception",
        "modelnotreadyexception",
        "unavailable",
        statuses=range(529, 530),
    ),
    _row(_K.OVERLOADED, statuses=range(503, 504)),
    _row(
        _K.TIMEOUT,
        "timeout_error",
        "modeltimeoutexception",
        "deadline_exceeded",
        statuses=range(504, 505),
    ),
    _row(_K.TIMEOUT, statuses=range(408, 409)),
    _row(
        _K.AUTHENTICATION,
        "authentication_error",
        "permission_error",
        "accessdeniedexception",
        "unrecognizedclientexception",
        "expiredtokenexception",
        "unauthenticated",
        "permission_denied",
        statuses=range(401, 404),
    ),
    # Bedrock gives the second one the status 424.
    _row(
        _K.SERVER,
        "api_error",
        "modelerrorexception",
        "modelstreamerrorexception",
        "internalserverexception",
        "internal",
    ),
    _row(
        _K.INVALID_REQUEST,
        "invalid_request_error",
        "not_found_error",
        "conflict_error",
        "memory_precondition_failed_error",
        "memory_path_conflict_error",
        "validationexception",
        "resourcenotfoundexception",
        "invalid_argument",
        "failed_precondition",
        "not_found",
        statuses=range(400, 500),
    ),
    _row(_K.SERVER),
)
"""First fit decides: by a code or type, the words, or the HTTP status; the last row fits all."""


def read_fault(
    error: object, status: int | None = None, retry_after_s: float | None = None, code: str = ""
) -> Fault:
    """The fault that an error object (or a bare text) means; `code`: what a header says beside it.

    >>> read_fault({"type": "overloaded_error", "message": "Overloaded"}).kind.value
    'overloaded'
    >>> read_fault("input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, "
    ...            "decrease input length or `max_tokens` and try again").allowed_tokens
    10000
    """
    if isinstance(error, dict) and error.get("source") == OURS:
        error = {**error, "type": OURS}  # this wire's own types are a closed list
    return read(error, ERRORS, status, retry_after_s, code)
