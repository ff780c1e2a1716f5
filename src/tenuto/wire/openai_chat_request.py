"""The request's side of OpenAI Chat: facts, repairs of the history, edits.

Theory of operation
-------------------
The body is split into its top-level members, and `messages` into its rows, each kept as the bytes
that the caller sent (msgspec.Raw). An edit replaces or appends whole members or rows; whatever no
edit names leaves as it came, so that prompt caches hit and unknown fields survive (C7).

Repairs of a history (H1–H5) follow the rules of reference/wires: every call is answered, directly,
in order, once; nothing else is a tool row; no row is empty; arguments are whole. They depend on the
history alone, so the same history gives the same bytes each time (H5a).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tenuto.core import hints
from tenuto.core.actions import (
    AppendAssistant,
    AppendFailedCalls,
    AppendUser,
    DropConstraint,
    DropKeys,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputBudget,
)
from tenuto.core.arguments import Finding, judge
from tenuto.wire.base import Dialect, JsonObject, RequestFacts
from tenuto.wire.json import encode

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_rows = msgspec.json.Decoder(list[msgspec.Raw])

OUTPUT_KEYS = ("max_completion_tokens", "max_tokens")
"""The keys of the output limit, the one that counts first."""

LEAST_EFFORT = {"xhigh": "low", "high": "low", "medium": "low", "low": "minimal"}
"""`reasoning_effort`: what less means for each value; others cannot be lowered."""


class ChatRequest:
    """A chat request as bytes, with what was read of it (`wire.base.WireRequest`)."""

    def __init__(self, body: bytes, members: dict[str, bytes], facts: RequestFacts) -> None:
        self._body = body
        self._members = members
        self.facts = facts
        rows = [bytes(row) for row in _rows.decode(members["messages"])]
        self._rows, self.repairs = repair_history(rows)

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without any, the caller's own."""
        if not edits and not self.repairs:
            return self._body
        members = dict(self._members)
        rows = list(self._rows)
        dropped: tuple[str, ...] = ()
        for edit in edits:
            match edit:
                case AppendAssistant(text):
                    row = {"role": "assistant", "content": text}
                    rows.append(encode(row | _reasoning(edit.reasoning, dialect)))
                case AppendUser(text):
                    rows.append(encode({"role": "user", "content": text}))
                case AppendFailedCalls():
                    rows.extend(_failed_rows(edit, dialect))
                case SetOutputBudget(tokens):
                    key = next((k for k in OUTPUT_KEYS if k in members), dialect.output_key)
                    members[key] = encode(tokens)
                case LowerReasoning():
                    effort = _value(members.get("reasoning_effort"))
                    members["reasoning_effort"] = encode(LEAST_EFFORT.get(str(effort), "low"))
                case DropConstraint():
                    members.pop("response_format", None)
                case FreeToolChoice():
                    if "tool_choice" in members and _value(members["tool_choice"]) != "none":
                        members["tool_choice"] = b'"auto"'
                case DropKeys(keys):
                    dropped = keys
        for key in dropped:
            members.pop(key, None)
        rows = [_without(row, dropped) for row in rows] if dropped else rows
        members["messages"] = b"[" + b",".join(rows) + b"]"
        return b"{" + b",".join(encode(k) + b":" + v for k, v in members.items()) + b"}"


def parse_request(body: bytes, probe_max_tokens: int = 0) -> ChatRequest | None:
    """A chat request, or None where the bytes are none: they then pass untouched (C7).

    >>> parse_request(b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}').facts.model
    'm'
    >>> parse_request(b"not json") is None
    True
    """
    try:
        members = {key: bytes(raw) for key, raw in _members.decode(body).items()}
        rows = [_value(bytes(raw)) for raw in _rows.decode(members["messages"])]
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, RecursionError):
        return None
    if not rows or not all(isinstance(row, dict) for row in rows):
        return None
    return ChatRequest(body, members, _facts(members, rows[-1], probe_max_tokens))


def _facts(members: dict[str, bytes], last: JsonObject, probe_max_tokens: int) -> RequestFacts:
    max_tokens = next(
        (v for k in OUTPUT_KEYS if isinstance(v := _value(members.get(k)), int) and v > 0), None
    )
    model = _value(members.get("model"))
    form = _value(members.get("response_format"))
    return RequestFacts(
        model=model if isinstance(model, str) else "",
        stream=_value(members.get("stream")) is True,
        max_tokens=max_tokens,
        tools=bool(_value(members.get("tools")) or _value(members.get("functions"))),
        after_tool_result=last.get("role") in ("tool", "function"),
        structured=isinstance(form, dict) and form.get("type") in ("json_object", "json_schema"),
        lower_reasoning=_value(members.get("reasoning_effort")) in LEAST_EFFORT,
        include_usage=_includes_usage(_value(members.get("stream_options"))),
        ends_in_assistant=last.get("role") == "assistant",
        left_alone=_left_alone(members, max_tokens, probe_max_tokens),
    )


def _includes_usage(options: Any) -> bool:
    return isinstance(options, dict) and options.get("include_usage") is True


def _left_alone(members: dict[str, bytes], max_tokens: int | None, probe_max_tokens: int) -> str:
    """Why a request cannot be continued (C28), "" where it can."""
    choices = _value(members.get("n"))
    modalities = _value(members.get("modalities"))
    if isinstance(choices, int) and choices > 1:
        return "several_choices"
    if _value(members.get("logprobs")) or _value(members.get("top_logprobs")):
        return "logprobs"
    if isinstance(modalities, list) and "audio" in modalities:
        return "audio"
    if max_tokens is not None and max_tokens <= probe_max_tokens:
        return "probe"
    return ""


def _value(raw: bytes | None) -> Any:
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None


def _without(row: bytes, keys: Sequence[str]) -> bytes:
    """A row without the keys that an error names as `messages[1].key` or bare."""
    names = {key.rpartition(".")[2] for key in keys} - {"role", "content"}
    value = _value(row)
    if not isinstance(value, dict) or not names & value.keys():
        return row
    return encode({k: v for k, v in value.items() if k not in names})


def _reasoning(text: str, dialect: Dialect) -> dict[str, str]:
    return {dialect.reasoning_key: text} if dialect.reasoning_key and text else {}


def _failed_rows(edit: AppendFailedCalls, dialect: Dialect) -> list[bytes]:
    """The model's calls in a valid form, each with a failed result (T5). Broken arguments are never
    replayed (H4): they stand as an empty object."""
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {
                "name": call.name or "unknown",
                "arguments": call.arguments if call.finding is Finding.WHOLE else "{}",
            },
        }
        for call in edit.calls
    ]
    assistant = {"role": "assistant", "content": edit.text or None, "tool_calls": calls}
    results = zip(edit.calls, edit.results, strict=True)
    return [
        encode(assistant | _reasoning(edit.reasoning, dialect)),
        *(
            encode({"role": "tool", "tool_call_id": call.id, "content": text})
            for call, text in results
        ),
    ]


# --- repairs of the history -------------------------------------------------------------------


def repair_history(rows: list[bytes]) -> tuple[list[bytes], tuple[str, ...]]:
    """Rows that the provider accepts, and what was done, in words; a valid history is returned as
    it came. Repairing twice is repairing once.

    >>> row = b'{"role":"assistant","tool_calls":[{"id":"a","function":{"arguments":"{}"}}]}'
    >>> repair_history([row])[1]
    ('unanswered_call_answered',)
    """
    done: list[str] = []
    values = [_value(row) for row in rows]
    kept: list[tuple[bytes, JsonObject]] = []
    for row, value in zip(rows, values, strict=True):
        if not isinstance(value, dict):  # the provider will say what it thinks of it
            kept.append((row, {}))
            continue
        mended = _mend_row(value, done)
        if mended is not None:
            kept.append((row if mended is value else encode(mended), mended))
    out = _pair_results(kept, done)
    return (out, tuple(dict.fromkeys(done))) if done else (rows, ())


def _mend_row(value: JsonObject, done: list[str]) -> JsonObject | None:
    """One row put right, the same object where nothing was wrong, None where it must go."""
    row = value
    if any(key.startswith("_") for key in row):
        done.append("private_keys_removed")
        row = {k: v for k, v in row.items() if not k.startswith("_")}
    if row.get("role") != "assistant":
        return row
    content = row.get("content")
    if isinstance(content, str) and hints.NOTICE_START in content:
        done.append("notice_removed")
        row = {**row, "content": content.partition(hints.NOTICE_START)[0]}
    if row.get("tool_calls") == []:
        done.append("empty_call_list_removed")
        row = {k: v for k, v in row.items() if k != "tool_calls"}
    calls = row.get("tool_calls")
    if isinstance(calls, list):
        mended = [_mend_call(call, done) for call in calls]
        if any(new is not old for new, old in zip(mended, calls, strict=True)):
            row = {**row, "tool_calls": mended}
    elif not _holds_something(row):
        done.append("empty_row_removed")
        return None
    return row


def _holds_something(row: JsonObject) -> bool:
    content = row.get("content")
    if isinstance(content, str):
        content = content.strip()
    return bool(content or row.get("function_call") or row.get("audio") or row.get("refusal"))


def _mend_call(call: Any, done: list[str]) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(arguments, str):
        return call
    found = judge(arguments)
    text = found.text if found.finding is Finding.WHOLE else "{}"
    if text == arguments:
        return call
    done.append("broken_arguments_replaced")
    return {**call, "function": {**function, "arguments": text}}


def _pair_results(rows: list[tuple[bytes, JsonObject]], done: list[str]) -> list[bytes]:
    """Every call answered directly behind its row, in order, once; no result without a call."""
    results: dict[str, bytes] = {}
    for raw, value in rows:
        call_id = value.get("tool_call_id")
        if value.get("role") == "tool" and isinstance(call_id, str):
            results.setdefault(call_id, raw)
    out: list[bytes] = []
    expected: list[bytes] = []  # the tool rows that should follow, in order
    found: list[bytes] = []  # those that do
    for raw, value in rows:
        if value.get("role") == "tool" and isinstance(value.get("tool_call_id"), str):
            found.append(raw)
            continue
        _settle(expected, found, done, out)
        out.append(raw)
        expected = [
            results.pop(call_id, None) or _stub(call_id)
            for call_id in _call_ids(value)
        ]
        found = []
    _settle(expected, found, done, out)
    return out


def _settle(expected: list[bytes], found: list[bytes], done: list[str], out: list[bytes]) -> None:
    """Write the expected results, and say in words how the found ones differed."""
    out.extend(expected)
    if expected == found:
        return
    if any(row not in found and b'"content":' in row for row in expected):
        done.append("unanswered_call_answered")
    if any(row not in expected for row in found):
        done.append("stray_result_moved_or_removed")
    if sorted(expected) == sorted(found):
        done.append("results_reordered")


def _call_ids(value: JsonObject) -> list[str]:
    calls = value.get("tool_calls")
    if value.get("role") != "assistant" or not isinstance(calls, list):
        return []
    return [c["id"] for c in calls if isinstance(c, dict) and isinstance(c.get("id"), str)]


def _stub(call_id: str) -> bytes:
    return encode({"role": "tool", "tool_call_id": call_id, "content": hints.ORPHAN_RESULT})
