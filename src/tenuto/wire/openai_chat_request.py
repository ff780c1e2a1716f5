"""The request's side of OpenAI Chat: facts, edits; its history in `…_history`."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from tenuto.core.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendReasoning,
    AppendUser,
    Edit,
)
from tenuto.core.arguments import Finding
from tenuto.core.calls import ToolCall
from tenuto.wire.base import Dialect, JsonObject, RequestFacts
from tenuto.wire.json import encode, is_utf8
from tenuto.wire.members import read_leniently, value_of
from tenuto.wire.openai_chat_history import RULES
from tenuto.wire.openai_chat_paths import model_in
from tenuto.wire.openai_chat_reasoning import (
    Knobs,
    can_reason_less,
    less_reasoning,
    turn_off_reasoning,
)
from tenuto.wire.openai_chat_render import LEGACY_CALL_ID
from tenuto.wire.request_edits import EditableRequest, Path, Paths


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


class ChatRequest(EditableRequest):
    """A chat request as bytes, with what was read of it (`wire.base.WireRequest`)."""

    paths = Paths(
        rows="messages",
        output_limit=(OUTPUT_KEYS,),
        constraints=[(("response_format",),)],
    )

    def __init__(self, body: bytes, values: list[JsonObject], facts: RequestFacts) -> None:
        super().__init__(body, values, RULES)
        self.facts = facts
        # Half a surrogate pair cannot be split: then this is no request for us.
        if b"\\ud" in body or b"\\uD" in body:
            self._split()

    def _schemas(self, tools: Any) -> dict[str, JsonObject]:
        listed = tools if isinstance(tools, list) else []
        functions = _list(self._members.get("functions"))
        found = [t.get("function") for t in listed if isinstance(t, dict)] + functions
        return {
            f["name"]: f["parameters"] if isinstance(f.get("parameters"), dict) else {}
            for f in found
            if isinstance(f, dict) and isinstance(f.get("name"), str)
        }

    def _added(self, edit: Edit, members: dict[str, bytes], dialect: Dialect) -> list[bytes]:
        match edit:
            case AppendAssistant(text):
                row: JsonObject = {"role": "assistant", "content": text}
                row |= _reasoning(edit.reasoning, dialect)
                if edit.prefill:
                    row |= dict(dialect.prefill_row)
                    members |= {k: encode(v) for k, v in dialect.prefill_members}
                return [encode(row)]
            case AppendReasoning(reasoning):
                members |= {k: encode(v) for k, v in dialect.prefill_members}
                turn_off_reasoning(members, dialect)
                return [encode(_thought(reasoning, dialect) | dict(dialect.prefill_row))]
            case AppendUser(text):
                return [encode({"role": "user", "content": text})]
            case AppendContent():
                raise AssertionError("this wire keeps no content: no rung sends any back")
            case AppendCalls():
                return _failed_rows(edit, dialect)
        return []

    def _output_limit(self, members: dict[str, bytes], dialect: Dialect) -> Path:
        is_there = any(key in members for key in OUTPUT_KEYS)
        return self.paths.output_limit if is_there else ((dialect.output_key,),)

    def _lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        members |= less_reasoning(members, dialect)

    def _free_tool_choice(self, members: dict[str, bytes]) -> None:
        if "tool_choice" in members and value_of(members["tool_choice"]) != "none":
            members["tool_choice"] = b'"auto"'


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
