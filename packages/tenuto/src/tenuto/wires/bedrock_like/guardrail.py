"""What a guardrail of Amazon Bedrock reports beside an answer, for any model.

On InvokeModel the report is in a member that Bedrock adds to the model's own answer, so the model's
stop doesn't show it. On Converse the stop shows it, and the trace says why.
https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-invoke-model.html
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.core.answer.signals import Signal, StopSeen
from tenuto.core.answer.stop import StopReason
from tenuto.wires.beside_stop import guardrail_findings, kept_words
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in

GUARDRAIL = "amazon-bedrock-guardrailAction"
"""What a guardrail did, on InvokeModel. The model's stop doesn't show it."""

TRACE = "amazon-bedrock-trace"
"""Why it did so, if the caller asked for a trace."""


def guardrail_signals(value: JsonObject) -> list[Signal]:
    """Return the stop for a guardrail that intervened, if any.

    >>> guardrail_signals({GUARDRAIL: "NONE"})
    []
    """
    if value.get(GUARDRAIL) != "INTERVENED":
        return []
    stop = StopSeen("INTERVENED", GUARDRAIL, StopReason.SAFETY_BLOCKED, "guardrail", explains=True)
    return [replace(stop, beside=trace_words(value.get(TRACE)))]


def trace_words(trace: object) -> tuple[tuple[str, str], ...]:
    """Return what a trace reports about a guardrail that intervened; (): none did. On InvokeModel
    the members have other names, and those of the answers are a list.

    >>> found = {"gr-1": [{"wordPolicy": {"customWords": [{"match": "x", "action": "BLOCKED"}]}}]}
    >>> trace_words({"guardrail": {"outputAssessments": found}})
    (('guardrail_output', 'customWords=BLOCKED'),)
    """
    told = object_in(object_in(trace).get("guardrail"))
    if not told:
        return ()
    outputs = (told.get("outputAssessments"), *list_in(told.get("outputs")))
    found = {
        "guardrail_input": guardrail_findings(told.get("inputAssessment"), told.get("input")),
        "guardrail_output": guardrail_findings(*outputs),
    }
    return kept_words(found) and kept_words({**found, "action_reason": told.get("actionReason")})
