"""What a case and a group of cases are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from checks.recorder.showing import Shown

Recorded = tuple[str, Callable[[], Shown]]
"""A key, and what plays the case."""


class Group(NamedTuple):
    """Cases whose keys all begin with `name` and a slash; one process plays them."""

    name: str
    cases: Callable[[], Iterator[Recorded]]
