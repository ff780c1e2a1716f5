"""Tools for models without tool calls (T4): described in the system prompt, called in text.

This is opt-in (`Model(…, text_calls=True)`). Text that only looks like a call stays text, unless it
names a known tool. A call runs only if its JSON is complete. A call that was cut is answered with
its tool's hint, and then no other call of the same answer runs either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding, is_document, judge
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.required import requires_something
from tenuto.core.answer.response import THINK_BLOCK
from tenuto.wires.form import Declared
from tenuto_agent.transcript import Assistant, Result, Results, Row, User

TOLD: Final = """\
You can call tools. To call one, write this, and nothing behind it:
<tool_call>
{{"name": "the tool", "arguments": {{"its": "arguments"}}}}
</tool_call>
Several calls are several such blocks. What they came to is told to you next. The tools, with the \
JSON Schema of their arguments:
{tools}"""

_WRITTEN: Final = '<tool_call>\n{{"name": {name}, "arguments": {arguments}}}\n</tool_call>'
_CAME: Final = '<tool_response name="{name}">\n{text}\n</tool_response>'

_opener: Final = re.compile(
    r"(?P<tag><tool_call>)\s*(?=[\[{])"  # Hermes, Qwen
    r"|(?P<function><function=)(?P<of_function>[\w-]+)>\s*(?=\{)"  # Llama
    r"|(?P<list>\[TOOL_CALLS\])\s*(?:(?P<of_list>[\w-]+)(?:\[ARGS\])?)?\s*(?=[\[{])"  # Mistral
    r"|(?P<fence>```)(?:json|tool_call)?[ \t]*\n\s*(?=[\[{])"
)
_closers: Final = {
    "tag": "</tool_call>",
    "function": "</function>",
    "list": "",
    "fence": "```",
}
_decoder: Final = json.JSONDecoder()
_name: Final = re.compile(r'"name"\s*:\s*"([\w-]+)"')
_leading_thought: Final = re.compile(r"\A(?:(?!<think).)*?</think(?:ing)?>", re.DOTALL)
"""Some chat templates open the thinking block themselves, so that the text has only its end."""


def described(system: str, tools: Sequence[Declared]) -> str:
    """Return the system prompt with the tools added."""
    told = [
        json.dumps({"name": t.name, "description": t.description, "parameters": dict(t.parameters)})
        for t in tools
    ]
    return "\n\n".join(filter(None, [system, TOLD.format(tools="\n".join(told)) if told else ""]))


def textual(row: Row) -> Row:
    """Return a row as such a model reads it: calls and results as text."""
    match row:
        case Assistant(text, calls) if calls:
            written = [_written(call) for call in calls]
            return Assistant("\n".join(filter(None, [text.strip(), *written])))
        case Results(results):
            return User("\n".join(_CAME.format(name=r.name, text=r.text) for r in results))
        case Assistant(text):
            return Assistant(text)
        case _:
            return row


def _written(call: ToolCall) -> str:
    """Return a call as text. Broken arguments are never replayed (H4)."""
    arguments = call.arguments if call.finding is Finding.WHOLE else "{}"
    return _WRITTEN.format(name=json.dumps(call.name), arguments=arguments)


@dataclass(frozen=True, slots=True)
class Read:
    """An answer's text without calls and thinking, and its calls."""

    text: str
    calls: tuple[ToolCall, ...]


Tools = Mapping[str, Mapping[str, Any]]
"""The JSON Schema of each tool's arguments, by the tool's name."""


def read(text: str, known: Tools, number: int) -> Read:
    """Split a model's text into text and calls.

    Args:
        text: the text of the answer.
        known: the tools.
        number: the answer's number in its conversation, which becomes part of the calls' ids.

    >>> said = 'Let me see.<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
    >>> found = read(said, {"add": {}}, 1)
    >>> found.text, found.calls[0].name, found.calls[0].arguments
    ('Let me see.', 'add', '{"a": 1}')
    >>> read(said, {"subtract": {}}, 1).calls
    ()
    """
    text = THINK_BLOCK.sub("", _leading_thought.sub("", text))
    said: list[str] = []
    calls: list[ToolCall] = []
    at = 0
    while (opener := _opener.search(text, at)) is not None:
        end, made = _calls_at(text, opener, known)
        said.append(text[at : opener.start() if made else opener.end()])
        at = end if made else opener.end()
        for name, arguments, finding in made:
            call_id = f"t{number % 100_000:05}{len(calls) % 1_000:03}"  # Mistral wants 9 characters
            calls.append(ToolCall(call_id, name, arguments, finding))
    said.append(text[at:])
    return Read("".join(said).strip(), tuple(calls))


_Found = tuple[str, str, Finding]


def _calls_at(text: str, opener: re.Match[str], known: Tools) -> tuple[int, Sequence[_Found]]:
    """Return where the calls that begin here end, and the calls; none if this is something else."""
    form = next(key for key in _closers if opener[key])
    name = opener["of_function"] or opener["of_list"] or ""
    begin = opener.end()
    try:
        value, end = _decoder.raw_decode(text, begin)
    except (ValueError, RecursionError):
        return _broken(text, begin, _closers[form], name, known)
    made = _whole(value, text[begin:end], name, known)
    closed = re.compile(r"\s*" + re.escape(_closers[form])).match(text, end)
    return (closed.end() if closed else end), made


def _whole(value: Any, raw: str, name: str, known: Tools) -> Sequence[_Found]:
    if not is_document(raw):
        return ()
    if name:
        return [_judged(name, raw, known)] if name in known else ()
    each = value if isinstance(value, list) else [value]
    made = []
    for one in each:
        found = one.get("name") if isinstance(one, dict) else None
        keys = [key for key in ("arguments", "parameters") if isinstance(one, dict) and key in one]
        if found not in known or not isinstance(found, str) or not keys:
            return ()
        given = one[keys[0]]
        raw_given = given if isinstance(given, str) else json.dumps(given)
        made.append(_judged(found, raw_given, known))
    return made


def _judged(name: str, arguments: str, known: Tools) -> _Found:
    judged = judge(arguments)
    if judged.finding is Finding.EMPTY:  # required arguments are never made up (T12a)
        lacks = requires_something(known[name])
        return (name, "", Finding.TRUNCATED) if lacks else (name, "{}", Finding.WHOLE)
    return name, judged.text, judged.finding


def _broken(
    text: str, begin: int, closer: str, name: str, known: Tools
) -> tuple[int, Sequence[_Found]]:
    """Read a call whose JSON is invalid: cut if nothing closes it, else malformed. In a list of
    calls, complete ones are not looked for, since none runs."""
    end = text.find(closer, begin) if closer else -1
    raw = text[begin:] if end < 0 else text[begin:end]
    named = _name.search(raw)
    name = name or (named[1] if named else "")
    if name not in known:
        return begin, ()
    finding = Finding.TRUNCATED if end < 0 else Finding.MALFORMED
    return (len(text) if end < 0 else end + len(closer)), [(name, raw, finding)]


def skipped(calls: Sequence[ToolCall]) -> dict[str, Result]:
    """Return failed results for the complete calls beside a broken one, by id: they don't run
    (T4)."""
    whole = [call for call in calls if call.finding is Finding.WHOLE]
    if len(whole) == len(calls):
        return {}
    return {c.id: Result(c.id, c.name, hints.CALL_SKIPPED_RESULT, failed=True) for c in whole}
