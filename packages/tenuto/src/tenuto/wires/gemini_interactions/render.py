"""Write Interactions' streams: what the caller sees when Tenuto writes itself."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Kind, Native, Part
from tenuto.wires.answer import Answer
from tenuto.wires.gemini_interactions.body import (
    COUNTS,
    call_step,
    ending_of,
    error_object,
    identity_of,
)
from tenuto.wires.gemini_interactions.steps import (
    CALL,
    INPUT,
    OUTPUT,
    THOUGHT,
    is_earlier,
    kind_of,
    outputs_of,
    steps_of,
)
from tenuto.wires.json import JsonObject, encode_named_event
from tenuto.wires.layout import Layout
from tenuto.wires.members import objects_in

_DONE = b"event: done\ndata: [DONE]\n\n"


class InteractionLayout(Layout):
    """Writes an interaction as events (`wires.layout.Layout`): steps begin, grow by deltas, and
    end."""

    words_begin_text = True
    error_follows_start = True

    _earlier = False  # whether the first event has the earlier shape

    def __init__(self, model: str) -> None:
        self._identity: JsonObject = {"id": "", "object": "interaction"}
        self._identity |= {"model": model} if model else {}

    def begin(self, value: JsonObject) -> None:
        """Take the identity from the first event, or from a whole body, whose steps other than text
        and calls are written first."""
        interaction = value.get("interaction", value)
        self._earlier = value.get("event_type") in EARLIER.values() or is_earlier(value)
        if isinstance(interaction, dict) and "id" in interaction:
            self._identity |= identity_of(interaction)
            said = objects_in(steps_of(interaction))
            self.ahead: Sequence[Native] = [
                step for step in said if kind_of(step) not in (OUTPUT, CALL, INPUT)
            ]

    def goes_on(self, part: Part) -> bool:
        """Return whether text can continue: not after an annotation."""
        deltas = [delta for (delta,) in part.grown.get("deltas", ())]
        return all(kind_of(delta) != "text_annotation_delta" for delta in deltas)

    def native(self, kind: Kind) -> JsonObject:
        """Return an empty step of the model's output."""
        return {"type": OUTPUT}

    def holds(self, native: Native) -> Kind:
        """Return the kind of a step."""
        return Kind.REASONING if kind_of(native) == THOUGHT else Kind.OTHER

    def thought(self, text: str) -> JsonObject:
        """Return a thought. It has no signature, so it can't be sent back to a provider."""
        return {"type": THOUGHT, "summary": [{"type": "text", "text": text}]}

    def start(self) -> bytes:
        """Write the event before all others."""
        told = {**self._identity, "status": "in_progress"}
        return self._event("interaction.created", interaction=told)

    def opened(self, part: Part) -> bytes:
        """Write a `step.start`."""
        if self._earlier:
            (output, *_) = [*outputs_of([dict(part.native)]), {"type": "text"}]
            return self._event("step.start", index=part.place[0], content=output)
        return self._event("step.start", index=part.place[0], step=part.native)

    def said(self, part: Part, text: str) -> bytes:
        """Write a delta of text."""
        return self.passed(part, {"type": "text", "text": text})

    def passed(self, part: Part, raw: Native) -> bytes:
        """Write a delta."""
        return self._event("step.delta", index=part.place[0], delta=raw)

    def closed(self, part: Part, answer: Answer | None = None) -> bytes:
        """Write a `step.stop`."""
        return self._event("step.stop", index=part.place[0])

    def called(self, call: ToolCall, unled: bool) -> JsonObject:
        """Return a step that begins without arguments."""
        return {**call_step(call), "arguments": {}}

    def call(self, part: Part, call: ToolCall) -> bytes:
        """Write a step whose arguments come in one delta."""
        arguments = {"type": "arguments_delta", "arguments": call.arguments}
        if self._earlier:
            arguments = call_step(call)
        return self.opened(part) + self.passed(part, arguments) + self.closed(part)

    def end(self, answer: Answer, items: Sequence[Part], *, include_usage: bool) -> bytes:
        """Write the last event, with the status and the usage, and the end mark."""
        usage = COUNTS.merged(answer.raw_usage, answer.usage)
        told = {**self._identity, **ending_of(answer), **({"usage": usage} if usage else {})}
        return self._event("interaction.completed", interaction=told) + _DONE

    def _event(self, kind: str, **members: object) -> bytes:
        return _event(EARLIER[kind] if self._earlier else kind, **members)

    def error(self, code: str, message: str) -> bytes:
        """Write an error event, as the provider writes its own. The official SDK returns every
        event and raises on none."""
        return _event("error", error=error_object(code, message)) + _DONE


EARLIER = {
    "interaction.created": "interaction.start",
    "step.start": "content.start",
    "step.delta": "content.delta",
    "step.stop": "content.stop",
    "interaction.completed": "interaction.complete",
}
"""The names of events in the earlier shape, which has outputs in the place of steps."""


def _event(kind: str, **members: object) -> bytes:
    return encode_named_event({**members, "event_type": kind}, "event_type")
