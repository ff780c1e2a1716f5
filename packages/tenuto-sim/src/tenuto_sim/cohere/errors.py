"""The errors that the simulator gives on Cohere's Chat, with the provider's messages.

https://docs.cohere.com/reference/errors (read 2026-11-22), and messages quoted in public issues. A
status of 200 means that the error is part of a response that began well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.errors import Failure
from tenuto_sim.prose import key_of


def failure(
    message: str, *, status: int = 400, headers: Mapping[str, str] | None = None, **_: Any
) -> Failure:
    """Return an error in the shape of Cohere, which has no place for `param` and `code`.

    >>> failure("No.").document
    {'message': 'No.'}
    """
    return Failure(status, {"message": message}, headers or {})


def stamped(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an error document with an id of its own.

    >>> list(stamped({"message": "No."}, "1"))
    ['id', 'message']
    """
    return {"id": key_of("error", key, length=32)} | dict(document)


def _too_many(message: str) -> Failure:
    return Failure(400, {"error_type": "TOO_MANY_TOKENS", "message": f"too many tokens: {message}"})


ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(
        "internal server error, this has been reported to our developers", status=500
    ),
    "overloaded": failure("the service is temporarily unavailable, please retry", status=503),
    "rate_limit": failure(
        "You are using a Trial key, which is limited to 20 API calls / minute. You can continue to "
        "use the Trial key for free or upgrade to a Production key with higher rate limits at "
        "'https://dashboard.cohere.com/api-keys'.",
        status=429,
        headers={"retry-after": "1"},
    ),
    "context_length": _too_many(
        "size limit exceeded by 25836 tokens. Try using shorter or fewer inputs. The limit for "
        "this model is 288000 tokens."
    ),
    "azure_filter": failure("blocked input: please adjust your prompt and try again", status=498),
    # Part of a response that began with 200.
    "mid_stream": failure("the generation failed due to an internal error", status=200),
}


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str = "") -> Failure:
    """Return the refusal of an output limit above the model's maximum.

    >>> too_many_tokens("max_tokens", 9, 8).document["error_type"]
    'TOO_MANY_TOKENS'
    """
    words = f"max tokens must be less than or equal to {ceiling}, the maximum output for this model"
    return _too_many(f"{words} - received {asked}.")


def mistyped(name: str, *_: object) -> Failure:
    """Return the refusal of a member of another type."""
    return failure(f"invalid type: parameter {name} is of the wrong type. ")


def unknown_field(name: str, reference: str = "reference") -> Failure:
    """Return the refusal of a key; `reference` is the address of the page that lists the keys.

    >>> unknown_field("strict").status
    422
    """
    return failure(
        f"unknown field: parameter '{name}' is not a valid field. For proper usage, please refer "
        f"to https://docs.cohere.com/{reference}/chat",
        status=422,
    )
