"""The cases of this wire: the common ones, except those about calls, reasoning, and continuations
other than at the end of the prompt."""

from __future__ import annotations

from typing import Final

from tenuto_sim.case import Bare
from tenuto_sim.tables_own import CANNOT_BE_ASKED, WITH_CALLS, own_tables

TABLES: Final = own_tables(
    without=WITH_CALLS
    + """ hidden_reasoning_length reasoning_only_length reasoning_only_stop refusal
        http_400_could_not_finish http_400_tool_use_failed malformed_stop length_then_call
        length_then_overlap length_then_preamble length_then_restart length_then_repeat
        empty_after_tool_result empty_after_tool_result_always""",
    # The SDK loses the first event, and here a text begins with it.
    otherwise={"bom": {"bare": Bare.SILENT}, **CANNOT_BE_ASKED},
)
