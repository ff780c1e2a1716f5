"""Requests of Converse: facts and edits. Repairs are in `history`.

Theory of operation
-------------------
See `request_edits`. Roles must alternate: an assistant row separates two user rows, and the model's
answer so far continues in the caller's last row if that is an assistant row.

The path names the model, and whether to stream. Settings of a single maker's models are in
`additionalModelRequestFields`, in that maker's own form.
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11-22)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tenuto.core import hints
from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.actions import AppendAssistant, AppendCalls, Content
from tenuto.wires.bedrock_converse import reasoning
from tenuto.wires.bedrock_converse.content import SPEECH, is_unsigned
from tenuto.wires.bedrock_converse.history import RULES, UNSIGNED_RULES, result_of
from tenuto.wires.bedrock_like.paths import path_model
from tenuto.wires.blocks_content import Block
from tenuto.wires.calls import accepted_ids, object_of, schemas_in, valid_call
from tenuto.wires.dialect import Dialect
from tenuto.wires.instructions import Instructions
from tenuto.wires.json import UNREADABLE, JsonObject, decode_object, encode, is_utf8
from tenuto.wires.members import (
    list_in,
    listed,
    members_of,
    object_in,
    rows_of,
    value_of,
    with_members,
)
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import EditableRequest, Path, Paths, put
from tenuto.wires.request_reading import begun_in, limit_in, why_left_alone

_SIGNS_NOTHING = re.compile(
    r"(?:\A|[./])(?:ai21|amazon|cohere|deepseek|google|meta|minimax|mistral|moonshotai?|nvidia|openai"
    r"|qwen|writer|zai)\."
)
"""Makers whose models accept reasoning back without a signature, or not at all. Claude requires a
signature, and the name of an inference profile may hide it."""
BRIDGE = hints.EMPTY_WITH_TOOLS_NOTE
"""The assistant's text between two user rows: roles must alternate, and no text may be blank."""

_CONFIG = ("inferenceConfig",)

_Row = tuple[str, Sequence[Block]]
"""The role of a row, and its blocks."""


class ConverseRequest(EditableRequest):
    """A Converse request as bytes, with what was read from it (`wires.request.WireRequest`)."""

    paths: ClassVar[Paths] = Paths(
        rows="messages",
        output_limit=(_CONFIG, ("maxTokens",)),
        constraints=[(("outputConfig",), ("textFormat",))],
        tools=[(("toolConfig",),)],
        # "The toolConfig field must be defined when using toolUse and toolResult content blocks."
        calls_need_tools=b'"toolUse"',
        not_empty="outputConfig",
        joined_anew=True,
    )
    instructions: ClassVar[Instructions | None] = Instructions(
        ("system",), markers=frozenset({"cachePoint"})
    )

    def tool_parameters(self) -> dict[str, JsonObject]:
        """Return the JSON Schema of each of the caller's tools, by name; {}: the tool has none."""
        config = object_in(value_of(members_of(self._body).get("toolConfig")))
        specs = [object_in(object_in(t).get("toolSpec")) for t in list_in(config.get("tools"))]
        return {
            name: object_in(schema.get("json"))
            for name, schema in schemas_in(specs, "inputSchema").items()
        }

    def assistant_rows(self, edit: AppendAssistant, dialect: Dialect) -> list[_Row]:
        return [("assistant", SPEECH.said_before(edit.text, edit.content))]

    def user_row(self, text: str) -> _Row:
        return ("user", [{"text": text}])

    def kept_rows(
        self, content: Content, members: dict[str, bytes], dialect: Dialect
    ) -> list[_Row]:
        return [("assistant", [block for block in content if not is_unsigned(block)])]

    def call_rows(self, edit: AppendCalls, dialect: Dialect) -> list[_Row]:
        ids = accepted_ids(edit.calls, 60)
        said: list[Block] = []
        said += [b for b in edit.content if "reasoningContent" in b and not is_unsigned(b)]
        said += [{"text": edit.text}] if edit.text.strip() else []
        said += [_call(valid_call(call), made) for call, made in zip(edit.calls, ids, strict=True)]
        answers = zip(ids, edit.answers, strict=True)
        results = [result_of(made, text, failed) for made, (_, text, failed) in answers]
        return [("assistant", said), ("user", results)]

    def rows_with(self, added: Sequence[_Row]) -> list[bytes]:
        """Return rows with alternating roles. The assistant's further text goes into its last
        row."""
        rows = list(self.sent_rows)
        last = object_in(value_of(rows[-1])).get("role") if rows else None
        for role, blocks in added:
            if not blocks:
                continue
            if last == role == "user":
                rows.append(encode({"role": "assistant", "content": [{"text": BRIDGE}]}))
            if last == role == "assistant":
                content = [*rows_of(members_of(rows[-1])["content"]), *map(encode, blocks)]
                rows[-1] = with_members(rows[-1], {"content": listed(content)})
            else:
                rows.append(encode({"role": role, "content": [*map(dict, blocks)]}))
            last = role
        return rows

    def output_limit_path(self, members: dict[str, bytes], dialect: Dialect) -> Path:
        return (_CONFIG, (_budget_key(object_in(value_of(members.get("inferenceConfig")))),))

    def lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        members |= reasoning.lowered(members)

    def fit_reasoning(self, members: dict[str, bytes], max_tokens: int) -> None:
        reasoning.fit(members, max_tokens)

    def free_tool_choice(self, members: dict[str, bytes]) -> None:
        choice = object_in(object_in(value_of(members.get("toolConfig"))).get("toolChoice"))
        if "any" in choice or "tool" in choice:
            put(members, (("toolConfig",), ("toolChoice",)), b'{"auto":{}}')


def parse_request(
    body: bytes, probe_max_tokens: int = 0, path: str = "/model/unknown/converse", *_: object
) -> ConverseRequest | None:
    """Return a request, or None if the bytes are none; they then pass unchanged (C7).

    >>> body = b'{"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}'
    >>> parse_request(body, path="/model/amazon.nova-lite-v1%3A0/converse-stream").facts.model
    'amazon.nova-lite-v1:0'
    >>> parse_request(b"not json") is None
    True
    """
    try:
        if not is_utf8(body):  # members kept as bytes are not checked below
            return None
        members = members_of(body)
        rows = [decode_object(raw) for raw in rows_of(members["messages"])]
        if not rows or not all(isinstance(object_in(row).get("content"), list) for row in rows):
            return None
        facts = _facts(members, [object_in(row) for row in rows], probe_max_tokens, path)
        rules = UNSIGNED_RULES if _SIGNS_NOTHING.search(facts.model) else RULES
        return ConverseRequest(body, facts, rows, rules, instructed=members.get("system", b""))
    except (*UNREADABLE, KeyError):
        return None


# --- facts ------------------------------------------------------------------------------------


def _facts(
    members: Mapping[str, bytes], rows: Sequence[JsonObject], probe_max_tokens: int, path: str
) -> RequestFacts:
    model, stream = path_model(path)
    config = object_in(value_of(members.get("inferenceConfig")))
    tokens = limit_in(config.get(_budget_key(config)))
    # The provider puts rows before those of a stored prompt, and refuses our keys.
    reasons = {"prompt": "promptVariables" in members or ":prompt/" in model}
    structured = "textFormat" in object_in(value_of(members.get("outputConfig")))
    ends_in_assistant = rows[-1].get("role") == "assistant"
    return RequestFacts(
        model=model,
        stream=stream,
        max_tokens=tokens,
        least_tokens=reasoning.least_limit(members, tokens),
        tools="toolConfig" in members,
        call_forced=_demands_call(members),
        after_tool_result=any("toolResult" in block for block in _blocks(rows[-1])),
        structured=structured,
        lower_reasoning=reasoning.can_be_lowered(members),
        include_usage=True,
        left_alone=why_left_alone(reasons, tokens, probe_max_tokens),
        prefill_barred=ends_in_assistant or structured or reasoning.is_on(members),
        begun=begun_in(rows[-1]),
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
    """Return the key of the output limit. The second is Nova's own on InvokeModel."""
    return "max_new_tokens" if "max_new_tokens" in config else "maxTokens"


# --- rows -------------------------------------------------------------------------------------


def _call(call: ToolCall, made: str) -> JsonObject:
    return {"toolUse": {"toolUseId": made, "name": call.name, "input": object_of(call)}}
