"""Which lines of a text hold what is searched for: literally, or by a regular expression."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol, Self

from tenuto.agent.files.problem import FileProblem

MAX_PATTERN_CHARS: Final = 1_000

_MATCHER: Final = str(Path(__file__).with_name("matcher.py"))

Found = list[tuple[int, int]]
"""Lines, counted from 0, and the column of the first match in each."""


class OutOfTime(Exception):
    """The pattern took longer than it may."""


class Finder(Protocol):
    """Finds lines in texts."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...
    def find(self, text: str, limit: int) -> Found:
        """At most `limit` lines of a text; raises OutOfTime."""


class Literal:
    """Finds lines that hold a text as it is."""

    def __init__(self, wanted: str, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._wanted = wanted.lower() if ignore_case else wanted

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def find(self, text: str, limit: int) -> Found:
        seen = text.lower() if self._ignore_case else text
        if self._wanted not in seen:
            return []
        found: Found = []
        for number, line in enumerate(seen.split("\n")):
            at = line.find(self._wanted)
            if at >= 0:
                found.append((number, at))
                if len(found) == limit:
                    break
        return found


class Regex:
    """Finds lines that match a regular expression, in a process that is ended at the deadline."""

    def __init__(self, pattern: str, ignore_case: bool, limit: int, deadline_s: float) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise FileProblem("regular expressions cannot be used here; search for literal text")
        left_s = max(0.0, deadline_s - time.monotonic())
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", _MATCHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._timer = threading.Timer(left_s, self._process.kill)
        self._timer.daemon = True
        self._timer.start()
        asked = {
            "pattern": pattern,
            "ignore_case": ignore_case,
            "limit": limit,
            "cpu_s": int(left_s) + 2,
        }
        try:
            self._begin(json.dumps(asked).encode())
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._timer.cancel()
        self._process.kill()
        with suppress(OSError):  # what was not read any more
            self._process.__exit__(None, None, None)

    def _begin(self, asked: bytes) -> None:
        try:
            answer = self._ask(asked)
        except OutOfTime:
            raise FileProblem("the regular expression could not be read in time") from None
        if "error" in answer:
            raise FileProblem(f"the regular expression is not valid: {answer['error']}")

    def find(self, text: str, limit: int) -> Found:
        return [(number, at) for number, at in self._ask(text.encode())][:limit]

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


def finder(pattern: str, regex: bool, ignore_case: bool, limit: int, deadline_s: float) -> Finder:
    """What finds `pattern`; it is refused where nothing could match."""
    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        raise FileProblem(f"a pattern has 1 to {MAX_PATTERN_CHARS:,} characters")
    if "\n" in pattern:
        raise FileProblem("lines are searched one by one, so a pattern holds no line break")
    if regex:
        return Regex(pattern, ignore_case, limit, deadline_s)
    return Literal(pattern, ignore_case)
