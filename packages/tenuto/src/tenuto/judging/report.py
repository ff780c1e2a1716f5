"""The report on files of stored answers, as plain values for JSON.

The schema stays: members may be added, and `SCHEMA` is raised if one changes its meaning. No member
holds a text of an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.lengths import Length, fitted, histogram, rounded, won
from tenuto.judging.tally import CUT_WORDS, Group, SeenTogether, Tally, seen_together

SCHEMA: Final = 1
"""The version of the report's form."""

MOST_GROUPS: Final = 500
"""So many models and limits, and so many days, are told; the largest groups and the last days."""

_LARGER: Final = (2, 4, 8)
"""Times a limit, of which the report estimates what they would win."""

_COMPLETE: Final = frozenset({Outcome.DONE.value, Outcome.OPEN_END.value})


@dataclass(slots=True)
class _Counts:
    """The counts of all rows, now that all are seen."""

    outcomes: Counter[str] = field(default_factory=Counter)
    groups: dict[Group, Counter[str]] = field(default_factory=dict)
    days: dict[str, Counter[str]] = field(default_factory=dict)
    why: Counter[str] = field(default_factory=Counter)
    lengths: Counter[tuple[Group, str, Length]] = field(default_factory=Counter)
    undecided: int = 0

    def add(self, group: Group, day: str, word: str, times: int) -> None:
        self.outcomes[word] += times
        self.groups.setdefault(group, Counter())[word] += times
        self.days.setdefault(day, Counter())[word] += times


def _counted(tally: Tally, together: SeenTogether) -> _Counts:
    found = _Counts(lengths=Counter(tally.lengths))
    for (group, day, word), times in tally.outcomes.items():
        found.add(group, day, word, times)
    for (group, day, doubt), times in tally.doubts.items():
        word, why = together.revised(group, doubt)
        found.add(group, day, word, times)
        if word == Outcome.LIKELY_CUT:
            found.why[why] += times
        if word == Outcome.OPEN_END and together.limit_of(group) is None:
            found.undecided += times * (why == "muted" or doubt.tokens is None)
        if word not in (Outcome.FAULT, Outcome.NO_ANSWER):
            found.lengths[group, word, rounded(doubt.tokens, doubt.chars)] += times
    return found


def report_of(tally: Tally) -> dict[str, Any]:
    """Return what is told of the rows of a tally.

    Returns:
        `rows` and `answers` (those that a kind knew), `outcomes`, `likely_cut` (how many are likely
        cut for each reason), `kinds`, `groups` (by model and limit), `days`, `lengths` (a
        histogram, in tokens where most answers tell them, else in characters), `piled`, `muted`,
        `undecided` (how many end openly without anything that tells whether they are cut), and
        `larger_limits` (how many of the answers that a limit cut a larger one would hold, as
        an estimate).
    """
    together = seen_together(tally)
    found = _counted(tally, together)
    return {
        "schema": SCHEMA,
        "rows": tally.rows,
        "answers": _answers(found.outcomes),
        "outcomes": dict(found.outcomes.most_common()),
        "likely_cut": dict(found.why.most_common()),
        "kinds": {kind: times for kind, times in tally.kinds.most_common() if kind},
        "groups": _groups(found),
        "days": _days(found),
        "lengths": _lengths(found.lengths),
        "piled": [
            {"model": group.model, "limit": group.limit, "tokens": tokens, "answers": answers}
            for group, piles in together.piled.items()
            for tokens, answers in piles.items()
        ],
        "muted": sorted(together.muted),
        "undecided": found.undecided,
        "larger_limits": _larger_limits(found.lengths, together),
    }


def _answers(outcomes: Mapping[str, int]) -> int:
    return sum(outcomes.values()) - outcomes.get(Outcome.NO_ANSWER.value, 0)


def _without_unknown(counts: Counter[str]) -> dict[str, int]:
    return {word: n for word, n in counts.most_common() if word != Outcome.NO_ANSWER}


def _groups(found: _Counts) -> list[dict[str, Any]]:
    told = [(group, _without_unknown(counts)) for group, counts in found.groups.items()]
    told = sorted(
        ((group, counts) for group, counts in told if counts),
        key=lambda each: (-sum(each[1].values()), each[0].model, each[0].limit or 0),
    )
    return [
        {**group._asdict(), "answers": sum(counts.values()), "outcomes": counts}
        for group, counts in told[:MOST_GROUPS]
    ]


def _days(found: _Counts) -> list[dict[str, Any]]:
    told = [(day, _without_unknown(counts)) for day, counts in sorted(found.days.items())]
    told = [(day, counts) for day, counts in told if counts]
    if not any(day for day, _ in told):
        return []
    return [
        {"day": day, "answers": sum(counts.values()), "outcomes": counts}
        for day, counts in told[-MOST_GROUPS:]
    ]


def _class_of(word: str) -> str:
    return "complete" if word in _COMPLETE else "cut" if word in CUT_WORDS else word


def _lengths(counts: Counter[tuple[Group, str, Length]]) -> dict[str, Any]:
    units: dict[bool, Counter[tuple[int, str]]] = {True: Counter(), False: Counter()}
    for (_, word, length), times in counts.items():
        units[length.exact][length.number, _class_of(word)] += times
    exact = units[True].total() >= units[False].total()
    return {"unit": "tokens" if exact else "characters", "bins": histogram(units[exact])}


def _larger_limits(
    counts: Counter[tuple[Group, str, Length]], together: SeenTogether
) -> list[dict[str, Any]]:
    whole: dict[str, Counter[int]] = {}
    cut: dict[Group, Counter[int]] = {}
    for (group, word, length), times in counts.items():
        if not length.exact:
            continue
        if _class_of(word) == "complete":
            whole.setdefault(group.model, Counter())[length.number] += times
        elif _class_of(word) in ("cut", Outcome.LIKELY_CUT):
            cut.setdefault(group, Counter())[length.number] += times
    told = []
    for group, numbers in sorted(cut.items(), key=lambda each: -each[1].total()):
        limit = together.limit_of(group) or _one_of(numbers)
        of_model = sum((n for g, n in cut.items() if g.model == group.model), Counter[int]())
        lengths = fitted(whole.get(group.model, {}), of_model)
        if lengths is None or limit is None:
            continue
        answers = numbers.total()
        larger = [
            {"limit": limit * n, "answers": round(answers * won(lengths, limit, limit * n))}
            for n in _LARGER
        ]
        told.append({"model": group.model, "limit": limit, "cut": answers, "would_hold": larger})
    return told[:MOST_GROUPS]


def _one_of(numbers: Counter[int]) -> int | None:
    """Return the number at which most answers were cut; None: there are several limits."""
    ((number, times),) = numbers.most_common(1)
    return number if times > numbers.total() / 2 else None
