"""Log lines for operators: each recovery that ended, and each turn that was not finished. A healthy
turn writes nothing.

By default, every process writes these lines (`DEFAULT`, which `telemetry.listeners` calls), if the
logger's level allows them.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from tenuto.core.answer.stop import StopReason
from tenuto.core.events.event import Event
from tenuto.core.events.recovery import RecoveryEnded
from tenuto.core.events.turn import TurnEnded
from tenuto.telemetry.loggers import lines_log

PREFIX = "tenuto_"
"""The prefix of structured fields, in `extra` and on a `LogRecord`."""

LINES = 20
"""How many lines of one kind are written within `WINDOW_S`. Others are only counted."""

WINDOW_S = 10.0
"""The length of a window, in seconds."""

LEVELS: Mapping[tuple[str, str], int] = {
    ("recovery", "recovered"): logging.INFO,
    ("recovery", "superseded"): logging.INFO,
    ("recovery", "cancelled"): logging.INFO,
    ("recovery", "gave_up"): logging.WARNING,
    ("turn", "partial"): logging.WARNING,
    ("turn", "failed"): logging.WARNING,
    ("turn", "left_alone"): logging.INFO,
}
"""The level of a line, by what ended and how. Anything else has no line."""

_SHARED = ("turn", "provider", "model", "attempt")
_OF_RECOVERY = ("result", "reason", "attempts", "duration_s", "output_chars")
_OF_TURN = (
    "status",
    "reason",
    "stop",
    "attempts",
    "suggestion",
    "recoveries",
    "recovery_input_tokens",
    "recovery_output_tokens",
    "wire",
    "stream",
    "duration_s",
)


class LogLines:
    """A listener that logs each recovery that ended, and each turn that ended partial or failed, to
    the logger `tenuto.turns`. Lines hold names, numbers and reasons, never content.

    Tenuto writes these lines by default. To change the limits, add your own: it replaces the
    default for the turns that it listens to.

    The event's fields are attributes of the log record, such as `tenuto_turn`. Within `window_s`
    seconds, it writes at most `lines` lines of one kind (a recovery's kind and result, or how a
    turn ended). The next line of that kind says in `tenuto_suppressed` how many were left out.

    Args:
        lines: the highest number of lines of one kind within a window.
        window_s: the length of a window in seconds.
        now: a monotonic clock, in seconds.

    >>> from tenuto.events import RetryEnded
    >>> logging.getLogger("tenuto").setLevel(logging.INFO)
    >>> class Print(logging.Handler):
    ...     def emit(self, record):
    ...         print(record.levelname, record.getMessage(), record.tenuto_turn)
    >>> handler = Print()
    >>> logging.getLogger("tenuto").addHandler(handler)
    >>> LogLines()(RetryEnded(time=0.0, turn="t1", provider="openai", model="gpt", attempt=2,
    ...                       result="recovered", reason="done", attempts=1, duration_s=0.5,
    ...                       output_chars=0))
    INFO retry recovered: done (openai, model gpt, requests: 1, 0.5 s) t1
    >>> logging.getLogger("tenuto").removeHandler(handler)
    >>> logging.getLogger("tenuto").setLevel(logging.NOTSET)
    """

    def __init__(
        self,
        lines: int = LINES,
        window_s: float = WINDOW_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = _Limit(lines, window_s, now)

    def __call__(self, event: Event) -> None:
        """Write the line for an event, if it has one."""
        match event:
            case RecoveryEnded(result=how):
                self._write(event, "recovery", event.KIND, how, _OF_RECOVERY)
            case TurnEnded():
                self._write(event, "turn", "turn", _how(event), _OF_TURN)

    def _write(
        self, event: RecoveryEnded | TurnEnded, of: str, kind: str, how: str, names: tuple[str, ...]
    ) -> None:
        _latest.event = event
        level = LEVELS.get((of, how))
        if level is None or not lines_log.isEnabledFor(level):
            return
        suppressed = self._limit.passes((kind, how))
        if suppressed is None:
            return
        own = {**event.data, **{name: getattr(event, name) for name in _SHARED}}
        extra = {PREFIX + name: own[name] for name in (*_SHARED, *names)}
        extra |= {PREFIX + "kind": kind, PREFIX + "event": event.name}
        extra |= {PREFIX + "suppressed": suppressed}
        said = "%s %s: %s (%s, model %s, requests: %d, %.1f s)"
        told: tuple[Any, ...] = (kind, how, event.reason, event.provider, event.model)
        told += (event.attempts, event.duration_s)
        if suppressed:
            said += "; %d such lines before were left out"
            told += (suppressed,)
        lines_log.log(level, said, *told, extra=extra)


_latest = threading.local()
"""Its `event` is the last one that a `LogLines` got in this thread."""


def _how(turn: TurnEnded) -> str:
    """Return how a turn ended, as `LEVELS` names it."""
    if turn.reason == "left_alone":  # Tenuto was not meant to finish it
        return "left_alone"
    if turn.reason == "cancelled" and turn.stop != StopReason.CANCELLED and turn.error is None:
        return "abandoned"  # by the caller; otherwise by the provider, or by an error in the policy
    return turn.status or "unread"


class _Limit:
    """Limits the lines of each kind within a window. Thread-safe."""

    def __init__(self, lines: int, window_s: float, now: Callable[[], float]) -> None:
        self._lines, self._window_s, self._now = lines, window_s, now
        self._begun: dict[tuple[str, str], tuple[float, int]] = {}  # start, and lines since then
        self.begin_anew()

    def begin_anew(self) -> None:
        """Make a new lock: in a forked process, the thread that held the old one doesn't exist."""
        # The garbage collector may end an abandoned turn, which writes a line, in a thread that
        # already holds the lock.
        self._lock = threading.RLock()

    def passes(self, kind: tuple[str, str]) -> int | None:
        """Return how many lines were left out before this one; None: this one is left out, too."""
        now = self._now()
        with self._lock:
            begun_s, count = self._begun.get(kind, (now, 0))
            left_out = 0
            if now - begun_s >= self._window_s:
                begun_s, count, left_out = now, 0, max(count - self._lines, 0)
            self._begun[kind] = (begun_s, count + 1)
        return left_out if count < self._lines else None


class _Default(LogLines):
    """Writes the lines of events that no other `LogLines` got, as a listener or through one that
    calls several. It is called after all listeners."""

    def __call__(self, event: Event) -> None:
        if getattr(_latest, "event", None) is not event:
            super().__call__(event)

    def begin_anew(self) -> None:
        """Start over in a forked process."""
        self._limit.begin_anew()


DEFAULT = _Default()
"""Writes the lines of every process by default."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=DEFAULT.begin_anew)


class JsonFormatter(logging.Formatter):
    """Formats each record as one line of JSON: `time` (ISO 8601, UTC), `level`, `logger`,
    `message`, Tenuto's structured fields, and `error` with the traceback if there is one.

    >>> record = logging.LogRecord("tenuto", logging.INFO, "", 0, "It %s.", ("went",), None)
    >>> record.created, record.tenuto_turn = 0.0, "t1"
    >>> print(JsonFormatter().format(record))  # doctest: +NORMALIZE_WHITESPACE
    {"time": "1970-01-01T00:00:00.000+00:00", "level": "INFO", "logger": "tenuto",
     "message": "It went.", "tenuto_turn": "t1"}
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a line break."""
        time_of_day = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": time_of_day.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key.startswith(PREFIX)}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)
