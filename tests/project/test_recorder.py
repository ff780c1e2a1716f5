"""The comparison of two trees, on some cases; `make replay` compares all of them."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from logging import NOTSET, disable
from pathlib import Path

import pytest

import tenuto
from checks.recorder import catalogue, playing
from checks.recorder.comparing import CannotPlay, Compared, compare
from checks.recorder.far import Answer, Written
from checks.recorder.questions import plain
from checks.recorder.showing import normal, shown
from checks.recorder.trees import PROJECT, NoSuchTree, Tree, unpacked, usual_base

KEY = "sim/openai-chat/length_once/stream/stop"
SAMPLE = (
    *(KEY, "sim/openai-chat/call_cut_length/body/error"),
    *("sim/anthropic-messages/tool/stream/stop", "sim/openai-responses/length_once/stream/stop"),
    *("sim/gemini-generate/length_once/stream/error", "sim/mistral/tools/stream/stop"),
    *("sim/bedrock-converse/drop_mid_text/stream/stop", "sim/ollama/length_once/body/stop"),
    *("fixture/openai-chat/q50-crlf", "fixture/cohere/complete", "close/gemini-generate/tool"),
    *("status/openai-chat/429/body", "coded/anthropic-messages/gzip/stream"),
    *("history/gemini-generate/two/000", "array/gemini-generate/n1-recitation-stream"),
)
HERE = Tree("here", PROJECT)


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What the recorder does to its processes, undone behind it."""
    for name in ("uniform", "random"):
        monkeypatch.setattr(random, name, getattr(random, name))
    yield
    disable(NOTSET)


def copied(into: Path, *, members: bool) -> Tree:
    """This tree's source in another folder: in one `src`, or in that of a member each."""
    for source in HERE.sources():
        for package in source.iterdir():
            to = into / "packages" / package.stem / "src" if members else into / "src"
            if package.is_dir():
                shutil.copytree(package, to / package.name, ignore=shutil.ignore_patterns("*.pyc"))
            else:  # the plugin of pytest
                to.mkdir(parents=True, exist_ok=True)
                shutil.copy(package, to)
    (into / "checks" / "recorder").mkdir(parents=True)
    shutil.copy(PROJECT / "checks" / "recorder" / "inside.py", into / "checks" / "recorder")
    return Tree("base", into)


def changed(tree: Tree, module: str, old: str, new: str) -> None:
    (file,) = (each for source in tree.sources() for each in source.glob(module))
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_changed_word_is_found_in_the_column_of_each_case_that_sends_it_and_nowhere_else(
    tmp_path: Path,
) -> None:
    tree = copied(tmp_path, members=False)
    changed(tree, "tenuto/core/hints.py", "Continue", "Proceed")
    keys = [KEY, "fixture/cohere/complete", "sim/openai-chat/normal/stream/stop"]
    command = [
        sys.executable,
        "-m",
        "checks.recorder",
        "compare",
        "--against",
        str(tmp_path),
        "--only",
    ]
    done = subprocess.run(
        [*command, *keys], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    first, sums, *difference = done.stdout.splitlines()
    assert first == f"{KEY}: sent, quiet, sync, async"
    equal = len(catalogue.cases(keys)) - 1
    assert equal > 1
    assert sums.startswith(f"{equal + 1} cases played by both, 1 differ (")
    assert any(line[0] == "-" and "Proceed" in line for line in difference if line)
    assert any(line[0] == "+" and "Continue" in line for line in difference if line)


@pytest.mark.heavy
@pytest.mark.timeout(240)
@pytest.mark.parametrize("members", [False, True])
def test_trees_with_the_same_source_do_not_differ_wherever_it_lies(
    tmp_path: Path, members: bool
) -> None:
    lines: list[str] = []
    choice = ["--only", *SAMPLE]
    told = compare((copied(tmp_path, members=members), HERE), choice, lines.append, cores=4)
    number = len(catalogue.cases(SAMPLE))
    assert number >= len(SAMPLE)
    assert [*told.lines()] == [f"{number} cases played by both, 0 differ"]
    assert (told.differ, told.failed, told.alone) == ({}, [], {})
    assert [line for line in lines if line.startswith("Playing")] == [
        f"Playing {number} cases with both sources"
    ]


@pytest.mark.heavy
@pytest.mark.timeout(240)
def test_a_changed_byte_of_the_simulator_is_found_without_tenuto(tmp_path: Path) -> None:
    tree = copied(tmp_path, members=False)
    changed(tree, "tenuto*/**/openai_completions/render.py", "text_completion", "text-completion")
    keys = ["case/openai-completions/normal", "case/ollama/normal"]
    told = compare((tree, HERE), ["--simulator", "--only", *keys])
    assert set(told.differ) == {keys[0]}
    assert told.played == 2


@pytest.mark.heavy
def test_a_source_that_cannot_be_imported_is_no_equal_one(tmp_path: Path) -> None:
    tree = copied(tmp_path, members=False)
    changed(tree, "tenuto/core/hints.py", "Continue", '"')
    with pytest.raises(CannotPlay, match="the source of base"):
        compare((tree, HERE), ["--only", KEY])


def test_the_source_of_a_tree_is_that_of_its_members_or_one_folder(tmp_path: Path) -> None:
    tree = Tree("base", tmp_path)
    assert tree.sources() == [tmp_path / "src"]
    for member in ("tenuto-sim", "tenuto"):
        (tmp_path / "packages" / member / "src").mkdir(parents=True)
    members = [tmp_path / "packages" / name / "src" for name in ("tenuto", "tenuto-sim")]
    assert tree.sources() == members
    path = tree.environment()["PYTHONPATH"].split(os.pathsep)
    assert path == [str(source) for source in members]


def test_a_case_that_fails_alike_with_both_sources_is_told() -> None:
    told = Compared(("base", "here"))
    for name in told.names:
        told.take(name, "a", {"failed": "1"})
    told.end()
    assert [*told.lines()] == [
        "a: failed alike with both, so that nothing was compared",
        "1 cases played by both, 0 differ",
    ]


def test_differences_name_the_case_and_the_columns() -> None:
    told = Compared(("base", "here"))
    told.take("base", "a", {"sent": "1", "received": "2"})
    told.take("base", "b", {"received": "1"})
    told.take("base", "gone", {"received": "1"})
    told.take("here", "a", {"sent": "1", "received": "3", "more": "1"})
    told.take("here", "b", {"received": "1"})
    told.take("here", "new", {"received": "1"})
    told.unasked["base"] = ["tgi"]
    told.end()
    assert [*told.lines()] == [
        "base simulates wires that nothing asks for here: tgi",
        "a: received, more",
        "gone: only base has it",
        "new: only here has it",
        "2 cases played by both, 3 differ (received 1, more 1)",
    ]


def test_the_shares_of_the_processes_are_all_cases_once() -> None:
    found = catalogue.cases(["status/"])
    shares = [[*catalogue.share(found, number, 3)] for number in range(3)]
    assert sorted(key for share in shares for key, _ in share) == sorted(key for key, _ in found)
    assert len({key for key, _ in found}) == len(found) > 100


@pytest.mark.usefixtures("steady")
@pytest.mark.parametrize("key", SAMPLE)
def test_a_case_is_played_to_its_end(key: str) -> None:
    play = catalogue.find(key)
    assert play is not None
    columns = catalogue.played(play)
    assert "failed" not in columns, columns
    assert all(columns.values())


def test_a_request_that_differs_in_one_byte_is_shown_otherwise() -> None:
    body = b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}'
    answer = Answer(200, [("content-type", "application/json")], [body])
    asked = plain("openai-chat", stream=False)
    other = asked._replace(body=asked.body.replace(b"Caf", b"caf"))
    one, two = (
        shown(playing.by_turn(Written(answer), request, tenuto.Policy()), "sent", "received")
        for request in (asked, other)
    )
    assert one["received"] == two["received"]
    assert one["sent"] != two["sent"]


def test_ids_that_are_made_up_are_all_alike_and_others_are_not() -> None:
    assert normal(b'"t0a1f3001","t0a1f3002"') == b'"t-OWN001","t-OWN002"'
    assert normal(b"at0a1f3001 t0a1f30017 t0a1g3001") == b"at0a1f3001 t0a1f30017 t0a1g3001"


class Repository:
    """A Git repository with one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")
        self.commit("one")

    def git(self, *given: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *who, *given], cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, text: str) -> str:
        (self.folder / "src").mkdir(exist_ok=True)
        (self.folder / "src" / "said.txt").write_text(text, "utf-8")
        self.git("add", "src")
        self.git("commit", "-q", "-m", text)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def test_a_commit_is_unpacked_beside_the_work_tree_and_removed_again(
    repository: Repository,
) -> None:
    repository.commit("two")
    with unpacked("HEAD^", repository.folder) as tree:
        assert (tree.folder / "src" / "said.txt").read_text("utf-8") == "one"
        assert (repository.folder / "src" / "said.txt").read_text("utf-8") == "two"
    assert not tree.folder.exists()
    assert repository.git("worktree", "list", "--porcelain").count("worktree ") == 1


def test_a_commit_that_git_does_not_know_is_named(repository: Repository) -> None:
    with pytest.raises(NoSuchTree, match="v9"), unpacked("v9", repository.folder):
        pass


def test_who_names_no_commit_means_the_one_where_the_branch_left_main(
    repository: Repository,
) -> None:
    left = repository.commit("two")
    repository.git("switch", "-q", "-c", "mine")
    repository.commit("three")
    assert usual_base(repository.folder) == (left, "where this branch left main")
    repository.git("update-ref", "refs/remotes/origin/main", "main^")
    said = (repository.git("rev-parse", "main^"), "where this branch left origin/main")
    assert usual_base(repository.folder) == said


def test_on_the_main_branch_it_is_what_is_not_committed_or_the_last_release_or_commit(
    repository: Repository,
) -> None:
    with pytest.raises(NoSuchTree):
        usual_base(repository.folder)
    first = repository.git("rev-parse", "HEAD")
    second = repository.commit("two")
    assert usual_base(repository.folder) == (first, "the commit before")
    repository.git("tag", "v0.1.0")
    third = repository.commit("three")
    assert usual_base(repository.folder) == ("v0.1.0", "the last release")
    (repository.folder / "src" / "said.txt").write_text("four", "utf-8")
    assert usual_base(repository.folder) == (third, "where this branch left main")
    assert repository.git("rev-parse", "v0.1.0") == second


@pytest.mark.heavy
@pytest.mark.timeout(240)
@pytest.mark.skipif(sys.platform == "win32", reason="signals end a process there at once")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_an_interrupted_comparison_leaves_no_tree_and_no_process(
    tmp_path: Path, number: str
) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "checks.recorder", "compare", "--base", "HEAD", "--only", "sim/"],
        cwd=PROJECT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert running.stderr is not None
        assert any("Playing" in line for line in running.stderr)
        assert [*tmp_path.iterdir()]
        running.send_signal(getattr(signal, number))
        out, err = running.communicate(timeout=30)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
    assert running.returncode == 130, err
    assert "interrupted before the last case" in out
    assert "Traceback" not in err
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(ProcessLookupError):  # nobody of its group is left
        os.killpg(running.pid, 0)
