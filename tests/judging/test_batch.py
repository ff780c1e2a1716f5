"""`judge_batch`: Arrow in, Arrow out."""

from __future__ import annotations

import json
import sys

import pytest
from support.stored import EXAMPLES, chat, conversation

from tenuto import judge, judge_batch

ROWS = [
    {"custom_id": "a", "error": None, "response": {"status_code": 200, "body": chat()}},
    {
        "custom_id": "b",
        "error": None,
        "response": {"status_code": 200, "body": chat("Yes.", "stop")},
    },
]


def test_nothing_imports_pyarrow_before_it_is_needed() -> None:
    assert "pyarrow" not in sys.modules or "tests" in sys.modules


class TestWithArrow:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

    def test_a_table_of_columns_gets_a_column_of_verdicts(self) -> None:
        found = judge_batch(self.pa.Table.from_pylist(ROWS))
        assert found.column_names == ["custom_id", "error", "response", "verdict"]
        assert [v["outcome"] for v in found["verdict"].to_pylist()] == ["text_cut", "done"]
        assert found["verdict"].to_pylist()[0]["id"] == "a"

    def test_a_column_of_json_is_judged_row_by_row(self) -> None:
        lines = [json.dumps(row) for row in ROWS]
        for kind in (self.pa.string(), self.pa.large_string(), self.pa.binary()):
            values = [line.encode() for line in lines] if kind == self.pa.binary() else lines
            array = self.pa.array([*values, None], type=kind)
            found = judge_batch(self.pa.table({"n": [1, 2, 3], "line": array}), column="line")
            outcomes = [v["outcome"] for v in found["verdict"].to_pylist()]
            assert outcomes == ["text_cut", "done", "no_answer"]
            assert judge_batch(array).to_pylist() == found["verdict"].to_pylist()

    def test_a_batch_and_what_is_no_arrow(self) -> None:
        batch = self.pa.RecordBatch.from_pylist([{"messages": conversation("Yes.")}])
        assert judge_batch(batch)["verdict"].to_pylist()[0]["outcome"] == "done"
        with pytest.raises(TypeError, match="list"):
            judge_batch([1])
        with pytest.raises(KeyError):
            judge_batch(batch, column="x")

    def test_a_batch_says_what_judge_says(self) -> None:
        rows = [e.row for e in EXAMPLES if isinstance(e.row, dict)]
        found = judge_batch(self.pa.array([json.dumps(row) for row in rows])).to_pylist()
        assert [v["outcome"] for v in found] == [judge(row).outcome for row in rows]
