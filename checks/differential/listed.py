"""The pairs that the table of `judging.py` leaves open, by hand: at most twenty, each with its reason."""

from __future__ import annotations

from typing import Final

LISTED: Final[dict[str, str]] = {}
"""Reasons by `SDK/kind/name`, or by `kind/name` for every SDK."""

OPEN: Final[frozenset[str]] = frozenset()
"""Keys of pairs in the slice that are known to be worse: the list can only shrink."""
