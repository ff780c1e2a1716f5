"""Requests of Mistral's chat: those of OpenAI's, with stricter rules for a history.

The ids of calls are nine letters and digits. After the results of tools the assistant speaks, not
the user. A row that is the beginning of the answer (`prefix`) is the last one. A request that
breaks a rule gets code 3230 or 3280 (wires/errors.py):
https://docs.mistral.ai/capabilities/function_calling (2026-11-22).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from tenuto.core import hints
from tenuto.core.history.table import Rules
from tenuto.wires.chat_like.beginnings import begins_answer, with_beginnings
from tenuto.wires.chat_like.request import PLAIN, ChatRequest, request_of
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import JsonObject, decode_object, encode
from tenuto.wires.members import listed, members_of, object_in, rows_of, value_of, with_members
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_reading import is_switch, text_in
from tenuto.wires.watched import Watched

_is_id = re.compile(r"[a-zA-Z0-9]{9}").fullmatch

_BRIDGE = encode({"role": "assistant", "content": hints.EMPTY_WITH_TOOLS_NOTE})
"""Stands between the results of tools and a user's text."""


class MistralRequest(ChatRequest):
    """A chat request as bytes, with what was read from it (`wires.request.WireRequest`)."""

    repairs: tuple[str, ...]

    def __init__(
        self, body: bytes, facts: RequestFacts, values: list[JsonObject], rules: Rules
    ) -> None:
        # The end of every stream reports the usage.
        barred = facts.prefill_barred and not begins_answer(values[-1], "prefix")
        facts = msgspec.structs.replace(facts, include_usage=True, prefill_barred=barred)
        super().__init__(body, facts, values, rules)
        if any(value.get("role") not in ("user", "system", "developer") for value in values):
            self.split()

    def split(self) -> None:
        if self.sent_members:
            return
        super().split()
        named = [_named(row) for row in self.sent_rows]
        arranged = _arranged(named)
        self.repairs += ("call_ids_renamed",) if named != self.sent_rows else ()
        self.repairs += ("rows_arranged",) if arranged != named else ()
        self.sent_rows = arranged

    def rows_with(self, added: Sequence[Any]) -> list[bytes]:
        return _arranged(super().rows_with(added))


def _named(row: bytes) -> bytes:
    """Return a row with valid ids for its calls, or for the call of its result. The same id always
    gives the same one (H5a)."""
    value = object_in(decode_object(row))
    changes: dict[str, bytes | None] = {}
    if isinstance(found := value.get("tool_call_id"), str) and not _is_id(found):
        changes["tool_call_id"] = encode(_id_for(found))
    calls = value.get("tool_calls")
    if isinstance(calls, list) and any(_misnamed(call) for call in calls):
        raws = rows_of(members_of(row)["tool_calls"])
        pairs = zip(raws, calls, strict=True)
        changes["tool_calls"] = listed(
            with_members(raw, {"id": encode(_id_for(call["id"]))}) if _misnamed(call) else raw
            for raw, call in pairs
        )
    return with_members(row, changes) if changes else row


def _misnamed(call: Any) -> bool:
    found = object_in(call).get("id")
    return isinstance(found, str) and not _is_id(found)


def _id_for(call_id: str) -> str:
    """Return a valid id, always the same one for the same id.

    >>> len(_id_for("call_1")), _id_for("D681PevKs")
    (9, 'D681PevKs')
    """
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()
    return call_id if _is_id(call_id) else digest[:9]


def _arranged(rows: list[bytes]) -> list[bytes]:
    """Return the rows in a valid order. A caller's beginning and its continuation are merged, and
    the assistant speaks between the results of tools and the user."""
    rows = with_beginnings(rows, "prefix")
    out = rows[:1]
    for before, row in pairwise(rows):
        if _role(before) == "tool" and _role(row) == "user":
            out.append(_BRIDGE)
        out.append(row)
    return out


def _role(row: bytes) -> Any:
    return value_of(members_of(row).get("role"))


def parse_request(
    body: bytes, probe_max_tokens: int = 0, _path: str = "", dialect: Dialect = PLAIN
) -> MistralRequest | Watched | None:
    """Return a chat request, or one that fills in the middle; None: the bytes are none. Text
    between a prompt and a suffix is only observed: its limit says how much is wanted, so an answer
    cut by it is complete.

    >>> begun = {"role": "assistant", "content": "It", "prefix": True}
    >>> parse_request(encode({"model": "m", "messages": [begun]})).facts.prefill_barred
    False
    """
    chat = request_of(MistralRequest, body, probe_max_tokens, dialect)
    asked = object_in(decode_object(body)) if chat is None else {}
    if isinstance(asked.get("prompt"), str) and is_switch(asked.get("stream")):
        return Watched(body, text_in(asked.get("model")), bool(asked.get("stream")))
    return chat
