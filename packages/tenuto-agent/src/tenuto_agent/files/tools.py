"""The six file tools, made for one folder and one set of limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Final

from tenuto.core.errors import ToolError
from tenuto.core.settings.rule import shown
from tenuto_agent.files import words
from tenuto_agent.files.editing import edit_file
from tenuto_agent.files.listing import list_files
from tenuto_agent.files.reading import read_file
from tenuto_agent.files.root import Root
from tenuto_agent.files.schemas import APPEND, CREATE, EDIT, LIST, READ, SEARCH, Schema
from tenuto_agent.files.searching import search
from tenuto_agent.files.writing import append_file, create_file
from tenuto_agent.function_tool import Tool

MAX_FILE_BYTES: Final = 5_000_000
"""The largest file that the tools read or write."""

MAX_RESULT_CHARS: Final = 30_000
"""The most characters of files in one result: about 8,000 tokens."""

_AT_MOST: Final = ", at most about {chars:,} characters"
_AT_MOST_ALONE: Final = " One call can hold about {chars:,} characters."


def file_tools(
    root: str | os.PathLike[str],
    *,
    max_file_bytes: int = MAX_FILE_BYTES,
    max_result_chars: int = MAX_RESULT_CHARS,
    output_limit_tokens: int | None = None,
) -> tuple[Tool, ...]:
    """Return tools that read, write and search the text files in one folder, and nothing outside
    it.

    Args:
        root: an existing folder. Links in it are not followed, and its `.git` is left alone.
        max_file_bytes: the largest file to read or write.
        max_result_chars: the most characters of files in one result.
        output_limit_tokens: the model's output limit, to mention in descriptions and in hints about
            cut calls; None: unknown.

    Raises:
        ToolError: `root` is not an existing folder, or a limit is not a whole number above 0.

    >>> [tool.name for tool in file_tools(".")]
    ['read_file', 'create_file', 'edit_file', 'append_file', 'list_files', 'search']
    """
    if not isinstance(root, str | os.PathLike):
        raise ToolError(f"root is {shown(root)}, but it must be a path, as a str or a pathlib.Path")
    _check_limit("max_file_bytes", max_file_bytes)
    _check_limit("max_result_chars", max_result_chars)
    if output_limit_tokens is not None:
        _check_limit("output_limit_tokens", output_limit_tokens)
    files = Files(root, max_file_bytes, max_result_chars)
    in_hint = in_description = ""
    if output_limit_tokens is not None:
        chars = words.chars_per_call(output_limit_tokens)
        in_hint, in_description = _AT_MOST.format(chars=chars), _AT_MOST_ALONE.format(chars=chars)
    reads: dict[str, Any] = {"idempotent": True, "concurrent": True}
    creates: dict[str, Any] = {
        "idempotent": True
    }  # what holds the content already is left as it is
    made: tuple[tuple[Callable[..., str], str, Schema, str, dict[str, Any]], ...] = (
        (files.read_file, words.READ, READ, words.READ_CUT, reads),
        (files.create_file, words.CREATE, CREATE, words.CREATE_CUT, creates),
        (files.edit_file, words.EDIT, EDIT, words.EDIT_CUT, {}),
        (files.append_file, words.APPEND, APPEND, words.APPEND_CUT, {}),
        (files.list_files, words.LIST, LIST, words.READ_CUT, reads),
        (files.search, words.SEARCH, SEARCH, words.READ_CUT, reads),
    )
    return tuple(
        Tool(
            name=function.__name__,
            description=description.replace("{at_most}", in_description),
            parameters=parameters,
            function=function,
            truncated_call_hint=hint.replace("{at_most}", in_hint),
            **flags,
        )
        for function, description, parameters, hint, flags in made
    )


def writes_files(tools: Iterable[object]) -> bool:
    """Return whether a tool that writes files is among these.

    >>> writes_files(file_tools(".")), writes_files(file_tools(".")[:1])
    (True, False)
    """
    writers = (Files.create_file, Files.edit_file, Files.append_file)
    functions = (getattr(tool, "function", None) for tool in tools)
    return any(getattr(function, "__func__", None) in writers for function in functions)


def _check_limit(name: str, limit: object) -> None:
    if type(limit) is not int or limit < 1:
        raise ToolError(f"{name} is {shown(limit)}, but it must be a whole number, 1 or more")


class Files(Root):
    """The folder with the tools as its methods, whose arguments are what a model may say."""

    read_file = read_file
    create_file = create_file
    edit_file = edit_file
    append_file = append_file
    list_files = list_files
    search = search
