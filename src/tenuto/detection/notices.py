"""Objects that look like an answer of Responses or Interactions, and hold none."""

from __future__ import annotations

from tenuto.wires.json import JsonObject

_PARTS: dict[str, frozenset[str]] = {
    "response": frozenset({"id", "output", "model", "error", "incomplete_details", "created_at"}),
    "interaction": frozenset({"model", "agent", "steps", "outputs", "usage", "errors", "error"}),
}
"""What an answer of that name has at least one of."""


def holds_none(value: JsonObject) -> bool:
    """Return whether an object is a notice about an answer, or uses its name for something else.
    OpenAI's webhooks name the answer's id alone, and not why it ended:
    https://platform.openai.com/docs/api-reference/webhook-events

    >>> holds_none({"object": "event", "type": "response.incomplete", "data": {"id": "resp_1"}})
    True
    >>> holds_none({"type": "response.incomplete", "response": {"id": "resp_1"}})
    False
    """
    kind, told = value.get("object"), value.get("type")
    if kind == "event":
        return True
    if isinstance(kind, str) and kind in _PARTS:
        return _PARTS[kind].isdisjoint(value)
    named = isinstance(told, str) and told.startswith("response.")
    return named and "response" not in value and isinstance(value.get("data"), dict)
