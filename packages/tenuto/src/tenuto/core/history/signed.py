"""Sign the calls of the current turn of a history, on behalf of another model (Gemini 3).

Such a provider checks the turn that is not over: all since the user last spoke. In it, the first
call of each step of the model must have a signature, which only the model that made it could give.
A call of another model, or one from a store without signatures, gets the stand-in that the provider
names for this: https://ai.google.dev/gemini-api/docs/thought-signatures (read 2026-11-28).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenuto.core.history.table import Changes, Role, Row, change_inside

STAND_IN = "skip_thought_signature_validator"


def sign_calls(
    rows: Sequence[Row],
    speaks: Callable[[Row], bool],
    lacking: Callable[[Any], Changes],
) -> list[str]:
    """Sign the first call of each step of the current turn. Return the repair in a word.

    Args:
        speaks: whether a row is the user's own words, which begin a turn.
        lacking: returns the members that a call lacks to be signed; {}: nothing.
    """
    begins = max((at for at, row in enumerate(rows) if speaks(row)), default=-1)
    words: list[str] = []
    in_step = False
    for row in rows[begins + 1 :]:
        if row.role is not Role.MODEL:
            in_step = False
            continue
        if in_step or not row.calls:
            continue
        in_step = True
        first = row.calls[0]
        if changes := lacking(first.value):
            change_inside(row, first.at, changes)
            words.append("missing_signature_filled")
    return words
