"""Files of another form than their names say: read where that is safe, else named with what they are."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest
from support.stored import DONE, chat
from support.tables import duckdb

from tenuto.cli import main
from tenuto.judging import files
from tenuto.judging.adding import Checked
from tenuto.judging.checking import Options, check
from tenuto.judging.report import report_of

WHOLE, CUT = chat(DONE, "stop"), chat()
LINES = f"{json.dumps(WHOLE)}\n{json.dumps(CUT)}\n"
BOTH = {"done": 1, "text_cut": 1}


def checked(path: Path, data: bytes | str) -> tuple[dict[str, int], Checked]:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    found = check([str(path)], Options())
    return report_of(found.tally)["outcomes"], found


def pretty(*rows: object, between: str = "\n") -> str:
    return between.join(json.dumps(row, indent=2) for row in rows)


CSV = f"finish_reason;completion\nstop;{DONE}\nlength;The moon pulls the se\n"


class TestRead:
    @pytest.mark.parametrize(
        "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"]
    )
    @pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
    @pytest.mark.parametrize(
        "text", [LINES, pretty([WHOLE, CUT]), CSV], ids=["lines", "array", "csv"]
    )
    def test_another_encoding(
        self, text: str, pack: type[bytes], encoding: str, tmp_path: Path
    ) -> None:
        name = "a.csv" if text is CSV else "a.jsonl"
        found, whole = checked(tmp_path / name, pack(text.encode(encoding)))
        assert (found, whole.unread) == (BOTH, [])

    @pytest.mark.parametrize("pack", [gzip.compress, lambda data: data.decode().encode("utf-16")])
    def test_what_cannot_be_shared_in_ranges_is_read_whole(
        self, pack: type[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "RANGE_BYTES", 100)
        found, whole = checked(tmp_path / "a.jsonl", pack(LINES.encode() * 9))
        assert (found, whole.unread) == ({"done": 9, "text_cut": 9}, [])

    @pytest.mark.parametrize("between", ["\n", "\n\n", "\r\n", ",\n"])
    @pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
    def test_documents_one_behind_another(self, name: str, between: str, tmp_path: Path) -> None:
        found, whole = checked(tmp_path / name, pretty(WHOLE, CUT, CUT, between=between) + "\n")
        assert (found, whole.unread) == ({"done": 1, "text_cut": 2}, [])

    def test_a_damaged_one_among_them_is_named_where_it_begins(self, tmp_path: Path) -> None:
        first, second = pretty(WHOLE), pretty(CUT)
        text = f"{first}\n{second[:90]}\n{second}\n{second.replace(':', ' ', 1)}\n"
        found, whole = checked(tmp_path / "a.jsonl", text)
        assert found == BOTH
        begin, last = first.count("\n") + 2, text.count("\n") - second.count("\n")
        why = "its JSON breaks off or is damaged"
        assert whole.unread == [(str(tmp_path / "a.jsonl"), line, why) for line in (begin, last)]

    @pytest.mark.parametrize("indent", [None, 2])
    def test_an_array_that_breaks_off_keeps_the_rows_before(
        self, indent: int | None, tmp_path: Path
    ) -> None:
        text = json.dumps([WHOLE, CUT, WHOLE], indent=indent)
        found, whole = checked(tmp_path / "a.json", text[:-200])
        assert found == BOTH
        why = "the array breaks off or is damaged behind item 2"
        assert whole.unread == [(str(tmp_path / "a.json"), 3, why)]

    @pytest.mark.parametrize("sep", ["sep=;\n", "sep=;\r\n", '"sep=;"\n', "SEP=;\n"])
    def test_the_line_in_which_a_spreadsheet_names_its_separator(
        self, sep: str, tmp_path: Path
    ) -> None:
        found, whole = checked(tmp_path / "a.csv", sep + CSV + "stop\n")
        assert found == BOTH
        assert [line for _, line, _ in whole.unread] == [5]

    @pytest.mark.parametrize("mark", ["^", "~", "\x01", "\x1f", "¦", "\t", "|", ";", ","])
    def test_a_separator_of_another_kind(self, mark: str, tmp_path: Path) -> None:
        rows = [
            ["finish_reason", "completion"],
            ["stop", "The moon is far."],
            ["length", "The moon pulls the se"],
        ]
        found, _ = checked(tmp_path / "a.csv", "".join(mark.join(row) + "\n" for row in rows))
        assert found == BOTH

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT encode(line) AS line FROM t",
            "SELECT 1 AS n, encode(line) AS response FROM t",
            "SELECT 1 AS n, {'response': {'body': encode(line)}} AS kept FROM t",
        ],
        ids=range(3),
    )  # fmt: skip
    def test_json_in_a_binary_column(self, query: str, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        with duckdb.connect() as connection:
            connection.execute(
                "CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS line",
                [LINES.splitlines()],
            )
            connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
        found = check([str(path)], Options())
        assert report_of(found.tally)["outcomes"] == BOTH

    def test_texts_in_binary_columns(self, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        with duckdb.connect() as connection:
            connection.execute(
                "COPY (SELECT encode('length') AS finish_reason, encode('The moon pulls the se') AS completion,"
                f" 'x\\xFF'::BLOB AS image) TO '{path}' (FORMAT parquet)"
            )
        found = check([str(path)], Options())
        assert report_of(found.tally)["outcomes"] == {"text_cut": 1}

    def test_lines_that_end_as_on_old_computers(self, tmp_path: Path) -> None:
        found, whole = checked(tmp_path / "a.jsonl", LINES.replace("\n", "\r"))
        assert (found, whole.unread) == (BOTH, [])

    @pytest.mark.parametrize("size", [1, 100_000])
    def test_a_sequence_of_json_texts(
        self, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "RANGE_BYTES", size)
        text = "".join(f"\x1e{line}\n" for line in LINES.splitlines())
        found, whole = checked(tmp_path / "a.jsonl", text)
        assert (found, whole.unread) == (BOTH, [])


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("a.jsonl", LINES)
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as file:
        file.addfile(tarfile.TarInfo("a.jsonl"))
    return out.getvalue()


PAGE = "<!DOCTYPE html>\n<html>\n<body>\n" + "<p>502 Bad Gateway</p>\n" * 40 + "</html>\n"


class TestNamed:
    @pytest.mark.parametrize(
        ("name", "data", "why"),
        [
            ("a.jsonl", PAGE, "it is HTML or XML, as an error page is"),
            ("a.json", f"\ufeff\n  {PAGE.lower()}", "it is HTML or XML, as an error page is"),
            ("a.csv", PAGE, "it is HTML or XML, as an error page is"),
            ("a.jsonl.gz", bytes(range(256)), "it is no text, and ends in .gz, but is not gzip"),
            ("a.jsonl", bytes(range(256)), "it is no text"),
            ("a.jsonl", zipped(), "it is a ZIP archive or a spreadsheet"),
            ("a.tar.gz", tarred(), "it is a tar archive"),
            ("a.jsonl", bz2.compress(LINES.encode()), "it is compressed by bzip2"),
            ("a.jsonl", lzma.compress(LINES.encode()), "it is compressed by xz"),
            ("a.jsonl", b"SQLite format 3\0" + bytes(99), "it is a database of SQLite"),
            ("a.jsonl", b"ARROW1\0\0" + bytes(99), "it is a file of Arrow"),
            ("a.csv", LINES, "its lines are JSON; end its name in .jsonl"),
            ("a.csv", f"17,stop,{DONE.replace(',', '')}\n", "its first line must have the names of the columns"),
        ],
        ids=range(13),
    )  # fmt: skip
    def test_a_file_of_another_form_is_named_once(
        self, name: str, data: bytes | str, why: str, tmp_path: Path
    ) -> None:
        found, whole = checked(tmp_path / name, data)
        assert found == {}
        ((path, told),) = whole.refused
        assert path == str(tmp_path / name)
        assert why in told
        assert len(whole.unread) == 1

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            (json.dumps(CUT)[:90], "its JSON breaks off or is damaged"),
            ("{'id': 1, 'text': None}", "it is a value of Python; write it by json.dumps"),
            ("<html>", "it is HTML or XML"),
            ("Good morning.", "it is no JSON"),
            ("a\0b", "it is no text"),
            ('{"é": 1}'.encode("latin-1"), "it is not UTF-8"),
        ],
    )
    def test_a_line_that_cannot_be_read_has_a_reason(
        self, line: bytes | str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "a.jsonl"
        data = line if isinstance(line, bytes) else line.encode()
        found, whole = checked(path, LINES.encode() + data + b"\n" + LINES.encode())
        assert found == {"done": 2, "text_cut": 2}
        assert whole.unread == [(str(path), 3, why)]
        out = tmp_path / "report"
        assert main(["check", str(path), "--out", str(out)]) == 2
        assert f"  {path}:3: {why}\n" in capsys.readouterr().out
        report = json.loads((out / "report.json").read_text())
        assert report["unreadable"] == [{"file": str(path), "line": 3, "why": why}]
        assert why in (out / "report.html").read_text()

    def test_a_cell_whose_quotation_mark_is_never_closed_swallows_no_rows_in_silence(
        self, tmp_path: Path
    ) -> None:
        text = f'finish_reason,completion\nstop,Yes.\nstop,"The moon\nlength,{"x" * 40}\n'
        found, whole = checked(tmp_path / "a.csv", text)
        assert found == {"done": 1}
        why = "a cell has no end: its quotation mark is never closed"
        assert whole.unread == [(str(tmp_path / "a.csv"), 3, why)]

    def test_lines_with_the_same_reason_share_one_line(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text(LINES + "nothing\n" * 5)
        assert main(["check", str(path)]) == 2
        assert f"  {path}:3, {path}:4, {path}:5: it is no JSON\n" in capsys.readouterr().out

    def test_what_could_not_be_read_stands_in_the_page(self, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        for name, text in (("a.jsonl", LINES), ("b.jsonl", ""), ("c.json", PAGE)):
            (tmp_path / "in" / name).write_text(text)
        gone, out = str(tmp_path / "gone.jsonl"), tmp_path / "report"
        assert main(["check", str(tmp_path / "in"), gone, "--out", str(out)]) == 2
        page = (out / "report.html").read_text()
        for told in (
            "gone.jsonl",
            "No such file",
            "b.jsonl",
            "it is empty",
            "c.json",
            "it is HTML",
        ):
            assert told in page


def test_a_table_with_names_that_are_sentences_is_read(tmp_path: Path) -> None:
    text = f"Which model?,completion,finish_reason\nm,{DONE.replace(',', '')},stop\n"
    assert checked(tmp_path / "a.csv", text)[0] == {"done": 1}
