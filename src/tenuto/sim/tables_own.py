"""How a wire makes its own tables of the common ones; and the cases that wires share which say what
became of an answer in a status, and what the model did besides, in items or steps of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from tenuto.sim.case import Arguments, Bare, Case, Ending, Kind, Odd, Search, Step

Tables = dict[str, dict[str, Case]]


def own_tables(
    common: Mapping[str, Mapping[str, Case]],
    as_they_are: Collection[str],
    otherwise: Mapping[str, Mapping[str, Any]],
    own: Mapping[str, Iterable[Case]],
) -> Tables:
    """Return a wire's tables by title.

    Args:
        common: those of all wires.
        as_they_are: names of common cases that need no other words.
        otherwise: what is different of others.
        own: the wire's own cases, by title.

    >>> case = Case("normal", (), "A whole text.", bare=Bare.FINE)
    >>> list(own_tables({"normal": {"normal": case}}, {"normal"}, {}, {})["normal"])
    ['normal']
    """
    out: Tables = {title: {} for title in common}
    for title, cases in common.items():
        for name, case in cases.items():
            if name in as_they_are or name in otherwise:
                changed = replace(case, **otherwise.get(name, {}))
                out.setdefault(_title(title, changed), {})[name] = changed
    for title, group in own.items():
        for case in group:
            out.setdefault(_title(title, case), {})[case.name] = case
    return out


def _title(title: str, case: Case) -> str:
    """Return the table of a case, whose effect on the SDK may be another than on Chat
    Completions."""
    if title in ("normal", "blocked"):
        return title
    return {Bare.FINE: "quirks", Bare.RAISES: "http_faults"}.get(case.bare, "faults")


_STREAM: Final = frozenset({"stream"})
_CUT: Final = Step(think=True, keep=0.45, finish="length")

STATUS_FAULTS: Final = (
    Case("failed", (Step(keep=0, finish="failed"),), "The answer failed before any text.",
         behaviours=("S9", "N3")),
    Case("failed_mid_text", (Step(keep=0.5, finish="failed"),),
         "The answer fails in the middle of the text.", modes=_STREAM, behaviours=("S9", "S3")),
    Case("failed_always", (Step(keep=0, finish="failed"),), "Every answer fails.",
         repeat_last=True, recoverable=False, behaviours=("S9",)),
    Case("think_then_length", (_CUT,), "A thought, then a text that the limit cuts.",
         behaviours=("C1", "C20")),
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
         "The stream ends behind a search that the provider ran.", modes=_STREAM,
         behaviours=("S3",)),
)  # fmt: skip

STATUS_QUIRKS: Final = (
    Case("think_then_text", (Step(think=True),), "A thought, then the whole text.",
         bare=Bare.FINE, behaviours=("C20", "P8")),
    Case("think_then_call", (Step(kind=Kind.CALL, think=True),), "A thought, then a call.",
         bare=Bare.FINE, wants_tools=True, behaviours=("C20", "P8")),
    Case("search_cited", (Step(search=Search.BEFORE, think=True),),
         "A search that the provider ran, and a text that cites it.",
         bare=Bare.FINE, behaviours=("N3", "P8")),
    Case("unknown_event", (Step(odd=Odd.UNKNOWN_EVENT),), "One event has an unknown type.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
)  # fmt: skip
