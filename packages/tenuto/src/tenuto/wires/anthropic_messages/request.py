"""Requests of Anthropic Messages: facts and edits. Their history is in `history`.

Theory of operation
-------------------
See `request_edits`. Added rows stand on their own: the provider combines rows of one role into one
turn, so no row of the caller's is edited, unless it holds a call that the provider can't finish.

Vertex and Bedrock name the model, and whether to stream, in the path instead of the body.
Shapes follow `anthropic/types` of anthropic-sdk-python 2.12, read 2026-11-22;
https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import unquote

import msgspec

from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.actions import AppendAssistant, AppendCalls, AppendContent, Content, Edit
from tenuto.core.history.plan import plan_repairs
from tenuto.wires.anthropic_messages.content import (
    CONTAINER,
    SPEECH,
    UNSIGNED_SPEECH,
    blocks_in,
    container_in,
    is_kept,
    is_thought,
    text_block,
)
from tenuto.wires.anthropic_messages.history import RULES, UNSIGNED_RULES, result_of
from tenuto.wires.blocks_content import Block
from tenuto.wires.calls import accepted_ids, object_of, schemas_in, valid_call
from tenuto.wires.claude_like.thinking import (
    EFFORTS_ABOVE_LOW,
    fitting_budget,
    least_tokens,
    less_thinking,
)
from tenuto.wires.dialect import Dialect
from tenuto.wires.history import apply_repairs
from tenuto.wires.instructions import Instructions
from tenuto.wires.json import UNREADABLE, JsonObject, encode
from tenuto.wires.members import object_in, value_of, with_members
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import EditableRequest, Paths, put
from tenuto.wires.request_reading import begun_in, limit_in, reader, text_in, why_left_alone


class _Asked(msgspec.Struct):
    """The members that Tenuto reads, in one pass over the body."""

    messages: list[JsonObject]
    model: Any = None
    stream: bool | None = None
    max_tokens: Any = None
    tools: msgspec.Raw = msgspec.Raw(b"null")
    tool_choice: Any = None
    thinking: Any = None
    output_config: Any = None
    output_format: Any = None
    compaction: Any = None
    thread: Any = None
    anthropic_version: Any = None
    system: msgspec.Raw = msgspec.Raw(b"null")


class _Tool(msgspec.Struct):
    type: Any = None
    name: Any = None


_read = reader(_Asked)
_tools = msgspec.json.Decoder(list[_Tool]).decode

_PATH_MODEL = re.compile(
    r"/models/(?P<vertex>[^/]+):(?P<raw>rawPredict|streamRawPredict)(?:\?|\Z)"
    r"|/model/(?P<bedrock>.+)/(?P<invoke>invoke|invoke-with-response-stream)(?:\?|\Z)"
)

SERVER_TOOLS = (
    "web_search_", "web_fetch_", "code_execution_", "tool_search_", "advisor_", "mcp_toolset",
)  # fmt: skip
"""The beginnings of the types of tools that the provider runs itself. Others are the caller's."""

_WITH_CONTENT = (AppendAssistant, AppendContent, AppendCalls)

_BUDGET = (("thinking",), ("budget_tokens",))
_EFFORT = (("output_config",), ("effort",))


class MessagesRequest(EditableRequest):
    """A Messages request as bytes, with what was read from it (`wires.request.WireRequest`)."""

    paths: ClassVar[Paths] = Paths(
        rows="messages",
        output_limit=(("max_tokens",),),
        constraints=[(("output_format",),), (("output_config",), ("format",))],
        tools=[(("tools",),), (("tool_choice",),), (("mcp_servers",),)],
        # "Requests which include `tool_use` or `tool_result` blocks must define tools"
        calls_need_tools=b'tool_use"',
        not_empty="output_config",
    )
    instructions: ClassVar[Instructions | None] = Instructions(("system",))

    def edited(self, edits: Sequence[Edit], dialect: Dialect) -> dict[str, bytes]:
        """Return the members of the request with these edits. The model goes on in the container
        that its answer so far ran code in, unless the caller names one."""
        members = super().edited(edits, dialect)
        contents = (e.content for e in edits if isinstance(e, _WITH_CONTENT))
        ran_in = next(filter(None, map(container_in, contents)), "")
        asked = value_of(members.get(CONTAINER))
        if ran_in and isinstance(asked, dict) and not asked.get("id"):  # it names skills only
            members[CONTAINER] = with_members(members[CONTAINER], {"id": encode(ran_in)})
        elif ran_in and asked is None:
            members[CONTAINER] = encode(ran_in)
        return members

    def tool_schemas(self, tools: Any) -> dict[str, JsonObject]:
        listed = tools if isinstance(tools, list) else []
        ours = [t for t in listed if isinstance(t, dict) and _is_client_tool(t.get("type"))]
        return schemas_in(ours, "input_schema")

    def assistant_rows(self, edit: AppendAssistant, dialect: Dialect) -> list[JsonObject]:
        speech = SPEECH if dialect.signs else UNSIGNED_SPEECH
        said = speech.said_before(edit.text, blocks_in(edit.content))
        if edit.prefill:  # the beginning of an answer may not hold thinking
            said = [block for block in said if not is_thought(block)]
        return [_row("assistant", said)]

    def user_row(self, text: str) -> JsonObject:
        return _row("user", [text_block(text)])

    def kept_rows(
        self, content: Content, members: dict[str, bytes], dialect: Dialect
    ) -> list[JsonObject]:
        # Unchanged, without thinking that an attempt before the pause left unsigned (C20).
        blocks = blocks_in(content)
        kept = [b for b in blocks if _is_thought_kept(b, dialect) or not is_thought(b)]
        return [_row("assistant", kept)] if kept else []

    def rows_with(self, added: Sequence[Any]) -> list[bytes]:
        """Repair the rows anew if they end in the model's own: a call that the provider was to
        finish may have no result in what is added, and nothing then can finish it."""
        rows = super().rows_with(added)
        ours = object_in(value_of(self.sent_rows[-1])) if added and self.sent_rows else {}
        if self._rules is None or ours.get("role") != "assistant":
            return rows
        plan, repairs = plan_repairs([value_of(row) for row in rows], self._rules)
        return apply_repairs(plan, rows, self._rules) if repairs else rows

    def call_rows(self, edit: AppendCalls, dialect: Dialect) -> list[JsonObject]:
        ids = accepted_ids(edit.calls)
        said = [block for block in edit.content if _is_thought_kept(block, dialect)]
        said += [text_block(edit.text)] if edit.text.strip() else []
        said += [_call(valid_call(call), made) for call, made in zip(edit.calls, ids, strict=True)]
        results = [
            result_of(made, text, failed) | _extra(call, "toolset_name")
            for made, (call, text, failed) in zip(ids, edit.answers, strict=True)
        ]
        return [_row("assistant", said), _row("user", results)]

    def lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        """Halve the caller's budget or turn thinking off; set a low effort without a budget."""
        thinking = object_in(value_of(self.sent_members.get("thinking")))
        enabled = thinking.get("type") == "enabled"
        if enabled and (less := less_thinking(thinking, tools=self.facts.tools)) is not None:
            members["thinking"] = encode(less)
        effort = object_in(value_of(self.sent_members.get("output_config"))).get("effort")
        if effort in EFFORTS_ABOVE_LOW or (_thinks(thinking) and not enabled):
            put(members, _EFFORT, b'"low"')

    def fit_reasoning(self, members: dict[str, bytes], max_tokens: int) -> None:
        """Keep the thinking budget below the output limit; the provider requires this."""
        budget = object_in(value_of(members.get("thinking"))).get("budget_tokens")
        if type(budget) is int and budget >= max_tokens:
            less = fitting_budget(max_tokens)
            if less is not None:
                put(members, _BUDGET, encode(less))
            else:
                del members["thinking"]

    def free_tool_choice(self, members: dict[str, bytes]) -> None:
        choice = object_in(value_of(members.get("tool_choice")))
        if choice.get("type") in ("any", "tool"):
            changes = {"type": b'"auto"', "name": None}
            members["tool_choice"] = with_members(members["tool_choice"], changes)


def _is_thought_kept(block: Block, dialect: Dialect) -> bool:
    """Return whether a block is thinking that goes back (C20)."""
    return is_thought(block) and (not dialect.signs or is_kept(block))


def parse_request(
    body: bytes,
    probe_max_tokens: int = 0,
    path: str = "/v1/messages",
    dialect: Dialect = Dialect(),  # noqa: B008 - frozen
) -> MessagesRequest | None:
    """Return a Messages request, or None if the bytes are none; they then pass unchanged (C7).

    >>> body = b'{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}'
    >>> parse_request(body).facts.model
    'm'
    >>> parse_request(b"not json") is None
    True
    """
    try:
        asked = _read(body)
        if not asked.messages:
            return None
        if (named := path_model(path)) is not None:
            if asked.anthropic_version is None:  # another vendor's model
                return None
            asked.model, asked.stream = asked.model or named[0], named[1]
        # With a thread, the provider holds the rows before these, and calls that these answer.
        rows = [] if asked.thread else asked.messages
        rules = RULES if dialect.signed_thinking else UNSIGNED_RULES
        facts, instructed = _facts(asked, probe_max_tokens), bytes(asked.system)
        return MessagesRequest(body, facts, rows, rules, instructed=instructed)
    except UNREADABLE:
        return None


def path_model(path: str) -> tuple[str, bool] | None:
    """Return the model that a path of Vertex or Bedrock names, and whether it asks for a stream;
    None: it is another path.

    >>> path_model("/model/us.anthropic.claude-x%3A0/invoke-with-response-stream")
    ('us.anthropic.claude-x:0', True)
    >>> path_model("/v1/projects/p/publishers/anthropic/models/claude-x@1:rawPredict")
    ('claude-x@1', False)
    """
    if (found := _PATH_MODEL.search(path)) is None or found["vertex"] == "count-tokens":
        return None
    stream = (found["raw"] or found["invoke"]) in (
        "streamRawPredict",
        "invoke-with-response-stream",
    )
    return unquote(found["vertex"] or found["bedrock"]), stream


# --- facts ------------------------------------------------------------------------------------


def _facts(asked: _Asked, probe_max_tokens: int) -> RequestFacts:
    tokens = asked.max_tokens if type(asked.max_tokens) is int else None
    config, thinking = object_in(asked.output_config), object_in(asked.thinking)
    forms = object_in(config.get("format")), object_in(asked.output_format)
    structured = "json_schema" in (forms[0].get("type"), forms[1].get("type"))
    tools = _tools_in(asked.tools)
    ours = any(_is_client_tool(tool.type) for tool in tools)
    ends_in_assistant = asked.messages[-1].get("role") == "assistant"
    reasons = {
        "thread": asked.thread,  # the provider would keep our hints in its own history
        "compaction": asked.compaction,  # asked for by itself: the block is the whole answer
        "prewarm": tokens == 0,
    }
    return RequestFacts(
        model=text_in(asked.model),
        stream=bool(asked.stream),
        max_tokens=limit_in(tokens),
        least_tokens=least_tokens(thinking, limit_in(tokens), tools=ours),
        tools=ours,
        call_forced=_demands_call(object_in(asked.tool_choice), tools),
        after_tool_result=_after_tool_result(asked.messages),
        structured=structured,
        lower_reasoning=_can_lower(thinking, config.get("effort"), tools=ours),
        include_usage=True,
        left_alone=why_left_alone(reasons, tokens, probe_max_tokens),
        prefill_barred=ends_in_assistant or structured or _thinks(thinking),
        begun=begun_in(asked.messages[-1]),
    )


def _is_client_tool(kind: Any) -> bool:
    return not (isinstance(kind, str) and kind.startswith(SERVER_TOOLS))


def _tools_in(raw: msgspec.Raw) -> list[_Tool]:
    try:
        return _tools(raw) if raw != b"null" else []
    except msgspec.DecodeError:
        return []


def _demands_call(choice: JsonObject, tools: Sequence[_Tool]) -> bool:
    """Return whether a choice demands a call for the caller: of one of the caller's tools, or of
    any tool if all are the caller's."""
    kind, name = choice.get("type"), choice.get("name")
    asked = [_is_client_tool(t.type) for t in tools if kind == "any" or t.name == name]
    ours = any(_is_client_tool(tool.type) for tool in tools)
    return kind in ("any", "tool") and ours and all(asked)


def _after_tool_result(rows: Sequence[JsonObject]) -> bool:
    """Return whether the user's turn that the model answers holds a result."""
    for row in reversed(rows):
        if row.get("role") == "assistant":
            return False
        content = row.get("content")
        if isinstance(content, list) and any(_is_result(block) for block in content):
            return True
    return False


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _thinks(thinking: JsonObject) -> bool:
    return thinking.get("type") not in (None, "disabled")


def _can_lower(thinking: JsonObject, effort: Any, *, tools: bool) -> bool:
    """Return whether thinking can be lowered: by its budget or by its effort."""
    if effort in EFFORTS_ABOVE_LOW:
        return True
    if thinking.get("type") == "enabled":
        return less_thinking(thinking, tools=tools) is not None
    return _thinks(thinking) and effort != "low"


# --- rows and members -------------------------------------------------------------------------


def _row(role: str, blocks: Sequence[Block]) -> JsonObject:
    return {"role": role, "content": [dict(block) for block in blocks]}


def _call(call: ToolCall, made: str) -> JsonObject:
    block = {"type": "tool_use", "id": made, "name": call.name, "input": object_of(call)}
    return block | _extra(call, "caller", "toolset_name")


def _extra(call: ToolCall, *keys: str) -> JsonObject:
    """Return further keys of a call that the provider wants back."""
    return {key: call.extra[key] for key in keys if call.extra and call.extra.get(key)}
