"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The official SDK raises for nothing that the provider answers: a program looks at the status that it
is given. Whatever else happens to it reaches the program as it is. Left out are words of a refusal,
errors of others, end marks, which no stream has; keys that it does not know, which it passes over;
and "null", which is no stop but none yet.
"""

from __future__ import annotations

from typing import Final

from tenuto.sim.case import BODY, Bare
from tenuto.sim.tables_own import BREAKS_THE_SDK, OF_SERVERS, own_tables

TABLES: Final = own_tables(
    without=OF_SERVERS
    + "http_400_unknown_key finish_no_done finish_null_string double_done refusal",
    otherwise={
        "call_no_type": {"modes": BODY},  # pieces of calls have one each
        "body_error_only event_not_json": {"bare": Bare.RAISES},
        **BREAKS_THE_SDK,
    },
    own=["think_then_length event_not_json think think_then_call"],
    thoughts="A chain of thought",
)
