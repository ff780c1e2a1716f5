"""Metrics of turns: the instruments, and what is put into them when a turn ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tenuto.core.events.turn import TurnEnded, TurnStarted
from tenuto.telemetry.opentelemetry.conventions import common_attributes, server_attributes

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Histogram, Meter

_LATEST = "gen_ai_latest_experimental"

SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = tuple(4**n for n in range(14))
"""The bounds of histograms that the conventions recommend."""


@dataclass(frozen=True, slots=True)
class Billed:
    """Tokens that the provider counted, of some attempts; None where it counted none of them."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    @classmethod
    def of(cls, ended: TurnEnded, first: int = 0, last: int | None = None) -> Billed:
        """The tokens of a turn's attempts from `first` to before `last`."""
        counted = [usage for usage in ended.usage[first:last] if usage is not None]
        ins = [u.input_tokens for u in counted if u.input_tokens is not None]
        outs = [u.output_tokens for u in counted if u.output_tokens is not None]
        return cls(sum(ins) if ins else None, sum(outs) if outs else None)

    def by_type(self) -> dict[str, int]:
        """What was counted, by `gen_ai.token.type`."""
        both = {"input": self.input_tokens, "output": self.output_tokens}
        return {key: count for key, count in both.items() if count is not None}


@dataclass(slots=True)
class Meters:
    """The instruments, and what is put into them at the end of a turn.

    Attributes:
        meter: what makes them.
        opted: the value of `OTEL_SEMCONV_STABILITY_OPT_IN`.
    """

    meter: Meter
    opted: str
    made: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chosen = {word.strip() for word in self.opted.split(",")}
        both = f"{_LATEST}/dup" in chosen
        if both or _LATEST not in chosen:
            self._histogram("gen_ai.client.operation.duration", "s", SECONDS)
            self._histogram("gen_ai.client.token.usage", "{token}", TOKENS)
        if both or _LATEST in chosen:
            self._histogram("gen_ai.client.inference.duration", "s", SECONDS)
            self._histogram("gen_ai.client.inference.time_to_first_chunk", "s", SECONDS)
            for side in ("input", "output"):
                name = f"gen_ai.client.inference.usage.{side}_tokens"
                self.made[name] = self.meter.create_counter(name, "{token}")
                self._histogram(
                    f"gen_ai.client.inference.operation.{side}_tokens", "{token}", TOKENS
                )
        self.made["tenuto.tokens.billed"] = self.meter.create_counter(
            "tenuto.tokens.billed", "{token}", "Tokens that the provider counted, of all attempts."
        )

    def _histogram(self, name: str, unit: str, bounds: tuple[float, ...]) -> None:
        made: Histogram = self.meter.create_histogram(
            name, unit, explicit_bucket_boundaries_advisory=bounds
        )
        self.made[name] = made

    def turn_ended(
        self,
        started: TurnStarted,
        event: TurnEnded,
        first_chunk_s: float | None,
        failed: str | None,
        within: Context,
        *,
        inherited: bool,
    ) -> None:
        """Count a turn.

        Args:
            started, event: its first and its last event.
            first_chunk_s: seconds until the first piece of a stream came; None for whole bodies.
            failed: the `error.type`; None where there is none.
            within: the context whose span exemplars lead to.
            inherited: whether an instrumentation made the span. It makes the metrics of the
                conventions too, and only our own counter grows.
        """
        common = common_attributes(event, started.wire)
        self._bill(event, common, within)
        if inherited:
            return
        common |= server_attributes(started)
        timed = common | ({"error.type": failed} if failed is not None else {})
        self._record("gen_ai.client.operation.duration", event.duration_s, timed, within)
        self._record("gen_ai.client.inference.duration", event.duration_s, timed, within)
        if first_chunk_s is not None:
            name = "gen_ai.client.inference.time_to_first_chunk"
            self._record(name, first_chunk_s, timed, within)
        billed = Billed.of(event).by_type()
        for side, count in billed.items():
            typed = common | {"gen_ai.token.type": side}
            self._record("gen_ai.client.token.usage", count, typed, within)
            name = f"gen_ai.client.inference.operation.{side}_tokens"
            self._record(name, count, common, within)
        for side in ("input", "output"):  # 0 where nothing was counted, as the conventions want
            counter = self.made.get(f"gen_ai.client.inference.usage.{side}_tokens")
            if counter is not None:
                modality = common | {"gen_ai.token.modality": "unknown"}
                counter.add(billed.get(side, 0), modality, within)

    def _record(
        self, name: str, value: float, attributes: Mapping[str, Any], within: Context
    ) -> None:
        if (histogram := self.made.get(name)) is not None:
            histogram.record(value, attributes, within)

    def _bill(self, event: TurnEnded, common: Mapping[str, Any], within: Context) -> None:
        counter = self.made["tenuto.tokens.billed"]
        for recovery, part in ((False, Billed.of(event, 0, 1)), (True, Billed.of(event, 1))):
            for side, count in part.by_type().items():
                more = {"gen_ai.token.type": side, "tenuto.recovery": recovery}
                counter.add(count, {**common, **more}, within)
