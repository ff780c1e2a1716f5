"""The alert rules for Prometheus: one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from monitoring_panels import UNFINISHED

from tenuto.core.answer.fault import FAULT_CLASSES, FaultKind


@dataclass(frozen=True, slots=True)
class Alert:
    """One rule.

    Attributes:
        name: its name in Prometheus.
        expr: the expression in PromQL, over several lines; it has a value while the rule fires.
        hold: how long it must fire before Prometheus notifies anybody, such as "10m".
        severity: "critical" for what needs a person now, "warning" for the same day.
        summary: what is wrong, in one sentence; Prometheus fills in `{{ }}`.
        advice: what to do.
    """

    name: str
    expr: str
    hold: str
    severity: Literal["critical", "warning"]
    summary: str
    advice: str


_BOTH = "provider, model"


def _sum(metric: str, window: str, by: str, where: str = "") -> str:
    chosen = f"{{{where}}}" if where else ""
    return f"sum by ({by}) (increase({metric}{chosen}[{window}]))"


def _share(
    part: tuple[str, str],
    whole: tuple[str, str],
    window: str,
    above: float,
    *,
    by: str = _BOTH,
    least: int = 20,
) -> str:
    """Return an expression for a share above a bound, if there are enough samples to judge it.

    `part` and `whole` are each a metric and the selector of its series, "" for all of them."""
    (counted, where), (all_of, of) = part, whole
    sums = _sum(all_of, window, by, of)
    return f"{_sum(counted, window, by, where)}\n  / {sums}\n  > {above}\nand {sums} >= {least}"


def _any(metric: str, window: str, by: str) -> str:
    """Return an expression for whether anything was counted.

    It looks for new counters too, because increase() doesn't see a counter's first value."""
    now = f"sum by ({by}) ({metric})"
    new = f"({now}\n  unless {now[:-1]} offset {window}))"
    return f"{_sum(metric, window, by)} > 0\nor {new} > 0"


_OF = "{{ $labels.model }} at {{ $labels.provider }}"
_SHARE = "{{ $value | humanizePercentage }}"
_READ = ("tenuto_turns_total", 'outcome!="unread"')
_ATTEMPTS = ("tenuto_attempts_total", "")
_FAILED = 'outcome="failed",reason!="cancelled"'
_KEYS = f'kind="{FaultKind.AUTHENTICATION}"'
_THEIRS = "|".join(kind for kind, follows in FAULT_CLASSES.items() if follows.retryable)
_OURS = f"{FaultKind.INVALID_REQUEST}|{FaultKind.NOT_THIS_API}|{FaultKind.REDIRECTED}"

ALERTS: tuple[Alert, ...] = (
    Alert(
        name="TenutoTurnsUnfinished",
        expr=_share(("tenuto_turns_total", UNFINISHED), _READ, "15m", 0.05),
        hold="10m",
        severity="warning",
        summary=f"{_SHARE} of the turns of {_OF} end partial or failed.",
        advice=(
            "Look at the panel 'Reasons of unfinished turns'. For output limits, raise max_tokens"
            " in the request, or `continuation_max_attempts` in the policy. For faults, see the"
            " panel 'Faults by kind'. `tenuto explain` shows single turns from captures."
        ),
    ),
    Alert(
        name="TenutoTurnsFailed",
        expr=_share(("tenuto_turns_total", _FAILED), _READ, "15m", 0.2),
        hold="5m",
        severity="critical",
        summary=f"{_SHARE} of the turns of {_OF} fail.",
        advice=(
            "Look at the panel 'Faults by kind', and at the provider's status page. Send the"
            " traffic to another model or provider until the share falls."
        ),
    ),
    Alert(
        name="TenutoTruncatedWithoutContinuation",
        expr=_share(("tenuto_truncation_exits_total", ""), _READ, "30m", 0.01),
        hold="15m",
        severity="warning",
        summary=f"{_SHARE} of the turns of {_OF} are cut off, and no continuation started.",
        advice=(
            "The panel 'Cut turns without a continuation' shows the reasons. Check that"
            " `continuation_max_attempts` is not 0 in the policy, and that"
            " `continuation_max_total_completion_tokens` and `turn_timeout_s`"
            " leave room for a continuation. Where callers want cut answers,"
            " silence this alert for the model."
        ),
    ),
    Alert(
        name="TenutoRecoveryTokens",
        expr=_share(
            ("tenuto_recovery_tokens_total", ""),
            ("tenuto_billed_tokens_total", ""),
            "1h",
            0.25,
            least=10000,
        ),
        hold="30m",
        severity="warning",
        summary=f"{_SHARE} of the tokens of {_OF} are spent on recovery.",
        advice=(
            "The panels 'Recoveries begun' and 'Stops by model' show what is recovered. If the"
            " output limit cuts most answers, raise max_tokens in the request: one long answer"
            " costs less than several parts. To bound the cost, set"
            " `continuation_max_total_completion_tokens` in the policy."
        ),
    ),
    Alert(
        name="TenutoUnknownStop",
        expr=_any("tenuto_unknown_stops_total", "1h", _BOTH),
        hold="0m",
        severity="warning",
        summary=f"{_OF} returned a stop value that Tenuto does not know.",
        advice=(
            "The program's log names the value, in a warning from the logger `tenuto`. Look up the"
            " value in the provider's documentation. Update Tenuto, or report the value if the"
            " newest version does not know it."
        ),
    ),
    Alert(
        name="TenutoStalls",
        expr=_share(("tenuto_stalls_total", ""), _ATTEMPTS, "15m", 0.02),
        hold="10m",
        severity="warning",
        summary=f"{_SHARE} of the attempts of {_OF} stall.",
        advice=(
            "The panel 'Stalls' shows where. Before the head, the provider is slow or overloaded:"
            " compare the panel 'First byte'. Within the body, look for a proxy that buffers or"
            " closes streams. If the model thinks for long in silence, raise the client's timeout."
        ),
    ),
    Alert(
        name="TenutoProviderFaults",
        expr=_share(
            ("tenuto_faults_total", f'kind=~"{_THEIRS}"'), _ATTEMPTS, "10m", 0.1, by="provider"
        ),
        hold="5m",
        severity="critical",
        summary=f"{_SHARE} of the attempts at {{{{ $labels.provider }}}} fail with an error.",
        advice=(
            "The panel 'Faults by kind' shows which errors. If they are rate_limited, lower the"
            " load or raise the quota. For any other kind, see the provider's status page, and use"
            " another provider meanwhile."
        ),
    ),
    Alert(
        name="TenutoRequestsRejected",
        expr=_share(("tenuto_faults_total", f'kind=~"{_OURS}"'), _ATTEMPTS, "10m", 0.05),
        hold="5m",
        severity="warning",
        summary=f"{_SHARE} of the requests to {_OF} are rejected, and a retry would not help.",
        advice=(
            "A change in the calling program or in the provider's API is the likely cause. The"
            " error that the caller gets says what is wrong. For not_this_api and redirected,"
            " check the base URL."
        ),
    ),
    Alert(
        name="TenutoCredentialsRefused",
        expr=_sum("tenuto_faults_total", "10m", "provider", _KEYS) + " > 0",
        hold="5m",
        severity="critical",
        summary="{{ $labels.provider }} refuses the credentials of requests.",
        advice=(
            "Check that the key is the right one for this provider, that it has not expired, and"
            " that the account may use the model. Retries do not help."
        ),
    ),
    Alert(
        name="TenutoHoldBackExceeded",
        expr=_any("tenuto_hold_back_exceeded_total", "1h", _BOTH),
        hold="0m",
        severity="warning",
        summary=f"Streams of {_OF} exceed the limit on bytes that Tenuto holds back.",
        advice=(
            "The panel 'Bytes held back' shows how much other turns hold back. If the machine has"
            " enough memory, raise `hold_max_bytes` in the policy."
        ),
    ),
)
"""The rules, in the order of the file. Operators should adjust the bounds to their traffic."""
