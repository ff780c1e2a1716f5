"""Failures of the provider or the connection, as values: what failed, and what may help.

A wire recognizes a fault by its own error table. What follows from each kind is defined once, in
this module (P5).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tenuto.core.answer.stop import StopReason


class FaultKind(StrEnum):
    """The kind of failure of a provider or of the connection to it."""

    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER = "server"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    GARBAGE = "garbage"
    NOT_THIS_API = "not_this_api"
    REDIRECTED = "redirected"
    LIMIT = "limit"
    CALLER = "caller"
    AUTHENTICATION = "authentication"
    PAYMENT = "payment"
    CANCELLED = "cancelled"
    INVALID_REQUEST = "invalid_request"
    UNKNOWN_KEY = "unknown_key"
    PREFILL_REJECTED = "prefill_rejected"
    OUTPUT_BUDGET_TOO_LARGE = "output_budget_too_large"
    OUTPUT_LIMIT = "output_limit"
    CONTEXT_OVERFLOW = "context_overflow"
    CONTENT_BLOCKED = "content_blocked"
    REFUSED = "refused"
    MALFORMED_CALL = "malformed_call"
    UPSTREAM_GAVE_UP = "upstream_gave_up"


@dataclass(frozen=True, slots=True)
class FaultClass:
    """What follows from a kind of fault: whether the same request may be retried, whether another
    candidate may be tried, whether a shorter prompt would help, and the stop reason."""

    retryable: bool
    fallback: bool
    compress: bool
    reason: StopReason


_ERROR = StopReason.ERROR

FAULT_CLASSES: dict[FaultKind, FaultClass] = {
    FaultKind.RATE_LIMITED: FaultClass(True, True, False, _ERROR),
    FaultKind.OVERLOADED: FaultClass(True, True, False, _ERROR),
    FaultKind.SERVER: FaultClass(True, True, False, _ERROR),
    FaultKind.TIMEOUT: FaultClass(True, True, False, _ERROR),
    FaultKind.CONNECTION: FaultClass(True, True, False, _ERROR),
    FaultKind.GARBAGE: FaultClass(True, True, False, _ERROR),
    FaultKind.NOT_THIS_API: FaultClass(
        True, True, False, _ERROR
    ),  # a page may be there only for a moment
    FaultKind.REDIRECTED: FaultClass(False, True, False, _ERROR),
    FaultKind.LIMIT: FaultClass(False, False, False, _ERROR),
    # The caller's own code (a hook, an auth flow) raised. A programming error is not retried.
    FaultKind.CALLER: FaultClass(False, False, False, _ERROR),
    FaultKind.AUTHENTICATION: FaultClass(False, True, False, _ERROR),
    FaultKind.PAYMENT: FaultClass(False, True, False, _ERROR),
    # By a proxy's or a provider's word. Whether the caller wanted it, only the caller knows.
    FaultKind.CANCELLED: FaultClass(False, False, False, _ERROR),
    FaultKind.INVALID_REQUEST: FaultClass(False, False, False, _ERROR),
    FaultKind.UNKNOWN_KEY: FaultClass(False, False, False, _ERROR),
    FaultKind.PREFILL_REJECTED: FaultClass(False, False, False, _ERROR),
    FaultKind.OUTPUT_BUDGET_TOO_LARGE: FaultClass(False, False, False, _ERROR),
    # An error status that only means that reasoning used the whole budget before any text came.
    FaultKind.OUTPUT_LIMIT: FaultClass(False, False, False, StopReason.MAX_TOKENS),
    FaultKind.CONTEXT_OVERFLOW: FaultClass(False, True, True, StopReason.CONTEXT_WINDOW_EXCEEDED),
    FaultKind.CONTENT_BLOCKED: FaultClass(False, True, False, StopReason.SAFETY_BLOCKED),
    FaultKind.REFUSED: FaultClass(False, True, False, StopReason.REFUSAL),
    FaultKind.MALFORMED_CALL: FaultClass(False, False, False, StopReason.MALFORMED_TOOL_CALL),
    # The provider's side has retried already: layers must not multiply their retries (E9).
    FaultKind.UPSTREAM_GAVE_UP: FaultClass(False, True, False, _ERROR),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One failure of the provider or the connection.

    Attributes:
        kind: what failed; `FAULT_CLASSES[kind]` says what follows.
        code: the provider's own code or type; "" if it gave none.
        message: the provider's message, or Tenuto's if it gave none. It is never logged unless
            content is captured.
        status: the HTTP status of an error response; None in a stream, or below HTTP.
        allowed_tokens: for OUTPUT_BUDGET_TOO_LARGE, the number that the provider allows; else None.
        window_tokens: the context window, if the provider's message names it; else None.
        keys: for UNKNOWN_KEY, the request keys that the provider names.
        wanted: the member that the model's rows lack, if the provider's message names it; else "".
        retry_after_s: how long the provider asks to wait, in seconds; None if it doesn't.

    >>> Fault(FaultKind.OVERLOADED).retryable
    True
    """

    kind: FaultKind
    code: str = ""
    message: str = ""
    status: int | None = None
    allowed_tokens: int | None = None
    window_tokens: int | None = None
    keys: tuple[str, ...] = ()
    wanted: str = ""
    retry_after_s: float | None = None

    @property
    def retryable(self) -> bool:
        """Whether the same request may be sent again."""
        return FAULT_CLASSES[self.kind].retryable
