"""What tables make of the members of a row: every row has every column, and every object every
member, and whole numbers have decimal points where a column has gaps."""

from __future__ import annotations

from operator import is_
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
    column in every row. Arguments of calls stay as they are, since null may be meant. A row that
    has no such member is returned as it is.

    >>> without_nulls({"a": None, "b": [{"c": None, "d": 1}], "args": {"e": None}})
    {'b': [{'d': 1}], 'args': {'e': None}}
    """
    if isinstance(value, dict):
        made = {
            name: item if name in _ARGUMENTS else without_nulls(item)
            for name, item in value.items()
            if item is not None
        }
        same = len(made) == len(value) and all(made[name] is value[name] for name in made)
        return value if same else made
    if isinstance(value, list):
        items = [without_nulls(item) for item in value]
        return value if all(map(is_, items, value)) else items
    return value


_ARGUMENTS: Final = frozenset({"arguments", "args", "input"})


def is_nothing(value: object) -> bool:
    """Return whether a value is empty, or holds nothing but nulls.

    >>> is_nothing({"a": {"b": None}}), is_nothing([None]), is_nothing({}), is_nothing(0)
    (True, True, True, False)
    """
    if isinstance(value, dict):
        return all(map(is_nothing, value.values()))
    if isinstance(value, list):
        return all(map(is_nothing, value))
    return value is None or value == ""
