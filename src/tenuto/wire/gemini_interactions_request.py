"""The request's side of Interactions: facts, edits; repairs in `gemini_interactions_history`.

Theory of operation
-------------------
As in `openai_chat_request`: the body is split into its members and `input` into its steps, each
kept as the bytes that the caller sent, and an edit replaces or appends whole ones. An input that is
a text, or content, becomes a step that holds it.

Where the provider keeps the history (`previous_interaction_id`), a continuation goes on from the
same interaction as the request did: what was said and the hint are input of its own. It is stored
as the caller's request was, so that the next turn can go on from the whole answer.

A pause is gone on from with its token, as the official SDK does it: of what is stored by the id of
the interaction that gave it and without input, of all else by the same request. The SDK goes on by
itself too, unless it is told not to; behind Tenuto it finds nothing to go on with, and its own
requests with a token are left alone.

Shapes follow `google/genai/_gaos/types/interactions` of google-genai 3.4, read 2026-11-22;
https://ai.google.dev/gemini-api/docs/interactions-overview
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tenuto.core.actions import (
    AppendAssistant,
    AppendContent,
    AppendFailedCalls,
    AppendUser,
    Content,
    DropConstraint,
    DropKeys,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputBudget,
)
from tenuto.core.arguments import Finding
from tenuto.core.response import ToolCall
from tenuto.wire.base import Dialect, JsonObject, RequestFacts
from tenuto.wire.gemini_interactions_content import TOKEN, pause_in, said_steps
from tenuto.wire.gemini_interactions_history import failed_result, repair_history
from tenuto.wire.gemini_interactions_steps import CALL, INPUT, OUTPUT, RESULT, THOUGHT, kind_of
from tenuto.wire.json import decode_object, encode, is_utf8
from tenuto.wire.members import joined, listed, members_of, rows_of, value_of, with_members

CONTENT = frozenset({"text", "image", "audio", "video", "document", "file"})
"""Kinds of parts; an input may be a list of them, or of steps."""

CLIENT_TOOLS = frozenset({"function", "computer_use"})
"""Tools that the caller runs; every other one the provider runs itself."""

LESS_THINKING = {"xhigh": "low", "high": "low", "medium": "low", "low": "minimal"}
"""`thinking_level`: what less means for each value; the least cannot be lowered."""

_THINKS_HIGH = re.compile(r"gemini-(?:[3-9]|\d{2})")
"""Models that think much where nothing is said: `low` is what all of them take."""

_NEEDED = frozenset({"model", "input", "content", "type", "text", "call_id", "id", "result"})
"""Keys without which there is no request; an error that names one is about its value."""

_CONSTRAINTS = ("response_format", "response_mime_type")


class _Asked(msgspec.Struct):
    """The members that are looked at, in one reading of the body."""

    input: msgspec.Raw = msgspec.Raw(b"null")
    model: Any = None
    agent: Any = None
    stream: Any = None
    store: Any = None
    background: Any = None
    generation_config: Any = None
    tools: Any = None
    response_format: Any = None
    response_mime_type: Any = None
    response_modalities: Any = None
    previous_interaction_id: Any = None
    continuation_token: Any = None


_read = msgspec.json.Decoder(_Asked).decode


class InteractionRequest:
    """A request as bytes, with what was read of it (`wire.base.WireRequest`)."""

    def __init__(self, body: bytes, asked: _Asked, rows: list[bytes], facts: RequestFacts) -> None:
        self._body = body
        self._stored = asked.store is not False
        self.facts = facts
        self._members: dict[str, bytes] = {}
        self._rows, self.repairs = repair_history(rows, bool(asked.previous_interaction_id))

    def _split(self) -> None:
        """The members as bytes: a request that passes as it came needs none."""
        if not self._members:
            self._members = members_of(self._body)

    def tool_parameters(self) -> dict[str, JsonObject]:
        """The JSON Schema of each attached function, by name; {} for one that has none."""
        self._split()
        tools = value_of(self._members.get("tools"))
        return {
            tool["name"]: schema if isinstance(schema := tool.get("parameters"), dict) else {}
            for tool in (tools if isinstance(tools, list) else ())
            if isinstance(tool, dict) and isinstance(tool.get("name"), str)
        }

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without any, the caller's own."""
        if not edits and not self.repairs:
            return self._body
        self._split()
        members = dict(self._members)
        rows = list(self._rows)
        dropped: tuple[str, ...] = ()
        for edit in edits:
            match edit:
                case AppendAssistant(text):
                    rows += map(encode, said_steps(text, edit.content))
                case AppendUser(text):
                    rows.append(_asking([encode({"type": "text", "text": text})]))
                case AppendContent(content):
                    self._go_on(members, content)
                case AppendFailedCalls():
                    rows += map(encode, _failed_steps(edit))
                case SetOutputBudget(tokens):
                    _configure(members, {"max_output_tokens": encode(tokens)})
                case LowerReasoning():
                    _configure(members, {"thinking_level": encode(self._less_thinking(members))})
                case DropConstraint():
                    for key in _CONSTRAINTS:
                        members.pop(key, None)
                case FreeToolChoice():
                    _free_tool_choice(members)
                case DropKeys(keys):
                    dropped = keys
        if (rows != self._rows or self.repairs) and "input" in members:
            members["input"] = listed(rows)
        body = joined(members)
        # Half a surrogate pair in what the model said cannot be taken apart: it then stays whole.
        with contextlib.suppress(msgspec.DecodeError):
            for key in dropped:
                body = _without(body, [step for step in re.split(r"[.\[\]]+", key) if step])
        return body

    def _go_on(self, members: dict[str, bytes], content: Content) -> None:
        """With the token of a pause; without one, which the tables rule out, nothing changes."""
        pause = pause_in(content)
        if pause is None:
            return
        members[TOKEN] = encode(pause[TOKEN])
        if self._stored and pause.get("id"):
            members["previous_interaction_id"] = encode(pause["id"])
            members.pop("input", None)

    def _less_thinking(self, members: Mapping[str, bytes]) -> str:
        config = _object(value_of(members.get("generation_config")))
        return LESS_THINKING.get(str(config.get("thinking_level")), "low")


def parse_request(body: bytes, probe_max_tokens: int = 0) -> InteractionRequest | None:
    """A request, or None where the bytes are none: they then pass untouched (C7).

    >>> parse_request(b'{"model": "m", "input": "Hi"}').facts.model
    'm'
    >>> parse_request(b"not json") is None
    True
    """
    try:
        if not is_utf8(body):  # members that are only carried on are not looked at below
            return None
        asked = _asked(body)
        rows = _rows_of(bytes(asked.input).strip())
        if rows is None or not (asked.model or asked.agent):
            return None
        last = decode_object(rows[-1]) if rows else None
        return InteractionRequest(body, asked, rows, _facts(asked, last, probe_max_tokens))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _asked(body: bytes) -> _Asked:
    """The members that are looked at, in one reading; a number that no double holds, somewhere in
    them, takes a second and more lenient one."""
    try:
        return _read(body)
    except msgspec.DecodeError:
        members = members_of(body)
        given = msgspec.Raw(members.get("input", b"null"))
        names = [name for name in _Asked.__struct_fields__ if name in members and name != "input"]
        return _Asked(given, **{name: decode_object(members[name]) for name in names})


def _rows_of(given: bytes) -> list[bytes] | None:
    """An input as steps; None where it is of a form that is not known."""
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
    config = _object(asked.generation_config)
    limit = config.get("max_output_tokens")
    max_tokens = limit if type(limit) is int and limit > 0 else None
    model = asked.model if isinstance(asked.model, str) else ""
    return RequestFacts(
        model=model,
        stream=asked.stream is True,
        max_tokens=max_tokens,
        tools=isinstance(asked.tools, list) and any(map(_is_client_tool, asked.tools)),
        after_tool_result=kind_of(last) == RESULT,
        structured=_is_structured(asked),
        lower_reasoning=_can_think_less(config.get("thinking_level"), model),
        include_usage=True,
        prefill_barred=True,  # nothing says that a step of the model's at the end is gone on with
        left_alone=_left_alone(asked, max_tokens, probe_max_tokens),
        follows=follows if isinstance(follows := asked.previous_interaction_id, str) else "",
    )


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _is_client_tool(tool: Any) -> bool:
    return kind_of(tool) in CLIENT_TOOLS


def _is_structured(asked: _Asked) -> bool:
    """Whether the text is to be JSON: by a schema, which may stand there as the form itself."""
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


def _left_alone(asked: _Asked, max_tokens: int | None, probe_max_tokens: int) -> str:
    """Why a request cannot be continued (C28), "" where it can."""
    if asked.continuation_token:
        return "resumption"  # what the model said before stands with the provider alone
    if asked.background is True:
        return "background"  # the answer is polled for, elsewhere
    if asked.agent:
        return "agent"  # the provider runs it, with a budget and a place of its own
    modalities = asked.response_modalities
    if isinstance(modalities, list) and "audio" in modalities:
        return "audio"
    if max_tokens is not None and max_tokens <= probe_max_tokens:
        return "probe"
    return ""


# --- steps ------------------------------------------------------------------------------------


def _failed_steps(edit: AppendFailedCalls) -> list[JsonObject]:
    """The model's calls in a valid form, each with a failed result (T5). Broken arguments are never
    replayed (H4): they stand as an empty object."""
    said = [] if not edit.text.strip() and not edit.content else said_steps(edit.text, edit.content)
    calls = [_valid_call(call) for call in edit.calls]
    results = [
        failed_result(call.id, call.name, text)
        for call, text in zip(edit.calls, edit.results, strict=True)
    ]
    return [*said, *calls, *results]


def _valid_call(call: ToolCall) -> JsonObject:
    whole = call.finding is Finding.WHOLE
    arguments = msgspec.Raw(call.arguments.encode("utf-8", "replace") if whole else b"{}")
    named = {"type": CALL, "id": call.id, "name": call.name or "unknown"}
    return {**(call.extra or {}), **named, "arguments": arguments}


# --- members ----------------------------------------------------------------------------------


def _configure(members: dict[str, bytes], changes: Mapping[str, bytes]) -> None:
    config = members.get("generation_config", b"{}")
    members["generation_config"] = with_members(config if config != b"null" else b"{}", changes)


def _free_tool_choice(members: dict[str, bytes]) -> None:
    choice = _object(value_of(members.get("generation_config"))).get("tool_choice")
    if isinstance(choice, dict) and isinstance(allowed := choice.get("allowed_tools"), dict):
        freed = choice | {"allowed_tools": allowed | {"mode": "auto"}}
        _configure(members, {"tool_choice": encode(freed)})
    elif choice is not None and choice != "none":
        _configure(members, {"tool_choice": b'"auto"'})


def _without(raw: bytes, steps: Sequence[str]) -> bytes:
    """JSON without a key that an error names as `input[1].key` or `a.b`. A number stands for every
    element, for the error names only the first that has the key."""
    if not steps or steps[-1] in _NEEDED:
        return raw
    step, rest = steps[0], steps[1:]
    if raw.startswith(b"["):
        return listed([_without(row, rest if step.isdecimal() else steps) for row in rows_of(raw)])
    members: Mapping[str, bytes] = members_of(raw) if raw.startswith(b"{") else {}
    if step not in members:
        return raw
    return with_members(raw, {step: _without(members[step], rest) if rest else None})
