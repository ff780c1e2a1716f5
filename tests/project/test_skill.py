"""The skill for coding agents: it ships where they look for it, and its examples finish a cut turn."""

from __future__ import annotations

import csv
import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import members
import page_skill
import pytest

from tenuto.cli.program.judging import SECTIONS

ROOT = Path(__file__).resolve().parents[2]
SKILL = members.TENUTO.source / "tenuto/.agents/skills/tenuto"
TEXT = (SKILL / "SKILL.md").read_text("utf-8")
HOSTS = (SKILL / "references/hosts.md").read_text("utf-8")
PAGE = (ROOT / "docs/frameworks.md").read_text("utf-8")
BLOCK = re.compile(r"^```python (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = dict(BLOCK.findall(HOSTS))
IMPORT = re.compile(r"^(?:from|import) (\w+(?:\.\w+)?)", re.MULTILINE)


def is_here(name: str) -> bool:
    """Whether every package that an example imports is installed."""
    try:
        return all(importlib.util.find_spec(each) for each in IMPORT.findall(EXAMPLES[name]))
    except ModuleNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXAMPLES if is_here(name)])
def test_the_example_of_an_installed_host_finishes_a_cut_turn(name: str) -> None:
    code = f"import run; failed = run.block_fails({name!r}); assert not failed, failed"
    paths = os.pathsep.join([str(ROOT / "checks/frameworks"), *members.SOURCES])
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": paths},
        capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_sdks_are_among_the_installed_hosts() -> None:
    # The others run in `make frameworks`, in environments of their own.
    here = {name for name in EXAMPLES if is_here(name)}
    assert here >= {"openai", "openai-responses", "anthropic", "google-genai"}


def test_each_example_of_the_page_about_frameworks_is_in_the_skill() -> None:
    assert dict(BLOCK.findall(PAGE)) == EXAMPLES
    assert page_skill.render() == HOSTS, "run `make docs`"
    assert dict(BLOCK.findall(TEXT))["openai"] == EXAMPLES["openai"]


def test_the_skill_names_each_framework_in_its_table() -> None:
    assert [name for name in SECTIONS if name not in TEXT] == []


def test_the_test_that_the_skill_shows_passes(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    shown = dict(BLOCK.findall(TEXT))["length"]
    exec(compile(shown, "SKILL.md", "exec"), names)
    test = names["test_a_cut_answer_comes_back_whole"]
    assert callable(test)
    test()
    capsys.readouterr()


def test_agents_can_read_its_first_lines() -> None:
    # https://agentskills.io/specification (read 2026-11-28), as library-skills checks them
    begin, rest = TEXT.split("---\n", 2)[1:]
    lines = dict(line.split(": ", 1) for line in begin.splitlines())
    assert set(lines) == {"name", "description"}
    assert lines["name"] == SKILL.name
    assert 0 < len(lines["description"]) <= 1024
    assert len(rest.splitlines()) < 500
    for link in re.findall(r"\]\(([^)#\s]+)\)", TEXT):
        assert (SKILL / link).is_file(), link


@pytest.mark.slow
def test_the_wheel_has_the_skill_where_agents_look(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path],
        cwd=members.TENUTO.folder, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        (record,) = [name for name in opened.namelist() if name.endswith(".dist-info/RECORD")]
        rows = csv.reader(opened.read(record).decode().splitlines())
        files = {PurePosixPath(row[0]) for row in rows}
    at = PurePosixPath("tenuto/.agents/skills/tenuto")
    assert {at / "SKILL.md", at / "references/hosts.md"} <= files
