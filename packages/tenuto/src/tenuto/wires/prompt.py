"""Edit requests with a prompt instead of messages, as bytes.

The prompt is the user's text. The model's answer so far and any hint are appended to it. A raw
prompt goes to the model unchanged, so the model continues at its end by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.deciding.actions import AppendAssistant, AppendCalls, AppendUser, Edit
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import JsonObject, encode
from tenuto.wires.members import value_of
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import EditableRequest


class PromptRequest(EditableRequest):
    """A request with a prompt (`wires.request.WireRequest`).

    Args:
        body: the bytes received.
        facts: what was read from it.
        raw: whether the model continues at the end of the prompt by itself.
    """

    def __init__(self, body: bytes, facts: RequestFacts, *, raw: bool = True) -> None:
        super().__init__(body, facts)
        self._raw = raw

    def tool_parameters(self) -> dict[str, JsonObject]:
        """Return {}: a prompt comes without tools."""
        return {}

    def edited(self, edits: Sequence[Edit], dialect: Dialect) -> dict[str, bytes]:
        """Return the members of the request with these edits."""
        members = super().edited(edits, dialect)
        given = value_of(members[self.paths.rows])
        listed = isinstance(given, list)  # with a single prompt
        prompt = gone_on(str(given[0] if listed else given), edits, raw=self._raw)
        return members | {self.paths.rows: encode([prompt] if listed else prompt)}

    def split_rows(self, raw: bytes) -> list[bytes]:
        return []

    def added_rows(self, edit: Edit, members: dict[str, bytes], dialect: Dialect) -> tuple[()]:
        return ()  # it is appended to the prompt


def gone_on(prompt: str, edits: Sequence[Edit], *, raw: bool) -> str:
    """Return a prompt with the answer so far and any hint appended.

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
