"""Requests of Gemini: facts and edits. Their history is in `history`.

Theory of operation
-------------------
See `request_edits`. The APIs accept both camelCase and snake_case, so a member is looked up in both
spellings and changed in the one present.

The path names the model, and whether to stream. Shapes follow `google/genai/types.py` of
google-genai 3.4, read 2026-11-22; https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import unquote

import msgspec

from tenuto.core import hints
from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.actions import AppendAssistant, AppendCalls, Content
from tenuto.wires.calls import object_of, valid_call
from tenuto.wires.dialect import Dialect
from tenuto.wires.documents import schema_in
from tenuto.wires.gemini_generate.content import (
    TOKEN,
    Part,
    is_signed,
    is_text,
    member,
    token_in,
    with_text,
    without_token,
)
from tenuto.wires.gemini_generate.history import (
    RULES,
    SIGNED_RULES,
    result_of,
    role_of,
    signed_part,
)
from tenuto.wires.gemini_generate.tools import declarations, schema_of
from tenuto.wires.gemini_like.schema import as_json_schema
from tenuto.wires.instructions import Instructions
from tenuto.wires.json import UNREADABLE, JsonObject, encode
from tenuto.wires.members import list_in, members_of, object_in, rows_of, value_of
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import EditableRequest, Paths, put
from tenuto.wires.request_reading import (
    are_several,
    begun_in,
    holds,
    limit_in,
    reader,
    why_left_alone,
)

WHOLE, STREAMING = ":generateContent", ":streamGenerateContent"

_PATH = re.compile(r"/(?:models|endpoints|tunedModels)/(?P<model>[^:]+):\w+/?\Z")


_NULL = msgspec.Raw(b"null")


class _Asked(msgspec.Struct, rename="camel"):
    """The members that Tenuto reads, in one pass over the body. `_camel` finds those in
    snake_case."""

    contents: list[JsonObject]
    generation_config: Any = None
    tools: Any = None
    tool_config: Any = None
    continuation_token: Any = None
    system_instruction: msgspec.Raw = _NULL
    snake_instruction: msgspec.Raw = msgspec.field(default=_NULL, name="system_instruction")


_read = reader(_Asked)

CONSTRAINTS = (
    ("responseSchema", "response_schema"),
    ("responseJsonSchema", "response_json_schema", "_responseJsonSchema"),
    ("responseFormat", "response_format"),
    ("responseMimeType", "response_mime_type"),
)
"""Members of the generation config that constrain the output."""

CONFIG = ("generationConfig", "generation_config")
_CHOICE = ("toolConfig", "tool_config")
_CALLING = ("functionCallingConfig", "function_calling_config")
_ALLOWED = ("allowedFunctionNames", "allowed_function_names")
_BUDGET = ("maxOutputTokens", "max_output_tokens")
_THINKING = ("thinkingConfig", "thinking_config")
_THINKING_TOKENS = ("thinkingBudget", "thinking_budget")
_THINKING_LEVEL = ("thinkingLevel", "thinking_level")

_Row = tuple[str, Sequence[Part]]
"""The role of a row, and its parts."""

LEAST_THINKING_TOKENS = 512
"""A budget that every thinking model accepts, except models that 0 switches off."""

LESS_THINKING_TOKENS = 1024
"""Replaces a budget that the model chooses itself (-1, or none)."""

LOWER_LEVELS = {"high": "low", "medium": "low", "thinking_level_unspecified": "low"}
"""A lower value for each `thinkingLevel`. `low` is the lowest that all models accept."""


class GenerateRequest(EditableRequest):
    """A request as bytes, with what was read from it (`wires.request.WireRequest`)."""

    paths: ClassVar[Paths] = Paths(
        rows="contents",
        output_limit=(CONFIG, _BUDGET),
        constraints=[(CONFIG, names) for names in CONSTRAINTS],
        tools=[(("tools",),), (_CHOICE,)],
    )
    instructions: ClassVar[Instructions | None] = Instructions(
        ("systemInstruction", "system_instruction"), parts="parts"
    )

    def tool_schemas(self, tools: Any) -> dict[str, JsonObject]:
        return {
            declared["name"]: schema_of(declared)
            for declared in declarations(tools)
            if isinstance(declared.get("name"), str)
        }

    def document_schema(self, form: Any) -> JsonObject | None:
        text = object_in(form).get("text")  # of a `responseFormat`
        found = schema_in(form if text is None else {"type": "text", **object_in(text)})
        return None if found is None else as_json_schema(found)

    def assistant_rows(self, edit: AppendAssistant, dialect: Dialect) -> list[_Row]:
        return [("model", said_parts(edit.text, edit.content))]

    def user_row(self, text: str) -> _Row:
        return ("user", [{"text": text}])

    def kept_rows(
        self, content: Content, members: dict[str, bytes], dialect: Dialect
    ) -> list[_Row]:
        # The provider keeps its content, and continues from the token.
        members[TOKEN] = encode(token_in(content))
        return []

    def call_rows(self, edit: AppendCalls, dialect: Dialect) -> list[_Row]:
        said = said_parts(edit.text, edit.content) if edit.text.strip() else []
        calls = [_call(valid_call(call)) for call in edit.calls]
        if dialect.signs_calls(self.facts.model):
            calls[0] = signed_part(calls[0])
        results = [result_of(_named(call), text, no) for call, text, no in edit.answers]
        return [("model", [*said, *calls]), ("user", results)]

    def rows_with(self, added: Sequence[_Row]) -> list[bytes]:
        """Return the rows. Models take text after a result in the same turn for a turn of their
        own, so a model row separates results from a user's text."""
        rows: list[_Row] = []
        before = role_of(value_of(rows_of(self.sent_members["contents"])[-1]))
        answers = self.facts.after_tool_result
        for role, parts in added:
            if role == "user" and before == "user" and answers:
                rows.append(("model", [{"text": hints.EMPTY_WITH_TOOLS_NOTE}]))
            rows.append((role, parts))
            before, answers = role, any("functionResponse" in part for part in parts)
        ours = [encode({"role": role, "parts": [*map(dict, parts)]}) for role, parts in rows]
        return [*self.sent_rows, *ours]

    def lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        config = object_in(value_of(members.get(_spelled(CONFIG, members))))
        if (found := _less_thinking(config, self.facts.model)) is not None:
            knob, value = found
            put(members, (CONFIG, _THINKING, knob), encode(value))

    def free_tool_choice(self, members: dict[str, bytes]) -> None:
        choice = _spelled(_CHOICE, members)
        calling = object_in(member(object_in(value_of(members.get(choice))), *_CALLING))
        if str(calling.get("mode")).upper() in ("ANY", "VALIDATED"):
            put(members, (_CHOICE, _CALLING, ("mode",)), b'"AUTO"')
            put(members, (_CHOICE, _CALLING, _ALLOWED), None)


def _spelled(names: Sequence[str], members: Mapping[str, bytes]) -> str:
    return next((name for name in names if name in members), names[0])


def parse_request(
    body: bytes,
    probe_max_tokens: int = 0,
    path: str = "/v1beta/models/m:generateContent",
    dialect: Dialect = Dialect(),  # noqa: B008 - frozen
) -> GenerateRequest | None:
    """Return a request, or None if the bytes are none; they then pass unchanged (C7).

    >>> parse_request(b'{"contents": [{"parts": [{"text": "Hi"}]}]}').facts.model
    'm'
    >>> parse_request(b"not json") is None
    True
    """
    try:
        asked = _read(body)
        if b"_config" in body or b"_token" in body:
            members = members_of(body)
            asked.generation_config = asked.generation_config or value_of(members.get(CONFIG[1]))
            asked.tool_config = asked.tool_config or value_of(members.get(_CHOICE[1]))
            asked.continuation_token = asked.continuation_token or members.get("continuation_token")
        if not asked.contents:
            return None
        facts = _facts(asked, probe_max_tokens, path)
        rules = SIGNED_RULES if dialect.signs_calls(facts.model) else RULES
        instructed = bytes(asked.system_instruction) + bytes(asked.snake_instruction)
        return GenerateRequest(body, facts, asked.contents, rules, instructed=instructed)
    except UNREADABLE:
        return None


# --- facts ------------------------------------------------------------------------------------


def _facts(asked: _Asked, probe_max_tokens: int, path: str) -> RequestFacts:
    config, last = object_in(asked.generation_config), asked.contents[-1]
    tokens = limit_in(member(config, *_BUDGET))
    given = [member(config, *names) for names in CONSTRAINTS]
    structured = any(item not in (None, "", "text/plain") for item in given)
    path = unquote(path)
    model = found["model"] if (found := _PATH.search(path)) is not None else ""
    calling = object_in(member(object_in(asked.tool_config), *_CALLING))
    reasons = {
        # Only the provider has the model's earlier content.
        "resumption": asked.continuation_token,
        "several_choices": are_several(member(config, "candidateCount", "candidate_count")),
        "logprobs": member(config, "responseLogprobs", "response_logprobs", "logprobs"),
        "audio": holds(member(config, "responseModalities", "response_modalities"), "AUDIO"),
    }
    return RequestFacts(
        model=model,
        stream=path.rstrip("/").endswith(STREAMING),
        max_tokens=tokens,
        tools=bool(declarations(asked.tools)),
        call_forced=str(calling.get("mode")).upper() == "ANY",
        after_tool_result=_holds_result(last),
        structured=structured,
        one_of_words=member(config, *CONSTRAINTS[-1]) == "text/x.enum",
        lower_reasoning=_less_thinking(config, model) is not None,
        include_usage=True,
        left_alone=why_left_alone(reasons, tokens, probe_max_tokens),
        prefill_barred=role_of(last) == "model" or structured,
        begun=begun_in(last),
    )


def _holds_result(row: JsonObject) -> bool:
    keys = {"functionResponse", "function_response"}
    return any(not keys.isdisjoint(object_in(part)) for part in list_in(row.get("parts")))


# --- rows -------------------------------------------------------------------------------------


def said_parts(text: str, content: Content = ()) -> list[Part]:
    """Return the model's content so far, as parts whose joined text is `text`. Signed parts and
    parts other than text stay unchanged; thoughts without a signature are left out.

    >>> said_parts("Hi", ({"text": "Hi there"},))
    [{'text': 'Hi'}]
    """
    kept = [part for part in without_token(content) if is_signed(part) or "thought" not in part]
    return with_text(kept, text) if any(is_text(part) for part in kept) else [*kept, {"text": text}]


def _call(call: ToolCall) -> JsonObject:
    extra: Mapping[str, Any] = call.extra or {}
    return {"functionCall": {**_named(call), "args": object_of(call)}, **extra.get("part", {})}


def _named(call: ToolCall) -> JsonObject:
    """Return the name of a call, and its id if the provider gave one."""
    given: Mapping[str, Any] = (call.extra or {}).get("call", {})  # type: ignore[assignment]
    named = {"id": call.id} if "id" in given else {}
    return {**named, "name": call.name or "unknown"}


# --- members ----------------------------------------------------------------------------------


def _less_thinking(config: JsonObject, model: str) -> tuple[tuple[str, ...], object] | None:
    """Return the path for less thinking and its new value; None: there is none. Models of
    generation 2.5 have a budget, later ones a level, and earlier ones don't think."""
    thinking = object_in(member(config, *_THINKING))
    level, budget = member(thinking, *_THINKING_LEVEL), member(thinking, *_THINKING_TOKENS)
    if isinstance(level, str):
        if (less := LOWER_LEVELS.get(level.lower())) is None:
            return None
        return _THINKING_LEVEL, less if level.islower() else less.upper()
    if type(budget) is int:
        if budget > LEAST_THINKING_TOKENS:
            return _THINKING_TOKENS, max(budget // 2, LEAST_THINKING_TOKENS)
        return (_THINKING_TOKENS, LESS_THINKING_TOKENS) if budget < 0 else None
    if "gemini-2.5" in model:
        return _THINKING_TOKENS, LESS_THINKING_TOKENS
    return (_THINKING_LEVEL, "low") if re.search(r"gemini-[3-9]", model) else None
