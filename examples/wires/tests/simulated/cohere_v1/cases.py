"""The cases of this wire: common ones, with their differences, and its own.

The common cases keep their names and plans: stops are translated when written. A case is left out
if this wire has no place for the fault: reasoning, ids of calls, a stop that names calls, an error
without a status. The official SDK raises on no event of a stream, and skips lines that it cannot
read.
"""

from __future__ import annotations

from typing import Final

from tenuto_sim.case import BODY, STREAM, Arguments, Bare, Case, Kind, Step
from tenuto_sim.cohere.cases import OF_COHERE
from tenuto_sim.tables_own import CUT_AS_WHOLE, OF_HOSTS, OF_SERVERS, own_tables

_CALL_PIECES: Final = Case(
    "call_pieces_then_cut",
    (Step(kind=Kind.PREFACE_CALL, arguments=Arguments.CUT, finish="length"),),
    "Text, then pieces of a call that the limit cuts.", modes=STREAM, wants_tools=True,
    behaviours=("T5", "S2"),
)  # fmt: skip

TABLES: Final = own_tables(
    without=OF_SERVERS
    + OF_HOSTS
    + """reasoning_only_length hidden_reasoning_length reasoning_only_stop call_cut_tool_calls
        call_malformed call_malformed_always call_array_arguments call_missing call_missing_always
        malformed_stop call_null_arguments call_object_arguments call_double_encoded call_no_type
        call_no_id call_no_index call_duplicate_ids body_error_only error_chunk_then_done
        calls_interleaved finish_no_done usage_after_finish comments no_space_after_data
        event_lines double_done empty_choices_frames bom refusal""",
    otherwise={
        **CUT_AS_WHOLE,
        **OF_COHERE,
        # A call that was cut arrives only in pieces, and the SDK makes no call of these.
        "call_text_then_cut": {"modes": BODY},
        "drop_mid_call": {"bare": Bare.SILENT},
        "line_not_json": {"bare": Bare.FINE},
        "unknown_event": {"summary": "One line has an unknown type."},
    },
    own=["timeout", _CALL_PIECES, "line_not_json stop_sequence unknown_event"],
)
