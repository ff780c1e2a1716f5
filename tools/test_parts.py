"""Run the tests in three processes, each of which collects its own third of the files.

    python tools/test_parts.py                 # what `make test` does
    python tools/test_parts.py --only 2        # one third, in this process
    python tools/test_parts.py -m real_model   # any other arguments are pytest's

pytest-xdist shares tests, so each of its workers collects all of them, and every result passes
through a pipe. With 33,000 tests, that is a quarter of the processor time. Shares of files need
neither. The line of each file is printed as it is done; what a process prints beside such lines,
failures above all, is printed together when it ends.
"""

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from zlib import crc32

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = 3
"""Many tests wait for a server, so three processes keep two cores busy."""

_progress = re.compile(r"\[ *\d+%\]$").search
_counted = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|warnings?)\b").findall
_is_summary = re.compile(r"^=+ .* in [\d.]+s.* =+$").match


class Part:
    """Leaves the files of the other parts out."""

    def __init__(self, number: int) -> None:
        self._number = number

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Ignore a file of another part; of folders and its own files, say nothing."""
        if collection_path.suffix != ".py":
            return None
        name = Path(os.path.relpath(collection_path, ROOT)).as_posix()
        return None if part_of(name) == self._number else True


def part_of(name: str) -> int:
    """Return the part that a file belongs to, from 1, by its path within the project.

    >>> part_of("tests/core/test_machine.py") in range(1, PARTS + 1)
    True
    """
    return crc32(name.encode()) % PARTS + 1


class _Running:
    """One part, in a process of its own."""

    def __init__(self, number: int, given: list[str]) -> None:
        command = [sys.executable, __file__, "--only", str(number), *given]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._number = number
        self._kept: list[str] = []
        self.counts: Counter[str] = Counter()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if _progress(line.rstrip()):
                print(f"{self._number}: {line}", end="", flush=True)
            else:
                self._kept.append(line)

    def wait(self) -> int:
        """Wait for its end, print what it kept, and return its exit status."""
        status = self._process.wait()
        self._reader.join()
        for line in reversed(self._kept):
            if _is_summary(line.rstrip()):
                self.counts.update({what: int(number) for number, what in _counted(line)})
                break
        print(f"\nPart {self._number} of {PARTS}:\n{''.join(self._kept)}", flush=True)
        return status


def main() -> int:
    """Run all parts, or one of them, and return the exit status of one that failed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", type=int, choices=range(1, PARTS + 1), metavar="PART")
    only, given = parser.parse_known_args()
    if only.only:
        return pytest.main(["-n", "0", *given], plugins=[Part(only.only)])
    begun_s = time.monotonic()
    parts = [_Running(number, given) for number in range(1, PARTS + 1)]
    try:
        statuses = {part.wait() for part in parts}
    except KeyboardInterrupt:  # the parts have been interrupted, too
        statuses = {part.wait() for part in parts} | {pytest.ExitCode.INTERRUPTED}
    counts = sum((part.counts for part in parts), Counter[str]())
    told = ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()))
    print(f"All parts: {told}, in {time.monotonic() - begun_s:.0f} s")
    if len(statuses) > 1:
        statuses -= {0, pytest.ExitCode.NO_TESTS_COLLECTED}  # a part may have none of a few files
    return next(iter(statuses), 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    raise SystemExit(main())
