"""How long a provider asks to wait before a retry (P5)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait; None: the headers don't say. Header names are in lower case.

    `retry-after-ms` is a finer form that some providers send. A date is relative to the response's
    own `date`, so this needs no clock (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after).

    >>> retry_after_s({"retry-after": "1.5"}), retry_after_s({"retry-after-ms": "250"})
    (1.5, 0.25)
    >>> retry_after_s({"date": "Sat, 21 Nov 2026 10:00:00 GMT",
    ...                "retry-after": "Sat, 21 Nov 2026 10:00:07 GMT"})
    7.0
    >>> retry_after_s({"retry-after": "nan"}) is None
    True
    >>> retry_after_s({"retry-after": "Sat, 21 Nov 99999999999 10:00:07 GMT"}) is None
    True
    """
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return millis / 1_000
    asked = headers.get("retry-after", "")
    seconds = _number(asked)
    return seconds if seconds is not None else _until(asked, headers.get("date", ""))


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value else -1.0
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None


def _until(then: str, now: str) -> float | None:
    try:
        seconds = (parsedate_to_datetime(then) - parsedate_to_datetime(now)).total_seconds()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(seconds, 0.0)
