"""Whether a call's arguments satisfy its tool's own parameters (T3).

Only `truncated_calls="execute_complete"` asks: calls of a response that the limit cut are handed on
without a clean stop behind them, so they have to prove themselves. JSON Schema is large enough that
the optional `jsonschema` reads it, and a schema never makes us fetch anything.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import msgspec

from tenuto.core.arguments import Finding
from tenuto.core.calls import ToolCall
from tenuto.core.errors import PolicyError
from tenuto.core.policy import Policy


def require(policy: Policy) -> None:
    """Nothing where the policy can be carried out as installed.

    Raises:
        PolicyError: it needs `jsonschema`, which is not there; the message says what to install.
    """
    if policy.truncated_calls != "execute_complete":
        return
    try:
        _library()
    except ImportError:
        raise PolicyError(
            "truncated_calls is 'execute_complete', which needs the package jsonschema to check "
            "arguments: pip install 'tenuto[schema]'"
        ) from None


def runnable(
    calls: Sequence[ToolCall], parameters: Mapping[str, dict[str, Any]]
) -> tuple[ToolCall, ...]:
    """The calls that are whole and satisfy the parameters of the tool that they name.

    Args:
        calls: the calls of one response.
        parameters: the JSON Schema of each tool of the request, by the tool's name.

    >>> needs = {"read": {"type": "object", "required": ["path"]}}
    >>> good = ToolCall("a", "read", '{"path": "x"}', Finding.WHOLE)
    >>> [call.id for call in runnable([good, ToolCall("b", "read", "{}", Finding.WHOLE)], needs)]
    ['a']
    """
    return tuple(
        call
        for call in calls
        if call.finding is Finding.WHOLE
        and not call.free
        and call.name in parameters
        and _satisfies(call.arguments, parameters[call.name])
    )


def validator(schema: Mapping[str, Any]) -> Any:
    """What checks values against a schema: a validator of jsonschema, of the draft that it names.

    Raises:
        ImportError: the package is not there.
        Exception: one of `unusable()`: what was given is no schema.
    """
    library = _library()
    referencing = importlib.import_module("referencing")
    kind = library.validators.validator_for(schema, default=library.Draft202012Validator)
    kind.check_schema(schema)
    # A registry of its own: the default one would fetch references from the network.
    return kind(schema, registry=referencing.Registry())


def unusable() -> tuple[type[Exception], ...]:
    """What the library raises on a schema that is none, when it reads one and when it checks by it:
    the schema comes from outside, so it may be anything."""
    unresolvable = importlib.import_module("referencing.exceptions").Unresolvable
    odd = (RecursionError, TypeError, ValueError, AttributeError)
    return (_library().SchemaError, unresolvable, re.error, *odd)


def deepest(fault: Any) -> Any:
    """The fault within a fault that tells most: of a union, the one of the nearest alternative."""
    return _library().exceptions.best_match(iter([fault]))


def _satisfies(arguments: str, schema: dict[str, Any]) -> bool:
    try:
        fits: bool = validator(schema).is_valid(msgspec.json.decode(arguments))
    except unusable():
        return False  # what cannot be checked has not been proved
    return fits


def _library() -> ModuleType:
    return importlib.import_module("jsonschema")
