"""Reasoning settings in requests of Chat Completions (C11).

OpenAI's setting is `reasoning_effort`; other providers have more. Support depends on the model, so
Tenuto lowers only a setting that the request has. If all models of a provider support one, its row
says so (`Dialect.less_reasoning`).
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
    """The reasoning settings of a request, as received."""

    reasoning_effort: Any = None
    reasoning: Any = None
    thinking: Any = None
    enable_thinking: Any = None


OTHERS: dict[str, Any] = {
    "reasoning": {"effort": "low"},  # OpenRouter
    "thinking": {"type": "disabled"},  # DeepSeek, Kimi, Z.ai
    "enable_thinking": False,  # Qwen
}
"""The other settings, each with the value for less."""


def can_reason_less(asked: Knobs, dialect: Dialect) -> bool:
    """Return whether a setting can be lowered.

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
    """Return the members that ask for less, in the setting that the request uses.

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
    """Turn reasoning off in a request with reasoning as its prefill. Removes the effort, which
    DeepSeek refuses beside that.

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
    """Return a value as bytes. An object is merged over the existing one."""
    if isinstance(value, dict) and raw is not None and object_in(value_of(raw)):
        return with_members(raw, {name: encode(item) for name, item in value.items()})
    return encode(value)
