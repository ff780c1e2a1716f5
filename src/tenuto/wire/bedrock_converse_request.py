"""The request's side of Converse: facts, edits; repairs in `bedrock_converse_history`.

Theory of operation
-------------------
As in `openai_chat_request`: the body is split into its members and rows, each kept as the bytes
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
    Content,
    DropConstraint,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputBudget,
)
from tenuto.core.arguments import Finding
from tenuto.core.calls import ToolCall
from tenuto.core.history import plan_repairs
from tenuto.wire import bedrock_converse_reasoning as reasoning
from tenuto.wire.base import Dialect, JsonObject, RequestFacts
from tenuto.wire.bedrock_converse_content import text_of, with_text
from tenuto.wire.bedrock_converse_events import SERVER_TOOL
from tenuto.wire.bedrock_converse_history import RULES, UNSIGNED_RULES, result_of
from tenuto.wire.history import apply_repairs
from tenuto.wire.json import decode_object, encode, is_utf8
from tenuto.wire.members import (
    joined,
    listed,
    members_of,
    object_in,
    rows_of,
    value_of,
    with_members,
)

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
    """A Converse request as bytes, with what was read of it (`wire.base.WireRequest`)."""

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
        tools = config.get("tools")
        specs = (
            [object_in(tool).get("toolSpec") for tool in tools if isinstance(tool, dict)]
            if (isinstance(tools, list))
            else []
        )
        return {
            spec["name"]: object_in(object_in(spec.get("inputSchema")).get("json"))
            for spec in specs
            if isinstance(spec, dict) and isinstance(spec.get("name"), str)
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
                    rows.say("assistant", said_blocks(text, edit.content))
                    if edit.prefill:
                        members |= {k: encode(v) for k, v in dialect.prefill_members}
                case AppendUser(text):
                    rows.say("user", [{"text": text}])
                case AppendContent(content):
                    rows.say("assistant", [block for block in content if not _is_unsigned(block)])
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
    tokens = config.get(_budget_key(config))
    tokens = tokens if type(tokens) is int and tokens > 0 else None
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
        left_alone=_left_alone(members, model, tokens, probe_max_tokens),
        prefill_barred=ends_in_assistant or structured or reasoning.is_on(members),
    )


def _demands_call(members: Mapping[str, bytes]) -> bool:
    if b"toolChoice" not in members.get("toolConfig", b""):
        return False
    choice = object_in(object_in(value_of(members["toolConfig"])).get("toolChoice"))
    return "any" in choice or "tool" in choice


def _left_alone(
    members: Mapping[str, bytes], model: str, tokens: int | None, probe_max_tokens: int
) -> str:
    """Why a request cannot be continued (C28), "" where it can."""
    if "promptVariables" in members or ":prompt/" in model:
        return "prompt"  # the provider puts rows of its own before these, and bars our keys
    if tokens is not None and tokens <= probe_max_tokens:
        return "probe"
    return ""


def _blocks(row: JsonObject) -> list[JsonObject]:
    content = row.get("content")
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _budget_key(config: Mapping[str, Any]) -> str:
    """The key of the output limit; the second is Nova's own on InvokeModel."""
    return "max_new_tokens" if "max_new_tokens" in config else "maxTokens"


# --- rows -------------------------------------------------------------------------------------


def said_blocks(text: str, content: Content = ()) -> list[Mapping[str, Any]]:
    """What the model has said, as blocks whose joined text is `text`. Where it holds more than text
    and reasoning, the other blocks go with it as they came: the text is about them. Calls for the
    caller, calls without a result and unsigned reasoning stay out.

    >>> said_blocks("Hi", ({"text": "Hi there"},))
    [{'text': 'Hi'}]
    """
    answered = [object_in(block.get("toolResult")).get("toolUseId") for block in content]
    kept = [block for block in content if _is_kept(block, answered)]
    if all("text" in block or "reasoningContent" in block for block in kept):
        return [{"text": text}]
    blocks = with_text(kept, text)
    while blocks and "reasoningContent" in blocks[-1]:  # must not end an assistant's row
        blocks.pop()
    return blocks


def _is_kept(block: Mapping[str, Any], answered: Sequence[Any]) -> bool:
    call = block.get("toolUse")
    if isinstance(call, dict):
        return call.get("type") == SERVER_TOOL and call.get("toolUseId") in answered
    return not _is_unsigned(block) and (bool(text_of(block).strip()) or "text" not in block)


def _is_unsigned(block: Mapping[str, Any]) -> bool:
    thought = object_in(block.get("reasoningContent")).get("reasoningText")
    return isinstance(thought, dict) and not thought.get("signature")


def _say_failed(rows: _Rows, edit: AppendCalls) -> None:
    """The model's calls in a valid form, each with a failed result (T5). Broken arguments are never
    replayed (H4): they stand as an empty object."""
    names = _call_ids(edit.calls)
    signed = [b for b in edit.content if "reasoningContent" in b and not _is_unsigned(b)]
    said: list[Mapping[str, Any]] = [*signed]
    said += [{"text": edit.text}] if edit.text.strip() else []
    said += [_valid_call(call, name) for call, name in zip(edit.calls, names, strict=True)]
    rows.say("assistant", said)
    answers = zip(names, edit.answers, strict=True)
    rows.say("user", [result_of(name, text, failed) for name, (_, text, failed) in answers])


def _call_ids(calls: Sequence[ToolCall]) -> list[str]:
    """The calls' ids in the provider's alphabet, each once."""
    names: list[str] = []
    for number, call in enumerate(calls):
        name = re.sub("[^a-zA-Z0-9_-]", "_", call.id)[:60] or "call"
        names.append(name if name not in names else f"{name}_{number}")
    return names


def _valid_call(call: ToolCall, name: str) -> JsonObject:
    whole = call.finding is Finding.WHOLE and not call.free
    arguments = msgspec.Raw(call.arguments.encode("utf-8", "replace") if whole else b"{}")
    return {"toolUse": {"toolUseId": name, "name": call.name or "unknown", "input": arguments}}


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
