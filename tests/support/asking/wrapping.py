"""Asking a simulator through the wrapped SDK."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

import tenuto
from support.asking.openai_chat import Asker
from tenuto_sim import Case

QUICK: dict[str, Any] = {"backoff_s": 0.01, "retry_after_max_s": 0.01}
"""Waits are not what these tests are about."""


class Watching:
    """What wrapped askers have in common, whichever the wire; stands before its asker.

    `events` is what the clients told. Not `watched`: nobody listens, as in most programs; there is
    nothing to tell then, and a turn takes a shorter way.
    """

    watched = True
    retries: ClassVar[Mapping[str, int]] = {"max_retries": 2}
    """How often the SDK tries again by itself, where it can be told."""

    def __init__(
        self, sim: Any, policy: tenuto.Policy, *more: Any, watched: bool = True, **options: Any
    ) -> None:
        told = {} if more else self.retries
        super().__init__(sim, *more, **{**told, **options})  # type: ignore[call-arg]
        self.wrap(policy, watched=watched)

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


class Wrapped(Watching, Asker):
    """Asks through `tenuto.wrap`."""


def is_right(asker: Any, said: Any, case: Case) -> bool:
    """Whether the answer is the full right one: think blocks aside, arguments as values."""
    text, wanted = asker.wanted(said, case)
    shown = re.sub(r"<think>.*?</think>", "", said.text, flags=re.DOTALL).strip()
    if hasattr(said, "inputs"):
        return bool(shown == text.strip() and said.inputs == wanted)
    given = [json.loads(raw) for raw in said.raw_arguments]
    return bool(shown == text.strip() and given == [json.loads(raw) for raw in wanted])
