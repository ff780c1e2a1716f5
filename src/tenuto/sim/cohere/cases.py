"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The common cases keep their names and plans: stops are translated when they are written. A case is
left out where this wire has no place for the fault (words of a refusal, say). The official SDK
raises for nothing that stands in a stream, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Bare, Case, Framing, Kind, Odd, Shape, Step
from tenuto.sim.tables_own import Tables, own_tables

_BODY: Final = frozenset({"body"})
_STREAM: Final = frozenset({"stream"})

_AS_THEY_ARE: Final = (
    "normal", "text", "cjk", "tool", "tools", "tool_with_text",
    "length_once", "length_twice", "length_three_times", "length_always", "length_mid_word",
    "length_after_newline", "length_in_multibyte", "length_no_usage", "length_then_overlap",
    "length_then_restart", "length_then_preamble", "length_then_repeat", "length_then_500",
    "length_then_drop", "length_then_empty", "length_then_call", "length_then_filter",
    "length_json", "reasoning_only_length", "hidden_reasoning_length", "reasoning_only_stop",
    "think_tag_only", "think_tag_unclosed_length",
    "call_cut_length", "call_cut_tool_calls", "call_cut_stop", "call_cut_always",
    "call_cut_twice", "call_malformed", "call_malformed_always", "call_whole_length",
    "batch_one_broken", "call_empty_arguments_length", "call_array_arguments",
    "call_text_then_cut", "call_missing", "call_missing_always", "malformed_stop",
    "call_null_arguments", "call_object_arguments", "call_double_encoded",
    "call_no_id", "call_duplicate_ids", "calls_interleaved", "call_stop",
    "empty_once", "empty_always", "whitespace_once", "empty_after_tool_result",
    "empty_after_tool_result_always", "drop_before_text", "drop_mid_text",
    "drop_mid_text_always", "drop_mid_call", "eof_no_finish", "done_no_finish",
    "finish_no_done", "body_error_only",
    "unknown_stop", "unknown_stop_control", "finish_null_string", "finish_empty_string",
    "finish_repeated", "finish_conflict", "content_after_finish", "usage_after_finish",
    "suspected_truncation", "abort", "content_filter", "context_length_400", "length_context",
    "http_400_max_tokens_too_large", "http_400_unknown_key", "http_429_once", "http_500_once",
    "http_503_always", "crlf", "comments", "no_space_after_data", "event_lines", "double_done",
    "multibyte_split", "tiny_writes", "one_write", "bom",
)  # fmt: skip
"""Common cases that need no other words here."""

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "length_foreign_spelling": {"plan": (Step(keep=0.45, finish="length "),)},
    "finish_upper": {
        "summary": "The stop is in small letters.", "plan": (Step(finish="complete"),)
    },
    "call_no_type": {"bare": Bare.FINE},
    "call_no_index": {"bare": Bare.SILENT},
    "body_cut": {"bare": Bare.RAISES},
    "body_empty": {"bare": Bare.RAISES},
    # The exceptions of its transport reach whoever uses the SDK as they are.
    "body_short": {"bare": Bare.HARMFUL},
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
    "error_chunk_mid_text": {"bare": Bare.SILENT},
    "error_chunk_then_done": {"bare": Bare.SILENT},
    "content_filter_prompt_400": {"summary": "The usage guidelines refuse the prompt (498)."},
}  # fmt: skip

_FAULTS: Final = (
    Case("timeout", (Step(keep=0.5, finish="TIMEOUT"),), "The time allowed for a text is over.",
         behaviours=("N1", "C5")),
    Case("think_then_length", (Step(think=True, keep=0.45, finish="length"),),
         "A chain of thought, then a text that the limit cuts.", behaviours=("C1", "C20")),
    Case("think_then_call_cut", (Step(kind=Kind.CALL, think=True, keep=0, finish="length"),),
         "A chain of thought, and no room for the call.",
         wants_tools=True, behaviours=("C11", "C20")),
    Case("event_not_json", (Step(odd=Odd.NOT_JSON),), "One event holds no JSON.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("N6",)),
    Case("call_wrong_index", (Step(kind=Kind.CALLS, shape=Shape.WRONG_INDEX),),
         "Three calls have the index of the first.", modes=_STREAM, wants_tools=True,
         behaviours=("T13",)),
)  # fmt: skip

_QUIRKS: Final = (
    Case("stop_sequence", (Step(finish="stop_sequence"),), "A stop sequence ends the text.",
         bare=Bare.FINE, request={"stop_sequences": ["###"]}, behaviours=("N1",)),
    Case("think", (Step(think=True),), "A chain of thought, then the whole text.",
         bare=Bare.FINE, behaviours=("C20", "P8")),
    Case("think_then_call", (Step(kind=Kind.CALL, think=True),),
         "A chain of thought, then a call.", bare=Bare.FINE, wants_tools=True,
         behaviours=("C20", "P8")),
    Case("unknown_event", (Step(odd=Odd.UNKNOWN_EVENT),), "One event has an unknown type.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
    Case("data_lines", (Step(framing=Framing.DATA_LINES),),
         "Each document stands on two data lines.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
)  # fmt: skip

_OWN: Final = {"faults": _FAULTS, "quirks": _QUIRKS}


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    return own_tables(common, _AS_THEY_ARE, _OTHERWISE, _OWN)
