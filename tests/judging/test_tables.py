"""Tables: each row is read once, as `judge` reads it, and what cannot be read is named."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.stored import DONE, EXAMPLES, FENCE, OPEN, chat, conversation
from support.tables import duckdb, parquet, parquet_of_lines

from tenuto import judge
from tenuto.cli.checked import Wanted, run_check
from tenuto.command_kit.command_error import CommandError
from tenuto.judging import tables
from tenuto.judging.adding import Checked
from tenuto.judging.checking import Options, check
from tenuto.judging.files import files_in, ranges_of, rows_of
from tenuto.judging.names import LIMITS, SETTINGS
from tenuto.judging.report import report_of


def counts(path: str, limit: int | None = None) -> tuple[dict[str, int], Checked]:
    found = check([path], Options(limit=limit))
    return report_of(found.tally)["outcomes"], found


LINES = [json.dumps(chat(DONE, "stop")), json.dumps(chat())]


@pytest.mark.behaviour("J1")
class TestParquet:
    def test_a_column_of_json_is_read_as_lines_are(self, tmp_path: Path) -> None:
        rows = [json.dumps(e.row) for e in EXAMPLES if isinstance(e.row, dict)]
        path = parquet_of_lines(tmp_path / "a.parquet", rows)
        told = [judge(line.data) for part in ranges_of(path) for line in rows_of(part)]
        assert told == [judge(row) for row in rows]

    def test_columns_are_the_members_of_a_row(self, tmp_path: Path) -> None:
        sent = [
            {
                "id": "b",
                "custom_id": f"r{n}",
                "response": {"status_code": 200, "body": body},
                "error": None,
            }
            for n, body in enumerate((chat(), chat(DONE, "stop")))
        ]
        found, checked = counts(parquet(tmp_path / "a.parquet", sent))
        assert found == {"text_cut": 1, "done": 1}
        assert checked.tally.kinds == {"openai_batch": 2}

    @pytest.mark.parametrize(
        ("row", "wanted"),
        [
            ({"finish_reason": "length", "completion": "The moon", "model": "m", "usage": {"completion_tokens": 90}}, "text_cut"),
            ({"finish_reason": "stop", "completion": DONE, "model": None}, "done"),
            ({"messages": conversation(FENCE), "source": "x"}, "likely_cut"),
            ({"messages": json.dumps(conversation(FENCE)), "source": "x"}, "likely_cut"),
            ({"prompt": "Why?", "chosen": conversation(DONE), "rejected": conversation(FENCE)}, "likely_cut"),
            ({"prompt": "Why?", "completion": DONE}, "done"),
            ({"prompt": "Why?", "generated_text": DONE, "num_generated_tokens": 512}, "likely_cut"),
            ({"id": 7, "request": json.dumps({"max_tokens": 9}), "response": json.dumps(chat())}, "text_cut"),
        ],
        ids=range(8),
    )  # fmt: skip
    def test_columns_of_any_form_are_read(
        self, tmp_path: Path, row: dict[str, Any], wanted: str
    ) -> None:
        assert counts(parquet(tmp_path / "a.parquet", [row]), limit=512)[0] == {wanted: 1}

    def test_a_column_of_another_kind_that_is_null_hides_none(self, tmp_path: Path) -> None:
        rows = [
            {"custom_id": "a", "result": {"type": "succeeded", "message": None}, "messages": None},
            {"custom_id": None, "result": None, "messages": conversation(FENCE)},
        ]
        found, _ = counts(parquet(tmp_path / "a.parquet", rows))
        assert found == {"fault": 1, "likely_cut": 1}

    def test_every_row_is_read_once_whatever_the_ranges(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lines = [json.dumps({**chat(), "id": f"chatcmpl-{n}"}) for n in range(9_000)]
        lines[5_000] = lines[5_000][:90]
        path = parquet_of_lines(tmp_path / "a.parquet", lines)
        assert len(ranges_of(path)) == 1
        monkeypatch.setattr(tables, "_RANGE_BYTES", 1_000)
        ranges = ranges_of(path)
        assert [part.begin for part in ranges] == [0, 2_048, 4_096, 6_144, 8_192]
        assert [line.data for part in ranges for line in rows_of(part)] == lines
        found = check([path], Options())
        assert [line for _, line, _ in found.unread] == [5_001]
        assert found.tally.rows == 8_999

    def test_processes_count_what_one_counts(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from tenuto.judging import checking

        monkeypatch.setattr(checking, "_LEAST_BYTES", 0)
        paths = [parquet_of_lines(tmp_path / f"{n}.parquet", LINES * 3) for n in range(3)]
        one, two = (report_of(check(paths, Options(), n).tally) for n in (1, 2))
        assert one == two
        assert one["outcomes"] == {"done": 9, "text_cut": 9}

    @pytest.mark.parametrize(
        "name", ["a[1]*?.parquet", "it's.parquet", "model=m/a b.parquet", "ü.pq"]
    )
    def test_a_path_may_have_any_name(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "a1x.parquet").write_bytes(b"another file")
        path = tmp_path / name
        made = parquet_of_lines(tmp_path / "made.tmp", LINES)
        path.parent.mkdir(exist_ok=True)
        Path(made).rename(path)
        assert counts(str(path))[0] == {"done": 1, "text_cut": 1}

    def test_a_text_that_is_not_utf_8_is_named_and_the_others_are_read(
        self, tmp_path: Path
    ) -> None:
        lines = [json.dumps({**chat(DONE, "stop"), "id": f"chatcmpl-{n:05}"}) for n in range(5_000)]
        path = Path(parquet_of_lines(tmp_path / "a.parquet", lines))
        with duckdb.connect() as connection:
            connection.execute(
                f"COPY (SELECT * FROM '{path}') TO '{path}.x' (FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE 2048)"
            )
        data = Path(f"{path}.x").read_bytes()
        for number in (0, 3_000, 3_001, 4_999):
            data = data.replace(b"chatcmpl-%05d" % number, b"chatcmpl-\xff%04d" % (number % 1_000))
        path.write_bytes(data)
        found, checked = counts(str(path))
        assert [line for _, line, _ in checked.unread] == [1, 3_001, 3_002, 5_000]
        assert checked.unread[0][2] == "it has a text that is not UTF-8"
        assert found == {"done": 4_996}

    def test_nothing_but_rows_is_no_answer(self, tmp_path: Path) -> None:
        assert counts(parquet(tmp_path / "a.parquet", [{"name": "Mia", "n": 3}]))[0] == {
            "no_answer": 1
        }
        assert counts(parquet_of_lines(tmp_path / "b.parquet", ["Good morning.", None]))[0] == {
            "no_answer": 2
        }


@pytest.mark.behaviour("J1")
class TestCsv:
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
    def test_columns_are_the_members_of_a_row(self, tmp_path: Path, name: str, end: str) -> None:
        between = "\t" if "tsv" in name else ";"
        rows = [
            ["id", "finish_reason", "completion", "completion_tokens"],
            ["1", "length", '"The moon, it seems,\nis; ""far"""', "20"],
            ["2", "stop", DONE, "12"],
            [],
            ["3", "stop", "", ""],
        ]
        text = "\ufeff" + end.join(between.join(row) for row in rows)
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        found, checked = counts(str(tmp_path / name))
        assert found == {"text_cut": 1, "done": 1, "empty": 1}
        assert not checked.unread

    def test_a_cell_may_hold_json(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        cell = json.dumps(chat()).replace('"', '""')
        path.write_text(f'id,response\n1,"{cell}"\n', "utf-8")
        assert counts(str(path))[0] == {"text_cut": 1}

    @pytest.mark.parametrize("name", LIMITS)
    def test_a_limit_is_a_number(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / "a.csv"
        path.write_text(f"prompt,completion,completion_tokens,{name}\nx,Yes.,20,20\n", "utf-8")
        assert counts(str(path))[0] == {"likely_cut": 1}

    @pytest.mark.parametrize("name", SETTINGS)
    def test_settings_may_be_json(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / "a.csv"
        cell = json.dumps({"max_tokens": 20}).replace('"', '""')
        path.write_text(f'text,finish_reason,{name}\nYes.,stop,"{cell}"\n', "utf-8")
        (group,) = report_of(counts(str(path))[1].tally)["groups"]
        assert group["limit"] == 20

    def test_utf_16_as_spreadsheets_write_it(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_bytes(f"finish_reason\tcompletion\nstop\t{DONE}\n".encode("utf-16"))
        assert counts(str(path))[0] == {"done": 1}

    def test_a_row_with_other_cells_than_the_header_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text(
            'finish_reason,completion\nstop,"a\nb"\nstop\nstop,x,y\nlength,'
            + OPEN.replace(",", ""),
            "utf-8",
        )
        found, checked = counts(str(path))
        assert found == {"done": 1, "text_cut": 1}
        assert checked.unread == [
            (str(path), 4, "it has 1 cells, and the header 2"),
            (str(path), 5, "it has 3 cells, and the header 2"),
        ]

    def test_a_cell_without_an_end_is_named_where_it_begins(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tables, "_MOST_CELL_BYTES", 1_000)
        path = tmp_path / "a.csv"
        path.write_text('finish_reason,completion\nstop,x\nstop,"' + "y\n" * 2_000, "utf-8")
        found, checked = counts(str(path))
        assert found == {"done": 1}
        assert [line for _, line, _ in checked.unread] == [3]


class TestWhatCannotBeRead:
    def test_a_damaged_file_says_so_and_the_others_are_read(self, tmp_path: Path) -> None:
        whole = Path(parquet_of_lines(tmp_path / "b.parquet", LINES)).read_bytes()
        for name, data in (
            ("a.parquet", whole[:-20]), ("c.parquet", b"PAR1"), ("d.parquet", b""), ("e.parquet", b"not Parquet" * 9),
        ):  # fmt: skip
            (tmp_path / name).write_bytes(data)
        said: list[str] = []
        assert run_check([str(tmp_path)], Wanted(), said.append) == 2
        assert said[0].startswith("2 answers in 5 files")
        reasons = [line for line in said if "it is no whole Parquet file, or a damaged one" in line]
        assert [name in line for name, line in zip("acde", reasons, strict=True)] == [True] * 4

    def test_damage_within_a_file_is_told_with_its_rows(self, tmp_path: Path) -> None:
        path = parquet_of_lines(tmp_path / "a.parquet", LINES)
        data = bytearray(Path(path).read_bytes())
        data[8:60] = bytes(52)
        Path(path).write_bytes(data)
        _, checked = counts(path)
        assert [file for file, _ in checked.refused] == [path]

    def test_a_path_that_does_not_exist(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="No such file"):
            run_check([str(tmp_path / "a.parquet")], Wanted(), print)

    def test_a_folder_without_files_to_read_says_which_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "a.docx").write_bytes(b"")
        with pytest.raises(CommandError, match=r"\.jsonl.*\.parquet.*1 other"):
            run_check([str(tmp_path)], Wanted(), print)

    def test_a_compressed_file_that_breaks_off_keeps_the_rows_before(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(("\n".join(LINES * 400) + "\n").encode())[:-400])
        found, checked = counts(str(path))
        assert found["done"] > 10
        assert "damaged" in checked.refused[0][1]


def test_a_folder_gives_its_tables(tmp_path: Path) -> None:
    for name in ("a.parquet", "in/b.csv.gz", "c.tsv", "d.txt", ".e.csv", "f.jsonl.zst", "_SUCCESS"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    names = ["a.parquet", "c.tsv", "f.jsonl.zst", "b.csv.gz"]
    assert [Path(path).name for path in files_in([str(tmp_path)])] == names


def test_zstd_needs_the_extra(tmp_path: Path) -> None:
    import zstandard

    path = tmp_path / "a.jsonl.zst"
    pack = zstandard.ZstdCompressor().compress
    path.write_bytes(pack(LINES[0].encode() + b"\n") + pack(LINES[1].encode()))
    assert counts(str(path))[0] == {"done": 1, "text_cut": 1}


@pytest.mark.parametrize(
    ("module", "name"),
    [("duckdb", "a.parquet"), ("fsspec", "s3://runs/a.jsonl"), ("zstandard", "a.jsonl.zst")],
)
def test_what_needs_the_extra_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    if module == "zstandard" and sys.version_info >= (3, 14):
        pytest.skip("Python reads zstd itself")
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    monkeypatch.chdir(tmp_path)
    if "://" not in name:
        Path(name).write_bytes(b"\x28\xb5\x2f\xfd")
    said: list[str] = []
    try:
        assert run_check([name], Wanted(), said.append) == 2
    except CommandError as error:
        said.append(str(error))
    assert "pip install 'tenuto[check]' to read it" in "\n".join(said)


class TestStores:
    fsspec = pytest.importorskip("fsspec", reason="fsspec comes with the extra `check`")

    @pytest.fixture
    def store(self) -> Any:
        store = self.fsspec.filesystem("memory")
        yield store
        store.rm("/", recursive=True)

    @pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.csv", "a.jsonl.gz"])
    def test_a_file_in_a_store_is_read(self, tmp_path: Path, store: Any, name: str) -> None:
        path = tmp_path / name
        text = "\n".join(LINES)
        if name == "a.parquet":
            parquet_of_lines(path, LINES)
        elif name == "a.csv":
            path.write_text(
                f"finish_reason,text\nstop,{DONE.replace(',', '')}\nlength,{OPEN.replace(',', '')}\n",
                "utf-8",
            )
        else:
            path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        store.pipe(f"/runs/{name}", path.read_bytes())
        for url in (f"memory://runs/{name}", "memory://runs"):
            (file,) = files_in([url])
            assert counts(file)[0] == {"done": 1, "text_cut": 1}

    def test_what_is_not_there_is_told(self, store: Any) -> None:
        with pytest.raises(CommandError, match="no such file, and no file under it"):
            run_check(["memory://nothing/a.parquet"], Wanted(), print)
        with pytest.raises(CommandError, match="its store cannot be reached"):
            run_check(["nowhere://a.parquet"], Wanted(), print)


def test_duckdb_reaches_no_network_and_writes_no_file(tmp_path: Path) -> None:
    table = tables.Parquet(parquet_of_lines(tmp_path / "a.parquet", LINES))
    told = {
        name: str(value).lower()
        for name, value in table.fetched("SELECT name, value FROM duckdb_settings()")
    }
    assert told["autoinstall_known_extensions"] == told["autoload_known_extensions"] == "false"
    assert told["temp_directory"] == ""
    assert told["threads"] == "1"
    assert duckdb.__version__
