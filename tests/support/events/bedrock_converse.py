"""Converse of Bedrock: an event is named by its one member."""

from __future__ import annotations

from collections.abc import Sequence

from support.events.framing import Call, Event

USAGE = {"inputTokens": 1, "outputTokens": 5, "totalTokens": 6}


def events(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> list[Event]:
    """A stream of a text and calls."""
    told: list[Event] = [{"messageStart": {"role": "assistant"}}]
    if text:
        told.append({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}}})
        told.append({"contentBlockStop": {"contentBlockIndex": 0}})
    for index, call in enumerate(calls, int(bool(text))):
        at = {"contentBlockIndex": index}
        head = {"toolUse": {"toolUseId": call.id, "name": call.name}}
        told.append({"contentBlockStart": {**at, "start": head}})
        told += [
            {"contentBlockDelta": {**at, "delta": {"toolUse": {"input": piece}}}}
            for piece in call.pieces
        ]
        told.append({"contentBlockStop": at})
    told.append({"messageStop": {"stopReason": stop or _stop_of(calls)}})
    return [*told, {"metadata": {"usage": USAGE, "metrics": {"latencyMs": 1}}}]


def body(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> Event:
    """A body with a text and calls."""
    content: list[Event] = [{"text": text}] if text else []
    for call in calls:
        head = {"toolUseId": call.id, "name": call.name}
        content.append({"toolUse": head | call.given("input")})
    told: Event = {"output": {"message": {"role": "assistant", "content": content}}}
    told |= {"stopReason": stop or _stop_of(calls)}
    return told | {"usage": USAGE, "metrics": {"latencyMs": 1}}


def _stop_of(calls: Sequence[Call]) -> str:
    return "tool_use" if calls else "end_turn"
