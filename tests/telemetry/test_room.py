"""What the room gives out, and that it costs nothing until it is used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import members
import pytest

from tenuto import telemetry

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "telemetry.md").read_text("utf-8")


def test_every_name_is_there() -> None:
    assert [name for name in telemetry.__all__ if not hasattr(telemetry, name)] == []
    assert {*telemetry.__all__} <= {*dir(telemetry)}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        telemetry.nothing  # noqa: B018


def test_every_name_that_the_page_imports_is_given_out() -> None:
    lines = re.findall(r"^from tenuto\.telemetry import (.+)$", PAGE, re.MULTILINE)
    named = {name.strip() for line in lines for name in line.split(",")}
    assert len(named) > 5
    assert named <= {*telemetry.__all__}
    assert [name for name in telemetry.__all__ if name not in PAGE] == []


@pytest.mark.behaviour("P8")
@pytest.mark.parametrize(
    "turn",
    [
        'assert chat(answer("It.")) == "It."',
        """
logging.getLogger("tenuto").setLevel(logging.ERROR)
assert chat(answer("One ", stop="length"), answer("two.")) == "One two."
""",
    ],
    ids=["healthy", "recovered, and nobody wants log lines"],
)
def test_a_turn_that_nobody_hears_of_loads_neither_events_nor_metrics(turn: str) -> None:
    code = f"""
import logging, sys
from support.telemetry import answer, chat
{turn}
kinds = {{f"tenuto.core.events.{{of}}" for of in ("kinds", "turn", "attempt", "recovery")}}
told = kinds | {{"tenuto.turn.record.event_sender", "prometheus_client"}}
loaded = [name for name in sys.modules if name in told or "telemetry." in name]
print(sorted(loaded))
"""
    paths = [*members.SOURCES, str(ROOT / "tests")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    # What a turn has before anybody listens.
    kept = ["capture", "listeners", "loggers", "redaction"]
    assert done.stdout.strip() == str([f"tenuto.telemetry.{name}" for name in kept])
