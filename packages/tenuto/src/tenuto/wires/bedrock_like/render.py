"""How Bedrock's APIs show that a turn ended in an error."""

from __future__ import annotations

from tenuto.wires.errors import OURS
from tenuto.wires.json import JsonObject, encode_event


def error_of_ours(code: str, message: str) -> JsonObject:
    """Return an error in the provider's shape."""
    return {"message": message, "code": code, "source": OURS}


def exception(code: str, message: str) -> bytes:
    """Return an event on which botocore raises `EventStreamError`. Nothing may follow it."""
    return b"event: error\n" + encode_event(error_of_ours(code, message))
