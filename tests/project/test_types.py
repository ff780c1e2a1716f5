"""What a type checker and an editor see of the package. What type checkers say of programs that use it
stands in `tests/typed`, which `make check` runs them over."""

from __future__ import annotations

import subprocess
import sys

import tenuto


def test_the_names_that_are_loaded_when_they_are_asked_for_are_listed() -> None:
    assert set(tenuto.__all__) <= set(dir(tenuto))
    program = (
        "import sys, tenuto; assert 'agent' in dir(tenuto); print('tenuto_agent' in sys.modules)"
    )
    made = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert made.stdout == "False\n"
