"""The signatures of Google's models on calls of a chat: `extra_content.google.thought_signature`.

https://ai.google.dev/gemini-api/docs/thought-signatures (read 2026-11-28)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenuto.core.history.signed import STAND_IN, sign_calls
from tenuto.core.history.table import Changes, Row
from tenuto.wires.json import JsonObject
from tenuto.wires.members import object_in


def signed_row(calls: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the calls of one row, of which the first is signed.

    >>> signed_row([{"id": "a"}])[0]["extra_content"]
    {'google': {'thought_signature': 'skip_thought_signature_validator'}}
    """
    first, *others = calls
    return [first | {path[0]: value for path, value in lacking(first).items()}, *others]


def lacking(call: Any) -> Changes:
    """Return what a call lacks to be signed."""
    extra = object_in(call.get("extra_content"))
    google = object_in(extra.get("google"))
    if google.get("thought_signature"):
        return {}
    return {("extra_content",): extra | {"google": google | {"thought_signature": STAND_IN}}}


def sign(rows: Sequence[Row]) -> list[str]:
    """Sign the calls of the current turn."""
    return sign_calls(rows, lambda row: object_in(row.value).get("role") == "user", lacking)
