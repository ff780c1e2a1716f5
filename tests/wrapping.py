"""Asking a simulator through the wrapped SDK."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from asking import Asker

import tenuto
from tenuto.sim import Case, Simulator

QUICK: dict[str, Any] = {"backoff_s": 0.01, "retry_after_max_s": 0.01}
"""Waits are not what these tests are about."""


class Watching:
    """What wrapped askers have in common, whichever the wire; stands before its asker.

    `events` is what the clients told. Not `watched`: nobody listens, as in most programs; there is
    nothing to tell then, and a turn takes a shorter way.
    """

    watched = True

    def wrap(self, policy: tenuto.Policy, *, watched: bool = True) -> None:
        """Put wrapped clients in the place of the bare ones."""
        self.events: list[tenuto.Event] = []
        self.watched = watched
        hear = self.events.append if watched else None
        for name in ("client", "async_client"):
            if bare := getattr(self, name, None):
                setattr(self, name, tenuto.wrap(bare, policy=policy, on_event=hear))

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> Any:
        self.events.clear()
        return super().ask_case(case, mode, way, **more)  # type: ignore[misc]  # the asker's

    def of(self, name: str) -> list[dict[str, Any]]:
        """The data of all events of one name."""
        assert self.watched, "nobody has listened"
        return [event.data for event in self.events if event.name == name]

    @property
    def ending(self) -> dict[str, Any]:
        """The data of the last `turn_ended`: an SDK that goes on by itself begins a turn each
        time."""
        return self.of("turn_ended")[-1]


def assert_each_turn_has_one_end(events: list[tenuto.Event]) -> None:
    """And each continuation that was started."""
    turns: dict[str, list[str]] = {}
    for event in events:
        turns.setdefault(event.turn, []).append(event.name)
    for names in turns.values():
        assert names.count("turn_ended") == 1
        assert names[-1] == "turn_ended"
        begun = "continuation_attempt" in names
        assert names.count("continuation_terminated") == begun


class Wrapped(Watching, Asker):
    """Asks through `tenuto.wrap`."""

    def __init__(
        self, sim: Simulator, policy: tenuto.Policy, max_retries: int = 2, *, watched: bool = True
    ) -> None:
        super().__init__(sim, max_retries)
        self.wrap(policy, watched=watched)


@contextmanager
def facing_faults(
    kind: Any, token_chars: int = 20, fine_chars: int = 4, **options: Any
) -> Iterator[dict[str, Any]]:
    """Askers for a matrix of faults, by the way to ask; "strict" is one that raises for what stays
    unfinished. What comes out must be alike on both ways, so they differ in more than the client:
    nobody listens to "sync", and its answers come in pieces of `fine_chars`, those of the others in
    pieces of `token_chars`, since reading them takes most of the time of a test."""
    with Simulator(token_chars=fine_chars) as fine, Simulator(token_chars=token_chars) as coarse:
        policy = tenuto.Policy(**QUICK)
        made = {
            "sync": kind(fine, policy, watched=False, **options),
            "async": kind(coarse, policy, **options),
            "strict": kind(coarse, replace(policy, on_incomplete="error"), **options),
        }
        yield made
        for asker in made.values():
            asker.close()
