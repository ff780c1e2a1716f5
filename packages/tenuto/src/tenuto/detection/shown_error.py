"""How surely an answer's first object is an error of a model's API, and of which kind."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tenuto.core.answer.fault import FAULT_CLASSES, FaultKind
from tenuto.core.answer.stop import Confidence, Stop, StopReason
from tenuto.detection.errors import told_kind
from tenuto.wires.json import JsonObject

_NOT_REPORTED = (
    FaultKind.CONNECTION, FaultKind.TIMEOUT, FaultKind.REDIRECTED, FaultKind.GARBAGE,
)  # fmt: skip
"""Faults that nobody reported: what they are is no guess."""
_KINDS = frozenset(FaultKind)
_RETRIED = frozenset(kind for kind in FaultKind if FAULT_CLASSES[kind].retryable)


@dataclass(slots=True)
class ShownError:
    """What shows that an answer's first object is an error.

    Attributes:
        sure: how surely it is one of a model's API.
        value: the object; None: it is no error, or an exception.
        raised: whether it is an exception, so that nobody may have reported it.
    """

    sure: Confidence = Confidence.HIGH
    value: JsonObject | None = None
    raised: bool = False

    def stop(self, stop: Stop, *, has_wire: bool) -> Stop:
        """Return a stop with the confidence that its error has. In a form that many programs share,
        its kind would be a guess, unless a code tells it that means the same to all of them. Of a
        certain error it is the kind that its code tells, if the wire that happened to read it knows
        no kind, or one by words that say the same of any server.

        `has_wire`: whether it is known which wire the answer is of."""
        if self.sure is Confidence.HIGH:
            if has_wire or stop.detail not in _RETRIED:
                return stop
            kind = self._kind_told(stop)
            return stop if kind is None else _of_kind(stop, kind)
        medium = self.sure is Confidence.MEDIUM
        if self.raised and (medium or stop.detail in _NOT_REPORTED):
            return replace(stop, confidence=self.sure)
        kind = self._kind_told(stop) if medium else None
        return replace(_of_kind(stop, kind), confidence=self.sure)

    def _kind_told(self, stop: Stop) -> FaultKind | None:
        if self.value is None or stop.detail not in _KINDS:
            return None
        return told_kind(self.value, FaultKind(stop.detail))


def _of_kind(stop: Stop, kind: FaultKind | None) -> Stop:
    """Return the stop of an error as one of this kind; None: of none."""
    if kind is None:
        return replace(stop, reason=StopReason.ERROR, detail=None)
    return replace(stop, reason=FAULT_CLASSES[kind].reason, detail=kind.value)
