"""The errors of Amazon Bedrock's runtime, as a table.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
…/API_runtime_InvokeModel.html, "Errors" (shapes read in botocore 1.43, 2026-11-22). An HTTP error
names its kind in the header `x-amzn-errortype`, an exception in a stream in a header of its
message.
"""

from __future__ import annotations

from collections.abc import Mapping

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.wires.errors import (
    BEDROCK,
    CLAUDE_LIMIT_WORDS,
    CONTEXT_WORDS,
    EXTRA_INPUTS_WORDS,
    HISTORY_REJECTED,
    OURS,
    PREFILL_REJECTED,
    TOKEN_RATE,
    ErrorRow,
    by_code,
    by_status,
    read,
    row,
)
from tenuto.wires.filters import BLOCKED
from tenuto.wires.json import decode_object
from tenuto.wires.retry_after import retry_after_s

_K = FaultKind

ERRORS: tuple[ErrorRow, ...] = (
    row(_K.UPSTREAM_GAVE_UP, "cascade_exhausted", OURS, words=r"^Tenuto could not finish"),
    row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"maximum tokens you requested exceeds the model limit of (?P<allowed>\d{1,9}(?!\d))"
        rf"|{CLAUDE_LIMIT_WORDS}",
    ),
    PREFILL_REJECTED,
    HISTORY_REJECTED,
    row(
        _K.UNKNOWN_KEY,
        words=rf"extraneous key \[(?P<name>[^\]]+)\] is not permitted|{EXTRA_INPUTS_WORDS}",
    ),
    TOKEN_RATE,
    row(_K.CONTEXT_OVERFLOW, words=CONTEXT_WORDS, statuses=range(413, 414)),
    *BLOCKED,
    # Both have the status 429 or 503; the second is about capacity that must be bought.
    *by_code(
        BEDROCK,
        {
            _K.RATE_LIMITED: "toomanyrequestsexception",
            _K.AUTHENTICATION: "invalidsignatureexception incompletesignatureexception"
            " missingauthenticationtokenexception",
            _K.SERVER: "internalfailure",
        },
    ),
    # From proxies, which name no kind.
    row(_K.SERVER, statuses=range(424, 425)),
    *by_status(),
)
"""Rows by code or type, words, or HTTP status. The first match counts; the last row matches all."""


def read_fault(
    error: object, status: int | None = None, retry_after_s: float | None = None, code: str = ""
) -> Fault:
    """Return the fault of an error object (or a bare text); `code`: the kind from its header.

    >>> read_fault({"type": "throttlingException", "message": "Too many tokens"}).kind.value
    'rate_limited'
    >>> read_fault("The maximum tokens you requested exceeds the model limit of 4096. Try again "
    ...            "with a maximum tokens value that is lower than 4096.").allowed_tokens
    4096
    """
    if isinstance(error, dict) and isinstance(error.get("__type"), str):
        error = {**error, "type": error["__type"].rpartition("#")[2]}
    return read(error, ERRORS, status, retry_after_s, code)


def parse_fault(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """Return the fault of an HTTP error response, whose kind is in a header. Header names are in
    lower case.

    >>> parse_fault(429, {"x-amzn-errortype": "ThrottlingException:http://x/"}, b"{}").kind.value
    'rate_limited'
    """
    value = decode_object(body)
    code = headers.get("x-amzn-errortype", "").partition(":")[0].strip()
    return read_fault(
        value if isinstance(value, dict) else "", status, retry_after_s(headers), code
    )
