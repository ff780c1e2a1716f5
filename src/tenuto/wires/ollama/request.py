"""The request's side of Ollama: facts and edits; repairs of a history in `history`, requests
with a prompt instead of messages in `prompt`.

Theory of operation
-------------------
As in `openai_chat.request`: the body is split into its members and rows, each kept as the bytes
that the caller sent, and an edit replaces or appends whole ones. The output limit stands among the
`options`; what a request does not say of `stream` means that it streams.

A body is a request of ours only where it asks the model something: without messages, or without a
prompt, the model is loaded and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tenuto.core.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendUser,
    DropConstraint,
    Edit,
    LowerReasoning,
    SetOutputBudget,
)
from tenuto.wires.base import Dialect, JsonObject, RequestFacts
from tenuto.wires.calls import schemas_in, valid_call
from tenuto.wires.json import UNREADABLE, encode
from tenuto.wires.members import (
    joined,
    list_in,
    listed,
    members_of,
    object_in,
    rows_of,
    value_of,
    with_members,
)
from tenuto.wires.ollama.history import repair_history, result_of
from tenuto.wires.ollama.render import call_of
from tenuto.wires.prompt import Members, PromptRequest
from tenuto.wires.request_reading import limit_in, reader, why_left_alone

CHAT, GENERATE = "/api/chat", "/api/generate"

BUDGET = "num_predict"
"""The option that is the output limit."""


class _Asked(msgspec.Struct):
    """The members that are looked at, in one reading of the body."""

    model: str
    messages: list[JsonObject] = []
    prompt: Any = None
    stream: Any = None
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
    """What less means for a value of `think`; None where it cannot be lowered. Models that can
    think do so unless they are told not to.

    >>> less_thinking("high"), less_thinking(None), less_thinking("low") is None
    ('low', False, True)
    """
    if think is None or think is True:
        return False
    return "low" if think in ("max", "high", "medium") else None


def edited(members: Members, edits: Sequence[Edit], *_: object) -> Members:
    """The members, with the edits that are about none of the conversation."""
    members = dict(members)
    for edit in edits:
        match edit:
            case SetOutputBudget(tokens):
                raw = members.get("options", b"{}")
                options = raw if isinstance(value_of(raw), dict) else b"{}"
                members["options"] = with_members(options, {BUDGET: encode(tokens)})
            case LowerReasoning():
                less = less_thinking(value_of(members.get("think")))
                members["think"] = encode(less or False)
            case DropConstraint():
                members.pop("format", None)
    return members  # no tool can be forced here


class ChatRequest:
    """A request with messages (`wires.base.WireRequest`)."""

    def __init__(self, body: bytes, values: list[JsonObject], facts: RequestFacts) -> None:
        self._body = body
        self.facts = facts
        self.repairs: tuple[str, ...] = ()
        self._members: Members = {}
        self._rows: list[bytes] = []
        # Nothing of a history without answers can need a repair. Half a surrogate pair cannot be
        # split: then this is no request for us.
        halves = b"\\ud" in body or b"\\uD" in body
        if halves or b'"_' in body or any(v.get("role") not in ("user", "system") for v in values):
            self._split()

    def _split(self) -> None:
        """The members and rows as bytes: a request that passes as it came needs none."""
        if not self._members:
            self._members = members_of(self._body)
            self._rows, self.repairs = repair_history(rows_of(self._members["messages"]))

    def tool_parameters(self) -> dict[str, JsonObject]:
        """The JSON Schema of each attached function, by name; {} for one that has none."""
        self._split()
        tools = list_in(value_of(self._members.get("tools")))
        return schemas_in(object_in(tool).get("function") for tool in tools)

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without any, the caller's own."""
        if not edits and not self.repairs:
            return self._body
        self._split()
        members = edited(self._members, edits)
        rows = list(self._rows)
        for edit in edits:
            match edit:
                case AppendAssistant(text):
                    rows.append(encode({"role": "assistant", "content": text}))
                case AppendUser(text):
                    rows.append(encode({"role": "user", "content": text}))
                case AppendContent():
                    raise AssertionError("this wire keeps no content: no rung sends any back")
                case AppendCalls():
                    rows.extend(_failed_rows(edit))
        members["messages"] = listed(rows)
        return joined(members)


def _failed_rows(edit: AppendCalls) -> list[bytes]:
    """The model's calls in a valid form, each with a failed result (T5)."""
    calls = [call_of(valid_call(call)) for call in edit.calls]
    said = {"role": "assistant", "content": edit.text, "tool_calls": calls}
    results = zip(calls, edit.results, strict=True)
    return [encode(said), *(encode(result_of(call, text)) for call, text in results)]


# --- reading ----------------------------------------------------------------------------------


def parse_request(
    body: bytes, probe_max_tokens: int = 0, path: str = CHAT, *_: object
) -> ChatRequest | PromptRequest | None:
    """A request, or None where the bytes are none: they then pass untouched (C7).

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
            return PromptRequest(body, facts, edited, raw=asked.raw is True) if asks else None
        rows = asked.messages
        if not rows:
            return None
        return ChatRequest(body, rows, _facts(asked, probe_max_tokens, rows[-1]))
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
        # The server takes the words of a prompt for those of the user, unless they are raw.
        prefill_barred=last.get("role") == "assistant" or (not last and asked.raw is not True),
        goes_on=not last and asked.raw is True,
    )
