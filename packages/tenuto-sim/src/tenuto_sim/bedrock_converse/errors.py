"""The errors that the simulator gives on Converse, with the provider's messages.

Kinds and statuses: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
and, for those within a stream, …/API_runtime_ConverseStreamOutput.html (read 2026-11-22). A status
of 200 means that the error is part of a response that began well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.errors import Failure

KINDS: Final[Mapping[int, str]] = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}
TYPE: Final = "x-amzn-errortype"
RETURNED: Final = "The model returned the following errors: "
_CORAL: Final = ":http://internal.amazon.com/coral/com.amazon.bedrock/"


def failure(message: str, *, status: int = 400, kind: str | None = None, **_: Any) -> Failure:
    """Return an error in the shape of AWS; its kind follows from the status.

    >>> failure("Slow down.", status=429).headers["x-amzn-errortype"].partition(":")[0]
    'ThrottlingException'
    """
    return Failure(status, {"message": message}, {TYPE: (kind or KINDS[status]) + _CORAL})


def kind_of(error: Failure) -> str:
    """Return the kind of an error as a stream names it.

    >>> kind_of(failure("Slow down.", status=429))
    'throttlingException'
    """
    name = error.headers[TYPE].partition(":")[0]
    return name[0].lower() + name[1:]


def _in_stream(message: str, kind: str) -> Failure:
    return failure(message, status=200, kind=kind)


_FAILED: Final = (
    "The system encountered an unexpected error during processing. Try your request again."
)

ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(_FAILED, status=500),
    "overloaded": failure("Bedrock is unable to process your request.", status=503),
    "rate_limit": failure("Too many requests, please wait before trying again.", status=429),
    "model_error": failure(f"{RETURNED}...", status=424),
    "context_length": failure("Input is too long for requested model."),
    # Part of a response that began with 200.
    "mid_stream": _in_stream(_FAILED, "ModelStreamErrorException"),
    "mid_server": _in_stream(_FAILED, "InternalServerException"),
    "mid_throttled": _in_stream("Too many tokens, please wait.", "ThrottlingException"),
    "mid_unavailable": _in_stream(
        "Bedrock is unable to process your request.", "ServiceUnavailableException"
    ),
    "mid_invalid": _in_stream("The provided request is not valid.", "ValidationException"),
}


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str) -> Failure:
    """Return the refusal of an output limit above the model's maximum.

    >>> too_many_tokens("maxTokens", 9, 8, "sim").document["message"][:60]
    'The maximum tokens you requested exceeds the model limit of '
    """
    return failure(
        f"The maximum tokens you requested exceeds the model limit of {ceiling}. Try again with a "
        f"maximum tokens value that is lower than {ceiling}."
    )


def extra(name: str) -> Failure:
    """Return the refusal of a key.

    >>> "[seed]" in extra("seed").document["message"]
    True
    """
    return failure(
        f"Malformed input request: #: extraneous key [{name}] is not permitted, please reformat "
        "your input and try again."
    )


def invalid(place: str, constraint: str) -> Failure:
    """Return the refusal of a value that breaks a constraint.

    >>> invalid("messages", "Member must not be null").document["message"][:49]
    "1 validation error detected: Value at 'messages' "
    """
    return failure(
        f"1 validation error detected: Value at '{place}' failed to satisfy constraint: "
        f"{constraint}"
    )
