"""Tools: functions that the model can call."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, overload

from tenuto.core.errors import ToolError
from tenuto_agent.schema import Convert, read_signature

_name = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what every provider accepts


@dataclass(frozen=True, slots=True)
class Failure:
    """Returned by a tool that failed; the model sees only `text`.

    >>> def divide(a: float, b: float) -> float | Failure:
    ...     return a / b if b else Failure("b must not be 0")
    """

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that the model can call, with its description. `tool()` makes one from a plain
    function; create one yourself if you already have a JSON Schema.

    Attributes:
        name: 1 to 64 letters, digits, "_" and "-".
        description: the description for the model.
        parameters: the JSON Schema of an object.
        function: called with keyword arguments; it may be async, but not a generator. It fails by
            raising, or by returning a `Failure`.
        truncated_call_hint: what the model sees if the output limit cut off a call (T6); "": a
            general hint.
        timeout_s: seconds that a call may take; None: no limit.
        idempotent: whether it is safe to run a call again.
        concurrent: whether it may run alongside other calls of the same turn.
        remote: whether the work is done elsewhere, so that it may continue after a call is given
            up.
        convert: turns JSON arguments that match `parameters` into the function's keyword arguments;
            it raises a ValueError that says what doesn't match after all.

    Raises:
        ToolError: the name, the parameters, the function or the time limit is not allowed.

    >>> fields = {"word": {"type": "string"}}
    >>> parameters = {"type": "object", "properties": fields}
    >>> upper = Tool(name="upper", description="", parameters=parameters, function=str.upper)
    >>> upper.timeout_s is None, upper.concurrent
    (True, False)
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., object]
    truncated_call_hint: str = ""
    timeout_s: float | None = None
    idempotent: bool = False
    concurrent: bool = False
    remote: bool = False
    convert: Convert = dict

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _name.fullmatch(self.name):
            raise ToolError(
                f"a tool cannot be named {self.name!r}: its name must be 1 to 64 letters (a-z), "
                "digits, '_' and '-'"
            )
        if not isinstance(self.parameters, Mapping) or self.parameters.get("type") != "object":
            raise ToolError(
                f"the parameters of {self.name} must be a JSON Schema of an object "
                "({'type': 'object', …})"
            )
        if not callable(self.function):
            raise ToolError(f"the function of {self.name} cannot be called: {self.function!r}")
        if any(map(_yields, (self.function, getattr(self.function, "__call__", None)))):  # noqa: B004
            raise ToolError(
                f"the function of {self.name} yields its result piece by piece, but it must "
                "return it whole, as a list or a text"
            )
        limit = self.timeout_s
        if limit is not None and not (limit > 0 and math.isfinite(limit)):
            raise ToolError(
                f"timeout_s of {self.name} is {limit}, but it must be None or seconds above 0"
            )

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the function itself, so that a decorated function works as before for other
        callers."""
        return self.function(*args, **keywords)


def _yields(function: object) -> bool:
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


@overload
def tool(function: Callable[..., object], /, **said: Any) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = ...,
    description: str | None = ...,
    truncated_call_hint: str = ...,
    timeout_s: float | None = ...,
    idempotent: bool = ...,
    concurrent: bool = ...,
) -> Callable[[Callable[..., object]], Tool]: ...
def tool(
    function: Callable[..., object] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **said: Any,
) -> Tool | Callable[[Callable[..., object]], Tool]:
    """Make a tool from a function; also a decorator.

    The schema of the parameters comes from the annotations: str, int, float, bool, list, dict,
    tuple, set, Literal, Enum, Optional and other unions, dates, paths, TypedDict, dataclasses,
    msgspec Structs and pydantic models. The function receives arguments of these types.
    Descriptions come from `Annotated[int, "how many"]`, or from a docstring in Google, NumPy or
    Sphinx style.

    Args:
        function: the function; without it, `tool` returns a decorator.
        name: its name for the model; None: the function's own name.
        description: the description for the model; None: from the docstring.
        said: `truncated_call_hint`, `timeout_s`, `idempotent` and `concurrent`, as in `Tool`.

    Raises:
        ToolError: the function can't be described by a schema; the message says why.

    >>> from typing import Literal
    >>> @tool(timeout_s=10)
    ... def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
    ...     '''Tell what the weather is like.'''
    ...     return f"{city}: 7 °{unit}"
    >>> weather.name, weather.description, weather.parameters["required"]
    ('weather', 'Tell what the weather is like.', ['city'])
    >>> weather("Oslo")
    'Oslo: 7 °C'
    """
    if function is None:
        return functools.partial(tool, name=name, description=description, **said)
    name = _name_of(function) if name is None else name
    signature = read_signature(function, name)
    return Tool(
        name=name,
        description=signature.description if description is None else description,
        parameters=signature.parameters,
        function=function,
        convert=signature.convert,
        **said,
    )


def _name_of(function: Callable[..., object]) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    if not callable(function):
        raise ToolError(f"a tool is a function or a Tool, and {function!r} is neither")
    name = getattr(function, "__name__", "")
    if not _name.fullmatch(name):
        raise ToolError(f"{function!r} has no name for a model to call it by: tool(…, name=…)")
    return str(name)
