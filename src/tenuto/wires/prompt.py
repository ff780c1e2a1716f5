"""Requests with a prompt instead of messages, as bytes; who speaks so says how the other members
are edited.

A prompt is the words of the user: what the model said, and what is asked of it now, is told behind
them. A raw one goes to the model as it stands, so that the model goes on at its end by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tenuto.core.actions import (
    AppendAssistant,
    AppendCalls,
    AppendUser,
    Edit,
)
from tenuto.wires.base import Dialect, JsonObject, RequestFacts
from tenuto.wires.json import encode
from tenuto.wires.members import joined, members_of, value_of

Members = dict[str, bytes]


class PromptRequest:
    """A request with a prompt (`wires.base.WireRequest`).

    Args:
        body: as it came.
        facts: what was read of it.
        edited: its members with the edits that are about none of the conversation.
        raw: whether the model goes on at the end of the prompt by itself.
        key: the member that the prompt is.
    """

    def __init__(
        self,
        body: bytes,
        facts: RequestFacts,
        edited: Callable[[Members, Sequence[Edit], Dialect], Members],
        *,
        raw: bool,
        key: str = "prompt",
    ) -> None:
        self._body, self._edited, self._raw, self._key = body, edited, raw, key
        self.facts = facts
        self.repairs: tuple[str, ...] = ()
        if b"\\ud" in body or b"\\uD" in body:
            members_of(body)  # half a surrogate pair cannot be: then this is no request for us

    def tool_parameters(self) -> dict[str, JsonObject]:
        """Nothing: a prompt comes without tools."""
        return {}

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without any, the caller's own."""
        if not edits:
            return self._body
        members = members_of(self._body)
        given = value_of(members[self._key])
        listed = isinstance(given, list)  # of this one alone
        prompt = gone_on(str(given[0] if listed else given), edits, raw=self._raw)
        members = self._edited(members, edits, dialect)
        return joined(members | {self._key: encode([prompt] if listed else prompt)})


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
