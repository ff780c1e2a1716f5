"""Count verdicts, and see what only the whole file shows: where answers without a stop pile up.

Theory of operation
-------------------
A limit that no row tells leaves a mark: the answers that it cut have the same number of tokens, and
none has more. So for each model and limit, the tokens of the answers without a stop are counted. A
number that far more answers have than those below it is a pile-up, and those answers are likely
cut. Answers of a few tokens are labels and scores, which pile up by themselves.

A sign of the text that more than a tenth of the answers without a stop show is a habit of the file,
such as labels that end without a full stop. It is muted: these answers are told as open ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.verdict import Verdict

LABEL_TOKENS: Final = 16
"""Answers of at most this many tokens are labels and scores, cut on purpose or whole."""

LEAST_PILED: Final = 3
_TIMES_DENSER: Final = 5
_BELOW: Final = 0.2
"""A pile-up is compared with the numbers of tokens this far below it, as a share of it."""

MUTED_SHARE: Final = 0.1
_LEAST_TO_MUTE: Final = 20
_CHARS_PER_TOKEN: Final = 4
_NEARLY: Final = 0.8
"""An open end whose tokens are only estimated counts from this share of the limit on."""

_SIGNS: Final = ("fence_open", "json_cut", "think_open")

CUT: Final = frozenset({Outcome.TEXT_CUT, Outcome.ARGUMENTS_CUT, Outcome.THINKING_CUT})
"""Outcomes of answers that the limit cut."""


class Group(NamedTuple):
    """Answers of one model under one limit. "" and None: not stored."""

    model: str
    limit: int | None


class Doubt(NamedTuple):
    """An answer without a stop, as far as the file may still change what is said of it."""

    outcome: Outcome
    sign: str
    tokens: int | None
    chars: int


@dataclass(slots=True)
class Tally:
    """The counts of some rows. Two can be added up, in any order."""

    outcomes: Counter[tuple[Group, Outcome]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    labels: int = 0
    doubts: Counter[tuple[Group, Doubt]] = field(default_factory=Counter)

    def add(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self.kinds[verdict.kind] += 1
        group, outcome = Group(verdict.model, verdict.limit), verdict.outcome
        if outcome in CUT and is_label_sized(verdict):
            self.labels += 1
        doubt = doubt_of(outcome, verdict.evidence, verdict.output_tokens, len(verdict.text))
        if doubt is None:
            self.outcomes[group, outcome] += 1
        else:
            self.doubts[group, doubt] += 1

    def merge(self, other: Tally) -> None:
        """Add the counts of another one."""
        self.outcomes += other.outcomes
        self.kinds += other.kinds
        self.labels += other.labels
        self.doubts += other.doubts

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.kinds.total()


_DOUBTFUL: Final = frozenset({Outcome.DONE, Outcome.OPEN_END, Outcome.LIKELY_CUT})


def doubt_of(outcome: str, evidence: Sequence[str], tokens: int | None, chars: int) -> Doubt | None:
    """Return what the file may still change of a verdict; None: it changes nothing.

    >>> doubt_of("open_end", ["no_stop", "open_end"], None, 1_000)
    Doubt(outcome=<Outcome.OPEN_END: 'open_end'>, sign='', tokens=None, chars=960)
    >>> doubt_of("done", ["stop"], 20, 80) is None
    True
    """
    if "no_stop" not in evidence or outcome not in _DOUBTFUL:
        return None
    told = "tokens_at_limit" in evidence
    sign = "tokens_at_limit" if told else next((w for w in evidence if w in _SIGNS), "")
    # Characters only count where there are no tokens; rounded, so that rows are counted together.
    counted = tokens is None and outcome == Outcome.OPEN_END
    return Doubt(Outcome(outcome), sign, tokens, chars // 64 * 64 if counted else 0)


def is_label_sized(verdict: Verdict) -> bool:
    """Return whether an answer was cut at so few tokens that somebody meant it: a judge that asks
    for one token gets one."""
    sizes = [size for size in (verdict.limit, verdict.output_tokens) if size is not None]
    return bool(sizes) and min(sizes) <= LABEL_TOKENS


@dataclass(frozen=True, slots=True)
class File:
    """What the rows together show.

    Attributes:
        piled: by model and limit, the number of tokens at which answers without a stop pile up, and
            how many do.
        muted: the signs that so many answers show that they say nothing.
    """

    piled: dict[Group, tuple[int, int]]
    muted: frozenset[str]

    def revised(self, group: Group, doubt: Doubt) -> Outcome:
        """Return what an answer without a stop is, now that all are seen."""
        pile = self.piled.get(group)
        if pile is not None and doubt.tokens is not None and doubt.tokens >= pile[0]:
            return Outcome.LIKELY_CUT
        if doubt.outcome is Outcome.LIKELY_CUT and doubt.sign in self.muted:
            return Outcome.OPEN_END
        limit = group.limit or (pile[0] if pile is not None else None)
        if doubt.outcome is Outcome.OPEN_END and doubt.tokens is None and limit is not None:
            estimated = doubt.chars / _CHARS_PER_TOKEN
            return Outcome.LIKELY_CUT if estimated >= _NEARLY * limit else Outcome.OPEN_END
        return doubt.outcome


def seen_together(tally: Tally) -> File:
    """Return what the rows of a tally together show."""
    by_group: dict[Group, Counter[int]] = {}
    signs: Counter[str] = Counter()
    for (group, doubt), times in tally.doubts.items():
        signs[doubt.sign] += times
        if doubt.tokens is not None:
            by_group.setdefault(group, Counter())[doubt.tokens] += times
    total = signs.total()
    often = {
        sign for sign in _SIGNS if total >= _LEAST_TO_MUTE and signs[sign] > MUTED_SHARE * total
    }
    piles = {group: pile_in(counts) for group, counts in by_group.items()}
    return File({group: pile for group, pile in piles.items() if pile}, frozenset(often))


def pile_in(tokens: Counter[int]) -> tuple[int, int] | None:
    """Return the number of tokens at which answers pile up, and how many do; None: they don't.

    Args:
        tokens: how many answers have each number of tokens.

    >>> pile_in(Counter({512: 5, **{n: 1 for n in range(60, 460)}}))
    (512, 5)
    >>> pile_in(Counter({n: 100 for n in range(14, 21)})), pile_in(Counter({2: 900, 1: 300}))
    (None, None)
    """
    if not tokens:
        return None
    most = max(tokens)
    piled = tokens[most]
    if most <= LABEL_TOKENS or piled < LEAST_PILED:
        return None
    width = max(1, int(most * _BELOW))
    below = sum(times for number, times in tokens.items() if most - width <= number < most)
    return (most, piled) if piled >= _TIMES_DENSER * below / width else None


def totals(tally: Tally, file: File) -> Counter[tuple[Group, Outcome]]:
    """Return how many answers of each model and limit have each outcome, as the file shows it."""
    found = Counter(tally.outcomes)
    for (group, doubt), times in tally.doubts.items():
        found[group, file.revised(group, doubt)] += times
    return found


def as_plain(tally: Tally) -> dict[str, Any]:
    """Return the counts as plain values for JSON, with a schema that stays."""
    file = seen_together(tally)
    counted = totals(tally, file)
    by_outcome: Counter[str] = Counter()
    groups: dict[Group, Counter[str]] = {}
    for (group, outcome), times in counted.items():
        by_outcome[outcome.value] += times
        groups.setdefault(group, Counter())[outcome.value] += times
    return {
        "rows": tally.rows,
        "outcomes": dict(by_outcome.most_common()),
        "label_sized": tally.labels,
        "kinds": dict(tally.kinds.most_common()),
        "groups": [
            {"model": group.model, "limit": group.limit, "outcomes": dict(counts.most_common())}
            for group, counts in sorted(groups.items(), key=lambda each: -each[1].total())
        ],
        "piled": [
            {"model": group.model, "limit": group.limit, "tokens": tokens, "answers": answers}
            for group, (tokens, answers) in file.piled.items()
        ],
        "muted": sorted(file.muted),
    }
