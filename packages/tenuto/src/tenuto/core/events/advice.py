"""What may help after an unfinished turn: one word for a program, and one sentence for a person.
Both are in one row, so that they can't contradict each other."""

from __future__ import annotations

from typing import Literal, NamedTuple

Suggestion = Literal["retry", "modify_prompt", "increase_budget", "stop", "none"]


class Advice(NamedTuple):
    """What may help.

    Attributes:
        suggestion: one word: "retry" (the same request may succeed later), "modify_prompt",
            "increase_budget", "stop" (a person must change something before another request makes
            sense), or "none" if nothing is needed.
        sentence: the same as one sentence; "" if there is nothing to do.
    """

    suggestion: Suggestion
    sentence: str


_RETRY: Suggestion = "retry"
_PROMPT: Suggestion = "modify_prompt"
_BUDGET: Suggestion = "increase_budget"
_STOP: Suggestion = "stop"
_NONE: Suggestion = "none"

ADVICE: dict[str, Advice] = {
    "completed": Advice(_NONE, ""),
    "retry_limit": Advice(_BUDGET, "Raise max_tokens, or let continuation_max_attempts be larger."),
    "budget_exhausted": Advice(
        _BUDGET,
        "Raise max_tokens, or let continuation_max_total_completion_tokens be larger.",
    ),
    "output_cap": Advice(
        _BUDGET, "Ask for a shorter answer, or let continuation_max_output_chars be larger."
    ),
    "context_window": Advice(_PROMPT, "Shorten the conversation: the context window is full."),
    "time_limit": Advice(
        _BUDGET,
        "Let turn_timeout_s, the client's timeout, or timeout_s of an agent's Limits be larger.",
    ),
    "document_cut": Advice(_BUDGET, "Raise max_tokens, so that the document is not cut."),
    "document_invalid": Advice(
        _PROMPT, "Simplify the schema, or raise max_tokens if the document was cut."
    ),
    "runaway": Advice(
        _PROMPT,
        "Change the prompt: the model repeats itself, or reaches its output limit without adding "
        "anything new.",
    ),
    "reasoning_budget": Advice(
        _BUDGET,
        "Reasoning used up the output limit: raise max_tokens, or lower the reasoning effort.",
    ),
    "tool_call_truncated": Advice(_BUDGET, "Raise max_tokens, or ask for smaller tool calls."),
    "tool_call_malformed": Advice(_PROMPT, "Simplify the tool's parameters, or try another model."),
    "tool_calls_missing": Advice(_RETRY, "Try again, or try another model."),
    "text_unfinished": Advice(
        _BUDGET,
        "Raise max_tokens: the text was cut, and the model made its calls without finishing it.",
    ),
    "empty_output": Advice(_RETRY, "Try again, or say the request in other words."),
    "empty_after_tool_result": Advice(_NONE, ""),
    "paused": Advice(_RETRY, "Send the conversation again to resume it."),
    "background": Advice(
        _STOP, "Poll the provider for the response: it says that it is still at work on it."
    ),
    "safety_blocked": Advice(
        _PROMPT, "Change the prompt: a content filter of the provider stopped the answer."
    ),
    "refused": Advice(_PROMPT, "Change the prompt: the model declined to answer."),
    "policy_error": Advice(
        _STOP, 'Let the policy\'s decide return None, "stop" or the id of a rung.'
    ),
    "limit_passed": Advice(_BUDGET, "Let the limit of the policy that the error names be larger."),
    "provider_error": Advice(_RETRY, "Try again later."),
    "end_unknown": Advice(
        _STOP,
        "Look at what the provider says. If it never marks the end of a stream, register it with "
        "sends_stop=False.",
    ),
    "cancelled": Advice(_RETRY, ""),
    "unknown_stop": Advice(_STOP, "Look at the provider's own stop value."),
    "left_alone": Advice(_NONE, ""),
    "stopped": Advice(_STOP, ""),
}
"""The advice for each reason for the turn's end; "" if there is nothing to do."""

FAULT_ADVICE: dict[str, Advice] = {
    "not_this_api": Advice(
        _STOP,
        "Check the base URL, and whether the network wants a log-in: what answers is not this API.",
    ),
    "redirected": Advice(_STOP, "Check the base URL: what it names has moved, or wants a log-in."),
    "authentication": Advice(_STOP, "Check the key, and whether it may use this model."),
    "payment": Advice(_STOP, "Check the account's balance and spending limits at the provider."),
    "cancelled": Advice(
        _STOP, "Look for what cancelled the request, such as a proxy that waits for less time."
    ),
    "invalid_request": Advice(
        _STOP, "Fix the request: the provider rejected it, and its message says why."
    ),
    "unknown_key": Advice(
        _STOP,
        "Leave out the members of the request that the provider names, or name them in "
        "drop_unsupported of the policy.",
    ),
    "prefill_rejected": Advice(_PROMPT, "Let the request end with a user's message."),
    "output_budget_too_large": Advice(_STOP, "Ask for fewer tokens: the model has a lower limit."),
    "malformed_call": Advice(_RETRY, "Try again, or simplify the tool's parameters."),
    "caller": Advice(
        _STOP, "Look at your own code: a hook or an auth flow raised, or the client was closed."
    ),
}
"""The advice for each kind of fault, if the reason is "provider_error" and a retry cannot help."""


def advice_on(reason: str, fault: str | None) -> str:
    """Return one sentence of advice on a turn's end; "" if there is nothing to do.

    Args:
        reason: why the turn ended.
        fault: the kind of the last fault; None if there was none.

    >>> advice_on("provider_error", "overloaded")
    'Try again later.'
    >>> advice_on("provider_error", "authentication")
    'Check the key, and whether it may use this model.'
    """
    return _on(reason, fault).sentence


def suggestion_on(reason: str, fault: str | None) -> Suggestion:
    """Return the same advice as one word; "none" if there is nothing to do.

    >>> suggestion_on("provider_error", "overloaded")
    'retry'
    >>> suggestion_on("provider_error", "authentication")
    'stop'
    """
    return _on(reason, fault).suggestion


def _on(reason: str, fault: str | None) -> Advice:
    of_fault = FAULT_ADVICE.get(fault or "") if reason == "provider_error" else None
    return of_fault or ADVICE.get(reason, _NOTHING)


_NOTHING = Advice(_NONE, "")
