"""The cases of Interactions: the common ones that this wire can show, and its own.

Cases with other wires' values are left out. Whole bodies hold decoded arguments, so faults in their
text appear only in streams. The official SDK raises on no event of a stream.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tenuto_sim.case import STREAM, Bare, Case, Kind, Say, Step
from tenuto_sim.tables_own import (
    CUT_AS_WHOLE,
    KEY_OF_THE_CALLER,
    OF_HOSTS,
    OF_SERVERS,
    STATUS,
    own_tables,
)

_PAUSE: Final = Step(keep=0.45, finish="pause_turn")


_fault = partial(Case, behaviours=("C1",))

_OWN: Final = (
    STATUS,
    _fault("pause_then_length", (_PAUSE, Step(keep=0.45, finish="length")),
           "The answer pauses, goes on, and is cut by the limit.", behaviours=("C26", "C1")),
    _fault("pause_without_token", (Step(keep=0.45, finish="pause_without_token"),),
           "The answer pauses, and there is no token to go on with.", behaviours=("C26",)),
    _fault("budget_exceeded", (Step(keep=0.45, finish="budget_exceeded"),),
           "What the model may use is used up.", behaviours=("C1",)),
    _fault("malformed_call", (Step(kind=Kind.CALL, say=Say.NOTHING, error="malformed_call"),),
           "The model wrote a call that the provider cannot read.", modes=STREAM, wants_tools=True,
           behaviours=("T14",)),
    _fault("in_progress", (Step(keep=0.4, finish="in_progress"),),
           "The answer is still made, though nobody asked for the background.", recoverable=False,
           behaviours=("C26",)),
    Case("pause", (_PAUSE,), "The answer goes on in another request.",
         bare=Bare.FINE, behaviours=("C26",)),
    Case("pause_twice", (_PAUSE, _PAUSE), "The answer goes on in another request, twice.",
         bare=Bare.FINE, behaviours=("C26",)),
    "event_not_json",
)  # fmt: skip

_BLOCKED: Final = (
    Case("blocked_mid_text", (Step(keep=0.5, finish="content_filter"),),
         "The interaction failed because of a policy.",
         repeat_last=True, recoverable=False, behaviours=("E12",)),
)  # fmt: skip

TABLES: Final = own_tables(
    without=OF_SERVERS
    + OF_HOSTS
    + """length_foreign_spelling length_then_filter call_cut_tool_calls call_cut_always
        call_cut_twice call_malformed_always call_whole_length batch_one_broken
        call_empty_arguments_length call_array_arguments call_missing call_missing_always
        malformed_stop call_null_arguments call_object_arguments call_double_encoded call_no_type
        call_no_id call_no_index call_duplicate_ids body_error_only unknown_stop_control
        finish_conflict error_chunk_then_done call_stop done_no_finish content_after_finish
        usage_after_finish comments event_lines empty_choices_frames content_filter refusal
        length_context""",
    otherwise={
        **CUT_AS_WHOLE,
        "length_json": {
            "request": {"response_format": {"type": "text", "mime_type": "application/json"}}
        },
        "call_malformed": {"modes": STREAM},
        "body_cut body_empty": {"bare": Bare.RAISES},
        "error_chunk_mid_text": {"bare": Bare.SILENT},
        "http_400_unknown_key": KEY_OF_THE_CALLER | {"request": {"labels": {"team": "docs"}}},
        "event_not_json": {"bare": Bare.FINE},
    },
    own=_OWN,
    blocked=_BLOCKED,
    limit=lambda tokens: {"generation_config": {"max_output_tokens": tokens}},
)
