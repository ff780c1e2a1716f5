"""What the soak stands on; it runs with `make soak`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parent.parent


def test_the_server_of_the_soak_knows_nothing_of_the_code_that_it_tests() -> None:
    says = "import sys, soak.server; print([m for m in sys.modules if m.startswith('tenuto')])"
    done = subprocess.run(
        [sys.executable, "-c", says], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
