"""Count in SQL the rows of a Parquet file that `judge` would call done, or cut beside their stop,
so that only the others have to come to Python.

Theory of operation
-------------------
`settling` makes one condition of SQL from the tables that `judge` itself uses: where a text, its
stop and its tokens stand (`flat.py`), the shapes of rows without a stop (`shapes.py`), which stops
end or cut an answer, and which marks end a sentence. A row that meets it is what its stop says: its
text is none that runs away, opens as JSON, thinks or calls, and without a stop it ends like a
finished one, or is plain and breaks off (`open_ends.py`). So no row is counted on a guess. The file
is scanned once: those rows are counted by what the report tells apart, and the columns of all
others are kept, to be judged one by one.

A row of each model, limit, stop and day is judged all the same. If the verdict is another one,
nothing of the file is settled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from tenuto.core.answer.closing import SENTENCE_ENDS
from tenuto.core.answer.response import INVISIBLE
from tenuto.core.answer.stop import StopReason
from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.cells import MOST_TOKENS
from tenuto.judging.columns import row_of
from tenuto.judging.days import TIMES
from tenuto.judging.documents import Line
from tenuto.judging.flat import Plan, plan_of, stop_of
from tenuto.judging.judgement import Way, judge_by
from tenuto.judging.names import LIMITS, MODELS, SETTINGS, TOKENS
from tenuto.judging.open_ends import EVIDENCE, how_open
from tenuto.judging.opening import OPENINGS
from tenuto.judging.sentences import LEAST_PROSE_CHARS
from tenuto.judging.shapes import FLAT, MOST_TOKENS_OF_SHAPE, Flat
from tenuto.judging.stores import NotReadable
from tenuto.judging.tables import NUMBER, BadText, Column, Parquet, named, quoted
from tenuto.judging.tally import LABEL_TOKENS, LEARNT_ROWS
from tenuto.judging.verdict import Verdict
from tenuto.wires.registry import WIRES

_TEXT: Final = "VARCHAR"
_WHOLE: Final = frozenset(
    f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "", "BIG")
) | {"INTEGER", "UINTEGER"}
_OTHERS: Final = _WHOLE | {"DOUBLE", "FLOAT", "BOOLEAN", "DATE", "TIMESTAMP"}
"""Types of columns that hold no text, by DuckDB's names."""

_STOPS: Final = (
    "stop", "end_turn", "STOP", "eos", "eos_token", "stop_sequence", "completed", "COMPLETE",
    "complete", "done", "EOS", "END_TURN",
    "length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "max_length", "model_length",
)  # fmt: skip
"""Words to try as stops that end or cut an answer; what they mean is asked of the tables."""

_OUTCOMES: Final = {
    StopReason.END_TURN: Outcome.DONE,
    StopReason.MAX_TOKENS: Outcome.TEXT_CUT,
}
"""What a row with a plain text is, by its stop."""

_MOST_GROUPS: Final = 500
"""With more models, limits and days, nothing is gained by counting."""


class Settling(NamedTuple):
    """How rows are settled, in SQL.

    Attributes:
        where: what is true of a row that is settled.
        told_apart: the stop, the model, the limit and the day.
        tokens: the tokens of the answer.
        chars: its length, with three digits, where the tokens are not stored.
        words: the text, where it matters whether those of several rows differ.
        before: what is taken from the columns first, since it is asked several times.
        learnt: so many rows at the beginning of a range are judged one by one, to learn from them.
    """

    where: str
    told_apart: tuple[str, str, str, str]
    tokens: str
    chars: str
    words: str = "NULL::VARCHAR"
    before: str = ""
    learnt: int = 0


class Count(NamedTuple):
    """Rows that are alike. `verdict`: what is said of each."""

    verdict: Verdict
    rows: int


def settling(columns: Sequence[Column], limit: int | None) -> Settling | None:
    """Return how rows of a table are settled; None: each has to be judged. `limit`: that of all
    rows, if the caller knows it.

    >>> columns = [Column("finish_reason", "VARCHAR"), Column("text", "VARCHAR")]
    >>> settling(columns, None).told_apart[0]
    '"finish_reason"'
    >>> settling([Column("text", "VARCHAR")], None) is None
    True
    """
    types = dict(columns)
    plan = plan_of(tuple(types))
    if plan is not None and plan.compared is not None:
        return _with_stop(plan, types, limit)
    for shape in FLAT:
        if shape.required <= types.keys() <= shape.fields.keys():
            fit = all(types[name] in _types(shape.fields[name]) for name in types)
            return _without_stop(shape, types, limit) if fit else None
    return None


def _types(of_field: type) -> frozenset[str]:
    return frozenset({_TEXT}) if of_field is str else _WHOLE


# --- rows with a stop


def _with_stop(plan: Plan, types: dict[str, str], limit: int | None) -> Settling | None:
    if types[plan.stop] != _TEXT or types[plan.text] != _TEXT:
        return None
    if any(types[name] not in (_OTHERS | {_TEXT}) for name in (*plan.free, *plan.asked)):
        return None
    # Its JSON may hold a limit.
    if any(types[name] == _TEXT for name in plan.asked if name in SETTINGS):
        return None
    has_model = any(name in types for name in MODELS)
    found = {word: stop_of(plan.stop, word, has_model) for word in _STOPS}
    stops = [word for word, stop in found.items() if stop and stop.reason in _OUTCOMES]
    ends = [word for word in stops if (stop := found[word]) and stop.reason is StopReason.END_TURN]
    time = next((name for name in TIMES if name in types), None)
    if time is not None and types[time] not in ("DATE", "TIMESTAMP"):
        return None
    text = named(plan.text)
    free = [named(name) for name in plan.free if types[name] == _TEXT]
    tokens = _first([_count(name, types[name]) for name in TOKENS if types.get(name) in _NUMBERS])
    where = [
        _says(named(plan.stop), stops),
        *_plain(text),
        *(f"({name} IS NULL OR {_opens_not(name)})" for name in free),
        _has_a_size(tokens, _says(named(plan.stop), ends)),
    ]
    if time is not None:
        where.append(f"{named(time)} IS NOT NULL")
    own = [
        f"nullif({_count(name, types[name])}, 0)" for name in LIMITS if types.get(name) in _NUMBERS
    ]
    told = (
        named(plan.stop),
        _first([_word(name, types[name]) for name in MODELS if types.get(name) in _WORDS]),
        str(limit) if limit is not None else _first(own),
        f"CAST({named(time)} AS DATE)" if time is not None else "NULL",
    )
    return Settling(" AND ".join(where), told, tokens, _chars(text, tokens))


_WORDS: Final = _WHOLE | {_TEXT}
_NUMBERS: Final = _WHOLE | {"DOUBLE", "FLOAT"}


def _says(cell: str, words: Sequence[str]) -> str:
    """Return what is true of a cell that says one of some words."""
    return f"{cell} IN ({', '.join(map(quoted, words)) or 'NULL'})"


def _has_a_size(tokens: str, ends: str) -> str:
    """Return what is true of a row that was not cut, or whose tokens are not stored as 0: how large
    a cut answer is says its text then (`tally.word_of`)."""
    return f"coalesce({tokens} > 0 OR {ends}, true)"


def _count(name: str, kind: str) -> str:
    """Return a number as `cells.count_in` reads it."""
    cell = named(name)
    whole = "" if kind in _WHOLE else f" AND {cell} = floor({cell})"
    return f"CASE WHEN {cell} BETWEEN 0 AND {MOST_TOKENS}{whole} THEN {cell}::BIGINT END"


def _word(name: str, kind: str) -> str:
    return f"nullif({named(name)}, '')" if kind == _TEXT else f"{named(name)}::VARCHAR"


def _first(found: Sequence[str]) -> str:
    return f"coalesce({', '.join(found)})" if found else "NULL"


# --- rows without a stop


def _without_stop(shape: Flat, types: dict[str, str], limit: int | None) -> Settling:
    text = named(shape.text)
    ends = ", ".join(quoted(char) for char in sorted(SENTENCE_ENDS))
    where = [
        *_plain(text),
        *(_of_type(name, kind) for name, kind in types.items()),
        *(_opens_not(named(name)) for name in shape.opening),
        f"{text} NOT LIKE '%```%'",
        f"{text} NOT LIKE '%~~~%'",
    ]
    tokens = f"{named(shape.tokens)}::BIGINT" if shape.tokens in types else "NULL"
    most = f"nullif({named(shape.limit)}::BIGINT, 0)" if shape.limit in types else "NULL"
    if limit is not None:
        most = str(limit)
    where.append(f"coalesce({tokens} < {most}, true)")
    # What ends openly counts for a pile-up, of labels none.
    small = f" AND coalesce({tokens} <= {LABEL_TOKENS}, true)"
    finished = _of_last(text, f"{_last(text)} IN ({ends}) OR ({_is_short(text)}{small})")
    form = f"CASE WHEN {finished} THEN (NOT {_is_short(text)})::VARCHAR ELSE {how_open(text)} END"
    where.append(f"{_FORM} IS NOT NULL")
    # Of no stop, and of no model: how a text ends, and that it is no short one, which says how the
    # file does.
    told = (_FORM, "''", most, "NULL")
    words = f"CASE WHEN {_FORM} IN ({', '.join(map(quoted, EVIDENCE))}) THEN {text} END"
    chars = _chars(text, tokens)
    before = f", {form} AS {_FORM}"
    return Settling(" AND ".join(where), told, tokens, chars, words, before, LEARNT_ROWS)


_FORM: Final = '"how the text ends, as tenuto tells it"'


def _is_short(text: str) -> str:
    """Return what is true of a text that is no prose. Its size in bytes is stored with it, while
    its characters have to be counted. A character has at most four bytes."""
    few = f"length({text}) < {LEAST_PROSE_CHARS}"
    return f"CASE WHEN strlen({text}) >= {4 * LEAST_PROSE_CHARS} THEN false ELSE {few} END"


def _of_type(name: str, kind: str) -> str:
    if kind == _TEXT:
        return f"{named(name)} IS NOT NULL"
    return f"coalesce({named(name)} BETWEEN 0 AND {MOST_TOKENS_OF_SHAPE}, false)"


# --- texts

_RUNAWAY_BYTES: Final = 400
_LEAST_PERIODS: Final = 4
_MOST_PERIOD: Final = 2_000
_LAST_CHARS: Final = 48
"""As `is_runaway` has them: a text that runs away is no shorter, and ends with four or more of a
passage of at most so many characters."""

_BLANKS: Final = "\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    [*map(chr, range(0x2000, 0x200B)), *(char for char in INVISIBLE if char > " ")]
)


def _plain(text: str) -> list[str]:
    """Return what is true of a text that says nothing beside its words: it begins and ends with a
    visible character, opens as nothing, thinks not and runs not away."""
    return [
        f"{text} IS NOT NULL",
        _begins(text, "<"),
        _of_last(text, _shows(_last(text))),
        f"{text} NOT LIKE '%<think%'",  # DuckDB's LIKE is faster than its `contains`
        f"CASE WHEN strlen({text}) < {_RUNAWAY_BYTES} THEN true ELSE {_stays(text)} END",
    ]


def _last(text: str) -> str:
    return f"substring({text}, -1, 1)"


def _of_last(text: str, condition: str) -> str:
    """Return what is true of the last character of a text if it is of a full stop, which is that of
    most texts and seen at once."""
    return f"CASE WHEN ends_with({text}, '.') THEN true ELSE {condition} END"


def _stays(text: str) -> str:
    """Return what is true of a text that runs not away, if it ends with a visible character. What
    ends with four of a passage has the last character four times, and its last characters come
    before, no further than a passage is long."""
    stops = f"ends_with({text}, '.') AND {text} NOT LIKE '%{'.%' * _LEAST_PERIODS}'"
    most = f"least(strlen({text}) // {_LEAST_PERIODS}, {_MOST_PERIOD})"
    before = f"substring({text}, -({most} + {_LAST_CHARS}), {most} + {_LAST_CHARS - 1})"
    again = f"contains({before}, substring({text}, -{_LAST_CHARS}, {_LAST_CHARS}))"
    return f"CASE WHEN {stops} THEN true ELSE NOT {again} END"


def _opens_not(text: str) -> str:
    """Return what is true of a text that `opening.may_open` does not open. One that begins with
    white space may open behind it."""
    return f"({text} = '' OR {_begins(text)})"


def _begins(text: str, *marks: str) -> str:
    """Return what is true of a text that begins with a visible character, opens as nothing, and
    begins with none of some other characters. Most texts begin with a large letter, so no more is
    asked of these."""
    first = f"substring({text}, 1, 1)"
    chars = {opening[0] for opening in OPENINGS if len(opening) == 1} | {*marks}
    words = [opening for opening in OPENINGS if len(opening) > 1]
    said = ", ".join(map(quoted, sorted(chars)))
    begun = ", ".join(quoted(word[0]) for word in words)
    none = " AND ".join(f"NOT starts_with({text}, {quoted(word)})" for word in words)
    return (
        f"CASE WHEN {text} >= 'A' AND {text} < '[' THEN true WHEN {first} IN ({begun}) THEN {none}"
        f" ELSE {first} NOT IN ({said}) AND {_shows(first)} END"
    )


def _shows(char: str) -> str:
    """Return what is true of a character that can be seen; of none, false."""
    blanks = ", ".join(quoted(blank) for blank in _BLANKS)
    other = f"{char} > '~' AND {char} NOT IN ({blanks})"
    return f"CASE WHEN {char} BETWEEN '!' AND '~' THEN true ELSE {other} END"


def _chars(text: str, tokens: str) -> str:
    """Return the length of a text whose tokens are not stored."""
    return f"CASE WHEN {tokens} IS NULL THEN {_rounded(text)} END"


def _rounded(text: str) -> str:
    """Return the length of a text with three digits, as `lengths.rounded` has it."""
    size = f"length({text})"
    steps = " ".join(
        f"WHEN {size} < {10**digits} THEN {size} // {10 ** (digits - 3)} * {10 ** (digits - 3)}"
        for digits in range(3, 10)
    )
    return f"CASE {steps} ELSE {size} END"


# --- counting


def settled(path: str, begin: int, end: int, way: Way) -> tuple[list[Count], Iterator[Line]] | None:
    """Count the rows of a Parquet file from one number to another that are settled, and return the
    others; None: each has to be judged.

    Raises:
        OSError: the file cannot be read.
    """
    if way.kinds or way.schema is not None or WIRES.changes:
        return None
    table = Parquet(path)
    how = settling(table.columns, way.limit)
    if how is None:
        return None
    try:
        list(table.fetched(_read_once(table, how, begin, end)))
    except (BadText, NotReadable):  # or its rows need too much memory when they are kept
        return None
    query = (
        f"SELECT {_KEY}, count(*), min(number), min(words), max(words)"
        " FROM read WHERE settled GROUP BY ALL"
    )
    counts = _judged(table, list(table.fetched(query)), way, begin + _KEPT_ROWS)
    return None if counts is None else (counts, _others(table))


_KEPT_ROWS: Final = 2_048
"""So many rows are kept with their columns, since the file holds most kinds of groups in them: to
read a row again takes as long as to read thousands."""

_NAMES: Final = ("stop", "model", "max", "day")
_KEY: Final = ", ".join((*_NAMES, "tokens", "chars"))


def _read_once(table: Parquet, how: Settling, begin: int, end: int) -> str:
    """Return the SQL that makes the table `read` of some rows: of those that are settled, what they
    are counted by; of the others, and of the first rows, their columns."""
    cells = [(named(column.name), f"c{at}") for at, column in enumerate(table.columns)]
    names = (*_NAMES, "tokens", "chars", "words")
    told = zip((*how.told_apart, how.tokens, how.chars, how.words), names, strict=True)
    every = ", ".join(f"{one} AS {name}" for one, name in (*told, *cells))
    counted = ", ".join(f"CASE WHEN settled THEN {name} END AS {name}" for name in names)
    where = f"{NUMBER} >= {begin + how.learnt} AND {how.where}"
    kept = f"NOT settled OR number < {begin + _KEPT_ROWS}"
    left = ", ".join(f"CASE WHEN {kept} THEN {name} END AS {name}" for _, name in cells)
    return f"""
        CREATE OR REPLACE TEMP TABLE read AS SELECT number, settled, {counted}, {left} FROM (
            SELECT {NUMBER} AS number, coalesce({where}, false) AS settled, {every}
            FROM (SELECT *{how.before} FROM {_range(table, begin, end)})
        )"""


def _range(table: Parquet, begin: int, end: int) -> str:
    return f"(SELECT * FROM {table.source} WHERE {NUMBER} >= {begin} AND {NUMBER} < {end})"


def _others(table: Parquet) -> Iterator[Line]:
    names = [column.name for column in table.columns]
    cells = ", ".join(f"c{at}" for at in range(len(names)))
    query = f"SELECT number, {cells} FROM read WHERE NOT settled ORDER BY number"
    for number, *values in table.fetched(query):
        yield Line(number, row_of(names, values))


def _judged(
    table: Parquet, found: list[tuple[Any, ...]], way: Way, kept: int
) -> list[Count] | None:
    """Judge a row of each group, and give its verdict to all that are like it; None: one is not
    what its stop says, or there are too many groups. `kept`: the rows before this number are kept
    with their columns."""
    groups = [(tuple(one[:4]), *one[4:]) for one in found]
    first: dict[Any, int] = {}
    for key, _, _, _, number, *_ in groups:
        first[key] = min(number, first.get(key, number))
    if len(first) > _MOST_GROUPS:
        return None
    said = dict(_verdicts(table, sorted(first.values()), way, kept))
    counts = []
    for key, tokens, chars, rows, _, *words in groups:
        verdict = said[first[key]]
        if not _is_as_told(verdict, key[0]):
            return None
        text = "." * (chars or 0) if tokens is None else words[0] or verdict.text
        alike = dataclasses.replace(verdict, output_tokens=tokens, text=text)
        differ = tokens is not None and words[0] != words[1]
        counts.append(Count(alike, rows - differ))
        if differ:  # two texts are enough to know that they are not all the same
            counts.append(Count(dataclasses.replace(alike, text=words[1]), 1))
    return counts


def _is_as_told(verdict: Verdict, told: str) -> bool:
    """Return whether a verdict is that of rows whose stop, or end without one, was told so."""
    if verdict.stop.raw or told not in EVIDENCE:
        return verdict.outcome is _OUTCOMES.get(verdict.stop.reason)
    return verdict.outcome is Outcome.OPEN_END and verdict.evidence == EVIDENCE[told]


def _verdicts(
    table: Parquet, numbers: list[int], way: Way, kept: int
) -> Iterator[tuple[int, Verdict]]:
    names = [column.name for column in table.columns]
    near = [number for number in numbers if number < kept]
    if near:
        cells = ", ".join(f"c{at}" for at in range(len(names)))
        query = f"SELECT number, {cells} FROM read WHERE number IN ({', '.join(map(str, near))})"
        for number, *values in table.fetched(query):
            yield number, judge_by(row_of(names, values), way)
    if far := numbers[len(near) :]:
        selected = ", ".join([NUMBER, *map(named, names)])
        # Without the range, DuckDB reads all groups of rows.
        within = f"{NUMBER} BETWEEN {far[0]} AND {far[-1]}"
        where = f"{within} AND {NUMBER} IN ({', '.join(map(str, far))})"
        query = f"SELECT {selected} FROM {table.source} WHERE {where}"
        for number, *values in table.fetched(query):
            yield number, judge_by(row_of(names, values), way)
