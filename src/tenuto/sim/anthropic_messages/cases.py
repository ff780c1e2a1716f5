"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The common cases keep their names and plans: stops are translated when they are written. A case is
left out where this wire has no place for the fault (a call without `type`, say).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim import tables_own
from tenuto.sim.case import Bare, Case, Ending, Kind, Odd, Say, Search, Step

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

_LEFT_OUT: Final = tables_own.OF_SERVERS | tables_own.OF_HOSTS | {
    "malformed_stop", "call_no_type", "http_503_always", "empty_choices_frames",
}  # fmt: skip

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
    tables_own.think_then_length("A signed chain of thought"),
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
    tables_own.event_not_json(Bare.HARMFUL),
    tables_own.call_wrong_index(Bare.HARMFUL),
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
    tables_own.think("think_signed", "A signed chain of thought"),
    tables_own.think_then_call("A signed chain of thought"),
    Case("search_cited", (Step(search=Search.BEFORE),),
         "A search that the provider ran, and a text that cites it.",
         bare=Bare.FINE, behaviours=("N3", "P8")),
    Case("pings", (Step(odd=Odd.PINGS),), "Three pings before each event.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
    tables_own.UNKNOWN_EVENT,
    tables_own.DATA_LINES,
)  # fmt: skip


def tables(common: Mapping[str, Mapping[str, Case]]) -> tables_own.Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    own = {"faults": _FAULTS, "http_faults": _HTTP, "quirks": _QUIRKS}
    return tables_own.own_tables(common, _LEFT_OUT, _OTHERWISE, own)
