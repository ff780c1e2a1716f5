"""Every text that Tenuto adds to a conversation, in one place.

None of these texts enters the caller's history (C7, H6). Each says what happened and what is
wanted, and nothing else.
"""

from __future__ import annotations

import re

CONTINUE = (
    "[Your previous message was cut off by the output limit. Continue exactly where it stopped, "
    "beginning with the very next character. Do not repeat anything that was already written, do "
    "not start over and do not comment on the interruption; finish the answer directly. If you "
    "meant to call a tool, finish the text first, and then make one complete call.]"
)
"""After text that was cut (C9)."""

REST_THEN_CALL = (
    "[Your previous message was cut off within its text, and the tool call that belongs to it did "
    "not arrive and was not run. First continue the text exactly where it stopped, beginning with "
    "the very next character. Do not repeat anything that was already written, do not start over "
    "and do not comment on the interruption. Then make the call again, complete; if there were "
    "several calls, make all of them.]"
)
"""After text that was cut while a tool call is still to come (C24a)."""

CONTINUE_DOCUMENT = (
    "[Your previous message is the beginning of one JSON document, cut off by the output limit. "
    "Continue the document exactly where it stopped, beginning with the very next character, until "
    "it is complete. Write nothing but the rest of the document.]"
)
"""After a structured output that was cut. The output constraint is lifted for the rest."""

DOCUMENT_INVALID = (
    "[Your previous message is not a JSON document that matches the required schema. Write the "
    "whole document again, so that it does, and write nothing else.]"
)
"""After a document that does not match its schema, if the policy asks for it again (C27a)."""

BROKEN_OFF = (
    "[The connection broke while your previous message was being sent, so the message above may "
    "lack its end. If anything is missing, write only that, beginning with the next character. "
    "Do not repeat anything, greet, or comment on the message.]"
)
BROKEN_OFF_DOCUMENT = (
    "[The connection broke while your previous message was being sent, so the JSON document above "
    "lacks its end. Write only what is missing, beginning with the very next character, until the "
    "document is complete.]"
)
"""After text that broke off, if CONTINUE brought nothing new (S3a)."""

CALL_BROKEN_OFF = (
    "[The connection broke while you were making a tool call, and the call was not run. Make the "
    "call again, complete, and write nothing else.]"
)
CALLS_BROKEN_OFF = (
    "[The connection broke while you were making tool calls, and none of them was run. Make all of "
    "them again, complete, and write nothing else.]"
)
"""After an answer that broke off with text and an unfinished call (S3a)."""

REPEAT_CALL = (
    "[Your tool call was cut off by the output limit and was not run. Make the call again, "
    "complete, and write nothing else. If its content is large, make a smaller change or split the "
    "work over several calls.]"
)
"""After a truncated tool call, first rung (T5)."""

REPAIR_CALL = (
    "[Your tool call was not run: its arguments were not a valid JSON object. Make the call again "
    "with valid JSON arguments, and write nothing else.]"
)
"""After a malformed tool call, first rung: wrong syntax is a different finding than a cut (T2)."""

ANSWER_IN_WORDS = (
    "[Your previous message was a tool call, and nothing was run: no tool can be called here. Do "
    "not call any tool. Write the answer for the user now, in plain text.]"
)
"""After a tool call in answer to a request that offers none."""

FILL_CALL = (
    "[Your tool call was not run: its arguments did not arrive. Make the call again with all of "
    "the arguments that the tool requires, and write nothing else.]"
)
"""After a call whose arguments never came (T12a)."""

FILL_CALLS = (
    "[None of your tool calls was run: the arguments of one did not arrive. Make all of them again "
    "with all of the arguments that the tools require, and write nothing else.]"
)

REPEAT_CALLS = (
    "[Your tool calls were cut off by the output limit, and none of them was run. Make all of them "
    "again, complete, and write nothing else. If their content is large, make smaller changes.]"
)
REPAIR_CALLS = (
    "[None of your tool calls was run: the arguments of one were not a valid JSON object. Make all "
    "of them again with valid JSON arguments, and write nothing else.]"
)
"""The same after several calls, one of them broken: the model must make all of them again (T4)."""

CALL_CUT_RESULT = (
    "Error: this call was not run. The output limit cut its arguments off, so they are incomplete. "
    "Try again with a smaller, more targeted change, or split the work over several calls."
)
"""The failed result for a call that was cut, if its tool has no hint of its own (T6)."""

CALL_EMPTY_RESULT = (
    "Error: this call was not run. Its arguments did not arrive. Try again with all of the "
    "arguments that the tool requires."
)

CALL_MALFORMED_RESULT = (
    "Error: this call was not run. Its arguments were not a valid JSON object. Try again with "
    "valid JSON arguments."
)

CALL_WAITS_RESULT = (
    "This call was not run yet, because it waits for the other calls of your message, which did "
    "not arrive. Make only the missing calls now, complete, and write nothing else."
)
"""For the calls of a batch that came again, while others of it did not (T4a)."""

CALL_SKIPPED_RESULT = (
    "Error: this call was not run, because another call of the same message was incomplete. "
    "Make it again if it is still wanted."
)
"""For the complete calls of a batch with one broken call (T4)."""

REASON_LESS = (
    "[Your reasoning used up the whole output limit before any answer was written. Keep the "
    "reasoning short and write the answer now.]"
)
"""After an answer with nothing but reasoning, which the limit cut (C11)."""

ANSWER_NOW = (
    "[Your previous message held no answer. Write the answer for the user now, or call a tool.]"
)
"""After an answer with nothing but reasoning, which was not cut (E4)."""

AFTER_TOOL_RESULT = (
    "[Your previous message was empty. The tool results above are complete: use them and go on "
    "with the task, or give the final answer.]"
)
"""After an empty answer to a tool result (E3)."""

EMPTY_WITH_TOOLS_NOTE = "(No answer was written.)"
"""Stands for the text of a row of the model that had none."""

EMPTY_WITH_TOOLS = (
    "[Your previous message was empty although tools are available. Say it in other words, call "
    "one of the tools by its name, or answer in plain text.]"
)
"""After an empty answer with tools attached (E2)."""

EMPTY = "[Your previous message was empty. Please answer the last message.]"
"""Before another try after an empty answer: a retry must differ (E4, E5)."""

AGAIN = "[This is asked a second time, because no usable answer came.]"
"""Added to a hint if the request would otherwise repeat the one before it (E4)."""

CALL_MISSING = (
    "[Your previous message announced a tool call but held none. Make the call now, complete, or "
    "answer in plain text.]"
)
"""After a stop that names tool calls although none came (E8)."""

CALL_LOST = (
    "[Your tool call did not arrive and was not run, and your previous message held none. Make the "
    "call now, complete, and write nothing else.]"
)
"""After words in place of a call that was cut, was malformed or broke off (T5, S3a)."""

CALL_PENDING = (
    "[Your previous message held no tool call, and the request demands one. Make the call now, "
    "complete, and write nothing else.]"
)
"""The same, if the caller demanded a call."""

ORPHAN_RESULT = "Error: no result is available for this call; the conversation was interrupted."
"""The stub result for a call without a result in the incoming history (H2)."""

EMPTY_RESULT = "(Nothing was returned.)"
"""Replaces a result without text in Tenuto's own requests: Cohere rejects a blank one."""

NOTICE = "\n\n[This answer is incomplete: {reason}.]"
"""The line that `on_incomplete="notice"` adds, for display only (C21)."""

NOTICE_START = NOTICE.partition("{")[0]
_NOTICE = re.compile("[^\\[\\]\n]{1,80}".join(map(re.escape, NOTICE.split("{reason}"))))


def without_notice(text: str) -> str:
    """Return text without the line that `on_incomplete="notice"` adds (C21).

    >>> without_notice("Half" + NOTICE.format(reason="retry limit"))
    'Half'
    """
    while NOTICE_START in text and (shown := _NOTICE.sub("", text)) != text:
        text = shown
    return text
