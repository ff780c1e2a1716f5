"""`judge_batch()`: judge the rows of an Arrow table or array.

pyarrow is imported when the function is called: whoever has a batch of Arrow has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from tenuto.judging.columns import row_of
from tenuto.judging.judgement import SAMPLE_ROWS, Way, judge_by, way_of
from tenuto.judging.verdict import Verdict

COLUMN: Final = "verdict"
"""The column that `judge_batch` adds to a table."""


def judge_batch(
    batch: Any,
    *,
    column: str | None = None,
    limit: int | None = None,
    schema: Mapping[str, Any] | None = None,
    kind: str | None = None,
) -> Any:
    """Judge each row of an Arrow table, record batch or array.

    Args:
        batch: a `pyarrow.Table` or `RecordBatch`, of which each row is one of `judge`, or an
            `Array` or `ChunkedArray` of structs, or of texts or bytes that hold JSON. A row that is
            null is no answer.
        column: the column that holds the rows as JSON or as structs; None: the whole row, or the
            only column of a table.
        limit: the output limit in tokens of all rows; None: each row's own.
        schema: the JSON Schema of the document that all rows were asked for; None: each row's own.
        kind: the kind of all rows; None: it is found for each.

    Returns:
        for a table or record batch, the same with a column `verdict` behind the others; for an
        array, an array of structs. A verdict has the fields of `Verdict`, without the text; `stop`
        is the provider's own value, and `reason` is Tenuto's word for it.

    Raises:
        ImportError: pyarrow is not installed.
        TypeError: the batch is none of these.
        KeyError: there is no such column.
        ValueError: there is no kind of this name.

    Every engine that hands out Arrow can call it, such as Ray Data:
    `ds.map_batches(tenuto.judge_batch, batch_format="pyarrow")`.
    """
    pa = import_module("pyarrow")

    way = way_of(limit, schema, kind)

    def judged(rows: Iterable[object]) -> Any:
        return pa.array(map(_plain, _verdicts(rows, way)), type=_type(pa))

    if isinstance(batch, pa.Array | pa.ChunkedArray):
        return judged(_values(batch))
    if not isinstance(batch, pa.Table | pa.RecordBatch):
        given = type(batch).__name__
        raise TypeError(f"judge_batch takes a table or an array of pyarrow, not a {given}")
    if column is not None and column not in batch.schema.names:
        raise KeyError(column)
    if column is None and batch.num_columns == 1:
        (column,) = batch.schema.names
        if not _holds_rows(pa, batch.schema.field(column).type):
            column = None
    names = batch.schema.names
    if column is not None:
        rows = _values(batch.column(column))
    else:
        rows = (row_of(names, [row[name] for name in names]) for row in batch.to_pylist())
    kept = [name for name in batch.schema.names if name != COLUMN]
    return batch.select(kept).append_column(COLUMN, judged(rows))


def _verdicts(rows: Iterable[object], way: Way) -> Iterator[Verdict]:
    """Judge rows. As in a file, the first ones tell which quick readings are worth trying."""
    seen: set[str] = set()
    for number, row in enumerate(rows):
        verdict = judge_by(row, way)
        yield verdict
        if way.shapes is None:
            seen.add(verdict.kind)
            if number >= SAMPLE_ROWS:
                way = way.for_kinds(seen)


def _values(array: Any) -> Iterable[object]:
    return (value.as_py() for value in array)


def _holds_rows(pa: Any, kind: Any) -> bool:
    types = pa.types
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(fits(kind) for fits in (*texts, types.is_string_view, types.is_binary_view))


def _type(pa: Any) -> Any:
    """Return the Arrow type of a verdict."""
    text, whole, yes = pa.string(), pa.int64(), pa.bool_()
    return pa.struct(
        [
            ("outcome", text), ("certain", yes), ("evidence", pa.list_(text)), ("reason", text),
            ("stop", text), ("limit", whole), ("output_tokens", whole), ("chars", whole),
            ("model", text), ("id", text), ("kind", text), ("wire", text), ("choice", whole),
            ("choices", whole), ("can_be_finished", yes), ("request_at", text), ("day", text),
        ]
    )  # fmt: skip


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {
        **verdict.as_dict(),
        "reason": verdict.stop.reason.value,
        "stop": verdict.stop.raw,
        "chars": len(verdict.text),
    }
