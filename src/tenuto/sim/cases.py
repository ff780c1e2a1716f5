"""The tables of cases by name, and the steps that a header can name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from tenuto.sim import tables_calls, tables_text, tables_wire
from tenuto.sim.anthropic_messages.cases import tables as anthropic_tables
from tenuto.sim.bedrock_converse.cases import tables as converse_tables
from tenuto.sim.bedrock_invoke.cases import tables as invoke_tables
from tenuto.sim.case import Arguments, Bare, Case, Continuation, Ending, Kind, Say, Search, Step
from tenuto.sim.cohere.cases import tables as cohere_tables
from tenuto.sim.cohere_v1.cases import tables as cohere_v1_tables
from tenuto.sim.dashscope.cases import tables as dashscope_tables
from tenuto.sim.gemini_generate.cases import tables as gemini_tables
from tenuto.sim.gemini_interactions.cases import tables as interactions_tables
from tenuto.sim.mistral.cases import tables as mistral_tables
from tenuto.sim.ollama.cases import tables as ollama_tables
from tenuto.sim.openai_completions.cases import tables as completions_tables
from tenuto.sim.openai_responses.cases import tables as responses_tables
from tenuto.sim.tgi.cases import tables as tgi_tables

CHAT: Final = "openai-chat"


def _by_name(*groups: Iterable[Case]) -> dict[str, Case]:
    return {case.name: case for group in groups for case in group}


_NORMAL: Final = (
    Case("normal", (), "A whole text.", bare=Bare.FINE, behaviours=("P8",)),
    Case("text", (Step(kind=Kind.TEXT),), "A whole text.", bare=Bare.FINE),
    Case("cjk", (Step(kind=Kind.CJK),), "A whole Chinese text.", bare=Bare.FINE),
    Case("tool", (Step(kind=Kind.CALL),), "A call.", bare=Bare.FINE, wants_tools=True),
    Case("tools", (Step(kind=Kind.CALLS),), "Three calls.", bare=Bare.FINE, wants_tools=True),
    Case("tool_with_text", (Step(kind=Kind.PREFACE_CALL),), "A sentence, then a call.",
         bare=Bare.FINE, wants_tools=True),
)  # fmt: skip

_COMMON: Final[Mapping[str, Mapping[str, Case]]] = {
    "normal": _by_name(_NORMAL),
    "faults": _by_name(
        tables_text.LENGTH_CASES,
        tables_text.REASONING_CASES,
        tables_calls.CALL_CASES,
        tables_text.EMPTY_CASES,
        tables_wire.END_CASES,
        tables_text.STOP_CASES,
    ),
    "http_faults": _by_name(tables_wire.HTTP_CASES),
    "quirks": _by_name(
        tables_calls.CALL_QUIRKS,
        tables_wire.END_QUIRKS,
        tables_wire.HOST_QUIRKS,
        tables_text.STOP_QUIRKS,
        tables_wire.FRAME_QUIRKS,
    ),
    "blocked": _by_name(tables_text.BLOCKED_CASES),
}


def _with_wires(
    tables_on: Mapping[str, Mapping[str, Mapping[str, Case]]],
) -> dict[str, dict[str, dict[str, Case]]]:
    def wires(name: str) -> frozenset[str]:
        return frozenset(
            wire for wire, tables in tables_on.items()
            if any(name in table for table in tables.values())
        )  # fmt: skip

    return {
        wire: {
            title: {name: replace(case, wires=wires(name)) for name, case in table.items()}
            for title, table in tables.items()
        }
        for wire, tables in tables_on.items()
    }


_OWN: Final = {
    "anthropic-messages": anthropic_tables,
    "openai-completions": completions_tables,
    "openai-responses": responses_tables,
    "gemini-generate": gemini_tables,
    "gemini-interactions": interactions_tables,
    "bedrock-converse": converse_tables,
    "bedrock-invoke": invoke_tables,
    "cohere": cohere_tables,
    "cohere-v1": cohere_v1_tables,
    "ollama": ollama_tables,
    "mistral": mistral_tables,
    "tgi": tgi_tables,
    "dashscope": dashscope_tables,
}
"""What each further wire makes of the common tables."""

TABLES_ON: Final = _with_wires(
    {CHAT: _COMMON} | {wire: tables(_COMMON) for wire, tables in _OWN.items()}
)
"""Tables of cases by wire and title, each case as that wire shows it."""

CASES_ON: Final[Mapping[str, Mapping[str, Case]]] = {
    wire: {name: case for table in tables.values() for name, case in table.items()}
    for wire, tables in TABLES_ON.items()
}
"""Every case of a wire by name; `Case.wires` says where else it exists."""

NORMAL: Final = TABLES_ON[CHAT]["normal"]
"""Answers without a fault, on Chat Completions as are all tables by a name of their own."""

FAULTS: Final = TABLES_ON[CHAT]["faults"]
"""Faults on which the bare SDK is silently wrong or does harm."""

HTTP_FAULTS: Final = TABLES_ON[CHAT]["http_faults"]
"""Faults on which the bare SDK raises."""

QUIRKS: Final = TABLES_ON[CHAT]["quirks"]
"""Oddities that a client must survive."""

BLOCKED: Final = TABLES_ON[CHAT]["blocked"]
"""Truthful blocks, which nobody may retry away."""

CASES: Final = CASES_ON[CHAT]
"""Every case of Chat Completions by name."""

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
    """Return the tables of a wire as JSON values, as `GET /sim/faults?wire=…` gives them.

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
