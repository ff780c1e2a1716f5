"""Errors of Gemini's APIs, with the provider's messages.

https://ai.google.dev/gemini-api/docs/troubleshooting (read 2026-11-22), and public reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tenuto_sim.errors import Failure

STATUSES: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def failure(
    message: str, *, status: int = 400, details: Sequence[Any] = (), inside: bool = False, **_: Any
) -> Failure:
    """Return an error in the shape of Google; `inside`: it is part of a response that began well.

    >>> failure("Not found.", status=404).document["error"]["status"]
    'NOT_FOUND'
    """
    error: dict[str, Any] = {"code": status, "message": message, "status": STATUSES[status]}
    return Failure(
        200 if inside else status, {"error": error | ({"details": [*details]} if details else {})}
    )


_QUOTA: Final = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [
        {
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
            "quotaValue": "10",
        }
    ],
}
_RETRY: Final = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}
_INTERNAL: Final = (
    "An internal error has occurred. Please retry or report in "
    "https://developers.generativeai.google/guide/troubleshooting"
)
_OVERLOADED: Final = "The model is overloaded. Please try again later."

ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(_INTERNAL, status=500),
    "overloaded": failure(_OVERLOADED, status=503),
    "rate_limit": failure(
        "You exceeded your current quota, please check your plan and billing details. For more "
        "information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
        status=429,
        details=[_QUOTA, _RETRY],
    ),
    "deadline": failure("Deadline expired before operation could complete.", status=504),
    "context_length": failure(
        "The input token count (1249871) exceeds the maximum number of tokens allowed (1048576)."
    ),
    # Part of a response that began with 200.
    "mid_stream": failure(_OVERLOADED, status=503, inside=True),
    "mid_internal": failure(_INTERNAL, status=500, inside=True),
}


OUT_OF_RANGE: Final = (
    "Unable to submit request because it has a {name} value of {value} but the supported range is "
    "from {supported}. Update the value and try again."
)


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str) -> Failure:
    """Return the refusal of an output limit above the model's maximum.

    >>> too_many_tokens("", 9, 8, "sim").document["error"]["message"][-63:]
    '1 (inclusive) to 9 (exclusive). Update the value and try again.'
    """
    supported = f"1 (inclusive) to {ceiling + 1} (exclusive)"
    return failure(OUT_OF_RANGE.format(name="maxOutputTokens", value=asked, supported=supported))


def unknown_name(name: str, place: str = "") -> Failure:
    """Return the refusal of a key.

    >>> unknown_name("seed").document["error"]["message"]
    'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
    """
    where = f" at '{place}'" if place else ""
    return failure(
        f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.'
    )
