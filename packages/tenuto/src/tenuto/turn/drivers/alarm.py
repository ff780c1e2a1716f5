"""End the wait of a thread when its time is over.

A thread that waits for a socket cannot check a clock, and a provider that sends a byte now and then
begins every wait anew. So another thread checks it. Each `Alarm` has one such thread, from the
first wait with a limit until `close`. If a limit is set many times, the thread still wakes only
once.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable


class Alarm:
    """Calls `ring` if a wait takes longer than it may.

    Args:
        ring: ends the wait of the thread with this identifier, from another thread. It must not
            block.

    >>> woken = threading.Event()
    >>> alarm = Alarm(lambda thread: woken.set())
    >>> alarm.set(0.01)
    >>> woken.wait(5), alarm.off()
    (True, True)
    >>> alarm.close()
    """

    def __init__(self, ring: Callable[[int], object]) -> None:
        self._ring = ring
        self._changed = threading.Condition()
        self._until_s = self._wakes_s = math.inf
        self._rang = self._closed = False
        self._waiting = 0
        self._thread: threading.Thread | None = None

    def set(self, within_s: float) -> None:
        """Begin a wait of the calling thread, of at most this many seconds."""
        with self._changed:
            self._waiting = threading.get_ident()
            self._until_s, self._rang = time.monotonic() + within_s, False
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            elif self._until_s < self._wakes_s:
                self._changed.notify()

    def off(self) -> bool:
        """End the wait, and return whether the alarm has interrupted it."""
        with self._changed:
            self._until_s = math.inf
            return self._rang

    def close(self) -> None:
        """Stop: no further wait follows."""
        with self._changed:
            self._closed = True
            self._ring = _ignore  # the thread may need a moment to end, and must keep nothing alive
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                left_s = self._until_s - time.monotonic()
                if left_s <= 0:
                    self._until_s, self._rang = math.inf, True
                    self._ring(self._waiting)
                    continue
                self._wakes_s = self._until_s
                self._changed.wait(None if left_s == math.inf else min(left_s, _LONGEST_S))


def _ignore(_: int) -> None:
    """Do nothing: no thread waits."""


_LONGEST_S = 3_600.0
"""The longest wait of a condition, with room to spare (`threading.TIMEOUT_MAX`)."""
