"""The request's side of Converse: facts, edits; repairs in `history`.

Theory of operation
-------------------
As in `openai_chat.request`: the body is split into its members and rows, each kept as the bytes
that the caller sent, and an edit replaces or appends whole ones. Roles must alternate: between two
rows of the user stands one of the assistant's, and what the model has said goes on in a row of the
assistant's that the caller sent last.

The path names the model, and whether to stream. What only one maker's models know stands in
`additionalModelRequestFields`, in that maker's own words.
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11-22)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec

from tenuto.core import hints
from tenuto.core.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendUser,
    DropConstraint,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputBudget,
)
from tenuto.core.calls import ToolCall
from tenuto.core.history import plan_repairs
from tenuto.wires.base import Dialect, JsonObject, RequestFacts
from tenuto.wires.bedrock_converse import reasoning
from tenuto.wires.bedrock_converse.content import SPEECH, is_unsigned
from tenuto.wires.bedrock_converse.history import RULES, UNSIGNED_RULES, result_of
from tenuto.wires.calls import accepted_ids, object_of, schemas_in, valid_call
from tenuto.wires.history import apply_repairs
from tenuto.wires.json import decode_object, encode, is_utf8
from tenuto.wires.members import (
    joined,
    list_in,
    listed,
    members_of,
    object_in,
    rows_of,
    value_of,
    with_members,
)
from tenuto.wires.request_reading import limit_in, why_left_alone

_PATH = re.compile(r"/model/(?P<model>.+)/(?P<what>converse|invoke)(?P<stream>-.*)?\Z")
_SIGNS_NOTHING = re.compile(
    r"(?:\A|[./])(?:ai21|amazon|cohere|deepseek|google|meta|minimax|mistral|moonshotai?|nvidia|openai"
    r"|qwen|writer|zai)\."
)
"""Makers whose models take reasoning back without a signature, or not at all. Claude wants one, and
an inference profile may be called anything."""
BRIDGE = hints.EMPTY_WITH_TOOLS_NOTE
"""What the assistant says between two rows of the user's: roles must alternate, and no text may be
blank."""


class ConverseRequest:
    """A Converse request as bytes, with what was read of it (`wires.base.WireRequest`)."""

    def __init__(
        self, body: bytes, rows: list[bytes] | None, facts: RequestFacts, repairs: tuple[str, ...]
    ) -> None:
        self._body = body
        self._repaired = rows
        self.facts = facts
        self.repairs = repairs

    def tool_parameters(self) -> dict[str, JsonObject]:
        """The JSON Schema of each of the caller's tools, by name; {} for one that has none."""
        config = object_in(value_of(members_of(self._body).get("toolConfig")))
        specs = [object_in(object_in(t).get("toolSpec")) for t in list_in(config.get("tools"))]
        return {
            name: object_in(schema.get("json"))
            for name, schema in schemas_in(specs, "inputSchema").items()
        }

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without any, the caller's own."""
        if not edits and not self.repairs:
            return self._body
        members = members_of(self._body)
        own = rows_of(members["messages"]) if self._repaired is None else self._repaired
        rows = _Rows(own)
        tokens: int | None = None
        for edit in edits:
            match edit:
                case AppendAssistant(text):
                    rows.say("assistant", SPEECH.said_before(text, edit.content))
                    if edit.prefill:
                        members |= {k: encode(v) for k, v in dialect.prefill_members}
                case AppendUser(text):
                    rows.say("user", [{"text": text}])
                case AppendContent(content):
                    rows.say("assistant", [block for block in content if not is_unsigned(block)])
                case AppendCalls():
                    _say_failed(rows, edit)
                case SetOutputBudget(tokens):
                    pass
                case LowerReasoning():
                    reasoning.lower(members)
                case DropConstraint():
                    _drop_constraint(members)
                case FreeToolChoice():
                    _free_tool_choice(members)
        if tokens is not None:  # last: what it does to reasoning depends on what is left of it
            _set_budget(members, tokens)
        members["messages"] = listed(rows.raws)
        return joined(members)


class _Rows:
    """The rows of a request, to which others are added in turns."""

    def __init__(self, raws: Sequence[bytes]) -> None:
        self.raws = list(raws)
        self._last = object_in(value_of(self.raws[-1])).get("role") if self.raws else None

    def say(self, role: str, blocks: Sequence[Mapping[str, Any]]) -> None:
        """Add a row; what the assistant goes on to say stands in the row that it stands in."""
        if not blocks:
            return
        if self._last == role == "assistant":
            content = rows_of(members_of(self.raws[-1])["content"])
            more = [*content, *map(encode, blocks)]
            self.raws[-1] = with_members(self.raws[-1], {"content": listed(more)})
            return
        if self._last == role:
            self.say("assistant", [{"text": BRIDGE}])
        self.raws.append(encode({"role": role, "content": [dict(block) for block in blocks]}))
        self._last = role


def parse_request(
    body: bytes, probe_max_tokens: int = 0, path: str = "/model/unknown/converse", *_: object
) -> ConverseRequest | None:
    """A request, or None where the bytes are none: they then pass untouched (C7).

    >>> body = b'{"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}'
    >>> parse_request(body, path="/model/amazon.nova-lite-v1%3A0/converse-stream").facts.model
    'amazon.nova-lite-v1:0'
    >>> parse_request(b"not json") is None
    True
    """
    try:
        if not is_utf8(body):  # members that are only carried on are not looked at below
            return None
        members = members_of(body)
        raws = rows_of(members["messages"])
        rows = [decode_object(raw) for raw in raws]
        if not rows or not all(isinstance(object_in(row).get("content"), list) for row in rows):
            return None
        facts = _facts(members, [object_in(row) for row in rows], probe_max_tokens, path)
        rules = UNSIGNED_RULES if _SIGNS_NOTHING.search(facts.model) else RULES
        plan, repairs = plan_repairs(rows, rules)
        repaired = apply_repairs(plan, raws, rules) if repairs else None
        return ConverseRequest(body, repaired, facts, repairs)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError):
        return None


def path_model(path: str) -> tuple[str, bool]:
    """The model that a path names, and whether it asks for a stream.

    >>> path_model("/model/us.amazon.nova-pro-v1%3A0/converse-stream")
    ('us.amazon.nova-pro-v1:0', True)
    """
    found = _PATH.search(path.partition("?")[0].rstrip("/"))
    return (unquote(found["model"]), bool(found["stream"])) if found else ("", False)


# --- facts ------------------------------------------------------------------------------------


def _facts(
    members: Mapping[str, bytes], rows: Sequence[JsonObject], probe_max_tokens: int, path: str
) -> RequestFacts:
    model, stream = path_model(path)
    config = object_in(value_of(members.get("inferenceConfig")))
    tokens = limit_in(config.get(_budget_key(config)))
    # The provider puts rows of its own before a stored prompt's, and bars our keys.
    reasons = {"prompt": "promptVariables" in members or ":prompt/" in model}
    structured = "textFormat" in object_in(value_of(members.get("outputConfig")))
    ends_in_assistant = rows[-1].get("role") == "assistant"
    return RequestFacts(
        model=model,
        stream=stream,
        max_tokens=tokens,
        tools="toolConfig" in members,
        call_forced=_demands_call(members),
        after_tool_result=any("toolResult" in block for block in _blocks(rows[-1])),
        structured=structured,
        lower_reasoning=reasoning.can_be_lowered(members),
        include_usage=True,
        left_alone=why_left_alone(reasons, tokens, probe_max_tokens),
        prefill_barred=ends_in_assistant or structured or reasoning.is_on(members),
    )


def _demands_call(members: Mapping[str, bytes]) -> bool:
    if b"toolChoice" not in members.get("toolConfig", b""):
        return False
    choice = object_in(object_in(value_of(members["toolConfig"])).get("toolChoice"))
    return "any" in choice or "tool" in choice


def _blocks(row: JsonObject) -> list[JsonObject]:
    content = row.get("content")
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _budget_key(config: Mapping[str, Any]) -> str:
    """The key of the output limit; the second is Nova's own on InvokeModel."""
    return "max_new_tokens" if "max_new_tokens" in config else "maxTokens"


# --- rows -------------------------------------------------------------------------------------


def _say_failed(rows: _Rows, edit: AppendCalls) -> None:
    """The model's calls in a valid form, each with a result."""
    ids = accepted_ids(edit.calls, 60)
    signed = [b for b in edit.content if "reasoningContent" in b and not is_unsigned(b)]
    said: list[Mapping[str, Any]] = [*signed]
    said += [{"text": edit.text}] if edit.text.strip() else []
    said += [_call(valid_call(call), made) for call, made in zip(edit.calls, ids, strict=True)]
    rows.say("assistant", said)
    answers = zip(ids, edit.answers, strict=True)
    rows.say("user", [result_of(made, text, failed) for made, (_, text, failed) in answers])


def _call(call: ToolCall, made: str) -> JsonObject:
    return {"toolUse": {"toolUseId": made, "name": call.name, "input": object_of(call)}}


# --- members ----------------------------------------------------------------------------------


def _set_budget(members: dict[str, bytes], tokens: int) -> None:
    config = members.get("inferenceConfig", b"{}")
    key = _budget_key(object_in(value_of(config)))
    members["inferenceConfig"] = with_members(config, {key: encode(tokens)})
    reasoning.fit(members, tokens)


def _drop_constraint(members: dict[str, bytes]) -> None:
    config = object_in(value_of(members.get("outputConfig")))
    if "textFormat" in config:
        members["outputConfig"] = with_members(members["outputConfig"], {"textFormat": None})
        if len(config) == 1:
            del members["outputConfig"]


def _free_tool_choice(members: dict[str, bytes]) -> None:
    config = object_in(value_of(members.get("toolConfig")))
    choice = object_in(config.get("toolChoice"))
    if "any" in choice or "tool" in choice:
        changes = {"toolChoice": b'{"auto":{}}'}
        members["toolConfig"] = with_members(members["toolConfig"], changes)
