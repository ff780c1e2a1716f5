"""The cases of this wire: common ones, with their differences, and its own.

The official SDK never raises on the provider's answers: a program checks the status. Other errors
reach the program as they are. Left out are words of a refusal, errors of other providers, end
marks, which no stream has, unknown keys, which it ignores, and "null", which means that there is no
stop yet.
"""

from __future__ import annotations

from typing import Final

from tenuto_sim.case import BODY, Bare
from tenuto_sim.tables_own import BREAKS_THE_SDK, OF_SERVERS, own_tables

TABLES: Final = own_tables(
    without=OF_SERVERS
    + "http_400_unknown_key finish_no_done finish_null_string double_done refusal",
    otherwise={
        "call_no_type": {"modes": BODY},  # every piece of a call has a type
        "body_error_only event_not_json": {"bare": Bare.RAISES},
        **BREAKS_THE_SDK,
    },
    own=["think_then_length event_not_json think think_then_call"],
    thoughts="A chain of thought",
)
