"""The errors that the simulator gives on OpenAI Responses, with the provider's messages.

The texts are quoted from the provider's documentation and from reports in public trackers; the
others have the form of its validation errors. A status of 200 means that the error is part of a
response that began well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.errors import Failure
from tenuto_sim.openai_chat import errors as chat
from tenuto_sim.openai_chat.errors import above, failure, missing, mistyped
from tenuto_sim.shapes import Words

_SORRY: Final = (
    "An error occurred while processing your request. You can retry your request, or contact us "
    "through our help center at help.openai.com if the error persists. Please include the request "
    "ID req_sim in your message."
)

ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(_SORRY, status=500, type_="server_error", code="server_error"),
    "overloaded": chat.ERRORS["overloaded"],
    "rate_limit": failure(
        "Rate limit reached for sim on tokens per min (TPM): Limit 30000, Used 29000, "
        "Requested 2000. Please try again in 1s.",
        status=429,
        type_="tokens",
        code="rate_limit_exceeded",
        headers={"retry-after": "1"},
    ),
    "context_length": failure(
        "Your input exceeds the context window of this model. Please adjust your input and try "
        "again.",
        param="input",
        code="context_length_exceeded",
    ),
    "azure_filter": failure(
        "The response was filtered due to the prompt triggering Azure OpenAI's content management "
        "policy. Please modify your prompt and retry.",
        type_=None,
        param="prompt",
        code="content_filter",
    ),
    # Part of a response that began with 200. `mid_flat` has the form of the reference, on which
    # no SDK raises; the other is what the service was seen to send.
    "mid_stream": failure(_SORRY, status=200, type_="server_error", code="server_error"),
    "mid_flat": Failure(200, {"code": "server_error", "message": _SORRY, "param": None}),
}

FAILED: Final[Mapping[str, Mapping[str, str]]] = {
    "failed": {"code": "server_error", "message": _SORRY},
    "failed_policy": {
        "code": "invalid_prompt",
        "message": "Invalid prompt: your prompt was flagged as potentially violating our usage "
        "policy. Please try again with a different prompt: "
        "https://platform.openai.com/docs/guides/reasoning#advice-on-prompting",
    },
}
"""The `error` of failed responses, by the finish of a step."""


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str = "") -> Failure:
    """Return the refusal of an output limit above the model's maximum.

    >>> too_many_tokens("", 20480, 16384).document["error"]["code"]
    'integer_above_max_value'
    """
    return above("max_output_tokens", asked, ceiling)


def unknown_parameter(path: str) -> Failure:
    """Return the refusal of a key.

    >>> unknown_parameter("seed").document["error"]["message"]
    "Unknown parameter: 'seed'."
    """
    return failure(f"Unknown parameter: '{path}'.", param=path, code="unknown_parameter")


WORDS: Final = Words(missing, unknown_parameter, mistyped)


def unsupported(path: str, value: Any, *supported: str) -> Failure:
    """Return the refusal of a value that is not supported.

    >>> unsupported("input[0].role", "x", "user", "system").document["error"]["message"]
    "Invalid value: 'x'. Supported values are: 'user' and 'system'."
    """
    names = [f"'{name}'" for name in supported]
    last = f", and {names[-1]}" if len(names) > 2 else f" and {names[-1]}"
    listed = ", ".join(names[:-1]) + last if len(names) > 1 else names[0]
    return failure(
        f"Invalid value: '{value}'. Supported values are: {listed}.",
        param=path,
        code="invalid_value",
    )
