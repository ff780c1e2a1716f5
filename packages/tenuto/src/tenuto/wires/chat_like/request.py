"""Requests of OpenAI Chat: facts and edits. Their history is in `history`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import msgspec

from tenuto.core.deciding.actions import AppendAssistant, AppendCalls, AppendReasoning, Edit
from tenuto.core.history.table import Rules
from tenuto.wires.calls import schemas_in, valid_call
from tenuto.wires.chat_like.beside import chunks_of, given_back, of_call
from tenuto.wires.chat_like.history import RULES, rules_for
from tenuto.wires.chat_like.paths import model_in
from tenuto.wires.chat_like.reasoning import (
    Knobs,
    can_reason_less,
    less_reasoning,
    turn_off_reasoning,
)
from tenuto.wires.chat_like.render import LEGACY_CALL_ID, call_of, legacy_call_of
from tenuto.wires.chat_like.signing import signed_row
from tenuto.wires.dialect import Dialect
from tenuto.wires.documents import CONSTRAINTS, constrains
from tenuto.wires.json import UNREADABLE, JsonObject, encode
from tenuto.wires.members import list_in, object_in, value_of
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import EditableRequest, Path, Paths
from tenuto.wires.request_reading import (
    are_several,
    begun_in,
    holds,
    limit_in,
    reader,
    text_in,
    why_left_alone,
)


class _Asked(Knobs):
    """The members that Tenuto reads, in one pass over the body."""

    messages: list[JsonObject]
    model: Any = None
    stream: bool | None = None
    stream_options: Any = None
    max_completion_tokens: Any = None
    max_tokens: Any = None
    tools: msgspec.Raw = msgspec.Raw(b"null")
    functions: msgspec.Raw = msgspec.Raw(b"null")
    tool_choice: Any = None
    tool_choice_option: Any = None
    function_call: Any = None
    response_format: Any = None
    guided_json: Any = None
    structured_outputs: Any = None
    json_schema: Any = None
    n: Any = None
    modalities: Any = None
    logprobs: Any = None
    top_logprobs: Any = None


_read = reader(_Asked)

_NO_TOOLS = frozenset({b"null", b"[]"})

OUTPUT_KEYS = ("max_completion_tokens", "max_tokens")
"""The keys of the output limit, in order of precedence."""

PLAIN = Dialect()
"""The dialect of an unknown provider."""


TOOLS: tuple[Path, ...] = tuple(
    ((name,),)
    for name in (
        *("tools", "tool_choice", "tool_choice_option", "parallel_tool_calls", "strict_tools"),
        *("functions", "function_call"),
    )
)
"""The members about tools, also those of APIs with the same rows."""


class ChatRequest(EditableRequest):
    """A chat request as bytes, with what was read from it (`wires.request.WireRequest`)."""

    paths: ClassVar[Paths] = Paths(
        rows="messages",
        output_limit=(OUTPUT_KEYS,),
        constraints=CONSTRAINTS,
        tools=TOOLS,
    )
    history: ClassVar[Rules] = RULES

    def tool_schemas(self, tools: Any) -> dict[str, JsonObject]:
        found = [object_in(tool).get("function") for tool in list_in(tools)]
        return schemas_in(found + list_in(value_of(self.sent_members.get("functions"))))

    def added_rows(self, edit: Edit, members: dict[str, bytes], dialect: Dialect) -> Iterable[Any]:
        if not isinstance(edit, AppendReasoning):
            return super().added_rows(edit, members, dialect)
        members |= {key: encode(value) for key, value in dialect.prefill_members}
        turn_off_reasoning(members, dialect)
        return [_thought(edit.reasoning, dialect) | dict(dialect.prefill_row)]

    def assistant_rows(self, edit: AppendAssistant, dialect: Dialect) -> list[JsonObject]:
        row = _model_row(edit, dialect)
        if edit.prefill:  # the beginning of an answer is a text
            return [row | {"content": edit.text} | dict(dialect.prefill_row)]
        return [row]

    def call_rows(self, edit: AppendCalls, dialect: Dialect) -> list[JsonObject]:
        said = _model_row(edit, dialect)
        calls = [valid_call(call, free=True) for call in edit.calls]
        calls = [replace(call, extra=of_call(call.extra, dialect)) for call in calls]
        if any(call.id == LEGACY_CALL_ID for call in calls):  # the deprecated form has one
            row = said | {"function_call": legacy_call_of(calls[0])}
            name = calls[0].name
            return [row, {"role": "function", "name": name, "content": edit.results[0]}]
        made = list(map(call_of, calls))
        if dialect.wants_back("thought_signature") or dialect.signs_calls(self.facts.model):
            made = signed_row(made)
        row = said | {"tool_calls": made}
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": text}
            for call, text in zip(calls, edit.results, strict=True)
        ]
        return [row, *results]

    def output_limit_path(self, members: dict[str, bytes], dialect: Dialect) -> Path:
        is_there = any(key in members for key in OUTPUT_KEYS)
        return self.paths.output_limit if is_there else ((dialect.output_key,),)

    def lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        members |= less_reasoning(members, dialect)

    def free_tool_choice(self, members: dict[str, bytes]) -> None:
        # LlamaIndex sends null with no tools, for which providers refuse "auto".
        if value_of(members.get("tool_choice")) not in (None, "none"):
            members["tool_choice"] = b'"auto"'


_Request = TypeVar("_Request", bound=ChatRequest)


def parse_request(
    body: bytes, probe_max_tokens: int = 0, path: str = "", dialect: Dialect = PLAIN
) -> ChatRequest | None:
    """Return a chat request, or None if the bytes are none; they then pass unchanged (C7).

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
    """Return the same for wires with similar requests."""
    try:
        asked = _read(body)
        facts = _facts(asked, probe_max_tokens, dialect) if asked.messages else None
        if facts is None:
            return None
        rules = rules_for(kind.history, dialect, facts.model)
        return kind(body, facts, asked.messages, rules)
    except UNREADABLE:
        return None


def _facts(asked: _Asked, probe_max_tokens: int, dialect: Dialect) -> RequestFacts:
    max_tokens = limit_in(asked.max_completion_tokens) or limit_in(asked.max_tokens)
    choices = (asked.tool_choice, asked.tool_choice_option, asked.function_call)
    last = asked.messages[-1]
    reasons = {
        "several_choices": are_several(asked.n),
        "logprobs": asked.logprobs or asked.top_logprobs,
        "audio": holds(asked.modalities, "audio"),
    }
    return RequestFacts(
        model=text_in(asked.model),
        stream=bool(asked.stream),
        max_tokens=max_tokens,
        tools=not {bytes(asked.tools), bytes(asked.functions)} <= _NO_TOOLS,
        call_forced=any(map(_demands, choices)),
        after_tool_result=last.get("role") in ("tool", "function"),
        structured=constrains(asked),
        lower_reasoning=can_reason_less(asked, dialect),
        include_usage=object_in(asked.stream_options).get("include_usage") is True,
        prefill_barred=last.get("role") == "assistant",
        begun=begun_in(last),
        left_alone=why_left_alone(reasons, max_tokens, probe_max_tokens),
    )


def _demands(choice: Any) -> bool:
    """Return whether a tool choice demands a call. `any` is Mistral's word; watsonx has a separate
    member for such words, `tool_choice_option`.

    >>> _demands("required"), _demands({"type": "function"}), _demands("auto"), _demands(None)
    (True, True, False, False)
    """
    if isinstance(choice, dict):
        allowed = choice.get("allowed_tools")
        return not isinstance(allowed, dict) or _demands(allowed.get("mode"))
    return isinstance(choice, str) and choice.lower() in ("required", "any")


def _thought(reasoning: str, dialect: Dialect) -> JsonObject:
    """Return a model row with only its reasoning: under the provider's key for it, else as models
    write it in their text."""
    if dialect.reasoning_key:
        return {"role": "assistant", "content": "", dialect.reasoning_key: reasoning}
    return {"role": "assistant", "content": f"<think>\n{reasoning}\n</think>"}


def _model_row(edit: AppendAssistant | AppendCalls, dialect: Dialect) -> JsonObject:
    """Return a row with the model's text, and with what the provider gave beside it (H5b)."""
    beside = given_back(edit.content, edit.reasoning, dialect)
    chunks = chunks_of(beside)
    text = [{"type": "text", "text": edit.text}] if edit.text else []
    content = [*chunks, *text] if chunks else edit.text or None
    return {"role": "assistant", "content": content} | beside
