"""What the agent may call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what the model reads of it, and what is called.

    Attributes:
        name: letters, digits, _ and -, at most 64.
        description: what the model reads.
        parameters: the JSON Schema of an object.
        function: called with the arguments as keywords; may be async.
        truncated_call_hint: the failed result where a call of it was cut; "" is the general one.
        timeout_s: None means as long as it takes.
        idempotent: running it again does no harm.
        concurrent: it may run beside other calls of the same turn.

    >>> Tool("now", "The time.", {"type": "object"}, lambda: "noon").function()
    'noon'
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., object]
    truncated_call_hint: str = ""
    timeout_s: float | None = None
    idempotent: bool = False
    concurrent: bool = False
