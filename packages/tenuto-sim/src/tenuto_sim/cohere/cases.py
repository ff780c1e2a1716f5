"""The cases of this wire: common ones, with their differences, and its own.

The common cases keep their names and plans: stops are translated when written. A case is left out
if this wire has no place for the fault, such as words of a refusal. The official SDK raises on no
event of a stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.case import Bare, Step
from tenuto_sim.tables_own import (
    BREAKS_THE_SDK,
    NO_ROOM_FOR_CALL,
    OF_HOSTS,
    OF_SERVERS,
    own_tables,
)

OF_COHERE: Final[Mapping[str, Mapping[str, Any]]] = {
    **BREAKS_THE_SDK,
    "length_foreign_spelling": {"plan": (Step(keep=0.45, finish="length "),)},
    "finish_upper": {
        "summary": "The stop is in small letters.",
        "plan": (Step(finish="complete"),),
    },
    "body_cut body_empty": {"bare": Bare.RAISES},
    "error_chunk_mid_text": {"bare": Bare.SILENT},
    "content_filter_prompt_400": {"summary": "The usage guidelines refuse the prompt (498)."},
}
"""Differences that both versions share."""

TABLES: Final = own_tables(
    without=OF_SERVERS + OF_HOSTS + "empty_choices_frames refusal",
    otherwise={
        **OF_COHERE,
        "call_no_type event_not_json": {"bare": Bare.FINE},
        "call_no_index call_wrong_index error_chunk_then_done": {"bare": Bare.SILENT},
        "think_then_call_cut": NO_ROOM_FOR_CALL,
    },
    own=[
        "timeout think_then_length think_then_call_cut event_not_json call_wrong_index",
        "stop_sequence think think_then_call unknown_event data_lines",
    ],
    thoughts="A chain of thought",
)
