"""The steps of Gemini's Interactions: what the caller runs, what the provider ran, what was said.

Types follow `google/genai/_gaos/types/interactions` of google-genai 3.4 (`step.py`, `content.py`),
read 2026-11-22."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenuto.wires.json import JsonObject

OUTPUT, THOUGHT, CALL, RESULT, INPUT = (
    "model_output",
    "thought",
    "function_call",
    "function_result",
    "user_input",
)

MADE_BY_THE_MODEL = ("_call", "_result", OUTPUT, THOUGHT)
"""How the types of steps end that are none of the caller's words; results of its own aside."""


def kind_of(value: object) -> str:
    """The type of a step, of a piece of one, or of a part of its content; "" where it has none.

    >>> kind_of({"type": "thought"}), kind_of({"type": 3}), kind_of(None)
    ('thought', '', '')
    """
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def parts_of(step: JsonObject, key: str = "content") -> list[JsonObject]:
    """The parts of a step's content, or of another list of parts.

    >>> parts_of({"content": "Hi"}), parts_of({"content": None})
    ([{'type': 'text', 'text': 'Hi'}], [])
    """
    content = step.get(key)
    if isinstance(content, str) and content:
        return [{"type": "text", "text": content}]
    if isinstance(content, dict):
        return [content]
    return [p for p in content if isinstance(p, dict)] if isinstance(content, list) else []


def text_in(part: object) -> str | None:
    """The text of a part, None where it is none."""
    if not isinstance(part, dict) or kind_of(part) not in ("text", ""):
        return None
    text = part.get("text")
    return text if isinstance(text, str) else None


def thought(step: JsonObject) -> str:
    """What can be read of a thought; often only its signature came.

    >>> thought({"summary": [{"type": "text", "text": "Add."}], "signature": "gA="})
    'Add.'
    """
    return "".join(text for part in parts_of(step, "summary") if (text := text_in(part)))


def steps_of(value: object) -> list[Any]:
    """The steps of an interaction, as they came; often none."""
    found = value.get("steps") if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def answered_in(steps: Iterable[object]) -> frozenset[str]:
    """The ids of calls whose results stand in the same interaction: nobody waits for those.

    >>> sorted(answered_in([{"type": "function_result", "call_id": "a"}]))
    ['a']
    """
    results = (step for step in steps if isinstance(step, dict) and kind_of(step) == RESULT)
    return frozenset(name for step in results if isinstance(name := step.get("call_id"), str))
