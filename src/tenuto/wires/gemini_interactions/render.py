"""The writing side of Interactions' streams: what the caller sees where Tenuto had to write.

Theory of operation
-------------------
Steps are numbered in one row, whichever attempt they come from, and one of them is open at a time:
`step.start`, pieces, `step.stop`. The layout follows what begins and ends among the events that are
handed on; their text it need not know, for nothing says it again."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.calls import ToolCall
from tenuto.core.parts import (
    AnySignal,
    CallPiece,
    Kind,
    Opened,
    PartClosed,
    Piece,
    Place,
    Restated,
)
from tenuto.core.signals import Began
from tenuto.wires.base import Answer, FlatLayout, JsonObject
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
from tenuto.wires.json import encode_named_event

_DONE = b"event: done\ndata: [DONE]\n\n"


class InteractionLayout(FlatLayout):
    """How one interaction is written as events (`wires.base.FlatLayout`)."""

    def __init__(self, model: str) -> None:
        self._identity: JsonObject = {"id": "", "object": "interaction"}
        self._identity |= {"model": model} if model else {}
        self._ahead: list[JsonObject] = []
        self._started = False
        self._next = 0
        self._open: int | None = None
        self._kind = ""
        self._annotated = False
        # Of the attempt that is passed on:
        self._numbers: dict[Place, int | None] = {}
        self._outputs = 0

    def begin(self, value: JsonObject) -> None:
        """The identity: from the first event, or from a whole body, whose steps that are neither
        text nor calls are said before all else."""
        interaction = value.get("interaction", value)
        if isinstance(interaction, dict) and "id" in interaction:
            self._identity |= identity_of(interaction)
            said = [step for step in steps_of(interaction) if isinstance(step, dict)]
            self._ahead = [s for s in said if kind_of(s) not in (OUTPUT, CALL, INPUT)]

    def given(self, signals: Sequence[AnySignal]) -> None:
        """Follow what the caller has been given."""
        for signal in signals:
            match signal:
                case Began():
                    self._started = True
                case Opened(place, _, native) | Restated(place, _, native):
                    self._begin(place, kind_of(native))
                case CallPiece(place, _, None):
                    self._begin(place, CALL)
                case Piece(_, _, _, _, {"type": "text_annotation_delta"}):
                    self._annotated = True
                case PartClosed():
                    self._open = None

    def _begin(self, place: Place, kind: str) -> None:
        index = place[0] if isinstance(place[0], int) else self._next
        self._started = True
        self._open, self._kind, self._annotated = index, kind, False
        self._next = max(self._next, index + 1)

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

    def said(self, kind: Kind, text: str) -> bytes:
        """Write text in a step of the model's output, or a thought without a signature; where the
        body that is said had thoughts of its own, they say it."""
        if kind is Kind.TEXT:
            return self._to_output() + self._delta({"type": "text", "text": text})
        if any(kind_of(step) == THOUGHT for step in self._ahead):
            return b""
        return self._whole({"type": THOUGHT, "summary": [{"type": "text", "text": text}]})

    def parts(self, signals: Sequence[AnySignal]) -> bool:
        """Return whether another output, or something that the provider ran, stands behind the text
        that is open. Calls wait for the end, and thoughts are left out there."""
        kinds = [signal.kind for signal in signals if isinstance(signal, Opened)]
        further = Kind.OTHER in kinds or (Kind.TEXT in kinds and self._outputs > 0)
        return self._writes_text and further

    # --- what else a further attempt says

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write steps that are neither text nor calls, under our numbers; thoughts, unless text is
        open, which goes on without them; annotations, images."""
        return b"".join(map(self._pass, signals))

    def _pass(self, signal: AnySignal) -> bytes:
        match signal:
            case Opened(place, kind, native):
                return self._pass_step(place, kind, dict(native))
            case CallPiece(place, _, None) | Restated(place):
                self._numbers[place] = None
            case Piece(place, _, _, _, raw) if raw is not None:
                return self._pass_piece(place, dict(raw))
            case PartClosed(place):
                is_open = self._open is not None and self._numbers.get(place) == self._open
                return self._close() if is_open else b""
        return b""

    def _pass_step(self, place: Place, kind: Kind, step: JsonObject) -> bytes:
        self._numbers[place] = None
        if kind is Kind.TEXT:
            self._outputs += 1
            out = self._close() if self._outputs > 1 else b""
            media = [part for part in parts_of(step) if text_in(part) is None]
            return out + b"".join(self._to_output() + self._delta(part) for part in media)
        if kind is Kind.REASONING and self._writes_text:
            return b""
        out = self._close() + self._start_step(step)
        self._numbers[place] = self._open
        return out

    def _pass_piece(self, place: Place, delta: JsonObject) -> bytes:
        kind, number = kind_of(delta), self._numbers.get(place)
        if number is not None:
            return self._delta(delta) if number == self._open else b""
        if kind == "text_annotation_delta":
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
        self._begin((self._next,), kind_of(step))
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
