"""The errors that the simulator gives on DashScope's own API, with the provider's messages.

https://help.aliyun.com/zh/model-studio/error-code, and messages quoted in public issues
(open-webui#10507, claude-code-router#1327, qwen-code#606; read 2026-11-22). A status of 200 means
that the error is part of a response that began well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.errors import Failure
from tenuto_sim.prose import key_of

INVALID: Final = "InvalidParameter"
_BY_ALGORITHM: Final = "<400> InternalError.Algo.InvalidParameter: "


def failure(message: str, *, status: int = 400, code: str | None = None, **_: Any) -> Failure:
    """Return an error in the shape of DashScope, which has no place for `param`.

    >>> failure("No.").document
    {'code': 'InvalidParameter', 'message': 'No.'}
    """
    return Failure(status, {"code": code or INVALID, "message": message})


def by_algorithm(message: str) -> Failure:
    """Return a refusal by the model's side, which the API itself doesn't check.

    >>> by_algorithm("No.").document["message"]
    '<400> InternalError.Algo.InvalidParameter: No.'
    """
    return failure(_BY_ALGORITHM + message)


def stamped(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an error document with the id of its request.

    >>> list(stamped({"code": "Throttling"}, "1"))
    ['code', 'request_id']
    """
    return dict(document) | {"request_id": id_of(key)}


def id_of(key: str) -> str:
    """Return the id of a request, made of a unique key.

    >>> len(id_of("1"))
    36
    """
    drawn = key_of("request", key, length=32)
    return "-".join((drawn[:8], drawn[8:12], drawn[12:16], drawn[16:20], drawn[20:]))


ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(
        "An internal error has occured, please try again later or contact service support.",
        status=500,
        code="InternalError",
    ),
    "overloaded": failure(
        "The service is currently unavailable, please try again later.",
        status=503,
        code="ServiceUnavailable",
    ),
    "rate_limit": failure(
        "Requests rate limit exceeded, please try again later.",
        status=429,
        code="Throttling.RateQuota",
    ),
    "context_length": by_algorithm("Range of input length should be [1, 30720]"),
    "azure_filter": failure(
        "Input or output data may contain inappropriate content.", code="DataInspectionFailed"
    ),
    # Part of a response that began with 200.
    "mid_stream": failure(
        "An internal error has occured during execution, please try again later or contact "
        "service support.",
        status=200,
        code="InternalError.Algo",
    ),
}


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str = "") -> Failure:
    """Return the refusal of an output limit above the model's maximum.

    >>> too_many_tokens("max_tokens", 9, 8).document["message"][-36:]
    'Range of max_tokens should be [1, 8]'
    """
    return by_algorithm(f"Range of max_tokens should be [1, {ceiling}]")


def unknown_parameter(name: str) -> Failure:
    """Return the refusal of a key.

    >>> unknown_parameter("seed").status
    400
    """
    return failure(f"Unknown parameter: '{name}'")
