"""Count verdicts, and see what only the whole file shows: where answers without a stop pile up.

Theory of operation
-------------------
A limit that no row tells leaves a mark: the answers that it cut have the same number of tokens, and
none has more. So for each model and limit, the tokens of the answers without a stop are counted. A
number that far more answers have than those below it is a pile-up, and those answers are likely
cut. Answers of a few tokens are labels and scores, which pile up by themselves.

A sign of the text that more than a tenth of the answers without a stop show, and more than show its
counterpart, is a habit of the file: code whose last fence was a stop sequence. It is muted: these
answers are told as open ends. In a file of JSON documents of which most are closed, those that
break off stay cut, however many they are.

An answer that its limit cut at a few tokens is counted apart, as `label_sized`: a judge that asks
for one token gets one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.lengths import Length, rounded
from tenuto.judging.signs import closed_structure
from tenuto.judging.verdict import Verdict

LABEL_TOKENS: Final = 16
"""Answers of at most this many tokens are labels and scores, cut on purpose or whole."""

LABEL_SIZED: Final = "label_sized"
"""What an answer that is cut at so few tokens is counted as, in place of its outcome."""

LEAST_PILED: Final = 3
_TIMES_DENSER: Final = 5
_BELOW: Final = 0.2
"""A pile-up is compared with the numbers of tokens this far below it, as a share of it."""

MUTED_SHARE: Final = 0.1
_LEAST_TO_MUTE: Final = 20
_CHARS_PER_TOKEN: Final = 4
_NEARLY: Final = 0.8
"""An open end whose tokens are only estimated counts from this share of the limit on."""

_AT_LIMIT: Final = "tokens_at_limit"
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


class Revised(NamedTuple):
    """What an answer without a stop is, now that all are seen. `word`: its outcome, or
    `label_sized`; `why`: what says so if it is likely cut, or "muted"; else ""."""

    word: str
    why: str = ""


@dataclass(slots=True)
class Tally:
    """The counts of some rows. Two can be added up, in any order.

    Attributes:
        outcomes: how many answers of a model and limit, of a day, have an outcome.
        kinds: how many rows there are of each kind.
        doubts: the same as `outcomes`, of answers that the file may still change.
        lengths: the lengths of the answers in `outcomes`, by model, limit and outcome.
        closed: how many answers without a stop show the counterpart of a sign.
    """

    outcomes: Counter[tuple[Group, str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    doubts: Counter[tuple[Group, str, Doubt]] = field(default_factory=Counter)
    lengths: Counter[tuple[Group, str, Length]] = field(default_factory=Counter)
    closed: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self.kinds[verdict.kind] += 1
        group, outcome = Group(verdict.model, verdict.limit), verdict.outcome
        tokens, chars = verdict.output_tokens, len(verdict.text)
        doubt = doubt_of(outcome, verdict.evidence, tokens, chars)
        if doubt is not None:
            self.doubts[group, verdict.day, doubt] += 1
            if not doubt.sign and (sign := closed_structure(verdict.text)):
                self.closed[sign] += 1
            return
        word = word_of(verdict)
        self.outcomes[group, verdict.day, word] += 1
        if outcome in CUT or outcome is Outcome.DONE:
            self.lengths[group, word, rounded(tokens, chars)] += 1

    def merge(self, other: Tally) -> None:
        """Add the counts of another one."""
        self.outcomes.update(other.outcomes)
        self.kinds.update(other.kinds)
        self.doubts.update(other.doubts)
        self.lengths.update(other.lengths)
        self.closed.update(other.closed)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.kinds.total()


def word_of(verdict: Verdict) -> str:
    """Return what an answer is counted as: its outcome, or `label_sized`."""
    cut = verdict.outcome in CUT
    small = cut and is_label_sized(verdict.limit, verdict.output_tokens)
    return LABEL_SIZED if small else verdict.outcome.value


_DOUBTFUL: Final = frozenset({Outcome.DONE, Outcome.OPEN_END, Outcome.LIKELY_CUT})


def doubt_of(outcome: str, evidence: Sequence[str], tokens: int | None, chars: int) -> Doubt | None:
    """Return what the file may still change of a verdict; None: it changes nothing.

    >>> doubt_of("open_end", ["no_stop", "open_end"], None, 1_007)
    Doubt(outcome=<Outcome.OPEN_END: 'open_end'>, sign='', tokens=None, chars=1000)
    >>> doubt_of("done", ["stop"], 20, 80) is None
    True
    """
    if "no_stop" not in evidence or outcome not in _DOUBTFUL:
        return None
    sign = _AT_LIMIT if _AT_LIMIT in evidence else next((w for w in evidence if w in _SIGNS), "")
    # Characters only count where there are no tokens; rounded, so that rows are counted together.
    size = rounded(tokens, chars)
    return Doubt(Outcome(outcome), sign, tokens, 0 if size.exact else size.number)


def is_label_sized(limit: int | None, tokens: int | None) -> bool:
    """Return whether a cut answer was cut at so few tokens that somebody meant it.

    >>> is_label_sized(1, None), is_label_sized(None, 16), is_label_sized(512, 512)
    (True, True, False)
    """
    return (limit is not None and limit <= LABEL_TOKENS) or (
        tokens is not None and tokens <= LABEL_TOKENS
    )


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

    def revised(self, group: Group, doubt: Doubt) -> Revised:
        """Return what an answer without a stop is, now that all are seen."""
        pile = self.piled.get(group)
        if doubt.sign == _AT_LIMIT:
            small = is_label_sized(group.limit, doubt.tokens)
            return Revised(LABEL_SIZED if small else Outcome.LIKELY_CUT.value, _AT_LIMIT)
        if pile is not None and doubt.tokens is not None and doubt.tokens >= pile[0]:
            return Revised(Outcome.LIKELY_CUT.value, "piled_up")
        if doubt.outcome is Outcome.LIKELY_CUT:
            muted = doubt.sign in self.muted
            word = Outcome.OPEN_END if muted else Outcome.LIKELY_CUT
            return Revised(word.value, "muted" if muted else doubt.sign)
        limit = group.limit or (pile[0] if pile is not None else None)
        if doubt.outcome is Outcome.OPEN_END and doubt.tokens is None and limit is not None:
            estimated = doubt.chars / _CHARS_PER_TOKEN
            if estimated >= _NEARLY * limit:
                return Revised(Outcome.LIKELY_CUT.value, "near_limit")
        return Revised(doubt.outcome.value)


def seen_together(tally: Tally) -> File:
    """Return what the rows of a tally together show."""
    by_group: dict[Group, Counter[int]] = {}
    signs: Counter[str] = Counter()
    for (group, _, doubt), times in tally.doubts.items():
        signs[doubt.sign] += times
        if doubt.tokens is not None:
            by_group.setdefault(group, Counter())[doubt.tokens] += times
    total = signs.total()
    often = {
        sign
        for sign in _SIGNS
        if total >= _LEAST_TO_MUTE and signs[sign] > max(MUTED_SHARE * total, tally.closed[sign])
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
