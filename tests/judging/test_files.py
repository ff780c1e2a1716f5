"""Rows of files: each once, whatever the ranges, and what cannot be read by its number."""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from pathlib import Path

import pytest
from support.stored import DONE, cassette, chat, inspect_output

from tenuto.judging import files
from tenuto.judging.adding import Checked
from tenuto.judging.checking import Options, check
from tenuto.judging.files import Range, files_in, ranges_of, rows_of
from tenuto.judging.report import report_of

ROW = json.dumps(chat(DONE, "stop"))
CUT = json.dumps(chat())


def write(path: Path, text: str | bytes) -> str:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def outcomes(path: str) -> tuple[dict[str, int], list[tuple[str, int, str]]]:
    found = check([path], Options())
    return report_of(found.tally)["outcomes"], found.unread


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
        (CUT.replace(", ", ",\n"), {"text_cut": 1}),
        (CUT.replace('"choices": [', '"choices":\n ['), {"text_cut": 1}),
        ("\ufeff" + CUT.replace('"choices": [', '"choices":\n ['), {"text_cut": 1}),
        (gzip.compress(CUT.replace(", ", ",\n").encode()), {"text_cut": 1}),
        (f'{{"rows":\n[{ROW},\n{CUT}]}}', {"done": 1, "text_cut": 1}),
        (f'{{"a": 1,\n"rows": [\n{ROW},\n{CUT}\n]}}', {"done": 1, "text_cut": 1}),
    ],
    ids=range(17),
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
    assert unread[1][2] == "it is no JSON"


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_lines_of_which_the_first_is_damaged_are_no_document(tmp_path: Path, name: str) -> None:
    found, unread = outcomes(write(tmp_path / name, f"{ROW[:80]}\n{ROW}\n{CUT}\n"))
    assert found == {"done": 1, "text_cut": 1}
    assert [line for _, line, _ in unread] == [1]


def test_a_document_is_one_whatever_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "RANGE_BYTES", 50)
    found, unread = outcomes(write(tmp_path / "a.json", CUT.replace(", ", ",\n")))
    assert (found, unread) == ({"text_cut": 1}, [])


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


@pytest.mark.parametrize("size", [1, 100, 350, 10_000])
def test_blank_lines_count_as_lines_whatever_the_ranges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(files, "RANGE_BYTES", size)
    path = write(tmp_path / "a.jsonl", f"{ROW}{chr(10) * 400}\n \n{{broken\n\n\n{ROW}\n\n")
    found = check([path], Options())
    assert [line for _, line, _ in found.unread] == [403]
    assert found.tally.rows == 2


def test_places_have_the_numbers_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "RANGE_BYTES", 900)
    path = write(tmp_path / "a.jsonl", f"{ROW}\n{CUT}\n" * 5)
    told: list[str] = []

    done: list[tuple[int, int]] = []

    def on_piece(found: Checked, read: int, of: int) -> None:
        told.extend(found.places)
        done.append((read, of))

    check([path], Options(places=True), on_piece=on_piece)
    assert len(done) > 1
    assert done == sorted(done)
    assert done[-1] == (Path(path).stat().st_size,) * 2
    rows = [json.loads(line) for line in told]
    assert [row["line"] for row in rows] == list(range(1, 11))
    assert [row["outcome"] for row in rows] == ["done", "text_cut"] * 5
    assert all("text" not in row for row in rows)


def test_processes_count_what_one_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tenuto.judging import checking

    monkeypatch.setattr(checking, "_LEAST_BYTES", 0)
    paths = [write(tmp_path / f"{n}.jsonl", f"{ROW}\n{CUT}\nbroken\n" * 3) for n in range(3)]
    one, two = (check(paths, Options(), processes) for processes in (1, 2))
    assert report_of(one.tally) == report_of(two.tally)
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
        found = report_of(check([results], Options(requests=(requests,))).tally)
        assert found["outcomes"] == {"document_invalid": 1}
        assert found["groups"][0]["limit"] == 20


def test_a_folder_gives_its_files_of_json(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a.jsonl", "in/b.json.gz", "c.txt", ".d.jsonl"):
        write(tmp_path / name, "")
    assert [Path(path).name for path in files_in([str(tmp_path)])] == ["a.jsonl", "b.json.gz"]
    with pytest.raises(OSError, match="nothing"):
        files_in([str(tmp_path / "nothing")])


def zipped(members: dict[str, bytes], method: int) -> bytes:
    """A ZIP by the book, since not every Python writes members that are compressed with zstd."""
    import zstandard

    out, directory = b"", b""
    for name, data in members.items():
        packed = zstandard.ZstdCompressor().compress(data) if method == 93 else data
        told = struct.pack(
            "<HHHHHIIIHH",
            63,
            0,
            method,
            0,
            0,
            zlib.crc32(data),
            len(packed),
            len(data),
            len(name),
            0,
        )
        directory += b"PK\x01\x02\x3f\x00" + told + bytes(2) + bytes(2) + bytes(2) + bytes(4)
        directory += struct.pack("<I", len(out)) + name.encode()
        out += b"PK\x03\x04" + told + name.encode() + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(out), 0)
    return out + directory + b"PK\x05\x06" + end


def sample(number: int, stop: str) -> dict[str, object]:
    return {"id": number, "epoch": 1, "input": "x", "messages": [], "output": inspect_output(stop)}


@pytest.mark.parametrize("method", [0, 93])
def test_the_samples_of_an_inspect_log_are_rows(tmp_path: Path, method: int) -> None:
    members = {
        "header.json": b"{}",
        "samples/1_epoch_1.json": json.dumps(sample(1, "stop")).encode(),
        "samples/2_epoch_1.json": json.dumps(sample(2, "max_tokens")).encode(),
    }
    path = write(tmp_path / "log.eval", zipped(members, method))
    assert outcomes(path) == ({"done": 1, "text_cut": 1}, [])
    assert files_in([str(tmp_path)]) == [path]


def test_a_damaged_log_says_so(tmp_path: Path) -> None:
    whole = zipped({"samples/1.json": json.dumps(sample(1, "stop")).encode()}, 93)
    at = whole.index(b"\x28\xb5\x2f\xfd")  # zstd's mark
    path = write(tmp_path / "log.eval", whole[:at] + b"xxxx" + whole[at + 4 :])
    ((file, line, why),) = outcomes(path)[1]
    assert (file, line) == (path, 1)
    assert "damaged" in why


def test_the_rows_of_a_document_are_counted_one_by_one(tmp_path: Path) -> None:
    log = {
        "version": 2,
        "status": "success",
        "eval": {},
        "samples": [sample(1, "stop"), sample(2, "max_tokens")],
    }
    assert outcomes(write(tmp_path / "a.json", json.dumps(log)))[0] == {"done": 1, "text_cut": 1}
    batch = {
        "version": 1,
        "stage": "done",
        "batch": {},
        "results": [{"body": chat()}, {"body": chat(DONE, "stop")}],
    }
    assert outcomes(write(tmp_path / "b.json", json.dumps(batch)))[0] == {"done": 1, "text_cut": 1}


@pytest.mark.parametrize("name", ["results", "data", "responses", "samples", "items"])
def test_a_document_of_ones_own_with_several_answers_has_a_row_for_each(
    tmp_path: Path, name: str
) -> None:
    bodies = [chat("The moon pulls the se", stop) for stop in ("length", "stop", "stop")]
    asked = {"model": "m", "created": 5}
    path = tmp_path / "a.json"
    for document in (
        {**asked, name: bodies},
        {name: {"items": bodies}},
        {name: {str(number): body for number, body in enumerate(bodies)}},
        {str(number): body for number, body in enumerate(bodies)},
    ):
        path.write_text(json.dumps(document))
        assert [row.data for row in rows_of(Range(str(path)))] == bodies
    for one in (bodies[0], {"mine": bodies[0]}, {"a": bodies[0], "b": 5}, {name: [{"q": 1}] * 3}):
        path.write_text(json.dumps(one))
        assert [row.data for row in rows_of(Range(str(path)))] == [one]
