"""Native stop values: those that many providers write on each other's wires, and the look-up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from tenuto.core.answer.signals import StopSeen
from tenuto.core.answer.stop import CLEAN, GRAVITY, StopReason

StopTable = dict[str, tuple[StopReason, str | None]]
"""Native values in lower case, each with its reason and a more precise word for it."""

SHARED_STOPS: StopTable = {
    # OpenAI's own, which gateways write on every wire.
    "stop": (StopReason.END_TURN, None),
    "length": (StopReason.MAX_TOKENS, None),
    "content_filter": (StopReason.SAFETY_BLOCKED, None),
    "tool_calls": (StopReason.TOOL_CALL, None),
    "function_call": (StopReason.TOOL_CALL, None),
    # DeepSeek: the back end ran short of resources.
    "insufficient_system_resource": (StopReason.ERROR, "system_resource"),
    # OpenRouter, Fireworks, vLLM and watsonx: the answer broke off with an error.
    "error": (StopReason.ERROR, None),
    # Together, Hugging Face TGI: the end-of-sequence token.
    "eos": (StopReason.END_TURN, None),
    "eos_token": (StopReason.END_TURN, None),
    "stop_sequence": (StopReason.STOP_SEQUENCE, None),
    # Zhipu / Z.ai.
    "sensitive": (StopReason.SAFETY_BLOCKED, "sensitive"),
    "network_error": (StopReason.ERROR, "network"),
    "model_context_window_exceeded": (StopReason.CONTEXT_WINDOW_EXCEEDED, None),
    # vLLM, SGLang: the request was aborted; the same passage was repeated too often.
    "abort": (StopReason.CANCELLED, None),
    "repetition": (StopReason.ERROR, "repetition"),
    # watsonx.
    "time_limit": (StopReason.ERROR, "time_limit"),
    "cancelled": (StopReason.CANCELLED, None),
    "aborted": (StopReason.CANCELLED, None),
    # The same in American spelling: gateways, and OpenAI's own run steps.
    "canceled": (StopReason.CANCELLED, None),
    # Gateways that translate OpenAI's Responses for the other wires.
    "max_output_tokens": (StopReason.MAX_TOKENS, None),
    "incomplete": (StopReason.MAX_TOKENS, None),
    # Mistral behind a compatible endpoint.
    "model_length": (StopReason.CONTEXT_WINDOW_EXCEEDED, None),
    # Anthropic's, Bedrock's and Cohere's values, passed through by gateways.
    "end_turn": (StopReason.END_TURN, None),
    "max_tokens": (StopReason.MAX_TOKENS, None),
    "tool_use": (StopReason.TOOL_CALL, None),
    "pause_turn": (StopReason.PAUSED, None),
    "refusal": (StopReason.REFUSAL, None),
    "guardrail_intervened": (StopReason.SAFETY_BLOCKED, "guardrail"),
    "content_filtered": (StopReason.SAFETY_BLOCKED, None),
    "malformed_tool_use": (StopReason.MALFORMED_TOOL_CALL, None),
    "malformed_model_output": (StopReason.ERROR, "malformed"),
    "complete": (StopReason.END_TURN, None),
    "tool_call": (StopReason.TOOL_CALL, None),
    "function_calls": (StopReason.TOOL_CALL, None),
    # OpenAI's Responses, whose status gateways write as a stop.
    "completed": (StopReason.END_TURN, None),
    "timeout": (StopReason.ERROR, "time_limit"),
    # Gemini's compatible endpoint and gateways in front of it.
    "safety": (StopReason.SAFETY_BLOCKED, None),
    "recitation": (StopReason.SAFETY_BLOCKED, "recitation"),
    "blocklist": (StopReason.SAFETY_BLOCKED, "blocklist"),
    "prohibited_content": (StopReason.SAFETY_BLOCKED, "prohibited_content"),
    "spii": (StopReason.SAFETY_BLOCKED, "sensitive_pii"),
    "model_armor": (StopReason.SAFETY_BLOCKED, "model_armor"),
    "language": (StopReason.SAFETY_BLOCKED, "language"),
    "malformed_function_call": (StopReason.MALFORMED_TOOL_CALL, None),
    "unexpected_tool_call": (StopReason.MALFORMED_TOOL_CALL, "unexpected"),
    "malformed_response": (StopReason.ERROR, "malformed"),
    "too_many_tool_calls": (StopReason.ERROR, "tool_loop_limit"),
    "missing_thought_signature": (StopReason.ERROR, "history"),
    "no_image": (StopReason.ERROR, "no_image"),
    "image_safety": (StopReason.SAFETY_BLOCKED, None),
    "image_prohibited_content": (StopReason.SAFETY_BLOCKED, "prohibited_content"),
    "image_recitation": (StopReason.SAFETY_BLOCKED, "recitation"),
    # Gateways and smaller vendors: StepFun, LiteLLM, Portkey, Poe.
    "content_violation": (StopReason.SAFETY_BLOCKED, None),
    "content_policy_violation": (StopReason.SAFETY_BLOCKED, None),
    "content_policy": (StopReason.SAFETY_BLOCKED, None),
    "content_blocked": (StopReason.SAFETY_BLOCKED, None),
    "policy_violation": (StopReason.SAFETY_BLOCKED, None),
    "censorship_blocked": (StopReason.SAFETY_BLOCKED, None),
    "censored": (StopReason.SAFETY_BLOCKED, None),
    "moderation": (StopReason.SAFETY_BLOCKED, None),
    "guardrail": (StopReason.SAFETY_BLOCKED, "guardrail"),
    "guardrails": (StopReason.SAFETY_BLOCKED, "guardrail"),
    "guardrail_violation": (StopReason.SAFETY_BLOCKED, "guardrail"),
    "blocked": (StopReason.SAFETY_BLOCKED, None),
    "safety_blocked": (StopReason.SAFETY_BLOCKED, None),
    "escalation": (StopReason.SAFETY_BLOCKED, "escalation"),
    "pup_limited_disabled": (StopReason.SAFETY_BLOCKED, "account_limited"),
    "continuation": (StopReason.PAUSED, "resumable"),
    # Cohere's older ones.
    "error_toxic": (StopReason.SAFETY_BLOCKED, None),
    "error_limit": (StopReason.CONTEXT_WINDOW_EXCEEDED, None),
    "user_cancel": (StopReason.CANCELLED, None),
    # Anthropic (beta): nothing but the summary of the conversation was written.
    "compaction": (StopReason.PAUSED, "compaction"),
    # watsonx: prompt and answer together.
    "token_limit": (StopReason.CONTEXT_WINDOW_EXCEEDED, None),
    # AI21.
    "endoftext": (StopReason.END_TURN, None),
}
"""Values that a host may write on any wire, since gateways pass on those of other wires and of
servers that have none of their own. A new value of any model goes here; `STOPS` of a wire holds
what its own reference lists."""


ReadStop = Callable[[object, str], StopSeen | None]
"""Reads a stop value from the field of that name; None: the value is no stop."""


def stop_reader(own: StopTable) -> ReadStop:
    """Return `look_up` in a wire's own values first, then in those of all others (N2).

    >>> read_stop = stop_reader({"length": (StopReason.PAUSED, None)})
    >>> read_stop("length", "at").reason.value, read_stop("max_tokens", "at").reason.value
    ('paused', 'max_tokens')
    """
    return partial(look_up, table={**SHARED_STOPS, **own})


def clean_stop(done: str, calling: str = "") -> Callable[[Sequence[object]], str]:
    """Return a function that gives the native value of a clean end with these calls, often none.
    `calling`: the value beside calls, if it differs.

    >>> clean_stop("stop", "tool_calls")(["a call"]), clean_stop("stop")(["a call"])
    ('tool_calls', 'stop')
    """
    return lambda calls: (calling if calls else "") or done


_NO_STOP = frozenset({"", "null", "none"})

_enum = re.compile(r"\A\s*(?:finish_?reason|stop_?reason)\.", re.IGNORECASE).sub
"""Removes the class from an enum of an SDK as Python prints it."""

_between_words = re.compile(r"(?<=[a-z])(?=[A-Z])|[ -]+").sub


def snake_case(raw: str) -> str:
    """Return words as the tables have them, however they are joined.

    >>> snake_case("toolUse"), snake_case("tool-calls"), snake_case("MAX TOKENS")
    ('tool_use', 'tool_calls', 'max_tokens')
    """
    return _between_words("_", raw.strip()).lower()


def look_up(raw: object, field: str, table: StopTable) -> StopSeen | None:
    """Return the stop that a native value means; None: it is no stop at all (N1a).

    The match ignores case, surrounding white space, and how words are joined: `tool-calls` and
    `toolCalls` are `tool_calls`, and so is `FinishReason.TOOL_CALLS`. For `function_call_filter:
    MALFORMED_FUNCTION_CALL`, both halves are looked up, and the more severe one counts; a half
    alone proves no clean end.

    >>> table = {"length": (StopReason.MAX_TOKENS, None)}
    >>> look_up(" LENGTH ", "finish_reason", table).reason.value
    'max_tokens'
    >>> look_up("null", "finish_reason", table) is None
    True
    """
    if raw is None:
        return None
    if not isinstance(raw, str):
        name = type(raw).__name__  # its value may be content
        return StopSeen(f"<{name}>", field, StopReason.UNKNOWN, known=False, readable=False)
    if raw.__class__ is not str:
        raw = str.__str__(raw)  # an enum of an SDK: its value (N4)
    word = raw.strip().lower()
    if word in _NO_STOP:
        return None
    known = table.get(word) or table.get(snake_case(_enum("", raw)))
    if known is not None:
        return StopSeen(raw, field, *known)
    halves = [half.strip() for half in word.split(":", 1)]
    found = [row for half in halves if (row := table.get(half)) and row[0] not in CLEAN]
    if found:
        return StopSeen(raw, field, *min(found, key=lambda row: GRAVITY.index(row[0])))
    return StopSeen(raw, field, StopReason.UNKNOWN, known=False)


STOP_NAMES = (
    "finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason",
    "completion_reason", "completionReason",
)  # fmt: skip
"""The names that providers give their stop, the commonest first."""

_CONTENT = frozenset(
    {"content", "text", "arguments", "input", "parameters", "tools", "messages", "prompt"}
)
"""Members that hold what people and models write, and no stop."""

_DEEPEST = 5
"""How far below the top a stop may be."""


def unread_stop(value: object, depth: int = 0) -> str | None:
    """Return a native stop anywhere in an object; None: it has none. An object in which a wire read
    no stop is none of that wire's if it has one under another's name (N14).

    >>> unread_stop({"outputs": [{"text": "Hi", "finish_reason": "length"}]})
    'length'
    >>> unread_stop({"choices": [{"finish_reason": None}]}) is None
    True
    """
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        inner = value
    elif isinstance(value, dict):
        for name in STOP_NAMES:
            if isinstance(stop := value.get(name), str) and stop.strip().lower() not in _NO_STOP:
                return stop
        inner = [item for name, item in value.items() if name not in _CONTENT]
    else:
        return None
    return next((stop for item in inner if (stop := unread_stop(item, depth + 1))), None)
