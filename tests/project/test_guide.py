"""The pages for people: every block of code is run as it stands, in the order of its page.

A block of Python is run against the simulator; the words behind `python` are the steps that its next
answers take, and a comment behind a `print` is what it prints. TOML becomes the `tenuto.toml` of the
folder that the blocks behind it run in. Of a console, each `$ tenuto …` is run, and what stands below
is what it says.
"""

from __future__ import annotations

import contextlib
import gc
import io
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import cohere
import httpx2
import openai
import pytest
from google import genai
from mistralai.client.sdkconfiguration import SERVERS

import tenuto
from tenuto.providers.table import ROWS
from tenuto.telemetry import listeners
from tenuto.wires.registry import WIRES
from tenuto_sim import STEPS, Simulator

ROOT = Path(__file__).resolve().parents[2]
GUIDE = sorted((ROOT / "docs/guide").glob("*.md"))
PAGES = [ROOT / "README.md", *GUIDE]
FENCE = re.compile(r"^```(\S*) ?(.*)\n((?:.*\n)*?)^```$", re.MULTILINE)
PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)
CLIENTS = (openai.OpenAI, anthropic.Anthropic, genai.Client, httpx2.Client, tenuto.agent.Agent)
NOT_RUN = ("text", "mermaid")


class Block(NamedTuple):
    """A block of code of a page: its language, the words behind that, and the line it begins at."""

    language: str
    words: list[str]
    code: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(found[1], found[2].split(), found[3], text.count("\n", 0, found.start()) + 2)
        for found in FENCE.finditer(text)
    ]


@pytest.fixture
def sim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """A provider at the addresses that the SDKs read from the environment, and an empty folder."""
    monkeypatch.chdir(tmp_path)
    with Simulator() as sim:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", sim.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", sim.root_url)
        monkeypatch.setenv("GOOGLE_API_KEY", "none")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", sim.root_url)
        monkeypatch.setenv("CO_API_KEY", "none")
        # It reads its address from the environment when it is imported.
        defaults: Any = cohere.ClientV2.__init__.__kwdefaults__
        monkeypatch.setitem(defaults, "base_url", sim.root_url)
        monkeypatch.setenv("MISTRAL_API_KEY", "none")
        monkeypatch.setitem(SERVERS, "global", f"{sim.root_url}/mistral")
        yield sim


@pytest.fixture
def nothing_registered() -> Iterator[None]:
    """What a page registers is gone after it."""
    before = [(names, names.all()) for names in (ROWS, WIRES)]
    heard_by = listeners.current
    yield
    listeners.current = heard_by
    for names, known in before:
        names._all = known
        names.changes += 1


@pytest.mark.usefixtures("nothing_registered")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_of_a_page_runs_and_prints_what_it_says(page: Path, sim: Simulator) -> None:
    names: dict[str, Any] = {"__name__": page.stem}
    with closing_what_is_open(names):
        run_all(page, names, sim)


@contextlib.contextmanager
def closing_what_is_open(names: dict[str, Any]) -> Iterator[None]:
    """Clients close their connections when they are collected, in whatever order that happens."""
    yield
    with contextlib.ExitStack() as stack:
        for value in names.values():
            if isinstance(value, CLIENTS):
                value.close()
            if isinstance(value, cohere.ClientV2):
                stack.push(value)  # it has no other way of being closed
    names.clear()
    with warnings.catch_warnings():  # an example leaves a client open, as programs do
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def run_all(page: Path, names: dict[str, Any], sim: Simulator) -> None:
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        match block.language:
            case "python":
                run_python(block, names, sim, where)
            case "toml":
                Path("tenuto.toml").write_text(block.code, "utf-8")
                tenuto.load_policy()
            case "console":
                run_console(block.code, where)
            case other:
                assert other in NOT_RUN, f"{where}: nobody runs {other!r}"


def run_python(block: Block, names: dict[str, Any], sim: Simulator, where: str) -> None:
    sim.forget()
    sim.script([STEPS[word] for word in block.words])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (block.line - 1) + block.code, where, "exec"), names)
    if promised := PRINTED.findall(block.code):
        assert printed.getvalue().splitlines() == promised, where
    assert not sim._exchange.conversations.script, f"{where}: an answer was not asked for"


def run_console(code: str, where: str) -> None:
    for shown in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        line, _, promised = shown.partition("\n")
        program, *words = shlex.split(line, comments=True)
        assert program == "tenuto", f"{where}: nobody runs {program!r}"
        arguments = [p for word in words for p in (sorted(map(str, Path().glob(word))) or [word])]
        run = "from tenuto.cli import main; main()"
        said = subprocess.run(
            [sys.executable, "-c", run, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )
        assert said.returncode == 0, f"{where}: {said.stdout}{said.stderr}"
        assert promised.strip() in said.stdout, where


def test_no_block_hides_from_being_run_by_its_indentation() -> None:
    for page in GUIDE:
        prose = FENCE.sub("", page.read_text("utf-8"))
        assert re.findall(r"^(?: {4}|\t)\S.*$", prose, re.MULTILINE) == [], page.name


def test_each_page_of_the_guide_is_named_in_its_index() -> None:
    index = (ROOT / "docs/guide/README.md").read_text("utf-8")
    assert [p.name for p in GUIDE if p.name != "README.md" and f"({p.name})" not in index] == []
