"""The cases of this wire: common ones, with their differences, and its own.

The common cases keep their names and plans: stops are translated when written. A case is left out
if this wire has no place for the fault, such as a call without `type`.
"""

from __future__ import annotations

from typing import Final

from tenuto_sim.case import BODY, STREAM, Bare, Case, Ending, Odd, Say, Search, Step
from tenuto_sim.tables_own import (
    CUT_AS_WHOLE,
    NO_ROOM_FOR_CALL,
    OF_HOSTS,
    OF_SERVERS,
    SCHEMA,
    own_tables,
)

_OWN: Final = (
    "think_then_length think_then_call_cut",
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
         "An api_error comes in the middle.", modes=STREAM, bare=Bare.RAISES,
         behaviours=("S9",)),
    Case("usage_missing", (Step(odd=Odd.USAGE_MISSING),),
         "The event that holds the stop has no usage.", modes=STREAM, bare=Bare.HARMFUL,
         behaviours=("N6",)),
    "event_not_json call_wrong_index",
    Case("http_529_once", (Step(error="overloaded"),), "The service is overloaded once.",
         bare=Bare.RAISES, behaviours=("P5",)),
    Case("http_529_always", (Step(error="overloaded"),), "The service is always overloaded.",
         bare=Bare.RAISES, repeat_last=True, recoverable=False, behaviours=("P5",)),
    "stop_sequence think_signed think_then_call search_cited pings unknown_event data_lines",
)  # fmt: skip

TABLES: Final = own_tables(
    without=OF_SERVERS
    + OF_HOSTS
    + "malformed_stop call_no_type http_503_always empty_choices_frames",
    otherwise={
        **CUT_AS_WHOLE,
        "length_no_usage call_null_arguments": {"modes": BODY},
        "length_json": {
            "request": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
        },
        # A body holds decoded arguments, so malformed ones appear only in streams.
        "call_malformed call_malformed_always": {"modes": STREAM},
        "call_object_arguments": {
            "summary": "The whole input stands in the event that begins the block.",
            "modes": STREAM,
            "bare": Bare.FINE,
        },
        "usage_after_finish": {
            "summary": "Usage follows the stop, in an event whose stop is null."
        },
        # Once the stream has begun, the SDK lets exceptions of its transport out. Its decoder takes
        # the byte order mark for a part of the first field's name.
        "cut_off_mid_text reset_mid_text bom": {"bare": Bare.HARMFUL},
        "content_filter_prompt_400": {"summary": "A filter refuses the prompt."},
        "http_400_unknown_key": {"request": {"service_tier": "auto"}},
        "think_then_call_cut": NO_ROOM_FOR_CALL,
        "search_cited": {"plan": (Step(search=Search.BEFORE),)},
    },
    own=_OWN,
    thoughts="A signed chain of thought",
)
