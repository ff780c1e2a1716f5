"""The panels of the Grafana dashboard: one table, in the order in which they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

OWN = 'provider=~"$provider",model=~"$model"'
"""Selects the provider and the model that the user chose in the dashboard."""

UNFINISHED = 'outcome=~"partial|failed",reason!="cancelled"'
"""Turns that ended incomplete, without those that their callers cancelled."""


class Unit(StrEnum):
    """Units, as Grafana calls them."""

    PER_SECOND = "cps"
    TOKENS_PER_SECOND = "suffix: tokens/s"
    COUNT = "short"
    SHARE = "percentunit"
    SECONDS = "s"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class Query:
    """One expression of a panel.

    Attributes:
        expr: the expression in PromQL, with the dashboard's variables.
        legend: what Grafana writes beside each series; `{{label}}` stands for a label.
    """

    expr: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        title: what it shows.
        question: what an operator learns from it, as a question.
        unit: the unit of its values.
        queries: its queries.
        stacked: whether to stack its series, because they add up to a whole.
    """

    title: str
    question: str
    unit: Unit
    queries: tuple[Query, ...]
    stacked: bool = False


def _rate(metric: str, *by: str, where: str = "") -> str:
    chosen = f"{OWN},{where}" if where else OWN
    return f"sum by ({', '.join(by)}) (rate({metric}{{{chosen}}}[$__rate_interval]))"


def _by(metric: str, *by: str, where: str = "") -> tuple[Query, ...]:
    legend = ", ".join(f"{{{{{label}}}}}" for label in by)
    return (Query(_rate(metric, *by, where=where), legend),)


def _share(part: str, whole: str, by: str, where: str = "", of: str = "") -> tuple[Query, ...]:
    expr = f"{_rate(part, by, where=where)} / {_rate(whole, by, where=of)}"
    return (Query(expr, f"{{{{{by}}}}}"),)


def _quantiles(metric: str, *quantiles: float) -> tuple[Query, ...]:
    buckets = _rate(f"{metric}_bucket", "model", "le")
    return tuple(
        Query(f"histogram_quantile({q}, {buckets})", f"{{{{model}}}} p{q * 100:.0f}")
        for q in quantiles
    )


ROWS: dict[str, tuple[Panel, ...]] = {
    "How turns end": (
        Panel(
            "Turns by outcome",
            "How many turns end complete, partial, failed or unread?",
            Unit.PER_SECOND,
            _by("tenuto_turns_total", "outcome"),
            stacked=True,
        ),
        Panel(
            "Share of unfinished turns",
            "Which models' turns end partial or failed, and how often?",
            Unit.SHARE,
            _share(
                "tenuto_turns_total",
                "tenuto_turns_total",
                "model",
                where=UNFINISHED,
                of='outcome!="unread"',
            ),
        ),
        Panel(
            "Reasons of unfinished turns",
            "Why do turns end partial or failed?",
            Unit.PER_SECOND,
            _by("tenuto_turns_total", "outcome", "reason", where=UNFINISHED),
        ),
        Panel(
            "Turns by wire",
            "Which wire formats do callers use?",
            Unit.PER_SECOND,
            _by("tenuto_turns_total", "wire"),
            stacked=True,
        ),
    ),
    "Why attempts stop": (
        Panel(
            "Stops over time",
            "Why do the answers of models end?",
            Unit.PER_SECOND,
            _by("tenuto_attempts_total", "stop"),
            stacked=True,
        ),
        Panel(
            "Stops by model",
            "Which model stops for which reason?",
            Unit.PER_SECOND,
            _by("tenuto_attempts_total", "model", "stop"),
        ),
        Panel(
            "Share of answers cut by the output limit",
            "Whose answers does the output limit cut, and how often?",
            Unit.SHARE,
            _share(
                "tenuto_attempts_total",
                "tenuto_attempts_total",
                "model",
                where='stop="max_tokens"',
            ),
        ),
        Panel(
            "Cut turns without a continuation",
            "Which turns stay cut at the output limit because no continuation began, and why?",
            Unit.PER_SECOND,
            _by("tenuto_truncation_exits_total", "model", "reason"),
        ),
        Panel(
            "Unknown stop values",
            "Which models return stop values that Tenuto does not know?",
            Unit.PER_SECOND,
            _by("tenuto_unknown_stops_total", "provider", "model"),
        ),
    ),
    "Recoveries": (
        Panel(
            "Recoveries begun",
            "What does Tenuto recover?",
            Unit.PER_SECOND,
            _by("tenuto_recoveries_started_total", "kind"),
            stacked=True,
        ),
        Panel(
            "Recoveries ended",
            "Which kinds of recovery succeed, and which give up?",
            Unit.PER_SECOND,
            _by("tenuto_recoveries_ended_total", "kind", "result"),
        ),
        Panel(
            "Requests for the rest of a text",
            "Which models need continuations?",
            Unit.PER_SECOND,
            _by("tenuto_continuations_total", "model"),
        ),
        Panel(
            "Requests of a turn",
            "How many requests does a turn take on average?",
            Unit.COUNT,
            (
                Query(
                    f"{_rate('tenuto_turn_attempts_sum', 'model')}"
                    f" / {_rate('tenuto_turn_attempts_count', 'model')}",
                    "{{model}}",
                ),
            ),
        ),
        Panel(
            "Share of turns with one request",
            "How many turns need no recovery?",
            Unit.SHARE,
            _share(
                "tenuto_turn_attempts_bucket",
                "tenuto_turn_attempts_count",
                "model",
                where='le="1.0"',
            ),
        ),
        Panel(
            "Repairs of tool calls",
            "What is wrong with tool calls, and does Tenuto repair them?",
            Unit.PER_SECOND,
            _by("tenuto_tool_repairs_total", "issue", "outcome"),
        ),
        Panel(
            "Empty answers",
            "In which ways are answers empty?",
            Unit.PER_SECOND,
            _by("tenuto_empty_answers_total", "kind"),
        ),
        Panel(
            "Repairs of histories",
            "What does Tenuto repair in the histories that callers send?",
            Unit.PER_SECOND,
            _by("tenuto_history_repairs_total", "kind"),
        ),
    ),
    "What recoveries cost": (
        Panel(
            "Billed tokens",
            "How many tokens does the provider bill, in and out?",
            Unit.TOKENS_PER_SECOND,
            _by("tenuto_billed_tokens_total", "direction"),
            stacked=True,
        ),
        Panel(
            "Tokens of recoveries",
            "How many tokens do the attempts after the first take, in and out?",
            Unit.TOKENS_PER_SECOND,
            _by("tenuto_recovery_tokens_total", "direction"),
            stacked=True,
        ),
        Panel(
            "Share of tokens spent on recovery",
            "What share of a model's billed tokens goes to recoveries?",
            Unit.SHARE,
            _share("tenuto_recovery_tokens_total", "tenuto_billed_tokens_total", "model"),
        ),
    ),
    "Faults": (
        Panel(
            "Faults by kind",
            "Which errors do providers return, and how do connections fail?",
            Unit.PER_SECOND,
            _by("tenuto_faults_total", "kind"),
            stacked=True,
        ),
        Panel(
            "Faults per attempt",
            "Which provider fails, and how often?",
            Unit.SHARE,
            _share("tenuto_faults_total", "tenuto_attempts_total", "provider"),
        ),
        Panel(
            "Stalls",
            "Where do providers go silent: before the head of a response, or within its body?",
            Unit.PER_SECOND,
            _by("tenuto_stalls_total", "model", "phase"),
        ),
    ),
    "Latency": (
        Panel(
            "First byte",
            "How long does a request wait for the head of its response?",
            Unit.SECONDS,
            _quantiles("tenuto_first_byte_seconds", 0.5, 0.95),
        ),
        Panel(
            "Turns",
            "How long do turns take?",
            Unit.SECONDS,
            _quantiles("tenuto_turn_duration_seconds", 0.5, 0.95),
        ),
        Panel(
            "Continued turns",
            "How long do turns with a continuation take?",
            Unit.SECONDS,
            _quantiles("tenuto_continued_turn_duration_seconds", 0.5, 0.95),
        ),
    ),
    "What was held back": (
        Panel(
            "Bytes held back",
            "How much of a stream does Tenuto hold back at once?",
            Unit.BYTES,
            _quantiles("tenuto_held_back_bytes", 0.5, 0.99),
        ),
        Panel(
            "Attempts over the limit",
            "Where did an attempt end because of `hold_max_bytes`?",
            Unit.PER_SECOND,
            _by("tenuto_hold_back_exceeded_total", "model"),
        ),
    ),
}
"""The rows of the dashboard, with their panels."""
