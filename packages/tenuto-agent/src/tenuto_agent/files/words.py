"""Every text of the file tools that the model reads before it calls one, or after a cut call."""

from __future__ import annotations

from typing import Final

CHARS_PER_TOKEN: Final = 3
"""Fewer than in English prose (about 4): code has shorter tokens, and JSON escapes take some."""

SHARE_OF_LIMIT: Final = 0.5
"""What a call's content may take of the output limit; reasoning and text take the rest."""

_NOT_RUN: Final = (
    "Error: this call was not run and no file was changed, because the output limit cut its "
    "arguments off."
)

READ_CUT: Final = f"{_NOT_RUN} Make the call again with nothing else in the message."
CREATE_CUT: Final = (
    f"{_NOT_RUN} Create the file with only the beginning of the content{{at_most}}, and add the "
    "rest with append_file, piece by piece."
)
APPEND_CUT: Final = f"{_NOT_RUN} Append a smaller piece{{at_most}}, then the next ones one by one."
EDIT_CUT: Final = (
    f"{_NOT_RUN} Change one small unique region at a time{{at_most}}: as few lines in old_text as "
    "make it unique. To replace a whole file, use create_file with overwrite and append_file."
)

READ: Final = (
    "Read a text file. The first line of the result says which lines follow and how many there "
    "are; the lines are shown as they are, without numbers. Give a range for a large file."
)
CREATE: Final = (
    "Create a text file, with the folders on the way to it. It fails where the file exists, "
    "unless overwrite is true, which replaces all of it.{at_most} Write a long file in pieces: its "
    "beginning with create_file, the rest with append_file."
)
APPEND: Final = (
    "Add text at the very end of a file that exists. No line break is put before it; line "
    "endings become those of the file.{at_most}"
)
EDIT: Final = (
    "Replace one passage of a text file. old_text must be copied exactly, white space included, "
    "and stand in the file exactly once. Make small edits: give only the lines that change and "
    "as many around them as make old_text unique, and make several calls for several places."
    "{at_most}"
)
LIST: Final = (
    "List files and folders, sorted; folders end with /. In the pattern * stands for any part of "
    "a name, ** for any folders, {a,b} for either: '*' lists one folder, '**/*.py' all Python "
    "files below it. Folders such as node_modules are entered only when path names them."
)
SEARCH: Final = (
    "Search text files line by line. The result shows path:line: text of each line that matches, "
    "bounded. The pattern is literal text unless regex is true (Python's syntax)."
)

GUIDANCE: Final = (
    "One message of yours, with its reasoning and tool calls, can hold at most {tokens:,} tokens; "
    "a tool call that goes beyond is cut off and not run. So write at most about {chars:,} "
    "characters in one call: create a longer file with its beginning and add the rest with "
    "append_file, and change existing files by small edits instead of writing them anew."
)


def guidance(output_limit_tokens: int | None) -> str:
    """Return instructions for the system prompt of a model with file tools and an output limit
    (T17).

    Args:
        output_limit_tokens: the model's output limit; None: unknown, which returns "".

    >>> guidance(None)
    ''
    >>> "at most 8,192 tokens" in guidance(8192)
    True
    """
    if output_limit_tokens is None:
        return ""
    return GUIDANCE.format(tokens=output_limit_tokens, chars=chars_per_call(output_limit_tokens))


def is_told(system: str) -> bool:
    """Return whether a system prompt has this guidance, for whatever limit.

    >>> is_told(f"Be kind. {guidance(8192)}")
    True
    """
    return GUIDANCE.partition("{")[0] in system


def chars_per_call(output_limit_tokens: int) -> int:
    """How many characters one call may hold, as a round number.

    >>> chars_per_call(8192), chars_per_call(100)
    (12000, 150)
    """
    chars = int(output_limit_tokens * CHARS_PER_TOKEN * SHARE_OF_LIMIT)
    step = int(10 ** max(0, len(str(chars)) - 2))
    return max(1, chars // step * step)
