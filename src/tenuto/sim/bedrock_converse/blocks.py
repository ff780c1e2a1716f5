"""What a reply consists of on this wire: content blocks, its stop, its usage.

Key sets are those of answers recorded in 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.anthropic_messages.seals import signature
from tenuto.sim.case import Shape, Step
from tenuto.sim.reply import Call, Reply

Block = dict[str, Any]

STOPS: Final[Mapping[str, str]] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
}
GUARDRAIL: Final = "guardrail_intervened"
_GUARDED: Final = "Sorry, the model cannot answer this question."


def stop_of(reply: Reply, step: Step) -> str | None:
    """Return the stop reason of a reply in this wire's words.

    >>> stop_of(Reply("Hi.", (), "length", 3, 1), Step())
    'max_tokens'
    """
    finish = reply.finish
    if finish is None:
        return None
    if reply.refusal is not None:
        return "content_filtered"
    if step.context_window_tokens and finish == "length":
        return "model_context_window_exceeded"
    stop = STOPS.get(finish.lower())
    if stop is None:
        return finish
    return stop.upper() if finish.isupper() else stop


def trace(reply: Reply) -> dict[str, Any]:
    """Return what a guardrail says of itself, nothing where none stepped in.

    >>> trace(Reply("Hi.", (), "stop", 3, 1))
    {}
    """
    if reply.finish != GUARDRAIL:
        return {}
    policy = {"topics": [{"name": "harbours", "type": "DENY", "action": "BLOCKED"}]}
    assessed = {"sim0guardrail": [{"topicPolicy": policy}]}
    return {"trace": {"guardrail": {"outputAssessments": assessed, "actionReason": "Blocked."}}}


def usage(reply: Reply) -> dict[str, Any]:
    """Return the usage object.

    >>> usage(Reply("Hi.", (), "stop", 3, 1))
    {'inputTokens': 3, 'outputTokens': 1, 'totalTokens': 4}
    """
    said, asked = reply.completion_tokens, reply.prompt_tokens
    return {"inputTokens": asked, "outputTokens": said, "totalTokens": asked + said}


def blocks(reply: Reply) -> list[Block]:
    """Return the content of a reply; a call's `input` is still what the reply holds: its raw text.

    >>> blocks(Reply("Hi.", (), "stop", 3, 1))
    [{'text': 'Hi.'}]
    """
    out: list[Block] = []
    if reply.reasoning:
        # Cut inside of the thoughts: the provider signs at their end, which never came.
        seal = {"signature": signature(reply.reasoning)} if reply.reasoning_whole else {}
        out.append({"reasoningContent": {"reasoningText": {"text": reply.reasoning} | seal}})
    text = _GUARDED if reply.finish == GUARDRAIL else reply.refusal or reply.text
    if text:
        out.append({"text": text})
    return out + [_call(call, reply.shape) for call in reply.calls]


def _call(call: Call, shape: Shape) -> Block:
    name = {} if shape is Shape.NO_ID else {"toolUseId": call.id}
    return {"toolUse": name | {"name": call.name, "input": call.arguments}}
