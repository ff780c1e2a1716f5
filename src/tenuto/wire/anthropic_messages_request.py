"""The request's side of Anthropic Messages: facts, edits; its history in `…_history`.

Theory of operation
-------------------
As in `request_edits`. Rows that we add stand on their own: the provider combines rows of one role
into one turn, so no row of the caller's is ever edited.

Vertex and Bedrock name the model, and whether to stream, in the path instead of the body.
Shapes follow `anthropic/types` of anthropic-sdk-python 2.12, read 2026-11-22;
https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import msgspec

from tenuto.core.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendUser,
    Content,
    Edit,
    SetOutputBudget,
)
from tenuto.core.arguments import Finding
from tenuto.core.calls import ToolCall
from tenuto.core.white_space import space_behind
from tenuto.wire.anthropic_messages_history import RULES, UNSIGNED_RULES, result_of
from tenuto.wire.base import Dialect, JsonObject, RequestFacts
from tenuto.wire.json import encode, is_utf8
from tenuto.wire.members import object_in, read_leniently, value_of, with_members
from tenuto.wire.request_edits import EditableRequest, Paths


class _Asked(msgspec.Struct):
    """The members that are looked at, in one reading of the body."""

    messages: list[JsonObject]
    model: Any = None
    stream: Any = None
    max_tokens: Any = None
    tools: msgspec.Raw = msgspec.Raw(b"null")
    tool_choice: Any = None
    thinking: Any = None
    output_config: Any = None
    output_format: Any = None
    compaction: Any = None
    thread: Any = None
    anthropic_version: Any = None


class _Tool(msgspec.Struct):
    type: Any = None
    name: Any = None


_read = msgspec.json.Decoder(_Asked).decode
_tools = msgspec.json.Decoder(list[_Tool]).decode

_PATH_MODEL = re.compile(
    r"/models/(?P<vertex>[^/]+):(?P<raw>rawPredict|streamRawPredict)(?:\?|\Z)"
    r"|/model/(?P<bedrock>.+)/(?P<invoke>invoke|invoke-with-response-stream)(?:\?|\Z)"
)

SERVER_TOOLS = (
    "web_search_", "web_fetch_", "code_execution_", "tool_search_", "advisor_", "mcp_toolset",
)  # fmt: skip
"""How the types of tools begin that the provider runs itself; every other one is the caller's."""

LEAST_THINKING_TOKENS = 1024
"""`thinking.budget_tokens` may not be lower."""

EFFORTS_ABOVE_LOW = ("medium", "high", "xhigh", "max")
"""`output_config.effort`: the values that can be lowered."""

_THINKING = ("thinking", "redacted_thinking")


class MessagesRequest(EditableRequest):
    """A Messages request as bytes, with what was read of it (`wire.base.WireRequest`)."""

    paths = Paths(
        rows="messages",
        output_limit=(("max_tokens",),),
        constraints=[(("output_format",),), (("output_config",), ("format",))],
    )

    def __init__(self, body: bytes, asked: _Asked, probe_max_tokens: int, dialect: Dialect) -> None:
        self._asked = asked
        self._probe_max_tokens = probe_max_tokens
        # With a thread the provider holds the rows before these, and calls that these answer.
        rows = [] if asked.thread else asked.messages
        super().__init__(body, rows, RULES if dialect.signed_thinking else UNSIGNED_RULES)

    @cached_property
    def facts(self) -> RequestFacts:  # type: ignore[override]
        """What the relay needs to know of it; an answer that is plain needs none."""
        return _facts(self._asked, self._probe_max_tokens)

    def _schemas(self, tools: Any) -> dict[str, JsonObject]:
        return {
            tool["name"]: schema if isinstance(schema := tool.get("input_schema"), dict) else {}
            for tool in (tools if isinstance(tools, list) else ())
            if isinstance(tool, dict) and isinstance(tool.get("name"), str)
            if _is_client_tool(tool.get("type"))
        }

    def edited(self, edits: Sequence[Edit], dialect: Dialect) -> dict[str, bytes]:
        """The members of the request with these edits."""
        members = super().edited(edits, dialect)
        for edit in edits:  # last: what a limit does to thinking depends on what is left of it
            if isinstance(edit, SetOutputBudget):
                _fit_thinking(members, edit.tokens)
        return members

    def _added(self, edit: Edit, members: dict[str, bytes], dialect: Dialect) -> list[bytes]:
        match edit:
            case AppendAssistant(text):
                if edit.prefill:
                    members |= {k: encode(v) for k, v in dialect.prefill_members}
                return [_row("assistant", said_blocks(text, edit.content))]
            case AppendUser(text):
                return [_row("user", [_text(text)])]
            case AppendContent(content):
                # As it came, but for what an attempt before the pause left unsigned (C20).
                kept = [b for b in content if b.get("type") != "thinking" or _is_kept(b, ())]
                content = tuple(kept) if dialect.signed_thinking else content
                return [_row("assistant", content)] if content else []
            case AppendCalls():
                return _failed_rows(edit)
        return []

    def _lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        _lower_reasoning(members, self._members)

    def _drop_constraint(self, members: dict[str, bytes]) -> None:
        super()._drop_constraint(members)
        if members.get("output_config") == b"{}" != self._members.get("output_config"):
            del members["output_config"]

    def _free_tool_choice(self, members: dict[str, bytes]) -> None:
        choice = object_in(value_of(members.get("tool_choice")))
        if choice.get("type") in ("any", "tool"):
            changes = {"type": b'"auto"', "name": None}
            members["tool_choice"] = with_members(members["tool_choice"], changes)


def parse_request(
    body: bytes,
    probe_max_tokens: int = 0,
    path: str = "/v1/messages",
    dialect: Dialect = Dialect(),  # noqa: B008 - frozen
) -> MessagesRequest | None:
    """A Messages request, or None where the bytes are none: they then pass untouched (C7).

    >>> body = b'{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}'
    >>> parse_request(body).facts.model
    'm'
    >>> parse_request(b"not json") is None
    True
    """
    try:
        if not is_utf8(body):  # members that are only carried on are not looked at below
            return None
        asked = _asked(body)
        if not asked.messages:
            return None
        if (named := path_model(path)) is not None:
            if asked.anthropic_version is None:  # another vendor's model
                return None
            asked.model, asked.stream = asked.model or named[0], named[1]
        return MessagesRequest(body, asked, probe_max_tokens, dialect)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def path_model(path: str) -> tuple[str, bool] | None:
    """The model that a path of Vertex or Bedrock names, and whether it asks for a stream; None
    for other paths.

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


def _asked(body: bytes) -> _Asked:
    """The members that are looked at, in one reading; a number that no double holds, somewhere in
    a row, takes a second and more lenient one."""
    try:
        return _read(body)
    except msgspec.DecodeError:
        asked = _Asked(**read_leniently(body, _Asked.__struct_fields__, ("tools",)))
        if not all(isinstance(row, dict) for row in asked.messages):
            raise
        return asked


def _facts(asked: _Asked, probe_max_tokens: int) -> RequestFacts:
    tokens = asked.max_tokens if type(asked.max_tokens) is int else None
    structured = lower = thinks = False
    if asked.output_config or asked.output_format or asked.thinking:
        config, thinking = object_in(asked.output_config), object_in(asked.thinking)
        forms = (config.get("format"), asked.output_format)
        structured = any(object_in(form).get("type") == "json_schema" for form in forms)
        lower, thinks = _can_lower(thinking, config.get("effort")), _thinks(thinking)
    ends_in_assistant = asked.messages[-1].get("role") == "assistant"
    return RequestFacts(
        model=asked.model if isinstance(asked.model, str) else "",
        stream=bool(asked.stream),
        max_tokens=tokens if tokens is not None and tokens > 0 else None,
        tools=_has_client_tools(asked.tools),
        call_forced=bool(asked.tool_choice) and _demands_call(asked.tool_choice, asked.tools),
        after_tool_result=_after_tool_result(asked.messages),
        structured=structured,
        lower_reasoning=lower,
        include_usage=True,
        left_alone=_left_alone(asked, tokens, probe_max_tokens),
        prefill_barred=ends_in_assistant or structured or thinks,
    )


def _is_client_tool(kind: Any) -> bool:
    return not (isinstance(kind, str) and kind.startswith(SERVER_TOOLS))


def _has_client_tools(raw: msgspec.Raw) -> bool:
    if raw == b"null":
        return False
    try:
        return any(_is_client_tool(tool.type) for tool in _tools(raw))
    except msgspec.DecodeError:
        return False


def _demands_call(choice: Any, raw: msgspec.Raw) -> bool:
    """Whether a choice demands a call for the caller: of a tool that is the caller's, or of any
    where all are the caller's."""
    kind, name = object_in(choice).get("type"), object_in(choice).get("name")
    if kind not in ("any", "tool") or not _has_client_tools(raw):
        return False
    return all(_is_client_tool(t.type) for t in _tools(raw) if kind == "any" or t.name == name)


def _after_tool_result(rows: Sequence[JsonObject]) -> bool:
    """Whether the turn of the user that the model answers holds a result."""
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


def _can_lower(thinking: JsonObject, effort: Any) -> bool:
    """Thinking with a budget can always think less; without one, effort is the knob."""
    if effort in EFFORTS_ABOVE_LOW or thinking.get("type") == "enabled":
        return True
    return _thinks(thinking) and effort != "low"


def _left_alone(asked: _Asked, max_tokens: int | None, probe_max_tokens: int) -> str:
    """Why a request cannot be continued (C28), "" where it can."""
    if asked.thread:
        return "thread"  # the provider would keep our hints in a history that is not ours
    if asked.compaction:
        return "compaction"  # asked for by itself: the block is the whole answer
    if max_tokens == 0:
        return "prewarm"
    if max_tokens is not None and max_tokens <= probe_max_tokens:
        return "probe"
    return ""


# --- rows -------------------------------------------------------------------------------------


def _row(role: str, blocks: Iterable[Mapping[str, Any]]) -> bytes:
    return encode({"role": role, "content": [dict(block) for block in blocks]})


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def said_blocks(text: str, content: Content = ()) -> list[Mapping[str, Any]]:
    """What the model has said, as blocks whose joined text is `text`. Where it holds more than text
    and thinking, the other blocks go with it as they came: the provider ran something, and the text
    is about it. Calls for the caller, calls without a result and unsigned thinking stay out.

    >>> said_blocks("Hi", ({"type": "text", "text": "Hi there"},))
    [{'type': 'text', 'text': 'Hi'}]
    """
    answered = [block["tool_use_id"] for block in content if "tool_use_id" in block]
    kept = [block for block in content if _is_kept(block, answered)]
    if all(block.get("type") in ("text", *_THINKING) for block in kept):
        return [_text(text)]
    blocks = with_text(kept, text)
    while blocks and blocks[-1].get("type") in _THINKING:  # must not end an assistant's row
        blocks.pop()
    return blocks


def _is_kept(block: Mapping[str, Any], answered: Sequence[Any]) -> bool:
    kind = str(block.get("type"))
    if kind == "thinking":
        return bool(block.get("signature"))
    if kind.endswith("_tool_use"):
        return block.get("id") in answered
    return kind != "tool_use"


def with_text(blocks: Sequence[Mapping[str, Any]], text: str) -> list[Mapping[str, Any]]:
    """The blocks with `text` dealt out to those of text, from its end backwards and to each as much
    as it held: what a seam took away is missed where the seam was. White space alone is no block
    and goes with the next one."""
    texts = [str(b.get("text", "")) if b.get("type") == "text" else "" for b in blocks]
    surplus = max(space_behind("".join(texts)) - space_behind(text), 0)
    pieces: list[str] = []
    rest = text
    for held in reversed(texts):
        size = max(len(held) - surplus, 0)
        surplus -= len(held) - size
        cut = max(len(rest) - size, 0)
        pieces.append(rest[cut:])
        rest = rest[:cut]
    out: list[Mapping[str, Any]] = []
    waiting = rest
    for block, piece in zip(blocks, reversed(pieces), strict=True):
        if block.get("type") != "text":
            out.append(block)
        elif (waiting + piece).strip():
            out.append({**block, "text": waiting + piece})
            waiting = ""
        else:
            waiting += piece
    return [*out, _text(waiting)] if waiting.strip() else out


def _failed_rows(edit: AppendCalls) -> list[bytes]:
    """The model's calls in a valid form, each with a failed result (T5). Broken arguments are never
    replayed (H4): they stand as an empty object."""
    names = _call_ids(edit.calls)
    thoughts = [block for block in edit.content if block.get("type") in _THINKING]
    said: list[Any] = [dict(block) for block in thoughts if _is_kept(block, ())]
    said += [_text(edit.text)] if edit.text.strip() else []
    said += [_valid_call(call, name) for call, name in zip(edit.calls, names, strict=True)]
    results = [
        result_of(name, text, failed) | _extra(call, "toolset_name")
        for name, (call, text, failed) in zip(names, edit.answers, strict=True)
    ]
    return [_row("assistant", said), _row("user", results)]


def _call_ids(calls: Sequence[ToolCall]) -> list[str]:
    """The calls' ids in the provider's alphabet, each once."""
    names: list[str] = []
    for number, call in enumerate(calls):
        name = re.sub("[^a-zA-Z0-9_-]", "_", call.id) or "call"
        names.append(name if name not in names else f"{name}_{number}")
    return names


def _valid_call(call: ToolCall, name: str) -> JsonObject:
    whole = call.finding is Finding.WHOLE and not call.free
    arguments = msgspec.Raw(call.arguments.encode("utf-8", "replace") if whole else b"{}")
    made = {"type": "tool_use", "id": name, "name": call.name or "unknown", "input": arguments}
    return made | _extra(call, "caller", "toolset_name")


def _extra(call: ToolCall, *keys: str) -> JsonObject:
    """Further keys of a call that the provider wants back."""
    return {key: call.extra[key] for key in keys if call.extra and call.extra.get(key)}


# --- members ----------------------------------------------------------------------------------


def _lower_reasoning(members: dict[str, bytes], own: Mapping[str, bytes]) -> None:
    """Half the budget of what the caller asked for, no thinking where that was the least already,
    low effort where there is no budget."""
    thinking, config = object_in(value_of(own.get("thinking"))), own.get("output_config", b"{}")
    effort = object_in(value_of(config)).get("effort")
    if thinking.get("type") == "enabled":
        budget = thinking.get("budget_tokens")
        less = max(budget // 2, LEAST_THINKING_TOKENS) if type(budget) is int else 0
        if type(budget) is int and less < budget:
            members["thinking"] = _thinking_budget(own["thinking"], less)
        else:
            members["thinking"] = b'{"type":"disabled"}'
    if effort in EFFORTS_ABOVE_LOW or (_thinks(thinking) and thinking.get("type") != "enabled"):
        # From the members as they are now: the constraint may be gone already.
        config = members.get("output_config", b"{}")
        config = config if isinstance(value_of(config), dict) else b"{}"
        members["output_config"] = with_members(config, {"effort": b'"low"'})


def _thinking_budget(raw: bytes, tokens: int) -> bytes:
    return with_members(raw, {"budget_tokens": encode(tokens)})


def _fit_thinking(members: dict[str, bytes], max_tokens: int) -> None:
    """The budget for thinking must stay below the output limit, else the request is rejected."""
    budget = object_in(value_of(members.get("thinking"))).get("budget_tokens")
    if type(budget) is not int or budget < max_tokens:
        return
    less = max(LEAST_THINKING_TOKENS, max_tokens // 2)
    if less < max_tokens:
        members["thinking"] = _thinking_budget(members["thinking"], less)
    else:
        del members["thinking"]
