"""A request whose history is one list of items: OpenAI Responses, and Gemini's Interactions.

Theory of operation
-------------------
As in `request_edits`, with `input` as the history and its items as the rows.
"""

from __future__ import annotations

from typing import Any

from tenuto.wires.base import JsonObject, RequestFacts
from tenuto.wires.calls import schemas_in
from tenuto.wires.members import list_in, members_of
from tenuto.wires.request_edits import EditableRequest


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
        return schemas_in(list_in(tools))
