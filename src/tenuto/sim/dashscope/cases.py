"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The official SDK raises for nothing that the provider answers: a program looks at the status that it
is given. Whatever else happens to it reaches the program as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Bare, Case, Kind, Odd, Step
from tenuto.sim.tables_own import Tables, own_tables

_STREAM: Final = frozenset({"stream"})
_BODY: Final = frozenset({"body"})

_NOT_HERE: Final = frozenset({
    "error_object", "error_groq", "http_400_could_not_finish", "http_400_tool_use_failed",
    "error_openrouter", "moderation_frame", "empty_choices", "refusal", "double_done",
    "finish_no_done", "http_400_unknown_key", "finish_null_string",
})  # fmt: skip
"""Faults that have no place here: words of a refusal, errors of others, end marks, which no stream
has; keys that it does not know, which it passes over; and "null", which is no stop but none yet."""

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "call_no_type": {"modes": _BODY},  # pieces of calls have one each
    "body_error_only": {"bare": Bare.RAISES},
    # The exceptions of its transport reach whoever uses the SDK as they are.
    "body_short": {"bare": Bare.HARMFUL},
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
}

_FAULTS: Final = (
    Case("think_then_length", (Step(think=True, keep=0.45, finish="length"),),
         "A chain of thought, then a text that the limit cuts.", behaviours=("C1", "C20")),
    Case("event_not_json", (Step(odd=Odd.NOT_JSON),), "One event holds no JSON.",
         modes=_STREAM, bare=Bare.RAISES, behaviours=("N6",)),
)  # fmt: skip

_QUIRKS: Final = (
    Case("think", (Step(think=True),), "A chain of thought, then the whole text.",
         bare=Bare.FINE, behaviours=("C20", "P8")),
    Case("think_then_call", (Step(kind=Kind.CALL, think=True),),
         "A chain of thought, then a call.", bare=Bare.FINE, wants_tools=True,
         behaviours=("C20", "P8")),
)  # fmt: skip

_OWN: Final = {"faults": _FAULTS, "quirks": _QUIRKS}


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    names = {name for table in common.values() for name in table}
    return own_tables(common, names - _NOT_HERE, _OTHERWISE, _OWN)
