"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The official SDK checks what comes by its own types: for whatever is no chunk of a stream, an error
too, it raises its `ResponseValidationError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim import tables_own
from tenuto.sim.case import STREAM, Bare, Case, Step

_LEFT_OUT: Final = tables_own.OF_SERVERS | tables_own.OF_HOSTS | {
    "calls_interleaved", "content_filter_prompt_400", "refusal",
}  # fmt: skip
"""Faults that have no place here: words of a refusal, pieces of a call, errors of others."""

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    # Its types must find usage, a stop and arguments in a body.
    "length_no_usage": {"modes": STREAM},
    "done_no_finish": {"modes": STREAM},
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
    tables_own.think_then_length("A chain of thought"),
    tables_own.event_not_json(Bare.RAISES),
    tables_own.call_wrong_index(Bare.FINE),
)  # fmt: skip

_QUIRKS: Final = (
    tables_own.think("think", "A chain of thought"),
    tables_own.think_then_call("A chain of thought"),
    tables_own.DATA_LINES,
)  # fmt: skip

_OWN: Final = {"faults": _FAULTS, "quirks": _QUIRKS}


def tables(common: Mapping[str, Mapping[str, Case]]) -> tables_own.Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    return tables_own.own_tables(common, _LEFT_OUT, _OTHERWISE, _OWN)
