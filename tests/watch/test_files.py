"""The page follows the event files of other processes, whichever come and go."""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from support.telemetry import answer, chat

from tenuto.telemetry import EventFile
from tenuto.telemetry.event_files import LINE_MAX_BYTES, read_events
from tenuto.telemetry.following import lines
from tenuto.watch import Board, follow
from tenuto.watch import files as files_module

POLL_S = 0.002


def until(true: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.001)


def one_turn(path: Path) -> None:
    with EventFile(path) as hear:
        chat(answer("One ", stop="length"), answer("two."), on_event=hear)


@pytest.mark.behaviour("P6")
def test_a_file_is_read_and_then_followed(tmp_path: Path) -> None:
    path, board = tmp_path / "events.jsonl", Board()
    with follow(path, board, poll_s=POLL_S):  # it comes later
        for number in range(1, 3):
            one_turn(path)
            until(lambda: board.totals()["turns"] == number)  # noqa: B023 - called at once
    assert board.totals()["attempts"] == 4


def test_older_files_are_read_too_and_each_line_once(tmp_path: Path) -> None:
    path, board = tmp_path / "events.jsonl", Board()
    with EventFile(path, max_bytes=2_000, keep=20) as hear:
        for _ in range(5):
            chat(answer("One."), on_event=hear)
    assert len(list(tmp_path.iterdir())) > 2
    with follow(path, board, poll_s=POLL_S):
        until(lambda: board.totals()["turns"] == 5)
        with EventFile(path, max_bytes=2_000, keep=20) as hear:
            for number in range(6, 9):  # in step, so that no file goes before it is read
                chat(answer("One."), on_event=hear)
                until(lambda: board.totals()["turns"] == number)  # noqa: B023 - called at once
    assert board.totals()["attempts"] == 8


def test_a_file_that_is_rotated_while_the_older_ones_are_read_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    (tmp_path / "events.jsonl.1").write_text("one\n")
    path.write_text("two\n")
    found = lines(path, follow=True, older=True, poll_s=0)
    assert next(found) == "one"
    (tmp_path / "events.jsonl.1").rename(tmp_path / "events.jsonl.2")
    path.rename(tmp_path / "events.jsonl.1")
    path.write_text("three\n")
    assert [line for line in (next(found) for _ in range(4)) if line] == ["two", "three"]
    found.close()


def test_the_files_of_a_folder_come_and_go(tmp_path: Path) -> None:
    board = Board()
    one_turn(tmp_path / "a.jsonl")
    (tmp_path / "other.txt").write_text("no event\n")
    with follow(tmp_path, board, poll_s=POLL_S):
        until(lambda: board.totals()["turns"] == 1)
        one_turn(tmp_path / "b.jsonl")
        until(lambda: board.totals()["turns"] == 2)
        (tmp_path / "a.jsonl").unlink()
        one_turn(tmp_path / "b.jsonl")
        until(lambda: board.totals()["turns"] == 3)
    assert board.changes()["notes"] == {}


@pytest.mark.behaviour("P6")
def test_a_folder_may_come_later(tmp_path: Path) -> None:
    folder, board = tmp_path / "events", Board()
    (tmp_path / "made").mkdir()
    one_turn(tmp_path / "made" / "a.jsonl")
    with follow(folder, board, poll_s=POLL_S):
        (tmp_path / "made").rename(folder)
        until(lambda: board.totals()["turns"] == 1)
        one_turn(folder / "b.jsonl")
        until(lambda: board.totals()["turns"] == 2)


def test_what_cannot_be_read_is_noted_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_module, "MOST_FILES", 3)
    board = Board()
    (tmp_path / "a.jsonl").write_text("no event\n\nnone\n")
    os.mkfifo(tmp_path / "b.jsonl")
    one_turn(tmp_path / "c.jsonl")
    (tmp_path / "d.jsonl").write_text("")
    with follow(tmp_path, board, poll_s=POLL_S):
        until(lambda: board.totals()["turns"] == 1)
        until(lambda: len(board.changes()["notes"]) == 3)
        one_turn(tmp_path / "c.jsonl")  # a note is not told again at each look
        until(lambda: board.totals()["turns"] == 2)
    notes = board.changes()["notes"]
    assert notes["a.jsonl: a line is not an event"] == 2
    assert any("b.jsonl: it is a pipe" in note for note in notes)
    assert notes[f"only 3 files of {tmp_path} are followed"] == 1


@pytest.mark.parametrize("reads", ["lines", "read_events", "follow"])
def test_an_endless_line_takes_bounded_room_and_the_next_one_is_read(
    tmp_path: Path, reads: str
) -> None:
    path = tmp_path / "events.jsonl"
    one_turn(path)
    written = path.read_bytes()
    first, rest = written.split(b"\n", 1)
    with path.open("wb") as file:
        file.write(first + b"\n")
        for _ in range(40):
            file.write(b"x" * 1_000_000)
        file.write(first + b"\n" + rest)  # what ends the long line is no line of its own
    many = written.count(b"\n")
    tracemalloc.start()
    try:
        if reads == "lines":
            read = [line for line in lines(path, follow=False) if line is not None]
            assert len(read) == many + 1
            assert max(map(len, read)) == LINE_MAX_BYTES
        elif reads == "read_events":
            assert len(list(read_events(path))) == many
        else:
            board = Board()
            with follow(path, board, poll_s=0.01):
                until(lambda: board.totals()["turns"] == 1)
            assert "is not an event" in str(board.changes())
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
    finally:
        tracemalloc.stop()


def test_an_endless_line_that_grows_while_it_is_followed_takes_bounded_room(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.touch()
    reader = lines(path, follow=True, poll_s=0.0)
    with path.open("ab", buffering=0) as file:
        for _ in range(30):
            file.write(b"x" * 100_000)
            assert next(reader) is None
        file.write(b'\n{"next": 1}\n')
        assert len(next(reader) or "") == LINE_MAX_BYTES
        assert next(reader) == '{"next": 1}'
    reader.close()
