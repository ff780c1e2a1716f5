"""`tenuto tail`: the turns of a program, as they end, from the file of its events."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tenuto
from tenuto.cli import main
from tenuto.command_kit.printing import json_line
from tenuto.core.events.event import Event
from tenuto.telemetry.following import lines, lines_of
from tenuto_sim import Simulator

MESSAGES = [{"role": "user", "content": "SECRET PROMPT"}]


def turns(path: Path, *models: str) -> list[Event]:
    """The events of one turn for each of the simulator's models, appended to a file."""
    heard: list[Event] = []
    policy = tenuto.Policy(backoff_s=0)
    with (
        Simulator() as sim,
        tenuto.http_client(policy=policy, on_event=heard.append) as client,
    ):
        for model in models:
            asked = {"model": model, "messages": MESSAGES, "max_tokens": 300}
            client.post(f"{sim.base_url}/chat/completions", json=asked)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(event.as_dict()) + "\n" for event in heard)
    return heard


@pytest.mark.behaviour("P6")
def test_each_turn_is_a_line_with_its_recoveries_above(capsys, tmp_path):
    path = tmp_path / "events.jsonl"
    turns(path, "sim:normal", "sim:length_mid_word")
    assert main(["tail", "--no-follow", str(path)]) == 0
    first, recovery, last = capsys.readouterr().out.splitlines()
    assert "complete: completed, stop end_turn, 1 attempt" in first
    assert "continuation: recovered (completed), requests: 1" in recovery
    assert "complete: completed, stop end_turn, 2 attempts" in last
    assert "SECRET" not in first + recovery + last
    for line in (first, recovery, last):
        assert " 127.0.0.1:" in line, "no row knows the host, so its name stands for the provider"
        assert "unknown" not in line


@pytest.mark.behaviour("P6")
@pytest.mark.parametrize(
    ("counted", "words"),
    [
        ([(5, 7), (6, 8)], "tokens 11 in, 15 out"),
        ([(5, 7), None], "tokens 5 in, 7 out as 1 of 2 attempts tell"),
        ([(None, 7), (None, 8)], "tokens unknown in, 15 out"),
        ([(5, 7), (6, None)], "tokens 11 in, 7 out as 1 of 2 attempts tell"),
        ([(None, 7), (6, 8)], "tokens 6 in as 1 of 2 attempts tell, 15 out"),
        ([(0, 0)], "tokens 0 in, 0 out"),
        ([(None, None)], "tokens unknown"),
        ([], "tokens unknown"),
    ],
)
def test_a_number_that_the_provider_did_not_count_is_no_0(capsys, tmp_path, counted, words):
    path = tmp_path / "events.jsonl"
    end = turns(path, "sim:normal")[-1].as_dict()
    end["usage"] = [pair and dict(zip(NUMBERS, pair, strict=True)) for pair in counted]
    path.write_text(json.dumps(end) + "\n", "utf-8")
    assert main(["tail", "--no-follow", str(path)]) == 0
    assert capsys.readouterr().out.endswith(f" s, {words}\n")


NUMBERS = ("input_tokens", "output_tokens")


def test_only_the_last_turns_of_before_are_shown(capsys, tmp_path):
    path = tmp_path / "events.jsonl"
    turns(path, *["sim:normal"] * 5)
    for last, shown in ((0, 0), (2, 2), (9, 5)):
        assert main(["tail", "--no-follow", "--last", str(last), str(path)]) == 0
        assert len(capsys.readouterr().out.splitlines()) == shown


@pytest.mark.behaviour("P6")
def test_json_gives_the_events_back_as_they_are(capsys, tmp_path):
    path = tmp_path / "events.jsonl"
    heard = turns(path, "sim:length_mid_word")
    assert main(["tail", "--json", "--all", "--no-follow", str(path)]) == 0
    read = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert read == [json.loads(json.dumps(event.as_dict())) for event in heard]


def test_what_is_no_event_is_counted_and_the_rest_is_shown(capsys, tmp_path):
    path = tmp_path / "events.jsonl"
    turns(path, "sim:normal")
    with path.open("a", encoding="utf-8") as file:
        file.write('no json\n[1]\n{"name": "turn_ended"}\n')
    assert main(["tail", "--no-follow", str(path)]) == 2
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1
    assert "3 lines are not an event" in said.err


@pytest.mark.behaviour("P6")
def test_a_turn_whose_program_was_killed_is_shown(capsys, tmp_path):
    path = tmp_path / "events.jsonl"
    turns(path, "sim:normal", "sim:normal", "sim:length_mid_word")
    told = path.read_text().splitlines()
    by_turn = list(dict.fromkeys(json.loads(line)["turn"] for line in told))
    killed = [line for line in told if json.loads(line)["turn"] == by_turn[2]][:2]
    path.write_text("\n".join([line for line in told if json.loads(line)["turn"] != by_turn[2]]))
    with path.open("a") as file:
        file.write("\n" + "\n".join(killed) + "\n")
    assert main(["tail", "--no-follow", str(path)]) == 0
    first, second, begun = capsys.readouterr().out.splitlines()
    assert "complete: completed" in first
    assert "complete: completed" in second
    assert begun.split()[1] == by_turn[2][-12:]
    assert begun.endswith("  begun, but not ended so far")
    assert main(["tail", "--no-follow", "--all", "--last", "1", str(path)]) == 0
    started, attempt = capsys.readouterr().out.splitlines()
    assert "turn_started: attempt 0, wire openai-chat" in started
    assert "attempt_started: attempt 1" in attempt
    assert main(["tail", "--no-follow", "--all", "--json", "--last", "1", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [json_line(json.loads(one)) for one in killed]
    assert main(["tail", "--no-follow", "--json", "--last", "1", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "turn_started"
    assert main(["tail", "--no-follow", "--all", "--last", "0", str(path)]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("content", ['{"choices": []}', '{"choices": []}\n'], ids=["half", "line"])
def test_a_file_without_events_is_named_while_it_is_followed(tmp_path, content):
    (tmp_path / "a.json").write_text(content)
    command = "import sys; from tenuto.cli import main; sys.exit(main(sys.argv[1:]))"
    with subprocess.Popen(
        [sys.executable, "-c", command, "tail", "a.json"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as following:
        try:
            assert following.stderr is not None
            said = following.stderr.readline()
        finally:
            following.send_signal(signal.SIGINT)
            rest = following.communicate(timeout=20)[1]
    assert said.startswith("tenuto: ")
    assert "a.json: " in said
    assert said.endswith(" line is not an event\n")
    assert rest == ""


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--no-follow", "absent.jsonl"], "absent.jsonl: No such file"),
        (["--no-follow", "."], ".: the folder holds no file of events"),
        (["-"], "cannot read standard input"),
        (["--no-follow", "/dev/null"], "a pipe or a device"),
        (["--last", "-1", "absent.jsonl"], "--last is -1"),
        (["x" * 300], "File name too long"),
    ],
)
def test_what_cannot_be_followed_is_named(capsys, arguments, why):
    assert main(["tail", *arguments]) == 2
    assert why in capsys.readouterr().err


def test_a_line_is_shown_once_it_is_whole_also_after_a_rotation(tmp_path):
    """In lockstep: line n + 1 is written only after n was read."""
    path = tmp_path / "events.jsonl"
    found = lines(path, follow=True, poll_s=0.001)

    def next_line() -> str:
        return next(line for line in found if line is not None)

    assert next(found) is None  # there is no file yet
    path.write_text("one\nhal")
    assert next_line() == "one"
    assert next(found) is None
    with path.open("a") as file:
        file.write("f\n")
    assert next_line() == "half"
    with path.open("a") as file:
        file.write("the last of the old file\n")
    path.rename(tmp_path / "events.jsonl.1")
    path.write_text("new\n")
    assert [next_line(), next_line()] == ["the last of the old file", "new"]
    path.write_text("x\n")  # it was cut
    assert next_line() == "x"
    found.close()


def test_the_files_of_a_folder_are_shown_together_by_time(capsys, tmp_path):
    told = turns(tmp_path / "all", "sim:normal", "sim:length_mid_word", "sim:normal")
    by_turn = {event.turn: number % 2 for number, event in enumerate(told)}
    for event in told:
        with (tmp_path / f"{by_turn[event.turn]}.jsonl").open("a") as file:
            file.write(json.dumps(event.as_dict()) + "\n")
    assert main(["tail", "--no-follow", str(tmp_path)]) == 0
    together = capsys.readouterr().out
    assert main(["tail", "--no-follow", str(tmp_path / "all")]) == 0
    assert together == capsys.readouterr().out
    assert len(together.splitlines()) == 4


def test_turns_of_two_processes_are_told_apart(capsys, tmp_path):
    *_, ended = turns(tmp_path / "a.jsonl", "sim:normal")
    here, number = ended.turn[:32], ended.turn[32:]
    other = f"{'0' if here[-1] == 'f' else 'f'}".rjust(32, "e") + number
    (tmp_path / "b.jsonl").write_text(json.dumps(ended.as_dict() | {"turn": other}) + "\n")
    assert main(["tail", "--no-follow", str(tmp_path)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.split()[1] != second.split()[1]


def test_a_folder_is_followed_with_the_files_that_come_to_it_and_go(tmp_path):
    """In lockstep, as above."""
    folder = tmp_path / "events"
    found = lines_of(folder, follow=True, poll_s=0.001)

    def next_line() -> str:
        return next(line for line in found if line is not None)

    assert next(found) is None  # there is no folder yet
    folder.mkdir()
    (folder / "a.jsonl").write_text("one\n")
    (folder / "a.jsonl.1").write_text("an older file is not followed\n")
    assert next_line() == "one"
    (folder / "b.jsonl").write_text("two\n")
    assert next_line() == "two"
    (folder / "a.jsonl").unlink()
    for _ in range(4):
        assert next(found) is None
    (folder / "a.jsonl").write_text("three\n")
    assert next_line() == "three"
    with (folder / "b.jsonl").open("a") as file:
        file.write("four\n")
    assert next_line() == "four"
    found.close()


def test_the_file_of_a_folder_that_cannot_be_read_is_named(capsys, tmp_path):
    (tmp_path / "a.jsonl").mkdir()
    assert main(["tail", "--no-follow", str(tmp_path)]) == 2
    assert f"{tmp_path / 'a.jsonl'}: it is" in capsys.readouterr().err


@pytest.mark.behaviour("P6")
def test_a_file_of_a_folder_that_cannot_be_read_is_named_and_the_others_are_shown(capsys, tmp_path):
    turns(tmp_path / "b.jsonl", "sim:normal")
    turns(tmp_path / "d.jsonl", "sim:length_mid_word")
    (tmp_path / "a.jsonl").mkdir()
    (tmp_path / "c.jsonl").symlink_to(os.devnull)
    assert main(["tail", "--no-follow", str(tmp_path)]) == 2
    written = capsys.readouterr()
    assert len(written.out.splitlines()) == 1 + 2
    assert [line.partition(": it is")[0] for line in written.err.splitlines()] == [
        f"tenuto: {tmp_path / 'a.jsonl'}",
        f"tenuto: {tmp_path / 'c.jsonl'}",
    ]
    (tmp_path / "a.jsonl").rmdir()
    (tmp_path / "c.jsonl").unlink()
    assert main(["tail", "--no-follow", str(tmp_path)]) == 0


def test_a_folder_is_followed_past_a_file_that_cannot_be_read(tmp_path):
    """In lockstep, as above."""
    (tmp_path / "a.jsonl").mkdir()
    (tmp_path / "b.jsonl").write_text("one\n")
    told: list[str] = []
    found = lines_of(
        tmp_path, follow=True, poll_s=0.001, unread=lambda file, _: told.append(file.name)
    )

    def next_line() -> str:
        return next(line for line in found if line is not None)

    assert next_line() == "one"
    with (tmp_path / "b.jsonl").open("a") as file:
        file.write("two\n")
    assert next_line() == "two"
    (tmp_path / "c.jsonl").symlink_to(os.devnull)
    (tmp_path / "d.jsonl").write_text("three\n")
    assert next_line() == "three"
    for _ in range(3):
        assert next(found) is None
    assert told == ["a.jsonl", "c.jsonl"]
    found.close()


def test_it_shows_a_turn_while_the_program_goes_on(tmp_path):
    path = tmp_path / "events.jsonl"
    seen: list[str] = []
    found = lines(path, follow=True, poll_s=0.001)
    reader = threading.Thread(
        daemon=True,
        target=lambda: seen.append(next(line for line in found if line and "turn_ended" in line)),
    )
    reader.start()
    turns(path, "sim:normal")
    reader.join(10)
    assert json.loads(seen[0])["status"] == "complete"


def test_turns_that_overlap_are_told_apart(capsys, tmp_path):
    path = tmp_path / "events.jsonl"
    turns(path, "sim:length_mid_word", "sim:normal")
    told = path.read_text().splitlines()
    first = [line for line in told if json.loads(line)["turn"] == json.loads(told[0])["turn"]]
    second = [line for line in told if line not in first]
    path.write_text("\n".join([*first[:-1], *second, first[-1]]))  # its last line has no end
    assert main(["tail", "--no-follow", "--last", "1", str(path)]) == 0
    recovery, end = capsys.readouterr().out.splitlines()
    assert "continuation: recovered" in recovery
    assert "2 attempts" in end
    assert recovery.split()[1] == end.split()[1]
    path.write_text("\n".join(first[:-1]) + "\n")
    assert main(["tail", "--no-follow", "--last", "0", str(path)]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "odd", [{"time": None}, {"time": 1e20}, {"turn": 5}, {"usage": 1}, {"duration_s": None}]
)
def test_odd_values_do_not_stop_it(capsys, tmp_path, odd):
    path = tmp_path / "events.jsonl"
    *_, ended = turns(path, "sim:normal")
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(ended.as_dict() | odd) + "\n")
    assert main(["tail", "--no-follow", str(path)]) == 2
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1
    assert "1 line is not an event" in said.err


def test_a_line_before_a_rotation_is_read_though_the_reader_is_slow(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text("one\n")
    found = lines(path, follow=True, poll_s=0.001)
    assert [next(found), next(found)] == ["one", None]
    with path.open("a") as file:
        file.write("last of the old\n")
    path.rename(tmp_path / "events.jsonl.1")
    path.write_text("first of the new\n")
    read = [line for line in (next(found) for _ in range(4)) if line is not None]
    assert read == ["last of the old", "first of the new"]


def test_no_file_is_missed_where_several_rotations_come_between_two_looks(tmp_path):
    path, older = tmp_path / "events.jsonl", tmp_path / "events.jsonl.1"
    oldest = tmp_path / "events.jsonl.2"
    path.write_text("one\n")
    found = lines(path, follow=True, poll_s=0.001)
    assert [next(found), next(found)] == ["one", None]
    path.rename(oldest)
    older.write_text("two\n")
    path.write_text("three\n")
    assert [line for line in (next(found) for _ in range(4)) if line] == ["two", "three"]
    # Of those that follow, even the last one that was read is no longer kept.
    oldest.write_text("four\n")
    older.write_text("five\n")
    for number, file in enumerate((path, oldest, older)):
        os.utime(file, (number, number))
    path.unlink()
    path.write_text("six\n")
    assert [line for line in (next(found) for _ in range(5)) if line] == ["four", "five", "six"]


def test_older_files_are_not_read_again_where_a_file_was_replaced(tmp_path):
    path, older = tmp_path / "events.jsonl", tmp_path / "events.jsonl.1"
    older.write_text("before\n")
    os.utime(older, (1, 1))
    path.write_text("one\n")
    found = lines(path, follow=True, poll_s=0.001)
    assert [next(found), next(found)] == ["one", None]
    path.unlink()
    path.write_text("two\n")
    assert [line for line in (next(found) for _ in range(3)) if line] == ["two"]
