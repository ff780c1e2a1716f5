"""How OpenAI Chat, and who speaks like it, says that something failed: the error table.

https://platform.openai.com/docs/guides/error-codes and the dialects' own pages (read 2026-11-21).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tenuto.core.fault import Fault, FaultKind
from tenuto.core.stop import printable


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One way in which this wire says that something failed: by code or type, or by its words."""

    kind: FaultKind
    codes: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None
    statuses: range = range(0)


def _row(kind: FaultKind, *codes: str, words: str = "", statuses: range = range(0)) -> ErrorRow:
    pattern = re.compile(words, re.IGNORECASE | re.DOTALL) if words else None
    return ErrorRow(kind, frozenset(codes), pattern, statuses)


_K = FaultKind

ERRORS: tuple[ErrorRow, ...] = (
    _row(_K.UPSTREAM_GAVE_UP, "cascade_exhausted", "tenuto_incomplete"),
    _row(_K.MALFORMED_CALL, "tool_use_failed", words=r"error parsing tool call"),
    _row(_K.OUTPUT_LIMIT, words=r"max_tokens or model output limit was reached"),
    _row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"max_(?:completion_)?tokens\W* is too large.*?at most (?P<allowed>\d{1,9})"
        r"|max_tokens: \d+ > (?P<maximum>\d{1,9})",
    ),
    _row(
        _K.PREFILL_REJECTED,
        words=r"assistant message prefill|must end with a user message|prefilling assistant message"
        r"|ending with a model turn|expected last role user|prefix mode on|ends with a user role"
        r"|prefill is incompatible|2 or more assistant messages",
    ),
    _row(
        _K.UNKNOWN_KEY,
        words=r"unrecognized request arguments? supplied: (?P<list>[\w, .\[\]]+)"
        r"|unknown (?:parameter|field)s?: '(?P<unknown>[^']+)'"
        r"|unsupported parameter: '(?P<unsupported>[^']+)'"
        r"|property '(?P<property>[^']+)' is unsupported"
        r"|extra inputs are not permitted, field: '(?P<extra>[^']+)'"
        r"|(?P<pydantic>[\w.\[\]]+): extra inputs are not permitted",
    ),
    _row(
        _K.CONTEXT_OVERFLOW,
        "context_length_exceeded",
        "exceed_context_size_error",
        "max_tokens_exceeded",
        "token_limit_exceeded",
        "1039",
        words=r"maximum context length|exceeds the available context size|prompt is too long"
        r"|exceed context limit|input token count .* exceeds|input is too long"
        r"|longer than the model's context length",
    ),
    _row(
        _K.CONTENT_BLOCKED,
        "content_filter",
        "responsibleaipolicyviolation",
        "content_policy_violation",
        "datainspectionfailed",
        "data_inspection_failed",
        "invalid_prompt",
        "1301",
        "1026",
        "1027",
        words=r"inappropriate content|input was flagged",
    ),
    _row(_K.REFUSED, "refusal"),
    # Comes with status 429, but waiting does not help.
    _row(_K.AUTHENTICATION, "insufficient_quota", "1008"),
    _row(
        _K.RATE_LIMITED,
        "rate_limit_exceeded",
        "rate_limit_error",
        "1002",
        statuses=range(429, 430),
    ),
    _row(
        _K.OVERLOADED,
        "overloaded_error",
        "provider_overloaded",
        "provider_unavailable",
        "engine_overloaded",
        statuses=range(529, 530),
    ),
    _row(_K.OVERLOADED, statuses=range(503, 504)),
    _row(_K.TIMEOUT, "timeout", "timeout_error", "1001", statuses=range(504, 505)),
    _row(_K.TIMEOUT, statuses=range(408, 409)),
    _row(
        _K.AUTHENTICATION,
        "invalid_api_key",
        "authentication_error",
        "permission_error",
        "1004",
        "2049",
        statuses=range(401, 404),
    ),
    _row(_K.INVALID_REQUEST, "invalid_request_error", statuses=range(400, 500)),
    _row(_K.SERVER),
)
"""First fit decides: by a code or type, the words, or the HTTP status; the last row fits all."""


_SEARCHED_CHARS = 2_000
"""Errors say what they are at their beginning; what follows may be the whole prompt."""


def read_fault(
    error: object, status: int | None = None, retry_after_s: float | None = None
) -> Fault:
    """The fault that an error object (or a bare text) means.

    >>> read_fault({"message": "max_tokens is too large: 9. This model supports at most 5 …"}).kind
    <FaultKind.OUTPUT_BUDGET_TOO_LARGE: 'output_budget_too_large'>
    """
    codes, message = _error_words(error)
    status = status if status is not None else next((int(c) for c in codes if _is_status(c)), None)
    for row in ERRORS:
        found = row.words.search(message, 0, _SEARCHED_CHARS) if row.words else None
        by_code = any(code in row.codes for code in codes)
        if by_code or found or status in row.statuses or row is ERRORS[-1]:
            groups = {k: v for k, v in found.groupdict().items() if v} if found else {}
            allowed = groups.get("allowed") or groups.get("maximum")
            named = tuple(
                name.strip() for v in groups.values() for name in v.split(",") if name.strip()
            )
            return Fault(
                row.kind,
                code=printable(codes[0]) if codes else "",
                message=message,
                status=status,
                allowed_tokens=int(allowed) if allowed else None,
                keys=named if row.kind is _K.UNKNOWN_KEY else (),
                retry_after_s=retry_after_s,
            )
    raise AssertionError("the last row of ERRORS fits everything")


def _error_words(error: object) -> tuple[list[str], str]:
    """The codes and types of an error object, most particular first, and its message."""
    if not isinstance(error, dict):
        return [], error if isinstance(error, str) else ""
    inner = error.get("innererror")
    metadata = error.get("metadata")
    places = (
        inner.get("code") if isinstance(inner, dict) else None,
        metadata.get("error_type") if isinstance(metadata, dict) else None,
        error.get("code"),
        error.get("type"),
        error.get("status_code"),
    )
    codes = [code for place in places if (code := _code(place))]
    messages = (error.get(key) for key in ("message", "status_msg", "detail"))
    return codes, next((text for message in messages if (text := _message(message))), "")


def _code(value: object) -> str:
    if isinstance(value, str):
        return value.strip().lower()
    return str(value) if isinstance(value, int) and abs(value) < 1_000_000 else ""


def _message(value: object) -> str:
    """A message as text. FastAPI's list of findings (Mistral, vLLM) gives its paths and words."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = value.get("detail")
    if not isinstance(value, list):
        return ""
    found = [item for item in value[:10] if isinstance(item, dict)]
    paths = [loc if isinstance(loc := item.get("loc"), list) else [] for item in found]
    return "; ".join(
        ".".join(str(step) for step in path[:10] if isinstance(step, str) and step != "body")
        + f": {item.get('msg')}"
        for path, item in zip(paths, found, strict=True)
        if isinstance(item.get("msg"), str)
    )


def _is_status(code: str) -> bool:
    return code.isascii() and code.isdigit() and 400 <= int(code) < 600 and len(code) == 3
