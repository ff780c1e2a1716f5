"""The steps of Gemini's Interactions: the caller's calls, the provider's, and the model's text.

Types follow `google/genai/_gaos/types/interactions` of google-genai 3.4 (`step.py`, `content.py`),
read 2026-11-22."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
"""Endings of step types that the caller doesn't write, except for its own results."""


def kind_of(value: object) -> str:
    """Return the type of a step, of a piece of one, or of a part of its content; "": it has none.

    >>> kind_of({"type": "thought"}), kind_of({"type": 3}), kind_of(None)
    ('thought', '', '')
    """
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def parts_of(step: JsonObject, key: str = "content") -> list[JsonObject]:
    """Return the parts of a step's content, or of another list of parts.

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
    """Return the text of a part; None: it has none."""
    if not isinstance(part, dict) or kind_of(part) not in ("text", ""):
        return None
    text = part.get("text")
    return text if isinstance(text, str) else None


def thought(step: JsonObject) -> str:
    """Return the readable text of a thought. Often only its signature is sent.

    >>> thought({"summary": [{"type": "text", "text": "Add."}], "signature": "gA="})
    'Add.'
    """
    return "".join(text for part in parts_of(step, "summary") if (text := text_in(part)))


def steps_of(value: object) -> list[Any]:
    """Return the steps of an interaction as received, often none. Earlier versions have the outputs
    alone.

    >>> steps_of({"outputs": [{"type": "text", "text": "Hi"}]})
    [{'type': 'model_output', 'content': [{'type': 'text', 'text': 'Hi'}]}]
    """
    if not isinstance(value, dict):
        return []
    if is_earlier(value):
        return [step_of(output) for output in value["outputs"]]
    found = value.get("steps")
    return found if isinstance(found, list) else []


def is_earlier(interaction: Mapping[str, Any]) -> bool:
    """Return whether an interaction has the earlier shape: outputs in the place of steps."""
    return isinstance(interaction.get("outputs"), list) and "steps" not in interaction


def step_of(output: Any) -> Any:
    """Return an output of the earlier shape as a step."""
    kind = kind_of(output)
    if not kind or kind == THOUGHT or kind.endswith(("_call", "_result")):
        return output
    begun = kind == "text" and "text" not in output  # a stream gives its text in deltas
    return {"type": OUTPUT, "content": [] if begun else [output]}


def outputs_of(steps: Iterable[JsonObject]) -> list[JsonObject]:
    """Return steps as outputs of the earlier shape.

    >>> outputs_of([{"type": "model_output", "content": [{"type": "text", "text": "Hi"}]}])
    [{'type': 'text', 'text': 'Hi'}]
    """
    return [
        output
        for step in steps
        for output in (parts_of(step) if kind_of(step) == OUTPUT else [step])
    ]


def answered_in(steps: Iterable[object]) -> frozenset[str]:
    """Return the ids of calls whose results are in the same interaction, so the caller runs none.

    >>> sorted(answered_in([{"type": "function_result", "call_id": "a"}]))
    ['a']
    """
    results = (step for step in steps if isinstance(step, dict) and kind_of(step) == RESULT)
    return frozenset(name for step in results if isinstance(name := step.get("call_id"), str))
