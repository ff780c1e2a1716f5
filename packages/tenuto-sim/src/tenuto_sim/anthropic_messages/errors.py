"""The errors that the simulator gives on Anthropic Messages, with the provider's messages.

Types and statuses: https://docs.claude.com/en/api/errors (read 2026-11-21). A status of 200 means
that the error is part of a response that began well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.errors import Failure
from tenuto_sim.shapes import Type, Words

TYPES: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


def failure(
    message: str,
    *,
    status: int = 400,
    type_: str | None = None,
    headers: Mapping[str, str] | None = None,
    **_: Any,
) -> Failure:
    """Return an error in the shape of Anthropic; its type follows from the status.

    >>> failure("Overloaded", status=529).document["error"]["type"]
    'overloaded_error'
    """
    error = {"type": type_ or TYPES[status], "message": message}
    return Failure(status, {"type": "error", "error": error}, headers or {})


def stamped(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an error document with the id of its request.

    >>> stamped({"type": "error"}, "1")["request_id"]
    'req_1'
    """
    return dict(document) | {"request_id": f"req_{key}"}


ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure("Internal server error", status=500),
    "overloaded": failure("Overloaded", status=529),
    "rate_limit": failure(
        "This request would exceed your organization's rate limit of 400,000 input tokens per "
        "minute. For details, refer to: https://docs.claude.com/en/api/rate-limits.",
        status=429,
        headers={"retry-after": "1"},
    ),
    "context_length": failure("prompt is too long: 205429 tokens > 200000 maximum"),
    "azure_filter": failure("Output blocked by content filtering policy"),
    # Part of a response that began with 200.
    "mid_stream": failure("Overloaded", status=200, type_="overloaded_error"),
    "mid_api": failure("Internal server error", status=200, type_="api_error"),
}


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str) -> Failure:
    """Return the refusal of an output limit above the model's maximum.

    >>> too_many_tokens("max_tokens", 9, 8, "sim").document["error"]["message"]
    'max_tokens: 9 > 8, which is the maximum allowed number of output tokens for sim'
    """
    return failure(
        f"{parameter}: {asked} > {ceiling}, which is the maximum allowed number of output tokens "
        f"for {model}"
    )


def required(path: str) -> Failure:
    """Return the refusal of a request that lacks a key.

    >>> required("max_tokens").document["error"]["message"]
    'max_tokens: Field required'
    """
    return failure(f"{path}: Field required")


def extra(path: str) -> Failure:
    """Return the refusal of a key.

    >>> extra("seed").document["error"]["message"]
    'seed: Extra inputs are not permitted'
    """
    return failure(f"{path}: Extra inputs are not permitted")


def mistyped(path: str, wanted: Type, *_: object) -> Failure:
    """Return the refusal of a value of another type.

    >>> mistyped("stream", bool).document["error"]["message"]
    'stream: Input should be a valid boolean'
    """
    return failure(f"{path}: Input should be {_WANTED[wanted]}")


_WANTED: Final[Mapping[Type, str]] = {
    str: "a valid string", int: "a valid integer", bool: "a valid boolean", dict: "an object",
    list: "a valid array", str | list: "a valid array",
}  # fmt: skip
WORDS: Final = Words(required, extra, mistyped)
