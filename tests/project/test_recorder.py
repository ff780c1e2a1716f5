"""A sample of the recording; all of it is compared by `make replay`."""

from __future__ import annotations

import logging
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tenuto
from recorder import playing, recording
from recorder.far import Answer, Written
from recorder.questions import plain
from recorder.showing import digest, normal, shown

PROJECT = Path(__file__).parents[2]
SAMPLE = (
    *("sim/openai-chat/length_once/stream/stop", "sim/openai-chat/call_cut_length/body/error"),
    *("sim/anthropic-messages/tool/stream/stop", "sim/openai-responses/length_once/stream/stop"),
    *(
        "sim/gemini-generate/length_once/stream/error",
        "sim/bedrock-converse/drop_mid_text/stream/stop",
    ),
    *("sim/mistral/tools/stream/stop", "sim/ollama/length_once/body/stop"),
    *("fixture/openai-chat/q50-crlf", "fixture/cohere/complete", "close/tgi/length_once"),
    *("status/openai-chat/429/body", "coded/anthropic-messages/gzip/stream"),
    *("history/gemini-generate/two/000", "array/gemini-generate/n1-recitation-stream"),
)


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What the recorder does to its processes, undone behind it."""
    for name in ("uniform", "random"):
        monkeypatch.setattr(random, name, getattr(random, name))
    yield
    logging.disable(logging.NOTSET)


def kept() -> recording.Digests:
    return recording.read(recording.FILE.read_text("utf-8"))


@pytest.mark.usefixtures("steady")
@pytest.mark.parametrize("key", SAMPLE)
def test_what_leaves_and_what_callers_get_is_as_recorded(key: str) -> None:
    found = {column: digest(text) for column, text in recording.show(key).items()}
    assert found == kept()[key], (
        f"python -m recorder compare --against OLD --only {key} shows the bytes; where the change "
        "is meant: make record"
    )


def test_every_recorded_case_was_played_to_its_end() -> None:
    digests = kept()
    assert len(digests) > 10_000
    assert not [key for key, columns in digests.items() if "failed" in columns]
    assert recording.written(digests) == recording.FILE.read_text("utf-8"), "sorted"
    assert recording.FILE.stat().st_size < 3_000_000


def test_a_request_that_differs_in_one_byte_has_another_digest() -> None:
    body = b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}'
    answer = Answer(200, [("content-type", "application/json")], [body])
    asked = plain("openai-chat", stream=False)
    other = asked._replace(body=asked.body.replace(b"Caf", b"caf"))
    one, two = (
        shown(playing.by_turn(Written(answer), request, tenuto.Policy()), "sent", "received")
        for request in (asked, other)
    )
    assert one["received"] == two["received"]
    assert digest(one["sent"]) != digest(two["sent"])


def test_ids_that_are_made_up_are_all_alike_and_others_are_not() -> None:
    assert normal(b'"t0a1f3001","t0a1f3002"') == b'"t-OWN001","t-OWN002"'
    assert normal(b"at0a1f3001 t0a1f30017 t0a1g3001") == b"at0a1f3001 t0a1f30017 t0a1g3001"


def test_differences_name_the_case_and_the_columns() -> None:
    before = {
        "a": {"sent": "1", "received": "2"},
        "b": {"received": "1"},
        "gone": {"received": "1"},
    }
    after = {"a": {"sent": "1", "received": "3"}, "b": {"received": "1"}, "new": {"received": "1"}}
    found = list(recording.differences(before, after))
    assert found == [("a", ["received"]), ("gone", []), ("new", [])]


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.timeout(240)
def test_compare_shows_the_bytes_that_differ_between_two_trees(tmp_path: Path) -> None:
    shutil.copytree(PROJECT / "src", tmp_path / "src")
    hints = tmp_path / "src" / "tenuto" / "core" / "hints.py"
    text = hints.read_text("utf-8")
    assert "Continue" in text
    hints.write_text(text.replace("Continue", "Proceed"), "utf-8")
    key = "sim/openai-chat/length_once/stream/stop"
    done = subprocess.run(
        [sys.executable, "-m", "recorder", "compare", "--against", str(tmp_path), "--only", key],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert f"{key}: sent" in done.stdout
    assert "Proceed" in done.stdout
    assert "Continue" in done.stdout
