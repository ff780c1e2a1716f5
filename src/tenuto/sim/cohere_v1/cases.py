"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The common cases keep their names and plans: stops are translated when they are written. A case is
left out where this wire has no place for the fault (reasoning, ids of calls, a stop that names
calls, an error without a status). The official SDK raises for nothing that stands in a stream,
whatever it holds, and leaves out lines that it cannot read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Arguments, Bare, Case, Kind, Odd, Step
from tenuto.sim.tables_own import Tables, own_tables

_BODY: Final = frozenset({"body"})
_STREAM: Final = frozenset({"stream"})

_AS_THEY_ARE: Final = (
    "normal", "text", "cjk", "tool", "tools", "tool_with_text",
    "length_once", "length_twice", "length_three_times", "length_always", "length_mid_word",
    "length_after_newline", "length_in_multibyte", "length_no_usage", "length_then_overlap",
    "length_then_restart", "length_then_preamble", "length_then_repeat", "length_then_500",
    "length_then_drop", "length_then_empty", "length_then_call", "length_then_filter",
    "length_json", "think_tag_only", "think_tag_unclosed_length",
    "call_cut_length", "call_cut_stop", "call_cut_always", "call_cut_twice", "call_whole_length",
    "batch_one_broken", "call_empty_arguments_length", "call_stop",
    "empty_once", "empty_always", "whitespace_once", "empty_after_tool_result",
    "empty_after_tool_result_always", "drop_before_text", "drop_mid_text",
    "drop_mid_text_always", "drop_mid_call", "eof_no_finish", "done_no_finish",
    "unknown_stop", "unknown_stop_control", "finish_null_string",
    "finish_empty_string", "finish_repeated", "finish_conflict", "content_after_finish",
    "suspected_truncation", "abort", "content_filter", "context_length_400", "length_context",
    "http_400_max_tokens_too_large", "http_400_unknown_key", "http_429_once", "http_500_once",
    "http_503_always", "crlf", "multibyte_split", "tiny_writes", "one_write",
)  # fmt: skip
"""Common cases that need no other words here."""

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "length_foreign_spelling": {"plan": (Step(keep=0.45, finish="length "),)},
    "finish_upper": {
        "summary": "The stop is in small letters.", "plan": (Step(finish="complete"),)
    },
    # Of a call that is cut the pieces come, and the SDK makes no call of these.
    "call_text_then_cut": {"modes": _BODY},
    "drop_mid_call": {"bare": Bare.SILENT},
    "body_cut": {"bare": Bare.RAISES},
    "body_empty": {"bare": Bare.RAISES},
    # The exceptions of its transport reach whoever uses the SDK as they are.
    "body_short": {"bare": Bare.HARMFUL},
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
    "error_chunk_mid_text": {"bare": Bare.SILENT},
    "content_filter_prompt_400": {"summary": "The usage guidelines refuse the prompt (498)."},
}  # fmt: skip

_FAULTS: Final = (
    Case("timeout", (Step(keep=0.5, finish="TIMEOUT"),), "The time allowed for a text is over.",
         behaviours=("N1", "C5")),
    Case("call_pieces_then_cut",
         (Step(kind=Kind.PREFACE_CALL, arguments=Arguments.CUT, finish="length"),),
         "Text, then pieces of a call that the limit cuts.", modes=_STREAM, wants_tools=True,
         behaviours=("T5", "S2")),
    Case("line_not_json", (Step(odd=Odd.NOT_JSON),), "One line holds no JSON.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("N6",)),
)  # fmt: skip

_QUIRKS: Final = (
    Case("stop_sequence", (Step(finish="stop_sequence"),), "A stop sequence ends the text.",
         bare=Bare.FINE, request={"stop_sequences": ["###"]}, behaviours=("N1",)),
    Case("unknown_event", (Step(odd=Odd.UNKNOWN_EVENT),), "One line has an unknown type.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
)  # fmt: skip


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    return own_tables(common, _AS_THEY_ARE, _OTHERWISE, {"faults": _FAULTS, "quirks": _QUIRKS})
