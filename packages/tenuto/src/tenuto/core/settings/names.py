"""Names that are not known: each is refused with the three that are nearest to it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from typing import Any, TypeVar, cast

from tenuto.core.errors import TenutoError

Target = TypeVar("Target", bound=Callable[..., Any])


def not_known(name: str, known: Iterable[str], kind: str) -> str:
    """Return an error message for a name: that it is not one of a kind, and which are nearest.

    >>> not_known("max_step", ["max_steps", "timeout_s"], "an argument of Limits")
    'max_step is not an argument of Limits; the nearest are max_steps, timeout_s'
    """
    near = get_close_matches(name, list(known), 3, 0.0)
    return f"{name} is not {kind}; the nearest are {', '.join(near)}"


def check_arguments(
    given: Iterable[str],
    known: Collection[str],
    kind: str,
    error: Callable[[str], TenutoError],
    settings: Collection[str] = (),
) -> None:
    """Raise this error for the first argument that is not a known one.

    Args:
        given, known: names of arguments.
        kind: what the known ones are.
        error: the exception.
        settings: names that belong into a `policy` argument instead.
    """
    for name in given:
        if name not in known:
            advice = f"; it is a setting: give policy=tenuto.Policy({name}=…)"
            raise error(not_known(name, known, kind) + advice * (name in settings))


def refuses_unknown(
    error: Callable[[str], TenutoError], kind: str = "", settings: Collection[str] = ()
) -> Callable[[Target], Target]:
    """Decorate a function, or a class, so that an argument of an unknown name raises an error of
    ours. Python's own error names no other arguments.

    Args:
        error, settings: as for `check_arguments`.
        kind: what the arguments are; "": arguments of the function.
    """

    def decorated(target: Target) -> Target:
        function: Any = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]
        known = dict.fromkeys(inspect.signature(function).parameters)
        known.pop("self", None)
        said = kind or f"an argument of {target.__name__}"

        @functools.wraps(function)
        def checked(*args: Any, **named: Any) -> Any:
            try:
                return function(*args, **named)
            except TypeError:  # asked only now, since a turn is one of these calls
                if named.keys() <= known.keys():
                    raise
            check_arguments(named, known, said, error, settings)
            raise AssertionError("a name is unknown")

        if not isinstance(target, type):
            return cast("Target", checked)
        target.__init__ = checked  # type: ignore[misc]
        return cast("Target", target)

    return decorated
