"""How a wire makes its own tables of the common ones; and the cases that wires share which say what
became of an answer in a status, and what the model did besides, in items or steps of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from tenuto.sim.case import (
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

Tables = dict[str, dict[str, Case]]


OF_SERVERS: Final = frozenset({
    "error_object", "error_groq", "error_openrouter", "http_400_could_not_finish",
    "http_400_tool_use_failed", "moderation_frame",
})  # fmt: skip
"""Common cases in the words of some who offer Chat Completions, which no other wire has."""

OF_HOSTS: Final = frozenset({
    "host_marks_nothing", "host_has_no_mark", "host_has_no_stop", "host_counts_alone",
    "host_closes",
})  # fmt: skip
"""Common cases of the ends that such servers leave away."""


def own_tables(
    common: Mapping[str, Mapping[str, Case]],
    left_out: Collection[str],
    otherwise: Mapping[str, Mapping[str, Any]],
    own: Mapping[str, Iterable[Case]],
) -> Tables:
    """Return a wire's tables by title.

    Args:
        common: those of all wires.
        left_out: names of common cases for which the wire has no place.
        otherwise: what is different of others.
        own: the wire's own cases, by title.

    >>> case = Case("normal", (), "A whole text.", bare=Bare.FINE)
    >>> list(own_tables({"normal": {"normal": case}}, {"odd"}, {}, {})["normal"])
    ['normal']
    """
    out: Tables = {title: {} for title in common}
    for title, cases in common.items():
        for name, case in cases.items():
            if name not in left_out:
                changed = replace(case, **otherwise.get(name, {}))
                out.setdefault(_title(title, changed), {})[name] = changed
    for title, group in own.items():
        for case in group:
            out.setdefault(_title(title, case), {})[case.name] = case
    return out


def with_calls(common: Mapping[str, Mapping[str, Case]]) -> frozenset[str]:
    """Return the names of common cases of calls, for wires that have none.

    >>> with_calls({"faults": {"tool": Case("tool", (), "A call.", wants_tools=True)}})
    frozenset({'tool'})
    """
    cases = (case for table in common.values() for case in table.values())
    return frozenset(case.name for case in cases if case.wants_tools)


def _title(title: str, case: Case) -> str:
    """Return the table of a case, whose effect on the SDK may be another than on Chat
    Completions."""
    if title in ("normal", "blocked"):
        return title
    return {Bare.FINE: "quirks", Bare.RAISES: "http_faults"}.get(case.bare, "faults")


def think(name: str, what: str) -> Case:
    """Return the case of thoughts before a whole text; `what` calls them as the wire does."""
    return Case(name, (Step(think=True),), f"{what}, then the whole text.", bare=Bare.FINE,
                behaviours=("C20", "P8"))  # fmt: skip


def think_then_call(what: str) -> Case:
    """Return the case of thoughts before a call."""
    return Case("think_then_call", (Step(kind=Kind.CALL, think=True),), f"{what}, then a call.",
                bare=Bare.FINE, wants_tools=True, behaviours=("C20", "P8"))  # fmt: skip


def think_then_length(what: str) -> Case:
    """Return the case of thoughts before a text that is cut."""
    return Case("think_then_length", (_CUT,), f"{what}, then a text that the limit cuts.",
                behaviours=("C1", "C20"))  # fmt: skip


def event_not_json(bare: Bare) -> Case:
    """Return the case of a broken event; `bare` is what the SDK makes of it."""
    return Case("event_not_json", (Step(odd=Odd.NOT_JSON),), "One event holds no JSON.",
                modes=STREAM, bare=bare, behaviours=("N6",))  # fmt: skip


def call_wrong_index(bare: Bare) -> Case:
    """Return the case of calls that seem to be one; `bare` is what the SDK makes of it."""
    return Case("call_wrong_index", (Step(kind=Kind.CALLS, shape=Shape.WRONG_INDEX),),
                "Three calls have the index of the first.", modes=STREAM, wants_tools=True,
                bare=bare, behaviours=("T13",))  # fmt: skip


UNKNOWN_EVENT: Final = Case(
    "unknown_event", (Step(odd=Odd.UNKNOWN_EVENT),), "One event has an unknown type.",
    modes=STREAM, bare=Bare.FINE, behaviours=("S8",),
)  # fmt: skip
DATA_LINES: Final = Case(
    "data_lines", (Step(framing=Framing.DATA_LINES),), "Each document stands on two data lines.",
    modes=STREAM, bare=Bare.FINE, behaviours=("S8",),
)  # fmt: skip

_CUT: Final = Step(think=True, keep=0.45, finish="length")

STATUS_FAULTS: Final = (
    Case("failed", (Step(keep=0, finish="failed"),), "The answer failed before any text.",
         behaviours=("S9", "N3")),
    Case("failed_mid_text", (Step(keep=0.5, finish="failed"),),
         "The answer fails in the middle of the text.", modes=STREAM, behaviours=("S9", "S3")),
    Case("failed_always", (Step(keep=0, finish="failed"),), "Every answer fails.",
         repeat_last=True, recoverable=False, behaviours=("S9",)),
    think_then_length("A thought"),
    Case("think_then_length_twice", (_CUT, _CUT), "A thought and a cut text, twice.",
         behaviours=("C1", "C20")),
    Case("think_then_call_cut",
         (Step(kind=Kind.CALL, think=True, arguments=Arguments.CUT, finish="length"),),
         "A thought, then a call that the limit cuts.", wants_tools=True, bare=Bare.HARMFUL,
         behaviours=("T5", "C20")),
    Case("search_then_length",
         (Step(search=Search.BEFORE, think=True, keep=0.45, finish="length"),),
         "A search that the provider ran, then a cut text that cites it.",
         behaviours=("C1", "C28a")),
    Case("search_then_drop", (Step(search=Search.BEFORE, keep=0.4, ending=Ending.DROP),),
         "The stream ends behind a search that the provider ran.", modes=STREAM,
         behaviours=("S3",)),
)  # fmt: skip

STATUS_QUIRKS: Final = (
    think("think_then_text", "A thought"),
    think_then_call("A thought"),
    Case("search_cited", (Step(search=Search.BEFORE, think=True),),
         "A search that the provider ran, and a text that cites it.",
         bare=Bare.FINE, behaviours=("N3", "P8")),
    UNKNOWN_EVENT,
)  # fmt: skip
