"""The errors that the simulator gives as Text Generation Inference, with the server's messages.

The texts and types are those of the server's router
(https://github.com/huggingface/text-generation-inference, read 2026-11-22). A status of 200 means
that the error is part of a response that began well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.errors import Failure


def failure(message: str, *, status: int = 422, kind: str = "validation", **_: Any) -> Failure:
    """Return an error in the shape of this server: a text and a type.

    >>> failure("Model is overloaded", status=429, kind="overloaded").document["error_type"]
    'overloaded'
    """
    return Failure(status, {"error": message, "error_type": kind})


def invalid(rule: str) -> Failure:
    """Return the refusal of a request that breaks a rule.

    >>> invalid("`inputs` cannot be empty").document["error"]
    'Input validation error: `inputs` cannot be empty'
    """
    return failure(f"Input validation error: {rule}")


def window_full(window: int, prompt: int, asked: int) -> Failure:
    """Return the refusal of a prompt that leaves too little of the window.

    >>> window_full(4096, 4090, 20).document["error"][-51:]
    'Given: 4090 `inputs` tokens and 20 `max_new_tokens`'
    """
    return invalid(
        f"`inputs` tokens + `max_new_tokens` must be <= {window}. "
        f"Given: {prompt} `inputs` tokens and {asked} `max_new_tokens`"
    )


ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(
        "Request failed during generation: Server error: CUDA out of memory",
        status=424,
        kind="generation",
    ),
    "overloaded": Failure(503, {"error": "Model sim is currently loading", "estimated_time": 0.01}),
    "rate_limit": failure("Model is overloaded", status=429, kind="overloaded"),
    "context_length": window_full(4096, 4090, 20),
    # Part of a response that began with 200.
    "mid_stream": failure(
        "Request failed during generation: Server error: transport error",
        status=200,
        kind="generation",
    ),
}


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str) -> Failure:
    """Return the refusal of a limit above the server's own.

    >>> too_many_tokens("max_new_tokens", 9, 8, "sim").document["error"]
    'Input validation error: `max_new_tokens` must be <= 8. Given: 9'
    """
    return invalid(f"`max_new_tokens` must be <= {ceiling}. Given: {asked}")


def unknown_key(name: str) -> Failure:
    """Return a refusal of a key. The server ignores unknown keys, but the simulator refuses those
    that must not leave a client.

    >>> unknown_key("_x").status
    422
    """
    return failure(f"Failed to deserialize the JSON body: unknown field `{name}`")
