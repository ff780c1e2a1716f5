"""The response to a request with a wrong policy, for callers that only read responses.

SDKs treat an exception of their transport as a failed connection, and retry. So the error is a
response in the form of the provider's own errors, which they raise at once.
"""

from __future__ import annotations

from tenuto.core.errors import PolicyError
from tenuto.frames.json import decode_object, encode
from tenuto.turn.drivers.commands import Head
from tenuto.wires.base import Wire
from tenuto.wires.errors import OURS

CODE = "policy_error"
"""The code of such an error, if the wire's errors have one."""

_STATUS = 400

_WORDS: dict[str | int, str | int] = {
    OURS: "tenuto_policy",
    OURS.upper(): "INVALID_ARGUMENT",
    "api_error": "invalid_request_error",
    "incomplete_generation": "validation",
}
"""Words in the wires' errors for an unfinished turn, and their replacements here."""


def refusal(wire: Wire, error: PolicyError) -> tuple[Head, bytes]:
    """Return the head and the body that say what is wrong, in the form of the wire's errors.

    >>> from tenuto.wires.openai_chat.wire import WIRE
    >>> head, body = refusal(WIRE, PolicyError("empty_retries is 99"))
    >>> head.status, body
    (400, b'{"error":{"message":"empty_retries is 99","type":"tenuto_policy","param":null,\
"code":"policy_error"}}')
    """
    body = wire.render_error(CODE, str(error), None)
    made = decode_object(body)
    if made is not None:
        body = encode(_renamed(made, {**_WORDS, wire.error_status: _STATUS}))
    head = Head(_STATUS, ((b"content-type", b"application/json"), (b"x-should-retry", b"false")))
    return head.of(body), body


def _renamed(value: object, words: dict[str | int, str | int]) -> object:
    """Return a JSON value with these words and numbers replaced."""
    match value:
        case dict():
            return {key: _renamed(below, words) for key, below in value.items()}
        case list():
            return [_renamed(below, words) for below in value]
        case str() | int():
            return words.get(value, value)
    return value
