"""The quirks of reference/wires.md §2, by number: each is shown by a fixture."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from examples.wires.tests.at_hand import fixture_folders
from tenuto.core.events.event import Event
from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
URL = "https://api.openai.com/v1/chat/completions"


@pytest.mark.behaviour("N1")
def test_every_quirk_has_a_fixture():
    shown = {
        int(found[1])
        for at in fixture_folders()
        for folder in at.glob("*/expect.json")
        if (found := re.match(r"q(\d+)b?-", folder.parent.name))
    }
    assert set(range(1, 51)) <= shown


@pytest.mark.behaviour("N12")
@pytest.mark.parametrize(
    ("fixture", "limit", "suspected"),
    [
        ("q46-stop-exactly-at-the-limit", 32, True),
        ("q46-stop-exactly-at-the-limit", 33, False),
        ("q45-stop-at-the-limit", 33, False),
    ],
)
def test_q46_a_clean_stop_exactly_at_the_limit_is_suspected_and_left_as_it_came(
    fixture, limit, suspected
):
    raw = (FIXTURES / "openai-chat" / fixture / "body.json").read_bytes()
    asked = {"model": "m", "max_tokens": limit, "messages": [{"role": "user", "content": "Hi"}]}
    events: list[Event] = []
    script = Script(Scripted.body(raw))
    run = Engine(Policy(), events.append).begin(
        Request("POST", URL, (), json.dumps(asked).encode())
    )
    assert run is not None
    _, *pieces = Drive(run, script.connect).pieces()
    assert pieces == [raw]
    (seen,) = (event.data for event in events if event.name == "stop_reason_observed")
    assert seen["anomalies"] == (["suspected_truncation"] if suspected else [])
