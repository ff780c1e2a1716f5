"""All pairs: the simulator's cases on every SDK, and the cases that are written here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from hashlib import sha256

from checks.differential import written
from checks.differential.far import Simulated
from checks.differential.kinds import group
from checks.differential.playing import Pair
from checks.differential.sdks import SDKS, Question
from tenuto_sim import CASES_ON, Case


def pairs() -> Iterator[Pair]:
    """Return every pair, the same ones in the same order on each run."""
    yield from written.pairs()  # first, because they find more
    yield from _simulated()


EACH: int = 4
"""Pairs of each kind in the slice that `make test` plays."""
_LARGE: tuple[str, ...] = ("3.3/", "/R/", "3.1/")
"""Pairs that take seconds."""


def drawn() -> list[Pair]:
    """Return the slice: some pairs of each kind, drawn by their keys and so always the same."""
    by_group: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs():
        if not any(part in pair.key for part in _LARGE):
            by_group[group(pair.sdk, pair.kind)].append(pair)
    return [
        pair
        for found in by_group.values()
        for pair in sorted(found, key=lambda pair: sha256(pair.key.encode()).digest())[:EACH]
    ]


def _simulated() -> Iterator[Pair]:
    for name, sdk in SDKS.items():
        for case in CASES_ON[sdk.wire].values():
            if name == "mistral" and case.after_tool_result:
                continue  # its SDK adds `prefix` to each row, which the simulator refuses
            for mode in sorted(case.modes):
                for task in (False,) if sdk.sync_only else (False, True):
                    yield _pair(name, case, mode, task=task)


def _pair(name: str, case: Case, mode: str, *, task: bool) -> Pair:
    sdk = SDKS[name]
    tools = case.wants_tools or case.after_tool_result
    question = Question(f"sim/{case.name}", tools, case.after_tool_result, dict(case.request))
    far = partial(Simulated, case, dialect=sdk.dialect, prefill=sdk.prefill)
    way = "task" if task else "sync"
    key = f"{name}/sim/{case.name}/{mode}/{way}"
    return Pair(key, name, mode == "stream", task, question, far)
