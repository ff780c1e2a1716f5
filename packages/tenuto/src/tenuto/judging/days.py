"""The day on which an answer was made, as a row tells it."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import Final

from tenuto.wires.json import JsonObject

TIMES: Final = (
    "created", "created_at", "createTime", "create_time", "timestamp", "startTime", "start_time",
    "started_at", "completed_at", "startTimeUnixNano", "createdAt", "processed_time",
)  # fmt: skip
"""Members that hold the time of an answer, in the order in which they count."""

_EARLIEST_S: Final = 1_500_000_000
"""2017-07-14. Earlier than any answer; a smaller number is a count or an example."""

_LATEST_S: Final = 4_102_444_800
"""2100-01-01."""

_UNITS: Final = (1, 1_000, 1_000_000, 1_000_000_000)
_DAY_S: Final = 86_400
_day = re.compile(r"(20\d\d-[01]\d-[0-3]\d)(?:[T ]|$)")


def day_of(time: object) -> str:
    """Return the day of a time (UTC for a number, else as it is written); "": it is no time.

    Args:
        time: seconds, milliseconds, microseconds or nanoseconds since 1970, text of ISO 8601, or a
            date, as tables have it.

    >>> day_of(1764962401), day_of("1764962401000"), day_of("2025-06-11T14:01:39.245Z")
    ('2025-12-05', '2025-12-05', '2025-06-11')
    >>> day_of(date(2025, 6, 11))
    '2025-06-11'
    >>> day_of(1), day_of("yesterday"), day_of(None), day_of(True)
    ('', '', '', '')
    """
    if type(time) is int and _EARLIEST_S <= time < _LATEST_S:
        return _iso(time // _DAY_S)
    if isinstance(time, str):
        if not (time.isascii() and time.isdecimal()) or len(time) > len("1764962401000000000"):
            found = _day.match(time)
            return found[1] if found else ""
        time = int(time)
    if isinstance(time, date):
        return time.isoformat()[: len("2025-06-11")]
    if not isinstance(time, int | float):
        return ""
    for unit in _UNITS:
        if _EARLIEST_S * unit <= time < _LATEST_S * unit:
            return _iso(int(time / unit) // _DAY_S)
    return ""


@lru_cache(1_024)
def _iso(number: int) -> str:
    return date.fromordinal(date(1970, 1, 1).toordinal() + number).isoformat()


def day_in(value: object) -> str:
    """Return the day that an object tells of itself; "": it tells none.

    >>> day_in({"created": 0, "timestamp": "2024-11-05T20:04:20+00:00"}), day_in([])
    ('2024-11-05', '')
    """
    if not isinstance(value, dict):
        return ""
    row: JsonObject = value
    return next((day for name in TIMES if name in row and (day := day_of(row[name]))), "")
