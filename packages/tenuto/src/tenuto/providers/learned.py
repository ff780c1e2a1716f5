"""Lessons that providers taught Tenuto, kept by base URL and model (C8, C18, P8c, S3a).

One odd 400 must not switch a capability off for good: the first lesson holds for a short while, and
the next look confirms or forgets it.
"""

from __future__ import annotations

import threading
from typing import NamedTuple


class _Lesson(NamedTuple):
    until_s: float
    confirmed: bool
    tokens: int


class _Endings(NamedTuple):
    until_s: float
    marked: bool
    unmarked: int


UNMARKED_TURNS = 3
"""After this many turns without an end mark, the provider is known to send none (S3a)."""


class Learned:
    """Capabilities that a provider denied, and limits that it named. Thread-safe. Each process
    learns for itself.

    Args:
        first_s: how long a first lesson holds, in seconds.
        keep_s: how long a lesson holds that a second look has confirmed, in seconds.
        most: the number of lessons kept; the oldest are dropped first.

    >>> learned = Learned(first_s=10, keep_s=100)
    >>> prefill = ("https://host", "model", "prefill")
    >>> learned.deny(*prefill, now_s=0.0)
    >>> learned.denied(*prefill, now_s=5.0), learned.denied(*prefill, now_s=11.0)
    (True, False)
    >>> learned.deny(*prefill, now_s=11.0)
    >>> learned.denied(*prefill, now_s=110.0)
    True
    >>> learned.limit("https://host", "model", "window_tokens", 8192, now_s=0.0)
    >>> learned.tokens("https://host", "model", "window_tokens", now_s=5.0)
    8192
    """

    def __init__(
        self, first_s: float = 300.0, keep_s: float = 86_400.0, most: int = 10_000
    ) -> None:
        self._first_s = first_s
        self._keep_s = keep_s
        self._most = most
        self._lessons: dict[tuple[str, str, str], _Lesson] = {}
        self._endings: dict[tuple[str, str], _Endings] = {}
        self._rows_known = False
        self._lock = threading.Lock()

    def deny(self, base_url: str, model: str, capability: str, now_s: float) -> None:
        """Note that the provider rejects a capability for a model. Denials of concurrent requests
        count as one look."""
        self.limit(base_url, model, capability, 0, now_s)

    def limit(self, base_url: str, model: str, what: str, tokens: int, now_s: float) -> None:
        """Note a limit that the provider named. A different number than before is a first look."""
        key = (base_url, model, what)
        with self._lock:
            before = self._lessons.pop(key, None)
            second = (
                before is not None
                and before.tokens == tokens
                and (before.confirmed or before.until_s <= now_s)
            )
            holds_s = self._keep_s if second else self._first_s
            self._lessons[key] = _Lesson(now_s + holds_s, second, tokens)
            self._rows_known = self._rows_known or what[:1] in ("+", "-")
            while len(self._lessons) > self._most:
                del self._lessons[next(iter(self._lessons))]

    def denied(self, base_url: str, model: str, capability: str, now_s: float) -> bool:
        """Return whether a denial was noted, and still holds."""
        return self.tokens(base_url, model, capability, now_s) is not None

    def tokens(self, base_url: str, model: str, what: str, now_s: float) -> int | None:
        """Return the limit that the provider named; None: none is noted, or it no longer holds."""
        lesson = self._lessons.get((base_url, model, what))
        return lesson.tokens if lesson is not None and lesson.until_s > now_s else None

    def words(self, base_url: str, model: str, now_s: float) -> frozenset[str]:
        """Return what was noted of the rows that Tenuto adds (`wires.dialect.TaughtDialect`).

        >>> learned = Learned()
        >>> learned.deny("https://host", "model", "-reasoning", now_s=0.0)
        >>> learned.words("https://host", "model", now_s=1.0)
        frozenset({'-reasoning'})
        """
        if not self._rows_known:
            return frozenset()
        with self._lock:
            lessons = list(self._lessons.items())
        return frozenset(
            what
            for (host, name, what), lesson in lessons
            if what[:1] in ("+", "-") and (host, name) == (base_url, model)
            if lesson.until_s > now_s
        )

    def allow(self, base_url: str, model: str, capability: str) -> None:
        """Forget a lesson, because the provider accepted the same thing."""
        if (base_url, model, capability) in self._lessons:
            with self._lock:
                self._lessons.pop((base_url, model, capability), None)

    # --- how streams end (S3a)

    def marks_ends(self, base_url: str, model: str, now_s: float) -> bool | None:
        """Return whether a model's streams end with a mark: a stop, or the wire's own. None: not
        known yet.

        >>> learned = Learned()
        >>> [learned.ended_unmarked("https://host", "model", 0.0) for _ in range(3)]
        [False, False, True]
        >>> learned.marks_ends("https://host", "model", 1.0)
        False
        >>> learned.ended_marked("https://host", "model", 2.0)
        >>> learned.marks_ends("https://host", "model", 3.0)
        True
        """
        endings = self._endings.get((base_url, model))
        if endings is None or endings.until_s <= now_s:
            return None
        if endings.marked:
            return True
        return False if endings.unmarked >= UNMARKED_TURNS else None

    def ended_marked(self, base_url: str, model: str, now_s: float) -> None:
        """Note that a stream ended with a mark."""
        before = self._endings.get((base_url, model))
        # Nearly every stream has one, so the note is renewed only now and then.
        if before is None or not before.marked or before.until_s - now_s < self._keep_s / 2:
            self._note((base_url, model), _Endings(now_s + self._keep_s, True, 0))

    def ended_unmarked(self, base_url: str, model: str, now_s: float) -> bool:
        """Note a turn that ended without a mark, as far as can be told.

        Returns whether this makes it known that there is none."""
        key = (base_url, model)
        with self._lock:
            before = self._endings.get(key)
            old = before is None or before.until_s <= now_s
            turns = 1 if before is None or old else before.unmarked + 1
        self._note(key, _Endings(now_s + self._keep_s, False, turns))
        return turns == UNMARKED_TURNS

    def _note(self, key: tuple[str, str], endings: _Endings) -> None:
        with self._lock:
            self._endings.pop(key, None)
            self._endings[key] = endings
            while len(self._endings) > self._most:
                del self._endings[next(iter(self._endings))]
