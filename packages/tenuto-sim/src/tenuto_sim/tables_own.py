"""How a wire derives its tables from the common cases, and the cases that only some wires have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tenuto_sim.case import (
    STREAM,
    Arguments,
    Bare,
    Case,
    Ending,
    Framing,
    Kind,
    Odd,
    Search,
    Shape,
    Step,
)
from tenuto_sim.tables_common import BLOCKED_CASES, COMMON, NORMAL

Tables = dict[str, dict[str, Case]]
"""Cases by the title of their table and by name."""

_CUT: Final = Step(think=True, keep=0.45, finish="length")
_STATUS_FAULTS: Final = (
    Case("failed", (Step(keep=0, finish="failed"),), "The answer failed before any text.",
         behaviours=("S9", "N3")),
    Case("failed_mid_text", (Step(keep=0.5, finish="failed"),),
         "The answer fails in the middle of the text.", modes=STREAM, behaviours=("S9", "S3")),
    Case("failed_always", (Step(keep=0, finish="failed"),), "Every answer fails.",
         repeat_last=True, recoverable=False, behaviours=("S9",)),
    Case("think_then_length", (_CUT,), "{thoughts}, then a text that the limit cuts.",
         behaviours=("C1", "C20")),
    Case("think_then_length_twice", (_CUT, _CUT), "A thought and a cut text, twice.",
         behaviours=("C1", "C20")),
    Case("think_then_call_cut",
         (Step(kind=Kind.CALL, think=True, arguments=Arguments.CUT, finish="length"),),
         "{thoughts}, then a call that the limit cuts.", wants_tools=True, bare=Bare.HARMFUL,
         behaviours=("T5", "C20")),
    Case("search_then_length",
         (Step(search=Search.BEFORE, think=True, keep=0.45, finish="length"),),
         "A search that the provider ran, then a cut text that cites it.",
         behaviours=("C1", "C28a")),
    Case("search_then_drop", (Step(search=Search.BEFORE, keep=0.4, ending=Ending.DROP),),
         "The stream ends behind a search that the provider ran.", modes=STREAM,
         behaviours=("S3",)),
)  # fmt: skip
_STATUS_QUIRKS: Final = (
    Case("think_then_text", (Step(think=True),), "{thoughts}, then the whole text.",
         bare=Bare.FINE, behaviours=("C20", "P8")),
    Case("think_then_call", (Step(kind=Kind.CALL, think=True),), "{thoughts}, then a call.",
         bare=Bare.FINE, wants_tools=True, behaviours=("C20", "P8")),
    Case("search_cited", (Step(search=Search.BEFORE, think=True),),
         "A search that the provider ran, and a text that cites it.",
         bare=Bare.FINE, behaviours=("N3", "P8")),
    Case("unknown_event", (Step(odd=Odd.UNKNOWN_EVENT),), "One event has an unknown type.",
         modes=STREAM, bare=Bare.FINE, behaviours=("S8",)),
)  # fmt: skip
_OTHERS: Final = (
    Case("think", (Step(think=True),), "{thoughts}, then the whole text.",
         bare=Bare.FINE, behaviours=("C20", "P8")),
    Case("think_signed", (Step(think=True),), "{thoughts}, then the whole text.",
         bare=Bare.FINE, behaviours=("C20", "P8")),
    Case("event_not_json", (Step(odd=Odd.NOT_JSON),), "One event holds no JSON.",
         modes=STREAM, bare=Bare.HARMFUL, behaviours=("N6",)),
    Case("line_not_json", (Step(odd=Odd.NOT_JSON),), "One line holds no JSON.",
         modes=STREAM, bare=Bare.HARMFUL, behaviours=("N6",)),
    Case("call_wrong_index", (Step(kind=Kind.CALLS, shape=Shape.WRONG_INDEX),),
         "Three calls have the index of the first.", modes=STREAM, wants_tools=True,
         bare=Bare.HARMFUL, behaviours=("T13",)),
    Case("pings", (Step(odd=Odd.PINGS),), "Three pings before each event.",
         modes=STREAM, bare=Bare.FINE, behaviours=("S8",)),
    Case("data_lines", (Step(framing=Framing.DATA_LINES),),
         "Each document stands on two data lines.", modes=STREAM, bare=Bare.FINE,
         behaviours=("S8",)),
    Case("stop_sequence", (Step(finish="stop_sequence"),), "A stop sequence ends the text.",
         bare=Bare.FINE, request={"stop_sequences": ["###"]}, behaviours=("N1",)),
    Case("timeout", (Step(keep=0.5, finish="TIMEOUT"),), "The time allowed for a text is over.",
         behaviours=("N1", "C5")),
)  # fmt: skip
_SHARED: Final = {case.name: case for case in (*_STATUS_FAULTS, *_STATUS_QUIRKS, *_OTHERS)}
"""The cases that only some wires have, by the name with which a wire selects one."""

STATUS: Final = " ".join(case.name for case in (*_STATUS_FAULTS, *_STATUS_QUIRKS))
"""The cases of wires that report an answer's state in a status, and whose answers consist of items
or
steps."""

OF_SERVERS: Final = """error_object error_groq error_openrouter http_400_could_not_finish
    http_400_tool_use_failed moderation_frame """
"""Common cases with stop values of some providers of Chat Completions, which no other wire has."""

OF_HOSTS: Final = """host_marks_nothing host_has_no_mark host_has_no_stop host_counts_alone
    host_closes """
"""Common cases of endings that such servers leave out."""

WITH_CALLS: Final = " ".join(case.name for case in COMMON if case.wants_tools)
"""Common cases of calls, which some wires lack."""

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "items": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title", "items"],
    "additionalProperties": False,
}
"""The common case of a structured answer, for requests that must ask for one."""

NO_ROOM_FOR_CALL: Final[Mapping[str, Any]] = {
    "plan": (Step(kind=Kind.CALL, think=True, keep=0, finish="length"),),
    "summary": "{thoughts}, and no room for the call.",
    "bare": Bare.SILENT,
    "behaviours": ("C11", "C20"),
}
"""How `think_then_call_cut` differs on wires that don't send a cut call at all."""

KEY_OF_THE_CALLER: Final[dict[str, Any]] = {
    "summary": "A key of the request is not known.",
    "recoverable": False,
}
"""How `http_400_unknown_key` differs if the SDK sends no hints: it names a key of the caller's."""

CUT_AS_WHOLE: Final[Mapping[str, Any]] = {
    "call_cut_stop": {
        "plan": (
            Step(kind=Kind.CALL, arguments=Arguments.CUT, finish="stop", usage_at_limit=True),
        ),
        "summary": "A cut call comes with a clean stop; the usage is at the limit.",
        "request": {"max_tokens": 2_048},
    },
    "call_cut_tool_calls": {
        "plan": (
            Step(kind=Kind.CALL, arguments=Arguments.CUT, finish="tool_calls", usage_at_limit=True),
        ),
        "summary": "A cut call is relabelled as a whole one; the usage is at the limit.",
        "request": {"max_tokens": 2_048},
    },
}
"""How cut calls differ on wires that hand out decoded arguments: these have no text that could be
cut, so without such a usage the call only lacks a member, which is the model's own (T12b)."""

BREAKS_THE_SDK: Final = {"body_short cut_off_mid_text reset_mid_text": {"bare": Bare.HARMFUL}}
"""Cases in which exceptions of the SDK's transport reach the program unchanged."""

CANNOT_BE_ASKED: Final = {"empty_once think_tag_only whitespace_once": {"recoverable": False}}
"""On wires of plain prompts, the model would take the question for part of the text."""


def own_tables(
    *,
    without: str = "",
    otherwise: Mapping[str, Mapping[str, Any]] | None = None,
    own: Iterable[Case | str] = (),
    blocked: Collection[Case] = (),
    thoughts: str = "A thought",
    limit: Callable[[int], Mapping[str, Any]] = lambda tokens: {"max_tokens": tokens},
) -> Tables:
    """Return a wire's tables by title.

    Args:
        without: names of the common cases that the wire leaves out.
        otherwise: how other cases differ, by name; one key may hold several names.
        own: the wire's further cases: its own, and the names of those it shares with some wires.
        blocked: its own refusals.
        thoughts: what the wire calls a chain of thought.
        limit: what the wire calls the output limit in a request.

    >>> tables = own_tables(own=["pings"], otherwise={"pings": {"bare": Bare.HARMFUL}})
    >>> "pings" in tables["faults"], "pings" in tables["quirks"]
    (True, False)
    """
    changes: dict[str, dict[str, Any]] = defaultdict(dict)
    for names, different in (otherwise or {}).items():
        for name in names.split():
            changes[name] |= different
    left_out = frozenset(without.split())
    out: Tables = {title: {} for title in ("normal", *_BY_EFFECT.values(), "blocked")}
    for case in (*COMMON, *_named(own), *blocked):
        if case.name not in left_out:
            made = replace(case, **changes[case.name])
            if (most := made.request.get("max_tokens")) is not None:
                made = replace(made, request=limit(most))
            made = replace(made, summary=made.summary.replace("{thoughts}", thoughts))
            is_blocked = case in blocked or case in BLOCKED_CASES
            title = "normal" if case in NORMAL else _BY_EFFECT[made.bare]
            out["blocked" if is_blocked else title][case.name] = made
    return out


_BY_EFFECT: Final[Mapping[Bare, str]] = {
    Bare.SILENT: "faults",
    Bare.HARMFUL: "faults",
    Bare.RAISES: "http_faults",
    Bare.FINE: "quirks",
}
"""The table of a case, by what the official SDK makes of it."""


def _named(own: Iterable[Case | str]) -> Iterator[Case]:
    for one in own:
        if isinstance(one, str):
            yield from (_SHARED[name] for name in one.split())
        else:
            yield one
