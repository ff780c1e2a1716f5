"""Every error that the simulator can give on Cohere's chat of version 1, in the provider's words.

https://docs.cohere.com/v1/reference/errors (read 2026-11-24), and messages quoted in public issues.
A status of 200 means that the error comes inside of a response that began well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tenuto.sim.errors import Failure


def failure(
    message: str,
    *,
    status: int = 400,
    param: str | None = None,
    code: str | None = None,
) -> Failure:
    """Return an error in the shape of Cohere, which has no place for `param` and `code`.

    >>> failure("No.").document
    {'message': 'No.'}
    """
    return Failure(status, {"message": message})


ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(
        "internal server error, this has been reported to our developers", status=500
    ),
    "overloaded": failure("the service is temporarily unavailable, please retry", status=503),
    "rate_limit": Failure(
        429,
        {
            "message": "You are using a Trial key, which is limited to 20 API calls / minute. You "
            "can continue to use the Trial key for free or upgrade to a Production key with higher "
            "rate limits at 'https://dashboard.cohere.com/api-keys'."
        },
        {"retry-after": "1"},
    ),
    "context_length": failure(
        "too many tokens: size limit exceeded by 25836 tokens. Try using shorter or fewer inputs. "
        "The limit for this model is 128000 tokens."
    ),
    "azure_filter": failure("blocked input: please adjust your prompt and try again", status=498),
    # Inside of a response that began with 200.
    "mid_stream": failure("the generation failed due to an internal error", status=200),
}


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str = "") -> Failure:
    """Return the refusal of an output budget that is above the model's ceiling.

    >>> too_many_tokens("max_tokens", 9, 8).status
    400
    """
    return failure(
        f"too many tokens: max tokens must be less than or equal to {ceiling}, the maximum output "
        f"for this model - received {asked}."
    )


def unknown_field(name: str) -> Failure:
    """Return the refusal of a key.

    >>> unknown_field("strict").status
    422
    """
    return failure(
        f"unknown field: parameter '{name}' is not a valid field. For proper usage, please refer "
        "to https://docs.cohere.com/v1/reference/chat",
        status=422,
    )
