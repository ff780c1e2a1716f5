"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The official SDK checks what comes by its own types: for whatever is no chunk of a stream, an error
too, it raises its `ResponseValidationError`. Left out are words of a refusal, pieces of a call, and
errors of others.
"""

from __future__ import annotations

from typing import Final

from tenuto.sim.case import STREAM, Bare, Case, Step
from tenuto.sim.tables_own import BREAKS_THE_SDK, OF_HOSTS, OF_SERVERS, own_tables

_OWN: Final = (
    Case("model_length", (Step(keep=0.5, finish="model_length"),),
         "The context of the model is full.", repeat_last=True, recoverable=False,
         behaviours=("C12", "H8")),
    Case("error_stop", (Step(keep=0.5, finish="error"),), "The stop says that the answer failed.",
         behaviours=("N1", "C5")),
    "think_then_length event_not_json call_wrong_index think think_then_call data_lines",
)  # fmt: skip

TABLES: Final = own_tables(
    without=OF_SERVERS + OF_HOSTS + "calls_interleaved content_filter_prompt_400 refusal",
    otherwise={
        # Its types must find usage, a stop and arguments in a body.
        "length_no_usage done_no_finish": {"modes": STREAM},
        "call_null_arguments": {"bare": Bare.RAISES},
        "call_no_type call_no_index call_wrong_index": {"bare": Bare.FINE},
        "body_error_only body_cut body_empty event_not_json": {"bare": Bare.RAISES},
        **BREAKS_THE_SDK,
    },
    own=_OWN,
    thoughts="A chain of thought",
)
