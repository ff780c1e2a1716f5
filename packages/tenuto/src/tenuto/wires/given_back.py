"""What errors say that a provider refuses in the model's rows is left out of them (H5b).

Each vendor has its own names for what stands beside a text and its calls, so members are recognized
by words in the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from tenuto.core.deciding.actions import AppendAssistant, AppendCalls, Edit
from tenuto.wires.dialect import Dialect
from tenuto.wires.unsupported import FOREIGN

is_beside: Final[Callable[[str], re.Match[str] | None]] = re.compile(
    r"reason|think|thought|signature|extra_content|provider_specific|encrypted|opaque",
    re.IGNORECASE,
).search
"""Finds such a word in a member's name."""


def taken_back(edit: Edit, dialect: Dialect) -> Edit:
    """Return an edit whose rows hold only what the provider takes, as far as errors said.

    >>> from tenuto.wires.dialect import taught_by
    >>> said = AppendAssistant("Hm.", content=({"text": "Hm.", "thoughtSignature": "c2ln"},))
    >>> taken_back(said, taught_by(Dialect(), frozenset({"-thoughtSignature"}))).content
    ({'text': 'Hm.'},)
    >>> taken_back(said, taught_by(Dialect(), frozenset({"-"}))).content
    ()
    >>> thought = AppendAssistant("", content=({"text": "Hm.", "thought": True},))
    >>> taken_back(thought, taught_by(Dialect(), frozenset({"-thought"}))).content
    ()
    """
    if not dialect.learned or not isinstance(edit, AppendAssistant | AppendCalls):
        return edit
    content = () if dialect.refuses_all else tuple(_taken(list(edit.content), dialect))
    if isinstance(edit, AppendAssistant):
        return replace(edit, content=content)
    calls = (replace(c, extra=c.extra and _taken(dict(c.extra), dialect)) for c in edit.calls)
    return replace(edit, content=content, calls=tuple(calls))


def _taken(value: Any, dialect: Dialect) -> Any:
    """Return a value without the members and the blocks that are refused by name."""
    if isinstance(value, Mapping):
        return {
            name: item if name in FOREIGN else _taken(item, dialect)
            for name, item in value.items()
            if not _is_refused(name, dialect)
        }
    if isinstance(value, list):
        kept = [each for each in value if not _is_of_refused_kind(each, dialect)]
        taken = ((each, _taken(each, dialect)) for each in kept)
        return [made for each, made in taken if made or not each]
    return value


def _is_of_refused_kind(block: object, dialect: Dialect) -> bool:
    """Return whether a block is what a refused name says: without that it would be another."""
    if not isinstance(block, Mapping):
        return False
    kinds = {block.get("type"), *(name for name, item in block.items() if item is True)}
    return any(_is_refused(name, dialect) for name in kinds)


def _is_refused(name: object, dialect: Dialect) -> bool:
    return isinstance(name, str) and bool(is_beside(name)) and dialect.refuses_back(name)
