"""The tools of an agent, and the check of each call against them before anything runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.errors import ToolError
from tenuto.schema.checking import LEFT_OUT, Checker, Uncheckable, deepest
from tenuto.wires.form import Declared
from tenuto_agent import loop_hints
from tenuto_agent.function_tool import Failure, Tool, tool
from tenuto_agent.shown import quoted

_MOST_FAULTS: Final = 5
"""How many faults of one call the model is told. If others remain, the next check reports them."""

_MOST_NAMES: Final = 40
_MOST_CHARS: Final = 500  # per fault: a message may quote a whole argument, or a whole schema


class Toolbox:
    """The tools that a model may call, by name.

    Args:
        tools: each a Tool, or a plain function to make one from.

    Raises:
        ToolError: two tools have the same name, or a function can't become a tool.

    >>> def add(a: int, b: int) -> int:
    ...     return a + b
    >>> toolbox = Toolbox([add])
    >>> toolbox.check(ToolCall("call_1", "add", '{"a": 1, "b": 2}', Finding.WHOLE))
    {'a': 1, 'b': 2}
    >>> print(toolbox.check(ToolCall("call_2", "add", '{"a": "one"}', Finding.WHOLE)).text)
    Error: this call was not run. Its arguments do not fit the parameters of add:
    - 'b' is a required property
    - a: "one" is not of type 'integer'
    """

    def __init__(self, tools: Iterable[Tool | Callable[..., object]] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._checkers: dict[str, Checker] = {}
        for each in tools:
            if not isinstance(each, Tool) and not callable(each):
                raise ToolError(f"{each!r} is no tool: it must be a Tool or a plain function")
            made = each if isinstance(each, Tool) else tool(each)
            if made.name in self._tools:
                raise ToolError(f"two tools are named {made.name!r}: give one another name")
            self._tools[made.name] = made
            self._checkers[made.name] = _checker(made)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def declarations(self) -> Sequence[Declared]:
        """Return the declarations of the tools for the model, in order."""
        return tuple(Declared(t.name, t.description, t.parameters) for t in self._tools.values())

    def hints(self) -> Mapping[str, str]:
        """Return the hint for a call that was cut, for each tool that has its own (T6)."""
        hinted = self._tools.values()
        return {t.name: t.truncated_call_hint for t in hinted if t.truncated_call_hint}

    def check(self, call: ToolCall) -> dict[str, Any] | Failure:
        """Return the arguments of a call that may run, or a failure for the model to read.

        A call may run if its tool is known, its arguments are a complete JSON object (T1), and they
        match the tool's parameters.
        """
        known = self._tools.get(call.name)
        if known is None:
            return Failure(
                loop_hints.NO_SUCH_TOOL.format(name=quoted(call.name), known=self._names())
            )
        if call.finding in (Finding.TRUNCATED, Finding.EMPTY):
            return Failure(known.truncated_call_hint or hints.CALL_CUT_RESULT)
        if call.finding is Finding.MALFORMED or call.free:
            return Failure(hints.CALL_MALFORMED_RESULT)
        try:
            arguments = _decoder.decode(call.arguments)
        except (ValueError, RecursionError) as error:  # a lone surrogate, or nested too deeply
            return unfit(call.name, [str(error)])
        if not isinstance(arguments, dict):
            return Failure(hints.CALL_MALFORMED_RESULT)
        try:
            faults = _faults(self._checkers[call.name], arguments)
        except Uncheckable as error:
            return Failure(loop_hints.CALL_UNCHECKED_RESULT.format(name=call.name, why=error))
        return unfit(call.name, faults) if faults else arguments

    def _names(self) -> str:
        names = list(self._tools)
        more = [f"and {len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
        return ", ".join(names[:_MOST_NAMES] + more) or loop_hints.NO_TOOLS


def _number(text: str) -> float:
    """Turn 3.0 into 3, because JSON Schema takes it for an integer. Beyond 2⁵³ floats are
    inexact.

    Raises:
        ValueError: the number is larger than any float. It would reach the tool as infinity, which
            JSON has no word for."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{quoted(text)} is too large a number")
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


_decoder: Final = msgspec.json.Decoder(float_hook=_number)


def _checker(made: Tool) -> Checker:
    try:
        return Checker(made.parameters)
    except ImportError as error:
        raise ToolError(
            f"tools need the package {error.name} to check arguments: pip install 'tenuto[agent]'"
        ) from None
    except Uncheckable as error:
        raise ToolError(
            f"the parameters of {made.name} are no JSON Schema that can be checked: {error}"
        ) from None


def unfit(name: str, faults: Sequence[str]) -> Failure:
    """Return what the model reads about a call whose arguments don't match."""
    lines = [f"- {fault}" for fault in faults[:_MOST_FAULTS]]
    if len(faults) > _MOST_FAULTS:
        lines.append(f"- and {len(faults) - _MOST_FAULTS} more")
    return Failure(loop_hints.CALL_UNFIT_RESULT.format(name=name, faults="\n".join(lines)))


def _faults(checker: Checker, arguments: dict[str, Any]) -> list[str]:
    """Return each fault with its path, the value, and what is allowed."""
    found = sorted(checker.faults(arguments), key=lambda each: each.json_path)
    return list(dict.fromkeys(_said(deepest(each)) for each in found))


def _said(fault: Any) -> str:
    path = fault.json_path.removeprefix("$").removeprefix(".")
    message: str = fault.message
    for value in (LEFT_OUT, repr(fault.instance)):
        if message.startswith(value):
            message = quoted(fault.instance) + message.removeprefix(value)
            break
    if fault.validator == "additionalProperties" and isinstance(fault.schema, Mapping):
        message += f"; known are {', '.join(fault.schema.get('properties', ())) or '(none)'}"
    if len(message) > _MOST_CHARS:
        message = message[:_MOST_CHARS] + "…"
    return f"{path}: {message}" if path else message
