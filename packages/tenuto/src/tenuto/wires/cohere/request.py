"""Requests of Cohere's Chat.

Messages, tools and the output limit are those of OpenAI's chat, and so are nearly all repairs of a
history. The values of the tool choice and the reasoning setting are Cohere's own:
https://docs.cohere.com/reference/chat (read through cohere-python 7.3, 2026-11-22).
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import msgspec

from tenuto.core import hints
from tenuto.core.deciding.actions import AppendAssistant
from tenuto.core.history.table import Changes, Rules, is_blank
from tenuto.wires.chat_like.history import RULES
from tenuto.wires.chat_like.request import PLAIN, ChatRequest, request_of
from tenuto.wires.cohere.content import TOOL_PLAN
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import JsonObject
from tenuto.wires.members import members_of, object_in, value_of


def _result_changes(row: JsonObject) -> tuple[Changes, str]:
    """Give a blank result some text; Cohere refuses one without."""
    filled = is_blank(row.get("content"))
    return ({("content",): hints.EMPTY_RESULT}, "empty_result_filled") if filled else ({}, "")


class CohereRequest(ChatRequest):
    """A chat request as bytes, with what was read from it (`wires.request.WireRequest`)."""

    history: ClassVar[Rules] = replace(RULES, result_changes=_result_changes)

    def assistant_rows(self, edit: AppendAssistant, dialect: Dialect) -> list[JsonObject]:
        rows = super().assistant_rows(edit, dialect)
        return [{k: v for k, v in row.items() if k != TOOL_PLAN} for row in rows]

    def lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        members["thinking"] = b'{"type":"disabled"}'

    def free_tool_choice(self, members: dict[str, bytes]) -> None:
        if value_of(members.get("tool_choice")) == "REQUIRED":
            del members["tool_choice"]  # a free choice has no word here


def _reasons(body: bytes) -> bool:
    """Return whether a request asks for thinking."""
    thinking = object_in(value_of(members_of(body).get("thinking")))
    return bool(thinking) and thinking.get("type") != "disabled"


def parse_request(body: bytes, probe_max_tokens: int = 0, *_: object) -> CohereRequest | None:
    """Return a chat request, or None if the bytes are none.

    >>> body = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9}'
    >>> parse_request(body).facts.max_tokens
    9
    """
    made = request_of(CohereRequest, body, probe_max_tokens, PLAIN)
    if made is not None:
        # A request without thinking may use a model that has none, and that refuses the setting.
        reasons = b'"thinking"' in body and _reasons(body)
        # A stream always reports its usage.
        made.facts = msgspec.structs.replace(
            made.facts, include_usage=True, lower_reasoning=reasons
        )
    return made
