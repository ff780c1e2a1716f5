"""A request whose history is one list of items: OpenAI Responses, and Gemini's Interactions.

Theory of operation
-------------------
As in `request_edits`, with `input` as the history and its items as the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from tenuto.wire.base import JsonObject, RequestFacts
from tenuto.wire.json import decode_object
from tenuto.wire.members import members_of, object_in
from tenuto.wire.request_edits import EditableRequest

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


class ItemsRequest(EditableRequest):
    """A request whose items are split when it is read: an input may also be a text, or one item.

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

    def _split(self) -> None:
        if not self._members:
            self._members = members_of(self._body)

    def _schemas(self, tools: Any) -> dict[str, JsonObject]:
        return {
            tool["name"]: object_in(tool.get("parameters"))
            for tool in (tools if isinstance(tools, list) else ())
            if isinstance(tool, dict) and isinstance(tool.get("name"), str)
        }
