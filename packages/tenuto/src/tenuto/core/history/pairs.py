"""Pair the calls of a history with their results: each call has one result.

Most providers want results directly after the turn with the calls. An id then only identifies a
call within its turn, since many providers use it again later. If results may be anywhere, an id
identifies a call in the whole history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tenuto.core.history.table import Entry, Role, Row, Rules, is_blank


@dataclass(slots=True, eq=False)
class _Turn:
    """Rows of the model, and the rows after them that may hold the results."""

    rows: list[Row] = field(default_factory=list)
    answers: list[Row] = field(default_factory=list)
    calls: list[Entry] = field(default_factory=list)
    results: list[Entry] = field(default_factory=list)


def pair_by_turns(rows: Iterable[Row], rules: Rules, words: list[str]) -> list[Row]:
    """Answer every call in the turn after it, and drop or move results that are elsewhere."""
    turns = _turns(rows, rules)
    wrong = dict.fromkeys(turn for turn in turns if not _fits(turn, rules))
    strays = _strays(wrong) if rules.moves else {}
    out: list[Row] = []
    for turn in turns:
        if rules.empty_turns_go and turn.rows and all(map(_shows_nothing, turn.rows)):
            words.append("empty_row_removed")
            turn.rows = []
        if turn in wrong:
            _settle(turn, strays, rules, words)
        out += turn.rows
        out += turn.answers
    return out


def _turns(rows: Iterable[Row], rules: Rules) -> list[_Turn]:
    last = _Turn()
    turns = [last]
    for row in rows:
        if row.role is Role.ANSWERS:
            last.answers.append(row)
            last.results += row.results
            continue
        goes_on = rules.turns and row.role is Role.MODEL
        if last.answers or (last.calls and not goes_on):
            last = _Turn()
            turns.append(last)
        last.rows.append(row)
        last.calls += row.calls
    return turns


def _shows_nothing(row: Row) -> bool:
    return 0 < row.size == len(row.blank)


def _fits(turn: _Turn, rules: Rules) -> bool:
    if not turn.calls and not turn.results:
        return True
    matched = _matched(turn, rules)
    if not rules.ordered:
        return len(matched) == len(turn.results) and None not in matched
    return matched == turn.results and (rules.result_rows or _come_first(turn.answers, rules))


def _matched(turn: _Turn, rules: Rules) -> Sequence[Entry | None]:
    """Return the result of each call of a turn, if it is there."""
    if rules.answers is None:
        own = {result.id: result for result in reversed(turn.results)}
        return [own.get(call.id) for call in turn.calls]
    free = list(turn.results)
    matched: list[Entry | None] = []
    for call in turn.calls:
        found = next((one for one in free if rules.answers(one.value, call.value)), None)
        if found is not None:
            free.remove(found)
        matched.append(found)
    return matched


def _come_first(rows: Iterable[Row], rules: Rules) -> bool:
    """Return whether nothing comes before a result. An empty row counts as something, unless it is
    joined to others."""
    behind = False
    for row in rows:
        gone, count = row.gone, len(row.results)
        kept = [at for at in range(row.size) if at not in gone] if gone else range(row.size)
        if count and (behind or row.results[-1].at != kept[count - 1]):
            return False
        behind = behind or count < max(len(kept), not rules.alternates)
    return True


def _strays(turns: Iterable[_Turn]) -> dict[str, Entry]:
    """Return for each id the first result that is not in the turn of its call."""
    strays: dict[str, Entry] = {}
    for turn in turns:
        called = {call.id for call in turn.calls}
        for result in turn.results:
            if result.id not in called:
                strays.setdefault(result.id, result)
    return strays


def _settle(turn: _Turn, strays: dict[str, Entry], rules: Rules, words: list[str]) -> None:
    """Put the expected results first, and report how the ones found differed."""
    expected = [
        found or strays.pop(call.id, None) or Entry(call.id, rules.stub(call.value))
        for call, found in zip(turn.calls, _matched(turn, rules), strict=True)
    ]
    given, wanted = set(turn.results), set(expected)
    if wanted - given:
        words.append("unanswered_call_answered")
    if given - wanted:
        words.append("stray_result_moved_or_removed" if rules.moves else "stray_result_removed")
    if given == wanted:
        words.append("results_reordered")
    if rules.result_rows:
        turn.answers = [one.row or Row(None, one.value) for one in expected]
    else:
        _put_first(turn, expected, rules, words)


def _put_first(turn: _Turn, expected: list[Entry], rules: Rules, words: list[str]) -> None:
    """Put results before everything else in the rows after a turn."""
    answers = turn.answers
    if expected and (rules.own_row or not answers or not _takes_parts(answers[0], rules)):
        answers.insert(0, Row(None, {"role": "user"}, Role.ANSWERS))
    head = answers[0] if expected else None
    kept = [row for row in answers if _clear(row) or row is head]
    turn.answers = answers if rules.alternates else kept  # joined later, empty or not
    if head is not None:
        blank = _blank_parts(head, rules)
        if not blank.issubset(head.gone):
            words.append("blank_text_removed")
        head.gone = blank.union(head.gone)
        head.front = expected


def _takes_parts(row: Row, rules: Rules) -> bool:
    return isinstance(row.value, dict) and isinstance(row.value.get(rules.parts), list | str)


def _blank_parts(row: Row, rules: Rules) -> set[int]:
    """Return which texts of a row are blank. A plain string instead of a list of parts is one
    part."""
    content = row.value.get(rules.parts)
    return {0} if isinstance(content, str) and is_blank(content) else set(row.blank)


def _clear(row: Row) -> bool:
    """Remove the results of a row, and return whether anything is left of it."""
    if not row.results:
        return True
    row.gone = {result.at for result in row.results}.union(row.gone)
    return len(row.gone) < row.size


# --- results anywhere -------------------------------------------------------------------------


def pair_anywhere(rows: list[Row], rules: Rules, elsewhere: bool, words: list[str]) -> list[Row]:
    """Answer every call, and drop results without a call. Other results stay where they are.

    Args:
        elsewhere: whether there may be calls that are not in these rows.
    """
    elsewhere = elsewhere or any(row.role is Role.UNSEEN for row in rows)
    if _count_results(rows) == Counter(call.id for call in _calls(rows)):
        return rows
    if len(kept := _without_strays(rows, elsewhere)) < len(rows):
        words.append("stray_result_moved_or_removed")
        rows = kept
    unanswered = set(_unanswered(rows))
    if unanswered:
        words.append("unanswered_call_answered")
    out: list[Row] = []
    stubs: list[Row] = []
    for row in rows:
        if stubs and not _is_the_models(row):
            out += stubs
            stubs = []
        out.append(row)
        stubs += [Row(None, rules.stub(c.value)) for c in row.calls if c in unanswered]
    return out + stubs


def _without_strays(rows: list[Row], elsewhere: bool) -> list[Row]:
    """Return the rows without results that no call waits for. Since an id may be used again, a
    result belongs to an earlier call if there is one, and otherwise to a later one."""
    called = {call.id for call in _calls(rows)}
    waiting: Counter[str] = Counter()
    early: dict[Row, None] = {}
    for row in rows:
        waiting.update(call.id for call in row.calls if call.id)
        for result in row.results:
            if waiting[result.id]:
                waiting[result.id] -= 1
            elif not elsewhere or result.id in called:
                early[row] = None
    for row in tuple(early):
        for result in row.results:
            if waiting[result.id]:
                waiting[result.id] -= 1
                del early[row]
    return [row for row in rows if row not in early]


def _unanswered(rows: Iterable[Row]) -> Iterator[Entry]:
    answered = _count_results(rows)
    for call in _calls(rows):
        if answered[call.id]:
            answered[call.id] -= 1
        else:
            yield call


def _count_results(rows: Iterable[Row]) -> Counter[str]:
    return Counter(result.id for row in rows for result in row.results)


def _calls(rows: Iterable[Row]) -> Iterator[Entry]:
    """Yield the calls that need a result."""
    return (call for row in rows for call in row.calls if call.id)


def _is_the_models(row: Row) -> bool:
    return row.role in (Role.MODEL, Role.STEP, Role.REASONING)
