"""Tools: what the model may call."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, overload

from tenuto.agent.schema import Convert, read_signature
from tenuto.core.errors import ToolError

_name = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what every provider takes


@dataclass(frozen=True, slots=True)
class Failure:
    """Returned by a tool that failed; the model sees only `text`.

    >>> def divide(a: float, b: float) -> float | Failure:
    ...     return a / b if b else Failure("b must not be 0")
    """

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that the model may call, with all that is said of it. `tool()` makes one of a
    plain function; make one by hand where you have a JSON Schema already.

    Attributes:
        name: 1 to 64 letters, digits, "_" and "-".
        description: what the model is told of it.
        parameters: the JSON Schema of an object.
        function: called with the arguments as keywords; may be async, but no generator. It fails by
            raising, or by returning a `Failure`.
        truncated_call_hint: the failed result of a call that the output limit cut (T6); "": a
            general one.
        timeout_s: seconds that a call may take; None: as long as it takes.
        idempotent: whether running a call again does no harm.
        concurrent: whether it may run beside other calls of the same turn.
        remote: whether its work is done elsewhere, so that it may go on where a call is given up.
        convert: makes the function's keyword arguments of JSON ones that fit `parameters`; a
            ValueError of it says what does not fit after all.

    Raises:
        ToolError: the name, the parameters, the function or the time limit are not allowed.

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
        """Call the function itself, so that a decorated one serves its other callers as before."""
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
    """Make a tool of a function, or decorate one with it.

    The schema of the parameters is made from the annotations: str, int, float, bool, list, dict,
    tuple, set, Literal, Enum, Optional and other unions, dates, paths, TypedDict, dataclasses,
    msgspec Structs and pydantic models. Arguments become such values before the function is called.
    Descriptions come from `Annotated[int, "how many"]`, or from a docstring in Google's, NumPy's or
    Sphinx's form.

    Args:
        function: the function; without one a decorator is returned.
        name: what the model calls it; None: the function's own name.
        description: what the model is told of it; None: what the docstring says.
        said: `truncated_call_hint`, `timeout_s`, `idempotent`, `concurrent`, as `Tool` has them.

    Raises:
        ToolError: no schema can be made of the function as it is; the message says why.

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
