"""What can go wrong on this wire: the common cases that are about none of what it has no place for,
which are calls, reasoning, and ways to go on other than at the end of the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Bare, Case
from tenuto.sim.tables_own import Tables, own_tables, with_calls

_NO_PLACE: Final = frozenset(
    {"hidden_reasoning_length", "reasoning_only_length", "reasoning_only_stop", "refusal"}
    | {"http_400_could_not_finish", "http_400_tool_use_failed", "malformed_stop"}
    | {"length_then_call", "length_then_overlap", "length_then_preamble", "length_then_restart"}
    | {"length_then_repeat"}
    | {"empty_after_tool_result", "empty_after_tool_result_always"}
)

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    # The SDK loses the first event, and here a text begins with it.
    "bom": {"bare": Bare.SILENT},
    # Nobody can be asked: the model would take the question for the text.
    "empty_once": {"recoverable": False},
    "think_tag_only": {"recoverable": False},
    "whitespace_once": {"recoverable": False},
}


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones."""
    return own_tables(common, _NO_PLACE | with_calls(common), _OTHERWISE, {})
