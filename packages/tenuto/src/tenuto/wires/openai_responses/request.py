"""Requests of OpenAI Responses: facts and edits. Their history is in `history`.

Theory of operation
-------------------
See `request_edits`. An input that is one text becomes a row that holds that text.

The model's content so far goes back as rows without ids. The provider ties an item with an id to
the reasoning before it and refuses one without the other; a row without an id stands alone. What
the provider ran itself goes back unchanged, with the reasoning that led to it.

If the provider keeps the history (`previous_response_id`), a continuation follows the same response
as the request did. It is stored like the caller's request, so that the next turn can continue the
whole answer. Tenuto never writes to a `conversation`.

Shapes follow `openai/types/responses` of openai-python 3.54, read 2026-11-22;
https://platform.openai.com/docs/guides/conversation-state
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.actions import AppendAssistant, AppendCalls, Content
from tenuto.wires.calls import valid_call
from tenuto.wires.dialect import Dialect
from tenuto.wires.documents import asks_for_json
from tenuto.wires.json import UNREADABLE, JsonObject, decode_object, encode
from tenuto.wires.members import list_in, object_in, rows_of, value_of
from tenuto.wires.openai_responses.content import said_items, thoughts_before_calls
from tenuto.wires.openai_responses.history import LIMITED_RULES, RULES
from tenuto.wires.openai_responses.items import FOREIGN_CALL, RESULTS, is_run_by_client, kind_of
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import LESS_EFFORT, EditableRequest, Paths, put
from tenuto.wires.request_reading import (
    holds,
    limit_in,
    reader,
    text_in,
    why_left_alone,
)

SERVER_TOOLS = frozenset(
    {"web_search", "web_search_preview", "file_search", "code_interpreter", "image_generation"}
    | {"mcp", "tool_search", "programmatic_tool_calling"}
)
"""Tools that the provider runs itself, unless they say that the caller does. All others are the
caller's."""

LEAST_TOKENS = 16
"""OpenAI and Azure refuse a smaller `max_output_tokens`: "integer below minimum value. Expected a
value >= 16" (https://github.com/vectorize-io/hindsight/issues/58)."""


class _Asked(msgspec.Struct):
    """The members that Tenuto reads, in one pass over the body."""

    input: msgspec.Raw = msgspec.Raw(b"null")
    model: Any = None
    stream: bool | None = None
    max_output_tokens: Any = None
    tools: Any = None
    tool_choice: Any = None
    text: Any = None
    reasoning: Any = None
    background: Any = None
    store: Any = None
    conversation: Any = None
    previous_response_id: Any = None
    prompt: Any = None
    include: Any = None
    top_logprobs: Any = None


_read = reader(_Asked)


class ResponsesRequest(EditableRequest):
    """A Responses request (`wires.request.WireRequest`)."""

    paths: ClassVar[Paths] = Paths(
        rows="input",
        output_limit=(("max_output_tokens",),),
        constraints=[(("text",), ("format",))],
        tools=[
            ((name,),) for name in ("tools", "tool_choice", "parallel_tool_calls", "max_tool_calls")
        ],
    )

    def split_rows(self, raw: bytes) -> list[bytes]:
        if raw.startswith(b"["):
            return rows_of(raw)
        return [] if raw == b"null" else [b'{"role":"user","content":' + raw + b"}"]

    def assistant_rows(self, edit: AppendAssistant, dialect: Dialect) -> list[JsonObject]:
        return said_items(edit.text, edit.content)

    def kept_rows(
        self, content: Content, members: dict[str, bytes], dialect: Dialect
    ) -> list[JsonObject]:
        return [dict(item) for item in content]

    def call_rows(self, edit: AppendCalls, dialect: Dialect) -> list[JsonObject]:
        items = said_items(edit.text, edit.content) if edit.text.strip() else []
        items += thoughts_before_calls(edit.content)
        results: list[JsonObject] = []
        for call, text in zip(edit.calls, edit.results, strict=True):
            if FOREIGN_CALL in (call.extra or {}):  # its result would have to be of its own form
                results.append(self.user_row(f"[{call.name}: {text}]"))
                continue
            items.append(_call(valid_call(call, free=True)))
            kind = "custom_tool_call_output" if call.free else "function_call_output"
            results.append({"type": kind, "call_id": call.id, "output": text})
        return items + results

    def lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        effort = object_in(value_of(members.get("reasoning"))).get("effort")
        less = encode(LESS_EFFORT.get(str(effort), "low"))
        put(members, (("reasoning",), ("effort",)), less)

    def free_tool_choice(self, members: dict[str, bytes]) -> None:
        choice = value_of(members.get("tool_choice"))
        if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
            put(members, (("tool_choice",), ("mode",)), b'"auto"')
        elif choice is not None and choice != "none":
            members["tool_choice"] = b'"auto"'


def parse_request(
    body: bytes,
    probe_max_tokens: int = 0,
    _path: str = "",
    dialect: Dialect = Dialect(),  # noqa: B008 - frozen
) -> ResponsesRequest | None:
    """Return a Responses request, or None if the bytes are none; they then pass unchanged (C7).

    >>> parse_request(b'{"model": "m", "input": "Hi"}').facts.model
    'm'
    >>> parse_request(b"not json") is None
    True
    """
    try:
        asked = _read(body)
        if bytes(asked.input).lstrip()[:1] not in (b"[", b'"', b"n"):
            return None
        rows = decode_object(bytes(asked.input))
        rows = rows if isinstance(rows, list) else []
        if not all(isinstance(row, dict) for row in rows):
            return None
        facts = _facts(asked, rows, probe_max_tokens)
        elsewhere = bool(asked.previous_response_id or asked.conversation)
        rules = LIMITED_RULES if dialect.most_id_chars else RULES
        return ResponsesRequest(body, facts, rows, rules, elsewhere=elsewhere)
    except UNREADABLE:
        return None


# --- facts ------------------------------------------------------------------------------------


def _facts(asked: _Asked, rows: Sequence[JsonObject], probe_max_tokens: int) -> RequestFacts:
    max_tokens = limit_in(asked.max_output_tokens)
    reasons = {
        "background": asked.background is True,  # the caller polls for the answer elsewhere
        "logprobs": asked.top_logprobs or holds(asked.include, "message.output_text.logprobs"),
    }
    return RequestFacts(
        model=text_in(asked.model),
        stream=bool(asked.stream),
        max_tokens=max_tokens,
        # Other servers accept less; a caller that requests less relies on that.
        least_tokens=min(LEAST_TOKENS, max_tokens or LEAST_TOKENS),
        tools=any(map(_is_client_tool, list_in(asked.tools))),
        call_forced=_demands_call(asked.tool_choice, asked.tools),
        after_tool_result=bool(rows) and kind_of(rows[-1]) in RESULTS,
        structured=asks_for_json(object_in(asked.text).get("format")),
        lower_reasoning=object_in(asked.reasoning).get("effort") in tuple(LESS_EFFORT),
        include_usage=True,
        prefill_barred=True,  # the model answers a trailing model row like any message
        left_alone=why_left_alone(reasons, max_tokens, probe_max_tokens),
        # The provider adds the request and its answer to the conversation (C7).
        sent_once="conversation" if asked.conversation else "",
        follows=text_in(asked.previous_response_id),
        keeps=asked.background is True and asked.store is not False,
    )


def _is_client_tool(tool: Any) -> bool:
    kind = tool.get("type") if isinstance(tool, dict) else None
    if not isinstance(kind, str) or kind.startswith("web_search"):
        return False
    return kind not in SERVER_TOOLS or is_run_by_client(tool)


def _demands_call(choice: Any, tools: Any) -> bool:
    """Return whether a choice demands a call for the caller: of a tool that is the caller's by its
    type, or of any tool if all are the caller's."""
    given = choice
    if isinstance(choice, dict):
        if choice.get("type") != "allowed_tools":
            return _is_client_tool(choice)
        given, tools = choice.get("mode"), choice.get("tools")
    ours = list(map(_is_client_tool, list_in(tools)))
    return given == "required" and bool(ours) and all(ours)


# --- rows -------------------------------------------------------------------------------------


def _call(call: ToolCall) -> JsonObject:
    named = {"call_id": call.id, "name": call.name}
    space = {k: v for k, v in (call.extra or {}).items() if k == "namespace"}
    kind, member = ("custom_tool_call", "input") if call.free else ("function_call", "arguments")
    return {"type": kind, **named, **space, member: call.arguments}
