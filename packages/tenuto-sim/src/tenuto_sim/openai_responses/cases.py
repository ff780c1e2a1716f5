"""The cases of OpenAI Responses: the common ones that this wire can show, and its own.

Cases with other wires' values are left out: a stop that names tool calls (this wire says
`completed` for both), other end marks, errors of OpenRouter, Groq and vLLM.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tenuto_sim.case import BODY, STREAM, Arguments, Bare, Case, Kind, Odd, Step
from tenuto_sim.tables_own import OF_HOSTS, OF_SERVERS, STATUS, own_tables

_fault = partial(Case, behaviours=("C1",))

_OWN: Final = (
    STATUS,
    _fault("incomplete_no_reason", (Step(keep=0.45, finish="incomplete"),),
           "An incomplete response does not say why.", behaviours=("N1", "C1")),
    _fault("items_called_whole", (Step(keep=0.45, finish="length", odd=Odd.ITEMS_CALLED_WHOLE),),
           "A text that the limit cut is in an item called completed."),
    _fault("call_called_whole",
           (Step(kind=Kind.CALL, arguments=Arguments.CUT, finish="length",
                 odd=Odd.ITEMS_CALLED_WHOLE),),
           "A cut call in an incomplete response is called completed.", wants_tools=True,
           bare=Bare.HARMFUL, behaviours=("T1", "T5")),
    _fault("item_called_incomplete", (Step(keep=0.45, odd=Odd.ITEM_CALLED_INCOMPLETE),),
           "A completed response holds an incomplete text.", behaviours=("S6",)),
    _fault("end_called_completed",
           (Step(keep=0.45, finish="length", odd=Odd.END_CALLED_COMPLETED),),
           "The last event is named completed, its response is not.", modes=STREAM,
           behaviours=("S6",)),
    _fault("error_flat_mid_text", (Step(keep=0.5, error="mid_flat"),),
           "An error event of the documented form, on which no SDK raises.", modes=STREAM,
           behaviours=("S9",)),
    _fault("unknown_status", (Step(keep=0.6, finish="status:weird_new_status"),),
           "The status is one that nobody knows.", recoverable=False, behaviours=("N1",)),
    _fault("think_then_call_cut_always",
           (Step(kind=Kind.CALL, think=True, arguments=Arguments.CUT, finish="length"),),
           "Reasoning, then a cut call, for ever.", wants_tools=True, bare=Bare.HARMFUL,
           repeat_last=True, recoverable=False, behaviours=("T5", "T8")),
    "event_not_json",
    Case("call_without_pieces", (Step(kind=Kind.CALL, odd=Odd.CALLS_WITHOUT_PIECES),),
         "A call comes whole at the end of its item, and in no pieces.",
         modes=STREAM, bare=Bare.FINE, wants_tools=True, behaviours=("T12",)),
    "call_wrong_index pings",
)  # fmt: skip

_BLOCKED: Final = (
    Case("failed_policy", (Step(keep=0, finish="failed_policy"),),
         "The response failed because of the prompt.",
         repeat_last=True, recoverable=False, behaviours=("E12",)),
)  # fmt: skip

TABLES: Final = own_tables(
    without=OF_SERVERS
    + OF_HOSTS
    + """call_missing call_missing_always malformed_stop call_no_type finish_conflict
        error_chunk_then_done call_stop finish_no_done content_after_finish usage_after_finish
        empty_choices_frames""",
    otherwise={
        "length_json": {"request": {"text": {"format": {"type": "json_object"}}}},
        # The last event says how it ends: without it a stream was cut.
        "done_no_finish": {"modes": BODY},
        # The last event repeats each call.
        "call_no_index": {
            "summary": "The events of three calls do not say to which item they belong.",
            "bare": Bare.FINE,
        },
        "call_wrong_index": {
            "summary": "The events of three calls have the index of the first.",
            "bare": Bare.FINE,
        },
        "body_error_only": {"bare": Bare.SILENT},
        "http_400_unknown_key": {"request": {"user": "someone"}},
        "pings": {"summary": "A keepalive behind each event."},
    },
    own=_OWN,
    blocked=_BLOCKED,
    limit=lambda tokens: {"max_output_tokens": tokens},
)
