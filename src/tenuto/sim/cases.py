"""The tables of cases by name, and the steps that a header can name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tenuto.sim import tables_calls, tables_text, tables_wire
from tenuto.sim.case import Arguments, Bare, Case, Continuation, Ending, Kind, Say, Step


def _by_name(*groups: Iterable[Case]) -> dict[str, Case]:
    return {case.name: case for group in groups for case in group}


NORMAL: Final[dict[str, Case]] = _by_name(
    (
        Case("normal", (), "A whole text.", bare=Bare.FINE, behaviours=("P8",)),
        Case("text", (Step(kind=Kind.TEXT),), "A whole text.", bare=Bare.FINE),
        Case("cjk", (Step(kind=Kind.CJK),), "A whole Chinese text.", bare=Bare.FINE),
        Case("tool", (Step(kind=Kind.CALL),), "A call.", bare=Bare.FINE, wants_tools=True),
        Case("tools", (Step(kind=Kind.CALLS),), "Three calls.", bare=Bare.FINE, wants_tools=True),
        Case("tool_with_text", (Step(kind=Kind.PREFACE_CALL),), "A sentence, then a call.",
             bare=Bare.FINE, wants_tools=True),
    )
)  # fmt: skip
"""Answers without a fault."""

FAULTS: Final[dict[str, Case]] = _by_name(
    tables_text.LENGTH_CASES,
    tables_text.REASONING_CASES,
    tables_calls.CALL_CASES,
    tables_text.EMPTY_CASES,
    tables_wire.END_CASES,
    tables_text.STOP_CASES,
)
"""Faults on which the bare SDK is silently wrong or does harm."""

HTTP_FAULTS: Final[dict[str, Case]] = _by_name(tables_wire.HTTP_CASES)
"""Faults on which the bare SDK raises."""

QUIRKS: Final[dict[str, Case]] = _by_name(
    tables_calls.CALL_QUIRKS,
    tables_wire.END_QUIRKS,
    tables_text.STOP_QUIRKS,
    tables_wire.FRAME_QUIRKS,
)
"""Oddities that a client must survive."""

BLOCKED: Final[dict[str, Case]] = _by_name(tables_text.BLOCKED_CASES)
"""Truthful blocks, which nobody may retry away."""

CASES: Final[dict[str, Case]] = NORMAL | FAULTS | HTTP_FAULTS | QUIRKS | BLOCKED

STEPS: Final[dict[str, Step]] = {
    "normal": Step(),
    "length": tables_text.LENGTH,
    "drop": Step(keep=0.5, ending=Ending.DROP),
    "drop_before_text": Step(keep=0, ending=Ending.DROP),
    "reset": Step(keep=0.5, ending=Ending.RESET),
    "empty": Step(say=Say.NOTHING),
    "whitespace": Step(say=Say.WHITESPACE),
    "reasoning": Step(say=Say.REASONING, finish="length"),
    "overlap": Step(continuation=Continuation.OVERLAP),
    "restart": Step(continuation=Continuation.RESTART),
    "preamble": Step(continuation=Continuation.PREAMBLE),
    "repeat": Step(continuation=Continuation.REPEAT),
    "call": tables_calls.CALL,
    "call_cut": tables_calls.CALL_CUT,
    "call_malformed": tables_calls.CALL_MALFORMED,
    "call_missing": tables_calls.CALL_MISSING,
    "drop_call": Step(kind=Kind.CALL, arguments=Arguments.CUT, ending=Ending.DROP),
    "filter": Step(keep=0.5, finish="content_filter"),
    "refusal": Step(say=Say.REFUSAL),
    "unknown": Step(keep=0.6, finish="weird_new_reason"),
    "error_chunk": Step(keep=0.5, error="mid_openai"),
    "400_could_not_finish": Step(error="could_not_finish"),
    "400_context": Step(error="context_length"),
    "429": Step(error="rate_limit"),
    "500": Step(error="server"),
    "503": Step(error="overloaded"),
}
"""Steps by name, for the header `x-sim-script`."""


def described() -> dict[str, Any]:
    """Return the tables as JSON values, as `GET /sim/faults` gives them.

    >>> described()["faults"]["length_once"]["bare"]
    'silent'
    """
    tables = {
        "normal": NORMAL,
        "faults": FAULTS,
        "http_faults": HTTP_FAULTS,
        "quirks": QUIRKS,
        "blocked": BLOCKED,
    }
    listed: dict[str, Any] = {
        title: {
            case.name: {
                "summary": case.summary,
                "modes": sorted(case.modes),
                "bare": str(case.bare),
                "wants_tools": case.wants_tools,
                "after_tool_result": case.after_tool_result,
                "recoverable": case.recoverable,
                "behaviours": list(case.behaviours),
                "steps": len(case.plan),
                "repeat_last": case.repeat_last,
                "request": dict(case.request),
            }
            for case in table.values()
        }
        for title, table in tables.items()
    }
    return listed | {"steps": sorted(STEPS)}
