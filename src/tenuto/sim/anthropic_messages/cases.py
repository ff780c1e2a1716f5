"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The common cases keep their names and plans: stops are translated when they are written. A case is
left out where this wire has no place for the fault (a call without `type`, say).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Bare, Case, Ending, Framing, Kind, Odd, Say, Search, Shape, Step
from tenuto.sim.tables_own import Tables, own_tables

_BODY: Final = frozenset({"body"})
_STREAM: Final = frozenset({"stream"})
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "items": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title", "items"],
    "additionalProperties": False,
}

_AS_THEY_ARE: Final = (
    "normal", "text", "cjk", "tool", "tools", "tool_with_text",
    "length_once", "length_twice", "length_three_times", "length_always", "length_mid_word",
    "length_after_newline", "length_in_multibyte", "length_foreign_spelling",
    "length_then_overlap", "length_then_restart", "length_then_preamble", "length_then_repeat",
    "length_then_500", "length_then_drop", "length_then_empty", "length_then_call",
    "length_then_filter", "reasoning_only_length", "hidden_reasoning_length",
    "reasoning_only_stop", "think_tag_only", "think_tag_unclosed_length",
    "call_cut_length", "call_cut_tool_calls", "call_cut_stop", "call_cut_always",
    "call_cut_twice", "call_whole_length", "batch_one_broken",
    "call_empty_arguments_length", "call_array_arguments", "call_text_then_cut", "call_missing",
    "call_missing_always", "call_double_encoded", "call_no_id", "call_no_index",
    "call_duplicate_ids", "calls_interleaved", "call_stop",
    "empty_once", "empty_always", "whitespace_once", "empty_after_tool_result",
    "empty_after_tool_result_always", "drop_before_text", "drop_mid_text",
    "drop_mid_text_always", "drop_mid_call", "eof_no_finish", "done_no_finish",
    "finish_no_done", "error_chunk_mid_text",
    "error_chunk_then_done", "body_cut", "body_short", "body_error_only", "body_empty",
    "unknown_stop", "unknown_stop_control", "finish_null_string", "finish_empty_string",
    "finish_upper", "finish_repeated", "finish_conflict", "content_after_finish",
    "suspected_truncation", "abort", "content_filter", "refusal", "context_length_400",
    "length_context", "http_400_max_tokens_too_large", "http_429_once", "http_500_once",
    "crlf", "comments", "no_space_after_data", "event_lines", "double_done", "multibyte_split",
    "tiny_writes", "one_write",
)  # fmt: skip
"""Common cases that need no other words here."""

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "length_no_usage": {"modes": _BODY},
    "length_json": {
        "request": {"output_config": {"format": {"type": "json_schema", "schema": _SCHEMA}}}
    },
    # A body holds the arguments decoded, so that malformed ones show in streams alone.
    "call_malformed": {"modes": _STREAM},
    "call_malformed_always": {"modes": _STREAM},
    "call_null_arguments": {"modes": _BODY},
    "call_object_arguments": {
        "summary": "The whole input stands in the event that begins the block.",
        "modes": _STREAM,
        "bare": Bare.FINE,
    },
    "usage_after_finish": {
        "summary": "Usage follows the stop, in an event whose stop is null."
    },
    # An exception of its transport leaves the SDK as it is, once the stream has begun.
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
    # The decoder of the SDK takes the mark for a part of the first field's name.
    "bom": {"bare": Bare.HARMFUL},
    "content_filter_prompt_400": {"summary": "A filter refuses the prompt."},
    "http_400_unknown_key": {"request": {"service_tier": "auto"}},
}  # fmt: skip

_FAULTS: Final = (
    Case("think_then_length", (Step(think=True, keep=0.45, finish="length"),),
         "A signed chain of thought, then a text that the limit cuts.", behaviours=("C1", "C20")),
    Case("think_then_call_cut", (Step(kind=Kind.CALL, think=True, keep=0, finish="length"),),
         "A signed chain of thought, and no room for the call.",
         wants_tools=True, behaviours=("C11", "C20")),
    Case("pause_turn", (Step(keep=0.45, search=Search.AFTER, finish="pause_turn"),),
         "The loop of the provider's own tools pauses.", behaviours=("C26",)),
    Case("pause_turn_before_text", (Step(keep=0, search=Search.AFTER, finish="pause_turn"),),
         "The turn pauses before any text.", behaviours=("C26",)),
    Case("pause_turn_twice",
         (Step(keep=0.3, search=Search.AFTER, finish="pause_turn"),) * 2,
         "The turn pauses, and pauses again.", behaviours=("C26",)),
    Case("pause_turn_always", (Step(keep=0.05, search=Search.AFTER, finish="pause_turn"),),
         "The turn pauses for ever.", repeat_last=True, recoverable=False, behaviours=("C26",)),
    Case("pause_then_length",
         (Step(keep=0.3, search=Search.AFTER, finish="pause_turn"),
          Step(keep=0.45, finish="length")),
         "The turn pauses, and then the limit cuts it.", behaviours=("C26", "C1")),
    Case("compaction", (Step(say=Say.COMPACTION, finish="compaction"),),
         "The conversation was summarized, and nothing said after it.", behaviours=("C26",)),
    Case("error_api_mid_text", (Step(keep=0.5, error="mid_api", ending=Ending.NO_DONE),),
         "An api_error comes in the middle.", modes=_STREAM, bare=Bare.RAISES,
         behaviours=("S9",)),
    Case("usage_missing", (Step(odd=Odd.USAGE_MISSING),),
         "The event that holds the stop has no usage.", modes=_STREAM, bare=Bare.HARMFUL,
         behaviours=("N6",)),
    Case("event_not_json", (Step(odd=Odd.NOT_JSON),),
         "One event holds no JSON.", modes=_STREAM, bare=Bare.HARMFUL, behaviours=("N6",)),
    Case("call_wrong_index", (Step(kind=Kind.CALLS, shape=Shape.WRONG_INDEX),),
         "Three calls have the index of the first.", modes=_STREAM, wants_tools=True,
         bare=Bare.HARMFUL, behaviours=("T13",)),
)  # fmt: skip

_HTTP: Final = (
    Case("http_529_once", (Step(error="overloaded"),), "The service is overloaded once.",
         bare=Bare.RAISES, behaviours=("P5",)),
    Case("http_529_always", (Step(error="overloaded"),), "The service is always overloaded.",
         bare=Bare.RAISES, repeat_last=True, recoverable=False, behaviours=("P5",)),
)  # fmt: skip

_QUIRKS: Final = (
    Case("stop_sequence", (Step(finish="stop_sequence"),), "A stop sequence ends the text.",
         bare=Bare.FINE, request={"stop_sequences": ["###"]}, behaviours=("N1",)),
    Case("think_signed", (Step(think=True),), "A signed chain of thought, then the whole text.",
         bare=Bare.FINE, behaviours=("C20", "P8")),
    Case("think_then_call", (Step(kind=Kind.CALL, think=True),),
         "A signed chain of thought, then a call.", bare=Bare.FINE, wants_tools=True,
         behaviours=("C20", "P8")),
    Case("search_cited", (Step(search=Search.BEFORE),),
         "A search that the provider ran, and a text that cites it.",
         bare=Bare.FINE, behaviours=("N3", "P8")),
    Case("pings", (Step(odd=Odd.PINGS),), "Three pings before each event.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
    Case("unknown_event", (Step(odd=Odd.UNKNOWN_EVENT),), "One event has an unknown type.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
    Case("data_lines", (Step(framing=Framing.DATA_LINES),),
         "Each document stands on two data lines.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
)  # fmt: skip


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    own = {"faults": _FAULTS, "http_faults": _HTTP, "quirks": _QUIRKS}
    return own_tables(common, _AS_THEY_ARE, _OTHERWISE, own)
