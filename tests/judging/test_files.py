"""Rows of files: each once, whatever the ranges, and what cannot be read by its number."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from support.stored import DONE, cassette, chat

from tenuto.judging import files
from tenuto.judging.checking import Checked, Options, check
from tenuto.judging.files import Range, files_in, ranges_of, rows_of
from tenuto.judging.tally import as_plain

ROW = json.dumps(chat(DONE, "stop"))
CUT = json.dumps(chat())


def write(path: Path, text: str | bytes) -> str:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def outcomes(path: str) -> tuple[dict[str, int], list[tuple[str, int, str]]]:
    found = check([path], Options())
    return as_plain(found.tally)["outcomes"], found.unread


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"{ROW}\n{CUT}\n", {"done": 1, "text_cut": 1}),
        (f"{ROW}\n{CUT}", {"done": 1, "text_cut": 1}),
        (f"{ROW}\r\n{CUT}\r\n", {"done": 1, "text_cut": 1}),
        (f"\ufeff{ROW}\n{CUT}", {"done": 1, "text_cut": 1}),
        (f"{ROW}\n\n  \n{CUT}\n", {"done": 1, "text_cut": 1}),
        (f"[{ROW},\n{CUT}]", {"done": 1, "text_cut": 1}),
        (json.dumps(chat(), indent=2), {"text_cut": 1}),
        (json.dumps([chat(), chat()], indent=2), {"text_cut": 2}),
        (cassette("{}", CUT), {"text_cut": 1}),
        (gzip.compress(f"{ROW}\n{CUT}\n".encode()), {"done": 1, "text_cut": 1}),
        ("", {}),
    ],
    ids=range(11),
)
def test_a_file_of_any_form_is_read(
    tmp_path: Path, text: str | bytes, wanted: dict[str, int]
) -> None:
    found, unread = outcomes(write(tmp_path / "a.jsonl", text))
    assert (found, unread) == (wanted, [])


def test_a_line_that_is_no_json_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", f"{ROW}\n{ROW[:80]}\n{CUT}\nnot json\n{ROW}")
    found, unread = outcomes(path)
    assert found == {"done": 2, "text_cut": 1}
    assert [(file, line) for file, line, _ in unread] == [(path, 2), (path, 4)]
    assert unread[1][2] == "not json"


def test_a_line_that_is_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_LINE_BYTES", 2_000)
    path = write(tmp_path / "a.jsonl", f"{ROW}\n{json.dumps({'x': 'y' * 50_000})}\n{CUT}\n")
    found, unread = outcomes(path)
    assert found == {"done": 1, "text_cut": 1}
    assert [line for _, line, _ in unread] == [2]


@pytest.mark.parametrize("size", [1, 7, 100, 350, 700, 10_000])
def test_every_row_is_read_once_whatever_the_ranges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    lines = [json.dumps({"n": n, "pad": "x" * (n % 90)}) for n in range(60)]
    lines[17] = "{broken"
    path = write(tmp_path / "a.jsonl", "\n".join(lines) + "\n")
    whole = [line.data for line in rows_of(Range(path))]
    monkeypatch.setattr(files, "RANGE_BYTES", size)
    ranges = ranges_of(path)
    assert [line.data for part in ranges for line in rows_of(part)] == whole
    found = check([path], Options(places=True))
    assert [line for _, line, _ in found.unread] == [18]
    assert found.tally.rows == 59


def test_places_have_the_numbers_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "RANGE_BYTES", 900)
    path = write(tmp_path / "a.jsonl", f"{ROW}\n{CUT}\n" * 5)
    told: list[str] = []

    def on_range(found: Checked, number: int, of: int) -> None:
        told.extend(found.places)
        assert number < of

    check([path], Options(places=True), on_range=on_range)
    rows = [json.loads(line) for line in told]
    assert [row["line"] for row in rows] == list(range(1, 11))
    assert [row["outcome"] for row in rows] == ["done", "text_cut"] * 5
    assert all("text" not in row for row in rows)


def test_processes_count_what_one_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tenuto.judging import checking

    monkeypatch.setattr(checking, "_LEAST_BYTES", 0)
    paths = [write(tmp_path / f"{n}.jsonl", f"{ROW}\n{CUT}\nbroken\n" * 3) for n in range(3)]
    one, two = (check(paths, Options(), processes) for processes in (1, 2))
    assert as_plain(one.tally) == as_plain(two.tally)
    assert one.unread == two.unread
    assert len(one.unread) == 9


def test_requests_are_found_by_the_ids_of_the_rows(tmp_path: Path) -> None:
    row = {
        "custom_id": "r1",
        "error": None,
        "response": {"status_code": 200, "body": chat('{"b": 1}', "stop")},
    }
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"required": ["a"]}}}
    body = {"model": "m", "max_tokens": 20, "messages": [], "response_format": form}
    results = write(tmp_path / "a.jsonl", json.dumps(row))
    for number, asked in enumerate(
        (
            {"custom_id": "r1", "url": "/v1/chat/completions", "body": body},
            {"custom_id": "r1", "params": body},
        )
    ):
        requests = write(tmp_path / f"requests{number}.jsonl", json.dumps(asked))
        found = as_plain(check([results], Options(requests=(requests,))).tally)
        assert found["outcomes"] == {"document_invalid": 1}
        assert found["groups"][0]["limit"] == 20


def test_a_folder_gives_its_files_of_json(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a.jsonl", "in/b.json.gz", "c.txt", ".d.jsonl"):
        write(tmp_path / name, "")
    assert [Path(path).name for path in files_in([str(tmp_path)])] == ["a.jsonl", "b.json.gz"]
    with pytest.raises(OSError, match="nothing"):
        files_in([str(tmp_path / "nothing")])
