"""The errors that the simulator gives on Mistral's chat, with the provider's messages.

The texts are quoted from reports in public trackers (continue#6185, raycast/extensions#31107,
eca#231, crush#279; read 2026-11-22). A status of 200 means that the error is part of a response
that began well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.errors import Failure

INVALID: Final = "invalid_request_error"


def failure(
    message: Any,
    *,
    status: int = 400,
    type_: str = INVALID,
    headers: Mapping[str, str] | None = None,
    param: str | None = None,
    code: str | None = None,
) -> Failure:
    """Return an error in the shape of Mistral.

    >>> list(failure("No.").document)
    ['object', 'message', 'type', 'param', 'code']
    """
    told = {"object": "error", "message": message, "type": type_, "param": param, "code": code}
    return Failure(status, told, headers or {})


def out_of_order(message: str) -> Failure:
    """Return the refusal of a history whose rows are in the wrong order.

    >>> out_of_order("Unexpected role 'user' after role 'tool'").document["code"]
    '3230'
    """
    return failure(message, type_="invalid_request_message_order", code="3230")


def not_allowed(*place: str | int) -> Failure:
    """Return the refusal of a key, by its path.

    >>> not_allowed("seed").document["message"]["detail"][0]["loc"]
    ['body', 'seed']
    """
    return _found("extra_forbidden", place, "Extra inputs are not permitted")


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str = "") -> Failure:
    """Return the refusal of an output limit above the model's maximum.

    >>> too_many_tokens("max_tokens", 9, 8).status
    422
    """
    words = f"max_tokens is too large: {asked}. This model supports at most {ceiling} tokens"
    return _found("value_error", (parameter,), words)


def _found(kind: str, place: tuple[str | int, ...], message: str) -> Failure:
    found = {"type": kind, "loc": ["body", *place], "msg": message, "input": None}
    return failure({"detail": [found]}, status=422)


_FAILED: Final = "Internal server error"

ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(_FAILED, status=500, type_="internal_server_error", code="1000"),
    "overloaded": failure("Service tier capacity exceeded for this model.", status=503),
    "rate_limit": failure(
        "Rate limit exceeded",
        status=429,
        type_="rate_limited",
        code="1300",
        headers={"retry-after": "1"},
    ),
    "context_length": failure(
        "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum "
        "context length",
        code="3051",
    ),
    # Part of a response that began with 200.
    "mid_stream": failure(_FAILED, status=200, type_="internal_server_error", code="1000"),
}
