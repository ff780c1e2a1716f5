"""What a person can do about an unfinished turn: one sentence for each reason."""

from __future__ import annotations

ADVICE: dict[str, str] = {
    "completed": "",
    "retry_limit": "Raise max_tokens, or let continuation_max_attempts be larger.",
    "budget_exhausted": (
        "Raise max_tokens, or let continuation_max_total_completion_tokens be larger."
    ),
    "output_cap": "Ask for a shorter answer, or let continuation_max_output_chars be larger.",
    "context_window": "Shorten the conversation: the context window is full.",
    "time_limit": (
        "Let turn_timeout_s, the client's timeout, or timeout_s of an agent's Limits be larger."
    ),
    "document_cut": "Raise max_tokens, so that the document is not cut.",
    "document_invalid": "Simplify the schema, or raise max_tokens if the document was cut.",
    "runaway": (
        "Change the prompt: the model repeats itself, or reaches its output limit without adding "
        "anything new."
    ),
    "reasoning_budget": (
        "Reasoning used up the output limit: raise max_tokens, or lower the reasoning effort."
    ),
    "tool_call_truncated": "Raise max_tokens, or ask for smaller tool calls.",
    "tool_call_malformed": "Simplify the tool's parameters, or try another model.",
    "tool_calls_missing": "Try again, or try another model.",
    "text_unfinished": (
        "Raise max_tokens: the text was cut, and the model made its calls without finishing it."
    ),
    "empty_output": "Try again, or say the request in other words.",
    "empty_after_tool_result": "",
    "paused": "Send the conversation again to resume it.",
    "background": "Poll the provider for the response: it says that it is still at work on it.",
    "safety_blocked": "Change the prompt: a content filter of the provider stopped the answer.",
    "refused": "Change the prompt: the model declined to answer.",
    "policy_error": 'Let the policy\'s decide return None, "stop" or the id of a rung.',
    "limit_passed": "Let the limit of the policy that the error names be larger.",
    "provider_error": "Try again later.",
    "end_unknown": (
        "Look at what the provider says. If it never marks the end of a stream, register it with "
        "sends_stop=False."
    ),
    "cancelled": "",
    "unknown_stop": "Look at the provider's own stop value.",
    "left_alone": "",
    "stopped": "",
}
"""The advice for each reason for the turn's end; "" if there is nothing to do."""

FAULT_ADVICE: dict[str, str] = {
    "not_this_api": (
        "Check the base URL, and whether the network wants a log-in: what answers is not this API."
    ),
    "redirected": "Check the base URL: what it names has moved, or wants a log-in.",
    "authentication": "Check the key, and whether it may use this model.",
    "invalid_request": "Fix the request: the provider rejected it, and its message says why.",
    "unknown_key": (
        "Leave out the members of the request that the provider names, or name them in "
        "drop_unsupported of the policy."
    ),
    "prefill_rejected": "Let the request end with a user's message.",
    "output_budget_too_large": "Ask for fewer tokens: the model has a lower limit.",
    "malformed_call": "Try again, or simplify the tool's parameters.",
    "caller": "Look at your own code: a hook or an auth flow raised, or the client was closed.",
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
    of_fault = FAULT_ADVICE.get(fault or "") if reason == "provider_error" else None
    return of_fault or ADVICE.get(reason, "")
