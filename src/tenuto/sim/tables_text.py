"""Cases of texts: cut, only thought, empty, and stopped for other reasons."""

from __future__ import annotations

from typing import Final

from tenuto.sim.case import (
    BODY,
    STREAM,
    Bare,
    Case,
    Continuation,
    Cut,
    Ending,
    Kind,
    Odd,
    Say,
    Step,
)

LENGTH: Final = Step(keep=0.45, finish="length")


def _cut(name: str, summary: str, *plan: Step, **more: object) -> Case:
    return Case(name, plan, summary, **({"behaviours": ("C1",)} | more))  # type: ignore[arg-type]


def _then(style: Continuation) -> Step:
    return Step(continuation=style)


CUT_CASES: Final = (
    _cut("length_once", "The output limit cuts the text once.", LENGTH),
    _cut("length_twice", "The limit cuts the text and then its continuation.", LENGTH, LENGTH),
    _cut("length_three_times", "The limit cuts three answers in a row.", *[LENGTH] * 3),
    _cut("length_always", "The limit cuts every answer.", Step(keep=0.15, finish="length"),
         repeat_last=True, recoverable=False, behaviours=("C2",)),
    _cut("length_mid_word", "The limit cuts inside of a word.",
         Step(keep=0.45, cut=Cut.MID_WORD, finish="length"), behaviours=("C14", "C15")),
    _cut("length_after_newline", "The limit cuts after white space.",
         Step(keep=0.3, cut=Cut.AFTER_NEWLINE, finish="length"), behaviours=("C7",)),
    _cut("length_in_multibyte", "The limit cuts inside of a character: U+FFFD stands last.",
         Step(kind=Kind.CJK, keep=0.45, cut=Cut.IN_CHARACTER, finish="length"),
         behaviours=("C14",)),
    _cut("length_no_usage", "The limit cuts, and no usage is given.",
         Step(keep=0.45, finish="length", usage=False), behaviours=("C1", "C4")),
    _cut("length_foreign_spelling", "The limit cuts, in the spelling of another API.",
         Step(keep=0.45, finish="MAX_TOKENS"), behaviours=("N2",)),
    _cut("length_then_overlap", "The continuation repeats the last three words.",
         LENGTH, _then(Continuation.OVERLAP), behaviours=("C14",)),
    _cut("length_then_restart", "The continuation begins again from the start.",
         LENGTH, _then(Continuation.RESTART), behaviours=("C14",)),
    _cut("length_then_preamble", "The continuation has a preamble and the unfinished line again.",
         LENGTH, _then(Continuation.PREAMBLE), behaviours=("C14",)),
    _cut("length_then_repeat", "Continuations add nothing new.",
         LENGTH, Step(continuation=Continuation.REPEAT, finish="length"),
         repeat_last=True, recoverable=False, behaviours=("C13",)),
    _cut("length_then_500", "Each continuation fails with a server error.",
         LENGTH, Step(error="server"), repeat_last=True, recoverable=False, behaviours=("C5",)),
    _cut("length_then_drop", "Each continuation breaks off before its text.",
         LENGTH, Step(keep=0, ending=Ending.DROP),
         repeat_last=True, recoverable=False, behaviours=("C5",)),
    _cut("length_then_empty", "Each continuation is empty.",
         LENGTH, Step(say=Say.NOTHING), repeat_last=True, recoverable=False, behaviours=("C13",)),
    _cut("length_then_call", "The continuation ends the text and calls a tool.",
         Step(kind=Kind.TEXT_CALL, keep=0.8, finish="length"),
         wants_tools=True, behaviours=("C24",)),
    _cut("length_then_filter", "The continuation is blocked by a filter.",
         LENGTH, Step(keep=0, finish="content_filter"),
         repeat_last=True, recoverable=False, behaviours=("C6",)),
    _cut("length_json", "The limit cuts a structured answer.", LENGTH,
         request={"response_format": {"type": "json_object"}}, behaviours=("C27",)),
    Case("reasoning_only_length", (Step(say=Say.REASONING, finish="length"),),
         "Reasoning takes the whole budget; no text comes.", behaviours=("C11",)),
    Case("hidden_reasoning_length", (Step(say=Say.HIDDEN_REASONING, finish="length"),),
         "Hidden reasoning takes the whole budget; only the usage tells.", behaviours=("C11",)),
    Case("reasoning_only_stop", (Step(say=Say.REASONING),),
         "The answer stops cleanly after reasoning alone.", behaviours=("E4",)),
    Case("think_tag_only", (Step(say=Say.THINK_CLOSED),),
         "The text is one closed think block.", behaviours=("E1", "E4")),
    Case("think_tag_unclosed_length", (Step(say=Say.THINK_OPEN, finish="length"),),
         "The limit cuts inside of a think block.",
         request={"max_tokens": 400}, behaviours=("E1", "C11")),
)  # fmt: skip

EMPTY_CASES: Final = (
    Case("empty_once", (Step(say=Say.NOTHING),), "One empty answer.", behaviours=("E1", "E5")),
    Case("empty_always", (Step(say=Say.NOTHING),), "Every answer is empty.",
         repeat_last=True, recoverable=False, behaviours=("E5",)),
    Case("whitespace_once", (Step(say=Say.WHITESPACE),), "An answer of white space.",
         behaviours=("E1",)),
    Case("empty_after_tool_result", (Step(say=Say.NOTHING),), "Empty after a tool result.",
         wants_tools=True, after_tool_result=True, behaviours=("E3",)),
    Case("empty_after_tool_result_always", (Step(say=Say.NOTHING),),
         "Always empty after a tool result.", wants_tools=True, after_tool_result=True,
         repeat_last=True, recoverable=False, behaviours=("E3", "E11")),
)  # fmt: skip

BLOCKED_CASES: Final = (
    Case("content_filter", (Step(keep=0.5, finish="content_filter"),),
         "A filter stops the text in the middle.",
         repeat_last=True, recoverable=False, behaviours=("C6", "E12")),
    Case("content_filter_prompt_400", (Step(error="azure_filter"),),
         "Azure's filter refuses the prompt.", bare=Bare.RAISES,
         repeat_last=True, recoverable=False, behaviours=("E12",)),
    Case("refusal", (Step(say=Say.REFUSAL),), "The model refuses.",
         repeat_last=True, recoverable=False, behaviours=("C6", "E12")),
    Case("context_length_400", (Step(error="context_length"),),
         "The prompt is longer than the context window.", bare=Bare.RAISES,
         repeat_last=True, recoverable=False, behaviours=("H8",)),
    Case("length_context", (Step(keep=0.5, finish="length", context_window_tokens=8192),),
         "The context window is full: the usage adds up to 8,192 tokens.",
         repeat_last=True, recoverable=False, behaviours=("C12", "H8")),
)  # fmt: skip

STOP_CASES: Final = (
    Case("unknown_stop", (Step(keep=0.6, finish="weird_new_reason"),),
         "A text is cut with a stop that nobody knows.",
         recoverable=False, behaviours=("N1", "N9")),
    Case("unknown_stop_control", (Step(keep=0.6, finish="weird\x1b[31m\nreason"),),
         "The same, with control characters in the stop.",
         recoverable=False, behaviours=("N1", "P8b")),
    Case("finish_conflict",
         (Step(keep=0.6, finish="stop", odd=Odd.FINISH_CONFLICT),),
         "A clean stop is followed by a second stop that says length.",
         modes=STREAM, behaviours=("S6",)),
    Case("suspected_truncation", (Step(finish="stop"),),
         "The answer ends exactly at the cap, with a clean stop.",
         modes=BODY, recoverable=False, request={"max_tokens": 60}, behaviours=("N12",)),
    Case("abort", (Step(keep=0.6, finish="abort"),), "The server aborts the generation.",
         recoverable=False, behaviours=("N1",)),
    Case("finish_null_string", (Step(finish="null"),), 'The stop is the string "null".',
         bare=Bare.FINE, behaviours=("N1a",)),
    Case("finish_empty_string", (Step(finish=""),), "The stop is an empty string.",
         bare=Bare.FINE, behaviours=("N1a",)),
    Case("finish_upper", (Step(finish="STOP"),), "The stop is in capitals.",
         bare=Bare.FINE, behaviours=("N2",)),
    Case("finish_repeated", (Step(odd=Odd.FINISH_REPEATED),), "The stop comes twice.",
         modes=STREAM, bare=Bare.FINE, behaviours=("S6",)),
    Case("content_after_finish", (Step(odd=Odd.CONTENT_AFTER_FINISH),), "Text follows the stop.",
         modes=STREAM, bare=Bare.FINE, behaviours=("S6",)),
    Case("usage_after_finish", (Step(odd=Odd.USAGE_AFTER_FINISH),), "Usage follows the stop.",
         modes=STREAM, bare=Bare.FINE, behaviours=("S6",)),
    *BLOCKED_CASES,
)  # fmt: skip
