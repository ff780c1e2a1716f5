"""What `tenuto check` prints: the report in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from tenuto.core.answer.stop import printable
from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.tally import CUT_WORDS, LABEL_SIZED, LABEL_TOKENS
from tenuto.judging.titles import title_of

_PATH_CHARS: Final = 4_096  # of the longest path that Linux opens
_WHY_CHARS: Final = 400
_KINDS_NAMED: Final = 3
_LINES_NAMED: Final = 3
_FILES_NAMED: Final = 20
UNDECIDED_SHARE: Final = 0.05
"""If more answers are decided by nothing, it is told."""

LEAST_OF_GROUP: Final = 10
"""Of a model and limit with fewer answers, no share is told as the worst."""

ROWS: Final[tuple[tuple[str, Collection[str]], ...]] = (
    ("complete", (Outcome.DONE.value, Outcome.OPEN_END.value)),
    ("cut by the limit", CUT_WORDS),
    ("likely cut", (Outcome.LIKELY_CUT.value,)),
    ("empty", (Outcome.EMPTY.value,)),
    ("only reasoning", (Outcome.THINKING_ONLY.value,)),
    ("broken call", (Outcome.ARGUMENTS_MALFORMED.value, Outcome.CALLS_MISSING.value)),
    ("call in the text", (Outcome.CALL_WRITTEN.value,)),
    ("invalid JSON", (Outcome.DOCUMENT_INVALID.value,)),
    ("runaway", (Outcome.RUNAWAY.value,)),
    ("refused", (Outcome.REFUSED.value,)),
    ("blocked", (Outcome.BLOCKED.value,)),
    ("failed", (Outcome.FAULT.value, Outcome.DROPPED.value)),
    ("context full", (Outcome.OVERFLOW.value,)),
    ("paused or cancelled", (Outcome.PAUSED.value, Outcome.CANCELLED.value)),
    ("unknown stop", (Outcome.UNKNOWN.value,)),
    ("label-sized", (LABEL_SIZED,)),
)
"""How answers are told: in words, with the outcomes that they stand for."""

_LINES: Final = 4
"""So many of them are always told; those behind if there are any."""

BAD: Final = frozenset(
    word
    for name, outcomes in ROWS
    if name
    not in ("complete", "refused", "blocked", "paused or cancelled", "unknown stop", "label-sized")
    for word in outcomes
)
"""What `--fail-over` counts: cut, empty or broken."""

REASONS: Final = {
    "piled_up": "{n} pile up",
    "tokens_at_limit": "{n} reach the limit",
    "near_limit": "{n} end openly beside the limit",
    "fence_open": "{n} end in an open code fence",
    "json_cut": "{n} break off in JSON",
    "think_open": "{n} end in open thinking",
    "leads_on": "{n} break off where more has to follow",
    "mid_sentence": "{n} break off within a sentence",
    "open_bracket": "{n} end in an open bracket or comment",
    "in_prose": "{n} lack an end in a paragraph",
    "in_list": "{n} lack an end in a list",
    "in_lines": "{n} lack an end in a short line",
    "in_code": "{n} break off in code",
}
"""Why answers are likely cut."""


def number_of(counts: Mapping[str, int], outcomes: Collection[str]) -> int:
    """Return how many answers have one of some outcomes."""
    return sum(counts.get(outcome, 0) for outcome in outcomes)


def share_of(counts: Mapping[str, int], outcomes: Collection[str], of: int) -> float:
    """Return their share; 0 if there is nothing."""
    return number_of(counts, outcomes) / of if of else 0.0


def words(report: Mapping[str, Any]) -> Iterator[str]:
    """Return the lines for a person."""
    counts, answers = report["outcomes"], report["answers"]
    yield _head(report)
    yield from _of_lines(report)
    yield from _of_files(report["refused"])
    yield from _of_files(report["empty"])
    for one in report["unmatched"]:
        yield f"  {one['option']} {printable(one['pointer'])} leads nowhere in any of the rows"
    notes = (_of_open_ends(counts), _of_worst(report), of_likely_cut(report))
    for at, (name, outcomes) in enumerate(ROWS[:-1] if answers else ()):
        number = number_of(counts, outcomes)
        if at >= _LINES and not number:
            continue
        note = notes[at] if at < len(notes) else ""
        percent = f"{100 * number / answers:5.1f} %"
        yield f"  {name:<17}{number:>9,}  {percent}{'   ' + note if note else ''}"
    if number := counts.get(LABEL_SIZED, 0):
        were = "was" if number == 1 else "were"
        yield f"  {number:,} more {were} cut at {LABEL_TOKENS} tokens or fewer, the size of a label"
    if number := report["repeated"]:
        told = "rows repeat answers" if number > 1 else "row repeats an answer"
        yield f"  {number:,} more {told} under another filter of lm-eval, and are not counted"
    if (asked := report["requests"]) is not None and asked["answers"] < answers:
        told = f"no request among the {asked['read']:,} of --requests"
        yield f"  {_answers(answers - asked['answers'], 'has', 'have')} {told}"
    if unknown := report["rows"] - answers:
        share = 100 * unknown / report["rows"]
        told = "rows are no answers" if unknown > 1 else "row is no answer"
        yield f"  {unknown:,} {told} of a known kind ({share:.1f} %)"
    if undecided := of_undecided(report):
        yield f"  {undecided}"
    yield from _of_requests(report)


def _of_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Say why the lines that are named cannot be read."""
    places: dict[str, list[str]] = {}
    for place, why in unread_lines(report, _LINES_NAMED):
        places.setdefault(why, []).append(printable(place, _PATH_CHARS))
    for why, named in places.items():
        yield f"  {', '.join(named)}: {printable(why, _WHY_CHARS)}"


def unread_lines(report: Mapping[str, Any], most: int) -> list[tuple[str, str]]:
    """Return the places of the first lines that cannot be read, and why, unless that is said of
    their file."""
    told = {(one["file"], one["why"]) for one in report["refused"]}
    lines = report["unreadable"][:most]
    return [
        (f"{one['file']}:{one['line']}", one["why"])
        for one in lines
        if (one["file"], one["why"]) not in told
    ]


def _of_files(named: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Say what is wrong with files."""
    for one in named[:_FILES_NAMED]:
        yield f"  {printable(one['file'], _PATH_CHARS)}: {printable(one['why'], _WHY_CHARS)}"
    if more := len(named[_FILES_NAMED:]):
        yield f"  and {more:,} other{'s' * (more != 1)}, which --json names"


def _of_requests(report: Mapping[str, Any]) -> Iterator[str]:
    """Say which files hold requests, and how to read the limits in them."""
    for one in report["asking"][:_LINES_NAMED]:
        file, rows = printable(one["file"], _PATH_CHARS), one["rows"]
        told = "requests" if rows > 1 else "request"
        yield f"  {file} holds {rows:,} {told}; add --requests {file} to read the limits"


def _head(report: Mapping[str, Any]) -> str:
    kinds = ", ".join(title_of(kind) for kind in list(report["kinds"])[:_KINDS_NAMED])
    kinds += ", …" if len(report["kinds"]) > _KINDS_NAMED else ""
    files = f"{report['files']:,} file{'s' * (report['files'] != 1)}"
    head = f"{_answers(report['answers'])} in {files}" + (f" ({kinds})" if kinds else "")
    if bad := report["unreadable_lines"]:
        first = report["unreadable"][:_LINES_NAMED]
        named = ", ".join(f"{printable(one['file'], _PATH_CHARS)}:{one['line']}" for one in first)
        more = ", …" if bad > _LINES_NAMED else ""
        head += f", {bad:,} line{'s' * (bad != 1)} unreadable: {named}{more}"
    return head


def _answers(number: int, one: str = "", several: str = "") -> str:
    """Return a number of answers, with a verb that fits it.

    >>> _answers(1), _answers(1_200, "has", "have")
    ('1 answer', '1,200 answers have')
    """
    noun, verb = ("answer", one) if number == 1 else ("answers", several)
    return f"{number:,} {noun} {verb}".rstrip()


def _of_open_ends(counts: Mapping[str, int]) -> str:
    number = counts.get(Outcome.OPEN_END.value, 0)
    ends = "ends" if number == 1 else "end"
    return f"{number:,} of them {ends} without a mark, which alone is no finding" if number else ""


def of_undecided(report: Mapping[str, Any]) -> str:
    """Return how many answers nothing decides, and what would help; "": they are few."""
    number = report["undecided"]
    if number <= UNDECIDED_SHARE * report["answers"]:
        return ""
    verb = "stores" if number == 1 else "they store"
    return (
        f"{_answers(number)} could not be judged: {verb} no stop and no limit, and too many end "
        "openly for that to tell; give --limit or --requests, or store the stop"
    )


def _of_worst(report: Mapping[str, Any]) -> str:
    """Return the model and limit of which the largest share is cut; "": there is nothing to compare
    it with.

    A model is compared with others that are named, and the limits of one model with each other.
    """
    large = [group for group in report["groups"] if group["answers"] >= LEAST_OF_GROUP]
    models = {group["model"] for group in large if group["model"]}
    if len(models) > 1:
        compared = [group for group in large if group["model"]]
    else:
        compared = [group for group in large if group["limit"]]
        if len({group["limit"] for group in compared}) < 2:
            return ""
    cut_share: Callable[[Mapping[str, Any]], float]
    cut_share = lambda group: share_of(group["outcomes"], CUT_WORDS, group["answers"])  # noqa: E731
    worst = max(compared, key=cut_share)
    percent = [round(100 * cut_share(group)) for group in (worst, min(compared, key=cut_share))]
    if percent[0] == percent[1]:
        return ""
    limit = f"limit {worst['limit']:,}" if worst["limit"] else ""
    told = [printable(worst["model"])] * (len(models) > 1) + [limit] * bool(limit)
    return f"worst: {' at '.join(told)}: {percent[0]} %"


def of_likely_cut(report: Mapping[str, Any]) -> str:
    """Return why answers are likely cut; "": none is."""
    reasons = dict(report["likely_cut"])
    if not reasons:
        return ""
    told = []
    if piled := reasons.pop("piled_up", 0):
        sizes = list(dict.fromkeys(f"{pile['tokens']:,}" for pile in report["piled"]))
        at = " and ".join(sizes[:2]) + (" and elsewhere" if len(sizes) > 2 else "")
        told.append(f"{piled:,} answers pile up at {at} tokens")
    told += [REASONS[why].format(n=f"{number:,}") for why, number in reasons.items()]
    return "no stop stored; " + " · ".join(told)
