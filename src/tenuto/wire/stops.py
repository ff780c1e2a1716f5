"""Looking up a native stop value in a wire's own tables."""

from __future__ import annotations

from tenuto.core.signals import StopSeen
from tenuto.core.stop import CLEAN, GRAVITY, StopReason

StopTable = dict[str, tuple[StopReason, str | None]]
"""Native values in lower case, each with its reason and a finer word for it."""

_NO_STOP = frozenset({"", "null", "none"})


def look_up(raw: object, field: str, table: StopTable) -> StopSeen | None:
    """The stop that a native value means; None where it is no stop at all (N1a).

    The match is trimmed and case-insensitive. Of `function_call_filter: MALFORMED_FUNCTION_CALL`
    both halves are looked up, and the graver one counts; a half alone proves no clean end.

    >>> table = {"length": (StopReason.MAX_TOKENS, None)}
    >>> look_up(" LENGTH ", "finish_reason", table).reason.value
    'max_tokens'
    >>> look_up("null", "finish_reason", table) is None
    True
    """
    if raw is None:
        return None
    if not isinstance(raw, str):
        name = type(raw).__name__  # what it holds may be content
        return StopSeen(f"<{name}>", field, StopReason.UNKNOWN, known=False, readable=False)
    word = raw.strip().lower()
    if word in _NO_STOP:
        return None
    if word in table:
        return StopSeen(raw, field, *table[word])
    halves = [half.strip() for half in word.split(":", 1)]
    found = [row for half in halves if (row := table.get(half)) and row[0] not in CLEAN]
    if found:
        return StopSeen(raw, field, *min(found, key=lambda row: GRAVITY.index(row[0])))
    return StopSeen(raw, field, StopReason.UNKNOWN, known=False)
