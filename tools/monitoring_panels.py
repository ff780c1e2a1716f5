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


def _counted(
    title: str,
    question: str,
    metric: str,
    *by: str,
    where: str = "",
    unit: Unit = Unit.PER_SECOND,
    stacked: bool = False,
) -> Panel:
    """How often something happens, by labels."""
    legend = ", ".join(f"{{{{{label}}}}}" for label in by)
    return Panel(title, question, unit, (Query(_rate(metric, *by, where=where), legend),), stacked)


def _share(
    title: str, question: str, part: str, whole: str, by: str, where: str = "", of: str = ""
) -> Panel:
    """Which share of one metric another one is, by a label."""
    expr = f"{_rate(part, by, where=where)} / {_rate(whole, by, where=of)}"
    return Panel(title, question, Unit.SHARE, (Query(expr, f"{{{{{by}}}}}"),))


def _quantiles(
    title: str, question: str, metric: str, *quantiles: float, unit: Unit = Unit.SECONDS
) -> Panel:
    """Quantiles of a histogram, by model."""
    buckets = _rate(f"{metric}_bucket", "model", "le")
    queries = tuple(
        Query(f"histogram_quantile({q}, {buckets})", f"{{{{model}}}} p{q * 100:.0f}")
        for q in quantiles
    )
    return Panel(title, question, unit, queries)


ROWS: dict[str, tuple[Panel, ...]] = {
    "How turns end": (
        _counted(
            "Turns by outcome",
            "How many turns end complete, partial, failed or unread?",
            "tenuto_turns_total",
            "outcome",
            stacked=True,
        ),
        _share(
            "Share of unfinished turns",
            "Which models' turns end partial or failed, and how often?",
            "tenuto_turns_total",
            "tenuto_turns_total",
            "model",
            where=UNFINISHED,
            of='outcome!="unread"',
        ),
        _counted(
            "Reasons of unfinished turns",
            "Why do turns end partial or failed?",
            "tenuto_turns_total",
            "outcome",
            "reason",
            where=UNFINISHED,
        ),
        _counted(
            "Turns by wire",
            "Which wire formats do callers use?",
            "tenuto_turns_total",
            "wire",
            stacked=True,
        ),
    ),
    "Why attempts stop": (
        _counted(
            "Stops over time",
            "Why do the answers of models end?",
            "tenuto_attempts_total",
            "stop",
            stacked=True,
        ),
        _counted(
            "Stops by model",
            "Which model stops for which reason?",
            "tenuto_attempts_total",
            "model",
            "stop",
        ),
        _share(
            "Share of answers cut by the output limit",
            "Whose answers does the output limit cut, and how often?",
            "tenuto_attempts_total",
            "tenuto_attempts_total",
            "model",
            where='stop="max_tokens"',
        ),
        _counted(
            "Cut turns without a continuation",
            "Which turns stay cut at the output limit because no continuation began, and why?",
            "tenuto_truncation_exits_total",
            "model",
            "reason",
        ),
        _counted(
            "Unknown stop values",
            "Which models return stop values that Tenuto does not know?",
            "tenuto_unknown_stops_total",
            "provider",
            "model",
        ),
    ),
    "Recoveries": (
        _counted(
            "Recoveries begun",
            "What does Tenuto recover?",
            "tenuto_recoveries_started_total",
            "kind",
            stacked=True,
        ),
        _counted(
            "Recoveries ended",
            "Which kinds of recovery succeed, and which give up?",
            "tenuto_recoveries_ended_total",
            "kind",
            "result",
        ),
        _counted(
            "Requests for the rest of a text",
            "Which models need continuations?",
            "tenuto_continuations_total",
            "model",
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
        _share(
            "Share of turns with one request",
            "How many turns need no recovery?",
            "tenuto_turn_attempts_bucket",
            "tenuto_turn_attempts_count",
            "model",
            where='le="1.0"',
        ),
        _counted(
            "Repairs of tool calls",
            "What is wrong with tool calls, and does Tenuto repair them?",
            "tenuto_tool_repairs_total",
            "issue",
            "outcome",
        ),
        _counted(
            "Empty answers",
            "In which ways are answers empty?",
            "tenuto_empty_answers_total",
            "kind",
        ),
        _counted(
            "Repairs of histories",
            "What does Tenuto repair in the histories that callers send?",
            "tenuto_history_repairs_total",
            "kind",
        ),
    ),
    "What recoveries cost": (
        _counted(
            "Billed tokens",
            "How many tokens does the provider bill, in and out?",
            "tenuto_billed_tokens_total",
            "direction",
            unit=Unit.TOKENS_PER_SECOND,
            stacked=True,
        ),
        _counted(
            "Tokens of recoveries",
            "How many tokens do the attempts after the first take, in and out?",
            "tenuto_recovery_tokens_total",
            "direction",
            unit=Unit.TOKENS_PER_SECOND,
            stacked=True,
        ),
        _share(
            "Share of tokens spent on recovery",
            "What share of a model's billed tokens goes to recoveries?",
            "tenuto_recovery_tokens_total",
            "tenuto_billed_tokens_total",
            "model",
        ),
    ),
    "Faults": (
        _counted(
            "Faults by kind",
            "Which errors do providers return, and how do connections fail?",
            "tenuto_faults_total",
            "kind",
            stacked=True,
        ),
        _share(
            "Faults per attempt",
            "Which provider fails, and how often?",
            "tenuto_faults_total",
            "tenuto_attempts_total",
            "provider",
        ),
        _counted(
            "Stalls",
            "Where do providers go silent: before the head of a response, or within its body?",
            "tenuto_stalls_total",
            "model",
            "phase",
        ),
    ),
    "Latency": (
        _quantiles(
            "First byte",
            "How long does a request wait for the head of its response?",
            "tenuto_first_byte_seconds",
            0.5,
            0.95,
        ),
        _quantiles(
            "Detection",
            "How long does Tenuto take to read a body, or a piece of a stream?",
            "tenuto_detection_seconds",
            0.5,
            0.95,
        ),
        _quantiles(
            "Turns",
            "How long do turns take?",
            "tenuto_turn_duration_seconds",
            0.5,
            0.95,
        ),
        _quantiles(
            "Continued turns",
            "How long do turns with a continuation take?",
            "tenuto_continued_turn_duration_seconds",
            0.5,
            0.95,
        ),
    ),
    "What was held back": (
        _quantiles(
            "Bytes held back",
            "How much of a stream does Tenuto hold back at once?",
            "tenuto_held_back_bytes",
            0.5,
            0.99,
            unit=Unit.BYTES,
        ),
        _counted(
            "Attempts over the limit",
            "Where did an attempt end because of `hold_max_bytes`?",
            "tenuto_hold_back_exceeded_total",
            "model",
        ),
    ),
}
"""The rows of the dashboard, with their panels."""
