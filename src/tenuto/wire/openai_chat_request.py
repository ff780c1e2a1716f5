"""The request's side of OpenAI Chat: facts, edits; its history in `…_history`.

Theory of operation
-------------------
The body is split into its top-level members, and `messages` into its rows, each kept as the bytes
that the caller sent (msgspec.Raw). An edit replaces or appends whole members or rows; whatever no
edit names leaves as it came, so that prompt caches hit and unknown fields survive (C7).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from tenuto.core.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendReasoning,
    AppendUser,
    DropConstraint,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputBudget,
)
from tenuto.core.arguments import Finding
from tenuto.core.calls import ToolCall
from tenuto.core.history import plan_repairs
from tenuto.wire.base import Dialect, JsonObject, RequestFacts
from tenuto.wire.history import apply_repairs
from tenuto.wire.json import encode, is_utf8
from tenuto.wire.members import (
    joined,
    listed,
    members_of,
    read_leniently,
    rows_of,
    value_of,
)
from tenuto.wire.openai_chat_history import RULES
from tenuto.wire.openai_chat_paths import model_in
from tenuto.wire.openai_chat_reasoning import (
    Knobs,
    can_reason_less,
    less_reasoning,
    without_reasoning,
)
from tenuto.wire.openai_chat_render import LEGACY_CALL_ID


class _Asked(Knobs):
    """The members that are looked at, in one reading of the body."""

    messages: list[JsonObject]
    model: Any = None
    stream: Any = None
    stream_options: Any = None
    max_completion_tokens: Any = None
    max_tokens: Any = None
    tools: msgspec.Raw = msgspec.Raw(b"null")
    functions: msgspec.Raw = msgspec.Raw(b"null")
    tool_choice: Any = None
    tool_choice_option: Any = None
    function_call: Any = None
    response_format: Any = None
    n: Any = None
    modalities: Any = None
    logprobs: Any = None
    top_logprobs: Any = None


_read = msgspec.json.Decoder(_Asked).decode

_NO_TOOLS = frozenset({b"null", b"[]"})

OUTPUT_KEYS = ("max_completion_tokens", "max_tokens")
"""The keys of the output limit, the one that counts first."""

PLAIN = Dialect()
"""Of a provider of whom nothing is known."""


class ChatRequest:
    """A chat request as bytes, with what was read of it (`wire.base.WireRequest`)."""

    def __init__(self, body: bytes, values: list[JsonObject], facts: RequestFacts) -> None:
        self._body = body
        self.facts = facts
        self._plan, self.repairs = plan_repairs(values, RULES)
        self._members: dict[str, bytes] = {}
        self._rows: list[bytes] = []
        # Half a surrogate pair cannot be split: then this is no request for us.
        if b"\\ud" in body or b"\\uD" in body:
            self._split()

    def _split(self) -> None:
        """The members and rows as bytes: a request that passes as it came needs none."""
        if not self._members:
            self._members = members_of(self._body)
            rows = rows_of(self._members["messages"])
            self._rows = apply_repairs(self._plan, rows, RULES) if self.repairs else rows

    def _arranged(self, rows: list[bytes]) -> list[bytes]:
        """The rows, ours among them, as those who speak alike may want them arranged."""
        return rows

    def _choose_freely(self, members: dict[str, bytes]) -> None:
        """Leave it to the model which tools it calls, unless it may call none."""
        if "tool_choice" in members and value_of(members["tool_choice"]) != "none":
            members["tool_choice"] = b'"auto"'

    def tool_parameters(self) -> dict[str, JsonObject]:
        """The JSON Schema of each attached function, by name; {} for one that has none."""
        self._split()
        tools = _list(self._members.get("tools"))
        functions = _list(self._members.get("functions"))
        found = [t.get("function") for t in tools if isinstance(t, dict)] + functions
        return {
            f["name"]: f["parameters"] if isinstance(f.get("parameters"), dict) else {}
            for f in found
            if isinstance(f, dict) and isinstance(f.get("name"), str)
        }

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without any, the caller's own."""
        if not edits and not self.repairs:
            return self._body
        return joined(self.edited(edits, dialect))

    def edited(self, edits: Sequence[Edit], dialect: Dialect) -> dict[str, bytes]:
        """The members of the request with these edits."""
        self._split()
        members = dict(self._members)
        rows = list(self._rows)
        for edit in edits:
            match edit:
                case AppendAssistant(text):
                    row: JsonObject = {"role": "assistant", "content": text}
                    row |= _reasoning(edit.reasoning, dialect)
                    if edit.prefill:
                        row |= dict(dialect.prefill_row)
                        members |= {k: encode(v) for k, v in dialect.prefill_members}
                    rows.append(encode(row))
                case AppendReasoning(reasoning):
                    rows.append(encode(_thought(reasoning, dialect) | dict(dialect.prefill_row)))
                    members |= {k: encode(v) for k, v in dialect.prefill_members}
                    members = without_reasoning(members, dialect)
                case AppendUser(text):
                    rows.append(encode({"role": "user", "content": text}))
                case AppendContent():
                    raise AssertionError("this wire keeps no content: no rung sends any back")
                case AppendCalls():
                    rows.extend(_failed_rows(edit, dialect))
                case SetOutputBudget(tokens):
                    key = next((k for k in OUTPUT_KEYS if k in members), dialect.output_key)
                    members[key] = encode(tokens)
                case LowerReasoning():
                    members |= less_reasoning(members, dialect)
                case DropConstraint():
                    members.pop("response_format", None)
                case FreeToolChoice():
                    self._choose_freely(members)
        members["messages"] = listed(self._arranged(rows))
        return members


_Request = TypeVar("_Request", bound=ChatRequest)


def parse_request(
    body: bytes, probe_max_tokens: int = 0, path: str = "", dialect: Dialect = PLAIN
) -> ChatRequest | None:
    """A chat request, or None where the bytes are none: they then pass untouched (C7).

    >>> body = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
    >>> parse_request(body).facts.model
    'm'
    >>> parse_request(b"not json") is None
    True
    """
    made = request_of(ChatRequest, body, probe_max_tokens, dialect)
    if made is not None and not made.facts.model:
        made.facts = msgspec.structs.replace(made.facts, model=model_in(path))
    return made


def request_of(
    kind: type[_Request], body: bytes, probe_max_tokens: int, dialect: Dialect
) -> _Request | None:
    """The same as a request of those who speak alike."""
    try:
        if not is_utf8(body):  # members that are only carried on are not looked at below
            return None
        asked = _asked(body)
        if not asked.messages or not all(isinstance(row, dict) for row in asked.messages):
            return None
        return kind(body, asked.messages, _facts(asked, probe_max_tokens, dialect))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _asked(body: bytes) -> _Asked:
    """The members that are looked at, in one reading; a number that no double holds, somewhere in
    a row, takes a second and more lenient one."""
    try:
        return _read(body)
    except msgspec.DecodeError:
        keys = _Asked.__struct_fields__
        return _Asked(**read_leniently(body, keys, ("tools", "functions")))


def _facts(asked: _Asked, probe_max_tokens: int, dialect: Dialect) -> RequestFacts:
    limits = (asked.max_completion_tokens, asked.max_tokens)
    max_tokens = next((v for v in limits if isinstance(v, int) and v > 0), None)
    form, last = asked.response_format, asked.messages[-1]
    return RequestFacts(
        model=asked.model if isinstance(asked.model, str) else "",
        stream=bool(asked.stream),
        max_tokens=max_tokens,
        tools=not {bytes(asked.tools), bytes(asked.functions)} <= _NO_TOOLS,
        call_forced=any(
            map(_demands, (asked.tool_choice, asked.tool_choice_option, asked.function_call))
        ),
        after_tool_result=last.get("role") in ("tool", "function"),
        structured=isinstance(form, dict) and form.get("type") in ("json_object", "json_schema"),
        lower_reasoning=can_reason_less(asked, dialect),
        include_usage=_includes_usage(asked.stream_options),
        prefill_barred=last.get("role") == "assistant",
        left_alone=_left_alone(asked, max_tokens, probe_max_tokens),
    )


def _demands(choice: Any) -> bool:
    """Whether a choice of tools demands a call. `any` is Mistral's word; watsonx has a member of
    its own for such words, `tool_choice_option`.

    >>> _demands("required"), _demands({"type": "function"}), _demands("auto"), _demands(None)
    (True, True, False, False)
    """
    if isinstance(choice, dict):
        allowed = choice.get("allowed_tools")
        return not isinstance(allowed, dict) or _demands(allowed.get("mode"))
    return isinstance(choice, str) and choice.lower() in ("required", "any")


def _includes_usage(options: Any) -> bool:
    return isinstance(options, dict) and options.get("include_usage") is True


def _left_alone(asked: _Asked, max_tokens: int | None, probe_max_tokens: int) -> str:
    """Why a request cannot be continued (C28), "" where it can."""
    choices, modalities = asked.n, asked.modalities
    if isinstance(choices, int) and choices > 1:
        return "several_choices"
    if asked.logprobs or asked.top_logprobs:
        return "logprobs"
    if isinstance(modalities, list) and "audio" in modalities:
        return "audio"
    if max_tokens is not None and max_tokens <= probe_max_tokens:
        return "probe"
    return ""


def _list(raw: bytes | None) -> list[Any]:
    value = value_of(raw)
    return value if isinstance(value, list) else []


def _thought(reasoning: str, dialect: Dialect) -> JsonObject:
    """A row of the model's that holds its reasoning alone: under the key that the provider has for
    it, else as models write it into their text."""
    if dialect.reasoning_key:
        return {"role": "assistant", "content": "", dialect.reasoning_key: reasoning}
    return {"role": "assistant", "content": f"<think>\n{reasoning}\n</think>"}


def _reasoning(text: str, dialect: Dialect) -> dict[str, str]:
    return {dialect.reasoning_key: text} if dialect.reasoning_key and text else {}


def _failed_rows(edit: AppendCalls, dialect: Dialect) -> list[bytes]:
    """The model's calls in a valid form, each with a failed result (T5). Broken arguments are never
    replayed (H4): they stand as an empty object."""
    if any(call.id == LEGACY_CALL_ID for call in edit.calls):
        return _failed_legacy_rows(edit)
    calls = [_valid_call(call) for call in edit.calls]
    assistant = {"role": "assistant", "content": edit.text or None, "tool_calls": calls}
    results = zip(edit.calls, edit.results, strict=True)
    return [
        encode(assistant | _reasoning(edit.reasoning, dialect)),
        *(
            encode({"role": "tool", "tool_call_id": call.id, "content": text})
            for call, text in results
        ),
    ]


def _valid_call(call: ToolCall) -> JsonObject:
    name = call.name or "unknown"
    if call.free:
        custom = {"name": name, "input": call.arguments}
        return {"id": call.id, "type": "custom", "custom": custom}
    arguments = call.arguments if call.finding is Finding.WHOLE else "{}"
    function = {"name": name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _failed_legacy_rows(edit: AppendCalls) -> list[bytes]:
    """The same in the deprecated form, for a caller who uses it."""
    call, result = edit.calls[0], edit.results[0]
    arguments = call.arguments if call.finding is Finding.WHOLE else "{}"
    made = {"name": call.name or "unknown", "arguments": arguments}
    return [
        encode({"role": "assistant", "content": edit.text or None, "function_call": made}),
        encode({"role": "function", "name": made["name"], "content": result}),
    ]
