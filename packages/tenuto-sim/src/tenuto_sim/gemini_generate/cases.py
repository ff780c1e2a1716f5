"""The cases of this wire: common ones, with their differences, and its own.

The common cases keep their names and plans: stops are translated when written. A case is left out
if this wire has no place for the fault, such as a call without `type`.
"""

from __future__ import annotations

from typing import Any, Final

from tenuto_sim.case import BODY, STREAM, Bare, Case, Kind, Say, Step
from tenuto_sim.tables_own import (
    BREAKS_THE_SDK,
    CUT_AS_WHOLE,
    KEY_OF_THE_CALLER,
    NO_ROOM_FOR_CALL,
    OF_HOSTS,
    OF_SERVERS,
    own_tables,
)

_SCHEMA: Final = {
    "type": "OBJECT",
    "properties": {
        "title": {"type": "STRING"},
        "items": {"type": "ARRAY", "items": {"type": "STRING"}},
    },
    "required": ["title", "items"],
}
_OFF: Final = {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}


def _stopped(name: str, stop: str, summary: str, **more: Any) -> Case:
    """Return a case of a stop with nothing beside it, when a call was wanted."""
    given: dict[str, Any] = {"wants_tools": True, "behaviours": ("T14",)} | more
    return Case(name, (Step(kind=Kind.CALL, say=Say.NOTHING, finish=stop),), summary, **given)


_CONTINUES: Final = Step(keep=0.45, finish="CONTINUATION")

_OWN: Final = (
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
    "think_then_length think_then_call_cut event_not_json",
    Case("error_internal_mid_text", (Step(keep=0.5, error="mid_internal"),),
         "An internal error comes in the middle.", modes=STREAM, bare=Bare.RAISES,
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
    "think_then_text think_then_call data_lines",
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

TABLES: Final = own_tables(
    without=OF_SERVERS
    + OF_HOSTS
    + """length_foreign_spelling call_cut_tool_calls call_malformed call_malformed_always
        call_missing call_missing_always malformed_stop call_null_arguments call_object_arguments
        call_no_type call_no_index error_chunk_then_done calls_interleaved double_done
        content_filter_prompt_400 refusal""",
    otherwise={
        **CUT_AS_WHOLE,
        "length_json": {
            "request": {"response_mime_type": "application/json", "response_schema": _SCHEMA}
        },
        "http_400_unknown_key": KEY_OF_THE_CALLER | {"request": {"safety_settings": [_OFF]}},
        # Many models give calls no ids.
        "call_no_id": {"bare": Bare.FINE},
        # The SDK reads an answer without any members as an empty one.
        "body_error_only body_empty": {"bare": Bare.SILENT},
        **BREAKS_THE_SDK,
        # The SDK takes every line that does not begin with `data: ` for a piece of an error.
        "comments no_space_after_data event_lines bom": {"bare": Bare.HARMFUL},
        # Without an end mark, a stream that has no stop was cut.
        "done_no_finish finish_null_string finish_empty_string": {"modes": BODY},
        "think_then_call_cut": NO_ROOM_FOR_CALL,
        "think_then_text": {"behaviours": ("P8",)},
    },
    own=_OWN,
    blocked=_BLOCKED,
    thoughts="Thoughts",
    limit=lambda tokens: {"max_output_tokens": tokens},
)
