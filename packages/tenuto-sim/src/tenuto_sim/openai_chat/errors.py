"""The errors that the simulator gives on Chat Completions, with the providers' messages.

The texts are quoted from providers' documentation and from reports in public trackers. A status of
200 means that the error is part of a response that began well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.errors import Failure
from tenuto_sim.shapes import Type, Words

INVALID: Final = "invalid_request_error"


def failure(
    message: str,
    *,
    status: int = 400,
    type_: str | None = INVALID,
    param: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
    beside: Mapping[str, Any] | None = None,
) -> Failure:
    """Return an error in the shape of OpenAI; `extra` is added to it, and `beside` next to it.

    >>> sorted(failure("No.").document["error"])
    ['code', 'message', 'param', 'type']
    """
    error: dict[str, Any] = {"message": message, "type": type_, "param": param, "code": code}
    document = {"error": error | dict(extra or {})} | dict(beside or {})
    return Failure(status, document, headers or {})


_OVERLOADED: Final = "The server had an error while processing your request. Sorry about that!"

ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(_OVERLOADED, status=500, type_="server_error"),
    "overloaded": failure(
        "The engine is currently overloaded, please try again later.",
        status=503,
        type_="server_error",
        code="engine_overloaded",
    ),
    "rate_limit": failure(
        "Rate limit reached for requests. Please try again in 1s.",
        status=429,
        type_="requests",
        code="rate_limit_exceeded",
        headers={"retry-after": "1"},
    ),
    "could_not_finish": failure(
        "Could not finish the message because max_tokens or model output limit was reached. "
        "Please try again with higher max_tokens."
    ),
    "tool_use_failed": failure(
        "Failed to call a function. Please adjust your prompt. "
        "See 'failed_generation' for more details.",
        code="tool_use_failed",
        extra={"failed_generation": '<function=write_file>{"path": "notes/a.txt", "conte'},
    ),
    "context_length": failure(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in "
        "9412 tokens. Please reduce the length of the messages.",
        param="messages",
        code="context_length_exceeded",
    ),
    "azure_filter": failure(
        "The response was filtered due to the prompt triggering Azure OpenAI's content management "
        "policy. Please modify your prompt and retry. To learn more about our content filtering "
        "policies please read our documentation: https://go.microsoft.com/fwlink/?linkid=2198766",
        type_=None,
        param="prompt",
        code="content_filter",
        extra={
            "status": 400,
            "innererror": {
                "code": "ResponsibleAIPolicyViolation",
                "content_filter_result": {
                    "hate": {"filtered": False, "severity": "safe"},
                    "jailbreak": {"filtered": True, "detected": True},
                    "self_harm": {"filtered": False, "severity": "safe"},
                    "sexual": {"filtered": False, "severity": "safe"},
                    "violence": {"filtered": False, "severity": "safe"},
                },
            },
        },
    ),
    # Part of a response that began with 200.
    "mid_stream": failure(_OVERLOADED, status=200, type_="server_error"),
    "mid_openrouter": Failure(
        200,
        {
            "error": {
                "code": 502,
                "message": "Provider returned error",
                "metadata": {"error_type": "provider_unavailable", "provider_code": "overloaded"},
            }
        },
    ),
    "mid_groq": Failure(
        200, {"x_groq": {"id": "req_01sim", "error": "over capacity: generation was stopped early"}}
    ),
    "mid_cerebras": failure(
        "Encountered a server error, please try again.",
        status=200,
        type_="server_error",
        beside={"status_code": 500},
    ),
    "mid_object": Failure(
        200,
        {
            "object": "error",
            "message": "EngineCore encountered an issue. See stack trace for the root cause.",
            "type": "InternalServerError",
            "param": None,
            "code": 500,
        },
    ),
}


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str = "") -> Failure:
    """Return the refusal of an output limit above the model's maximum.

    >>> too_many_tokens("max_tokens", 20480, 16384).document["error"]["code"]
    'invalid_value'
    """
    return failure(
        f"{parameter} is too large: {asked}. This model supports at most {ceiling} completion "
        f"tokens, whereas you provided {asked}.",
        param=parameter,
        code="invalid_value",
    )


def unknown_argument(name: str) -> Failure:
    """Return the refusal of a body key.

    >>> unknown_argument("seed").document["error"]["message"]
    'Unrecognized request argument supplied: seed'
    """
    return failure(f"Unrecognized request argument supplied: {name}")


def missing(path: str) -> Failure:
    """Return the refusal of a body that lacks something."""
    return failure(
        f"Missing required parameter: '{path}'.", param=path, code="missing_required_parameter"
    )


def mistyped(path: str, wanted: Type | str, value: Any) -> Failure:
    """Return the refusal of a value of another type than `wanted`, which may be given in words.

    >>> mistyped("stream", bool, 5).document["error"]["message"]
    "Invalid type for 'stream': expected a boolean, but got an integer instead."
    """
    expected = wanted if isinstance(wanted, str) else _EXPECTED[wanted]
    got = _JSON_NAMES.get(type(value), "value")
    article = "" if got == "null" else "an " if got[0] in "aeiou" else "a "
    return failure(
        f"Invalid type for '{path}': expected {expected}, but got {article}{got} instead.",
        param=path,
        code="invalid_type",
    )


_JSON_NAMES: Final[Mapping[type, str]] = {
    dict: "object", list: "array", str: "string", int: "integer", float: "decimal",
    bool: "boolean", type(None): "null",
}  # fmt: skip
_EXPECTED: Final[Mapping[Type, str]] = {
    dict: "an object", list: "an array of objects", str: "a string", int: "an integer",
    bool: "a boolean", str | list: "a string or an array of objects",
}  # fmt: skip


def empty(path: str) -> Failure:
    """Return the refusal of an empty list."""
    return failure(
        f"Invalid '{path}': empty array. Expected an array with minimum length 1, "
        "but got an empty array instead.",
        param=path,
        code="empty_array",
    )


def above(path: str, value: int, most: int) -> Failure:
    """Return the refusal of a number that is too large."""
    return failure(
        f"Invalid '{path}': integer above maximum value. Expected a value <= {most}, but got "
        f"{value} instead.",
        param=path,
        code="integer_above_max_value",
    )


WORDS: Final = Words(
    missing,
    lambda path: failure(f"Extra inputs are not permitted, field: '{path}'"),
    mistyped,
)
