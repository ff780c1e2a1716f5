"""The errors that the simulator gives as Ollama, with the server's messages.

The texts are quoted from the server's source and from reports in its tracker
(https://github.com/ollama/ollama/issues, read 2026-11-22). A status of 200 means that the error is
part of a response that began well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.errors import Failure


def failure(message: str, *, status: int = 400, **_: Any) -> Failure:
    """Return an error in the shape of Ollama, which has one text.

    >>> failure("model is required").document
    {'error': 'model is required'}
    """
    return Failure(status, {"error": message})


def mistyped(path: str, wanted: str, value: Any) -> Failure:
    """Return the refusal of a value of the wrong type.

    >>> mistyped("stream", "bool", "yes").document["error"]
    'json: cannot unmarshal string into Go struct field ChatRequest.stream of type bool'
    """
    got = _GO_NAMES.get(type(value), "null")
    return failure(
        f"json: cannot unmarshal {got} into Go struct field ChatRequest.{path} of type {wanted}"
    )


_GO_NAMES: Final[Mapping[type, str]] = {
    dict: "object", list: "array", str: "string", int: "number", float: "number", bool: "bool",
}  # fmt: skip
_CUT_CALL: Final = (
    'error parsing tool call: raw=\'{"path":"notes/a.txt","conte\', '
    "err=unexpected end of JSON input"
)

ERRORS: Final[Mapping[str, Failure]] = {
    "server": failure(
        "model runner has unexpectedly stopped, this may be due to resource limitations or an "
        "internal error, check ollama server logs for details",
        status=500,
    ),
    "overloaded": failure(
        "server busy, please try again.  maximum pending requests exceeded", status=503
    ),
    "rate_limit": failure("too many concurrent requests", status=429),
    "context_length": failure("the input length exceeds the context length"),
    "cut_call": failure(_CUT_CALL, status=500),
    # Part of a response that began with 200.
    "mid_stream": failure(
        "an error was encountered while running the model: unexpected EOF", status=200
    ),
    "mid_cut_call": failure(_CUT_CALL, status=200),
}


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str) -> Failure:
    """Return a refusal that this server never gives: its models end where their window does.

    >>> too_many_tokens("num_predict", 9, 8, "sim").status
    400
    """
    return failure(f"{parameter} is {asked}, the model {model} has {ceiling}")


def unknown_key(name: str) -> Failure:
    """Return a refusal of a key. The server ignores unknown keys, but the simulator refuses those
    that must not leave a client.

    >>> unknown_key("_x").document
    {'error': "unknown field '_x'"}
    """
    return failure(f"unknown field '{name}'")
