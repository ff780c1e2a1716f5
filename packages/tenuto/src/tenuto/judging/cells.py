"""What tables make of the members of a row: every row has every column, and every object every
member, and whole numbers have decimal points where a column has gaps."""

from __future__ import annotations

from typing import Final

from tenuto.wires.json import count

MOST_TOKENS: Final = 10**12
"""A larger number is none of tokens, and does not fit into tables."""


def count_in(value: object) -> int | None:
    """Return a number of tokens; None: the value is none.

    >>> count_in(512), count_in(512.0), count_in(0.5), count_in("512"), count_in(10**19)
    (512, 512, None, None, None)
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    found = count(value)
    return found if found is not None and found <= MOST_TOKENS else None


def without_nulls(value: object) -> object:
    """Return a row without the members that are null, in objects within it too: a table has every
    column in every row.

    >>> without_nulls({"a": None, "b": [{"c": None, "d": 1}]})
    {'b': [{'d': 1}]}
    """
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def is_nothing(value: object) -> bool:
    """Return whether a value is empty, or an object of nothing but nulls.

    >>> is_nothing({"a": None}), is_nothing({}), is_nothing(0)
    (True, True, False)
    """
    return value is None or (isinstance(value, dict | list | str) and not without_nulls(value))
