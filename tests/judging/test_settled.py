"""What SQL counts as done, `judge` calls done; and the totals are those of judging every row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest
from judging.test_flat import STOP_VALUES
from judging.test_quick import TEXTS
from support.stored import DONE, FENCE, OPEN
from support.tables import duckdb

from tenuto.core.deciding.outcome import Outcome
from tenuto.judging import judgement
from tenuto.judging import settled as settling_module
from tenuto.judging.checking import Options, check
from tenuto.judging.files import ranges_of, rows_of
from tenuto.judging.names import SETTINGS
from tenuto.judging.report import report_of
from tenuto.judging.settled import settled, settling
from tenuto.judging.tables import Column
from tenuto.judging.tally import LEARNT_ROWS

RUNAWAY = "I will now fix that bug, too. " * 40
LONG = "".join(f"Tide number {n} rises and falls with the moon. " for n in range(60))
MORE_TEXTS = (
    *TEXTS, DONE, OPEN, FENCE, LONG, LONG.strip(), RUNAWAY.strip(), f"{LONG}{RUNAWAY}".strip(), f"{LONG}" + "ha " * 300,
    f"{LONG}{'é' * 500}", f"{LONG}{'😊x' * 300}", "ab" * 400, LONG.strip() + "\u00a0", "\u2003" + DONE, DONE + "\u2028", "\x85x.",
    "~~~\nx", "a\n```\nx\n```\ndone.", " {", "\t", "event: x", "id: 5", ": x", "x" * 59, "x" * 60, f"{DONE}\x00", "好了。", "好" * 70,
    "true", "5", "null", '{"a": 1}', "[TOOL_CALLS] []", "The <thinking> of it.", "\x1c" + DONE, DONE + "\x1f", "a" * 399, "b" * 401,
)  # fmt: skip

Made = tuple[list[tuple[str, str]], list[tuple[Any, ...]]]
BESIDE: tuple[tuple[str, str, Sequence[Any]], ...] = (
    ("id", "VARCHAR", MORE_TEXTS),
    ("custom_id", "BIGINT", range(9)),
    ("model", "VARCHAR", ["m", "n", "", "5"]),
    ("model_id", "INTEGER", range(3)),
    ("prompt", "VARCHAR", MORE_TEXTS),
    ("input", "VARCHAR", MORE_TEXTS),
    ("category", "VARCHAR", MORE_TEXTS),
    ("score", "DOUBLE", [0.5, 1.0]),
    ("ok", "BOOLEAN", [True, False]),
    ("created_at", "DATE", [date(2026, 1, 2), date(2026, 1, 3)]),
    ("timestamp", "TIMESTAMP", [date(2026, 1, 2)]),
    ("completion_tokens", "INTEGER", range(-1, 30)),
    ("output_tokens", "UBIGINT", range(30)),
    ("max_tokens", "BIGINT", range(-1, 30)),
    ("max_new_tokens", "SMALLINT", range(30)),
    ("num_predict", "INTEGER", range(-1, 30)),
    ("usage", "VARCHAR", ['{"completion_tokens": 9}', "x"]),
    ("params", "VARCHAR", ['{"max_tokens": 20}', "x"]),
    ("options", "VARCHAR", ['{"num_predict": 20}', "x"]),
    ("response", "VARCHAR", MORE_TEXTS),
    ("text", "VARCHAR", MORE_TEXTS),
)
TOKENS = range(-1, 30)
WITHOUT: tuple[tuple[tuple[str, str, Sequence[Any]], ...], ...] = (
    (("prompt", "VARCHAR", MORE_TEXTS), ("completion", "VARCHAR", MORE_TEXTS)),
    (("instruction", "VARCHAR", MORE_TEXTS), ("input", "VARCHAR", MORE_TEXTS), ("output", "VARCHAR", MORE_TEXTS)),
    (("generated_text", "VARCHAR", MORE_TEXTS), ("num_generated_tokens", "BIGINT", TOKENS)),
    (
        ("generated_text", "VARCHAR", MORE_TEXTS), ("num_generated_tokens", "INTEGER", TOKENS),
        ("prompt", "VARCHAR", MORE_TEXTS), ("num_input_tokens", "BIGINT", TOKENS),
    ),
    (
        ("prompt", "VARCHAR", MORE_TEXTS), ("completion", "VARCHAR", MORE_TEXTS),
        ("completion_tokens", "BIGINT", TOKENS), ("max_tokens", "INTEGER", TOKENS),
    ),
    (("generated_text", "VARCHAR", MORE_TEXTS), ("num_generated_tokens", "INTEGER", TOKENS), ("max_tokens", "BIGINT", TOKENS)),
)  # fmt: skip


def with_a_stop(chance: Random) -> Made:
    columns: dict[str, tuple[str, Sequence[Any]]] = {
        chance.choice(["finish_reason", "stop_reason"]): ("VARCHAR", STOP_VALUES[:8]),
        chance.choice(["completion", "output", "content"]): ("VARCHAR", MORE_TEXTS),
    }
    for name, kind, values in chance.sample(BESIDE, chance.randrange(6)):
        columns.setdefault(name, (kind, values))
    return filled(chance, [(name, *rest) for name, rest in columns.items()])


def filled(
    chance: Random, columns: Sequence[tuple[str, str, Sequence[Any]]], rows: int = 60
) -> Made:
    made = [
        tuple(None if chance.random() < 0.1 else chance.choice(values) for _, _, values in columns)
        for _ in range(rows)
    ]
    return [(name, kind) for name, kind, _ in columns], made


def write(path: Path, made: Made) -> str:
    columns, rows = made
    with duckdb.connect() as connection:
        declared = ", ".join(f'"{name}" {kind}' for name, kind in columns)
        connection.execute(f"CREATE TABLE t ({declared})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(columns))})", rows)
        connection.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    return str(path)


def both_ways(path: str, limit: int | None) -> None:
    options = Options(limit=limit)
    (part,) = ranges_of(path)
    one_by_one = [judgement.judge_by(line.data, options.way()) for line in rows_of(part)]
    assert part.end is not None
    told = settled(path, 0, part.end, options.way())
    if told is not None:
        counts, others = told
        left = {row.number: row.data for row in others}
        skipped = Counter(v.outcome for n, v in enumerate(one_by_one) if n not in left)
        counted: Counter[Outcome] = Counter()
        for count in counts:
            counted[count.verdict.outcome] += count.rows
        assert skipped == counted
        assert skipped.keys() <= {Outcome.DONE, Outcome.TEXT_CUT, Outcome.OPEN_END}
        read = {line.number - 1: line.data for line in rows_of(part)}
        assert left == {number: read[number] for number in left}
    quick = report_of(check([path], options).tally)
    whole = report_of(check([path], Options(limit=limit, places=True)).tally)
    assert quick == whole


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("limit", [None, 20])
@pytest.mark.parametrize("seed", range(6))
def test_with_a_stop_no_row_is_counted_that_is_not_what_it_says(
    tmp_path: Path, seed: int, limit: int | None
) -> None:
    both_ways(write(tmp_path / "a.parquet", with_a_stop(Random(seed))), limit)


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("limit", [None, 20])
@pytest.mark.parametrize("columns", WITHOUT, ids=range(6))
def test_without_a_stop_no_row_is_counted_that_is_not_done(
    tmp_path: Path, columns: Sequence[tuple[str, str, Sequence[Any]]], limit: int | None
) -> None:
    both_ways(write(tmp_path / "a.parquet", filled(Random(1), columns, LEARNT_ROWS + 200)), limit)


@pytest.mark.parametrize("columns", [
    [("finish_reason", "VARCHAR"), ("completion", "VARCHAR"), ("model", "VARCHAR"), ("completion_tokens", "BIGINT")],
    [("prompt", "VARCHAR"), ("completion", "VARCHAR")],
    [("generated_text", "VARCHAR"), ("num_generated_tokens", "BIGINT")],
])  # fmt: skip
def test_plain_rows_are_settled_in_sql(tmp_path: Path, columns: list[tuple[str, str]]) -> None:
    names = [name for name, _ in columns]
    of = {
        "finish_reason": "stop",
        "model": "m",
        "completion_tokens": 12,
        "num_generated_tokens": 12,
    }
    rows = [tuple(of.get(name, LONG.strip()) for name in names)] * (LEARNT_ROWS + 50)
    path = write(tmp_path / "a.parquet", (columns, rows))
    told = settled(path, 0, len(rows), Options().way())
    assert told is not None
    counts, others = told
    left = 0 if "finish_reason" in names else LEARNT_ROWS
    assert [count.rows for count in counts] == [len(rows) - left]
    assert [row.number for row in others] == list(range(left)), "the first are learnt from"


def test_if_judge_says_anything_else_nothing_is_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A condition that is wrong, as a mistake in it would be, for rows of which judge says otherwise.
    columns = [("finish_reason", "VARCHAR"), ("completion", "VARCHAR")]
    path = write(tmp_path / "a.parquet", (columns, [("stop", " ")] * 3))
    how = settling([Column(*column) for column in columns], None)
    assert how is not None
    monkeypatch.setattr(settling_module, "settling", lambda *_: how._replace(where="true"))
    assert settled(path, 0, 3, Options().way()) is None
    assert report_of(check([path], Options()).tally)["outcomes"] == {"empty": 3}


def test_cut_rows_are_counted_by_their_stop(tmp_path: Path) -> None:
    columns = [("finish_reason", "VARCHAR"), ("completion", "VARCHAR")]
    path = write(tmp_path / "a.parquet", (columns, [("length", DONE), ("stop", DONE)] * 20))
    both_ways(path, None)
    told = settled(path, 0, 40, Options().way())
    assert told is not None
    assert {count.verdict.outcome: count.rows for count in told[0]} == {
        Outcome.DONE: 20, Outcome.TEXT_CUT: 20,
    }  # fmt: skip
    assert list(told[1]) == []


@pytest.mark.parametrize("limit", [None, 0])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("kind", ["BIGINT", "DOUBLE"])
def test_a_cut_text_without_tokens_is_as_large_as_it_is(
    tmp_path: Path, kind: str, first: int, limit: int | None
) -> None:
    columns = [
        ("finish_reason", "VARCHAR"), ("completion", "VARCHAR"), ("completion_tokens", kind),
        ("max_tokens", "BIGINT"),
    ]  # fmt: skip
    short, long = ("length", "Hi th", 0, limit), ("length", LONG.strip()[:800], 0, limit)
    rows = [short, *[long] * 9] if first else [*[long] * 9, short]
    both_ways(write(tmp_path / "a.parquet", (columns, rows)), None)


def test_a_limit_in_a_text_of_settings_is_heeded(tmp_path: Path) -> None:
    for name in SETTINGS:
        columns = [("finish_reason", "VARCHAR"), ("completion", "VARCHAR"), (name, "VARCHAR")]
        rows = [("stop", DONE, '{"max_tokens": 20}'), ("stop", DONE, "x"), ("stop", DONE, None)]
        path = write(tmp_path / f"{name}.parquet", (columns, rows * 20))
        both_ways(path, None)
        groups = report_of(check([path], Options()).tally)["groups"]
        assert {group["limit"]: group["answers"] for group in groups} == {20: 20, None: 40}, name


def test_columns_of_other_types_are_judged_one_by_one() -> None:
    text = Column("completion", "VARCHAR")
    for other in (Column("finish_reason", "BLOB"), Column("finish_reason", "VARCHAR[]")):
        assert settling([text, other], None) is None
    stop = Column("finish_reason", "VARCHAR")
    for more in (
        Column("meta", "STRUCT(a VARCHAR)"),
        Column("meta", "JSON"),
        Column("created", "VARCHAR"),
        Column("choices", "VARCHAR"),
    ):
        how = settling([text, stop, more], None)
        assert how is None or more.name == "choices"


@pytest.mark.parametrize("name", ["file_row_number", "File_Row_Number"])
def test_a_column_with_the_name_that_duckdb_gives_to_the_number_is_read(
    tmp_path: Path, name: str
) -> None:
    columns = [(name, "BIGINT"), ("finish_reason", "VARCHAR"), ("completion", "VARCHAR")]
    rows = [(7 - n % 3, "length" if n % 9 == 4 else "stop", DONE) for n in range(60)]
    path = write(tmp_path / "a.parquet", (columns, rows))
    both_ways(path, None)
    (part,) = ranges_of(path)
    lines = [line.number for line in rows_of(part) if '"length"' in json.dumps(line.data)]
    assert lines == [n + 1 for n in range(60) if n % 9 == 4]


def test_a_group_that_only_late_rows_have_is_judged_too(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 'stop' AS finish_reason, ? AS completion,"
            " CASE WHEN range < 2600 THEN 'm' ELSE 'n' END AS model FROM range(2700)",
            [DONE],
        )
        connection.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    told = settled(str(path), 0, 2_700, Options().way())
    assert told is not None
    assert {count.verdict.model: count.rows for count in told[0]} == {"m": 2_600, "n": 100}
    both_ways(str(path), None)
