"""Presets: the settings for programs of one kind, as one table.

`Policy.for_chat()`, `for_agents()` and `for_batch()`, the key `preset` of a file, and pages of the
documentation are made from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Choice(NamedTuple):
    """One setting of a preset.

    Attributes:
        value: the value instead of the default.
        why: the reason, as one sentence.
    """

    value: object
    why: str


class Preset(NamedTuple):
    """One preset.

    Attributes:
        about: which programs it is for, as one sentence.
        choices: the settings that differ from the defaults.
    """

    about: str
    choices: dict[str, Choice]


PRESETS: dict[str, Preset] = {
    "chat": Preset(
        "A person waits and reads along.",
        {
            "on_incomplete": Choice(
                "notice", "A person reads the text and does not see the stop reason."
            ),
            "continuation_max_attempts": Choice(
                2, "A person who wants more can ask the model to continue."
            ),
            "fault_retries": Choice(
                1, "A person can send the message again, and wants to know early."
            ),
            "turn_timeout_s": Choice(
                60.0, "After another minute, a partial answer is better than more waiting."
            ),
            "backoff_max_s": Choice(4.0, "A longer silence looks like a program that hangs."),
            "retry_after_max_s": Choice(
                15.0, "For a longer wait, the program gets the error with its Retry-After to show."
            ),
        },
    ),
    "agents": Preset(
        "A loop runs tools and acts on what the model writes.",
        {
            "on_incomplete": Choice(
                "error",
                "Some frameworks, such as agno and openai-agents, have no place for a stop reason, "
                "and take an unfinished turn for a complete one unless it raises.",
            ),
            "tool_answer_attempts": Choice(
                3, "A call that stays broken ends the task; another attempt costs one request."
            ),
            "empty_retries": Choice(2, "A loop takes an empty answer for the end of its task."),
            "missing_call_retries": Choice(
                2, "A loop also ends if a call was announced and never made."
            ),
        },
    ),
    "batch": Preset(
        "Nobody waits, and a program counts the failures.",
        {
            "on_incomplete": Choice(
                "error", "A program can count errors, and run those requests again."
            ),
            "continuation_max_attempts": Choice(
                6, "A whole answer is worth more than a quick one."
            ),
            "continuation_max_total_completion_tokens": Choice(
                0,
                "Four times the request's limit would end the turn before six continuations do.",
            ),
            "empty_retries": Choice(2, "Running the whole request again costs more."),
            "fault_retries": Choice(6, "An overload passes, and nobody is waiting."),
            "turn_timeout_s": Choice(3_600.0, "Nobody waits for the answer."),
            "backoff_s": Choice(2.0, "Many requests at once make an overload worse."),
            "backoff_max_s": Choice(60.0, "Rate limits count by the minute."),
            "retry_after_max_s": Choice(
                900.0, "Waiting as long as the provider says costs less than a failed request."
            ),
        },
    ),
}
"""The presets by name, each with the settings that differ from the defaults."""


def values_of(name: str) -> dict[str, Any]:
    """Return the settings of a preset. Raises KeyError if there is none of that name.

    >>> values_of("agents")["on_incomplete"]
    'error'
    """
    return {key: choice.value for key, choice in PRESETS[name].choices.items()}
