"""A request that is only observed: the wire reads its answer, but can't continue it."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.deciding.actions import Edit
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import JsonObject
from tenuto.wires.request import RequestFacts


class Watched:
    """A request whose answer can't be continued (`wires.request.WireRequest`)."""

    def __init__(self, body: bytes, model: str, stream: bool) -> None:
        self._body = body
        self.facts: RequestFacts = RequestFacts(
            model=model, stream=stream, left_alone="no_messages"
        )
        self.repairs: tuple[str, ...] = ()
        self.tools_may_go: bool = False

    def tool_parameters(self) -> dict[str, JsonObject]:
        """Return {}: no tools are known."""
        return {}

    def document(self) -> None:
        """Return None: what it asks for is not read."""

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """Return the caller's own bytes."""
        return self._body
