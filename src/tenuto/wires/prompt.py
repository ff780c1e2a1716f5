"""Requests with a prompt instead of messages, as bytes.

A prompt is the words of the user: what the model said, and what is asked of it now, is told behind
them. A raw one goes to the model as it stands, so that the model goes on at its end by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.actions import AppendAssistant, AppendCalls, AppendUser, Edit
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import JsonObject, encode
from tenuto.wires.members import value_of
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import EditableRequest


class PromptRequest(EditableRequest):
    """A request with a prompt (`wires.request.WireRequest`).

    Args:
        body: as it came.
        facts: what was read of it.
        raw: whether the model goes on at the end of the prompt by itself.
    """

    def __init__(self, body: bytes, facts: RequestFacts, *, raw: bool = True) -> None:
        super().__init__(body, facts)
        self._raw = raw

    def tool_parameters(self) -> dict[str, JsonObject]:
        """Nothing: a prompt comes without tools."""
        return {}

    def edited(self, edits: Sequence[Edit], dialect: Dialect) -> dict[str, bytes]:
        """The members of the request with these edits."""
        members = super().edited(edits, dialect)
        given = value_of(members[self.paths.rows])
        listed = isinstance(given, list)  # of this one alone
        prompt = gone_on(str(given[0] if listed else given), edits, raw=self._raw)
        return members | {self.paths.rows: encode([prompt] if listed else prompt)}

    def _rows_in(self, raw: bytes) -> list[bytes]:
        return []

    def _added(self, edit: Edit, members: dict[str, bytes], dialect: Dialect) -> tuple[()]:
        return ()  # it goes behind the prompt


def gone_on(prompt: str, edits: Sequence[Edit], *, raw: bool) -> str:
    """A prompt with what was said and asked behind it.

    >>> gone_on("The tide", [AppendAssistant(" is"), AppendUser("Go on.")], raw=True)
    'The tide is'
    """
    said = False
    for edit in edits:
        match edit:
            case AppendAssistant(text) | AppendCalls(text):  # calls have no place
                prompt, said = prompt + ("" if raw else "\n\n") + text, True
            case AppendUser(text) if not (raw and said):
                prompt += f"\n\n{text}"
    return prompt
