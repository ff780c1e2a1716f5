"""Events are written to files and read back the same, in bounded space and for one user alone."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from support.telemetry import answer, chat

import tenuto
from tenuto.core.events.turn import HistoryRepaired
from tenuto.telemetry.event_files import EventFile, files_of_events, read_events


def repaired(number: int = 0) -> HistoryRepaired:
    return HistoryRepaired(
        time=float(number),
        turn="t",
        provider="openai",
        model="gpt",
        attempt=0,
        repairs=("rows_joined",),
    )


@pytest.mark.behaviour("P6")
def test_the_events_of_a_turn_are_read_back_the_same(tmp_path: Path) -> None:
    path, heard = tmp_path / "events.jsonl", list[tenuto.Event]()
    with EventFile(path) as write:

        def hear(event: tenuto.Event) -> None:
            heard.append(event)
            write(event)

        chat(answer("One ", stop="length"), answer("two."), on_event=hear)
        assert [*read_events(path)] == heard, "a reader sees each event at once"
    assert len(heard) > 5


@pytest.mark.behaviour("N10")
@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_only_the_user_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.touch(0o644)
    with EventFile(path, max_bytes=1) as write:
        write(repaired())
        write(repaired())
    assert [file.stat().st_mode & 0o777 for file in files_of_events(path)] == [0o600, 0o600]


def test_the_files_are_bounded_in_size_and_number(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventFile(path, max_bytes=1_000, keep=2) as write:
        for number in range(50):
            write(repaired(number))
    files = files_of_events(path)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert [file.name for file in files] == ["events.jsonl.2", "events.jsonl.1", "events.jsonl"]
    assert all(file.stat().st_size <= 1_000 for file in files)
    times = [event.time for file in files for event in read_events(file)]
    assert times == [*map(float, range(50 - len(times), 50))]


def test_no_older_files_are_kept_where_none_are_wanted(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventFile(path, max_bytes=1, keep=0) as write:
        write(repaired(1))
        write(repaired(2))
    assert [*tmp_path.iterdir()] == [path]
    assert [event.time for event in read_events(path)] == [2.0]


def test_a_torn_last_line_is_skipped_and_the_next_process_begins_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventFile(path) as write:
        write(repaired(1))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:-20])
    assert [event.time for event in read_events(path)] == [1.0]
    with EventFile(path) as write:
        write(repaired(2))
    assert [event.time for event in read_events(path)] == [1.0, 2.0]


def test_lines_that_are_no_events_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'[1]\n{"name": "fault"}\n\xff\n\n')
    assert [*read_events(path)] == []


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventFile(path, max_bytes=5_000, keep=1_000) as write:

        def work() -> None:
            for _ in range(50):
                write(repaired())

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(1 for file in files_of_events(path) for _ in read_events(file)) == 200


def test_a_closed_file_takes_nothing_more(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write = EventFile(path)
    write.close()
    write.close()
    write(repaired())
    assert [*read_events(path)] == []


@pytest.mark.skipif(os.name != "posix", reason="an open file can be removed on POSIX alone")
def test_a_file_that_somebody_removed_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventFile(path) as write:
        write(repaired(1))
        path.unlink()
        write(repaired(2))
        assert [event.time for event in read_events(path)] == [2.0]


@pytest.mark.parametrize("wrong", [{"max_bytes": 0}, {"keep": -1}])
def test_bounds_that_make_no_sense_are_refused(tmp_path: Path, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1 byte"):
        EventFile(tmp_path / "events.jsonl", **wrong)
