"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The common cases keep their names and plans: stops are translated when they are written. A case is
left out where this wire has no place for the fault (reasoning, ids of calls, a stop that names
calls, an error without a status). The official SDK raises for nothing that stands in a stream,
whatever it holds, and leaves out lines that it cannot read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim import tables_own
from tenuto.sim.case import Arguments, Bare, Case, Kind, Odd, Step

_BODY: Final = frozenset({"body"})
_STREAM: Final = frozenset({"stream"})

_LEFT_OUT: Final = tables_own.OF_SERVERS | tables_own.OF_HOSTS | {
    "reasoning_only_length", "hidden_reasoning_length", "reasoning_only_stop",
    "call_cut_tool_calls", "call_malformed", "call_malformed_always", "call_array_arguments",
    "call_missing", "call_missing_always", "malformed_stop", "call_null_arguments",
    "call_object_arguments", "call_double_encoded", "call_no_type", "call_no_id", "call_no_index",
    "call_duplicate_ids", "body_error_only", "error_chunk_then_done", "calls_interleaved",
    "finish_no_done", "usage_after_finish", "comments", "no_space_after_data", "event_lines",
    "double_done", "empty_choices_frames", "bom", "refusal",
}  # fmt: skip
"""Common cases for which this wire has no place."""

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


def tables(common: Mapping[str, Mapping[str, Case]]) -> tables_own.Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    own = {"faults": _FAULTS, "quirks": _QUIRKS}
    return tables_own.own_tables(common, _LEFT_OUT, _OTHERWISE, own)
