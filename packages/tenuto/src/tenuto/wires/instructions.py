"""Remove blank texts from the instructions of a request, where the provider refuses them.

Instructions are a list of blocks of their own on some wires, beside the history. Programs leave
blank blocks in it, such as for a part of a prompt that has nothing to say today, often with a
marker for the cache ("system.1: cache_control cannot be set for empty text blocks"). Without such
blocks the instructions say the same. If no block says anything, there are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tenuto.core.history.results import is_blank_text
from tenuto.wires.json import JsonObject
from tenuto.wires.members import listed, members_of, object_in, rows_of, value_of, with_members

WORD = "blank_instruction_removed"
"""The repair in a word."""

may_be_blank: Callable[[bytes], object] = re.compile(rb'"text"\s*:\s*"(?:\s|\\[nrtf])*"').search
"""Finds what may be a blank text, in a whole request. Nearly none has one."""


@dataclass(frozen=True, slots=True)
class Instructions:
    """Where a wire keeps its instructions.

    Attributes:
        names: the spellings of the member that holds them.
        parts: the member of that which holds the list of blocks; "": it is the list itself.
        markers: members of blocks that only mark a place, which say nothing by themselves.
    """

    names: tuple[str, ...]
    parts: str = ""
    markers: frozenset[str] = frozenset()

    def mended(self, members: Mapping[str, bytes]) -> dict[str, bytes | None]:
        """Return the changes of a request's members; {}: there is nothing to repair.

        >>> system = b'[{"type":"text","text":"Be brief."},{"type":"text","text":""}]'
        >>> Instructions(("system",)).mended({"system": system})
        {'system': b'[{"type":"text","text":"Be brief."}]'}
        >>> Instructions(("system",)).mended({"system": b'[{"type":"text","text":" "}]'})
        {'system': None}
        """
        name = next((name for name in self.names if name in members), "")
        raw = members.get(name, b"null")
        given = members_of(raw).get(self.parts, b"null") if self._is_held(raw) else raw
        if not given.startswith(b"["):
            return {}
        rows = rows_of(given)
        kept = [row for row in rows if not is_blank_text(value_of(row))]
        if len(kept) == len(rows):
            return {}
        if all(self._marks(object_in(value_of(row))) for row in kept):
            return {name: None}
        return {name: with_members(raw, {self.parts: listed(kept)}) if self.parts else listed(kept)}

    def _is_held(self, raw: bytes) -> bool:
        return bool(self.parts) and raw.startswith(b"{")

    def _marks(self, block: JsonObject) -> bool:
        return bool(block) and block.keys() <= self.markers
