"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The common cases keep their names and plans: stops are translated when they are written. A case is
left out where this wire has no place for the fault (a call without `type`, say).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Bare, Case, Kind, Odd, Step
from tenuto.sim.tables_own import Tables, own_tables

_BODY: Final = frozenset({"body"})
_STREAM: Final = frozenset({"stream"})

_AS_THEY_ARE: Final = (
    "normal", "text", "cjk", "tool", "tools", "tool_with_text",
    "length_once", "length_twice", "length_three_times", "length_always", "length_mid_word",
    "length_after_newline", "length_in_multibyte", "length_no_usage", "length_foreign_spelling",
    "length_then_overlap", "length_then_restart", "length_then_preamble", "length_then_repeat",
    "length_then_500", "length_then_drop", "length_then_empty", "length_then_call",
    "length_then_filter", "reasoning_only_length", "hidden_reasoning_length",
    "reasoning_only_stop", "think_tag_only",
    "call_cut_length", "call_cut_stop", "call_cut_always", "call_cut_twice", "call_whole_length",
    "batch_one_broken", "call_empty_arguments_length", "call_array_arguments",
    "call_double_encoded", "call_text_then_cut", "call_stop", "empty_once", "empty_always",
    "whitespace_once", "empty_after_tool_result", "empty_after_tool_result_always",
    "drop_before_text", "drop_mid_text", "drop_mid_text_always", "drop_mid_call",
    "eof_no_finish", "error_chunk_mid_text", "body_cut", "body_error_only", "body_empty",
    "unknown_stop", "unknown_stop_control", "finish_repeated", "finish_conflict", "finish_upper",
    "content_after_finish", "done_no_finish", "abort", "content_filter", "context_length_400",
    "length_context",
    "http_503_always", "crlf", "multibyte_split", "tiny_writes", "one_write",
    "host_marks_nothing", "host_has_no_stop", "host_has_no_mark", "host_counts_alone",
    "host_closes",
)  # fmt: skip
"""Common cases that need no other words here."""

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
         "The server cannot parse the model's call, and says so in the middle.", modes=_STREAM,
         bare=Bare.RAISES, wants_tools=True, behaviours=("T14", "S9")),
    Case("line_not_json", (Step(odd=Odd.NOT_JSON),), "One line holds no JSON.",
         modes=_STREAM, bare=Bare.HARMFUL, behaviours=("N6",)),
    Case("think_then_length", (Step(think=True, keep=0.45, finish="length"),),
         "Thoughts, then a text that the limit cuts.", behaviours=("C1",)),
    Case("think_then_text", (Step(think=True),), "Thoughts, then the whole text.",
         bare=Bare.FINE, behaviours=("P8",)),
)  # fmt: skip


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    return own_tables(common, _AS_THEY_ARE, _OTHERWISE, {"faults": _FAULTS})
