"""Rows that repeat the answers of other rows.

lm-eval writes the samples of a task once for each filter of its answers, one filter behind the
other, with the same responses. Those of the first filter of a file are counted.
"""

from __future__ import annotations

from tenuto.judging.files import Range, rows_of
from tenuto.judging.opening import opened
from tenuto.judging.verdict import Verdict

_KIND = "lm_eval"


class Repeats:
    """The rows of a file that repeat the answers of others."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._first: object = None

    def has(self, verdict: Verdict, data: object) -> bool:
        """Return whether a row is one of them."""
        if verdict.kind != _KIND:
            return False
        own = _filter_of(data)
        if own is None:
            return False
        if self._first is None:
            first = next(iter(rows_of(Range(self._path))), None)
            self._first = _filter_of(first.data) if first is not None else None
        return self._first is not None and own != self._first


def _filter_of(data: object) -> str | None:
    row = opened(data)
    found = row.get("filter") if isinstance(row, dict) else None
    return found if isinstance(found, str) else None
