"""Drop calls of the provider's own tools whose result never came, and results whose call is gone.

The provider runs such a call itself, and writes the result into the same turn of the model. An
answer that was cut or broke off in between holds the call alone. At the end of a history, the
provider can still run it: this is how a paused turn goes back. Beside a call of the caller's, the
result comes in the model's next turn. Anywhere else, the provider rejects the history (H2), and so
it does with a result that no call before it waits for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tenuto.core.history.table import Reasoning, Role, Row, Rules, Served

_Place = tuple[Row, int]
"""A part: its row, and its number in the row."""
_Open = dict[str, list[_Place]]
"""The calls without a result so far, by id."""


def drop_unfinished(rows: list[Row], rules: Rules, served: Served, words: list[str]) -> list[Row]:
    """Return the rows without calls that the provider can no longer finish, without results that
    belong to no call, and without rows that held nothing else but reasoning."""
    calls, results = _unfinished(rows, rules.parts, served)
    for row, at in (*calls, *results):
        row.gone = {*row.gone, at}
    if calls:
        words.append("unfinished_server_call_removed")
    if results:
        words.append("stray_server_result_removed")
    emptied = {row for row, _ in (*calls, *results) if _only_thinks(row, rules)}
    if emptied:
        words.append("empty_row_removed")
    return [row for row in rows if row not in emptied]


def _only_thinks(row: Row, rules: Rules) -> bool:
    """Return whether nothing but reasoning is left of a row. A row can't end in it:
    https://platform.claude.com/docs/en/build-with-claude/extended-thinking"""
    shapes = rules.shapes.get(row.role, {})
    left = (part for at, part in enumerate(row.value[rules.parts]) if at not in row.gone)
    return all(
        isinstance(part, dict) and type(shapes.get(rules.kind_of(part))) is Reasoning
        for part in left
    )


def _unfinished(
    rows: Iterable[Row], parts: str, served: Served
) -> tuple[Sequence[_Place], Sequence[_Place]]:
    """Return the calls without a result at the end of each turn after which none can come, and the
    results that no call before them waits for."""
    open_: _Open = {}
    calls: list[_Place] = []
    results: list[_Place] = []
    called = ended = False
    for row in rows:
        if row.role is Role.MODEL:
            called = bool(row.calls) or (called and not ended)
            ended = False
            results += _follow(row, parts, served, open_)
        elif row.role is Role.ANSWERS:
            ended = True
            if not called:
                calls += [place for places in open_.values() for place in places]
                open_.clear()
    return calls, results


def _follow(row: Row, parts: str, served: Served, open_: _Open) -> Iterator[_Place]:
    """Note the calls of a row, and forget those that it has the result of. Yield the other
    results."""
    for at, part in enumerate(row.value[parts] if row.size else ()):
        if not isinstance(part, dict) or at in row.gone:
            continue
        if (name := served.call(part)) is not None:
            open_.setdefault(name, []).append((row, at))
        elif (name := served.result(part)) is not None and open_.pop(name, None) is None:
            yield row, at
