"""`make test` runs every file once, and what fails in a part fails the whole and is shown."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = 12


def test_every_file_is_run_once_and_a_failure_is_shown_and_told(tmp_path: Path) -> None:
    for number in range(FILES):
        (tmp_path / f"test_{number}.py").write_text(
            f"def test_it() -> None:\n    assert {number} != 3\n"
        )
    command = [sys.executable, str(ROOT / "tools" / "test_parts.py"), str(tmp_path)]
    got = subprocess.run(command, capture_output=True, text=True, check=False)
    assert got.returncode == 1
    assert "All parts: 1 failed, 11 passed" in got.stdout
    assert "assert 3 != 3" in got.stdout
    files = re.findall(r"test_(\d+)\.py [.F]", got.stdout)
    assert sorted(map(int, files)) == list(range(FILES))
