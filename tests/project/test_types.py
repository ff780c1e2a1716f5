"""What a type checker says of a program that uses Tenuto; `tests/typed` has more of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tenuto

PROGRAM = """\
import tenuto

class Client:
    with_options = None

client: Client = tenuto.wrap(Client())
tenuto.wrap(42)
tenuto.wrap("openai")
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_type_checker_refuses_to_wrap_what_is_no_client(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\n", "utf-8")
    source = str(Path(tenuto.__file__).parents[1])
    made = subprocess.run(
        [sys.executable, "-m", "mypy", "program.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    refused = [line.split(":")[1] for line in made.stdout.splitlines() if "[type-var]" in line]
    assert refused == ["7", "8"], made.stdout + made.stderr


def test_the_names_that_are_loaded_when_they_are_asked_for_are_listed() -> None:
    assert set(tenuto.__all__) <= set(dir(tenuto))
    program = (
        "import sys, tenuto; assert 'agent' in dir(tenuto); print('tenuto.agent' in sys.modules)"
    )
    made = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert made.stdout == "False\n"
