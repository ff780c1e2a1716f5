"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The official SDK checks what comes by its own types: for whatever is no chunk of a stream, an error
too, it raises its `ResponseValidationError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Bare, Case, Framing, Kind, Odd, Shape, Step
from tenuto.sim.tables_own import Tables, own_tables

_STREAM: Final = frozenset({"stream"})

_NOT_HERE: Final = frozenset({
    "error_object", "error_groq", "http_400_could_not_finish", "http_400_tool_use_failed",
    "error_openrouter", "calls_interleaved", "moderation_frame",
    "content_filter_prompt_400", "refusal",
    "host_marks_nothing", "host_has_no_mark", "host_has_no_stop", "host_counts_alone",
    "host_closes",
})  # fmt: skip
"""Faults that have no place here: words of a refusal, pieces of a call, errors of others."""

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    # Its types must find usage, a stop and arguments in a body.
    "length_no_usage": {"modes": _STREAM},
    "done_no_finish": {"modes": _STREAM},
    "call_null_arguments": {"bare": Bare.RAISES},
    "call_no_type": {"bare": Bare.FINE},
    "call_no_index": {"bare": Bare.FINE},
    "body_error_only": {"bare": Bare.RAISES},
    "body_cut": {"bare": Bare.RAISES},
    "body_empty": {"bare": Bare.RAISES},
    # The exceptions of its transport reach whoever uses the SDK as they are.
    "body_short": {"bare": Bare.HARMFUL},
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
}  # fmt: skip

_FAULTS: Final = (
    Case("model_length", (Step(keep=0.5, finish="model_length"),),
         "The context of the model is full.", repeat_last=True, recoverable=False,
         behaviours=("C12", "H8")),
    Case("error_stop", (Step(keep=0.5, finish="error"),), "The stop says that the answer failed.",
         behaviours=("N1", "C5")),
    Case("think_then_length", (Step(think=True, keep=0.45, finish="length"),),
         "A chain of thought, then a text that the limit cuts.", behaviours=("C1", "C20")),
    Case("event_not_json", (Step(odd=Odd.NOT_JSON),), "One event holds no JSON.",
         modes=_STREAM, bare=Bare.RAISES, behaviours=("N6",)),
    Case("call_wrong_index", (Step(kind=Kind.CALLS, shape=Shape.WRONG_INDEX),),
         "Three calls have the index of the first.", modes=_STREAM, wants_tools=True,
         bare=Bare.FINE, behaviours=("T13",)),
)  # fmt: skip

_QUIRKS: Final = (
    Case("think", (Step(think=True),), "A chain of thought, then the whole text.",
         bare=Bare.FINE, behaviours=("C20", "P8")),
    Case("think_then_call", (Step(kind=Kind.CALL, think=True),),
         "A chain of thought, then a call.", bare=Bare.FINE, wants_tools=True,
         behaviours=("C20", "P8")),
    Case("data_lines", (Step(framing=Framing.DATA_LINES),),
         "Each document stands on two data lines.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
)  # fmt: skip

_OWN: Final = {"faults": _FAULTS, "quirks": _QUIRKS}


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    names = {name for table in common.values() for name in table}
    return own_tables(common, names - _NOT_HERE, _OTHERWISE, _OWN)
