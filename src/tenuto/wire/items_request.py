"""A request whose history is one list of items: OpenAI Responses, and Gemini's Interactions.

Theory of operation
-------------------
As in `openai_chat_request`: the body is split into its members and `input` into its items, each
kept as the bytes that the caller sent. An edit appends whole items or changes other members; which
ones is the wire's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from tenuto.core.actions import Edit
from tenuto.wire.base import Dialect, JsonObject, RequestFacts
from tenuto.wire.json import decode_object
from tenuto.wire.members import (
    joined,
    listed,
    members_of,
    object_in,
    value_of,
)

T = TypeVar("T", bound=msgspec.Struct)


def reader(shape: type[T]) -> Callable[[bytes], T]:
    """Reads the members of a request that a shape names, `input` as bytes. A number that no double
    holds, somewhere in them, takes a second and more lenient reading."""
    read = msgspec.json.Decoder(shape).decode

    def asked(body: bytes) -> T:
        try:
            return read(body)
        except msgspec.DecodeError:
            members = members_of(body)
            names = [name for name in shape.__struct_fields__ if name in members]
            values = {name: decode_object(members[name]) for name in names if name != "input"}
            return shape(input=msgspec.Raw(members.get("input", b"null")), **values)

    return asked


class ItemsRequest(ABC):
    """A request as bytes, with what was read of it (`wire.base.WireRequest`).

    Args:
        rows: the items, repaired; `repairs` says in words what was done.
    """

    def __init__(
        self, body: bytes, facts: RequestFacts, rows: list[bytes], repairs: tuple[str, ...]
    ) -> None:
        self._body = body
        self.facts = facts
        self._rows = rows
        self.repairs = repairs
        self._members: dict[str, bytes] = {}

    def _split(self) -> dict[str, bytes]:
        """The members as bytes: a request that passes as it came needs none."""
        if not self._members:
            self._members = members_of(self._body)
        return self._members

    def tool_parameters(self) -> dict[str, JsonObject]:
        """The JSON Schema of each attached function, by name; {} for one that has none."""
        tools = value_of(self._split().get("tools"))
        return {
            tool["name"]: object_in(tool.get("parameters"))
            for tool in (tools if isinstance(tools, list) else ())
            if isinstance(tool, dict) and isinstance(tool.get("name"), str)
        }

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without any, the caller's own."""
        if not edits and not self.repairs:
            return self._body
        members = dict(self._split())
        added = [row for edit in edits for row in self._added(edit)]
        if added or self.repairs:
            members["input"] = listed([*self._rows, *added])
        for edit in edits:
            self._change(members, edit)
        return joined(members)

    @abstractmethod
    def _added(self, edit: Edit) -> Iterable[bytes]:
        """The items that an edit appends, often none."""

    @abstractmethod
    def _change(self, members: dict[str, bytes], edit: Edit) -> None:
        """Change the other members as an edit says."""
