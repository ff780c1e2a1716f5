"""Count verdicts, and see what only the whole file shows: where answers without a stop pile up.

Theory of operation
-------------------
A limit that no row tells leaves a mark: the answers that it cut have the same number of tokens, and
none has more. So for each model and limit, the tokens of the answers without a stop are counted. A
number that far more answers have than those below it is a pile-up, and those answers are likely
cut. Answers of a few tokens are labels and scores, which pile up by themselves.

So do answers of one form: documents with the same members, tables with the same rows. But they end
like whole ones, and a limit does not wait for an end. So a pile-up counts only if some of its
answers, with different words, do not. A folder may hold runs under several limits, of which the
smaller ones pile up among the answers of the larger. Of these, more have to end so.

A sign of the text that more than a tenth of the answers without a stop show, and more than show its
counterpart, is a habit of the file: code whose last fence was a stop sequence. It is muted: these
answers are told as open ends. In a file of JSON documents of which most are closed, those that
break off stay cut, however many they are.

Where no limit is known, the ends of the texts speak, if they are spread as a limit would leave them
(`endings.py`).

An error in a form that any service may have written is no answer, unless at least half of the rows
are answers of models: then it is what one of them failed with.

An answer that its limit cut at a few tokens is counted apart, as `label_sized`: a judge that asks
for one token gets one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple
from zlib import crc32

from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.endings import (
    WHOLE,
    common_share,
    cuts_among,
    form_of,
    pieces_of,
    size_of,
)
from tenuto.judging.lengths import Length, rounded
from tenuto.judging.sentences import LEAST_PROSE_CHARS, End, end_of, lacks_end
from tenuto.judging.signs import closed_structure, cut_structure
from tenuto.judging.verdict import ANY_ERROR, Verdict

LABEL_TOKENS: Final = 16
"""Answers of at most this many tokens are labels and scores, cut on purpose or whole."""

LABEL_SIZED: Final = "label_sized"
"""What an answer that is cut at so few tokens is counted as, in place of its outcome."""

LEAST_PILED: Final = 3
_TIMES_DENSER: Final = 5
_BELOW: Final = 0.2
"""A pile-up is compared with the numbers of tokens this far below it, as a share of it."""

_LEAST_AMONG: Final = 5
_TIMES_DENSER_AMONG: Final = 10
_BESIDE: Final = 0.1
_OPEN_SHARE: Final = 0.3
"""What a pile-up among longer answers needs: more of them, denser than on both sides, and this
share without the end of a whole answer."""

_TIMES_AS_OPEN: Final = 1.5
"""And this many times the share of the answers that pile up nowhere."""

_OPEN_SHARE_AT_MOST: Final = 0.1
"""The same share of a pile-up above which there is nothing."""

_LEAST_VARIED: Final = 2
"""So many of its answers without an end have to differ."""

MUTED_SHARE: Final = 0.1
_LEAST_TO_MUTE: Final = 20
_CHARS_PER_TOKEN: Final = 4
_NEARLY: Final = 0.8
"""An open end whose tokens are only estimated counts from this share of the limit on."""

_LEAST_BELOW: Final = 20
_TIMES_AS_OFTEN: Final = 1.5
"""Open ends near the limit count if they are that much more frequent there than among answers of
at most half of it; if there are at least so many of these."""

_AT_LIMIT: Final = "tokens_at_limit"
_SIGNS: Final = ("fence_open", "json_cut", "think_open")
_ENDS: Final = tuple(end.value for end in End)
_HABITUAL: Final = frozenset({End.IN_CODE.value})
"""Ends that say nothing beside a limit, either, where they are a habit: whole code ends so at any
length. Of the other ends, too many of those beside the limit are cuts after all."""

_CLOSED: Final = "closed"

CUT_WORDS: Final = frozenset(
    {Outcome.TEXT_CUT.value, Outcome.ARGUMENTS_CUT.value, Outcome.THINKING_CUT.value}
)
"""What answers that the limit cut are counted as, if they are larger than a label."""


class Group(NamedTuple):
    """Answers of one model under one limit. "" and None: not stored."""

    model: str
    limit: int | None


class Doubt(NamedTuple):
    """An answer without a stop, as far as the file may still change what is said of it."""

    word: str
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
        unfinished: how many answers of a number of tokens, without a stop, do not end like whole
            ones.
        varied: checksums of a few of their texts.
        pieces: how pieces of some texts without a stop end, by their size.
        forms: the last lines of these texts, by their form.
    """

    outcomes: Counter[tuple[Group, str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    doubts: Counter[tuple[Group, str, Doubt]] = field(default_factory=Counter)
    lengths: Counter[tuple[Group, str, Length]] = field(default_factory=Counter)
    closed: Counter[str] = field(default_factory=Counter)
    unfinished: Counter[tuple[Group, int]] = field(default_factory=Counter)
    varied: dict[tuple[Group, int], tuple[int, ...]] = field(default_factory=dict)
    pieces: Counter[tuple[int, str]] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: Verdict, times: int = 1) -> None:
        """Count a verdict. `times`: how many rows have the same."""
        self.kinds[verdict.kind] += times
        group = _group(verdict.model, verdict.limit)
        tokens, text = verdict.output_tokens, verdict.text
        chars = len(text) if tokens is None else 0
        word = word_of(verdict)
        doubt = doubt_of(word, verdict.evidence, tokens, chars)
        if doubt is not None:
            self.doubts[group, verdict.day, doubt] += times
            if not doubt.sign and (sign := closed_structure(text)):
                self.closed[sign] += times
            if word == _DONE and len(text) >= LEAST_PROSE_CHARS:
                self.closed[_CLOSED] += times
            if tokens is not None and _is_unfinished(word, text):
                self.unfinished[group, tokens] += times
                self._vary((group, tokens), (crc32(text.encode("utf-8", "surrogatepass")),))
            return
        self.outcomes[group, verdict.day, word] += times
        if word in _MEASURED:
            self.lengths[group, word, rounded(tokens, chars)] += times

    def learn(self, verdict: Verdict) -> None:
        """See what a limit might leave of an answer without a stop. That takes longer than to count
        it, so some of the answers of a file suffice (`LEARNT_ROWS`)."""
        if "no_stop" not in verdict.evidence or word_of(verdict) not in _DOUBTFUL:
            return
        if len(verdict.text) >= LEAST_PROSE_CHARS:
            self.forms[form_of(verdict.text)] += 1
            for piece in pieces_of(verdict.text):
                self.pieces[size_of(len(piece)), _sign_at_end(piece)] += 1

    def merge(self, other: Tally) -> None:
        """Add the counts of another one."""
        self.outcomes.update(other.outcomes)
        self.kinds.update(other.kinds)
        self.doubts.update(other.doubts)
        self.lengths.update(other.lengths)
        self.closed.update(other.closed)
        self.unfinished.update(other.unfinished)
        self.pieces.update(other.pieces)
        self.forms.update(other.forms)
        for place, sums in other.varied.items():
            self._vary(place, sums)

    def _vary(self, place: tuple[Group, int], sums: tuple[int, ...]) -> None:
        known = self.varied.get(place, ())
        self.varied[place] = tuple(sorted({*known, *sums})[:_LEAST_VARIED])

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.kinds.total()


LEARNT_ROWS: Final = 400
"""So many rows of a range are enough to learn how its texts would be cut."""


def _sign_at_end(piece: str) -> str:
    if cut_structure(piece):
        return WHOLE
    end = end_of(piece)
    return WHOLE if end is None else end.value


_group = lru_cache(4_096)(Group)


def word_of(verdict: Verdict) -> str:
    """Return what an answer is counted as: its outcome, or `label_sized`. It is a plain text, whose
    hash is faster than that of an Outcome."""
    word: str = verdict.outcome._value_
    if word in _MAY_BE_LABELS and is_label_sized(verdict.limit, _most_tokens(verdict)):
        return LABEL_SIZED
    return word


_MAY_BE_LABELS: Final = CUT_WORDS - {Outcome.ARGUMENTS_CUT.value}
"""Nobody wants a call that breaks off."""


def _most_tokens(verdict: Verdict) -> int | None:
    """Return the tokens of an answer; where neither they nor its limit are stored, its characters,
    of which it has at least as many if it shows any. A text has more than 0 tokens, whatever is
    stored."""
    if verdict.output_tokens or (verdict.output_tokens == 0 and not verdict.text):
        return verdict.output_tokens
    return None if verdict.limit is not None else len(verdict.text) or None


_MEASURED: Final = CUT_WORDS | {Outcome.DONE.value, LABEL_SIZED}
_DONE: Final = Outcome.DONE.value
_FAULT: Final = Outcome.FAULT.value
_NO_ANSWER: Final = Outcome.NO_ANSWER.value
_OPEN_END: Final = Outcome.OPEN_END.value
_LIKELY_CUT: Final = Outcome.LIKELY_CUT.value
_DOUBTFUL: Final = frozenset({_DONE, _OPEN_END, _LIKELY_CUT})


def doubt_of(word: str, evidence: Sequence[str], tokens: int | None, chars: int) -> Doubt | None:
    """Return what the file may still change of a verdict; None: it changes nothing.

    >>> doubt_of("open_end", ["no_stop", "open_end", "in_prose"], None, 1_007)
    Doubt(word='open_end', sign='in_prose', tokens=None, chars=1000)
    >>> doubt_of("done", ["stop"], 20, 80) is None
    True
    """
    if ANY_ERROR in evidence:
        return Doubt(word, ANY_ERROR, None, 0)
    if "no_stop" not in evidence or word not in _DOUBTFUL:
        return None
    known = (_AT_LIMIT, *_SIGNS, *_ENDS)
    sign = next((each for each in known if each in evidence), "")
    # Characters only count where there are no tokens; rounded, so that rows are counted together.
    return Doubt(word, sign, tokens, 0 if tokens is not None else rounded(None, chars).number)


def _is_unfinished(word: str, text: str) -> bool:
    """Return whether an answer does not end like a whole one; a short one is done all the same."""
    return word != _DONE or (len(text) < LEAST_PROSE_CHARS and lacks_end(text))


def is_label_sized(limit: int | None, tokens: int | None) -> bool:
    """Return whether a cut answer was cut at so few tokens that somebody meant it.

    >>> is_label_sized(1, None), is_label_sized(None, 16), is_label_sized(512, 512)
    (True, True, False)
    """
    return (limit is not None and limit <= LABEL_TOKENS) or (
        tokens is not None and tokens <= LABEL_TOKENS
    )


@dataclass(frozen=True, slots=True)
class SeenTogether:
    """What the rows together show.

    Attributes:
        piled: by model and limit, the numbers of tokens at which answers without a stop pile up,
            and how many do; the largest first.
        muted: the signs that so many answers show that they say nothing.
        habits: the models and limits of which as many answers end openly far below the limit as
            near it.
        habitual_ends: ends that are too frequent to be cuts, in a file that has cuts of other ends.
        are_answers: whether at least half of the rows are answers of models.
    """

    piled: dict[Group, dict[int, int]]
    muted: frozenset[str]
    habits: frozenset[Group] = frozenset()
    habitual_ends: frozenset[str] = frozenset()
    are_answers: bool = False

    def limit_of(self, group: Group) -> int | None:
        """Return the limit of a group, or where its answers pile up; None: nothing shows it."""
        return group.limit or next(iter(self.piled.get(group, {})), None)

    def revised(self, group: Group, doubt: Doubt) -> Revised:
        """Return what an answer without a stop is, now that all are seen."""
        if doubt.sign == ANY_ERROR:
            return Revised(_FAULT, ANY_ERROR) if self.are_answers else Revised(doubt.word)
        if doubt.sign == _AT_LIMIT:
            small = is_label_sized(group.limit, doubt.tokens)
            return Revised(LABEL_SIZED if small else _LIKELY_CUT, _AT_LIMIT)
        if doubt.tokens in self.piled.get(group, ()):
            return Revised(_LIKELY_CUT, "piled_up")
        if doubt.word == _LIKELY_CUT:
            muted = doubt.sign in self.muted
            return Revised(_OPEN_END, "muted") if muted else Revised(_LIKELY_CUT, doubt.sign)
        is_habit = group in self.habits or doubt.sign in self.habitual_ends
        if doubt.word == _OPEN_END and not is_habit:
            share = _share_of_limit(doubt, self.limit_of(group))
            if share is not None and share >= _NEARLY:
                return Revised(_LIKELY_CUT, "near_limit")
        if doubt.sign in _ENDS and not self._is_told_by_tokens(group, doubt):
            muted = doubt.sign in self.muted
            return Revised(_OPEN_END, "muted") if muted else Revised(_LIKELY_CUT, doubt.sign)
        return Revised(doubt.word)

    def _is_told_by_tokens(self, group: Group, doubt: Doubt) -> bool:
        """Return whether an answer has fewer tokens than a limit that is known."""
        return doubt.tokens is not None and self.limit_of(group) is not None


def _share_of_limit(doubt: Doubt, limit: int | None) -> float | None:
    """Return about which share of its limit an answer has whose tokens are not stored; None: there
    is nothing to say."""
    if doubt.tokens is not None or limit is None:
        return None
    return doubt.chars / _CHARS_PER_TOKEN / limit


def seen_together(tally: Tally) -> SeenTogether:
    """Return what the rows of a tally together show."""
    tokens: dict[Group, Counter[int]] = {}
    long: dict[Group, Counter[int]] = {}
    signs: Counter[str] = Counter()
    ends: Counter[tuple[int, str]] = Counter()
    for (group, _, doubt), times in tally.doubts.items():
        if doubt.sign == ANY_ERROR:
            continue
        signs[doubt.sign] += times
        if doubt.sign in _ENDS:
            ends[size_of(doubt.chars), doubt.sign] += times
        if doubt.tokens is not None:
            tokens.setdefault(group, Counter())[doubt.tokens] += times
            if doubt.word != _DONE:
                long.setdefault(group, Counter())[doubt.tokens] += times
    total = signs.total()
    often = {
        sign
        for sign in _SIGNS
        if total >= _LEAST_TO_MUTE and signs[sign] > max(MUTED_SHARE * total, tally.closed[sign])
    }
    # An end that most texts of the file have is no open one.
    formed = int(common_share(tally.forms) * ends.total())
    cuts = cuts_among(ends, tally.pieces, tally.closed[_CLOSED] + formed)
    ends_of_habit = {end for end in _ENDS if signs[end] and end not in cuts}
    often |= ends_of_habit
    piles = {}
    for group, counts in sorted(tokens.items(), key=_of_group):
        open_ends = {number: tally.unfinished[group, number] for number in counts}
        unfinished = _unfinished(tally, group, counts, long.get(group, Counter()))
        piles[group] = piles_in(counts, unfinished, open_ends)
    together = SeenTogether(
        {group: found for group, found in piles.items() if found},
        frozenset(often),
        habitual_ends=frozenset(ends_of_habit & _HABITUAL if cuts else ()),
        are_answers=_are_answers(tally),
    )
    return replace(together, habits=_habits(tally, together))


def _of_group(counts: tuple[Group, Counter[int]]) -> tuple[str, int]:
    model, limit = counts[0]
    return model, limit or 0


def _are_answers(tally: Tally) -> bool:
    """Return whether at least half of the rows are answers of models."""
    told = sum(times for (_, _, word), times in tally.outcomes.items() if word != _NO_ANSWER)
    told += sum(times for (_, _, doubt), times in tally.doubts.items() if doubt.word != _NO_ANSWER)
    return 2 * told >= tally.rows > 0


def _unfinished(
    tally: Tally, group: Group, tokens: Counter[int], long: Counter[int]
) -> Counter[int]:
    """Return how many answers of each number of tokens lack an end. Short ones count only where
    most answers of other lengths have one: lines of a log end anyhow.

    Args:
        tokens: how many answers of the group have each number of tokens.
        long: how many of these end openly, or in a sign of a cut.
    """
    found = Counter[int]()
    of_group = {number: tally.unfinished[group, number] for number in tokens}
    all_open, answers = sum(of_group.values()), tokens.total()
    for number, times in of_group.items():
        if len(tally.varied.get((group, number), ())) < _LEAST_VARIED:
            continue
        others = answers - tokens[number]
        told = others > 0 and all_open - times <= _MOST_OPEN * others
        found[number] = times if told else long[number]
    return found


_MOST_OPEN: Final = 0.5


def _habits(tally: Tally, together: SeenTogether) -> frozenset[Group]:
    """Return the models and limits of which answers end openly wherever they end."""
    seen: Counter[tuple[Group, bool, str]] = Counter()
    for (group, _, doubt), times in tally.doubts.items():
        share = _share_of_limit(doubt, together.limit_of(group))
        if share is not None and doubt.word != _LIKELY_CUT and not 0.5 <= share < _NEARLY:
            seen[group, share >= _NEARLY, doubt.word] += times

    def open_share(group: Group, *, near: bool) -> float:
        ends = seen[group, near, _OPEN_END]
        return ends / (ends + seen[group, near, _DONE]) if ends else 0.0

    return frozenset(
        group
        for group in {group for group, _, _ in seen}
        if seen[group, False, _OPEN_END] + seen[group, False, _DONE] >= _LEAST_BELOW
        and open_share(group, near=True) <= _TIMES_AS_OFTEN * open_share(group, near=False)
    )


def piles_in(
    tokens: Counter[int], unfinished: Counter[int], open_ends: Mapping[int, int]
) -> dict[int, int]:
    """Return the numbers of tokens at which answers pile up, the largest first, and how many do.

    Args:
        tokens: how many answers have each number of tokens.
        unfinished: how many of these do not end like whole ones, where their words differ.
        open_ends: the same, whatever their words are.
    """
    numbers = sorted(tokens)
    sums = [0, *accumulate(tokens[number] for number in numbers)]

    def between(first: int, last: int) -> int:
        return sums[bisect_right(numbers, last)] - sums[bisect_left(numbers, first)]

    among = {}
    for number in reversed(numbers):
        piled = tokens[number]
        if piled < _LEAST_AMONG or number <= LABEL_TOKENS:
            continue
        width = max(2, int(number * _BESIDE))
        beside = between(number - width, number + width) - piled
        dense = piled >= _TIMES_DENSER_AMONG * beside / (2 * width)
        if dense and unfinished[number] >= _OPEN_SHARE * piled:
            among[number] = piled
    # Answers that follow a form have few lengths, and end as openly at any other one.
    others = tokens.total() - sum(among.values())
    elsewhere = sum(open_ends.values()) - sum(open_ends[number] for number in among)
    found = {
        number: piled
        for number, piled in among.items()
        if unfinished[number] * others >= _TIMES_AS_OPEN * elsewhere * piled
    }
    largest = pile_in(tokens)
    if largest is None or unfinished[largest[0]] < _OPEN_SHARE_AT_MOST * largest[1]:
        return found
    return {largest[0]: largest[1]} | found


def pile_in(tokens: Counter[int]) -> tuple[int, int] | None:
    """Return the number of tokens above which there are no answers, and at which they pile up, and
    how many do; None: they don't.

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
