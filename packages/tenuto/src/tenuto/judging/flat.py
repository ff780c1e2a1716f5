"""A quick reading of flat rows: a text, its stop and what stands beside them, as tables have them.

Theory of operation
-------------------
Which member is the text and which the stop depends on the names alone, so it is found out once for
each set of names (`plan_of`). A row is then read with the functions of the walk (`walk.py`) that
would read it in the end, without asking each kind and each wire before. The first rows of each set
of names are read both ways; where the whole reading says anything else, it is always asked.

As in `quick.py`, what is not understood to the last member is left to the whole reading.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from tenuto.core.answer.stop import Stop, StopReason
from tenuto.judging.answers import read_answer
from tenuto.judging.beside import limit_in, tokens_in, word_in
from tenuto.judging.days import day_in
from tenuto.judging.kinds import WITH_STOP
from tenuto.judging.names import IDS, MODELS, STOPS
from tenuto.judging.opening import IN_BASE64, may_open
from tenuto.judging.quick import verdict_on
from tenuto.judging.shapes import Found
from tenuto.judging.verdict import Verdict
from tenuto.judging.walk import ASKED, TEXTS, is_own_name, told_in
from tenuto.wires.json import JsonObject
from tenuto.wires.registry import WIRES

_SAYS_NO_MORE: Final = frozenset({*MODELS, *IDS})

_COMPARED: Final = 8
"""So many rows of each set of names are read both ways."""

_MOST_STOP_CHARS: Final = 32
_SCALARS: Final = (int, float, bool, type(None), date, Decimal)


@dataclasses.dataclass(slots=True)
class Plan:
    """How rows with some names are read.

    Attributes:
        stop, text: the members that hold them.
        asked: members whose texts are not looked into.
        free: the other members, none of which may be a text that opens, or hold others.
        compared: how many rows were read both ways; None: one was read differently.
    """

    stop: str
    text: str
    asked: tuple[str, ...]
    free: tuple[str, ...]
    compared: int | None = 0


@lru_cache(1_024)
def plan_of(names: tuple[str, ...]) -> Plan | None:
    """Return how rows with these names are read; None: only the whole reading can say.

    >>> plan = plan_of(("id", "prompt", "finish_reason", "completion"))
    >>> plan.stop, plan.text, plan.asked, plan.free
    ('finish_reason', 'completion', ('prompt',), ('id',))
    >>> plan_of(("prompt", "completion")) is None
    True
    """
    stops = [name for name in STOPS if name in names]
    text = next((name for name in TEXTS if name in names), None)
    if len(stops) != 1 or text is None or not all(map(_is_plain, names)):
        return None
    if any(is_own_name(name) for name in names if name not in TEXTS):
        return None
    first_steps = [{path.split(".")[0] for path in kind.needs} for kind in WITH_STOP if kind.needs]
    if any(steps <= set(names) for steps in first_steps):
        return None
    others = [name for name in names if name not in (stops[0], text)]
    for filling in (None, "x", 1):  # an API's own answer may look like that
        row: dict[str, Any] = {**dict.fromkeys(others, filling), stops[0]: "stop", text: "Yes."}
        if read_answer(row):
            return None
    asked = tuple(name for name in others if name in ASKED)
    return Plan(stops[0], text, asked, tuple(name for name in others if name not in ASKED))


def _is_plain(name: object) -> bool:
    """Return whether a name is none of an attribute of a trace, which a kind without needs looks
    for, and none of base64, which the walk unpacks."""
    return isinstance(name, str) and "." not in name and name not in _TELLING


_TELLING: Final = ("attributes", "encoding", *IN_BASE64)


def flatly(row: JsonObject, limit: int | None, whole: Callable[[], Verdict]) -> Verdict | None:
    """Return the verdict on a flat row; None: the whole reading has to take it. `limit`: as for
    `judge`. `whole`: the whole reading of this row."""
    if WIRES.changes:
        return None
    plan = plan_of(tuple(row))
    if plan is None or plan.compared is None:
        return None
    found = _read(plan, row, limit)
    if found is None or plan.compared >= _COMPARED:
        return found
    told = whole()
    plan.compared = plan.compared + 1 if told == found else None
    return told


def _read(plan: Plan, row: JsonObject, limit: int | None) -> Verdict | None:
    text, stop = row[plan.text], row[plan.stop]
    if type(text) is not str or type(stop) is not str or len(stop) > _MOST_STOP_CHARS:
        return None
    for name in plan.free:
        value = row[name]
        if type(value) is str:
            # Where there is no text, what another one says counts, such as reasoning.
            if may_open(value) or not (text or name in _SAYS_NO_MORE):
                return None
        elif not isinstance(value, _SCALARS):
            return None
    for name in plan.asked:
        if not isinstance(row[name], (str, *_SCALARS)):
            return None
    model = word_in(row, MODELS)
    read = stop_of(plan.stop, stop, any(name in row for name in MODELS))
    if read is None or (text and may_open(text)):
        return None
    found = Found(
        text,
        stop,
        plan.stop,
        tokens_in(row),
        id=word_in(row, IDS),
        model=model,
        limit=limit_in(row),
        day=day_in(row),
    )
    return verdict_on(found, "found_within", limit, read)


@lru_cache(256)
def stop_of(name: str, value: str, has_model: bool) -> Stop | None:
    """Return what a stop is that stands beside a text; None: it is none, or says more than that
    the answer ended or was cut."""
    row: dict[str, Any] = {name: value, "text": "Yes."}
    told = told_in(row | {"model": "m"} if has_model else row)
    if told is None:
        return None
    stop = read_answer(told)[0].response.stop
    return stop if stop.reason in (StopReason.END_TURN, StopReason.MAX_TOKENS) else None
