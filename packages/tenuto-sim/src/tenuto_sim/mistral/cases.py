"""The cases of this wire: common ones, with their differences, and its own.

The official SDK validates answers by its own types. It raises `ResponseValidationError` on anything
that is no chunk of a stream, even an error. Left out are words of a refusal, pieces of a call, and
errors of other providers.
"""

from __future__ import annotations

from typing import Final

from tenuto_sim.case import STREAM, Bare, Case, Step
from tenuto_sim.tables_own import BREAKS_THE_SDK, OF_HOSTS, OF_SERVERS, own_tables

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
        # Its types require usage, a stop and arguments in a body.
        "length_no_usage done_no_finish": {"modes": STREAM},
        "call_null_arguments": {"bare": Bare.RAISES},
        "call_no_type call_no_index call_wrong_index": {"bare": Bare.FINE},
        "body_error_only body_cut body_empty event_not_json": {"bare": Bare.RAISES},
        **BREAKS_THE_SDK,
    },
    own=_OWN,
    thoughts="A chain of thought",
)
