"""What one response contains: the right answer, the part that is still missing, and a step's
changes.

Theory of operation, in three stages:

1. `Wanted` is the whole right answer of a conversation (a text, calls, or both). It depends only on
   the prompt, the tools and the kind of the case.
2. What the history already contains is removed: the text before a request to continue, or the calls
   if a tool result is last. The rest is what a truthful provider would send now.
3. The step changes that: less of it, broken arguments, another way to continue. Then the client's
   output budget is applied, with an exact count of tokens.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tenuto_sim import prose
from tenuto_sim.asked import ANSWER_TOOL, Asked, Row, answers_result, first_prompt
from tenuto_sim.case import (
    AUTO,
    CALL_COUNT,
    CUT_SHORT,
    Arguments,
    Continuation,
    Cut,
    Ending,
    Kind,
    Say,
    Search,
    Shape,
    Step,
)

REPLACEMENT: Final = "\ufffd"
_NO_FINISH: Final = CUT_SHORT | {Ending.NO_FINISH, Ending.COUNT_ALONE}


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; `arguments` is the raw value on the wire."""

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
    """What one response contains, before it is written as bytes."""

    text: str | None
    calls: tuple[Call, ...]
    finish: str | None
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int = 0
    reasoning: str = ""
    reasoning_whole: bool = True
    """Whether the chain of thought is complete, so that a wire that signs has signed it."""
    search: Search = Search.NONE
    compacted: str = ""
    """The content of a summary of the conversation."""
    stop_sequence: str | None = None
    refusal: str | None = None
    echo: str = ""
    """The prefill, which some servers repeat before the text of a body."""
    shape: Shape = Shape.NORMAL
    call_cut: bool = False
    """Whether the output budget cut the arguments of the last call, even if `finish` doesn't say
    so."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The server's settings that affect an answer."""

    prefill: str = "restart"
    prefill_echo: bool = True
    token_chars: int = 4
    max_output_tokens: int = 16384
    prefill_refusal: str = "anthropic"
    """Which server's error text rejects a trailing assistant message on Chat Completions."""


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
    return _TEXTS[kind](prompt) if kind in _TEXTS else ""


_TEXTS: Final[Mapping[Kind, Callable[[str], str]]] = {
    Kind.TEXT: prose.prose,
    Kind.TEXT_CALL: prose.prose,
    Kind.CJK: prose.cjk_prose,
    Kind.PREFACE_CALL: prose.preface,
}
"""The text of an answer besides its calls."""


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
    working = [tool for tool in tools if tool[0] != ANSWER_TOOL]
    for index in range(CALL_COUNT[kind] if working else 0):
        name, schema = working[0]
        raw = "{}" if kind is Kind.NO_ARGUMENTS else prose.arguments(prompt, index, schema)
        call_id = "call_" + prose.key_of(prompt, str(attempt), str(index))
        calls.append(Call(call_id, name, raw))
    return Wanted(full_text(prompt, kind, response_format), tuple(calls))


def due(asked: Asked, whole: Wanted, *, results_failed: bool) -> Wanted:
    """Return the next part of the answer: the answer itself, or the text after its calls' results.

    `results_failed` means that the tool results at the end of the history answer a broken call, so
    the call is still wanted.

    >>> due(Asked("sim", (Row("user", "x"),)), Wanted("y"), results_failed=False).text
    'y'
    """
    if answers_result(asked.rows) and not results_failed:
        return Wanted(prose.prose(first_prompt(asked.rows)))
    return whole


def as_call(answer: Wanted, whole: Wanted, key: str) -> Wanted:
    """Return an answer as a call of `final_answer`; calls of other tools come before it.

    `whole` is the whole right answer. If that has no calls, tool results can only be those of a
    broken call of `final_answer`, so it is still the answer. The id is derived from `key`.

    >>> as_call(Wanted("y"), Wanted("y"), "x").calls[0].arguments
    '{"answer": "y"}'
    """
    if answer.calls:
        return answer
    text = answer.text if whole.calls else whole.text
    given = json.dumps({"answer": text}, ensure_ascii=False)
    return Wanted("", (Call("call_" + prose.key_of(key, ANSWER_TOOL), ANSWER_TOOL, given),))


def reply(
    asked: Asked,
    step: Step,
    whole: Wanted,
    settings: Settings,
) -> Reply:
    """Return this step's response to this request; `whole` is the next part of the answer.

    >>> ask = Asked("sim", (Row("user", "x"),))
    >>> reply(ask, Step(), wanted("x", Kind.TEXT), Settings()).text == prose.prose("x")
    True
    """
    prompt = first_prompt(asked.rows)
    text, echo = _unsaid(asked.rows, whole, step, asked.prefill or settings.prefill)
    calls = whole.calls
    if step.keep < 1:
        calls = _begun(calls, step, settings.token_chars)
        text = _cut(text, step, settings.token_chars)
    reply_ = Reply(
        text=text,
        calls=_break(calls, step),
        finish=None,
        prompt_tokens=tokens(asked.counted, settings.token_chars),
        completion_tokens=0,
        echo=echo if settings.prefill_echo else "",
        shape=step.shape,
        search=step.search,
        stop_sequence=asked.stop_sequences[0] if asked.stop_sequences else None,
    )
    if step.think or asked.thinking:
        reply_ = _think(reply_, prompt, asked, settings.token_chars)
    reply_ = _instead(reply_, step, prompt, settings.token_chars)
    stopped = None
    if step.finish == AUTO and reply_.text:
        reply_, stopped = _stop_at(reply_, asked.stop_sequences)
    reply_, limited = _limit(reply_, asked.budget_tokens, settings.token_chars)
    limited = limited or not reply_.reasoning_whole
    ended = "stop" if stopped is None else "stop_sequence"
    truthful = "length" if limited else "tool_calls" if reply_.calls else ended
    finish = truthful if step.finish == AUTO else step.finish
    if step.ending in _NO_FINISH:
        finish = None
    if step.usage_at_limit and asked.budget_tokens is not None:
        reply_ = replace(reply_, completion_tokens=asked.budget_tokens)
    prompt_tokens = reply_.prompt_tokens
    if step.context_window_tokens:
        prompt_tokens = step.context_window_tokens - reply_.completion_tokens
    if reply_.calls and not reply_.text:
        reply_ = replace(reply_, text=None)
    return replace(reply_, finish=finish, prompt_tokens=prompt_tokens)


def tokens(text: str, token_chars: int) -> int:
    """Return how many tokens a text has: one per `token_chars` characters, rounded up.

    >>> tokens("hello", 4)
    2
    """
    return math.ceil(len(text) / token_chars)


def uncut_tokens(whole: Wanted, token_chars: int) -> int:
    """Return what the whole right answer costs in tokens, without reasoning.

    >>> uncut_tokens(Wanted("hello"), 4)
    2
    """
    texts = [whole.text, *(str(call.arguments) for call in whole.calls)]
    return sum(tokens(text, token_chars) for text in texts)


def _unsaid(rows: Sequence[Row], whole: Wanted, step: Step, prefill: str) -> tuple[str, str]:
    """Return the remaining text, and the prefill that it continues."""
    if not rows:  # the provider stores the whole conversation
        return whole.text, ""
    last = rows[-1]
    if last.role == "assistant":
        said = last.text
        visible = said.rstrip().removesuffix(REPLACEMENT)
        if prefill != "continue" or not whole.text.startswith(visible):
            return whole.text, ""
        exact = said if whole.text.startswith(said) else visible
        return whole.text[len(exact) :], said
    if last.role != "user" or len(rows) < 2 or rows[-2].role != "assistant":
        return whole.text, ""
    said = rows[-2].text.rstrip().removesuffix(REPLACEMENT)
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
    if step.cut is Cut.TOKEN:
        at -= at % token_chars
    else:
        places = range(max(at, 1), len(text))
        at = next((i for i in places if _CUTS[step.cut](text, i)), max(at, 1))
    at = min(max(at, 1), len(text) - 1)
    return text[:at] + (REPLACEMENT if step.cut is Cut.IN_CHARACTER else "")


def _begun(calls: tuple[Call, ...], step: Step, token_chars: int) -> tuple[Call, ...]:
    """Return what a cut leaves of calls: nothing, unless the answer itself comes as a call."""
    cut = (
        replace(call, arguments=_cut(str(call.arguments), step, token_chars))
        for call in calls
        if call.name == ANSWER_TOOL and step.keep > 0
    )
    return tuple(cut)


_CUTS: Final[Mapping[Cut, Callable[[str, int], bool]]] = {
    Cut.MID_WORD: lambda text, at: text[at - 1 : at + 1].isalpha() and at > 1,
    Cut.AFTER_NEWLINE: lambda text, at: text[at - 1] == "\n",
    Cut.IN_CHARACTER: lambda text, at: ord(text[at]) > 0xFFFF,
}
"""Returns whether a text may be cut at an index."""


def _break(calls: tuple[Call, ...], step: Step) -> tuple[Call, ...]:
    out = list(calls)
    if step.arguments is not Arguments.WHOLE and out:
        places = range(len(out))
        chosen = places if step.broken_call is None else places[step.broken_call :][:1]
        for index in chosen:
            broken = _BROKEN[step.arguments](str(out[index].arguments))
            out[index] = replace(out[index], arguments=broken)
    if step.shape is Shape.DUPLICATE_IDS:
        out = [replace(call, id=calls[0].id) for call in out]
    if step.shape is Shape.NO_ID:
        out = [replace(call, id=None) for call in out]
    return tuple(out)


_BROKEN: Final[Mapping[Arguments, Callable[[str], str | dict[str, Any] | None]]] = {
    # Cut inside the last string: the end is missing, and the syntax so far is right.
    Arguments.CUT: lambda raw: raw[: max(1, int(len(raw) * 0.6))],
    # Complete, but a Python literal instead of JSON.
    Arguments.MALFORMED: lambda raw: raw.replace('"', "'", 2).replace('": "', "': '", 1) + ")",
    Arguments.EMPTY: lambda raw: "",
    Arguments.NULL: lambda raw: None,
    Arguments.OBJECT: json.loads,
    Arguments.DOUBLE: lambda raw: json.dumps(raw, ensure_ascii=False),
    Arguments.ARRAY: lambda raw: json.dumps(list(json.loads(raw).values()), ensure_ascii=False),
}
"""How the arguments of a call are changed."""


def _think(reply_: Reply, prompt: str, asked: Asked, token_chars: int) -> Reply:
    thoughts = prose.reasoning(prompt)
    budget = sys.maxsize if asked.budget_tokens is None else asked.budget_tokens
    kept = thoughts[: budget * token_chars]
    return replace(
        reply_,
        reasoning=kept,
        reasoning_tokens=tokens(kept, token_chars),
        reasoning_whole=kept == thoughts,
    )


def _instead(reply_: Reply, step: Step, prompt: str, token_chars: int) -> Reply:
    if step.say is Say.ANSWER:
        return reply_
    thoughts = prose.reasoning(prompt)
    hidden = {"reasoning_tokens": tokens(thoughts, token_chars)}
    shown = hidden | {"reasoning": thoughts, "reasoning_whole": step.finish != "length"}
    said: Mapping[Say, dict[str, Any]] = {
        Say.NOTHING: {},
        Say.WHITESPACE: {"text": "\n\n  "},
        Say.REASONING: shown,
        Say.HIDDEN_REASONING: hidden,
        Say.THINK_CLOSED: {"text": f"<think>\n{thoughts}\n</think>\n\n"},
        Say.THINK_OPEN: {"text": f"<think>\n{thoughts[: len(thoughts) * 2 // 3]}"},
        Say.REFUSAL: {"text": None, "refusal": "I'm sorry, but I can't help with that."},
        Say.COMPACTION: {"compacted": prompt},
    }
    nothing: dict[str, Any] = {"text": "", "calls": (), "echo": "", "reasoning": ""}
    nothing |= {"reasoning_tokens": 0, "reasoning_whole": True}
    return replace(reply_, **nothing | said[step.say])


def _stop_at(reply_: Reply, sequences: Sequence[str]) -> tuple[Reply, str | None]:
    """End the text before the first stop sequence; return the reply, and which sequence or None."""
    text = reply_.text or ""
    found = [(text.find(each), each) for each in sequences if each and each in text]
    if not found:
        return reply_, None
    at, sequence = min(found)
    return replace(reply_, text=text[:at], calls=(), stop_sequence=sequence), sequence


def _limit(reply_: Reply, budget: int | None, token_chars: int) -> tuple[Reply, bool]:
    """Apply the output budget; return the remaining reply, and whether anything was cut."""
    budget = sys.maxsize if budget is None else budget
    used = reply_.reasoning_tokens
    lost = call_cut = False
    text = reply_.text or reply_.refusal or ""
    if used + tokens(text, token_chars) > budget:
        text = text[: max(0, budget - used) * token_chars]
        lost = True
    used += tokens(text, token_chars)
    calls: list[Call] = []
    for call in reply_.calls:
        raw = call.arguments
        size = tokens(raw if isinstance(raw, str) else json.dumps(raw), token_chars)
        left = budget - used
        if size > left or lost:
            lost = True
            if isinstance(raw, str) and left > 0:
                calls.append(replace(call, arguments=raw[: left * token_chars]))
                used, call_cut = budget, True
            break
        calls.append(call)
        used += size
    if reply_.refusal is not None:
        reply_ = replace(reply_, refusal=text)
    elif reply_.text is not None:
        reply_ = replace(reply_, text=text)
    limited = replace(reply_, calls=tuple(calls), completion_tokens=used, call_cut=call_cut)
    return limited, lost
