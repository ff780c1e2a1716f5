"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The common cases keep their names and plans: stops are translated when they are written. A case is
left out where this wire has no place for the fault (words of a refusal, say). The official SDK
raises for nothing that stands in a stream, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim import tables_own
from tenuto.sim.case import Bare, Case, Kind, Step

_LEFT_OUT: Final = tables_own.OF_SERVERS | tables_own.OF_HOSTS | {
    "empty_choices_frames", "refusal",
}  # fmt: skip

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "length_foreign_spelling": {"plan": (Step(keep=0.45, finish="length "),)},
    "finish_upper": {
        "summary": "The stop is in small letters.", "plan": (Step(finish="complete"),)
    },
    "call_no_type": {"bare": Bare.FINE},
    "call_no_index": {"bare": Bare.SILENT},
    "body_cut": {"bare": Bare.RAISES},
    "body_empty": {"bare": Bare.RAISES},
    # The exceptions of its transport reach whoever uses the SDK as they are.
    "body_short": {"bare": Bare.HARMFUL},
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
    "error_chunk_mid_text": {"bare": Bare.SILENT},
    "error_chunk_then_done": {"bare": Bare.SILENT},
    "content_filter_prompt_400": {"summary": "The usage guidelines refuse the prompt (498)."},
}  # fmt: skip

_FAULTS: Final = (
    Case("timeout", (Step(keep=0.5, finish="TIMEOUT"),), "The time allowed for a text is over.",
         behaviours=("N1", "C5")),
    tables_own.think_then_length("A chain of thought"),
    Case("think_then_call_cut", (Step(kind=Kind.CALL, think=True, keep=0, finish="length"),),
         "A chain of thought, and no room for the call.",
         wants_tools=True, behaviours=("C11", "C20")),
    tables_own.event_not_json(Bare.FINE),
    tables_own.call_wrong_index(Bare.SILENT),
)  # fmt: skip

_QUIRKS: Final = (
    Case("stop_sequence", (Step(finish="stop_sequence"),), "A stop sequence ends the text.",
         bare=Bare.FINE, request={"stop_sequences": ["###"]}, behaviours=("N1",)),
    tables_own.think("think", "A chain of thought"),
    tables_own.think_then_call("A chain of thought"),
    tables_own.UNKNOWN_EVENT,
    tables_own.DATA_LINES,
)  # fmt: skip

_OWN: Final = {"faults": _FAULTS, "quirks": _QUIRKS}


def tables(common: Mapping[str, Mapping[str, Case]]) -> tables_own.Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    return tables_own.own_tables(common, _LEFT_OUT, _OTHERWISE, _OWN)
