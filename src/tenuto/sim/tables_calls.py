"""Cases of tool calls: cut, malformed, missing, lying, and merely odd."""

from __future__ import annotations

from typing import Final

from tenuto.sim.case import STREAM, Arguments, Bare, Case, Kind, Say, Shape, Step

CALL: Final = Step(kind=Kind.CALL)
CALL_CUT: Final = Step(kind=Kind.CALL, arguments=Arguments.CUT, finish="length")
CALL_MALFORMED: Final = Step(kind=Kind.CALL, arguments=Arguments.MALFORMED)
CALL_MISSING: Final = Step(kind=Kind.CALL, say=Say.NOTHING, finish="tool_calls")


def _call(name: str, summary: str, *plan: Step, **more: object) -> Case:
    given = {"bare": Bare.HARMFUL, "wants_tools": True, "behaviours": ("T1",)} | more
    return Case(name, plan, summary, **given)  # type: ignore[arg-type]


CASES: Final = (
    _call("call_cut_length", "The limit cuts a call's arguments.", CALL_CUT,
          behaviours=("T1", "T5")),
    _call("call_cut_tool_calls", "A cut call is relabelled as a whole one.",
          Step(kind=Kind.CALL, arguments=Arguments.CUT, finish="tool_calls")),
    _call("call_cut_stop", "A cut call comes with a clean stop.",
          Step(kind=Kind.CALL, arguments=Arguments.CUT, finish="stop")),
    _call("call_cut_always", "Every call is cut.", CALL_CUT,
          repeat_last=True, recoverable=False, behaviours=("T5", "T8")),
    _call("call_cut_twice", "The call and its repetition are cut.", CALL_CUT, CALL_CUT,
          behaviours=("T5",)),
    _call("call_malformed", "A call's arguments are no JSON.", CALL_MALFORMED,
          behaviours=("T1", "T2")),
    _call("call_malformed_always", "Every call's arguments are no JSON.", CALL_MALFORMED,
          repeat_last=True, recoverable=False, behaviours=("T2", "T8")),
    _call("call_whole_length", "Whole arguments on a turn that the limit cut.",
          Step(kind=Kind.CALL, finish="length"), behaviours=("T3",)),
    _call("batch_one_broken", "The limit cuts the last of three calls.",
          Step(kind=Kind.CALLS, arguments=Arguments.CUT, broken_call=-1, finish="length"),
          behaviours=("T4",)),
    _call("call_empty_arguments_length", "The limit cuts before the first character.",
          Step(kind=Kind.CALL, arguments=Arguments.EMPTY, finish="length"), behaviours=("T12",)),
    _call("call_array_arguments", "The arguments are an array.",
          Step(kind=Kind.CALL, arguments=Arguments.ARRAY), behaviours=("T12",)),
    _call("call_text_then_cut", "Text, then a call that the limit cuts.",
          Step(kind=Kind.PREFACE_CALL, arguments=Arguments.CUT, finish="length"),
          behaviours=("T5", "S2")),
    _call("call_missing", "The stop says tool calls, and none is carried.", CALL_MISSING,
          bare=Bare.SILENT, behaviours=("E8",)),
    _call("call_missing_always", "The stop always says tool calls, and none is carried.",
          CALL_MISSING, bare=Bare.SILENT, repeat_last=True, recoverable=False,
          behaviours=("E8",)),
    _call("malformed_stop", "The stop says that the call was malformed.",
          Step(kind=Kind.CALL, say=Say.NOTHING,
               finish="function_call_filter: MALFORMED_FUNCTION_CALL"),
          bare=Bare.SILENT, behaviours=("T14", "N2")),
    _call("call_null_arguments", "The arguments of a call without parameters are null.",
          Step(kind=Kind.NO_ARGUMENTS, arguments=Arguments.NULL), behaviours=("T12",)),
    _call("call_object_arguments", "The arguments are an object instead of its text.",
          Step(kind=Kind.CALL, arguments=Arguments.OBJECT), behaviours=("T12",)),
    _call("call_double_encoded", "The arguments are encoded twice.",
          Step(kind=Kind.CALL, arguments=Arguments.DOUBLE), behaviours=("T12",)),
    _call("call_no_type", "The call has no type.",
          Step(kind=Kind.CALL, shape=Shape.NO_TYPE), behaviours=("T13",)),
    _call("call_no_id", "The call has no id.",
          Step(kind=Kind.CALL, shape=Shape.NO_ID), behaviours=("T13",)),
    _call("call_no_index", "The pieces of three calls have no index.",
          Step(kind=Kind.CALLS, shape=Shape.NO_INDEX), modes=STREAM, behaviours=("T13",)),
    _call("call_duplicate_ids", "Three calls have the same id.",
          Step(kind=Kind.CALLS, shape=Shape.DUPLICATE_IDS), behaviours=("T13",)),
    _call("calls_interleaved", "The pieces of three calls come in turns.",
          Step(kind=Kind.CALLS, shape=Shape.INTERLEAVED),
          modes=STREAM, bare=Bare.FINE, behaviours=("T13",)),
    _call("call_stop", "Whole calls come with a clean stop.",
          Step(kind=Kind.CALLS, finish="stop"), bare=Bare.FINE, behaviours=("N3",)),
)  # fmt: skip
