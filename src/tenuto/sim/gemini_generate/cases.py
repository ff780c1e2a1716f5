"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The common cases keep their names and plans: stops are translated when they are written. A case is
left out where this wire has no place for the fault (a call without `type`, say).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Bare, Case, Framing, Kind, Odd, Say, Step
from tenuto.sim.tables_own import Tables, own_tables

_BODY: Final = frozenset({"body"})
_STREAM: Final = frozenset({"stream"})
_SCHEMA: Final = {
    "type": "OBJECT",
    "properties": {
        "title": {"type": "STRING"},
        "items": {"type": "ARRAY", "items": {"type": "STRING"}},
    },
    "required": ["title", "items"],
}

_AS_THEY_ARE: Final = (
    "normal", "text", "cjk", "tool", "tools", "tool_with_text",
    "length_once", "length_twice", "length_three_times", "length_always", "length_mid_word",
    "length_after_newline", "length_in_multibyte", "length_no_usage",
    "length_then_overlap", "length_then_restart", "length_then_preamble", "length_then_repeat",
    "length_then_500", "length_then_drop", "length_then_empty", "length_then_call",
    "length_then_filter", "reasoning_only_length", "hidden_reasoning_length",
    "reasoning_only_stop", "think_tag_only", "think_tag_unclosed_length",
    "call_cut_length", "call_cut_stop", "call_cut_always",
    "call_cut_twice", "call_whole_length", "batch_one_broken",
    "call_empty_arguments_length", "call_array_arguments", "call_text_then_cut",
    "call_double_encoded", "call_duplicate_ids", "call_stop",
    "empty_once", "empty_always", "whitespace_once", "empty_after_tool_result",
    "empty_after_tool_result_always", "drop_before_text", "drop_mid_text",
    "drop_mid_text_always", "drop_mid_call", "eof_no_finish", "finish_no_done",
    "error_chunk_mid_text", "body_cut", "body_short", "body_error_only", "body_empty",
    "unknown_stop", "unknown_stop_control", "finish_repeated", "finish_conflict",
    "finish_upper", "content_after_finish", "usage_after_finish", "suspected_truncation", "abort",
    "content_filter", "context_length_400",
    "length_context", "http_400_max_tokens_too_large", "http_429_once", "http_500_once",
    "http_503_always", "crlf", "empty_choices_frames", "multibyte_split", "tiny_writes",
    "one_write",
)  # fmt: skip
"""Common cases that need no other words here."""

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "length_json": {
        "request": {"response_mime_type": "application/json", "response_schema": _SCHEMA}
    },
    "think_tag_unclosed_length": {"request": {"max_output_tokens": 400}},
    "suspected_truncation": {"request": {"max_output_tokens": 60}},
    "http_400_max_tokens_too_large": {"request": {"max_output_tokens": 2000}},
    # The SDK sends no hints, so that the key is one of the caller's contract.
    "http_400_unknown_key": {
        "summary": "A key of the request is not known.",
        "recoverable": False,
        "request": {
            "safety_settings": [
                {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}
            ]
        }
    },
    # Ids are no part of a call with many models.
    "call_no_id": {"bare": Bare.FINE},
    # The SDK reads an answer that lacks everything as one that says nothing.
    "body_error_only": {"bare": Bare.SILENT},
    "body_empty": {"bare": Bare.SILENT},
    # An exception of its transport leaves the SDK as it is.
    "body_short": {"bare": Bare.HARMFUL},
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
    # The SDK takes every line that does not begin with `data: ` for a piece of an error.
    "comments": {"bare": Bare.HARMFUL},
    "no_space_after_data": {"bare": Bare.HARMFUL},
    "event_lines": {"bare": Bare.HARMFUL},
    "bom": {"bare": Bare.HARMFUL},
    # Without an end mark, a stream that has no stop has broken off.
    "done_no_finish": {"modes": _BODY},
    "finish_null_string": {"modes": _BODY},
    "finish_empty_string": {"modes": _BODY},
}  # fmt: skip


def _stopped(name: str, stop: str, summary: str, **more: Any) -> Case:
    """Return a case of a stop with nothing beside it, where a call was wanted."""
    given: dict[str, Any] = {"wants_tools": True, "behaviours": ("T14",)} | more
    return Case(name, (Step(kind=Kind.CALL, say=Say.NOTHING, finish=stop),), summary, **given)


_CONTINUES: Final = Step(keep=0.45, finish="CONTINUATION")

_FAULTS: Final = (
    _stopped("malformed_function_call", "MALFORMED_FUNCTION_CALL",
             "The model's call cannot be parsed."),
    _stopped("malformed_function_call_always", "MALFORMED_FUNCTION_CALL",
             "No call of the model's can be parsed.", repeat_last=True, recoverable=False,
             behaviours=("T14", "T8")),
    _stopped("unexpected_tool_call", "UNEXPECTED_TOOL_CALL",
             "The model called what was not declared."),
    _stopped("too_many_tool_calls", "TOO_MANY_TOOL_CALLS",
             "The loop of the provider's own tools gave up.", repeat_last=True,
             recoverable=False, behaviours=("N1",)),
    _stopped("missing_thought_signature", "MISSING_THOUGHT_SIGNATURE",
             "A signature is missing in the history.", repeat_last=True, recoverable=False,
             behaviours=("N1",)),
    Case("unexpected_call_carried", (Step(kind=Kind.CALL, finish="UNEXPECTED_TOOL_CALL"),),
         "A call that makes no sense is carried all the same.", bare=Bare.HARMFUL,
         wants_tools=True, behaviours=("T1", "T14")),
    Case("malformed_response", (Step(keep=0.3, finish="MALFORMED_RESPONSE"),),
         "The response is malformed from here on.", behaviours=("N1", "S3")),
    Case("other_empty", (Step(say=Say.NOTHING, finish="OTHER"),),
         "Nothing comes, for a reason that is not specified.", behaviours=("E5",)),
    Case("other_mid_text", (Step(keep=0.5, finish="OTHER"),),
         "The text stops for a reason that is not specified.", recoverable=False,
         behaviours=("N1",)),
    Case("continuation_then_length", (_CONTINUES, Step(keep=0.45, finish="length")),
         "The answer goes on in another request, and then the limit cuts it.",
         behaviours=("C26", "C1")),
    Case("continuation_no_token", (Step(keep=0.45, finish="continuation"),),
         "The answer is to go on, but nothing says with what.", behaviours=("C26", "C1")),
    Case("think_then_length", (Step(think=True, keep=0.45, finish="length"),),
         "Thoughts, then a text that the limit cuts.", behaviours=("C1", "C20")),
    Case("think_then_call_cut", (Step(kind=Kind.CALL, think=True, keep=0, finish="length"),),
         "Thoughts, and no room for the call.", wants_tools=True, behaviours=("C11", "C20")),
    Case("event_not_json", (Step(odd=Odd.NOT_JSON),), "One event holds no JSON.",
         modes=_STREAM, bare=Bare.HARMFUL, behaviours=("N6",)),
    Case("error_internal_mid_text", (Step(keep=0.5, error="mid_internal"),),
         "An internal error comes in the middle.", modes=_STREAM, bare=Bare.RAISES,
         behaviours=("S9",)),
    Case("http_504_once", (Step(error="deadline"),), "The deadline expires once.",
         bare=Bare.RAISES, behaviours=("P5",)),
    Case("continuation", (_CONTINUES,), "The answer goes on in another request.",
         bare=Bare.FINE, behaviours=("C26",)),
    Case("continuation_before_text", (Step(keep=0, finish="CONTINUATION"),),
         "The answer goes on in another request before it has said anything.", bare=Bare.FINE,
         behaviours=("C26",)),
    Case("continuation_twice", (_CONTINUES, _CONTINUES),
         "The answer goes on in another request, and in a third.", bare=Bare.FINE,
         behaviours=("C26",)),
    Case("think_then_text", (Step(think=True),), "Thoughts, then the whole text.",
         bare=Bare.FINE, behaviours=("P8",)),
    Case("think_then_call", (Step(kind=Kind.CALL, think=True),), "Thoughts, then a call.",
         bare=Bare.FINE, wants_tools=True, behaviours=("C20", "P8")),
    Case("data_lines", (Step(framing=Framing.DATA_LINES),),
         "Each document stands on two data lines.", modes=_STREAM, bare=Bare.FINE,
         behaviours=("S8",)),
)  # fmt: skip

_BLOCKED: Final = (
    Case("prompt_blocked", (Step(say=Say.REFUSAL),), "The prompt is blocked; nothing answers it.",
         repeat_last=True, recoverable=False, behaviours=("E12",)),
    Case("safety_empty", (Step(say=Say.NOTHING, finish="SAFETY"),),
         "A filter stops the answer before its first word.",
         repeat_last=True, recoverable=False, behaviours=("E12",)),
    Case("recitation", (Step(keep=0.3, finish="RECITATION"),), "The text recites a source.",
         repeat_last=True, recoverable=False, behaviours=("C6", "E12")),
)  # fmt: skip


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    own = {"faults": _FAULTS, "blocked": _BLOCKED}
    return own_tables(common, _AS_THEY_ARE, _OTHERWISE, own)
