"""Every text that an agent's loop adds to a conversation, beside those of `core.hints`."""

from __future__ import annotations

NO_SUCH_TOOL = (
    "Error: this call was not run. There is no tool named {name}. The tools are: {known}."
)
"""The failed result for a call of an unknown tool; {known} may be NO_TOOLS."""

NO_TOOLS = "(none)"

CALL_UNFIT_RESULT = (
    "Error: this call was not run. Its arguments do not fit the parameters of {name}:\n{faults}"
)
"""The failed result for arguments that break the tool's schema; {faults} has a line for each."""

CALL_UNCHECKED_RESULT = (
    "Error: this call was not run. The parameters of {name} cannot be checked: {why}"
)
"""The failed result if the schema that came with a tool is not a valid schema."""

TOOL_TIMED_OUT = "Error: {name} did not end within {timeout_s:g} s and was given up."
TOOL_GOES_ON = " It may still be at work, so what it was to do may yet be done."
"""After TOOL_TIMED_OUT, if the work cannot be stopped."""

TOOL_GAVE_NO_VALUE = (
    "Error: {name} gave a {kind} in place of a value, so what it was to do may not be done. "
    "Allowed are values: texts, numbers, and lists or dicts of them."
)
"""The failed result of a function that returns a generator or another iterator, or a value with one
inside."""

NO_TIME_LEFT = "Error: this call was not run, because the time for this turn is over."

LEFT_OUT = "\n[… {left_out_chars:,} of {chars:,} characters left out here …]\n"
"""Replaces the part of a tool's result that is beyond the limit."""

CALL_NOT_RUN = "Error: this call was not run; the conversation was interrupted before its turn."
CALL_UNSURE = (
    "Error: the conversation was interrupted while this call was running. It may or may not have "
    "done its work: find out before you make it again."
)
CALL_AGAIN = (
    "Error: the conversation was interrupted while this call was running, and its result is lost. "
    "To make it again does no harm."
)
"""What happened to a call of the agent that has no result, by whether it began, and whether its
tool may run again."""

REPEATED_CALL = (
    "[Times in a row that the same call came to the same result: {times}. Calling it again will "
    "not change that: do something else, or say what stands in the way.]"
)
"""Added to a result that keeps coming back the same (P8a)."""

SUMMARIZE = (
    "You keep the record of a conversation between a user and an assistant that works with tools. "
    "Write down what whoever goes on with it must know: what the user wants, what was decided and "
    "why, what was done (files, names, values as they were), what failed, and what is still to be "
    "done. Write nothing that was not said, and nothing but the record."
)
"""The instruction to a model that summarizes a conversation (H7)."""

SUMMARY = "[The conversation before this was shortened. Its record:\n\n{summary}]"
NO_SUMMARY = "[What was said before this was left out: the conversation had become too long.]"
SUMMARY_READ = "(The record was read.)"
"""Stands in a conversation for the part that was left out."""
