"""Some seconds of the soak; all of it runs with `make soak`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.pairing import some_or_every

PROJECT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(240)
@some_or_every
def test_some_seconds_of_faults_make_no_turn_wrong(every: bool) -> None:
    seconds = "20" if every else "2"
    given = ("--seconds", seconds, "--processes", "1", "--threads", "3", "--tasks", "5", "--json")
    done = subprocess.run(
        [sys.executable, "-m", "checks.soak.run", *given],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == [], found["wrong"][:3]
    assert found["turns"]["complete"] > (50 if every else 3)
    assert len(found["no_one_right_answer"]) <= 2
    assert len(found["whole_as_partial"]) <= 1


def test_the_server_of_the_soak_knows_nothing_of_the_code_that_it_tests() -> None:
    says = (
        "import sys, checks.soak.server; print([m for m in sys.modules if m.startswith('tenuto')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", says], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
