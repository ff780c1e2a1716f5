"""The knobs by which requests of Chat Completions say how much a model may reason (C11).

OpenAI's own is `reasoning_effort`; others have more of them. Whether a model has one depends on the
model, so that only a request that carries a knob can turn it; where all models of a provider have
it, its row says so (`Dialect.less_reasoning`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tenuto.wires.dialect import Dialect
from tenuto.wires.json import encode
from tenuto.wires.members import object_in, value_of, with_members
from tenuto.wires.request_edits import LESS_EFFORT


class Knobs(msgspec.Struct, kw_only=True):
    """The members of a request that are knobs, as they came."""

    reasoning_effort: Any = None
    reasoning: Any = None
    thinking: Any = None
    enable_thinking: Any = None


OTHERS: dict[str, Any] = {
    "reasoning": {"effort": "low"},  # OpenRouter
    "thinking": {"type": "disabled"},  # DeepSeek, Kimi, Z.ai
    "enable_thinking": False,  # Qwen
}
"""The other knobs, each with the value for less."""


def can_reason_less(asked: Knobs, dialect: Dialect) -> bool:
    """Whether there is a knob that can be turned down.

    >>> can_reason_less(Knobs(reasoning_effort="high"), Dialect())
    True
    >>> can_reason_less(Knobs(thinking={"type": "disabled"}), Dialect())
    False
    """
    if asked.reasoning_effort is not None:
        return asked.reasoning_effort in tuple(LESS_EFFORT)
    used = {key: value for key in OTHERS if (value := getattr(asked, key)) is not None}
    if used:
        return any(value != OTHERS[key] for key, value in used.items())
    return bool(dialect.less_reasoning)


def less_reasoning(members: Mapping[str, bytes], dialect: Dialect) -> dict[str, bytes]:
    """The members by which a request asks for less, in the knob that it uses already.

    >>> less_reasoning({"enable_thinking": b"true"}, Dialect())
    {'enable_thinking': b'false'}
    """
    effort = value_of(members.get("reasoning_effort"))
    if effort is not None:
        return {"reasoning_effort": encode(LESS_EFFORT.get(str(effort), "low"))}
    used = {key: value for key, value in OTHERS.items() if value_of(members.get(key)) is not None}
    less = used or dict(dialect.less_reasoning) or {"reasoning_effort": "low"}
    return {key: encode(value) for key, value in less.items()}


def turn_off_reasoning(members: dict[str, bytes], dialect: Dialect) -> None:
    """Turn reasoning off in a request that carries some as its prefill; how hard to reason is left
    out, which DeepSeek refuses beside that.

    >>> off = (("chat_template_kwargs", {"enable_thinking": False}),)
    >>> asked = {"reasoning_effort": b'"high"', "chat_template_kwargs": b'{"a":1}'}
    >>> turn_off_reasoning(asked, Dialect(reasoning_members=off))
    >>> asked
    {'chat_template_kwargs': b'{"a":1,"enable_thinking":false}'}
    """
    members.pop("reasoning_effort", None)
    members |= {key: encode(value) for key, value in dialect.less_reasoning}
    for key, value in dialect.reasoning_members:
        members[key] = _over(members.get(key), value)


def _over(raw: bytes | None, value: Any) -> bytes:
    """A value as bytes; an object with what stood there besides."""
    if isinstance(value, dict) and raw is not None and object_in(value_of(raw)):
        return with_members(raw, {name: encode(item) for name, item in value.items()})
    return encode(value)
