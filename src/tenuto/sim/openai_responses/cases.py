"""The cases of OpenAI Responses: the common ones that this wire can show, and its own.

Left out are those of other wires' words: a stop that says tool calls (this one says `completed` of
both), terminators of their own, errors of OpenRouter, Groq and vLLM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Arguments, Bare, Case, Kind, Odd, Shape, Step
from tenuto.sim.tables_own import STATUS_FAULTS, STATUS_QUIRKS, Tables, own_tables

_BODY: Final = frozenset({"body"})
_STREAM: Final = frozenset({"stream"})
_JSON: Final = {"text": {"format": {"type": "json_object"}}}

_AS_THEY_ARE: Final = frozenset({
    "normal", "text", "cjk", "tool", "tools", "tool_with_text",
    "length_once", "length_twice", "length_three_times", "length_always", "length_mid_word",
    "length_after_newline", "length_in_multibyte", "length_no_usage", "length_foreign_spelling",
    "length_then_overlap", "length_then_restart", "length_then_preamble", "length_then_repeat",
    "length_then_500", "length_then_drop", "length_then_empty", "length_then_call",
    "length_then_filter",
    "reasoning_only_length", "hidden_reasoning_length", "reasoning_only_stop", "think_tag_only",
    "call_cut_length", "call_cut_tool_calls", "call_cut_stop", "call_cut_always",
    "call_cut_twice", "call_malformed", "call_malformed_always", "call_whole_length",
    "batch_one_broken", "call_empty_arguments_length", "call_array_arguments",
    "call_text_then_cut", "call_null_arguments", "call_object_arguments", "call_double_encoded",
    "call_no_id", "call_duplicate_ids", "calls_interleaved",
    "empty_once", "empty_always", "whitespace_once", "empty_after_tool_result",
    "empty_after_tool_result_always", "drop_before_text", "drop_mid_text",
    "drop_mid_text_always", "drop_mid_call", "eof_no_finish", "body_cut",
    "body_empty", "unknown_stop", "unknown_stop_control", "finish_null_string",
    "finish_empty_string", "finish_upper", "finish_repeated", "abort", "content_filter",
    "content_filter_prompt_400", "refusal", "context_length_400", "length_context",
    "http_429_once", "http_500_once", "http_503_always", "body_short", "cut_off_mid_text",
    "reset_mid_text", "error_chunk_mid_text", "crlf", "comments", "no_space_after_data",
    "event_lines", "double_done", "multibyte_split", "tiny_writes", "one_write", "bom",
})  # fmt: skip
"""Common cases that need no other words here."""

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "length_json": {"request": _JSON},
    "think_tag_unclosed_length": {"request": {"max_output_tokens": 400}},
    "suspected_truncation": {"request": {"max_output_tokens": 60}},
    # The last event says how it ends: without it a stream is dropped.
    "done_no_finish": {"modes": _BODY},
    # The last event tells of each call once more.
    "call_no_index": {
        "summary": "The events of three calls do not say to which item they belong.",
        "bare": Bare.FINE,
    },
    "body_error_only": {"bare": Bare.SILENT},
    "http_400_max_tokens_too_large": {"request": {"max_output_tokens": 2000}},
    "http_400_unknown_key": {"request": {"user": "someone"}},
}


def _fault(name: str, summary: str, *plan: Step, **more: Any) -> Case:
    return Case(name, plan, summary, **({"behaviours": ("C1",)} | more))


_FAULTS: Final = (
    _fault("incomplete_no_reason", "An incomplete response does not say why.",
           Step(keep=0.45, finish="incomplete"), behaviours=("N1", "C1")),
    _fault("items_called_whole", "A text that the limit cut is in an item called completed.",
           Step(keep=0.45, finish="length", odd=Odd.ITEMS_CALLED_WHOLE)),
    _fault("call_called_whole", "A cut call in an incomplete response is called completed.",
           Step(kind=Kind.CALL, arguments=Arguments.CUT, finish="length",
                odd=Odd.ITEMS_CALLED_WHOLE),
           wants_tools=True, bare=Bare.HARMFUL, behaviours=("T1", "T5")),
    _fault("item_called_incomplete", "A completed response holds an incomplete text.",
           Step(keep=0.45, odd=Odd.ITEM_CALLED_INCOMPLETE), behaviours=("S6",)),
    _fault("end_called_completed", "The last event is named completed, its response is not.",
           Step(keep=0.45, finish="length", odd=Odd.END_CALLED_COMPLETED),
           modes=_STREAM, behaviours=("S6",)),
    _fault("error_flat_mid_text", "An error event of the documented form, on which no SDK raises.",
           Step(keep=0.5, error="mid_flat"), modes=_STREAM, behaviours=("S9",)),
    _fault("unknown_status", "The status is one that nobody knows.",
           Step(keep=0.6, finish="status:weird_new_status"), recoverable=False,
           behaviours=("N1",)),
    _fault("think_then_call_cut_always", "Reasoning, then a cut call, for ever.",
           Step(kind=Kind.CALL, think=True, arguments=Arguments.CUT, finish="length"),
           wants_tools=True, bare=Bare.HARMFUL, repeat_last=True, recoverable=False,
           behaviours=("T5", "T8")),
    _fault("event_not_json", "One event holds no JSON.", Step(odd=Odd.NOT_JSON),
           modes=_STREAM, bare=Bare.HARMFUL, behaviours=("N6",)),
)  # fmt: skip

_QUIRKS: Final = (
    Case("call_without_pieces", (Step(kind=Kind.CALL, odd=Odd.CALLS_WITHOUT_PIECES),),
         "A call comes whole at the end of its item, and in no pieces.",
         modes=_STREAM, bare=Bare.FINE, wants_tools=True, behaviours=("T12",)),
    Case("call_wrong_index", (Step(kind=Kind.CALLS, shape=Shape.WRONG_INDEX),),
         "The events of three calls have the index of the first.",
         modes=_STREAM, bare=Bare.FINE, wants_tools=True, behaviours=("T13",)),
    Case("pings", (Step(odd=Odd.PINGS),), "A keepalive behind each event.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
)  # fmt: skip

_BLOCKED: Final = (
    Case("failed_policy", (Step(keep=0, finish="failed_policy"),),
         "The response failed because of the prompt.",
         repeat_last=True, recoverable=False, behaviours=("E12",)),
)  # fmt: skip

_OWN: Final = {
    "faults": (*STATUS_FAULTS, *_FAULTS),
    "quirks": (*STATUS_QUIRKS, *_QUIRKS),
    "blocked": _BLOCKED,
}


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    return own_tables(common, _AS_THEY_ARE, _OTHERWISE, _OWN)
