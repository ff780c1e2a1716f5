"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The common cases keep their names and plans: stops are translated when they are written. A case is
left out where this wire has no place for the fault (a call without `type`, say).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import STREAM, Bare, Case, Kind, Odd, Step
from tenuto.sim.tables_own import OF_SERVERS, Tables, own_tables

_LEFT_OUT: Final = OF_SERVERS | {
    "call_cut_tool_calls", "call_malformed", "call_malformed_always", "call_missing",
    "call_missing_always", "malformed_stop", "call_null_arguments", "call_object_arguments",
    "call_no_type", "call_no_index", "http_400_max_tokens_too_large", "http_400_unknown_key",
    "error_chunk_then_done", "calls_interleaved", "finish_no_done", "finish_null_string",
    "finish_empty_string", "usage_after_finish", "comments", "no_space_after_data", "event_lines",
    "double_done", "empty_choices_frames", "bom", "content_filter_prompt_400", "refusal",
}  # fmt: skip

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "length_json": {"request": {"format": "json"}},
    "think_tag_unclosed_length": {"request": {"options": {"num_predict": 400}}},
    "suspected_truncation": {"request": {"options": {"num_predict": 60}}},
    # Ids are no part of what the SDK makes of a call.
    "call_no_id": {"bare": Bare.FINE},
    "call_duplicate_ids": {"bare": Bare.FINE},
    # The SDK repeats no request.
    "http_429_once": {"recoverable": False},
    "http_500_once": {"recoverable": False},
    # An exception of its transport, or of its JSON, leaves the SDK as it is.
    "body_short": {"bare": Bare.HARMFUL},
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
}

_FAULTS: Final = (
    Case("cut_call_error", (Step(kind=Kind.CALL, error="cut_call"),),
         "The server cannot parse the model's call.", bare=Bare.RAISES, wants_tools=True,
         behaviours=("T14",)),
    Case("cut_call_error_mid_text", (Step(kind=Kind.PREFACE_CALL, error="mid_cut_call"),),
         "The server cannot parse the model's call, and says so in the middle.", modes=STREAM,
         bare=Bare.RAISES, wants_tools=True, behaviours=("T14", "S9")),
    Case("line_not_json", (Step(odd=Odd.NOT_JSON),), "One line holds no JSON.",
         modes=STREAM, bare=Bare.HARMFUL, behaviours=("N6",)),
    Case("think_then_length", (Step(think=True, keep=0.45, finish="length"),),
         "Thoughts, then a text that the limit cuts.", behaviours=("C1",)),
    Case("think_then_text", (Step(think=True),), "Thoughts, then the whole text.",
         bare=Bare.FINE, behaviours=("P8",)),
)  # fmt: skip


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    return own_tables(common, _LEFT_OUT, _OTHERWISE, {"faults": _FAULTS})
