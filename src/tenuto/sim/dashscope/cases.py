"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The official SDK raises for nothing that the provider answers: a program looks at the status that it
is given. Whatever else happens to it reaches the program as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim import tables_own
from tenuto.sim.case import BODY, Bare, Case

_LEFT_OUT: Final = tables_own.OF_SERVERS | {
    "http_400_unknown_key", "finish_no_done", "finish_null_string", "double_done", "refusal",
}  # fmt: skip
"""Faults that have no place here: words of a refusal, errors of others, end marks, which no stream
has; keys that it does not know, which it passes over; and "null", which is no stop but none yet."""

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "call_no_type": {"modes": BODY},  # pieces of calls have one each
    "body_error_only": {"bare": Bare.RAISES},
    # The exceptions of its transport reach whoever uses the SDK as they are.
    "body_short": {"bare": Bare.HARMFUL},
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
}

_FAULTS: Final = (
    tables_own.think_then_length("A chain of thought"),
    tables_own.event_not_json(Bare.RAISES),
)  # fmt: skip

_QUIRKS: Final = (
    tables_own.think("think", "A chain of thought"),
    tables_own.think_then_call("A chain of thought"),
)  # fmt: skip

_OWN: Final = {"faults": _FAULTS, "quirks": _QUIRKS}


def tables(common: Mapping[str, Mapping[str, Case]]) -> tables_own.Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    return tables_own.own_tables(common, _LEFT_OUT, _OTHERWISE, _OWN)
