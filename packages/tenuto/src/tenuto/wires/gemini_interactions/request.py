"""Requests of Interactions: facts and edits. Repairs are in `history`.

Theory of operation
-------------------
See `request_edits`. An input that is a text, or content, becomes a step that holds it.

If the provider keeps the history (`previous_interaction_id`), a continuation follows the same
interaction as the request did, with the answer so far and the hint as its input. It is stored like
the caller's request, so that the next turn can continue the whole answer.

A pause is continued with its token, as the official SDK does: if the interaction is stored, by its
id and without input; else by the same request. The SDK continues by itself too, unless it is told
not to. With Tenuto it finds nothing to continue, and its own requests with a token are left alone.

Shapes follow `google/genai/_gaos/types/interactions` of google-genai 3.4, read 2026-11-22;
https://ai.google.dev/gemini-api/docs/interactions-overview
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.actions import AppendAssistant, AppendCalls, AppendContent, Content, Edit
from tenuto.wires.calls import object_of, valid_call
from tenuto.wires.dialect import Dialect
from tenuto.wires.documents import schema_in
from tenuto.wires.gemini_interactions.content import TOKEN, pause_in, said_steps
from tenuto.wires.gemini_interactions.history import RULES, result_of
from tenuto.wires.gemini_interactions.steps import CALL, INPUT, OUTPUT, RESULT, THOUGHT, kind_of
from tenuto.wires.gemini_like.schema import as_json_schema
from tenuto.wires.json import UNREADABLE, JsonObject, decode_object, encode
from tenuto.wires.members import list_in, listed, object_in, rows_of, value_of
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import EditableRequest, Paths, put
from tenuto.wires.request_reading import (
    holds,
    limit_in,
    reader,
    text_in,
    why_left_alone,
)

CONTENT = frozenset({"text", "image", "audio", "video", "document", "file"})
"""Kinds of parts. An input may be a list of them, or of steps."""

CLIENT_TOOLS = frozenset({"function", "computer_use"})
"""Tools that the caller runs. The provider runs all others itself."""

LESS_THINKING = {"xhigh": "low", "high": "low", "medium": "low", "low": "minimal"}
"""A lower value for each `thinking_level`. The lowest can't be lowered."""

_THINKS_HIGH = re.compile(r"gemini-(?:[3-9]|\d{2})")
"""Models that think much by default. All of them accept `low`."""

_CONFIG = "generation_config"
_CONSTRAINTS = ("response_format", "response_mime_type")


class _Asked(msgspec.Struct):
    """The members that Tenuto reads, in one pass over the body."""

    input: msgspec.Raw = msgspec.Raw(b"null")
    model: Any = None
    agent: Any = None
    stream: bool | None = None
    store: Any = None
    background: Any = None
    generation_config: Any = None
    tools: Any = None
    response_format: Any = None
    response_mime_type: Any = None
    response_modalities: Any = None
    previous_interaction_id: Any = None
    continuation_token: Any = None


_read = reader(_Asked)


class InteractionRequest(EditableRequest):
    """A request (`wires.request.WireRequest`)."""

    paths: ClassVar[Paths] = Paths(
        rows="input",
        output_limit=((_CONFIG,), ("max_output_tokens",)),
        constraints=[((key,),) for key in _CONSTRAINTS],
        tools=[(("tools",),), ((_CONFIG,), ("tool_choice",))],
    )

    stored = True
    """Whether the provider stores the interaction."""

    def edited(self, edits: Sequence[Edit], dialect: Dialect) -> dict[str, bytes]:
        """Return the members of the request with these edits. What continues a pause is no row."""
        members = super().edited(edits, dialect)
        for edit in edits:
            pause = pause_in(edit.content) if isinstance(edit, AppendContent) else None
            if pause is not None:  # the tables rule out one without a token
                members[TOKEN] = encode(pause[TOKEN])
                if self.stored and pause.get("id"):
                    members["previous_interaction_id"] = encode(pause["id"])
                    members.pop("input", None)
        return members

    def split_rows(self, raw: bytes) -> list[bytes]:
        return _rows_of(raw) or []

    def document_schema(self, form: Any) -> JsonObject | None:
        found = schema_in(form)
        return None if found is None else as_json_schema(found)

    def assistant_rows(self, edit: AppendAssistant, dialect: Dialect) -> list[JsonObject]:
        return said_steps(edit.text, edit.content)

    def user_row(self, text: str) -> msgspec.Raw:
        return msgspec.Raw(_asking([encode({"type": "text", "text": text})]))

    def kept_rows(self, content: Content, members: dict[str, bytes], dialect: Dialect) -> list[Any]:
        return []

    def call_rows(self, edit: AppendCalls, dialect: Dialect) -> list[JsonObject]:
        blank = not edit.text.strip() and not edit.content
        said = [] if blank else said_steps(edit.text, edit.content)
        calls = [_call(valid_call(call)) for call in edit.calls]
        answers = edit.answers
        results = [result_of(call.id, call.name, text, failed) for call, text, failed in answers]
        return [*said, *calls, *results]

    def lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        level = object_in(value_of(members.get(_CONFIG))).get("thinking_level")
        less = LESS_THINKING.get(str(level), "low")
        put(members, ((_CONFIG,), ("thinking_level",)), encode(less))

    def free_tool_choice(self, members: dict[str, bytes]) -> None:
        choice = object_in(value_of(members.get(_CONFIG))).get("tool_choice")
        if isinstance(choice, dict) and isinstance(allowed := choice.get("allowed_tools"), dict):
            freed: Any = choice | {"allowed_tools": allowed | {"mode": "auto"}}
        elif choice is None or choice == "none":
            return
        else:
            freed = "auto"
        put(members, ((_CONFIG,), ("tool_choice",)), encode(freed))


def parse_request(body: bytes, probe_max_tokens: int = 0, *_: object) -> InteractionRequest | None:
    """Return a request, or None if the bytes are none; they then pass unchanged (C7).

    >>> parse_request(b'{"model": "m", "input": "Hi"}').facts.model
    'm'
    >>> parse_request(b"not json") is None
    True
    """
    try:
        asked = _read(body)
        rows = _rows_of(bytes(asked.input).strip())
        if rows is None or not (asked.model or asked.agent):
            return None
        values = [decode_object(row) for row in rows]
        facts = _facts(asked, values[-1] if values else None, probe_max_tokens)
        elsewhere = bool(asked.previous_interaction_id)
        made = InteractionRequest(body, facts, values, RULES, elsewhere=elsewhere)
        made.stored = asked.store is not False
        return made
    except UNREADABLE:
        return None


def _rows_of(given: bytes) -> list[bytes] | None:
    """Return an input as steps; None: its form is unknown."""
    if given == b"null":
        return []
    if given.startswith(b'"'):
        return [_asking([b'{"type":"text","text":' + given + b"}"])]
    rows = [given] if given.startswith(b"{") else rows_of(given)
    values = [decode_object(row) for row in rows]
    kinds = [kind_of(value) for value in values]
    if rows and all(kind in CONTENT for kind in kinds):
        return [_asking(rows)]
    known = (INPUT, OUTPUT, THOUGHT, CALL, RESULT)
    are_steps = all(kind in known or kind.endswith(("_call", "_result")) for kind in kinds)
    return rows if are_steps and not given.startswith(b"{") else None


def _asking(parts: Sequence[bytes]) -> bytes:
    return b'{"type":"user_input","content":' + listed(parts) + b"}"


# --- facts ------------------------------------------------------------------------------------


def _facts(asked: _Asked, last: object, probe_max_tokens: int) -> RequestFacts:
    config = object_in(asked.generation_config)
    max_tokens = limit_in(config.get("max_output_tokens"))
    model = text_in(asked.model)
    reasons = {
        # Only the provider has the model's earlier content.
        "resumption": asked.continuation_token,
        "background": asked.background is True,  # the caller polls for the answer elsewhere
        "agent": asked.agent,  # the provider runs it, with a budget and a place of its own
        "audio": holds(asked.response_modalities, "audio"),
    }
    return RequestFacts(
        model=model,
        keeps=asked.store is not False,
        stream=bool(asked.stream),
        max_tokens=max_tokens,
        tools=any(map(_is_client_tool, list_in(asked.tools))),
        call_forced=_demands_call(config.get("tool_choice"), asked.tools),
        after_tool_result=kind_of(last) == RESULT,
        structured=_is_structured(asked),
        lower_reasoning=_can_think_less(config.get("thinking_level"), model),
        include_usage=True,
        prefill_barred=True,  # it isn't documented that the model continues a last model step
        left_alone=why_left_alone(reasons, max_tokens, probe_max_tokens),
        follows=text_in(asked.previous_interaction_id),
    )


def _is_client_tool(tool: Any) -> bool:
    return kind_of(tool) in CLIENT_TOOLS


def _demands_call(choice: Any, tools: Any) -> bool:
    """Return whether a choice demands a call for the caller. Then all tools must be the
    caller's."""
    if isinstance(choice, dict):
        choice = object_in(choice.get("allowed_tools")).get("mode")
    ours = list(map(_is_client_tool, list_in(tools)))
    return bool(ours) and all(ours) and choice == "any"


def _is_structured(asked: _Asked) -> bool:
    """Return whether the text must be JSON. A schema may stand in place of a format."""
    if asked.response_mime_type == "application/json":
        return True
    given = asked.response_format
    formats = given if isinstance(given, list) else [given]
    return any(
        isinstance(one, dict)
        and kind_of(one) not in ("image", "audio", "video")
        and one.get("mime_type") != "text/plain"
        for one in formats
    )


def _can_think_less(level: Any, model: str) -> bool:
    if level is None:
        return _THINKS_HIGH.search(model) is not None
    return isinstance(level, str) and level in LESS_THINKING


def _call(call: ToolCall) -> JsonObject:
    named = {"type": CALL, "id": call.id, "name": call.name}
    return {**(call.extra or {}), **named, "arguments": object_of(call)}
