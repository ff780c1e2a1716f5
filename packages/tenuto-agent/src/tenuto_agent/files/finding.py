"""Which lines of a text hold what is searched for: literally, or by a regular expression."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tenuto_agent.files.matcher import lines_of
from tenuto_agent.files.problem import FileProblem

MAX_PATTERN_CHARS: Final = 1_000

_MATCHER: Final = str(Path(__file__).with_name("matcher.py"))

Found = list[tuple[int, int]]
"""Lines, counted from 0, and the column of the first match in each."""


class OutOfTime(Exception):
    """The pattern took longer than it may."""


Find = Callable[[str], Found]
"""Finds lines of a text; may raise OutOfTime."""


class Regex:
    """Finds lines that match a regular expression, in a process that is ended at the deadline."""

    def __init__(self, deadline_s: float) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise FileProblem("regular expressions cannot be used here; search for literal text")
        self._left_s = max(0.0, deadline_s - time.monotonic())
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", _MATCHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._timer = threading.Timer(self._left_s, self._process.kill)
        self._timer.daemon = True
        self._timer.start()

    def close(self) -> None:
        """End the process."""
        self._timer.cancel()
        self._process.kill()
        with suppress(OSError):  # what was not read any more
            self._process.__exit__(None, None, None)

    def begin(self, pattern: str, ignore_case: bool, limit: int) -> None:
        """Say what is searched for; it is refused where it is no expression."""
        asked = {
            "pattern": pattern,
            "ignore_case": ignore_case,
            "limit": limit,
            "cpu_s": int(self._left_s) + 2,
        }
        try:
            answer = self._ask(json.dumps(asked).encode())
        except OutOfTime:
            raise FileProblem("the regular expression could not be read in time") from None
        if "error" in answer:
            raise FileProblem(f"the regular expression is not valid: {answer['error']}")

    def find(self, text: str) -> Found:
        """The lines of a text that match; raises OutOfTime."""
        return [(number, at) for number, at in self._ask(text.encode())]

    def _ask(self, frame: bytes) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(len(frame).to_bytes(4))
            stdin.write(frame)
            stdin.flush()
            answer = stdout.readline()
        except OSError:  # it was ended while it was written to
            answer = b""
        if not answer.endswith(b"\n"):
            raise OutOfTime
        return json.loads(answer)


@contextmanager
def finding(
    pattern: str, regex: bool, ignore_case: bool, limit: int, deadline_s: float
) -> Iterator[Find]:
    """What finds lines that match `pattern`, at most `limit` of a text; it is refused where nothing
    could match."""
    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        raise FileProblem(f"a pattern has 1 to {MAX_PATTERN_CHARS:,} characters")
    if "\n" in pattern:
        raise FileProblem("lines are searched one by one, so a pattern holds no line break")
    if regex:
        with closing(Regex(deadline_s)) as process:
            process.begin(pattern, ignore_case, limit)
            yield process.find
        return
    wanted = pattern.lower() if ignore_case else pattern

    def find(text: str) -> Found:
        seen = text.lower() if ignore_case else text
        if wanted not in seen:
            return []
        return lines_of(seen, lambda line: line.find(wanted), limit)

    yield find
