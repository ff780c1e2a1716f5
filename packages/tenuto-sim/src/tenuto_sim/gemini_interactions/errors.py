"""The errors that the simulator gives on Interactions.

Codes and messages are those of https://ai.google.dev/gemini-api/docs/api-errors (read 2026-11-22).
The page quotes few messages; the others have the same form, or are generateContent's. A status of
200 means that the error is part of a response that began well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tenuto_sim.errors import Failure
from tenuto_sim.gemini_generate.errors import OUT_OF_RANGE
from tenuto_sim.shapes import Words


def failure(
    message: str,
    *,
    status: int = 400,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
    **_: Any,
) -> Failure:
    """Return an error in the shape of the API.

    >>> failure("No.").document
    {'error': {'message': 'No.', 'code': 'invalid_request'}}
    """
    made: dict[str, Any] = {"message": message, "code": code or _CODES.get(status, "api_error")}
    return Failure(status, {"error": made}, headers or {})


_CODES: Final[Mapping[int, str]] = {
    400: "invalid_request",
    404: "not_found",
    429: "rate_limit_exceeded",
    503: "service_unavailable",
}
_SORRY: Final = "An unexpected error occurred on the server."

ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(_SORRY, status=500),
    "overloaded": failure("The service is temporarily overloaded or down.", status=503),
    "rate_limit": failure(
        "You have exceeded the per-minute request limit. Please retry in 1s.",
        status=429,
        headers={"retry-after": "1"},
    ),
    "context_length": failure(
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    ),
    "azure_filter": failure(
        "Safety violations (harmful content) blocked the request.", code="safety"
    ),
    "mid_stream": failure(
        "Deadline expired before operation could complete.", status=200, code="gateway_timeout"
    ),
    "malformed_call": failure(
        "The model produced a function call that could not be parsed.",
        status=200,
        code="malformed_function_call",
    ),
}

FAILED: Final[Mapping[str, Mapping[str, str]]] = {
    "failed": {"code": "api_error", "message": _SORRY},
    "content_filter": {
        "code": "safety",
        "message": "Safety violations (harmful content) blocked the request.",
    },
}
"""The `errors` of failed interactions, by the finish of a step."""


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str = "") -> Failure:
    """Return the refusal of an output limit above the model's maximum.

    >>> too_many_tokens("", 9, 8).document["error"]["code"]
    'invalid_request'
    """
    return out_of_range("maxOutputTokens", asked, f"1 (inclusive) to {ceiling + 1} (exclusive)")


def out_of_range(name: str, value: float, supported: str) -> Failure:
    """Return the refusal of a number.

    >>> out_of_range("topP", 2, "0 (inclusive) to 1 (inclusive)").document["error"]["message"][:55]
    'Unable to submit request because it has a topP value of'
    """
    return failure(OUT_OF_RANGE.format(name=name, value=value, supported=supported))


def unknown_parameter(path: str) -> Failure:
    """Return the refusal of a key.

    >>> unknown_parameter("n").document["error"]["code"]
    'parameter_unknown'
    """
    return failure(f"Unknown parameter: '{path}'.", code="parameter_unknown")


def unsupported(path: str, value: Any, supported: Iterable[str], name: str = "type") -> Failure:
    """Return the refusal of a value that is not one of a few.

    >>> unsupported("tools[0]", "x", ["function"]).document["error"]["message"]
    "The value 'x' is not supported for 'type' at 'tools[0]'. Supported values: 'function'."
    """
    listed = ", ".join(f"'{word}'" for word in supported)
    return failure(
        f"The value '{value}' is not supported for '{name}' at '{path}'. Supported values: "
        f"{listed}."
    )


def missing(path: str) -> Failure:
    """Return the refusal of a request that lacks a member.

    >>> missing("input[0].id").document["error"]["message"]
    "'id' is required at 'input[0]'."
    """
    place, _, name = path.rpartition(".")
    return failure(f"'{name}' is required at '{place}'.")


def mistyped(path: str, *_: object) -> Failure:
    """Return the refusal of a value of another type."""
    return failure(f"Invalid value at '{path}'.")


WORDS: Final = Words(missing, unknown_parameter, mistyped)
