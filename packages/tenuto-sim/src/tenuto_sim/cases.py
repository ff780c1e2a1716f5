"""The tables of cases by name, and the steps that a header can select."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from tenuto_sim import tables_common
from tenuto_sim.case import Arguments, Case, Continuation, Ending, Kind, Say, Search, Step
from tenuto_sim.tables_own import Tables
from tenuto_sim.wire import Wire
from tenuto_sim.wires import WIRES

CHAT: Final = "openai-chat"


def _with_wires() -> dict[str, Tables]:
    """Return the tables of each wire, where each case has the names of the wires that have it."""
    having: dict[str, set[str]] = {}
    for wire in WIRES.values():
        for table in wire.tables.values():
            for name in table:
                having.setdefault(name, set()).add(wire.name)
    return {
        wire.name: {
            title: {
                name: replace(case, wires=frozenset(having[name])) for name, case in table.items()
            }
            for title, table in wire.tables.items()
        }
        for wire in WIRES.values()
    }


TABLES_ON: Final = _with_wires()
"""The tables of cases by wire and title, each case in that wire's version."""

CASES_ON: Final[dict[str, dict[str, Case]]] = {
    wire: {name: case for table in tables.values() for name, case in table.items()}
    for wire, tables in TABLES_ON.items()
}
"""All cases by wire and name; `Case.wires` lists the other wires of a case."""


def add_wire(wire: Wire) -> None:
    """Let simulators serve a wire of another package, too. Call it before the first simulator."""
    WIRES[wire.name] = wire
    for name, tables in _with_wires().items():
        for title, table in tables.items():
            TABLES_ON.setdefault(name, {}).setdefault(title, {}).update(table)
            CASES_ON.setdefault(name, {}).update(table)


NORMAL: Final = TABLES_ON[CHAT]["normal"]
"""Answers without a fault on Chat Completions, like the other named tables below."""

FAULTS: Final = TABLES_ON[CHAT]["faults"]
"""Faults for which the SDK gives a wrong answer or does harm without an exception."""

HTTP_FAULTS: Final = TABLES_ON[CHAT]["http_faults"]
"""Faults for which the SDK raises an exception."""

QUIRKS: Final = TABLES_ON[CHAT]["quirks"]
"""Oddities that a client must survive."""

BLOCKED: Final = TABLES_ON[CHAT]["blocked"]
"""Truthful refusals, which no client may retry."""

CASES: Final = CASES_ON[CHAT]
"""All cases of Chat Completions by name."""

STEPS: Final[dict[str, Step]] = {
    "normal": Step(),
    "length": tables_common.LENGTH,
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
    "call": tables_common.CALL,
    "call_cut": tables_common.CALL_CUT,
    "call_malformed": tables_common.CALL_MALFORMED,
    "call_missing": tables_common.CALL_MISSING,
    "pause": Step(keep=0.45, search=Search.AFTER, finish="pause_turn"),
    "compaction": Step(say=Say.COMPACTION, finish="compaction"),
    "think": Step(think=True),
    "think_length": Step(think=True, keep=0.45, finish="length"),
    "drop_call": Step(kind=Kind.CALL, arguments=Arguments.CUT, ending=Ending.DROP),
    "filter": Step(keep=0.5, finish="content_filter"),
    "refusal": Step(say=Say.REFUSAL),
    "unknown": Step(keep=0.6, finish="weird_new_reason"),
    "error_chunk": Step(keep=0.5, error="mid_stream"),
    "400_could_not_finish": Step(error="could_not_finish"),
    "400_context": Step(error="context_length"),
    "429": Step(error="rate_limit"),
    "500": Step(error="server"),
    "503": Step(error="overloaded"),
}
"""Steps by name, for the header `x-sim-script`."""


def described(wire: str = CHAT) -> dict[str, Any]:
    """Return the tables of a wire as JSON values, the response of `GET /sim/faults?wire=…`.

    >>> described()["faults"]["length_once"]["bare"]
    'silent'
    """
    listed: dict[str, Any] = {
        title: {
            case.name: {
                "summary": case.summary,
                "wires": sorted(case.wires),
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
        for title, table in TABLES_ON[wire].items()
    }
    return listed | {"wire": wire, "wires": sorted(TABLES_ON), "steps": sorted(STEPS)}
