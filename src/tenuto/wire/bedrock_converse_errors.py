"""How Amazon Bedrock's runtime says that something failed: the error table.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
…/API_runtime_InvokeModel.html, "Errors" (shapes read in botocore 1.43, 2026-11-22). A status names
its kind in the header `x-amzn-errortype`, an exception in a stream in a header of its message.
"""

from __future__ import annotations

from collections.abc import Mapping

from tenuto.core.fault import Fault, FaultKind
from tenuto.wire.errors import CONTEXT_WORDS, HISTORY_REJECTED, PREFILL_REJECTED, ErrorRow, read
from tenuto.wire.errors import row as _row
from tenuto.wire.json import decode_object
from tenuto.wire.retry_after import retry_after_s

_K = FaultKind

OURS = "tenuto_incomplete"
"""The `source` of errors that Tenuto wrote: what could be recovered behind it was (E9)."""

ERRORS: tuple[ErrorRow, ...] = (
    _row(_K.UPSTREAM_GAVE_UP, "cascade_exhausted", OURS, words=r"^Tenuto could not finish"),
    # The last one is Claude's own, where prompt and maxTokens share the window.
    _row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"maximum tokens you requested exceeds the model limit of (?P<allowed>\d{1,9})"
        r"|max_tokens: \d+ > (?P<maximum>\d{1,9})"
        r"|exceed context limit: (?P<prompt>\d{1,9}) \+ \d+ > (?P<window>\d{1,9})",
    ),
    PREFILL_REJECTED,
    HISTORY_REJECTED,
    _row(
        _K.UNKNOWN_KEY,
        words=r"extraneous key \[(?P<key>[^\]]+)\] is not permitted"
        r"|(?P<path>[\w.\[\]-]+): extra inputs are not permitted",
    ),
    _row(_K.CONTEXT_OVERFLOW, words=CONTEXT_WORDS, statuses=range(413, 414)),
    _row(_K.CONTENT_BLOCKED, words=r"blocked by (?:the )?content filter"),
    # Both have the status 429 or 503, and the second one is about capacity that must be bought.
    _row(
        _K.RATE_LIMITED,
        "throttlingexception",
        "toomanyrequestsexception",
        "servicequotaexceededexception",
    ),
    _row(_K.OVERLOADED, "serviceunavailableexception", "modelnotreadyexception"),
    _row(_K.TIMEOUT, "modeltimeoutexception"),
    _row(
        _K.AUTHENTICATION,
        "accessdeniedexception",
        "unrecognizedclientexception",
        "expiredtokenexception",
        "invalidsignatureexception",
        "incompletesignatureexception",
        "missingauthenticationtokenexception",
    ),
    _row(
        _K.SERVER,
        "internalserverexception",
        "modelerrorexception",
        "modelstreamerrorexception",
        "internalfailure",
    ),
    _row(_K.INVALID_REQUEST, "validationexception", "resourcenotfoundexception"),
    # A proxy's, which name no kind.
    _row(_K.RATE_LIMITED, statuses=range(429, 430)),
    _row(_K.OVERLOADED, statuses=range(503, 504)),
    _row(_K.TIMEOUT, statuses=range(504, 505)),
    _row(_K.TIMEOUT, statuses=range(408, 409)),
    _row(_K.AUTHENTICATION, statuses=range(401, 404)),
    _row(_K.SERVER, statuses=range(424, 425)),
    _row(_K.INVALID_REQUEST, statuses=range(400, 500)),
    _row(_K.SERVER),
)
"""First fit decides: by a code or type, the words, or the HTTP status; the last row fits all."""


def read_fault(
    error: object, status: int | None = None, retry_after_s: float | None = None, code: str = ""
) -> Fault:
    """The fault that an error object (or a bare text) means; `code`: what a header says beside it.

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
    """The fault of an HTTP error response, whose kind stands in a header; names of headers are in
    small letters.

    >>> parse_fault(429, {"x-amzn-errortype": "ThrottlingException:http://x/"}, b"{}").kind.value
    'rate_limited'
    """
    value = decode_object(body)
    code = headers.get("x-amzn-errortype", "").partition(":")[0].strip().lower()
    return read_fault(
        value if isinstance(value, dict) else "", status, retry_after_s(headers), code
    )
