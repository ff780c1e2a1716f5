"""Requests of Ollama: facts and edits. Repairs are in `history`, and requests with a prompt instead
of messages in `prompt`.

Theory of operation
-------------------
See `request_edits`. The output limit is one of the `options`. A request without `stream` streams.

Only a body that asks the model something counts as a request: without messages or a prompt, the
server only loads the model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import msgspec

from tenuto.core.deciding.actions import AppendAssistant, AppendCalls
from tenuto.wires.calls import schemas_in, valid_call
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import UNREADABLE, JsonObject, encode
from tenuto.wires.members import list_in, object_in, value_of
from tenuto.wires.ollama.history import RULES, result_of
from tenuto.wires.ollama.render import call_of
from tenuto.wires.prompt import PromptRequest
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import EditableRequest, Paths
from tenuto.wires.request_reading import begun_in, limit_in, reader, why_left_alone

CHAT, GENERATE = "/api/chat", "/api/generate"

BUDGET = "num_predict"
"""The option for the output limit."""


class _Asked(msgspec.Struct):
    """The members that Tenuto reads, in one pass over the body."""

    model: str
    messages: list[JsonObject] = []
    prompt: Any = None
    stream: bool | None = None
    options: Any = None
    tools: Any = None
    format: Any = None
    think: Any = None
    logprobs: Any = None
    top_logprobs: Any = None
    suffix: Any = None
    raw: Any = None


_read = reader(_Asked)


def less_thinking(think: Any) -> str | bool | None:
    """Return a lower value for `think`; None: it can't be lowered. Models that can think do so
    unless they are told not to.

    >>> less_thinking("high"), less_thinking(None), less_thinking("low") is None
    ('low', False, True)
    """
    if think is None or think is True:
        return False
    return "low" if think in ("max", "high", "medium") else None


class _Knobs(EditableRequest):
    """Edits that all requests share. No tool can be forced."""

    paths: ClassVar[Paths] = Paths(
        "messages", (("options",), (BUDGET,)), [(("format",),)], [(("tools",),)]
    )

    def lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        less = less_thinking(value_of(members.get("think")))
        members["think"] = encode(less or False)


class GenerateRequest(PromptRequest, _Knobs):
    """A request with a prompt (`wires.request.WireRequest`)."""

    paths: ClassVar[Paths] = replace(_Knobs.paths, rows="prompt")


class ChatRequest(_Knobs):
    """A request with messages (`wires.request.WireRequest`)."""

    paths: ClassVar[Paths] = replace(_Knobs.paths, joined_anew=True)

    def assistant_rows(self, edit: AppendAssistant, dialect: Dialect) -> list[JsonObject]:
        row = {"role": "assistant", "content": edit.text}
        return [row if edit.prefill else row | _thinking(edit, dialect)]

    def call_rows(self, edit: AppendCalls, dialect: Dialect) -> list[JsonObject]:
        calls = [call_of(valid_call(call)) for call in edit.calls]
        said = {"role": "assistant", "content": edit.text} | _thinking(edit, dialect)
        return [said | {"tool_calls": calls}, *map(result_of, calls, edit.results)]

    def tool_schemas(self, tools: Any) -> dict[str, JsonObject]:
        return schemas_in(object_in(tool).get("function") for tool in list_in(tools))


def _thinking(edit: AppendAssistant | AppendCalls, dialect: Dialect) -> JsonObject:
    """Return the model's thinking, which templates write before its text."""
    goes = edit.reasoning and not dialect.refuses_back("thinking")
    return {"thinking": edit.reasoning} if goes else {}


# --- reading ----------------------------------------------------------------------------------


def parse_request(
    body: bytes, probe_max_tokens: int = 0, path: str = CHAT, *_: object
) -> ChatRequest | GenerateRequest | None:
    """Return a request, or None if the bytes are none; they then pass unchanged (C7).

    >>> body = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
    >>> parse_request(body).facts.stream
    True
    >>> parse_request(b'{"model": "m"}') is None
    True
    """
    try:
        asked = _read(body)
        if not asked.model:
            return None
        if path.rstrip("/").endswith(GENERATE):
            asks = isinstance(asked.prompt, str) and asked.prompt.strip()
            facts = _facts(asked, probe_max_tokens, {})
            return GenerateRequest(body, facts, raw=asked.raw is True) if asks else None
        rows = asked.messages
        if not rows:
            return None
        return ChatRequest(body, _facts(asked, probe_max_tokens, rows[-1]), rows, RULES)
    except UNREADABLE:
        return None


def _facts(asked: _Asked, probe_max_tokens: int, last: JsonObject) -> RequestFacts:
    budget = object_in(asked.options).get(BUDGET)
    if type(budget) is float and budget.is_integer():  # the server takes both for the same
        budget = int(budget)
    max_tokens = limit_in(budget)  # below 0: no limit
    reasons = {
        "logprobs": asked.logprobs or asked.top_logprobs,
        "fill_in": asked.suffix,  # the text goes between two others
    }
    return RequestFacts(
        model=asked.model,
        stream=asked.stream is not False,
        max_tokens=max_tokens,
        tools=bool(asked.tools),
        after_tool_result=last.get("role") == "tool",
        structured=bool(asked.format),
        lower_reasoning=less_thinking(asked.think) is not None,
        include_usage=True,
        left_alone=why_left_alone(reasons, max_tokens, probe_max_tokens),
        # The server treats a prompt as the user's text, unless it is raw.
        prefill_barred=last.get("role") == "assistant" or (not last and asked.raw is not True),
        begun=begun_in(last),
        goes_on=not last and asked.raw is True,
    )
