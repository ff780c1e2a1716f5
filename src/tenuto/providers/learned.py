"""What providers taught us by an error, kept by base URL and model (C8).

One odd 400 must not switch a capability off for good: what was learned is forgotten after a while,
and a success of the same thing forgets it at once.
"""

from __future__ import annotations

import threading


class Learned:
    """Capabilities that a provider denied; safe under threads.

    Args:
        keep_s: how long a lesson holds, in seconds.
        most: how many lessons are kept; the oldest go first.

    >>> learned = Learned(keep_s=10)
    >>> learned.deny("https://host", "model", "prefill", now_s=0.0)
    >>> learned.denied("https://host", "model", "prefill", now_s=5.0)
    True
    >>> learned.denied("https://host", "model", "prefill", now_s=11.0)
    False
    """

    def __init__(self, keep_s: float = 3_600.0, most: int = 10_000) -> None:
        self._keep_s = keep_s
        self._most = most
        self._until: dict[tuple[str, str, str], float] = {}
        self._lock = threading.Lock()

    def deny(self, base_url: str, model: str, capability: str, now_s: float) -> None:
        """Note that the provider rejects a capability for a model."""
        with self._lock:
            self._until[base_url, model, capability] = now_s + self._keep_s
            while len(self._until) > self._most:
                del self._until[next(iter(self._until))]

    def denied(self, base_url: str, model: str, capability: str, now_s: float) -> bool:
        """Whether that was noted, and not too long ago."""
        with self._lock:
            return self._until.get((base_url, model, capability), now_s) > now_s
