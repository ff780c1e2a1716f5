"""The writing side of Interactions' streams: what the caller sees where Tenuto had to write.

Theory of operation
-------------------
Steps are numbered in one row, whichever attempt they come from, and one of them is open at a time:
`step.start`, pieces, `step.stop`. The writer follows what begins and ends among the events that are
handed on; their text it need not know, for nothing says it again."""

from __future__ import annotations

from tenuto.core.calls import ToolCall
from tenuto.wires.base import Answer, JsonObject
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
    kind_of,
    parts_of,
    steps_of,
    text_in,
)
from tenuto.wires.json import count, encode_named_event

_DONE = b"event: done\ndata: [DONE]\n\n"

_ANNOTATIONS = "text_annotation_delta"


class InteractionWriter:
    """One interaction as events (`wires.base.Writer`)."""

    def __init__(self, model: str) -> None:
        self._identity: JsonObject = {"id": "", "object": "interaction"}
        self._identity |= {"model": model} if model else {}
        self._ahead: list[JsonObject] = []
        self.begun = False
        self._started = False
        self._next = 0
        self._open: int | None = None
        self._kind = ""
        self._annotated = False
        # Of the attempt that is passed on:
        self._numbers: dict[int | None, int | None] = {}
        self._outputs = 0

    def begin(self, value: JsonObject) -> None:
        """The identity: from the first event, or from a whole body, whose steps that are neither
        text nor calls are said before all else."""
        interaction = value.get("interaction", value)
        if isinstance(interaction, dict) and "id" in interaction:
            self._identity |= identity_of(interaction)
            said = [step for step in steps_of(interaction) if isinstance(step, dict)]
            self._ahead = [s for s in said if kind_of(s) not in (OUTPUT, CALL, INPUT)]
        self.begun = True

    def given(self, value: JsonObject) -> None:
        """Follow what the caller has been given."""
        match value.get("event_type"):
            case "interaction.created":
                self._started = True
            case "step.start":
                index = count(value.get("index"))
                self._begin(self._next if index is None else index, kind_of(value.get("step")))
            case "step.delta":
                self._note(value.get("delta"))
            case "step.stop":
                self._open = None

    def _begin(self, index: int, kind: str) -> None:
        self._started = True
        self._open, self._kind, self._annotated = index, kind, False
        self._next = max(self._next, index + 1)

    def _note(self, delta: object) -> None:
        if kind_of(delta) == _ANNOTATIONS:
            self._annotated = True

    def next_attempt(self, *, apart: bool) -> bytes:
        """Text goes on in the step that is open, unless the attempt stands apart, or the step is no
        plain text."""
        self._numbers, self._outputs = {}, 0
        if self._writes_text and not self._annotated and not apart:
            return b""
        self._outputs = 1
        return self._close()

    @property
    def _writes_text(self) -> bool:
        return self._open is not None and self._kind == OUTPUT

    def text(self, text: str) -> bytes:
        """A piece of text, in a step of the model's output."""
        return self._to_output() + self._delta({"type": "text", "text": text})

    def reasoning(self, text: str) -> bytes:
        """A thought without a signature; where the body that is said had thoughts of its own, they
        say it."""
        if any(kind_of(step) == THOUGHT for step in self._ahead):
            return b""
        return self._whole({"type": THOUGHT, "summary": [{"type": "text", "text": text}]})

    def parts(self, value: JsonObject) -> bool:
        """Another output, or something that the provider ran, behind the text that is open. Calls
        wait for the end, and thoughts are left out there."""
        if not self._writes_text or value.get("event_type") != "step.start":
            return False
        kind = kind_of(value.get("step"))
        return self._outputs > 0 if kind == OUTPUT else kind not in (THOUGHT, CALL, INPUT)

    # --- what else a further attempt says

    def passed(self, value: JsonObject) -> bytes:
        """Steps that are neither text nor calls, under our numbers; thoughts, unless text is open,
        which goes on without them; annotations, images."""
        index, delta = count(value.get("index")), value.get("delta")
        match value.get("event_type"):
            case "step.start" if isinstance(step := value.get("step"), dict):
                return self._pass_step(index, step)
            case "step.delta" if isinstance(delta, dict):
                return self._pass_piece(index, delta)
            case "step.stop" if self._open is not None and self._numbers.get(index) == self._open:
                return self._close()
        return b""

    def _pass_step(self, index: int | None, step: JsonObject) -> bytes:
        kind = kind_of(step)
        self._numbers[index] = None
        if kind in (CALL, INPUT):
            return b""
        if kind == OUTPUT:
            self._outputs += 1
            out = self._close() if self._outputs > 1 else b""
            media = [part for part in parts_of(step) if text_in(part) is None]
            return out + b"".join(self._to_output() + self._delta(part) for part in media)
        if kind == THOUGHT and self._writes_text:
            return b""
        out = self._close() + self._start_step(step)
        self._numbers[index] = self._open
        return out

    def _pass_piece(self, index: int | None, delta: JsonObject) -> bytes:
        kind, number = kind_of(delta), self._numbers.get(index)
        if kind in ("text", "arguments_delta"):
            return b""
        if number is not None:
            return self._delta(delta) if number == self._open else b""
        if kind == _ANNOTATIONS:
            self._annotated = self._annotated or self._writes_text
            return self._delta(delta) if self._writes_text else b""
        if kind in ("image", "audio", "video", "document"):
            return self._to_output() + self._delta(delta)
        return b""

    # --- the end

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """What is open, calls, and the last event, which says the status and the usage."""
        out = [self._close(), *map(self._call, answer.calls)]
        usage = COUNTS.merged(answer.raw_usage, answer.usage)
        told = {**self._identity, **ending_of(answer), **({"usage": usage} if usage else {})}
        out.append(self._event("interaction.completed", interaction=told))
        return b"".join([*out, _DONE])

    def _call(self, call: ToolCall) -> bytes:
        """A call as the provider streams it: its arguments are text, and come behind its name."""
        out = self._start_step({**call_step(call), "arguments": {}})
        piece = {"type": "arguments_delta", "arguments": call.arguments}
        return out + self._delta(piece) + self._close()

    def error(self, code: str, message: str) -> bytes:
        """An error event, as the provider writes its own. The official SDK hands every event out
        and raises on none, whatever it holds."""
        return self._event("error", error=error_object(code, message)) + _DONE

    # --- steps and events

    def _to_output(self) -> bytes:
        return b"" if self._writes_text else self._close() + self._start_step({"type": OUTPUT})

    def _whole(self, step: JsonObject) -> bytes:
        return self._close() + self._start_step(step) + self._close()

    def _start_step(self, step: JsonObject) -> bytes:
        started = self._start()
        self._begin(self._next, kind_of(step))
        return started + self._event("step.start", index=self._open, step=step)

    def _delta(self, delta: JsonObject) -> bytes:
        return self._event("step.delta", index=self._open or 0, delta=delta)

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        index, self._open = self._open, None
        return self._event("step.stop", index=index)

    def _start(self) -> bytes:
        """The event before all others, and the steps of a body that is said as events."""
        if self._started:
            return b""
        self._started = True
        told = {**self._identity, "status": "in_progress"}
        out = [self._event("interaction.created", interaction=told)]
        ahead, self._ahead = self._ahead, []
        out += [self._whole(step) for step in ahead]
        return b"".join(out)

    def _event(self, kind: str, **members: object) -> bytes:
        return self._start() + encode_named_event({**members, "event_type": kind}, "event_type")
