"""A provider is added by a row and a folder, or at run time by a call, and by nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import members
import openai
import pytest
from support.asking.wrapping import QUICK
from support.replay.openai_chat import MAX, R, Replay

import tenuto
from tenuto.providers.table import ROWS

ROOT = Path(__file__).resolve().parents[2]
CUT, REST, WHOLE = R("Half of", MAX), R(" it."), "Half of it."
ROW = """
CHAT += (
    _row(
        "acme",
        ("%s",),
        "https://docs.acme.example/chat 2026-11-22",
        prefill=True,
        prefill_row=(("partial", True),),
        stops=("halted",),
        quirks=("acme-halted",),
    ),
)
"""
FOLDER = {
    "body.json": {
        "choices": [
            {"message": {"role": "assistant", "content": "Half"}, "finish_reason": "halted"}
        ]
    },
    "expect.json": {"stop": {"reason": "unknown", "raw": "halted"}, "text": "Half"},
}
ASKING = """
import json, pytest, sys, tenuto
url, asked = sys.argv[1], {"model": "m", "messages": [{"role": "user", "content": "Go on."}]}
events = []
with tenuto.http_client(policy=tenuto.Policy(backoff_s=0.0), on_event=events.append) as client:
    body = client.post(url + "/chat/completions", json=asked).json()
print(json.dumps([body["choices"][0]["message"]["content"], events[0].provider]), flush=True)
sys.exit(pytest.main(["-q", "-p", "no:xdist", "-k", "acme", "tests"]))
"""


@pytest.fixture
def replay() -> Iterator[Replay]:
    with Replay() as running:
        yield running


def here(replay: Replay) -> str:
    """Where it listens, as `hosts` has it."""
    return replay.base_url.removeprefix("http://").removesuffix("/v1")


def assert_gone_on(replay: Replay) -> None:
    """Two requests have come, and the second ends in the beginning, in the provider's form."""
    _, again = replay.requests
    assert again.json["messages"][-1] == {
        "role": "assistant",
        "content": "Half of",
        "partial": True,
    }


@pytest.mark.behaviour("N8")
@pytest.mark.slow
def test_a_row_and_a_folder_are_all_that_a_provider_takes(tmp_path: Path, replay: Replay) -> None:
    package, tests = tmp_path / "src" / "tenuto", tmp_path / "tests"
    shutil.copytree(members.TENUTO.source / "tenuto", package)
    with (package / "providers" / "chat.py").open("a", encoding="utf-8") as table:
        table.write(ROW % here(replay))
    folder = tests / "fixtures" / "openai-chat" / "acme-halted"
    folder.mkdir(parents=True)
    for name, value in FOLDER.items():
        (folder / name).write_text(json.dumps(value), "utf-8")
    (folder / "origin.txt").write_text("Made up.", "utf-8")
    (tests / "wires").mkdir()
    shutil.copy(ROOT / "tests" / "wires" / "test_conformance.py", tests / "wires")
    environment = os.environ | {"PYTHONPATH": str(package.parent)}

    replay.say(CUT, REST)
    done = subprocess.run(
        [sys.executable, "-c", ASKING, replay.base_url],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said, *walked = done.stdout.splitlines()
    assert json.loads(said) == [WHOLE, "acme"]
    assert_gone_on(replay)
    assert "1 passed" in walked[-1]


@pytest.mark.behaviour("N8")
def test_a_provider_that_is_registered_is_met_in_its_own_form(replay: Replay) -> None:
    before = ROWS.all()
    events: list[tenuto.Event] = []
    policy = tenuto.Policy(**QUICK)
    bare = openai.OpenAI(base_url=replay.base_url, api_key="key", max_retries=0)
    with bare, tenuto.wrap(bare, policy=policy, on_event=events.append) as client:
        dialect: dict[str, Any] = {"prefill": True, "prefill_row": {"partial": True}}
        tenuto.register_provider(
            tenuto.Provider("acme", wire="openai-chat", hosts=[here(replay)], **dialect)
        )
        try:
            replay.say(CUT, REST)
            row: Any = {"role": "user", "content": "Go on."}
            made = client.chat.completions.create(model="m", messages=[row])
        finally:
            ROWS._all = before
            ROWS.changes += 1
    assert made.choices[0].message.content == WHOLE
    assert {event.provider for event in events} == {"acme"}
    assert_gone_on(replay)
