"""What one response says: the right answer, what of it is still unsaid, and what a step does to it.

Theory of operation, in three moves:

1. `Wanted` is the whole right answer of a conversation (a text, calls, or both). It depends on the
   prompt, the tools and the kind of the case alone.
2. What the history holds already is taken off: the text before a request to go on, or the calls
   where a tool result stands last. What remains is what a truthful provider would say now.
3. The step changes that: less of it, broken arguments, another way to go on. Then the client's own
   output budget is applied, truly, with an exact count of tokens.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tenuto.sim import prose
from tenuto.sim.case import (
    AUTO,
    CALL_COUNT,
    Arguments,
    Continuation,
    Cut,
    Ending,
    Kind,
    Say,
    Shape,
    Step,
)
from tenuto.sim.history import text_of

REPLACEMENT: Final = "\ufffd"
_NO_FINISH: Final = {Ending.NO_FINISH, Ending.DROP, Ending.EOF, Ending.CUT_OFF, Ending.RESET}


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; `arguments` is the raw value that goes on the wire."""

    id: str | None
    name: str
    arguments: str | dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The whole right answer."""

    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What one response says, before it is written as bytes."""

    text: str | None
    calls: tuple[Call, ...]
    finish: str | None
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int = 0
    reasoning: str = ""
    refusal: str | None = None
    echo: str = ""
    """The prefill, which bodies of some servers repeat before the text."""
    shape: Shape = Shape.NORMAL


@dataclass(frozen=True, slots=True)
class Settings:
    """The server's properties on which an answer depends."""

    prefill: str = "restart"
    prefill_echo: bool = True
    token_chars: int = 4
    max_output_tokens: int = 16384


def first_prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the first user message, from which all answers are made.

    >>> first_prompt([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}])
    'u'
    """
    return next((text_of(m.get("content")) for m in messages if m.get("role") == "user"), "")


def answers_result(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the text after a tool result is still to be said, or to be ended.

    A hint that follows an empty or a cut answer does not begin another turn.

    >>> ask = {"role": "user", "content": "x"}
    >>> answers_result([ask]), answers_result([ask, {"role": "tool", "content": "ok"}, ask])
    (False, True)
    """
    last = max((i for i, message in enumerate(messages) if message["role"] == "tool"), default=-1)
    whole = prose.prose(first_prompt(messages))
    return last >= 0 and not any(
        message["role"] == "assistant" and text_of(message.get("content")).strip() == whole
        for message in messages[last + 1 :]
    )


def tool_names(body: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return name and schema of each attached function.

    >>> tool_names({"tools": [{"type": "function", "function": {"name": "f"}}]})
    [('f', {})]
    """
    out: list[tuple[str, Mapping[str, Any]]] = []
    for tool in body.get("tools") or ():
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            schema = function.get("parameters")
            out.append((function["name"], schema if isinstance(schema, dict) else {}))
    return out


def full_text(prompt: str, kind: Kind, response_format: Mapping[str, Any] | None = None) -> str:
    """Return the text of the right answer.

    >>> full_text("x", Kind.CALL), full_text("x", Kind.TEXT) == prose.prose("x")
    ('', True)
    """
    format_ = response_format or {}
    if format_.get("type") in ("json_object", "json_schema") and not CALL_COUNT[kind]:
        given = format_.get("json_schema")
        schema = given.get("schema") if isinstance(given, Mapping) else None
        return json.dumps(prose.document(prompt, schema), ensure_ascii=False)
    match kind:
        case Kind.TEXT | Kind.TEXT_CALL:
            return prose.prose(prompt)
        case Kind.CJK:
            return prose.cjk_prose(prompt)
        case Kind.PREFACE_CALL:
            return prose.preface(prompt)
        case Kind.CALL | Kind.CALLS | Kind.NO_ARGUMENTS:
            return ""


def wanted(
    prompt: str,
    kind: Kind,
    tools: Sequence[tuple[str, Mapping[str, Any]]] = (),
    response_format: Mapping[str, Any] | None = None,
    attempt: int = 0,
) -> Wanted:
    """Return the whole right answer; `attempt` only changes the ids of the calls.

    >>> wanted("x", Kind.CALL, [("f", {})]).calls[0].name
    'f'
    """
    calls = []
    for index in range(CALL_COUNT[kind] if tools else 0):
        name, schema = tools[0]
        raw = "{}" if kind is Kind.NO_ARGUMENTS else prose.arguments(prompt, index, schema)
        call_id = "call_" + prose.key_of(prompt, str(attempt), str(index))
        calls.append(Call(call_id, name, raw))
    return Wanted(full_text(prompt, kind, response_format), tuple(calls))


def reply(
    body: Mapping[str, Any],
    step: Step,
    whole: Wanted,
    settings: Settings,
    *,
    results_failed: bool = False,
) -> Reply:
    """Return what this step says to this request.

    `results_failed` says that the tool results at the end of the history answer a broken call, so
    that the call is still wanted.

    >>> ask = {"messages": [{"role": "user", "content": "x"}]}
    >>> reply(ask, Step(), wanted("x", Kind.TEXT), Settings()).text == prose.prose("x")
    True
    """
    messages = body["messages"]
    prompt = first_prompt(messages)
    if answers_result(messages) and not results_failed:
        whole = Wanted(prose.prose(prompt))
    text, echo = _unsaid(messages, whole, step, settings)
    calls = whole.calls
    if step.keep < 1:
        text, calls = _cut(text, step, settings.token_chars), ()
    reply_ = Reply(
        text=text,
        calls=_break(calls, step),
        finish=None,
        prompt_tokens=_count(json.dumps(messages, ensure_ascii=False), settings.token_chars),
        completion_tokens=0,
        echo=echo if settings.prefill_echo else "",
        shape=step.shape,
    )
    reply_ = _instead(reply_, step.say, prompt, settings.token_chars)
    reply_, limited = _limit(reply_, budget_of(body), settings.token_chars)
    truthful = "length" if limited else "tool_calls" if reply_.calls else "stop"
    finish = truthful if step.finish == AUTO else step.finish
    if step.ending in _NO_FINISH:
        finish = None
    prompt_tokens = reply_.prompt_tokens
    if step.context_window_tokens:
        prompt_tokens = step.context_window_tokens - reply_.completion_tokens
    if reply_.calls and not reply_.text:
        reply_ = replace(reply_, text=None)
    return replace(reply_, finish=finish, prompt_tokens=prompt_tokens)


def budget_of(body: Mapping[str, Any]) -> int | None:
    """Return the output budget that the request sets, None where it sets none.

    >>> budget_of({"max_tokens": 5}), budget_of({})
    (5, None)
    """
    value = body.get("max_completion_tokens", body.get("max_tokens"))
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _count(text: str, token_chars: int) -> int:
    return math.ceil(len(text) / token_chars)


def _unsaid(
    messages: Sequence[Mapping[str, Any]], whole: Wanted, step: Step, settings: Settings
) -> tuple[str, str]:
    """Return the text that is still to come, and the prefill that it continues."""
    last = messages[-1]
    if last["role"] == "assistant":
        said = text_of(last.get("content"))
        visible = said.rstrip().removesuffix(REPLACEMENT)
        if settings.prefill != "continue" or not whole.text.startswith(visible):
            return whole.text, ""
        exact = said if whole.text.startswith(said) else visible
        return whole.text[len(exact) :], said
    if last["role"] != "user" or len(messages) < 2 or messages[-2]["role"] != "assistant":
        return whole.text, ""
    said = text_of(messages[-2].get("content")).rstrip().removesuffix(REPLACEMENT)
    proper = len(said) < len(whole.text) or bool(whole.calls)
    if not said or not proper or not whole.text.startswith(said):
        return whole.text, ""
    return _go_on(said, whole.text[len(said) :], step.continuation), ""


def _go_on(said: str, rest: str, style: Continuation) -> str:
    match style:
        case Continuation.EXACT:
            return rest
        case Continuation.OVERLAP:
            words = said.split(" ")
            tail = " ".join(words[-3:])
            return said[-max(len(tail), min(16, len(said))) :] + rest
        case Continuation.RESTART:
            return said + rest
        case Continuation.PREAMBLE:
            return "Sure, here is the rest:\n\n" + said[said.rfind("\n") + 1 :] + rest
        case Continuation.REPEAT:
            return said[said.rfind("\n\n") + 1 :].lstrip()


def _cut(text: str, step: Step, token_chars: int) -> str:
    if not text or step.keep <= 0:
        return ""
    at = int(len(text) * step.keep)
    match step.cut:
        case Cut.TOKEN:
            at -= at % token_chars
        case Cut.MID_WORD:
            at = _next(at, text, lambda i: text[i - 1 : i + 1].isalpha() and i > 1)
        case Cut.AFTER_NEWLINE:
            at = _next(at, text, lambda i: text[i - 1] == "\n")
        case Cut.IN_CHARACTER:
            at = _next(at, text, lambda i: ord(text[i]) > 0xFFFF)
    at = min(max(at, 1), len(text) - 1)
    return text[:at] + (REPLACEMENT if step.cut is Cut.IN_CHARACTER else "")


def _next(at: int, text: str, fits: Any) -> int:
    return next((i for i in range(max(at, 1), len(text)) if fits(i)), max(at, 1))


def _break(calls: tuple[Call, ...], step: Step) -> tuple[Call, ...]:
    out = list(calls)
    if step.arguments is not Arguments.WHOLE and out:
        places = range(len(out))
        chosen = places if step.broken_call is None else places[step.broken_call :][:1]
        for index in chosen:
            raw = _broken(str(out[index].arguments), step.arguments)
            out[index] = replace(out[index], arguments=raw)
    if step.shape is Shape.DUPLICATE_IDS:
        out = [replace(call, id=calls[0].id) for call in out]
    if step.shape is Shape.NO_ID:
        out = [replace(call, id=None) for call in out]
    return tuple(out)


def _broken(raw: str, how: Arguments) -> str | dict[str, Any] | None:
    match how:
        case Arguments.WHOLE:
            return raw
        case Arguments.CUT:  # inside of the last string: the end is not there, the syntax is right
            return raw[: max(1, int(len(raw) * 0.6))]
        case Arguments.MALFORMED:  # whole, and no JSON: a Python literal
            return raw.replace('"', "'", 2).replace('": "', "': '", 1) + ")"
        case Arguments.EMPTY:
            return ""
        case Arguments.NULL:
            return None
        case Arguments.OBJECT:
            decoded: dict[str, Any] = json.loads(raw)
            return decoded
        case Arguments.DOUBLE:
            return json.dumps(raw, ensure_ascii=False)
        case Arguments.ARRAY:
            return json.dumps(list(json.loads(raw).values()), ensure_ascii=False)


def _instead(reply_: Reply, say: Say, prompt: str, token_chars: int) -> Reply:
    thoughts = prose.reasoning(prompt)
    bare = replace(reply_, text="", calls=(), echo="")
    match say:
        case Say.ANSWER:
            return reply_
        case Say.NOTHING:
            return bare
        case Say.WHITESPACE:
            return replace(bare, text="\n\n  ")
        case Say.REASONING:
            tokens = _count(thoughts, token_chars)
            return replace(bare, reasoning=thoughts, reasoning_tokens=tokens)
        case Say.HIDDEN_REASONING:
            return replace(bare, reasoning_tokens=_count(thoughts, token_chars))
        case Say.THINK_CLOSED:
            return replace(bare, text=f"<think>\n{thoughts}\n</think>\n\n")
        case Say.THINK_OPEN:
            return replace(bare, text=f"<think>\n{thoughts[: len(thoughts) * 2 // 3]}")
        case Say.REFUSAL:
            return replace(bare, text=None, refusal="I'm sorry, but I can't help with that.")


def _limit(reply_: Reply, budget: int | None, token_chars: int) -> tuple[Reply, bool]:
    """Apply the output budget; return what is left and whether anything was lost."""
    budget = sys.maxsize if budget is None else budget
    used = reply_.reasoning_tokens
    lost = False
    text = reply_.text or reply_.refusal or ""
    if used + _count(text, token_chars) > budget:
        text = text[: max(0, budget - used) * token_chars]
        lost = True
    used += _count(text, token_chars)
    calls: list[Call] = []
    for call in reply_.calls:
        raw = call.arguments
        size = _count(raw if isinstance(raw, str) else json.dumps(raw), token_chars)
        left = budget - used
        if size > left or lost:
            lost = True
            if isinstance(raw, str) and left > 0:
                calls.append(replace(call, arguments=raw[: left * token_chars]))
                used = budget
            break
        calls.append(call)
        used += size
    if reply_.refusal is not None:
        reply_ = replace(reply_, refusal=text)
    elif reply_.text is not None:
        reply_ = replace(reply_, text=text)
    return replace(reply_, calls=tuple(calls), completion_tokens=used), lost
