"""What a request asks for, independent of the wire: messages, tools, output budget.

A tool result is always a row of its own here, even if a wire puts it inside a user message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tenuto_sim import prose

ANSWER_TOOL: Final = "final_answer"
"""The tool whose argument is the answer; so named by smolagents."""


@dataclass(frozen=True, slots=True)
class Row:
    """One message: its role and its text.

    `resumes` means that the provider continues from here by itself: a paused turn that was sent
    back.
    """

    role: Any
    text: str = ""
    resumes: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. `budget_tokens` is None if there is no limit; `prefill` is the server's
    setting."""

    model: str
    rows: tuple[Row, ...]
    counted: str = ""
    """The text whose length gives the input tokens."""
    tools: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Name and schema of each attached function."""
    forced: bool = False
    """Whether the answer must call a tool."""
    budget_tokens: int | None = None
    stream: bool = False
    choices: int = 1
    include_usage: bool = False
    response_format: Mapping[str, Any] | None = None
    """The response format, as Chat Completions writes it."""
    thinking: bool = False
    """Whether the answer begins with a signed chain of thought."""
    stop_sequences: tuple[str, ...] = ()
    prefill: str | None = None
    echoed: str = ""
    """What the answer repeats before its own text."""
    forms: frozenset[str] = frozenset()
    """How to write the answer, in the wire's terms, on wires whose requests say so."""

    @property
    def answers_by_call(self) -> bool:
        """Whether the client ends its loop at a call of `final_answer` instead of at a text."""
        return any(name == ANSWER_TOOL for name, _ in self.tools)


def tokens_of(value: Any) -> int | None:
    """Return an output limit, or None if it isn't a whole number.

    >>> tokens_of(5), tokens_of(True), tokens_of("5")
    (5, None, None)
    """
    return value if type(value) is int else None


def texts_of(value: Any) -> tuple[str, ...]:
    """Return the members of a list as strings, or nothing if it isn't a list.

    >>> texts_of(["###"]), texts_of("###")
    (('###',), ())
    """
    return tuple(map(str, value)) if isinstance(value, list) else ()


def at(value: Any, *names: str) -> Any:
    """Return a nested member, or None if it doesn't exist.

    >>> at({"a": {"b": 1}}, "a", "b"), at({"a": 5}, "a", "b")
    (1, None)
    """
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def object_at(value: Any, *names: str) -> dict[str, Any]:
    """Return a nested object, or an empty one if it doesn't exist.

    >>> object_at({"a": {"b": 1}}, "a"), object_at(None, "a")
    ({'b': 1}, {})
    """
    found = at(value, *names)
    return found if isinstance(found, dict) else {}


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list.

    >>> objects_of([{"a": 1}, 5]), objects_of("x")
    ([{'a': 1}], [])
    """
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def functions_of(
    tools: Any, schema: str, inside: str = ""
) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return the name and schema of each function that has a name.

    Args:
        tools: the list of tools.
        schema: the path to a function's schema.
        inside: the member of a tool that is its function; "" if the tool itself is.

    >>> functions_of([{"name": "f", "parameters": {"type": "object"}}, {}], "parameters")
    (('f', {'type': 'object'}),)
    """
    found = [object_at(tool, inside) if inside else tool for tool in objects_of(tools)]
    named = [one for one in found if isinstance(one.get("name"), str)]
    return tuple((one["name"], object_at(one, *schema.split("."))) for one in named)


def in_schema(schema: Any) -> dict[str, Any]:
    """Return a schema as the response format of Chat Completions.

    >>> in_schema({"type": "object"})
    {'type': 'json_schema', 'json_schema': {'schema': {'type': 'object'}}}
    """
    return {"type": "json_schema", "json_schema": {"schema": schema}}


def joined(rows: Iterable[Row]) -> list[Row]:
    """Join consecutive messages of the model.

    >>> joined([Row("assistant", "a"), Row("assistant", "b")])
    [Row(role='assistant', text='ab', resumes=False)]
    """
    out: list[Row] = []
    for row in rows:
        if out and out[-1].role == row.role == "assistant":
            out[-1] = Row(row.role, out[-1].text + row.text)
        else:
            out.append(row)
    return out


_REACT_PART: Final = re.compile(r"\n(?=(?:New task|Observation|Error):\n)")


def reread(asked: Asked) -> Asked:
    """Return a request with the results of tools as rows, if the history has them as text.

    An agent that answers by a call may write its history as user messages, several in one. This
    is how smolagents does it: https://github.com/huggingface/smolagents/blob/main/src/smolagents/memory.py

    >>> rows = (Row("user", "New task:\\nGo.\\nError:\\nNo."), Row("user", "Observation:\\nok"))
    >>> [row.role for row in reread(Asked("sim", rows, tools=((ANSWER_TOOL, {}),))).rows]
    ['user', 'user', 'tool']
    """
    if not asked.answers_by_call:
        return asked
    parts = [
        replace(row, text=part)
        for row in asked.rows
        for part in (_REACT_PART.split(row.text) if row.role == "user" else [row.text])
    ]
    rows = [
        replace(row, role="tool")
        if row.role == "user" and row.text.startswith("Observation:")
        else row
        for row in parts
    ]
    return replace(asked, rows=tuple(rows))


_QUESTION_END: Final = re.compile("|".join(["\n", *(f"(?={begin})" for begin in prose.BEGINNINGS)]))


def prompted(prompt: str) -> tuple[Row, ...]:
    """Return the rows of a prompt: its first line is the question, the rest is the answer so far.
    An answer to a question without a line break follows it at once.

    >>> [row.role for row in prompted("Tell me.\\nThe tide")]
    ['user', 'assistant']
    >>> [row.text for row in prompted("Tell me.Point 1: ")]
    ['Tell me.', 'Point 1: ']
    """
    asked, *written = _QUESTION_END.split(prompt, 1)
    return (Row("user", asked), *(Row("assistant", text) for text in written if text))


def first_prompt(rows: Sequence[Row]) -> str:
    """Return the text of the first user message, from which all answers are derived.

    >>> first_prompt([Row("system", "s"), Row("user", "u")])
    'u'
    """
    return next((row.text for row in rows if row.role == "user"), "")


def results_in(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the results of tools.

    >>> results_in([Row("user", "u"), Row("tool", "ok")])
    (Row(role='tool', text='ok', resumes=False),)
    """
    return tuple(row for row in rows if row.role == "tool")


def answers_result(rows: Sequence[Row]) -> bool:
    """Return whether a tool result still awaits the text that answers it, or the end of that text.

    A hint after an empty or cut answer doesn't begin another turn.

    >>> ask = Row("user", "x")
    >>> answers_result([ask]), answers_result([ask, Row("tool", "ok"), ask])
    (False, True)
    """
    last = max((i for i, row in enumerate(rows) if row.role == "tool"), default=-1)
    whole = prose.prose(first_prompt(rows))
    return last >= 0 and not any(
        row.role == "assistant" and row.text.strip() == whole for row in rows[last + 1 :]
    )
