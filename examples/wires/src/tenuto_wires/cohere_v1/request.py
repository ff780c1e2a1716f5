"""Requests of Cohere's chat version 1: facts and edits. Their history is in `history`.

The current question stands beside the history: `message`, or `tool_results` after calls. Appending
rows moves it into the history, and the last row out of it. If both members are set (a single step),
the results answer calls that the history lacks, so those are added.
https://docs.cohere.com/v1/reference/chat (read through cohere-python 7.3, 2026-11-24)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tenuto.wire_kit import (
    EMPTY_WITH_TOOLS_NOTE,
    UNREADABLE,
    AppendAssistant,
    AppendCalls,
    AppendUser,
    Dialect,
    Edit,
    EditableRequest,
    JsonObject,
    Paths,
    RequestFacts,
    Wire,
    asks_for_json,
    decode_object,
    encode,
    is_switch,
    is_utf8,
    joined,
    limit_in,
    list_in,
    listed,
    members_of,
    object_in,
    rows_of,
    schemas_in,
    text_in,
    valid_call,
    value_of,
    why_left_alone,
)
from tenuto_wires.cohere_v1.history import PARTS, RULES
from tenuto_wires.cohere_v1.render import call_of

ROWS, RESULTS = "chat_history", "tool_results"

_BRIDGE = encode({"role": "CHATBOT", "message": EMPTY_WITH_TOOLS_NOTE})
"""Stands between the results of tools and a user's text."""


class ChatRequest(EditableRequest):
    """A request as bytes, with what was read from it (`wires.request.WireRequest`).

    Attributes:
        wire: writes answers to this request, which repeat its rows.
        asked: the rows of the history, then those of the current question.
    """

    wire: Wire
    repairs: tuple[str, ...]
    paths: ClassVar[Paths] = Paths(
        rows=ROWS,
        output_limit=(("max_tokens",),),
        constraints=[(("response_format",),)],
        tools=[(("tools",),), (("force_single_step",),)],
        calls_need_tools=b'"tool_results"',
    )

    def __init__(self, body: bytes, facts: RequestFacts) -> None:
        members = members_of(body)
        before = rows_of(members[ROWS]) if list_in(value_of(members.get(ROWS))) else []
        self._now = _asked_now(members, before)
        own = [*before, *self._now]
        planned = self._planned = [_renamed(row, RESULTS, PARTS) for row in own]
        self._own = dict(zip(planned, own, strict=True))
        self.asked: list[dict[str, Any]] = [object_in(decode_object(row)) for row in own]
        super().__init__(body, facts, list(map(decode_object, planned)), RULES)
        if len(self._now) == 1 and _bridged(planned) != planned:
            self.repairs += ("rows_arranged",)

    def split_rows(self, raw: bytes) -> list[bytes]:
        return self._planned

    def edited(self, edits: Sequence[Edit], dialect: Dialect) -> dict[str, bytes]:
        """Return the members of the request with these edits."""
        members = super().edited(edits, dialect)
        if members.get(ROWS) is self.sent_members.get(ROWS):
            return members
        rows = [self._own.get(row) or _named(row) for row in rows_of(members[ROWS])]
        at = len(rows) - len(self._now)
        appends = any(isinstance(e, AppendAssistant | AppendUser | AppendCalls) for e in edits)
        if rows[at:] == self._now and not appends:
            return members | {ROWS: listed(rows[:at])}
        members.pop(RESULTS, None)
        members["message"] = b'""'
        last = members_of(rows[-1]) if rows else {}
        if value_of(last.get("role")) in ("USER", "TOOL"):
            members |= {key: raw for key, raw in last.items() if key in ("message", RESULTS)}
            rows.pop()
        return members | {ROWS: listed(rows)}

    def rows_with(self, added: Sequence[Any]) -> list[bytes]:
        # The rows as they were first sent.
        rows = _bridged(self.sent_rows) if len(self._now) == 1 else self.sent_rows
        for row in map(encode, added):
            rows = _bridged([*rows, row])
        return _bridged(rows)

    def assistant_rows(self, edit: AppendAssistant, dialect: Dialect) -> list[JsonObject]:
        # Half a surrogate pair is no text, and the rows are read once more.
        return [{"role": "CHATBOT", "message": edit.text.encode("utf-8", "replace").decode()}]

    def user_row(self, text: str) -> JsonObject:
        return {"role": "USER", "message": text}

    def call_rows(self, edit: AppendCalls, dialect: Dialect) -> list[JsonObject]:
        calls = [call_of(valid_call(call)) for call in edit.calls]
        pairs = zip(calls, edit.results, strict=True)
        results = [{"call": call, "outputs": [{"text": text}]} for call, text in pairs]
        said = {**self.assistant_rows(AppendAssistant(edit.text), dialect)[0], "tool_calls": calls}
        return [said, {"role": "TOOL", RESULTS: results}]

    def tool_schemas(self, tools: Any) -> dict[str, JsonObject]:
        told = schemas_in(list_in(tools), "parameter_definitions")
        return {
            name: {"required": [key for key, one in own.items() if object_in(one).get("required")]}
            for name, own in told.items()
        }


def _bridged(rows: list[bytes]) -> list[bytes]:
    """Return the rows, with a note from the model between results and a last text from the user."""
    ends = [members_of(row) for row in rows[-2:]]
    roles = [value_of(members.get("role")) for members in ends]
    bridged = roles in (["TOOL", "USER"], ["user", "USER"]) and _holds_results(ends[0])
    return [*rows[:-1], _BRIDGE, rows[-1]] if bridged else rows


def _holds_results(members: Mapping[str, bytes]) -> bool:
    return PARTS in members or RESULTS in members


def _asked_now(members: Mapping[str, bytes], before: Sequence[bytes]) -> list[bytes]:
    """Return the current question as rows."""
    says = [joined({"role": b'"USER"', "message": members["message"]})]
    says = says if value_of(members["message"]).strip() else []
    answered = list_in(value_of(members.get(RESULTS)))
    if not answered:
        return says
    results = joined({"role": b'"TOOL"', RESULTS: members[RESULTS]})
    if not says or (before and members_of(before[-1]).get("tool_calls")):
        return [results, *says]
    calls = [object_in(result).get("call") for result in answered]
    called = {"role": "CHATBOT", "message": EMPTY_WITH_TOOLS_NOTE, "tool_calls": calls}
    return [*says, encode(called), results]


def _renamed(row: bytes, name: str, other: str, **more: str) -> bytes:
    """Return a row in which one member has another name."""
    members = members_of(row)
    if name not in members or other in members:
        return row
    renamed = {other if key == name else key: raw for key, raw in members.items()}
    return joined(renamed | {key: encode(value) for key, value in more.items()})


def _named(row: bytes) -> bytes:
    """Return a planned row in the API's own form. Rows with results may have Tenuto's own role."""
    is_ours = value_of(members_of(row).get("role")) in ("TOOL", "user")
    return _renamed(row, PARTS, RESULTS, role="TOOL") if is_ours else row


def parse_request(body: bytes, probe_max_tokens: int = 0) -> ChatRequest | None:
    """Return a request, or None if the bytes are none; they then pass unchanged (C7).

    >>> parse_request(b'{"message": "Hi", "model": "m"}').facts.model
    'm'
    >>> parse_request(b'{"input": "Hi"}') is None
    True
    """
    asked = object_in(decode_object(body)) if is_utf8(body) else {}
    rows, results = list_in(asked.get(ROWS)), list_in(asked.get(RESULTS))
    are_rows = all(isinstance(row, dict) for row in (*rows, *results))
    readable = isinstance(asked.get("message"), str) and is_switch(asked.get("stream"))
    if not readable or not are_rows:
        return None
    max_tokens = limit_in(asked.get("max_tokens"))
    reasons = {why: asked.get(why) for why in ("search_queries_only", "raw_prompting")}
    facts = RequestFacts(
        model=text_in(asked.get("model")),
        stream=bool(asked.get("stream")),
        max_tokens=max_tokens,
        tools=bool(asked.get("tools")),
        after_tool_result=bool(results) or (bool(rows) and rows[-1].get("role") == "TOOL"),
        structured=asks_for_json(asked.get("response_format")),
        include_usage=True,
        left_alone=why_left_alone(reasons, max_tokens, probe_max_tokens),
        # The provider keeps the request in a history that others read.
        sent_once="conversation" if asked.get("conversation_id") else "",
    )
    try:
        return ChatRequest(body, facts)
    except UNREADABLE:
        return None
