"""The cases of this wire: common ones, with their differences, and its own.

The common cases keep their names and plans: stops are translated when written. A case is left out
if this wire has no place for the fault, such as a call without `type`.
"""

from __future__ import annotations

from typing import Final

from tenuto_sim.case import STREAM, Bare, Case, Kind, Step
from tenuto_sim.tables_own import BREAKS_THE_SDK, CUT_AS_WHOLE, OF_SERVERS, own_tables

_OWN: Final = (
    Case("cut_call_error", (Step(kind=Kind.CALL, error="cut_call"),),
         "The server cannot parse the model's call.", bare=Bare.RAISES, wants_tools=True,
         behaviours=("T14",)),
    Case("cut_call_error_mid_text", (Step(kind=Kind.PREFACE_CALL, error="mid_cut_call"),),
         "The server cannot parse the model's call, and says so in the middle.", modes=STREAM,
         bare=Bare.RAISES, wants_tools=True, behaviours=("T14", "S9")),
    "line_not_json think_then_length think_then_text",
)  # fmt: skip

TABLES: Final = own_tables(
    without=OF_SERVERS
    + """call_cut_tool_calls call_malformed call_malformed_always call_missing call_missing_always
        malformed_stop call_null_arguments call_object_arguments call_no_type call_no_index
        http_400_max_tokens_too_large http_400_unknown_key error_chunk_then_done calls_interleaved
        finish_no_done finish_null_string finish_empty_string usage_after_finish comments
        no_space_after_data event_lines double_done empty_choices_frames bom
        content_filter_prompt_400 refusal""",
    otherwise={
        **CUT_AS_WHOLE,
        "length_json": {"request": {"format": "json"}},
        # The SDK's calls have no ids.
        "call_no_id call_duplicate_ids": {"bare": Bare.FINE},
        # The SDK repeats no request.
        "http_429_once http_500_once": {"recoverable": False},
        **BREAKS_THE_SDK,
        "think_then_length": {"behaviours": ("C1",)},
        "think_then_text": {"behaviours": ("P8",)},
    },
    own=_OWN,
    thoughts="Thoughts",
    limit=lambda tokens: {"options": {"num_predict": tokens}},
)
