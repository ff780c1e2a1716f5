"""Reads docstrings for tables, pages and `--help`."""

from __future__ import annotations

import inspect
import re


def unwrapped(docstring: str | None) -> str | None:
    """Return a docstring with each paragraph and each description of an argument on one line, so
    that it wraps at the width of the terminal only.

    >>> print(unwrapped('''One.
    ...
    ...     Two goes
    ...     on.
    ...
    ...     Args:
    ...         a: what
    ...             goes on.
    ... '''))
    One.
    <BLANKLINE>
    Two goes on.
    <BLANKLINE>
    Args:
        a: what goes on.
    """
    if docstring is None:  # with -OO, Python keeps none
        return None
    return _WRAP.sub(" ", inspect.cleandoc(docstring))


_WRAP = re.compile(r"(?<=\S)\n(?:(?=\S)| {8}(?=\S))")
"""A line break within a paragraph, or within the description of an argument."""


def attributes(docstring: str | None) -> dict[str, str]:
    """Return the descriptions under a docstring's `Attributes:`, by name; `a, b: …` describes both.
    A line without a name that ends in a colon is the title of a group.

    With -OO, Python keeps no docstrings: None has no descriptions.

    >>> attributes('''One.
    ...
    ...     Attributes:
    ...         Some of them:
    ...
    ...         a, b: what
    ...             goes on.
    ...
    ...     Raises:
    ...         No: never.
    ... ''')
    {'a': 'what goes on.', 'b': 'what goes on.'}
    """
    found: dict[str, str] = {}
    names: list[str] = []
    inside, depth = False, 0
    for line in (docstring or "").splitlines():
        indent = len(line) - len(line.lstrip())
        if line.strip() == "Attributes:":
            inside, depth = True, indent
            continue
        if not inside or not line.strip():
            continue
        if indent <= depth:
            break
        begun = re.match(r"(\w+(?:, \w+)*): (.*)", line.strip()) if indent == depth + 4 else None
        if begun:
            names = begun[1].split(", ")
            found.update(dict.fromkeys(names, begun[2].strip()))
        elif indent == depth + 4 and line.endswith(":"):
            names = []
        else:
            for name in names:
                found[name] += " " + line.strip()
    return found
