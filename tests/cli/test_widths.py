"""What commands print on a terminal of 80 and of 120 columns: whole words, and no line too long."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import openai
import pytest
from rich.cells import cell_len

import tenuto
from tenuto.cli import demo_sdk, main
from tenuto.cli.demo_view import COLUMNS, View
from tenuto.telemetry import EventFile
from tenuto_sim import Simulator

pytestmark = pytest.mark.behaviour("P8b")

MODELS = ("length_once", "length_always", "drop_mid_text", "content_filter")
PROGRAM = """
import tenuto
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, OpenAI

clients = [OpenAI(max_retries=5), tenuto.wrap(OpenAI()), AsyncOpenAI()  # tenuto: bare
]
llm = ChatOpenAI(model="gpt-5.4-mini", http_client=tenuto.http_client())
vectors = OpenAI().embeddings.create(model="text-embedding-3-small", input="tides")
"""
COMMANDS = (
    "explain turns/length_once.json",
    "explain turns/length_once.json turns/length_always.json turns/content_filter.json",
    "explain turns",
    "detect turns/drop_mid_text.json app.py",
    "tail --no-follow events.jsonl",
    "tail --no-follow --all events.jsonl",
    "doctor app.py",
    "doctor",
    "faults",
    "policy",
    "providers",
    "providers --url https://openrouter.ai/api/v1",
)
COPIED = re.compile(r"  (write|add|with): ")
"""The beginning of a line of code, which nothing may break."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with captures, events and a program."""
    made = tmp_path_factory.mktemp("widths")
    events = EventFile(made / "events.jsonl")
    for name in MODELS:
        # One folder for each, so that its file can get a name that is known.
        policy = tenuto.Policy(capture=str(made / name), backoff_s=0)
        with Simulator() as sim, openai.OpenAI(base_url=sim.base_url, api_key="none") as bare:
            client = tenuto.wrap(bare, policy=policy, on_event=events)
            client.chat.completions.create(
                model=f"sim/{name}", messages=[{"role": "user", "content": "Why?"}]
            )
        (capture,) = (made / name).iterdir()
        (made / "turns").mkdir(exist_ok=True)
        capture.rename(made / f"turns/{name}.json")
    (made / "app.py").write_text(PROGRAM, "utf-8")
    return made


@pytest.fixture
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The width of the terminal on which a test then prints."""
    for name in [name for name in os.environ if name.startswith("TENUTO_")]:
        monkeypatch.delenv(name)
    for name, value in {"TTY_COMPATIBLE": "1", "TERM": "dumb", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    width: int = request.param
    monkeypatch.setenv("COLUMNS", str(width))
    return width


wide = pytest.mark.parametrize("columns", [80, 120], indirect=True)


def too_long(shown: str, columns: int) -> list[str]:
    """The lines that could have been broken between two words and were not. A URL may be longer than
    a line."""
    return [
        line
        for line in shown.splitlines()
        if cell_len(line) > columns
        and not COPIED.match(line)
        and "://" not in line
        and " " in line.strip()
    ]


@wide
@pytest.mark.parametrize("command", COMMANDS)
def test_no_word_is_broken_cut_or_lost(
    command: str,
    columns: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    main(command.split())
    shown = capsys.readouterr().out
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    main(command.split())
    plain = capsys.readouterr().out
    if (
        "\t" in plain or command == "explain turns"
    ):  # a table, which repeats its titles or adds rules
        assert set(plain.split()[1:]) <= set(shown.split())  # blocks have no title for names
    else:
        assert shown.split() == plain.split()
    assert shown.count("…") == plain.count("…")
    assert too_long(shown, columns) == []
    code = [line for line in shown.splitlines() if COPIED.match(line)]
    assert code == [line for line in plain.splitlines() if COPIED.match(line)]


@wide
def test_the_demo_cuts_no_title_and_no_word(
    columns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = list(demo_sdk.play(demo_sdk.faults_to_play(fast=True)))
    View(quiet=False).closing(rows)
    shown = capsys.readouterr().out
    words = Counter(shown.split())
    told = [f"{one.verdict}: {one.detail}" for row in rows for one in (row.bare, row.wrapped)]
    for text in (*COLUMNS, *told, *(row.fault for row in rows)):
        assert set(text.split()) <= words.keys(), text
    assert too_long(shown, columns) == []
    assert words["requests"] == 1, "there is no room for the table"
