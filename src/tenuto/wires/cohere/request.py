"""The request's side of Cohere's Chat.

Messages, tools and the output limit are those of OpenAI's chat, and so are the repairs of a
history. Its own are the words of the tool choice, and the knob of reasoning:
https://docs.cohere.com/reference/chat (read through cohere-python 7.3, 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tenuto.core.actions import Edit, FreeToolChoice, LowerReasoning
from tenuto.wires.base import Dialect, JsonObject, RequestFacts
from tenuto.wires.json import encode
from tenuto.wires.members import members_of, object_in, value_of, with_members
from tenuto.wires.openai_chat.request import ChatRequest
from tenuto.wires.openai_chat.request import parse_request as parse_chat


class CohereRequest:
    """A chat request as bytes, with what was read of it (`wires.base.WireRequest`)."""

    def __init__(self, body: bytes, chat: ChatRequest) -> None:
        self._body, self._chat = body, chat
        # Whoever names no thinking may ask a model that has none, and does not take the knob.
        reasons = b'"thinking"' in body and _reasons(body)
        # The events of a stream tell of usage, asked for or not.
        self.facts: RequestFacts = msgspec.structs.replace(
            chat.facts, include_usage=True, lower_reasoning=reasons
        )

    @property
    def repairs(self) -> tuple[str, ...]:
        """What had to be put right in its history."""
        return self._chat.repairs

    def tool_parameters(self) -> dict[str, JsonObject]:
        """The JSON Schema of each attached function."""
        return self._chat.tool_parameters()

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without any, the caller's own."""
        changes = _own_changes(members_of(self._body), edits) if edits else {}
        chat = parse_chat(with_members(self._body, changes)) if changes else None
        # What Chat has the same words for is left to it.
        common = [edit for edit in edits if not isinstance(edit, FreeToolChoice | LowerReasoning)]
        return (chat or self._chat).apply(common, dialect)


def _own_changes(members: Mapping[str, bytes], edits: Sequence[Edit]) -> dict[str, bytes | None]:
    """The members that edits change in Cohere's own words."""
    changes: dict[str, bytes | None] = {}
    for edit in edits:
        match edit:
            case LowerReasoning():
                changes["thinking"] = encode({"type": "disabled"})
            case FreeToolChoice() if value_of(members.get("tool_choice")) == "REQUIRED":
                changes["tool_choice"] = None  # a free choice has no word here
    return changes


def _reasons(body: bytes) -> bool:
    """Whether a request asks for thinking."""
    thinking = object_in(value_of(members_of(body).get("thinking")))
    return bool(thinking) and thinking.get("type") != "disabled"


def parse_request(body: bytes, probe_max_tokens: int = 0, *_: object) -> CohereRequest | None:
    """A chat request, or None where the bytes are none.

    >>> body = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9}'
    >>> parse_request(body).facts.max_tokens
    9
    """
    chat = parse_chat(body, probe_max_tokens)
    return None if chat is None else CohereRequest(body, chat)
