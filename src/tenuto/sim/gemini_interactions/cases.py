"""The cases of Interactions: the common ones that this wire can show, and its own.

Left out are those of other wires' words. In whole bodies arguments are decoded, so that what breaks
their text shows in streams only. The official SDK raises on no event of a stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Bare, Case, Kind, Odd, Say, Step
from tenuto.sim.tables_own import STATUS_FAULTS, STATUS_QUIRKS, Tables, own_tables

_BODY: Final = frozenset({"body"})
_STREAM: Final = frozenset({"stream"})
_JSON: Final = {"response_format": {"type": "text", "mime_type": "application/json"}}


def _limited(tokens: int) -> dict[str, Any]:
    return {"request": {"generation_config": {"max_output_tokens": tokens}}}


_AS_THEY_ARE: Final = frozenset({
    "normal", "text", "cjk", "tool", "tools", "tool_with_text", "length_once", "length_twice",
    "length_three_times", "length_always", "length_mid_word", "length_after_newline",
    "length_in_multibyte", "length_no_usage", "length_then_overlap", "length_then_restart",
    "length_then_preamble", "length_then_repeat", "length_then_500", "length_then_drop",
    "length_then_empty", "length_then_call", "reasoning_only_length", "hidden_reasoning_length",
    "reasoning_only_stop", "think_tag_only", "call_cut_length", "call_cut_stop",
    "call_text_then_cut", "calls_interleaved", "empty_once", "empty_always", "whitespace_once",
    "empty_after_tool_result", "empty_after_tool_result_always", "drop_before_text",
    "drop_mid_text", "drop_mid_text_always", "drop_mid_call", "eof_no_finish", "unknown_stop",
    "finish_null_string", "finish_empty_string", "finish_upper", "finish_repeated", "abort",
    "content_filter_prompt_400", "context_length_400", "http_429_once", "http_500_once",
    "http_503_always", "body_short", "cut_off_mid_text", "reset_mid_text", "crlf",
    "no_space_after_data", "finish_no_done", "double_done", "multibyte_split", "tiny_writes",
    "one_write", "bom",
})  # fmt: skip
"""Common cases that need no other words here."""

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "length_json": {"request": _JSON},
    "think_tag_unclosed_length": _limited(400),
    "suspected_truncation": _limited(60),
    "call_malformed": {"modes": _STREAM},
    "body_cut": {"bare": Bare.RAISES},
    "body_empty": {"bare": Bare.RAISES},
    "error_chunk_mid_text": {"modes": _STREAM, "bare": Bare.SILENT},
    "http_400_max_tokens_too_large": _limited(2000),
    # The SDK sends no hints, so that the key is one of the caller's contract.
    "http_400_unknown_key": {
        "summary": "A key of the request is not known.",
        "request": {"labels": {"team": "docs"}},
        "recoverable": False,
    },
}

_PAUSE: Final = Step(keep=0.45, finish="pause_turn")


def _fault(name: str, summary: str, *plan: Step, **more: Any) -> Case:
    return Case(name, plan, summary, **({"behaviours": ("C1",)} | more))


_FAULTS: Final = (
    _fault("pause_then_length", "The answer pauses, goes on, and is cut by the limit.",
           _PAUSE, Step(keep=0.45, finish="length"), behaviours=("C26", "C1")),
    _fault("pause_without_token", "The answer pauses, and there is no token to go on with.",
           Step(keep=0.45, finish="pause_without_token"), behaviours=("C26",)),
    _fault("budget_exceeded", "What the model may use is used up.",
           Step(keep=0.45, finish="budget_exceeded"), behaviours=("C1",)),
    _fault("malformed_call", "The model wrote a call that the provider cannot read.",
           Step(kind=Kind.CALL, say=Say.NOTHING, error="malformed_call"), modes=_STREAM,
           wants_tools=True, behaviours=("T14",)),
    _fault("in_progress", "The answer is still made, though nobody asked for the background.",
           Step(keep=0.4, finish="in_progress"), recoverable=False, behaviours=("C26",)),
)  # fmt: skip

_QUIRKS: Final = (
    Case("pause", (_PAUSE,), "The answer goes on in another request.",
         bare=Bare.FINE, behaviours=("C26",)),
    Case("pause_twice", (_PAUSE, _PAUSE), "The answer goes on in another request, twice.",
         bare=Bare.FINE, behaviours=("C26",)),
    Case("event_not_json", (Step(odd=Odd.NOT_JSON),), "One event holds no JSON.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("N6",)),
)  # fmt: skip

_BLOCKED: Final = (
    Case("blocked_mid_text", (Step(keep=0.5, finish="content_filter"),),
         "The interaction failed because of a policy.",
         repeat_last=True, recoverable=False, behaviours=("E12",)),
)  # fmt: skip

_OWN: Final = {
    "faults": (*STATUS_FAULTS, *_FAULTS),
    "quirks": (*STATUS_QUIRKS, *_QUIRKS),
    "blocked": _BLOCKED,
}


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    return own_tables(common, _AS_THEY_ARE, _OTHERWISE, _OWN)
