"""Whether a call's arguments satisfy its tool's own parameters (T3).

Only `truncated_calls="execute_complete"` asks: calls of a response that the limit cut are handed on
without a clean stop behind them, so they have to prove themselves. JSON Schema is large enough that
optional packages read it (`checking`), and a schema never makes us fetch anything.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tenuto.core.arguments import Finding
from tenuto.core.calls import ToolCall
from tenuto.core.errors import PolicyError
from tenuto.core.policy import Policy
from tenuto.relay.checking import Checker, Uncheckable


def require(policy: Policy) -> None:
    """Nothing where the policy can be carried out as installed.

    Raises:
        PolicyError: it needs packages that are not there; the message says what to install.
    """
    if policy.truncated_calls != "execute_complete":
        return
    for package in ("jsonschema", "jsonschema_rs"):
        try:
            importlib.import_module(package)
        except ImportError:
            raise PolicyError(
                f"truncated_calls is 'execute_complete', which needs the package {package} to "
                "check arguments: pip install 'tenuto[schema]'"
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


def _satisfies(arguments: str, schema: dict[str, Any]) -> bool:
    try:
        return Checker(schema).fits(msgspec.json.decode(arguments))
    except (Uncheckable, msgspec.DecodeError):
        # What cannot be checked has not been proved: half of a surrogate pair is JSON, and no text.
        return False
