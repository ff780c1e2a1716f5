"""The setting `events` has any process write its events, each to a file of its own, at no risk to a
turn."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import members
import pytest
from support.telemetry import answer, chat

import tenuto
from tenuto.core.events.turn import TurnEnded, TurnStarted
from tenuto.telemetry import event_folder, read_events
from tenuto.telemetry.event_folder import MOST_FILES, RETRY_S, EventFolder

ROOT = Path(__file__).resolve().parents[2]
PATHS = os.pathsep.join([*members.SOURCES, str(ROOT / "tests")])
HEALTHY = "from support.telemetry import answer, chat\nassert chat(answer('It.')) == 'It.'\n"

with_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")


@pytest.fixture(autouse=True)
def no_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_folder, "_folders", {})


def ran(code: str, folder: Path) -> str:
    """What a program wrote to stderr whose user named a folder for events."""
    environment = {**os.environ, "PYTHONPATH": PATHS, "TENUTO_EVENTS": str(folder)}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=True
    ).stderr


def turns_in(folder: Path) -> list[list[str]]:
    """The turns of each file, which all of them began and ended."""
    found = []
    for file in sorted(folder.glob("*.jsonl")):
        events = [*read_events(file)]
        assert len(events) == len(file.read_bytes().splitlines())
        begun = [event.turn for event in events if isinstance(event, TurnStarted)]
        assert begun == [event.turn for event in events if isinstance(event, TurnEnded)]
        found.append(begun)
    return found


def policy_for(folder: Path | str) -> tenuto.Policy:
    return tenuto.Policy(backoff_s=0.0, events=str(folder))


def started(turn: str = "t") -> TurnStarted:
    return TurnStarted(
        time=0.0, turn=turn, provider="p", model="m", attempt=0, wire="w", stream=False, host="h"
    )


# --- what is written ----------------------------------------------------------------------------


@pytest.mark.behaviour("P6")
def test_a_program_writes_its_turns_by_a_variable_alone(tmp_path):
    folder = tmp_path / "made" / "events"
    assert ran(HEALTHY, folder) == ""
    assert list(map(len, turns_in(folder))) == [1]


@pytest.mark.behaviour("N10")
@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_only_the_user_may_read_them(tmp_path):
    folder = tmp_path / "events"
    chat(answer("It."), policy=policy_for(folder))
    (file,) = folder.iterdir()
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)


def test_policies_of_one_folder_share_a_file_and_other_listeners_hear_as_before(tmp_path):
    heard: list[tenuto.Event] = []
    for _ in range(3):
        chat(answer("It."), policy=policy_for(tmp_path), on_event=heard.append)
    (file,) = tmp_path.iterdir()
    assert [*read_events(file)] == heard


def test_the_variable_outweighs_the_code_and_can_switch_it_off(tmp_path, monkeypatch):
    monkeypatch.setenv("TENUTO_EVENTS", "off")
    chat(answer("It."), policy=policy_for(tmp_path))
    assert [*tmp_path.iterdir()] == []


def test_an_empty_name_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chat(answer("It."), policy=policy_for(""))
    assert [*tmp_path.iterdir()] == []


@with_fork
@pytest.mark.behaviour("P6")
def test_a_process_that_is_forked_begins_a_file_of_its_own(tmp_path):
    code = f"""
import os
{HEALTHY}
child = os.fork()
assert chat(answer("It.")) == "It."
if child:
    assert os.waitpid(child, 0)[1] == 0
else:
    os._exit(0)
"""
    ran(code, tmp_path)
    turns = turns_in(tmp_path)
    assert sorted(map(len, turns)) == [1, 2]
    assert len({turn for file in turns for turn in file}) == 3


@with_fork
def test_a_fork_within_a_write_stops_no_child(tmp_path):
    code = """
import os, signal, sys, threading
from pathlib import Path
from tenuto.core.events.turn import HistoryRepaired
from tenuto.telemetry.event_folder import events_in
hear = events_in(os.environ["TENUTO_EVENTS"])
event = HistoryRepaired(time=0.0, turn="t", provider="p", model="m", attempt=0, repairs=())
hear(event)
over = threading.Event()
def write():
    while not over.is_set():
        hear(event)
threads = [threading.Thread(target=write) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(20):
    child = os.fork()
    if not child:
        signal.alarm(10)  # ends a child that waits for ever
        hear(event)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        break
over.set()
sys.exit(status)
"""
    ran(code, tmp_path)
    files = [[*read_events(file)] for file in tmp_path.glob("*.jsonl")]
    assert len(files) == 21
    assert sorted(map(len, files))[:20] == [1] * 20


@pytest.mark.behaviour("N10")
def test_the_oldest_files_go_when_a_process_begins_and_nothing_else_does(tmp_path):
    others = ["mine.jsonl", "20260101T000000Z-1-0000000g.jsonl"]
    names = [f"20260101T000000Z-{number}-00000000.jsonl" for number in range(MOST_FILES + 5)]
    for age, name in enumerate([*others, *names]):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (age, age))
    hear = EventFolder(str(tmp_path))
    hear(started())
    hear(started())
    left = {file.name for file in tmp_path.iterdir()}
    (own,) = left - {*names, *others}
    assert left == {*others, *names[-MOST_FILES + 1 :], own}
    assert len([*read_events(tmp_path / own)]) == 2


@pytest.mark.behaviour("N10")
def test_a_folder_or_a_link_named_like_a_file_of_events_does_not_stop_the_removal(tmp_path):
    names = [f"20260101T000000Z-{number}-00000000.jsonl" for number in range(MOST_FILES + 5)]
    odd, link = (f"20250101T000000Z-{number}-00000000.jsonl" for number in (1, 2))
    (tmp_path / odd).mkdir()
    (tmp_path / link).symlink_to(tmp_path / "nowhere")
    for age, name in enumerate([odd, *names]):
        if name != odd:
            (tmp_path / name).touch()
        os.utime(tmp_path / name, (age, age))
    EventFolder(str(tmp_path))(started())
    left = {file.name for file in tmp_path.iterdir()}
    assert {odd, link} < left
    assert len(left - {odd, link}) == MOST_FILES


# --- what fails costs nothing -------------------------------------------------------------------


@pytest.mark.behaviour("P6")
@pytest.mark.parametrize("folder", ["a\0b", "/dev/null/x"])
def test_a_folder_that_cannot_be_is_warned_of_once_and_costs_no_answer(folder, caplog):
    for _ in range(3):
        assert chat(answer("It."), policy=policy_for(folder)) == "It."
    (line,) = [record for record in caplog.records if record.name == "tenuto"]
    assert line.levelno == logging.WARNING
    assert line.getMessage().startswith("cannot write events to ")
    assert line.getMessage().isprintable()


def test_a_folder_that_can_be_written_again_is_written_again(tmp_path, caplog):
    clock, folder = [0.0], tmp_path / "events"
    folder.touch()  # a file stands in its place
    hear = EventFolder(str(folder), now=lambda: clock[0])
    hear(started("1"))
    folder.unlink()
    hear(started("2"))
    assert not folder.exists(), "it is not tried with each event"
    clock[0] = RETRY_S
    hear(started("3"))
    (file,) = folder.iterdir()
    assert [event.turn for event in read_events(file)] == ["3"]
    assert len(caplog.records) == 1


@pytest.mark.timeout(20)
def test_an_event_within_an_event_does_not_wait_for_itself(tmp_path):
    """As of an abandoned turn that the collector ends at any place."""
    (tmp_path / "file").touch()
    inner = iter([started("inner")])

    def now() -> float:
        for event in inner:
            hear(event)
        return 0.0

    hear = EventFolder(str(tmp_path / "file"), now=now)
    hear(started())
    assert next(inner, None) is None


@pytest.mark.skipif(os.name != "posix", reason="limits of files are those of POSIX")
def test_a_disk_that_is_full_in_mid_line_is_warned_of_once_and_costs_no_answer(tmp_path):
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
{HEALTHY * 3}
"""
    (line,) = ran(code, tmp_path).splitlines()
    assert line.startswith("cannot write events to ")
    assert "too large" in line
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size == 700
    assert [event.name for event in read_events(file)][:1] == ["turn_started"]


def test_a_capture_does_not_tell_where_the_events_went(tmp_path):
    policy = tenuto.Policy(events=str(tmp_path / "events"), capture=str(tmp_path / "turns"))
    chat(answer("It."), policy=policy)
    (file,) = (tmp_path / "turns").iterdir()
    assert str(tmp_path) not in file.read_text("utf-8")
