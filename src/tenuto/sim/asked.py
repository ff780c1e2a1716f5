"""What a request asks for, in words that no wire owns: rows, tools, budget.

A tool result is a row of its own here, also where a wire carries it inside of a user message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tenuto.sim import prose


@dataclass(frozen=True, slots=True)
class Row:
    """One message: who speaks, and its text.

    `resumes` says that the provider goes on from here by itself: a paused turn that was sent back.
    """

    role: Any
    text: str = ""
    resumes: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. `budget_tokens` is None where none is set; `prefill` where the server says."""

    model: str
    rows: tuple[Row, ...]
    counted: str = ""
    """The text whose length gives the input tokens."""
    tools: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Name and schema of each attached function."""
    forced: bool = False
    """A tool must be called."""
    budget_tokens: int | None = None
    stream: bool = False
    choices: int = 1
    include_usage: bool = False
    response_format: Mapping[str, Any] | None = None
    """As Chat Completions spells it."""
    thinking: bool = False
    """The answer begins with a signed chain of thought."""
    stop_sequences: tuple[str, ...] = ()
    prefill: str | None = None
    echoed: str = ""
    """What the answer is to repeat before its own text."""
    forms: frozenset[str] = frozenset()
    """How the answer is to be written, on wires where requests say so, in words of the wire."""


def tokens_of(value: Any) -> int | None:
    """Return an output limit, None where it is no whole number.

    >>> tokens_of(5), tokens_of(True), tokens_of("5")
    (5, None, None)
    """
    return value if type(value) is int else None


def texts_of(value: Any) -> tuple[str, ...]:
    """Return the members of a list as texts.

    >>> texts_of(["###"]), texts_of("###")
    (('###',), ())
    """
    return tuple(map(str, value)) if isinstance(value, list) else ()


def at(value: Any, *names: str) -> Any:
    """Return a member inside of objects, None where there is none.

    >>> at({"a": {"b": 1}}, "a", "b"), at({"a": 5}, "a", "b")
    (1, None)
    """
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def object_at(value: Any, *names: str) -> dict[str, Any]:
    """Return an object inside of others, an empty one where there is none.

    >>> object_at({"a": {"b": 1}}, "a"), object_at(None, "a")
    ({'b': 1}, {})
    """
    found = at(value, *names)
    return found if isinstance(found, dict) else {}


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects that a list has.

    >>> objects_of([{"a": 1}, 5]), objects_of("x")
    ([{'a': 1}], [])
    """
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def functions_of(
    tools: Any, schema: str, inside: str = ""
) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return name and schema of each function that has a name.

    Args:
        tools: the list of them.
        schema: the way to the schema of a function.
        inside: the member of a tool that is its function, where it is not the tool itself.

    >>> functions_of([{"name": "f", "parameters": {"type": "object"}}, {}], "parameters")
    (('f', {'type': 'object'}),)
    """
    found = [object_at(tool, inside) if inside else tool for tool in objects_of(tools)]
    named = [one for one in found if isinstance(one.get("name"), str)]
    return tuple((one["name"], object_at(one, *schema.split("."))) for one in named)


def in_schema(schema: Any) -> dict[str, Any]:
    """Return an answer's form, that of a schema, as Chat Completions spells it.

    >>> in_schema({"type": "object"})
    {'type': 'json_schema', 'json_schema': {'schema': {'type': 'object'}}}
    """
    return {"type": "json_schema", "json_schema": {"schema": schema}}


def joined(rows: Iterable[Row]) -> list[Row]:
    """Join what the model said in several rows.

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


def prompted(prompt: str) -> tuple[Row, ...]:
    """Return the rows of a prompt: one line that asks, and behind it what was written so far.

    >>> [row.role for row in prompted("Tell me.\\nThe tide")]
    ['user', 'assistant']
    """
    asked, _, written = prompt.partition("\n")
    return (Row("user", asked), *((Row("assistant", written),) if written else ()))


def first_prompt(rows: Sequence[Row]) -> str:
    """Return the text of the first user message, from which all answers are made.

    >>> first_prompt([Row("system", "s"), Row("user", "u")])
    'u'
    """
    return next((row.text for row in rows if row.role == "user"), "")


def answers_result(rows: Sequence[Row]) -> bool:
    """Return whether the text after a tool result is still to be said, or to be ended.

    A hint that follows an empty or a cut answer does not begin another turn.

    >>> ask = Row("user", "x")
    >>> answers_result([ask]), answers_result([ask, Row("tool", "ok"), ask])
    (False, True)
    """
    last = max((i for i, row in enumerate(rows) if row.role == "tool"), default=-1)
    whole = prose.prose(first_prompt(rows))
    return last >= 0 and not any(
        row.role == "assistant" and row.text.strip() == whole for row in rows[last + 1 :]
    )
